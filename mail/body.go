package mail

import (
	"bytes"
	"slices"
	"strings"
)

// text is one text part of a mail, its transfer encoding undone.
type text struct {
	bytes   []byte // in charset, lines end in \n
	charset string
	html    bool
}

// content is what the header of a mail or a part says about its body.
type content struct {
	kind     string // "text/plain", lower case
	charset  string
	boundary string
	encoding string
	flowed   bool
	delsp    bool
	attached bool
}

// What a hostile mail may ask for: multiparts in multiparts (git mailinfo takes 5),
// and parts.
const (
	maxDepth = 8
	maxParts = 1000
)

func contentOf(fields []field) content {
	c := content{kind: "text/plain"}
	for _, f := range fields {
		switch f.name {
		case "content-type":
			kind, _, _ := strings.Cut(f.value, ";")
			if kind = strings.ToLower(strings.TrimSpace(kind)); strings.Contains(kind, "/") {
				c.kind = kind
			}
			c.boundary = attribute(f.value, "boundary=")
			c.charset = strings.ToLower(attribute(f.value, "charset="))
			c.flowed = strings.EqualFold(attribute(f.value, "format="), "flowed")
			c.delsp = strings.EqualFold(attribute(f.value, "delsp="), "yes")
		case "content-transfer-encoding":
			c.encoding = strings.ToLower(f.value)
		case "content-disposition":
			c.attached = strings.HasPrefix(strings.ToLower(f.value), "attachment")
		}
	}
	return c
}

// attribute finds a parameter as git mailinfo does: by searching for it, whatever
// the syntax around it.
func attribute(value, name string) string {
	i := strings.Index(strings.ToLower(value), name)
	if i < 0 || i+len(name) > len(value) {
		return ""
	}
	value = value[i+len(name):]
	if rest, ok := strings.CutPrefix(value, `"`); ok {
		value, _, _ = strings.Cut(rest, `"`)
		return value
	}
	if end := strings.IndexAny(value, "; \t"); end >= 0 {
		value = value[:end]
	}
	return value
}

// readBody finds the text parts of a mail and makes Body of them.
func (m *Message) readBody(fields []field, body []byte) {
	m.text = m.parts(contentOf(fields), body, 0)
	var all strings.Builder
	for _, t := range m.text {
		s, warning := toUTF8(t.bytes, t.charset)
		m.warn(warning)
		all.WriteString(s)
		if s != "" && !strings.HasSuffix(s, "\n") && len(m.text) > 1 {
			all.WriteByte('\n')
		}
	}
	m.Body = all.String()
	if strings.IndexByte(m.Body, '\r') >= 0 {
		m.Body = strings.ReplaceAll(m.Body, "\r\n", "\n")
	}
}

// parts returns the text parts of an entity in order. Of alternatives only one is
// taken, plain text first: git mailinfo would add the HTML to the diff.
func (m *Message) parts(c content, body []byte, depth int) []text {
	if strings.HasPrefix(c.kind, "multipart/") && c.boundary != "" && depth < maxDepth {
		children, found, closed := splitMultipart(body, c.boundary)
		if !found {
			m.warn("the multipart boundary does not occur: the body is read as plain text")
			c.kind = "text/plain"
			return m.parts(c, body, maxDepth)
		}
		var texts, html []text
		for _, child := range children {
			childFields, childBody, any := splitHeader(child)
			if !any {
				// A part without a header begins with an empty line; what
				// comes first is body.
				childBody = bytes.TrimPrefix(child, []byte("\n"))
			}
			for _, t := range m.parts(contentOf(childFields), childBody, depth+1) {
				if t.html {
					html = append(html, t)
				} else {
					texts = append(texts, t)
				}
			}
		}
		if len(texts) == 0 {
			texts = html
		}
		if last := len(texts) - 1; last >= 0 && closed {
			// mailinfo ends a multipart with an empty line.
			texts[last].bytes = append(slices.Clip(texts[last].bytes), '\n')
		}
		return texts
	}
	if !isText(c) {
		return nil
	}
	data := m.decodeTransfer(c.encoding, body)
	if strings.HasPrefix(c.kind, "application/") && bytes.IndexByte(data, 0) >= 0 {
		m.warn("an attachment that is no text was left out")
		return nil
	}
	if c.kind == "text/html" {
		s, _ := toUTF8(data, c.charset)
		m.warn("HTML: read as text")
		return []text{{bytes: []byte(htmlText(s)), charset: "utf-8", html: true}}
	}
	if c.flowed {
		data = unflow(data, c.delsp)
	}
	return []text{{bytes: data, charset: c.charset}}
}

// isText reports whether a part can hold what a person wrote or a patch.
func isText(c content) bool {
	switch c.kind {
	case "text/calendar", "text/vcard", "text/x-vcard", "text/directory", "text/rtf":
		return false
	case "application/octet-stream", "application/x-patch", "application/x-diff", "application/mbox",
		"application/x-extension-patch", "application/text", "application/x-text":
		return true
	}
	return strings.HasPrefix(c.kind, "text/") || !strings.Contains(c.kind, "/")
}

// splitMultipart cuts a multipart body at its boundary lines; what stands before
// the first and after the last is dropped. closed says that there is a last.
func splitMultipart(body []byte, boundary string) (parts [][]byte, found, closed bool) {
	mark := []byte("--" + boundary)
	start := -1
	for at := 0; at < len(body); {
		end := bytes.IndexByte(body[at:], '\n')
		next := len(body)
		if end >= 0 {
			next = at + end + 1
		}
		line := body[at:next]
		if bytes.HasPrefix(line, mark) {
			rest := bytes.TrimRight(line[len(mark):], spaces)
			closing := bytes.HasPrefix(rest, []byte("--"))
			if len(rest) == 0 || closing {
				if len(parts) == maxParts {
					return parts, found, closed
				}
				if start >= 0 {
					parts = append(parts, body[start:at])
				}
				found = true
				start = next
				if closing {
					start = -1
					closed = true
				}
			}
		}
		at = next
	}
	if start >= 0 && start < len(body) {
		parts = append(parts, body[start:])
	}
	return parts, found, closed
}

// unflow joins the lines of format=flowed (RFC 3676) as git mailinfo does.
func unflow(data []byte, delsp bool) []byte {
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		line, rest, newline := bytes.Cut(data, []byte("\n"))
		data = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		if bytes.Equal(line, []byte("-- ")) { // the signature's separator is no soft break
			if len(out) > 0 && out[len(out)-1] != '\n' {
				out = append(out, '\n')
			}
			out = append(out, "-- \n"...)
			continue
		}
		line = bytes.TrimPrefix(line, []byte(" "))
		if soft := bytes.HasSuffix(line, []byte(" ")); soft {
			if delsp {
				line = line[:len(line)-1]
			}
			out = append(out, line...)
			continue
		}
		out = append(out, line...)
		if newline {
			out = append(out, '\n')
		}
	}
	return out
}
