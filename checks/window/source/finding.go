package source

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"uabot/checks"
	"uabot/checks/window"
	"uabot/checks/window/source/gimple"
)

// report words the problems of one translation unit.
type report struct {
	rel    func(string) string   // a file's name relative to the tree
	text   func(string) []string // a file's lines, nil where it cannot be read
	places map[*gimple.Stmt]*use
	uses   []*use
	target string
}

// spot is a place as the author wrote it.
type spot struct {
	file  string // relative to the tree
	line  int
	macro string // whose body it is in, "" for none
	use   gimple.Pos
}

// spotOf is where a statement was written; in a macro's body where that is known.
func (r *report) spotOf(s *gimple.Stmt, pos gimple.Pos) spot {
	if u := r.places[s]; u != nil {
		at, macro := u.author()
		return spot{file: r.rel(at.File), line: at.Line, macro: macro, use: u.outermost()}
	}
	return spot{file: r.rel(pos.File), line: pos.Line, use: pos}
}

// findings words all problems, one finding per identity.
func (r *report) findings(problems []*problem) []checks.Finding {
	var found []checks.Finding
	index := map[string]int{}
	for _, p := range onePerLine(problems) {
		if follows(p, problems) {
			continue
		}
		f := r.finding(p)
		if f.File == "" || exempt(p.Rule, f.File, f.Function) {
			continue
		}
		id := f.Identity()
		i, known := index[id]
		if !known {
			index[id] = len(found)
			found = append(found, f)
			continue
		}
		same := &found[i]
		for _, u := range f.Uses {
			if !slices.Contains(same.Uses, u) {
				same.Uses = append(same.Uses, u)
			}
		}
		switch {
		case f.Class.Stronger(same.Class), f.Class == same.Class && f.Line != same.Line && f.Line > 0 && f.Line < same.Line:
			f.Uses = same.Uses
			found[i] = f
		}
	}
	return found
}

// follows reports whether p is only what comes of a helper that leaves its window open:
// everything that its callers do from there is wrong then.
func follows(p *problem, problems []*problem) bool {
	return (p.Rule == window.CallInWindow || p.Rule == window.OpenTwice) && p.opened != nil &&
		slices.ContainsFunc(problems, func(q *problem) bool {
			return q.Rule == window.OpenAtReturn && q.opened.stmt == p.opened.stmt && q.in != p.in
		})
}

// onePerLine keeps one call or second opening per line of a function: what put_user()
// expands to may be both.
func onePerLine(problems []*problem) []*problem {
	type key struct {
		in  *flow
		pos gimple.Pos
	}
	best := map[key]*problem{}
	inLine := func(p *problem) bool { return p.Rule == window.CallInWindow || p.Rule == window.OpenTwice }
	for _, p := range problems {
		if !inLine(p) {
			continue
		}
		k := key{p.in, gimple.Pos{File: p.pos.File, Line: p.pos.Line}}
		have := best[k]
		if have == nil || p.Rule == window.OpenTwice && have.Rule != window.OpenTwice || p.Rule == have.Rule && have.memory && !p.memory {
			best[k] = p
		}
	}
	var kept []*problem
	for _, p := range problems {
		if !inLine(p) || best[key{p.in, gimple.Pos{File: p.pos.File, Line: p.pos.Line}}] == p {
			kept = append(kept, p)
		}
	}
	return kept
}

func (r *report) finding(p *problem) checks.Finding {
	at := r.spotOf(p.stmt, p.pos)
	q := p.Problem
	q.File, q.Line, q.Function = at.file, at.line, window.FunctionName(p.in.fn.Name)
	if r.within(p, at) {
		q.Function = at.macro
	} else {
		if at.macro != "" {
			q.File, q.Line = r.rel(at.use.File), at.use.Line
		}
		if p.left != nil && p.leftIn == p.in && p.left.Pos.Known() { // not where it opened, but where it was left
			q.Line = r.spotOf(p.left, p.left.Pos).line
		}
	}
	class := checks.Source
	if p.memory {
		class = checks.Heuristic
	}
	f := q.Finding(class)
	if p.title != "" {
		f.Title = p.title
	}
	if q.Function == at.macro {
		f.Uses = []checks.Use{{Function: window.FunctionName(p.in.fn.Name), File: r.rel(at.use.File), Line: at.use.Line}}
	}
	f.Witness = r.witness(p, at)
	switch {
	case p.memory:
		f.Note = fmt.Sprintf("The compiler may make code in place of %s(): only the object tells whether it is a call.", q.Callee)
	case p.Rule == window.KindMismatch && strings.HasPrefix(f.File, "arch/x86/"):
		f.Note = "Harmless as long as x86 has no windows by direction."
	}
	f.Fix = r.fix(p, at)
	f.Evidence = []checks.Evidence{{Check: Name, Target: r.target, Text: "in the source's control flow"}}
	return f
}

// within reports whether the whole problem lies in the macro that holds at: the step
// before it too, so that no use of the macro can be right.
func (r *report) within(p *problem, at spot) bool {
	if at.macro == "" {
		return false
	}
	same := func(s *gimple.Stmt, pos gimple.Pos) bool {
		other := r.spotOf(s, pos)
		return other.macro == at.macro && other.use.File == at.use.File && other.use.Line == at.use.Line
	}
	switch p.Rule {
	case window.UncheckedBegin:
		return true
	case window.OpenAtReturn, window.SaveWithoutRestore:
		for _, u := range r.uses { // a macro that only opens leaves the rest to its user
			o := u.outermost()
			_, macro := u.author()
			pr := primitives[u.marker]
			if macro == at.macro && o.File == at.use.File && o.Line == at.use.Line && pr != nil && (pr.effect == closes || pr.effect == restores) {
				return true
			}
		}
		return false
	case window.OpenTwice, window.CallInWindow, window.KindMismatch:
		return p.opened != nil && same(p.opened.stmt, p.opened.pos)
	}
	for e := p.trail; e != nil; e = e.prev {
		if e.kind == opened || e.kind == failed || e.kind == closed || e.kind == saved {
			return same(e.stmt, e.pos)
		}
	}
	return false
}

// note is what a witness says of a step.
func (r *report) note(e *event) string {
	switch e.kind {
	case opened:
		return "the window opens"
	case failed:
		return "when this fails: no window is open"
	case closed:
		return "the window closes"
	case saved:
		return "the state is saved, the window closes"
	case entered:
		return "calls " + e.note + "()"
	case reached:
		return "and this is reached"
	}
	if e.in.faults[e.stmt] || e.stmt.Kind == gimple.AsmStmt {
		return "when this faults"
	}
	return e.note
}

// isLabel matches a label at the start of a line, in a macro's body too.
var isLabel = regexp.MustCompile(`^\s*(\w+)\s*:\s*\\?\s*$`)

// witness tells the path as source lines: from the last step that matters for the
// state of the window, over the branches after it, to the problem.
func (r *report) witness(p *problem, at spot) checks.Witness {
	var path []*event
	for e := p.trail; e != nil; e = e.prev {
		path = append(path, e)
	}
	slices.Reverse(path)
	from := 0
	for i, e := range path {
		switch e.kind {
		case opened, failed, saved:
			from = i
		case closed:
			if p.Rule == window.CloseWithoutOpen || p.Rule == window.AccessOutsideWindow {
				from = i
			}
		}
	}
	var w checks.Witness
	add := func(s spot, note string) {
		if s.line == 0 || s.file == "" {
			return
		}
		if n := len(w); n > 0 && w[n-1].File == s.file && w[n-1].Line == s.line {
			if w[n-1].Note == "" || note != "" && note != "true" && note != "false" {
				w[n-1].Note = note
			}
			return
		}
		w = append(w, checks.Step{File: s.file, Line: s.line, Text: r.line(s.file, s.line), Note: note})
	}
	label := func(s spot) {
		for l := s.line - 1; l > 0 && l >= s.line-2; l-- {
			if isLabel.MatchString(r.line(s.file, l)) {
				add(spot{file: s.file, line: l}, "")
				return
			}
			if strings.Trim(r.line(s.file, l), " \t\\") != "" {
				return
			}
		}
	}
	for _, e := range path[from:] {
		s := r.spotOf(e.stmt, e.pos)
		if e.kind == branched && at.macro != "" && s.use.File == at.use.File && s.use.Line == at.use.Line {
			continue // a branch in the macro: where, the dump does not tell
		}
		if e.kind == branched && e.in.faults[e.stmt] && e.note == "false" {
			continue
		}
		add(s, r.note(e))
		if e.kind == failed {
			if next := r.line(s.file, s.line+1); strings.HasPrefix(strings.TrimSpace(next), "goto ") {
				add(spot{file: s.file, line: s.line + 1}, "")
			}
		}
	}
	switch p.Rule {
	case window.OpenAtReturn, window.SaveWithoutRestore:
		if p.left != nil {
			add(r.spotOf(p.left, p.left.Pos), "and here the function is left")
		}
	default:
		label(at)
		add(at, r.last(p))
	}
	if len(w) > checks.MaxWitness { // the ends tell most
		half := checks.MaxWitness / 2
		w = append(slices.Clone(w[:half]), w[len(w)-(checks.MaxWitness-half):]...)
	}
	return w
}

// last says what the problem's own line does.
func (r *report) last(p *problem) string {
	switch p.Rule {
	case window.CloseWithoutOpen:
		return "and this closes one"
	case window.AccessOutsideWindow:
		return "and this accesses user memory"
	case window.OpenTwice:
		return "and this opens one inside of it"
	case window.CallInWindow:
		return "and this is called inside of it"
	case window.KindMismatch:
		return "of the other kind"
	case window.UncheckedBegin:
		return "the result is not looked at"
	}
	return ""
}

func (r *report) line(file string, n int) string {
	lines := r.text(file)
	if n < 1 || n > len(lines) {
		return ""
	}
	return lines[n-1]
}
