package mail

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"mime"
	"strings"
	"time"
)

// Mail returns the patch as a mail that git am reads in exactly one way. It is made
// from what was read out of the message, and not its raw bytes, so that what Refuse
// has judged is what git applies.
func (p *Patch) Mail() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Message-ID: <%s>\n", oneLine(p.Message.ID))
	fmt.Fprintf(&b, "From: %s\n", fromField(p.Author))
	if date := oneLine(p.dateField()); date != "" {
		fmt.Fprintf(&b, "Date: %s\n", date)
	}
	title := oneLine(p.Title)
	if title == "" {
		title = "(no subject)"
	}
	fmt.Fprintf(&b, "Subject: [PATCH] %s\n", encodeHeader(title))
	b.WriteString("MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n\n")
	log := p.Log
	if first, _, _ := strings.Cut(strings.TrimLeft(log, "\n"), "\n"); inBodyHeader([]byte(first+"\n")) != "" ||
		strings.HasPrefix(first, ">From ") || strings.HasPrefix(first, "[PATCH]") {
		// A log that begins like an in-body header is kept from being read as
		// one: git takes each of them only once.
		fmt.Fprintf(&b, "From: %s\nDate: %s\nSubject: %s\n\n", fromField(p.Author), oneLine(p.dateField()), encodeHeader("[PATCH] "+title))
	}
	b.WriteString(log)
	if log != "" && !strings.HasSuffix(log, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString(p.Diff)
	if !strings.HasSuffix(p.Diff, "\n") {
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func (p *Patch) dateField() string {
	if p.date != "" {
		return p.date
	}
	if !p.Message.Date.IsZero() {
		return p.Message.Date.Format(time.RFC1123Z)
	}
	return ""
}

// fromField writes an address so that git am reads the very name and address back.
func fromField(a Address) string {
	addr := oneLine(a.Addr)
	name := oneLine(a.Name)
	if name == "" || name == addr {
		return addr
	}
	for _, c := range name {
		if c > 126 || strings.ContainsRune(`"\(),<>@:;[]?=`, c) {
			// As one encoded word nothing in it has a meaning for a header's
			// syntax until it is decoded; quotes keep it together after that.
			return mime.QEncoding.Encode("utf-8", `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name)+`"`) + " <" + addr + ">"
		}
	}
	return name + " <" + addr + ">"
}

// encodeHeader encodes what is not plain ASCII, in one piece: git reads any length.
func encodeHeader(s string) string {
	for _, c := range s {
		if c > 126 || c < ' ' {
			return "=?UTF-8?B?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
		}
	}
	if strings.Contains(s, "=?") {
		return "=?UTF-8?B?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
	}
	return s
}

// oneLine keeps a foreign value from adding header lines.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == 0 {
			return ' '
		}
		return r
	}, s)
}

// Mbox returns the patches of the series in order as an mbox (mboxrd) that
// `git am --patch-format=mboxrd` takes, and that `git am` takes as well unless a
// log has lines that begin with "From ".
func (s *Series) Mbox() []byte {
	var b bytes.Buffer
	for _, p := range s.Patches {
		b.WriteString("From mboxrd@z Thu Jan  1 00:00:00 1970\n")
		for line := range bytes.Lines(p.Mail()) {
			if quoted := bytes.TrimLeft(line, ">"); bytes.HasPrefix(quoted, []byte("From ")) {
				b.WriteByte('>')
			}
			b.Write(line)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}
