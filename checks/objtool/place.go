package objtool

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"uabot/checks"
	"uabot/checks/window"
)

// placer brings the warnings on one object to the source.
type placer struct {
	built  *checks.Built
	unit   checks.Unit
	object *object
	text   *sourceText
}

func newPlacer(b *checks.Built, u checks.Unit, o *object) *placer {
	return &placer{b, u, o, &sourceText{root: b.Source, unit: u.Source}}
}

// spot is a place in the code with what is known of it.
type spot struct {
	at     address
	frames []frame      // innermost first
	alt    *alternative // of a window, whose replacement is run here
	kind   string       // of the step: "alt", "branch", "sym", "" for the warning itself
}

// finding words a warning.
func (p *placer) finding(w Warning) checks.Finding {
	end, path := p.spot(w.At, ""), p.path(w)
	rule, callee := classify(w.Text)
	var f checks.Finding
	if rule == "" {
		f = p.other(w, end, path)
	} else {
		f = p.problem(rule, callee, end, path)
	}
	if f.Function == "" { // without DWARF
		f.File, f.Function = p.unit.Source, window.FunctionName(p.symbol(w, end, path))
	}
	f.Evidence = []checks.Evidence{{Check: "objtool", Target: p.built.Target.Name, Text: short(p.unit.Object+": "+w.Raw, maxEvidence)}}
	return f
}

// problem words a warning about windows.
func (p *placer) problem(rule window.Rule, callee string, end spot, path []spot) checks.Finding {
	problem := &window.Problem{Rule: rule, Callee: callee}
	open := opening(path, end.at)
	frames := end.frames
	var in int // index into frames of the function that is to blame
	if rule == window.OpenAtReturn && open != nil {
		// The return is where it is seen; the function that opened is to blame.
		frames = open.frames
		in = notPrimitive(frames, 0)
	} else {
		in = blame(problem, end, open)
	}
	if in < 0 {
		return problem.Finding(checks.Object)
	}
	witness, at := p.witness(problem, path, end, frames, in)
	if rule == window.OpenAtReturn && open != nil {
		at = p.line(frames[in])
	}
	problem.File, problem.Line, problem.Function = at.file, at.line, frames[in].function
	problem.API = p.text.primitive(at, primitiveOf[rule])
	if open != nil {
		problem.Kind = kindOf(p.text.primitive(p.lineIn(open.frames, frames, in), beginName))
	}
	f := problem.Finding(checks.Object)
	f.Witness, f.Inlined = witness, p.inlined(frames[in+1:])
	return f
}

// other words a warning that is no matter of windows.
func (p *placer) other(w Warning, end spot, path []spot) checks.Finding {
	f := checks.Finding{Rule: Rule, Class: checks.Object, Title: "objtool: " + w.Text, Detail: offsets.ReplaceAllString(w.Text, "")}
	// The function as the linker knows it: objtool speaks of machine code.
	if in := len(end.frames) - 1; in >= 0 {
		at := p.line(end.frames[in])
		f.File, f.Line, f.Function = at.file, at.line, end.frames[in].function
		f.Witness, _ = p.witness(&window.Problem{}, path, end, end.frames, in)
	}
	return f
}

func (p *placer) inlined(outer []frame) (list []string) {
	for _, f := range outer {
		list = append(list, fmt.Sprintf("%s (%s:%d)", f.function, p.built.Rel(f.file), f.line))
	}
	return list
}

// symbol names the function of a warning by the symbol table.
func (p *placer) symbol(w Warning, end spot, path []spot) string {
	if name := p.object.symbolAt(end.at); name != "" {
		return name
	}
	if w.At.Symbol != "" {
		return w.At.Symbol
	}
	if len(path) > 0 {
		return p.object.symbolAt(path[0].at)
	}
	return ""
}

// maxEvidence bounds what is kept of objtool's words, in bytes.
const maxEvidence = 4000

func short(text string, max int) string {
	if len(text) <= max {
		return text
	}
	return strings.ToValidUTF8(text[:max], "") + " ..."
}

var (
	offsets    = regexp.MustCompile(`\+0x[0-9a-f]+`)
	callInside = regexp.MustCompile(`^call to (.+)\(\) with UACCESS enabled$`)
)

// classify gives the rule of a warning about windows, with the symbol that is
// called; "" for other warnings. The texts are those of tools/objtool/check.c.
func classify(text string) (rule window.Rule, callee string) {
	switch text {
	case "redundant UACCESS disable":
		return window.CloseWithoutOpen, ""
	case "return with UACCESS enabled":
		return window.OpenAtReturn, ""
	case "recursive UACCESS enable":
		return window.OpenTwice, ""
	}
	m := callInside.FindStringSubmatch(text)
	if m == nil {
		return "", ""
	}
	// A call through a pointer is "{dynamic}", through a table "pv_ops[3]".
	if strings.ContainsAny(m[1], "{[") {
		return window.CallInWindow, ""
	}
	if window.OpensOwn(m[1]) {
		return window.OpenTwice, m[1]
	}
	return window.CallInWindow, m[1]
}

var (
	beginName = regexp.MustCompile(`\b((?:masked_)?user_(?:read_|write_|rw_)?access_begin|__uaccess_begin(?:_nospec)?|masked_user_(?:read|write|rw)_access_begin)\s*\(`)
	endName   = regexp.MustCompile(`\b(user_(?:read_|write_|rw_)?access_end|__uaccess_end)\s*\(`)

	// primitiveOf is which primitive a problem's place has in the source.
	primitiveOf = map[window.Rule]*regexp.Regexp{
		window.CloseWithoutOpen: endName,
		window.OpenTwice:        beginName,
		window.OpenAtReturn:     beginName,
	}
)

func kindOf(begin string) window.Kind {
	switch {
	case strings.Contains(begin, "_read_"):
		return window.Read
	case strings.Contains(begin, "_write_"):
		return window.Write
	case begin != "":
		return window.ReadWrite
	}
	return window.Unknown
}

// spot resolves a location.
func (p *placer) spot(l Location, kind string) spot {
	at, ok := p.object.resolve(l)
	if !ok {
		return spot{kind: kind}
	}
	s := spot{kind: kind}
	s.at, _ = p.object.site(at)
	if kind == "alt" {
		for _, a := range p.object.alternativeAt(s.at) {
			if a.opens() || a.closes() {
				s.alt = a
			}
		}
	}
	s.frames = p.object.lines.frames(s.at.fake())
	return s
}

// path is the way to the warning in the order of execution.
func (p *placer) path(w Warning) []spot {
	var path []spot
	for _, step := range slices.Backward(w.Path) {
		path = append(path, p.spot(step.At, step.Kind))
	}
	return path
}

// opening returns the step that opened the window which is open where path ends.
func opening(path []spot, end address) *spot {
	var open *spot
	for i := range path {
		switch a := path[i].alt; {
		case a == nil || path[i].at == end:
		case a.opens():
			open = &path[i]
		case a.closes():
			open = nil
		}
	}
	return open
}

// notPrimitive returns the first function from i outwards that is not part of the
// window API itself; the outermost one when there is none.
func notPrimitive(frames []frame, i int) int {
	for ; i < len(frames)-1 && window.Primitive(frames[i].function); i++ {
	}
	return min(i, len(frames)-1)
}

// blame returns the index of the function that a problem is placed in (the rules
// are at window.Problem), and sets the callee as that function sees it.
func blame(problem *window.Problem, end spot, open *spot) int {
	if len(end.frames) == 0 {
		return -1
	}
	in := notPrimitive(end.frames, 0)
	if problem.Rule == window.CloseWithoutOpen || problem.Rule == window.OpenAtReturn {
		return in
	}
	if open != nil {
		// The innermost function that holds both the opening and this step.
		for i := range end.frames {
			if slices.ContainsFunc(open.frames, func(f frame) bool { return f.instance == end.frames[i].instance }) {
				in = notPrimitive(end.frames, i)
				break
			}
		}
	} else {
		for in < len(end.frames)-1 && window.Accessor(end.frames[in].function) {
			in++
		}
	}
	if in > 0 && !window.Primitive(end.frames[in-1].function) {
		problem.Callee = end.frames[in-1].function
	}
	return in
}

// line is a place as (file relative to the tree, line).
func (p *placer) line(f frame) place { return place{p.built.Rel(f.file), f.line} }

// lineIn is where a chain passes through the function that is blamed, that is
// frames[in]; else where it leaves the window API.
func (p *placer) lineIn(chain, frames []frame, in int) place {
	if len(chain) == 0 {
		return place{}
	}
	for i := max(in, 0); i < len(frames); i++ {
		for _, f := range chain {
			if f.instance == frames[i].instance {
				return p.line(f)
			}
		}
	}
	return p.line(chain[notPrimitive(chain, 0)])
}
