package object

import (
	"os"
	"path/filepath"
	"strings"

	"uabot/checks"
	"uabot/checks/window"
)

// witness is the path of s as source lines: the opening, what branches are taken, the
// leak. Lines that follow each other without change are one.
func (v *verdict) witness(s *spot) checks.Witness {
	o := v.o
	start := s.opened
	decided := -1
	if start < 0 {
		decided = v.divergence(s.hops)
		start = max(decided, 0)
	}
	var w checks.Witness
	add := func(l loc, note string) {
		frames := o.frames(l)
		if frames == nil {
			return
		}
		f := frames[author(frames)]
		for _, g := range frames {
			if g.instance == s.in {
				f = g
			}
		}
		if l == s.leak && s.Rule == window.CloseWithoutOpen && f.instance == s.in {
			f.line = s.Line // see unmerged
		}
		if f.line == 0 {
			return
		}
		if n := len(w); n > 0 && w[n-1].File == f.file && w[n-1].Line == f.line {
			if w[n-1].Note != "" && note != "" {
				w[n-1].Note += "; "
			}
			w[n-1].Note += note
			return
		}
		w = append(w, checks.Step{File: f.file, Line: f.line, Text: o.text(f.file, f.line), Note: note})
	}
	for i := start; i < len(s.hops); i++ {
		h := s.hops[i]
		n := v.nodes[h.node]
		switch {
		case i == len(s.hops)-1:
			add(n.loc, leakNote(s))
		case i == s.opened:
			add(n.loc, "opens the window")
		case i == decided:
			add(n.loc, "no window is opened on this path")
		case h.out == faults:
			add(n.loc, "faults")
		case len(n.succ) > 1 && h.out != patched:
			add(n.loc, "")
		}
	}
	if s.Line != 0 && s.Rule == window.OpenAtReturn && len(w) > 0 {
		// the line that the finding names, when the common end of the function is another
		last := w[len(w)-1]
		if !contained(w, s.File, s.Line) {
			w[len(w)-1] = checks.Step{File: s.File, Line: s.Line, Text: o.text(s.File, s.Line)}
			w = append(w, last)
		}
	}
	if len(w) > checks.MaxWitness {
		keep := append(checks.Witness{}, w[0])
		w = append(keep, w[len(w)-checks.MaxWitness+1:]...)
	}
	return w
}

func contained(w checks.Witness, file string, line int) bool {
	for _, s := range w {
		if s.File == file && s.Line == line {
			return true
		}
	}
	return false
}

func leakNote(s *spot) string {
	switch s.Rule {
	case window.CloseWithoutOpen:
		return "closes a window, and none is open"
	case window.OpenAtReturn:
		return "leaves the function with the window open"
	case window.OpenTwice:
		return "opens a window inside of the first"
	case window.CallInWindow:
		return "calls out with the window open"
	case window.AccessOutsideWindow:
		return "accesses user memory, and no window is open"
	case window.KindMismatch:
		return "does what the window does not allow"
	}
	return ""
}

// nearby bounds the search for an opening on the way not taken.
const nearby = 160

// divergence is the last branch on a path without a window whose other way opens one
// soon: there the path went wrong. -1 if there is none.
func (v *verdict) divergence(hops []hop) int {
	opening := map[loc]bool{}
	for _, l := range v.opens {
		opening[l] = true
	}
	for i := len(hops) - 2; i >= 0; i-- {
		n := v.nodes[hops[i].node]
		if len(n.succ) < 2 {
			continue
		}
		for _, e := range n.succ {
			if e.to != hops[i].next && v.opensSoon(e.to, opening) {
				return i
			}
		}
	}
	return -1
}

func (v *verdict) opensSoon(from int32, opening map[loc]bool) bool {
	queue, seen := []int32{from}, map[int32]bool{from: true}
	for i := 0; i < len(queue) && i < nearby; i++ {
		n := v.nodes[queue[i]]
		if opening[n.loc] {
			return true
		}
		for _, e := range n.succ {
			if !seen[e.to] {
				seen[e.to] = true
				queue = append(queue, e.to)
			}
		}
	}
	return false
}

// maxSource bounds a source file that is quoted.
const maxSource = 16 << 20

// text is a line of a source file as it stands there, "" when it cannot be read.
func (o *object) text(file string, line int) string {
	if line <= 0 || file == "" {
		return ""
	}
	lines, ok := o.source[file]
	if !ok {
		path := file
		if !filepath.IsAbs(path) {
			path = filepath.Join(o.options.Source, path)
		}
		if s, err := os.Stat(path); err == nil && s.Mode().IsRegular() && s.Size() < maxSource {
			if data, err := os.ReadFile(path); err == nil {
				lines = strings.Split(string(data), "\n")
			}
		}
		if o.source == nil {
			o.source = map[string][]string{}
		}
		o.source[file] = lines
	}
	if line > len(lines) {
		return ""
	}
	return strings.TrimRight(lines[line-1], "\r")
}
