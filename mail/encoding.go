package mail

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/emersion/go-message/charset"
	"golang.org/x/net/html"
)

// decodeTransfer undoes a Content-Transfer-Encoding, as leniently as git mailinfo.
func (m *Message) decodeTransfer(encoding string, body []byte) []byte {
	switch {
	case strings.Contains(encoding, "base64"):
		data, clean := decodeBase64(body)
		if !clean {
			m.warn("the base64 has characters that do not belong there: they were left out")
		}
		return data
	case strings.Contains(encoding, "quoted-printable"):
		return decodeQP(body)
	}
	return body
}

// decodeQP undoes quoted-printable; what is no valid escape stays as it is.
func decodeQP(in []byte) []byte {
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); i++ {
		if in[i] != '=' {
			out = append(out, in[i])
			continue
		}
		if i+1 == len(in) {
			break
		}
		if in[i+1] == '\n' {
			i++
			continue
		}
		if i+2 < len(in) {
			if hi, lo := unhex(in[i+1]), unhex(in[i+2]); hi >= 0 && lo >= 0 {
				out = append(out, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		out = append(out, '=')
	}
	return out
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// decodeBase64 drops what is not of the alphabet. A list's plain footer below the
// base64 is dropped as well: nothing is decoded after a line with a blank in it
// that follows the padding.
func decodeBase64(in []byte) (out []byte, clean bool) {
	out = make([]byte, 0, len(in)*3/4+3)
	clean = true
	acc, n := 0, 0
	padded := false
	for _, c := range in {
		v := base64Value(c)
		switch {
		case v >= 0 && padded && n == 0 && !clean:
			return out, clean
		case v >= 0:
			acc = acc<<6 | v
			if n++; n == 4 {
				out = append(out, byte(acc>>16), byte(acc>>8), byte(acc))
				acc, n = 0, 0
			}
		case c == '=':
			switch n {
			case 2:
				out = append(out, byte(acc>>4))
			case 3:
				out = append(out, byte(acc>>10), byte(acc>>2))
			}
			acc, n, padded = 0, 0, true
		case !isSpace(c):
			clean = false
		}
	}
	switch n {
	case 2:
		out = append(out, byte(acc>>4))
	case 3:
		out = append(out, byte(acc>>10), byte(acc>>2))
	}
	return out, clean
}

func base64Value(c byte) int {
	switch {
	case 'A' <= c && c <= 'Z':
		return int(c - 'A')
	case 'a' <= c && c <= 'z':
		return int(c-'a') + 26
	case '0' <= c && c <= '9':
		return int(c-'0') + 52
	case c == '+':
		return 62
	case c == '/':
		return 63
	}
	return -1
}

// isASCII reports whether b needs no conversion from any charset that extends
// ASCII, those that switch by escapes included.
func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf || c == 0x1b {
			return false
		}
	}
	return true
}

// extendsASCII holds the charsets where ASCII bytes can mean something else.
func extendsASCII(name string) bool {
	return !strings.HasPrefix(name, "utf-7") && !strings.HasPrefix(name, "utf-16") &&
		!strings.HasPrefix(name, "utf-32") && !strings.HasPrefix(name, "hz")
}

var badCharsets sync.Map // names that were looked up in vain: looking up is slow

// toUTF8 converts b from the named charset. It always gives valid UTF-8: where the
// charset is not known or not true, it reads UTF-8 if it is that and Windows-1252
// if not, and says so.
func toUTF8(b []byte, name string) (string, string) {
	name = strings.ToLower(strings.TrimSpace(name))
	if isASCII(b) && extendsASCII(name) {
		return string(b), ""
	}
	warning := ""
	switch name {
	case "utf-8", "utf8", "", "us-ascii", "ascii", "ansi_x3.4-1968":
		if utf8.Valid(b) {
			return string(b), ""
		}
		if name == "" {
			name = "none"
		}
		warning = "charset " + name + ", but the text is not: read as Windows-1252"
		if strings.HasPrefix(name, "utf") {
			return strings.ToValidUTF8(string(b), "\uFFFD"), "charset utf-8, but the text has bytes that are not"
		}
	default:
		if _, bad := badCharsets.Load(name); !bad {
			r, err := charset.Reader(name, bytes.NewReader(b))
			if err == nil {
				out, err := io.ReadAll(r)
				if err == nil {
					return strings.ToValidUTF8(string(out), "\uFFFD"), ""
				}
			}
			if len(name) < 64 {
				badCharsets.Store(name, true)
			}
		}
		warning = "charset " + name + " is not known: read as UTF-8 or Windows-1252"
		if utf8.Valid(b) {
			return string(b), warning
		}
	}
	r, err := charset.Reader("windows-1252", bytes.NewReader(b))
	if err == nil {
		if out, err := io.ReadAll(r); err == nil {
			return string(out), warning
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD"), warning
}

// htmlText is what a reader sees of an HTML mail, near enough.
func htmlText(s string) string {
	var out strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	hidden, pre := 0, 0
	newline := func() {
		if t := out.String(); t != "" && !strings.HasSuffix(t, "\n") {
			out.WriteByte('\n')
		}
	}
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			newline()
			return out.String()
		case html.TextToken:
			if hidden > 0 {
				continue
			}
			t := strings.ReplaceAll(string(z.Text()), "\u00a0", " ")
			t = html.UnescapeString(t)
			if pre == 0 {
				t = strings.ReplaceAll(t, "\n", " ")
				if strings.TrimSpace(t) == "" {
					continue
				}
			}
			out.WriteString(strings.ReplaceAll(t, "\u00a0", " "))
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			tag, _ := z.TagName()
			opens := kind == html.StartTagToken
			switch string(tag) {
			case "style", "script", "title", "head":
				hidden = step(hidden, opens, kind == html.EndTagToken)
			case "pre":
				newline()
				pre = step(pre, opens, kind == html.EndTagToken)
			case "br":
				out.WriteByte('\n')
			case "p", "div", "li", "tr", "blockquote", "table", "h1", "h2", "h3":
				newline()
			}
		}
	}
}

// step counts nesting without going below zero, as foreign HTML closes at will.
func step(n int, opens, closes bool) int {
	switch {
	case opens:
		return n + 1
	case closes && n > 0:
		return n - 1
	}
	return n
}
