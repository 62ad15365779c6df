package lore

import (
	"bytes"
	"strings"
	"testing"
)

const from = "From mboxrd@z Thu Jan  1 00:00:00 1970\n"

func TestReadMboxrd(t *testing.T) {
	long := strings.Repeat("x", 200_000) // longer than any buffer
	for _, test := range []struct {
		name, mbox string
		want       []string
	}{
		{"nothing", "", nil},
		{"two", from + "A: 1\n\nbody\n\n" + from + "A: 2\n\nbody\n\n", []string{"A: 1\n\nbody\n", "A: 2\n\nbody\n"}},
		{"quoted From", from + "A: 1\n\n>From a\n>>From b\n> From c\n>Fromage\n\n", []string{"A: 1\n\nFrom a\n>From b\n> From c\n>Fromage\n"}},
		{"a From line in a broken header", from + "A: 1\nFrom me to you\nB: 2\n\nbody\n\n", []string{"A: 1\nFrom me to you\nB: 2\n\nbody\n"}},
		{"no newline at the end", from + "A: 1\n\nbody\n" + from + "A: 2\n\nbody", []string{"A: 1\n\nbody\n", "A: 2\n\nbody\n"}},
		{"empty lines at the end are the mail's", from + "A: 1\n\nbody\n\n\n\n", []string{"A: 1\n\nbody\n\n\n"}},
		{"header alone", from + "A: 1\n\n\n", []string{"A: 1\n\n"}},
		{"CRLF", "From mboxrd@z Thu Jan  1 00:00:00 1970\r\nA: 1\r\n\r\n>From a\r\n\n", []string{"A: 1\n\nFrom a\n"}},
		{"a long line", from + "A: 1\n\n" + long + "\n\n", []string{"A: 1\n\n" + long + "\n"}},
		{"a From line in the middle of a long one", from + "A: 1\n\n" + long[:1<<16] + ">From x\n\n", []string{"A: 1\n\n" + long[:1<<16] + ">From x\n"}},
	} {
		got, err := readMboxrd(strings.NewReader(test.mbox))
		if err != nil || len(got) != len(test.want) {
			t.Errorf("%s: %d mails, %v, want %d", test.name, len(got), err, len(test.want))
			continue
		}
		for i := range got {
			if string(got[i].Bytes) != test.want[i] {
				t.Errorf("%s: mail %d is %.200q, want %.200q", test.name, i, got[i].Bytes, test.want[i])
			}
		}
	}
	if _, err := readMboxrd(strings.NewReader("<html>")); err == nil {
		t.Error("a page was taken for an mbox")
	}
}

func FuzzReadMboxrd(f *testing.F) {
	f.Add([]byte(from + "A: 1\n\n>From a\n\n" + from + "A: 2\n\nbody\n"))
	f.Add([]byte("\r\n" + from + ">>From"))
	f.Fuzz(func(t *testing.T, mbox []byte) {
		got, err := readMboxrd(bytes.NewReader(mbox))
		if err != nil {
			return
		}
		// Written again it is read the same.
		var again bytes.Buffer
		for _, m := range got {
			again.WriteString(from)
			for line := range bytes.Lines(m.Bytes) {
				if bytes.HasPrefix(bytes.TrimLeft(line, ">"), []byte("From ")) {
					again.WriteByte('>')
				}
				again.Write(line)
			}
			again.WriteByte('\n')
		}
		second, err := readMboxrd(&again)
		if err != nil || len(second) != len(got) {
			t.Fatalf("%d mails, then %d, %v", len(got), len(second), err)
		}
		for i := range got {
			if !bytes.Equal(got[i].Bytes, second[i].Bytes) {
				t.Fatalf("mail %d: %q, then %q", i, got[i].Bytes, second[i].Bytes)
			}
		}
	})
}
