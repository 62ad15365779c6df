package source

import (
	"fmt"
	"slices"
	"strings"

	"uabot/checks/window"
	"uabot/checks/window/source/gimple"
)

// problem is one wrong step before it is worded.
type problem struct {
	window.Problem
	in     *flow
	pos    gimple.Pos
	stmt   *gimple.Stmt
	opened *opening
	left   *gimple.Stmt // OpenAtReturn, SaveWithoutRestore: where it is decided to return
	leftIn *flow
	trail  *event
	title  string // instead of the model's
	memory bool   // a mem* that may or may not be a call
}

// analysis looks at all functions of one dump.
type analysis struct {
	arch   string
	safe   *window.Callees
	values *values

	primitives map[string]*primitive

	funcs    map[string]*gimple.Func
	order    []string
	callers  map[string]bool // functions that another one calls
	relevant map[string]bool // functions that touch windows, themselves or by a call
	// accessors are whole accesses with a body in the dump: looked at by themselves.
	accessors map[string]bool
	opener    map[string]bool // functions some exit of which leaves a window open
	quietly   map[string]bool
	flows     map[string]*flow

	summaries map[string]*summary
	made      []string // their keys, in the order that they were made
	busy      map[string]bool
	problems  []*problem
	gaveUp    []string // functions with more paths than are looked at
	states    int
}

// summary is what a function does, from one entry state with some arguments known.
type summary struct {
	exits []*exit
	blame []*blamed
	base  *event // where the path to the first caller ends
}

// within puts the steps that trail took in the callee after those of another caller.
func (s *summary) within(trail, onto *event) *event {
	var steps []*event
	for e := trail; e != nil && e != s.base; e = e.prev {
		steps = append(steps, e)
	}
	for _, e := range slices.Backward(steps) {
		c := *e
		c.prev = onto
		onto = &c
	}
	return onto
}

// entryState is what of a caller's state a summary depends on.
type entryState struct {
	win  window.State
	args map[string]shape
}

func (e entryState) key(name string) string {
	args := map[string]string{}
	for p, sh := range e.args {
		args[p] = sh.key()
	}
	return fmt.Sprint(name, e.win, args)
}

func newAnalysis(arch string, safe *window.Callees, primitives map[string]*primitive, funcs []*gimple.Func) *analysis {
	a := &analysis{
		arch: arch, safe: safe, values: newValues(), primitives: primitives,
		funcs: map[string]*gimple.Func{}, callers: map[string]bool{}, relevant: map[string]bool{}, accessors: map[string]bool{},
		opener: map[string]bool{}, quietly: map[string]bool{}, flows: map[string]*flow{},
		summaries: map[string]*summary{}, busy: map[string]bool{},
	}
	calls := map[string][]string{}
	for _, f := range funcs {
		if a.primitives[f.Name] != nil {
			continue
		}
		if a.funcs[f.Name] == nil {
			a.order = append(a.order, f.Name)
		}
		a.funcs[f.Name] = f
		for _, b := range f.Blocks {
			for _, s := range b.Stmts {
				switch s.Kind {
				case gimple.Call:
					if p := a.primitives[s.Callee]; p != nil {
						// get_user() in itself opens nothing for its caller
						if p.effect != whole {
							a.relevant[f.Name] = true
						}
						break
					}
					calls[s.Callee] = append(calls[s.Callee], f.Name)
					if s.Callee != f.Name {
						a.callers[s.Callee] = true
					}
				case gimple.AsmStmt:
					_, access := asmAccess(arch, s.Asm)
					if asmWindow(arch, s.Asm) != nil || access && !nofault(f.Name) {
						a.relevant[f.Name] = true
					}
				}
			}
		}
	}
	var mark func(string)
	mark = func(name string) {
		for _, caller := range calls[name] {
			if !a.relevant[caller] && !window.Accessor(caller) {
				a.relevant[caller] = true
				mark(caller)
			}
		}
	}
	for _, name := range slices.Clone(a.order) {
		// An accessor closes what it opens, or is to blame itself: its callers need
		// not know.
		if a.relevant[name] && !window.Accessor(name) {
			mark(name)
		}
	}
	for name := range a.relevant {
		if window.Accessor(name) {
			a.accessors[name] = true
			delete(a.relevant, name)
		}
	}
	return a
}

func (a *analysis) flow(fn *gimple.Func) *flow {
	f := a.flows[fn.Name]
	if f == nil {
		f = prepare(fn, a.primitives, func(name string) bool { return a.relevant[name] })
		a.flows[fn.Name] = f
	}
	return f
}

// root reports whether f is looked at by itself: nobody in the dump calls it.
func (a *analysis) root(f *flow) bool { return !a.callers[f.fn.Name] }

// opensFor reports whether name may leave a window open for its caller.
func (a *analysis) opensFor(name string) bool { return a.opener[name] }

// quiet reports whether a function stores to nothing but its own variables, as far
// as its body is in the dump: calling it changes no memory that is followed.
func (a *analysis) quiet(name string) bool {
	if q, known := a.quietly[name]; known {
		return q
	}
	a.quietly[name] = false // for recursion
	fn := a.funcs[name]
	if fn == nil {
		return a.safe.Safe(name)
	}
	for _, b := range fn.Blocks {
		for _, s := range b.Stmts {
			if s.Kind == gimple.Call && !builtin(s.Callee) && !passes[s.Callee] && a.primitives[s.Callee] == nil && !a.quiet(s.Callee) {
				return false
			}
			if s.LHS == "" {
				continue
			}
			base := gimple.Base(s.LHS)
			if !gimple.IsVar(s.LHS) || strings.Contains(base, "D.") && !strings.HasPrefix(base, "D.") && !fn.Locals[base] {
				return false
			}
		}
	}
	a.quietly[name] = true
	return true
}

func (a *analysis) report(p *problem) {
	if window.Primitive(p.in.fn.Name) {
		return
	}
	a.problems = append(a.problems, p)
}

// run looks at every function that nobody calls, and through their calls at the rest;
// at accessors by themselves.
func (a *analysis) run() {
	for _, name := range a.order {
		if !a.accessors[name] && (a.callers[name] || !a.relevant[name] && !startsOpen(name)) {
			continue
		}
		f := a.flow(a.funcs[name])
		st := &state{}
		entry := entryState{}
		if startsOpen(name) {
			st.win = window.State{Open: true}
			st.opened = &opening{in: f, inherited: true}
			entry.win = st.win
		}
		sum := a.summary(f, entry, st)
		for _, e := range sum.exits {
			a.judge(e)
		}
	}
}

// judge judges how a function that nobody in the dump calls was left.
func (a *analysis) judge(e *exit) {
	if e.win.Open && e.opened != nil && !e.opened.inherited {
		o := e.opened
		a.report(&problem{Problem: window.Problem{Rule: window.OpenAtReturn, Kind: e.win.Kind, API: o.api},
			in: o.in, pos: o.pos, stmt: o.stmt, opened: o, left: e.at, leftIn: e.in, trail: e.trail})
	}
	if e.pending != nil && !e.win.Open {
		o := e.pending
		a.report(&problem{Problem: window.Problem{Rule: window.SaveWithoutRestore, API: o.api},
			in: o.in, pos: o.pos, stmt: o.stmt, opened: o, left: e.at, leftIn: e.in, trail: e.trail})
	}
}

// summary analyses f from entry, whose path until here is in caller.
//
// First only what window operations return is followed, which is enough for most
// functions. Where that finds anything, or the window changes, it is thrown away,
// with the summaries of callees made meanwhile, and done with all variables and all
// branches.
func (a *analysis) summary(f *flow, entry entryState, caller *state) *summary {
	key := entry.key(f.fn.Name)
	if s := a.summaries[key]; s != nil {
		return s
	}
	if a.busy[key] { // recursion: as if it did nothing
		return &summary{base: caller.trail,
			exits: []*exit{{win: entry.win, opened: &opening{in: f, inherited: true}, trail: caller.trail}}}
	}
	a.busy[key] = true
	defer delete(a.busy, key)

	problems := len(a.problems)
	made := len(a.made)
	w := &walk{a: a, f: f}
	done := w.run(a.enter(f, entry, caller))
	suspicious := !done || len(a.problems) > problems || len(w.blame) > 0
	for _, e := range w.exits {
		suspicious = suspicious || e.win != entry.win || e.pending != nil
	}
	if suspicious {
		a.problems = a.problems[:problems]
		for _, k := range a.made[made:] {
			delete(a.summaries, k)
		}
		a.made = a.made[:made]
		w = &walk{a: a, f: f, all: true, facts: true}
		if !w.run(a.enter(f, entry, caller)) {
			a.problems = a.problems[:problems]
			w.facts = false
			if !w.run(a.enter(f, entry, caller)) {
				a.problems = a.problems[:problems]
				w.blame = nil
				w.exits = []*exit{{win: entry.win, opened: &opening{in: f, inherited: true}, trail: caller.trail}}
			}
			a.gaveUp = append(a.gaveUp, f.fn.Name)
		}
	}
	s := &summary{exits: w.exits, blame: w.blame, base: caller.trail}
	if !entry.win.Open && a.callers[f.fn.Name] {
		s.exits = a.settle(f, s.exits)
	}
	for _, e := range s.exits {
		if e.win.Open && !entry.win.Open {
			a.opener[f.fn.Name] = true
		}
	}
	a.summaries[key] = s
	a.made = append(a.made, key)
	return s
}

// enter makes the first state of a walk.
func (a *analysis) enter(f *flow, entry entryState, caller *state) *state {
	st := &state{win: entry.win, trail: caller.trail, env: make([]value, len(f.names))}
	if entry.win.Open {
		st.opened = &opening{in: f, inherited: true}
	}
	for name, sh := range entry.args {
		n, matters := f.vars[name]
		if !matters || f.escaped[name] {
			continue
		}
		switch sh.kind {
		case 'c':
			st.env[n] = a.values.constant(sh.n)
		case 't':
			st.env[n] = a.values.token(sh.n)
		}
	}
	return st
}

// settle makes exits of a helper that its callers can tell apart. A result that is
// not known where the window is open is taken to be none of those constants that are
// returned where it is closed, and the other way round. One that is the same in both,
// and an error with the window open, is the helper's own mistake, and is reported
// there, once.
func (a *analysis) settle(f *flow, exits []*exit) []*exit {
	var open, shut []*exit
	for _, e := range exits {
		if e.win.Open {
			open = append(open, e)
		} else {
			shut = append(shut, e)
		}
	}
	if len(open) == 0 || len(shut) == 0 {
		return exits
	}
	apart := func(some, others []*exit) {
		for _, e := range some {
			if e.ret.kind == 'c' || e.ret.kind == 't' {
				continue
			}
			for _, o := range others {
				if o.ret.kind != 'c' {
					continue
				}
				if o.ret.n < 0 && o.ret.n >= -maxErrno && e.ret.kind == 0 {
					e.ret.limits = append(e.ret.limits, limit{op: opErrPtr})
				}
				e.ret.limits = append(e.ret.limits, limit{op: opEq, n: o.ret.n})
			}
			if len(e.ret.limits) > 0 {
				e.ret.kind, e.ret.bounds = 'b', fmt.Sprint(e.ret.limits)
			}
		}
	}
	apart(open, shut)
	apart(shut, open)
	for _, o := range open {
		errno := o.ret.kind == 'c' && o.ret.n < 0 && o.ret.n >= -maxErrno
		for _, s := range shut {
			if !errno && a.distinct(o, s) {
				continue
			}
			a.judge(o)
			return shut
		}
	}
	return exits
}

// distinct reports whether a caller can tell two exits apart, by the result or by
// what parameters lead to.
func (a *analysis) distinct(x, y *exit) bool {
	if a.differ(x.ret, y.ret) {
		return true
	}
	for name, sh := range x.outs {
		if other, both := y.outs[name]; !both && sh.kind == 'c' || both && a.differ(sh, other) {
			return true
		}
	}
	for name, sh := range y.outs {
		if _, both := x.outs[name]; !both && sh.kind == 'c' {
			return true
		}
	}
	return false
}

// differ reports whether no value has both shapes.
func (a *analysis) differ(x, y shape) bool {
	vs := a.values
	v := vs.atom("result")
	limits := func(sh shape) []limit {
		if sh.kind == 'c' {
			return []limit{{op: opEq, n: sh.n, is: true}}
		}
		return sh.limits
	}
	w := &walk{a: a}
	st := &state{}
	return !(w.limit(st, v, limits(x)) && w.limit(st, v, limits(y)))
}
