package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on foreign text, in characters. Quoted code may be wider than prose, but a
// line of generated code or a tool gone wild must not fill a screen.
const (
	maxName   = 100 // a file, a function, a target, a compiler; of people see mailbox
	maxSaid   = 100 // what a tool said, next to the targets
	maxPhrase = 160 // a title, a reason
	maxCode   = 200 // one quoted source line
	maxProse  = 600 // a note of a check
)

// plainASCII are the typographic signs that compilers print in a UTF-8 locale.
var plainASCII = strings.NewReplacer(
	"\u2018", "'", "\u2019", "'", "\u201c", `"`, "\u201d", `"`,
	"\u2013", "-", "\u2014", "-", "\u2026", "...", "\u2192", "->", "\u00a0", " ",
)

// phrase makes foreign text fit to stand inside one line: white space is one blank,
// what could steer a terminal or reorder a line is shown as an escape, the length is
// bounded.
func phrase(s string) string { return bounded(escaped(oneLine(s)), maxPhrase) }

// name is phrase for a name.
func name(s string) string { return bounded(escaped(oneLine(s)), maxName) }

// prose is phrase for text that is wrapped.
func prose(s string) string { return bounded(escaped(oneLine(s)), maxProse) }

func oneLine(s string) string {
	return strings.Join(strings.Fields(plainASCII.Replace(s)), " ")
}

// codeLine makes a source line fit to be quoted: its tabs stay, the backslash that
// continues a macro goes, as it stands far to the right and says nothing here.
func codeLine(s string) string { return bounded(escaped(bare(s)), maxCode) }

// escaped shows every character that a reader cannot see or that moves others (control
// characters, bidi overrides, bytes that are no UTF-8) as an escape. Tabs stay.
func escaped(s string) string {
	clean := true
	for _, r := range s {
		if r != '\t' && (r == utf8.RuneError || !unicode.IsPrint(r)) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\t' || unicode.IsPrint(r):
			b.WriteString(s[:size])
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		s = s[size:]
	}
	return b.String()
}

// bounded cuts s to max characters and says how many more there were.
func bounded(s string, max int) string {
	n := utf8.RuneCountInString(s)
	if n <= max {
		return s
	}
	cut := 0
	for range max {
		_, size := utf8.DecodeRuneInString(s[cut:])
		cut += size
	}
	return fmt.Sprintf("%s [... %d more]", strings.TrimRight(s[:cut], " \t"), n-max)
}
