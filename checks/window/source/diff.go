package source

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// editor collects changes of a file's lines and writes them as a unified diff.
type editor struct {
	file    string
	lines   []string
	changed map[int][]string // by line, 1-based: what stands there instead
}

func (r *report) edit(file string) *editor {
	return &editor{file: file, lines: r.text(file), changed: map[int][]string{}}
}

func (e *editor) line(n int) string {
	if n < 1 || n > len(e.lines) {
		return ""
	}
	return e.lines[n-1]
}

func (e *editor) now(n int) []string {
	if c, ok := e.changed[n]; ok {
		return c
	}
	return []string{e.line(n)}
}

func (e *editor) set(n int, text string) { e.changed[n] = []string{text} }

func (e *editor) remove(n int) { e.changed[n] = []string{} }

func (e *editor) insertBefore(n int, text string) {
	e.changed[n] = append([]string{text}, e.now(n)...)
}

// insertAfter puts text below line n. Where text goes on with a backslash, it stays
// in the column that it has in a line where was stood for is.
func (e *editor) insertAfter(n int, text, was, is string) {
	e.changed[n] = append(slices.Clone(e.now(n)), aligned(text, len(is)-len(was)))
}

// replace changes the first was in line n.
func (e *editor) replace(n int, was, is string) {
	e.set(n, aligned(strings.Replace(e.line(n), was, is, 1), len(is)-len(was)))
}

// mentions reports whether word is anywhere in the file.
func (e *editor) mentions(word string) bool {
	return slices.ContainsFunc(e.lines, func(l string) bool { return strings.Contains(l, word) })
}

var jumpTo = regexp.MustCompile(`\bgoto (\w+);`)

// gotoAfter is the line of the jump that a failed begin at line n makes, and its label.
func (e *editor) gotoAfter(n int) (int, string) {
	for l := n; l <= n+3; l++ {
		if m := jumpTo.FindStringSubmatch(e.line(l)); m != nil {
			return l, m[1]
		}
	}
	return 0, ""
}

// labelAbove is the line of label where that is next above line n, else 0.
func (e *editor) labelAbove(n int, label string) int {
	for l := n - 1; l > 0 && label != ""; l-- {
		if m := isLabel.FindStringSubmatch(e.line(l)); m != nil {
			if m[1] == label {
				return l
			}
			continue
		}
		if strings.Trim(e.line(l), " \t\\") != "" {
			return 0
		}
	}
	return 0
}

// labelBelow is the label in the line below line n, "" where there is none.
func (e *editor) labelBelow(n int) string {
	if m := isLabel.FindStringSubmatch(e.line(n + 1)); m != nil {
		return m[1]
	}
	return ""
}

// failedBegins are the lines above line n, in its function or macro, in which a begin
// that failed jumps to label.
func (e *editor) failedBegins(n int, label string) (lines []int) {
	for l := n - 1; l > 0; l-- {
		if strings.HasPrefix(e.line(l), "}") || strings.HasPrefix(e.line(l), "{") {
			break
		}
		if beginCall.MatchString(e.line(l)) {
			if jump, to := e.gotoAfter(l); to == label && jump < n {
				lines = append(lines, jump)
			}
		}
		if strings.HasPrefix(e.line(l), "#define") {
			break
		}
	}
	return lines
}

const tab = 8

func width(s string) int {
	w := 0
	for _, c := range s {
		if c == '\t' {
			w += tab - w%tab
		} else {
			w++
		}
	}
	return w
}

// aligned keeps the backslash that ends a macro's line in its column, where text
// before it grew, or (less than 0) shrank.
func aligned(line string, grew int) string {
	body, ok := strings.CutSuffix(line, "\\")
	if !ok || grew == 0 {
		return line
	}
	text := strings.TrimRight(body, " \t")
	was := text[:max(0, len(text)-max(0, grew))] + strings.Repeat(" ", max(0, -grew))
	column := width(was + body[len(text):])
	if width(text) >= column {
		return text + " \\"
	}
	for (width(text)/tab+1)*tab <= column {
		text += "\t"
	}
	return text + strings.Repeat(" ", column-width(text)) + "\\"
}

const around = 3

// diff is the changes as a unified diff, "" if there are none.
func (e *editor) diff() string {
	var at []int
	for n := range e.changed {
		at = append(at, n)
	}
	slices.Sort(at)
	if len(at) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- a/%s\n+++ b/%s\n", e.file, e.file)
	last := len(e.lines)
	if last > 0 && e.lines[last-1] == "" { // after the last newline
		last--
	}
	moved := 0
	for i := 0; i < len(at); {
		j := i
		for j+1 < len(at) && at[j+1]-at[j] <= 2*around {
			j++
		}
		from, to := max(1, at[i]-around), min(last, at[j]+around)
		var body []string
		removed, added := 0, 0
		for n := from; n <= to; n++ {
			now, ok := e.changed[n]
			if !ok {
				body = append(body, " "+e.line(n))
				removed++
				added++
				continue
			}
			old := e.line(n)
			k := slices.Index(now, old)
			for m, text := range now {
				if m == k {
					body = append(body, " "+text)
					removed++
				} else {
					if k < 0 && m == 0 {
						body = append(body, "-"+old)
						removed++
					}
					body = append(body, "+"+text)
				}
				added++
			}
			if len(now) == 0 {
				body = append(body, "-"+old)
				removed++
			}
		}
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n%s\n", from, removed, from+moved, added, strings.Join(body, "\n"))
		moved += added - removed
		i = j + 1
	}
	return b.String()
}
