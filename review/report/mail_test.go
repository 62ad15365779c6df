package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/quotedprintable"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	gomail "github.com/emersion/go-message/mail"

	"uabot/checks"
	"uabot/mail"
	"uabot/review"
)

// one is a verdict on one patch with one finding.
func one() *review.Verdict {
	author := mail.Address{Name: "Kim Arnesen", Addr: "kim@example.com"}
	return &review.Verdict{
		Series: &mail.Series{Subject: "box: windows", Version: 1, Total: 1, Author: author, Patches: []*mail.Patch{{
			Number: 1, Total: 1, Author: author,
			Message: &mail.Message{ID: "p1@mail.example.com", Subject: "[PATCH] box: windows", From: author,
				To: []mail.Address{{Addr: "linux-box@vger.example.org"}}},
		}}},
		Applied: true,
		Base:    review.Base{Commit: "0123456789abcdef", Name: "v6.12", Reason: "--base"},
		Targets: []review.Target{{Name: "x86-64", Status: review.OK, Compiler: "gcc 12.2"}},
		Findings: []review.Finding{{Status: review.New, Patch: 1, Finding: checks.Finding{
			Rule: "open-at-return", File: "drivers/box.c", Line: 12, Function: "box_get", Class: checks.Object,
			Title:    "a user access window can still be open when the function returns",
			Evidence: []checks.Evidence{{Check: "object code", Target: "x86-64"}},
		}}},
		Started: time.Date(2026, 11, 2, 9, 15, 0, 0, time.UTC),
	}
}

// parsed checks the form of a mail (RFC 5322) and returns its fields and its text.
func parsed(t *testing.T, raw []byte) (*netmail.Message, gomail.Header, string) {
	t.Helper()
	if bytes.Contains(bytes.ReplaceAll(raw, []byte("\r\n"), nil), []byte("\n")) || bytes.Contains(bytes.ReplaceAll(raw, []byte("\r\n"), nil), []byte("\r")) {
		t.Error("a line does not end in CRLF")
	}
	for line := range bytes.Lines(raw) {
		if len(line) > 1000 {
			t.Errorf("a line of %d octets: %.80q", len(line), line)
		}
	}
	head, _, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
	for _, c := range head {
		if c >= 0x80 || c < ' ' && c != '\r' && c != '\n' {
			t.Errorf("the header holds the byte %#x:\n%s", c, head)
			break
		}
	}
	m, err := netmail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%v in\n%s", err, raw)
	}
	for key, values := range m.Header {
		if len(values) != 1 {
			t.Errorf("%d fields %s", len(values), key)
		}
	}
	var body io.Reader = m.Body
	if m.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
		body = quotedprintable.NewReader(body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return m, gomail.HeaderFromMap(m.Header), strings.ReplaceAll(string(text), "\r\n", "\n")
}

var fields = []string{"From", "To", "Cc", "Subject", "Date", "Message-Id", "In-Reply-To", "References",
	"Auto-Submitted", "X-Patchwork-Hint", "X-Uabot", "Mime-Version", "Content-Type", "Content-Transfer-Encoding"}

func TestMailCarriesTheText(t *testing.T) {
	for _, name := range cases(t) {
		v, _ := fixture(t, name)
		raw, err := Mail(v, bot)
		if err != nil {
			t.Fatal(name, err)
		}
		m, h, body := parsed(t, raw)
		if want := Text(v, Options{From: bot}); body != want {
			t.Errorf("%s: the body is not the text:\n%q\n%q", name, body, want)
		}
		for key := range m.Header {
			if !slices.Contains(fields, key) {
				t.Errorf("%s: field %s", name, key)
			}
		}
		for _, key := range []string{"From", "To", "Cc"} {
			if _, err := h.AddressList(key); err != nil {
				t.Errorf("%s: %s: %v", name, key, err)
			}
		}
		if again, _ := Mail(v, bot); !bytes.Equal(again, raw) {
			t.Errorf("%s: the same verdict gives another mail", name)
		}
	}
}

// What a sender can put into names, addresses, subjects and ids must come out as text
// or not at all.
func TestMailHostile(t *testing.T) {
	const evil = "x\r\nBcc: all@example.com\r\n\r\nbody"
	v := one()
	m := v.Series.Patches[0].Message
	m.Subject = "[PATCH] " + evil + " =?utf-8?q?=0ABcc:_x?= \x1b]0;pwned\a \u202e" + strings.Repeat("long ", 3000)
	m.References = []string{"good@example.com", "a> <b@example.com", evil, "<bracketed@example.com>", "with blank@example.com", strings.Repeat("x", 2000)}
	m.To = []mail.Address{
		{Name: evil, Addr: "ok1@example.com"},
		{Name: "no address", Addr: "x@example.com\r\nBcc: all@example.com"},
		{Name: "two", Addr: "a@example.com, b@example.com"},
		{Name: `say "hi" \ (TI), <me@example.com>`, Addr: "ok2@example.com"},
		{Name: `"Quoted, Already"`, Addr: "ok3@example.com"},
		{Name: `Ünsal \`, Addr: "ok8@example.com"}, {Name: "Jürgen Groß", Addr: "ok9@example.com"},
		{Name: "=?utf-8?q?fake?=", Addr: "ok4@example.com"},
		{Name: "Zo\xeb Latin", Addr: "ok5@example.com"},
		{Name: strings.Repeat("日本", 500), Addr: "ok6@example.com"},
		{Name: strings.Repeat("a ", 5000), Addr: "ok7@example.com"},
		{Addr: "undisclosed-recipients:;"}, {Addr: ""}, {Addr: "@"}, {Addr: "a@b..c"}, {Addr: `"quo ted"@example.com`},
	}
	m.Cc = []mail.Address{{Addr: "OK1@Example.com"}, {Addr: "uabot@EXAMPLE.org"}, {Addr: "uabot+bounce-17@example.org"}, {Addr: "kim@example.com"}}
	raw, err := Mail(v, bot)
	if err != nil {
		t.Fatal(err)
	}
	got, h, _ := parsed(t, raw)
	if got.Header.Get("Bcc") != "" {
		t.Errorf("a header was injected:\n%s", raw)
	}
	var names, addrs []string
	for _, key := range []string{"To", "Cc"} {
		list, err := h.AddressList(key)
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		for _, a := range list {
			names, addrs = append(names, a.Name), append(addrs, a.Address)
		}
	}
	wantAddrs := []string{"kim@example.com", "ok1@example.com", "ok2@example.com", "ok3@example.com", "ok8@example.com", "ok9@example.com", "ok4@example.com", "ok5@example.com", "ok6@example.com", "ok7@example.com"}
	if !slices.Equal(addrs, wantAddrs) {
		t.Errorf("addressed to %q,\nwant %q", addrs, wantAddrs)
	}
	wantNames := []string{"Kim Arnesen", "x Bcc: all@example.com body", `say "hi" \ (TI), <me@example.com>`, "Quoted, Already", `Ünsal \`, "Jürgen Groß", "=?utf-8?q?fake?=", "Zo\ufffd Latin", strings.Repeat("日本", maxPerson/2)}
	if !slices.Equal(names[:9], wantNames) {
		t.Errorf("names %q,\nwant %q", names[:9], wantNames)
	}
	subject, err := h.Subject()
	if err != nil || !strings.HasPrefix(subject, "Re: [PATCH] x Bcc: all@example.com body = ?utf-8?q?=0ABcc:_x?= ]0;pwned long") || len(subject) > maxSubject+40 {
		t.Errorf("subject %q, %v", subject, err)
	}
	refs, err := h.MsgIDList("References")
	if want := []string{"good@example.com", "bracketed@example.com", "p1@mail.example.com"}; err != nil || !slices.Equal(refs, want) {
		t.Errorf("references %q, want %q, %v", refs, want, err)
	}
}

func TestMailSubject(t *testing.T) {
	for in, want := range map[string]string{
		"[PATCH v2 2/4] box: x":   "Subject: Re: [PATCH v2 2/4] box: x\r\n",
		"Re: [PATCH] box: x":      "Subject: Re: [PATCH] box: x\r\n",
		"RE: [PATCH] box: x":      "Subject: RE: [PATCH] box: x\r\n",
		"":                        "Subject: Re:\r\n",
		"[PATCH] größer \t  Öl":   "Subject: =?utf-8?q?Re:_[PATCH]_gr=C3=B6=C3=9Fer_=C3=96l?=\r\n",
		"[PATCH] a\xffb":          "Subject: =?utf-8?q?Re:_[PATCH]_a=EF=BF=BDb?=\r\n",
		"\n\n[PATCH]\r\n folded ": "Subject: Re: [PATCH] folded\r\n",
	} {
		v := one()
		v.Series.Patches[0].Message.Subject = in
		raw, err := Mail(v, bot)
		if err != nil {
			t.Fatal(err)
		}
		parsed(t, raw)
		if !bytes.Contains(raw, []byte("\r\n"+want)) {
			t.Errorf("%q: no %q in\n%s", in, want, raw)
		}
	}
}

// Whose mail is answered, and who reads it.
func TestMailAnswers(t *testing.T) {
	series := func() *review.Verdict {
		v := one()
		author := v.Series.Author
		list := mail.Address{Name: "Kim Arnesen via box", Addr: "linux-box@lists.example.org"} // a list that rewrites From
		v.Series.Cover = &mail.Message{ID: "p0@mail.example.com", Subject: "[PATCH 0/2] box", From: author, To: []mail.Address{{Addr: "cover@example.com"}}}
		v.Series.Total = 2
		v.Series.Patches = append(v.Series.Patches, &mail.Patch{Number: 2, Total: 2, Author: mail.Address{Name: "Bo", Addr: "bo@example.com"},
			Message: &mail.Message{ID: "p2@mail.example.com", Subject: "[PATCH 2/2] box", From: list, To: []mail.Address{list, author}, InReplyTo: []string{"p0@mail.example.com"}}})
		return v
	}
	for _, c := range []struct {
		what   string
		change func(v *review.Verdict)
		parent string
		to, cc []string
	}{
		{"the patch with the problem", func(v *review.Verdict) { v.Findings[0].Patch = 2 }, "p2@mail.example.com",
			[]string{"kim@example.com"}, []string{"linux-box@lists.example.org", "bo@example.com"}},
		{"patch not known", func(v *review.Verdict) { v.Findings[0].Patch = 0 }, "p0@mail.example.com",
			[]string{"kim@example.com"}, []string{"cover@example.com"}},
		{"nothing new", func(v *review.Verdict) { v.Findings = nil }, "p0@mail.example.com",
			[]string{"kim@example.com"}, []string{"cover@example.com"}},
		{"no cover letter", func(v *review.Verdict) { v.Findings, v.Series.Cover = nil, nil }, "p1@mail.example.com",
			[]string{"kim@example.com"}, []string{"linux-box@vger.example.org"}},
		{"no author", func(v *review.Verdict) { v.Findings[0].Patch, v.Series.Author.Addr = 2, "" }, "p2@mail.example.com",
			[]string{"linux-box@lists.example.org"}, []string{"bo@example.com", "kim@example.com"}},
	} {
		v := series()
		c.change(v)
		raw, err := Mail(v, bot)
		if err != nil {
			t.Fatal(c.what, err)
		}
		_, h, _ := parsed(t, raw)
		if got := h.Get("In-Reply-To"); got != "<"+c.parent+">" {
			t.Errorf("%s: in reply to %s", c.what, got)
		}
		for key, want := range map[string][]string{"To": c.to, "Cc": c.cc} {
			var got []string
			list, _ := h.AddressList(key)
			for _, a := range list {
				got = append(got, a.Address)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s %q, want %q", c.what, key, got, want)
			}
		}
	}
}

func TestMailRefuses(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(v *review.Verdict, from *Identity)
		want   error
	}{
		{"commits", func(v *review.Verdict, _ *Identity) { v.Series.Patches[0].Message = nil }, ErrNothingToAnswer},
		{"no series", func(v *review.Verdict, _ *Identity) { v.Series = nil }, ErrNothingToAnswer},
		{"no id", func(v *review.Verdict, _ *Identity) { v.Series.Patches[0].Message.ID = "" }, ErrNothingToAnswer},
		{"not applied", func(v *review.Verdict, _ *Identity) { v.Applied = false }, ErrNotApplied},
		{"no time", func(v *review.Verdict, _ *Identity) { v.Started = time.Time{} }, ErrNoTime},
		{"no bot", func(_ *review.Verdict, from *Identity) { from.Address = "" }, ErrAddress},
		{"two bots", func(_ *review.Verdict, from *Identity) { from.Address = "a@b.c, d@e.f" }, ErrAddress},
		{"nobody", func(v *review.Verdict, _ *Identity) {
			v.Series.Author, v.Series.Patches[0].Message.From, v.Series.Patches[0].Author = mail.Address{}, mail.Address{}, mail.Address{}
		}, ErrAddress},
	} {
		v, from := one(), bot
		c.change(v, &from)
		if raw, err := Mail(v, from); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v\n%s", c.what, err, c.want, raw)
		}
	}
}

// The id depends on what was reviewed and found, and on nothing else.
func TestMailID(t *testing.T) {
	id := func(change func(v *review.Verdict)) string {
		v := one()
		second := v.Findings[0]
		second.Function = "box_put"
		v.Findings = append(v.Findings, second)
		change(v)
		raw, err := Mail(v, bot)
		if err != nil {
			t.Fatal(err)
		}
		m, _, _ := parsed(t, raw)
		return m.Header.Get("Message-ID")
	}
	first := id(func(*review.Verdict) {})
	for what, same := range map[string]func(*review.Verdict){
		"later":       func(v *review.Verdict) { v.Started = v.Started.Add(time.Hour); v.Seconds = 9 },
		"other order": func(v *review.Verdict) { slices.Reverse(v.Findings) },
		"other line":  func(v *review.Verdict) { v.Findings[0].Line = 99 },
	} {
		if got := id(same); got != first {
			t.Errorf("%s: %s, not %s", what, got, first)
		}
	}
	for what, other := range map[string]func(*review.Verdict){
		"revision": func(v *review.Verdict) { v.Series.Patches[0].Message.ID = "p2@mail.example.com" },
		"findings": func(v *review.Verdict) { v.Findings = v.Findings[:1] },
	} {
		if got := id(other); got == first {
			t.Errorf("another %s, and the id is the same", what)
		}
	}
	if !strings.HasSuffix(first, "@example.org>") {
		t.Error(first)
	}
}

// A command of a thousand characters is not cut: the mail changes its encoding.
func TestMailEncoding(t *testing.T) {
	for want, line := range map[string]string{
		"7bit":             "make",
		"8bit":             "make # größer",
		"quoted-printable": "make " + strings.Repeat("x", 1500),
	} {
		v := one()
		v.Reproduce = []string{line}
		raw, err := Mail(v, bot)
		if err != nil {
			t.Fatal(err)
		}
		m, _, body := parsed(t, raw)
		if got := m.Header.Get("Content-Transfer-Encoding"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if !strings.Contains(body, "\n  "+line+"\n") {
			t.Errorf("%s: the command did not survive:\n%s", want, body)
		}
	}
}

func TestMailReferencesBounded(t *testing.T) {
	v := one()
	m := v.Series.Patches[0].Message
	for i := range 500 {
		m.References = append(m.References, fmt.Sprintf("r%d@example.com", i))
	}
	raw, err := Mail(v, bot)
	if err != nil {
		t.Fatal(err)
	}
	_, h, _ := parsed(t, raw)
	refs, err := h.MsgIDList("References")
	if err != nil || len(refs) != maxReferences || refs[0] != "r0@example.com" || refs[len(refs)-1] != m.ID || refs[1] != "r462@example.com" {
		t.Errorf("%d references, %q, %v", len(refs), refs, err)
	}
}
