package mail

import (
	"slices"
	"testing"
)

func TestMessageIDs(t *testing.T) {
	for _, test := range []struct {
		name, raw string
		want      []string
	}{
		{"one", "Subject: x\nMessage-ID: <a@b>\n\nMessage-ID: <no@body>\n", []string{"a@b"}},
		{"any case, CRLF, spaces", "message-id : <a@b>\r\n\r\n", []string{"a@b"}},
		{"folded, as Outlook does with long ids", "Message-ID:\n <a@b>\nTo: c\n\n", []string{"a@b"}},
		{"folded inside", "Message-ID: <a\n\t@b>\n\n", []string{"a@b"}},
		{"a second one, added by public-inbox", "Message-ID: <x@z>\nMessage-ID: <a@b>\n\n", []string{"x@z", "a@b"}},
		{"the same twice", "Message-ID: <a@b>\nMessage-ID: <a@b>\n\n", []string{"a@b"}},
		{"no brackets", "Message-ID: a@b\n\n", []string{"a@b"}},
		{"none", "Subject: x\n\n", nil},
		{"empty", "Message-ID: <>\n\n", nil},
		{"no body", "Message-ID: <a@b>", []string{"a@b"}},
		{"nothing", "", nil},
	} {
		if got := MessageIDs([]byte(test.raw)); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
