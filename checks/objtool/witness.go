package objtool

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"uabot/checks"
	"uabot/checks/window"
)

// place is a line of the tree.
type place struct {
	file string
	line int
}

// witness makes source lines of the path to a warning: where windows open and close
// and which branches are taken, as lines of the function to blame, frames[in], and
// the lines of macros that open and close. It returns the place of the problem, too.
func (p *placer) witness(problem *window.Problem, path []spot, end spot, frames []frame, in int) (checks.Witness, place) {
	var w checks.Witness
	add := func(at place, note string) {
		if at.line == 0 {
			return
		}
		if n := len(w); n > 0 && w[n-1].File == at.file && w[n-1].Line == at.line && (w[n-1].Note == "" || w[n-1].Note == note) {
			w[n-1].Note = note
			return
		}
		w = append(w, checks.Step{File: at.file, Line: at.line, Text: p.text.line(at), Note: note})
	}
	// addPrimitive shows a line that uses a primitive, and where that stands when
	// it is in a macro.
	addPrimitive := func(at place, name *regexp.Regexp, note string) {
		inside, ok := p.text.find(at, name)
		if !ok || inside == at {
			add(at, note)
			return
		}
		add(at, "")
		add(inside, note)
	}
	var fails place // the use of the last begin that failed
	for i, s := range path {
		at := p.lineIn(s.frames, frames, in)
		switch {
		case s.at == end.at: // the warning's own
		case s.alt != nil && s.alt.opens():
			addPrimitive(at, beginName, "opens the window")
		case s.alt != nil && s.alt.closes():
			addPrimitive(at, endName, "closes it")
		case s.kind == "branch" && p.text.primitive(at, beginName) != "" && !opensNext(path[i+1:]):
			addPrimitive(at, beginName, "fails: no window is open")
			fails = at
		case s.kind == "branch":
			add(at, "")
		}
	}
	at := p.lineIn(end.frames, frames, in)
	switch callee := problem.Callee; problem.Rule {
	case window.CloseWithoutOpen:
		const note = "closes a window, but none is open"
		if begin, ok := p.text.find(fails, beginName); ok {
			if closing, ok := p.text.failing(begin, endName); ok {
				add(closing, note)
				if begin == fails {
					fails = closing // in the function itself, not in a macro
				}
				return bounded(w), fails
			}
		}
		addPrimitive(at, endName, note)
	case window.OpenTwice:
		if callee != "" {
			add(at, fmt.Sprintf("calls %s(), which opens a window, with one open", callee))
		} else {
			addPrimitive(at, beginName, "opens a window with one open")
		}
	case window.CallInWindow:
		if callee == "" {
			add(at, "calls through a pointer with the window open")
		} else {
			add(at, fmt.Sprintf("calls %s() with the window open", callee))
		}
	case window.OpenAtReturn:
		add(at, "returns with the window open")
	default:
		add(at, "")
	}
	return bounded(w), at
}

// opensNext reports whether the next step about windows opens one.
func opensNext(path []spot) bool {
	for _, s := range path {
		if s.alt != nil {
			return s.alt.opens()
		}
	}
	return false
}

// bounded keeps the end of a long witness, and the last line that opens a window.
func bounded(w checks.Witness) checks.Witness {
	cut := len(w) - checks.MaxWitness
	if cut <= 0 {
		return w
	}
	for i := cut; i >= 0; i-- {
		if w[i].Note == "opens the window" {
			return append(checks.Witness{w[i]}, w[cut+1:]...)
		}
	}
	return w[cut:]
}

// sourceText reads lines and macros of a tree.
type sourceText struct {
	root  string
	unit  string // the file that is compiled: where macros are looked for, too
	files map[string][]string
}

func (s *sourceText) lines(file string) []string {
	if lines, ok := s.files[file]; ok {
		return lines
	}
	var lines []string
	if filepath.IsLocal(file) {
		if data, err := os.ReadFile(filepath.Join(s.root, file)); err == nil {
			lines = strings.Split(string(data), "\n")
		}
	}
	if s.files == nil {
		s.files = map[string][]string{}
	}
	s.files[file] = lines
	return lines
}

// line is the text of a line; "" when there is none.
func (s *sourceText) line(at place) string {
	if lines := s.lines(at.file); at.line > 0 && at.line <= len(lines) {
		return lines[at.line-1]
	}
	return ""
}

// primitive returns the name of the primitive that a line uses, by itself or by a
// macro of the same file; "" when there is none.
func (s *sourceText) primitive(at place, name *regexp.Regexp) string {
	if name == nil {
		return ""
	}
	if inside, ok := s.find(at, name); ok {
		return name.FindStringSubmatch(s.line(inside))[1]
	}
	return ""
}

var (
	macroCall = regexp.MustCompile(`\b([A-Za-z_]\w*)\s*\(`)
	macroHead = regexp.MustCompile(`^\s*#\s*define\s+([A-Za-z_]\w*)\(`)
)

// find returns the line that has name: the given one, or one in the macros that it
// uses, which are looked for in the same file and in the unit's.
func (s *sourceText) find(at place, name *regexp.Regexp) (place, bool) {
	return s.findIn(at, name, map[string]bool{})
}

func (s *sourceText) findIn(at place, name *regexp.Regexp, seen map[string]bool) (place, bool) {
	text := s.line(at)
	if name.MatchString(text) {
		return at, true
	}
	for _, m := range macroCall.FindAllStringSubmatch(text, 32) {
		if seen[m[1]] || len(seen) > 32 {
			continue
		}
		seen[m[1]] = true
		for _, line := range s.macro(m[1], at.file) {
			if inside, ok := s.findIn(line, name, seen); ok {
				return inside, true
			}
		}
	}
	return place{}, false
}

// macro returns the lines of the definition of a macro.
func (s *sourceText) macro(name, file string) (body []place) {
	for _, file := range []string{file, s.unit} {
		lines := s.lines(file)
		for i, line := range lines {
			if head := macroHead.FindStringSubmatch(line); head == nil || head[1] != name {
				continue
			}
			for ; i < len(lines); i++ {
				body = append(body, place{file, i + 1})
				if !continued(lines[i]) {
					return body
				}
			}
		}
	}
	return body
}

func continued(line string) bool { return strings.HasSuffix(strings.TrimRight(line, " \t"), `\`) }

var gotoLabel = regexp.MustCompile(`\bgoto\s+(\w+)\s*;`)

// failing follows a begin that fails, at a line, through its goto to the primitive
// named: "if (!begin(…)) goto failed; … failed: end();", in a function or a macro.
// Compilers merge the ends of several windows into one, and its line is then that
// of another: where the source says which it is, that is better.
func (s *sourceText) failing(begin place, name *regexp.Regexp) (place, bool) {
	lines := s.lines(begin.file)
	label := ""
	for i := begin.line - 1; i >= 0 && i < min(begin.line+2, len(lines)) && label == ""; i++ {
		if m := gotoLabel.FindStringSubmatch(lines[i]); m != nil {
			label = m[1] + ":"
		}
	}
	if label == "" {
		return place{}, false
	}
	inMacro, at := continued(lines[begin.line-1]), 0
	for i := begin.line; i < len(lines) && !strings.HasPrefix(lines[i], "}"); i++ {
		text := strings.TrimSpace(lines[i])
		if at == 0 && strings.HasPrefix(text, label) {
			at = i + 1
		}
		switch {
		case at != 0 && name.MatchString(text):
			return place{begin.file, i + 1}, true
		case at != 0 && i > at+3, inMacro && !continued(lines[i]):
			return place{}, false
		}
	}
	return place{}, false
}
