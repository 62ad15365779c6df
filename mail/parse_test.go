package mail

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	m, err := Parse([]byte("From someone Sat Nov  1 00:00:00 2025\r\n" +
		"Received: from a by b; Sat, 1 Nov 2025 10:00:07 +0100\r\n" +
		"Received: from c by a; Sat, 1 Nov 2025 09:00:00 +0100\r\n" +
		"From: =?UTF-8?Q?Andr=C3=A9?= Example <A.Example@EXAMPLE.org>\r\n" +
		"To: \"Doe, Jane\" <jane@x.example>, list@x.example\r\n" +
		"Cc: Doe, John (TI) <john@x.example>, undisclosed recipients:;\r\n" +
		"Reply-To: other@x.example\r\n" +
		"Date: Sat, 01 Nov 2025 08:59:00 +0100\r\n" +
		"Subject: [PATCH] a title\r\n that is folded\r\n" +
		"Message-ID: <id@x>\r\n" +
		"In-Reply-To: <parent@x> (message from X on Monday)\r\n" +
		"References: <root@x>\r\n\t<parent@x> <root@x>\r\n" +
		"List-Id: A list <a.lists.example>\r\n" +
		"\r\nBody.\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range []struct{ what, got, want string }{
		{"id", m.ID, "id@x"},
		{"subject", m.Subject, "[PATCH] a title that is folded"},
		{"from", fmt.Sprint(m.From), "{André Example A.Example@example.org}"},
		{"to", fmt.Sprint(m.To), "[{Doe, Jane jane@x.example} { list@x.example}]"},
		{"cc", fmt.Sprint(m.Cc), "[{Doe, John (TI) john@x.example}]"},
		{"reply-to", fmt.Sprint(m.ReplyTo), "[{ other@x.example}]"},
		{"date", m.Date.Format(time.RFC3339), "2025-11-01T08:59:00+01:00"},
		{"received", m.Received.Format(time.RFC3339), "2025-11-01T10:00:07+01:00"},
		{"in-reply-to", strings.Join(m.InReplyTo, " "), "parent@x"},
		{"references", strings.Join(m.References, " "), "root@x parent@x"},
		{"list", m.ListID, "a.lists.example"},
		{"body", m.Body, "Body.\n"},
		{"warnings", strings.Join(m.Warnings, " "), ""},
		{"header", strings.Join(m.Header("list-id"), "|"), "A list <a.lists.example>"},
	} {
		if check.got != check.want {
			t.Errorf("%s: %q, want %q", check.what, check.got, check.want)
		}
	}
	if !strings.HasPrefix(string(m.Raw), "Received: from a by b") {
		t.Errorf("raw begins %.30q", m.Raw)
	}
}

func TestParseOdd(t *testing.T) {
	for _, test := range []struct{ name, raw, subject, warning string }{
		{"no id", "Subject: x\n\nb\n", "x", "no Message-ID"},
		{"a bad date", "Message-ID: <a@x>\nSubject: x\nDate: yesterday\n\n", "x", "Date"},
		{"a year that cannot be", "Message-ID: <a@x>\nSubject: x\nDate: Sat, 01 Nov 9025 00:00:00 +0000\n\n", "x", ""},
		{"raw Latin-1", "Message-ID: <a@x>\nSubject: caf\xe9\n\n", "café", "not UTF-8"},
		{"a broken encoded word", "Message-ID: <a@x>\nSubject: =?utf-8?Q?caf=C3?=\n\n", "caf\uFFFD", "not"},
		{"an unknown charset", "Message-ID: <a@x>\nSubject: =?klingon?Q?x?=\n\n", "x", ""},
		{"no end of an encoded word", "Message-ID: <a@x>\nSubject: =?utf-8?Q?x\n\n", "=?utf-8?Q?x", ""},
		{"no empty line", "Message-ID: <a@x>\nSubject: x\nthis is no field\n", "x", ""},
		{"header only", "Message-ID: <a@x>\nSubject: x", "x", ""},
		{"spaces first", "\n\n  Message-ID: <a@x>\nSubject: x\n\n", "x", ""},
	} {
		m, err := Parse([]byte(test.raw))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if m.Subject != test.subject {
			t.Errorf("%s: subject %q, want %q", test.name, m.Subject, test.subject)
		}
		if got := strings.Join(m.Warnings, "; "); !strings.Contains(got, test.warning) || test.warning == "" && got != "" {
			t.Errorf("%s: warnings %q, want %q", test.name, got, test.warning)
		}
	}
	for _, raw := range []string{"", "\n\n", "hello\n", "\x00\x01"} {
		m, err := Parse([]byte(raw))
		if !errors.Is(err, ErrNoMail) || m == nil || m.ID == "" || string(m.Raw) != raw {
			t.Errorf("%q: %+v, %v", raw, m, err)
		}
	}
	a, _ := Parse([]byte("Subject: x\n\n1\n"))
	b, _ := Parse([]byte("Subject: x\n\n2\n"))
	if a.ID == b.ID {
		t.Error("two mails have one made id")
	}
}

// FuzzParse reads any bytes as a mail and as a patch, and looks that nothing that is
// taken from it can break what is made of it.
func FuzzParse(f *testing.F) {
	f.Add([]byte("From: A <a@x>\nSubject: [PATCH 1/2] x\nMessage-ID: <a@x>\n\nlog\n---\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"))
	f.Add([]byte("From: a@x\nSubject: [PATCH] x\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Transfer-Encoding: base64\n\nbG9n\n--b\n\ndiff --git a/x b/x\n--b--\n"))
	f.Add([]byte("Subject: [PATCH] x\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<pre>--- a/x=\n\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"))
	f.Add([]byte("Subject: =?iso-2022-jp?B?GyRC?= [PATCH\nContent-Type: text/plain; charset=utf-16; format=flowed; delsp=yes\n\nFrom: x\nSubject: y \n z\n\n--- \n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := Parse(raw)
		if m == nil || m.ID == "" {
			t.Fatalf("nothing came back, %v", err)
		}
		for _, s := range []string{m.Subject, m.Body, m.From.Name, m.From.Addr} {
			if !utf8.ValidString(s) {
				t.Errorf("not UTF-8: %q", s)
			}
		}
		p, ok := PatchOf(m)
		if !ok {
			return
		}
		if !utf8.ValidString(p.Log) || !utf8.ValidString(p.Title) {
			t.Errorf("not UTF-8: %q %q", p.Title, p.Log)
		}
		p.Refuse()
		head, _, _ := strings.Cut(string(p.Mail()), "\n\n")
		if lines := strings.Count(head, "\n") + 1; lines > 8 {
			t.Errorf("the header has %d lines:\n%s", lines, head)
		}
		again, err := Parse(p.Mail())
		if err != nil {
			t.Fatal(err)
		}
		if q, ok := PatchOf(again); ok && q.Diff != p.Diff && q.Diff != p.Diff+"\n" {
			t.Errorf("the diff changed on its way to git am:\n%q\n%q", p.Diff, q.Diff)
		}
	})
}
