package mail

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	netmail "net/mail"
	"slices"
	"strings"
	"time"
)

// ErrNoMail is returned by Parse for bytes that hold no header field at all.
var ErrNoMail = errors.New("no mail: it has no header")

// Parse reads one mail. It reads whatever can be read, and says in Warnings what
// was odd; it fails only with ErrNoMail. The message is returned even then, with
// Raw and an ID made from it, so that nothing is lost.
//
// raw is kept, not copied.
func Parse(raw []byte) (*Message, error) {
	m := &Message{memo: &memo{}}
	raw = cutFromLine(raw)
	m.Raw = raw
	fields, body, any := splitHeader(withoutCR(raw))
	for _, f := range fields {
		m.takeField(f)
	}
	if ids := MessageIDs(bytes.TrimLeft(raw, spaces)); len(ids) > 0 {
		m.ID = ids[0]
	}
	if m.ID == "" {
		sum := sha256.Sum256(raw)
		m.ID = hex.EncodeToString(sum[:16]) + "@no-message-id.invalid"
		m.warn("no Message-ID: one was made from the content")
	}
	m.sender, m.rewritten = viaList(m.From, fields)
	if !any {
		return m, ErrNoMail
	}
	m.readBody(fields, body)
	return m, nil
}

func (m *Message) warn(what string) {
	if what != "" && !slices.Contains(m.Warnings, what) {
		m.Warnings = append(m.Warnings, what)
	}
}

// takeField sorts one field in. Of fields that come twice the last one counts, as
// for git mailinfo.
func (m *Message) takeField(f field) {
	decoded := func() string {
		value, warning := decodeWords(f.value)
		m.warn(warning)
		return value
	}
	switch f.name {
	case "subject":
		m.Subject = strings.Trim(collapseSpace(decoded()), spaces)
	case "from":
		m.from = decoded()
		if list := ParseAddresses(f.value); len(list) > 0 {
			m.From = list[0]
		} else {
			a := author(decoded())
			if a.Addr == "" {
				a.Name = strings.Trim(decoded(), spaces)
			}
			m.From = a
		}
	case "reply-to":
		m.ReplyTo = append(m.ReplyTo, ParseAddresses(f.value)...)
	case "to":
		m.To = append(m.To, ParseAddresses(f.value)...)
	case "cc":
		m.Cc = append(m.Cc, ParseAddresses(f.value)...)
	case "date":
		m.date = strings.Trim(f.value, spaces)
		date, err := parseDate(f.value)
		if err != nil {
			m.warn("the Date header cannot be read")
		}
		m.Date = date
	case "received":
		if m.Received.IsZero() {
			if _, when, ok := cutLast(f.value, ";"); ok {
				m.Received, _ = parseDate(when)
			}
		}
	case "in-reply-to":
		m.InReplyTo = appendIDs(m.InReplyTo, f.value)
	case "references":
		m.References = appendIDs(m.References, f.value)
	case "list-id":
		value := f.value
		if _, after, ok := cutLast(value, "<"); ok {
			value, _, _ = strings.Cut(after, ">")
		}
		m.ListID = strings.TrimSpace(value)
	}
}

// maxIDs bounds the Message-IDs that are taken from one mail's fields. The longest
// threads of lists are shorter.
const maxIDs = 2000

// appendIDs adds the Message-IDs in a field, each once. Comments ("message from X
// on Monday") are dropped.
func appendIDs(ids []string, value string) []string {
	found := false
	for rest := value; len(ids) < maxIDs; {
		_, after, ok := strings.Cut(rest, "<")
		if !ok {
			break
		}
		id, next, ok := strings.Cut(after, ">")
		if !ok {
			next = ""
		}
		rest = next
		id = strings.Join(strings.Fields(id), "")
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		found = true
	}
	if words := strings.Fields(value); !found && len(words) == 1 && strings.Contains(words[0], "@") {
		ids = append(ids, words[0])
	}
	return ids
}

// dateLayouts are what net/mail does not read but mailers write.
var dateLayouts = []string{
	"Mon, 2 Jan 2006 15:04:05 -0700 MST",
	"Mon, 2 Jan 2006 15:04:05",
	"Mon, 2 Jan 2006 15:04 -0700",
	"2 Jan 2006 15:04:05 MST",
	"Mon Jan 2 15:04:05 2006 -0700",
	"Mon Jan 2 15:04:05 MST 2006",
	"Mon Jan 2 15:04:05 2006",
	time.RFC3339,
	"2006-01-02 15:04:05 -0700",
}

func parseDate(s string) (time.Time, error) {
	s = strings.Join(strings.Fields(s), " ")
	t, err := netmail.ParseDate(s)
	if err == nil {
		return plausible(t), nil
	}
	if before, _, ok := strings.Cut(s, " ("); ok {
		s = before
	}
	for _, layout := range dateLayouts {
		if t, e := time.Parse(layout, s); e == nil {
			return plausible(t), nil
		}
	}
	return time.Time{}, err
}

// plausible drops times that no mail can have; they would break the order of all others.
func plausible(t time.Time) time.Time {
	if t.Year() < 1970 || t.Year() > 2200 {
		return time.Time{}
	}
	return t
}

// cutFromLine takes an mbox "From " line off.
func cutFromLine(raw []byte) []byte {
	if bytes.HasPrefix(raw, []byte("From ")) {
		_, after, _ := bytes.Cut(raw, []byte("\n"))
		return after
	}
	return raw
}

// withoutCR makes \n of every \r\n, as `git mailsplit` does before git am looks
// at a mail.
func withoutCR(b []byte) []byte {
	if bytes.IndexByte(b, '\r') < 0 {
		return b
	}
	return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
}
