package mail

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// field is one header field, unfolded, as it stands: nothing decoded.
type field struct{ name, value string }

// read are the fields that Parse looks at. A mail has dozens of others.
var read = func() map[string]bool {
	set := map[string]bool{}
	for _, name := range []string{
		"subject", "from", "reply-to", "to", "cc", "date", "received", "in-reply-to", "references", "list-id",
		"list-post", "x-original-from", "x-mailman-original-from", "x-original-to",
		"content-type", "content-transfer-encoding", "content-disposition",
	} {
		set[name] = true
	}
	return set
}()

// maxField is how much of a header field is read; no honest one comes near it.
const maxField = 256 << 10

// splitHeader cuts raw into the header fields that Parse reads, with their names in
// lower case, and its body. any reports whether there is a field at all.
func splitHeader(raw []byte) (fields []field, body []byte, any bool) {
	fields = make([]field, 0, 16)
	var lower [32]byte
	body = eachField(raw, func(name, value []byte) {
		any = true
		if len(name) > len(lower) {
			return
		}
		for i, c := range name {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			lower[i] = c
		}
		if len(value) > maxField {
			value = value[:maxField]
		}
		if read[string(lower[:len(name)])] {
			fields = append(fields, field{string(lower[:len(name)]), string(value)})
		}
	})
	return fields, body, any
}

// eachField calls f for every header field of raw, its value unfolded, and returns
// the body. The bytes are valid during the call only. It is as lenient as git
// mailinfo: space before the header, "From " lines in it and fields without a
// space after the colon are read, and the first line that is none of these begins
// the body.
func eachField(raw []byte, f func(name, value []byte)) (body []byte) {
	var folded []byte
	rest := bytes.TrimLeft(raw, spaces)
	for len(rest) > 0 {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		line = bytes.TrimRight(line, spaces)
		if len(line) == 0 {
			return after
		}
		if bytes.HasPrefix(line, []byte("From ")) || bytes.HasPrefix(line, []byte(">From ")) {
			rest = after
			continue
		}
		colon := bytes.IndexByte(line, ':')
		if colon < 1 || !isFieldName(line[:colon]) {
			return rest
		}
		value := line[colon+1:]
		if len(after) > 0 && (after[0] == ' ' || after[0] == '\t') {
			folded = append(folded[:0], value...)
			for len(after) > 0 && (after[0] == ' ' || after[0] == '\t') {
				var more []byte
				more, after, _ = bytes.Cut(after, []byte("\n"))
				folded = append(append(folded, ' '), bytes.TrimRight(more[1:], spaces)...)
			}
			value = folded
		}
		f(line[:colon], bytes.TrimLeft(value, " \t"))
		rest = after
	}
	return nil
}

func isFieldName(name []byte) bool {
	for _, c := range name {
		if c < 33 || c > 126 {
			return false
		}
	}
	return true
}

// Header returns the values of a header field, unfolded and decoded, in order.
func (m *Message) Header(name string) []string {
	var values []string
	eachField(withoutCR(m.Raw), func(n, v []byte) {
		if strings.EqualFold(string(n), name) {
			value, _ := decodeWords(string(v))
			values = append(values, value)
		}
	})
	return values
}

// decodeWords decodes the encoded words of RFC 2047 in a header value. Words that
// cannot be decoded stay as they are. Unlike mailinfo it joins neighbours of one
// charset before converting them, since some mailers cut a character in two.
func decodeWords(s string) (decoded string, warning string) {
	if !strings.Contains(s, "=?") {
		return validHeader(s)
	}
	var out strings.Builder
	var pending []byte // bytes of encoded words, not converted yet
	var charset string
	flush := func() {
		if len(pending) > 0 {
			word, w := toUTF8(pending, charset)
			out.WriteString(word)
			if w != "" {
				warning = w
			}
			pending = nil
		}
	}
	for {
		start := strings.Index(s, "=?")
		if start < 0 {
			break
		}
		cs, enc, text, length := encodedWord(s[start:])
		if length == 0 {
			flush()
			out.WriteString(s[:start+2])
			s = s[start+2:]
			continue
		}
		if between := s[:start]; len(pending) == 0 || strings.TrimSpace(between) != "" {
			flush()
			out.WriteString(between)
		}
		if !strings.EqualFold(cs, charset) {
			flush()
		}
		charset = cs
		if enc == 'q' {
			pending = append(pending, decodeQP([]byte(strings.ReplaceAll(text, "_", " ")))...)
		} else {
			data, _ := decodeBase64([]byte(text))
			pending = append(pending, data...)
		}
		s = s[start+length:]
		if len(pending) == 0 {
			pending = []byte{}
		}
	}
	flush()
	out.WriteString(s)
	decoded, w := validHeader(out.String())
	if w != "" {
		warning = w
	}
	return decoded, warning
}

// encodedWord takes =?charset?q?text?= apart; length is 0 when s does not begin with one.
func encodedWord(s string) (charset string, enc byte, text string, length int) {
	charset, rest, ok := strings.Cut(s[2:], "?")
	if !ok || charset == "" || strings.ContainsAny(charset, " \t") || len(rest) < 3 || rest[1] != '?' {
		return "", 0, "", 0
	}
	enc = rest[0] | 0x20
	text, _, ok = strings.Cut(rest[2:], "?=")
	if !ok || enc != 'q' && enc != 'b' {
		return "", 0, "", 0
	}
	length = 2 + len(charset) + 1 + 2 + len(text) + 2
	charset, _, _ = strings.Cut(charset, "*") // RFC 2231 language
	return charset, enc, text, length
}

// validHeader reads raw 8-bit text in a header, which should not be there.
func validHeader(s string) (string, string) {
	if utf8.ValidString(s) {
		return s, ""
	}
	text, _ := toUTF8([]byte(s), "windows-1252")
	return text, "a header has raw bytes that are not UTF-8: read as Windows-1252"
}
