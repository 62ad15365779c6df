package mail

import (
	"bytes"
	"strings"
)

// info is what `git mailinfo` says about a mail.
type info struct {
	from, subject, date string // in-body headers where there are any, decoded
	inFrom, inSubject   bool   // from, subject were found in the body
	log                 string // UTF-8
	patch               []byte // in the mail's own bytes
}

// mailinfo reads the text of a mail as git does (git's mailinfo.c): in-body headers,
// the log, and the patch from the line on that ends the log. Scissors are off, as
// they are by default.
func mailinfo(m *Message) info {
	var in info
	var log strings.Builder
	var patch [][]byte
	var body struct{ from, subject, date string } // in-body headers
	header := true                                // still in the in-body headers
	var open []byte                               // the in-body header that may go on in the next line
	flush := func() {
		if open == nil {
			return
		}
		name, value, _ := bytes.Cut(open, []byte(":"))
		decoded, _ := decodeWords(strings.Trim(string(value), spaces))
		switch strings.ToLower(string(name)) {
		case "from":
			body.from = decoded
		case "subject":
			body.subject = decoded
		case "date":
			body.date = decoded
		}
		open = nil
	}
	seen := func(name string) bool { // an in-body header counts once
		switch strings.ToLower(name) {
		case "from":
			return body.from != ""
		case "subject":
			return body.subject != ""
		}
		return body.date != ""
	}

	inPatch := false
	for _, t := range m.texts() {
		rest := t.bytes
		if inPatch {
			patch = append(patch, rest)
			continue
		}
		logged := -1 // where the log begins in this part
		for len(rest) > 0 {
			line := rest
			if i := bytes.IndexByte(rest, '\n'); i >= 0 {
				line = rest[:i+1]
			}
			if header {
				next := rest[len(line):]
				if len(bytes.TrimRight(line, "\r\n")) == 0 {
					if open != nil {
						flush()
						header = false
					}
					rest = next
					continue
				}
				if open != nil && (line[0] == ' ' || line[0] == '\t') {
					open = append(bytes.TrimRight(open, "\r\n"), line...)
					rest = next
					continue
				}
				flush()
				if isFromSeparator(line) {
					rest = next
					continue
				}
				if bytes.HasPrefix(line, []byte("[PATCH]")) && len(line) > 7 && isSpace(line[7]) {
					body.subject, _ = toUTF8(bytes.TrimRight(line, spaces), t.charset)
					rest = next
					continue
				}
				if name := inBodyHeader(line); name != "" && !seen(name) {
					s, _ := toUTF8(line, t.charset)
					open = []byte(s)
					rest = next
					continue
				}
				header = false
			}
			if logged < 0 {
				logged = len(t.bytes) - len(rest)
			}
			if patchBreak(line) {
				inPatch = true
				patch = append(patch, rest)
				break
			}
			rest = rest[len(line):]
		}
		if logged >= 0 {
			s, _ := toUTF8(t.bytes[logged:len(t.bytes)-len(rest)], t.charset)
			log.WriteString(s)
		}
	}
	flush()
	in.log = log.String()
	in.patch = bytes.Join(patch, nil)
	in.from, in.subject, in.date = m.from, m.Subject, m.date
	if in.from == "" && m.From.Addr != "" {
		in.from = m.From.Name + " <" + m.From.Addr + ">"
	}
	if inPatch {
		// git gives up the in-body headers when there is no patch.
		if body.from != "" {
			in.from, in.inFrom = body.from, true
		}
		if body.subject != "" {
			in.subject, in.inSubject = body.subject, true
		}
		if body.date != "" {
			in.date = body.date
		}
	}
	return in
}

// texts returns the text parts; for a message that was not made by Parse, its Body.
func (m *Message) texts() []text {
	if m.text == nil && m.Body != "" {
		return []text{{bytes: []byte(m.Body), charset: "utf-8"}}
	}
	return m.text
}

// inBodyHeader names the header that a line of the body gives; "" for none.
func inBodyHeader(line []byte) string {
	for _, name := range []string{"From", "Subject", "Date"} {
		n := len(name)
		if len(line) > n && line[n] == ':' && strings.EqualFold(string(line[:n]), name) {
			return name
		}
	}
	return ""
}

// isFromSeparator recognizes ">From <commit> Mon Sep 17 00:00:00 2001", which git
// format-patch writes and an mbox quotes. Without the quote it is text, for git.
func isFromSeparator(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte(">From "))
	if !ok || len(rest) < 40 {
		return false
	}
	for _, c := range rest[:40] {
		if unhex(c) < 0 || 'A' <= c && c <= 'F' {
			return false
		}
	}
	return string(rest[40:]) == " Mon Sep 17 00:00:00 2001\n"
}

// patchBreak reports whether a line ends the log: the head of a diff, or a "---" on
// a line of its own.
func patchBreak(line []byte) bool {
	if bytes.HasPrefix(line, []byte("diff -")) || bytes.HasPrefix(line, []byte("Index: ")) {
		return true
	}
	if len(line) < 4 || !bytes.HasPrefix(line, []byte("---")) {
		return false
	}
	if line[3] == ' ' && len(line) > 4 && !isSpace(line[4]) {
		return true
	}
	return len(bytes.TrimRight(line[3:], spaces)) == 0 && line[len(line)-1] == '\n'
}
