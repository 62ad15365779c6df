package object

import (
	"fmt"
	"regexp"
	"slices"

	"uabot/checks/window"
)

// hop is an instruction on the path to a problem and the edge by which it is left.
type hop struct {
	node int32
	out  edgeKind
	next int32 // -1 at the end
}

// path is the way from the entry of the function to p, and where on it the window was
// opened that is open there: -1 if none was.
func (v *verdict) path(p problem) (hops []hop, opened int) {
	opened = -1
	node, which, next := p.node, p.state, int32(-1)
	for node >= 0 && len(hops) < maxSteps {
		h := hop{node: node, next: next}
		if next >= 0 {
			for _, e := range v.nodes[node].succ {
				if e.to == next {
					h.out = e.kind
					break
				}
			}
		}
		hops = append(hops, h)
		s := v.nodes[node].states[which]
		next, node, which = node, s.from, s.which
	}
	slices.Reverse(hops)
	// states along the path, again from its end
	open := make([]bool, len(hops))
	node, which = p.node, p.state
	for i := len(hops) - 1; i >= 0; i-- {
		s := v.nodes[node].states[which]
		open[i] = s.Open
		node, which = s.from, s.which
	}
	for i := len(hops) - 1; i > 0; i-- {
		if open[i] && !open[i-1] {
			return hops, i - 1
		}
		if !open[i] {
			break
		}
	}
	return hops, -1
}

// spot is a problem where an author will look for it.
type spot struct {
	window.Problem
	inlined []string // innermost first, when the function was inlined
	noDWARF bool
	hops    []hop
	opened  int
	leak    loc
	symbol  string   // what is called
	in      instance // of the function
}

// locate brings p to the source. What function a problem belongs to is the matter of
// window.Problem.
func (v *verdict) locate(p problem) spot {
	o := v.o
	s := spot{leak: v.nodes[p.node].loc, symbol: p.callee}
	s.hops, s.opened = v.path(p)
	s.Problem = window.Problem{Rule: p.rule, Callee: p.callee, Kind: p.kind, Accessed: p.as}
	leak := o.frames(s.leak)
	if leak == nil {
		s.noDWARF = true
		s.File, s.Function = o.inTree(o.path), window.FunctionName(v.f.name)
		return s
	}
	var opening []frame
	if s.opened >= 0 {
		opening = o.frames(v.nodes[s.hops[s.opened].node].loc)
	}
	chain, i := leak, 0
	switch p.rule {
	case window.OpenAtReturn:
		if opening != nil {
			chain, i = opening, author(opening)
			chain, i = v.leaving(s, chain[i], chain, i)
		} else {
			i = len(leak) - 1
		}
	case window.OpenTwice, window.CallInWindow, window.KindMismatch:
		i = len(leak) - 1
		if opening != nil {
			i = common(leak, opening)
		}
		if i > 0 {
			if inner := leak[i-1].function; !window.Primitive(inner) && p.rule != window.KindMismatch {
				s.Callee = inner
			}
		}
		if p.rule == window.CallInWindow && window.OpensOwn(s.Callee) {
			s.Rule = window.OpenTwice
		}
	default:
		i = author(leak)
		chain, i = v.unmerged(s, chain, i)
	}
	f := chain[i]
	s.File, s.Line, s.Function, s.in = f.file, f.line, f.function, f.instance
	if s.Function == "" {
		s.Function = window.FunctionName(v.f.name)
	}
	for _, c := range chain[i+1:] {
		s.inlined = append(s.inlined, fmt.Sprintf("%s (%s:%d)", c.function, c.file, c.line))
	}
	s.API = o.primitiveAt(chain, i)
	return s
}

// author is the index of the innermost frame that is not part of the window API.
func author(frames []frame) int {
	for i, f := range frames {
		if !window.Primitive(f.function) {
			return i
		}
	}
	return len(frames) - 1
}

// common is the index in a of the innermost function, no primitive, that holds both a
// and b.
func common(a, b []frame) int {
	for i, f := range a {
		if window.Primitive(f.function) {
			continue
		}
		for _, g := range b {
			if f.instance == g.instance {
				return i
			}
		}
	}
	return len(a) - 1
}

// leaving is where the path leaves the function of frame f, which opened the window, for
// good: the last line before the common end of the function.
func (v *verdict) leaving(s spot, f frame, chain []frame, i int) ([]frame, int) {
	last := 0
	for k := len(s.hops) - 1; k > s.opened; k-- {
		frames := v.o.frames(v.nodes[s.hops[k].node].loc)
		j := slices.IndexFunc(frames, func(g frame) bool { return g.instance == f.instance })
		if j < 0 {
			if last != 0 {
				break
			}
			continue
		}
		line := frames[j].line
		if line == 0 || line < f.line && last != 0 { // code that several places share
			continue
		}
		if last == 0 {
			last = line
			chain, i = frames, j
			continue
		}
		if line != last {
			if line != f.line { // not back to the opening itself
				chain, i = frames, j
			}
			break
		}
	}
	return chain, i
}

// unmerged undoes what compilers do to equal ends of paths: they are made one, and the
// line of one of them is left. If the place lies before the branch that decided about
// the window, it is where the path last was behind that branch.
func (v *verdict) unmerged(s spot, chain []frame, i int) ([]frame, int) {
	decided := v.divergence(s.hops)
	if decided < 0 || s.opened >= 0 {
		return chain, i
	}
	in := func(k int) ([]frame, int) {
		frames := v.o.frames(v.nodes[s.hops[k].node].loc)
		return frames, slices.IndexFunc(frames, func(g frame) bool { return g.instance == chain[i].instance })
	}
	frames, j := in(decided)
	if j < 0 || frames[j].line <= chain[i].line {
		return chain, i
	}
	from := frames[j].line
	for k := len(s.hops) - 1; k >= decided; k-- {
		if frames, j := in(k); j >= 0 && frames[j].line >= from {
			return frames, j
		}
	}
	return chain, i
}

// apiCall matches the window API as authors use it.
var apiCall = regexp.MustCompile(`\b((?:masked_)?user_(?:read_|write_|rw_)?access_(?:begin|end|save|restore)|uaccess_(?:ttbr0|\w+_privileged|save_and_enable|restore)\w*|__uaccess_(?:begin|begin_nospec|end)|(?:allow|prevent)_\w*user\w*|stac|clac)\s*\(`)

// primitiveAt is the window primitive that the source has at frame i of chain: on its
// line, else the outermost one that was inlined there.
func (o *object) primitiveAt(chain []frame, i int) string {
	if m := apiCall.FindStringSubmatch(o.text(chain[i].file, chain[i].line)); m != nil {
		return m[1]
	}
	return ""
}
