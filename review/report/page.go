package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Width is the number of columns that prose keeps to; quoted code, tables and
// commands may be wider.
const Width = 72

// page collects lines.
type page struct {
	lines []string
}

func (p *page) line(format string, args ...any) {
	p.lines = append(p.lines, strings.TrimRight(fmt.Sprintf(format, args...), " \t"))
}

// blank separates paragraphs: never two empty lines, none at the top.
func (p *page) blank() {
	if n := len(p.lines); n > 0 && p.lines[n-1] != "" {
		p.lines = append(p.lines, "")
	}
}

// paragraph wraps text at Width, the first line after the first indent, the others
// after the second. A word that is wider stands on a line of its own. No text, no line.
func (p *page) paragraph(first, rest, text string) {
	if strings.TrimSpace(first+text) == "" {
		return
	}
	p.lines = append(p.lines, wrapped(first, rest, text, Width)...)
}

func wrapped(first, rest, text string, columns int) []string {
	var lines []string
	indent, line, width := first, "", 0
	for _, word := range strings.Fields(text) {
		w := utf8.RuneCountInString(word)
		if line != "" && len(indent)+width+1+w > columns {
			lines = append(lines, indent+line)
			indent, line, width = rest, "", 0
		}
		if line != "" {
			line += " "
			width++
		}
		line += word
		width += w
	}
	return append(lines, strings.TrimRight(indent+line, " "))
}

func (p *page) String() string { return strings.TrimRight(strings.Join(p.lines, "\n"), "\n") + "\n" }

var numerals = [...]string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}

// counted is "no problem", "one problem", "three problems", "12 problems".
func counted(n int, one, many string) string {
	noun := many
	if n == 1 || n == 0 {
		noun = one
	}
	if n < len(numerals) {
		return numerals[n] + " " + noun
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// listed is "a", "a and b", "a, b and c".
func listed(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}

// capital is for our own words; foreign text may begin with a name, which keeps its case.
func capital(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[size:]
}

// stopped ends foreign text like a sentence.
func stopped(text string) string {
	if text != "" && !strings.ContainsAny(text[len(text)-1:], ".!?:") {
		text += "."
	}
	return text
}

func pad(s string, width int) string {
	if n := width - utf8.RuneCountInString(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}
