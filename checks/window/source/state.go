package source

import (
	"fmt"
	"slices"
	"strings"

	"uabot/checks/window"
	"uabot/checks/window/source/gimple"
)

// opening is where a window was opened, or a state saved.
type opening struct {
	in        *flow
	pos       gimple.Pos
	stmt      *gimple.Stmt
	api       string
	inherited bool // opened by a caller: pos is unknown here
}

// event is one step of a path, linked backwards.
type event struct {
	prev *event
	in   *flow
	pos  gimple.Pos
	stmt *gimple.Stmt
	kind eventKind
	note string
}

type eventKind uint8

const (
	branched eventKind = iota // a condition held or did not
	opened
	failed // a begin failed
	closed
	saved
	entered // a call that is followed into
	reached // the step in a callee that is wrong in the caller's window
)

// state is where a path stands.
type state struct {
	win     window.State
	opened  *opening // of the window that is open
	pending *opening // a save that was not restored
	outer   *outer   // the window around one that was opened inside of it
	env     []value  // by number of the flow's variables; 0 for not known yet
	facts   facts
	trail   *event
	result  *gimple.Stmt // what set the value that is returned
}

// outer is a window inside of which another was opened. One that ends where it began,
// within one access, gives the outer one back: else one mistake would be many.
type outer struct {
	win    window.State
	opened *opening
	pos    gimple.Pos
}

func (st *state) clone() *state {
	c := *st
	c.env = slices.Clone(st.env)
	return &c
}

func (st *state) step(kind eventKind, f *flow, s *gimple.Stmt, note string) {
	st.trail = &event{prev: st.trail, in: f, pos: s.Pos, stmt: s, kind: kind, note: note}
}

// inherited reports whether the open window is a caller's.
func (st *state) inherited() bool { return st.win.Open && st.opened != nil && st.opened.inherited }

// encode makes the number that a token of the state holds.
func (st *state) encode() int64 {
	n := int64(st.win.Kind)
	if st.win.Open {
		n |= isOpen
	}
	if st.inherited() {
		n |= fromCaller
	}
	return n
}

// What a token's number holds besides the kind.
const (
	isOpen     = 4
	fromCaller = 8
)

func decode(n int64) window.State {
	return window.State{Open: n&isOpen != 0, Kind: window.Kind(n & 3)}
}

// walk is the analysis of one function from one entry state.
type walk struct {
	a     *analysis
	f     *flow
	facts bool // branches are remembered
	all   bool // all variables are followed, not only what comes from window operations
	exits []*exit
	seen  map[string]bool
	blame []*blamed
	queue []place
}

type place struct {
	block int
	st    *state
}

// exit is one way a function returns.
type exit struct {
	win     window.State
	opened  *opening
	pending *opening
	ret     shape
	at      *gimple.Stmt // where it was decided to return
	in      *flow
	outs    map[string]shape // what parameters lead to, by the callee's variable
	trail   *event
}

// shape is what is known of a value outside of the function that made it.
type shape struct {
	kind   byte // 'c' the constant n, 't' a token of n, 'b' within bounds, 0 unknown
	n      int64
	bounds string
	limits []limit
}

type limit struct {
	op valueOp
	n  int64
	is bool
}

func (sh shape) key() string { return fmt.Sprint(sh.kind, sh.n, sh.bounds) }

// blamed is a step that is wrong because of a window that a caller opened.
type blamed struct {
	rule     window.Rule
	closedAs window.Kind
	api      string
	title    string
	memory   bool
	callee   string
	in       *flow
	pos      gimple.Pos
	stmt     *gimple.Stmt
	trail    *event // within the callee
}

// fresh is a new unknown made at site. What an earlier turn of a loop left there is
// another value by now.
func (w *walk) fresh(st *state, n int, site string) value {
	vs := w.a.values
	atom := vs.atom(site)
	for m, v := range st.env {
		if m != n && v != 0 && vs.mentions(v, atom) {
			old := vs.atom("old:" + w.f.names[m])
			st.env[m] = old
			st.facts = slices.DeleteFunc(slices.Clone(st.facts), func(f fact) bool { return vs.mentions(f.v, old) })
		}
	}
	for _, f := range st.facts {
		if vs.mentions(f.v, atom) {
			st.facts = slices.DeleteFunc(slices.Clone(st.facts), func(f fact) bool { return vs.mentions(f.v, atom) })
			break
		}
	}
	return atom
}

// set gives variable name the value v.
func (w *walk) set(st *state, name string, v value) {
	if name == "" {
		return
	}
	for _, n := range w.f.derefs[name] {
		st.env[n] = 0
		w.forget(st, n)
	}
	n, matters := w.f.vars[name]
	if gimple.IsVar(name) && gimple.Base(name) == name {
		for m, other := range w.f.names {
			if len(other) > len(name) && strings.HasPrefix(other, name) && other[len(name)] == '.' {
				st.env[m] = 0
				w.forget(st, m)
			}
		}
	}
	if matters {
		st.env[n] = v
	}
}

// setFresh makes variable name unknown.
func (w *walk) setFresh(st *state, name, site string) value {
	n, matters := w.f.vars[name]
	if !matters {
		w.set(st, name, 0)
		return 0
	}
	v := w.fresh(st, n, site)
	w.set(st, name, v)
	return v
}

// forget drops facts on the first value of variable n: it has another one now.
func (w *walk) forget(st *state, n int) {
	vs := w.a.values
	first := vs.atom("first:" + w.f.names[n])
	for _, f := range st.facts {
		if vs.mentions(f.v, first) {
			st.facts = slices.DeleteFunc(slices.Clone(st.facts), func(f fact) bool { return vs.mentions(f.v, first) })
			return
		}
	}
}

// clobber makes all memory unknown: something ran that may change it.
func (w *walk) clobber(st *state, site string) {
	for n, is := range w.f.memory {
		if is && st.env[n] != 0 {
			st.env[n] = w.fresh(st, n, site+w.f.names[n])
		} else if is {
			st.env[n] = w.a.values.atom(site + w.f.names[n])
		}
	}
}

// stored makes unknown what an assignment to lhs may have changed besides it.
func (w *walk) stored(st *state, lhs, site string) {
	if gimple.IsVar(lhs) && gimple.Base(lhs) == lhs {
		return
	}
	field := lhs[strings.LastIndexAny(lhs, ">*")+1:]
	for n, name := range w.f.names {
		if name == lhs || !w.f.memory[n] || gimple.IsVar(name) && !strings.HasPrefix(lhs, "*") {
			continue
		}
		if strings.HasPrefix(lhs, "*") || strings.HasPrefix(name, "*") || strings.HasSuffix(name, field) {
			st.env[n] = w.fresh(st, n, site+name)
		}
	}
}

// operand is the value of an operand.
func (w *walk) operand(st *state, text, site string) value {
	vs := w.a.values
	if n, ok := number(text); ok {
		return vs.constant(n)
	}
	if n, ok := w.f.vars[text]; ok {
		if st.env[n] == 0 {
			return vs.atom("first:" + text)
		}
		return st.env[n]
	}
	return vs.atom("at:" + site + text)
}

// expression is the value of an assignment's right side; 0 for a new unknown.
func (w *walk) expression(st *state, rhs, site string) value {
	vs := w.a.values
	if _, ok := number(rhs); ok {
		return w.operand(st, rhs, site)
	}
	if _, ok := w.f.vars[rhs]; ok {
		return w.operand(st, rhs, site)
	}
	if strings.HasPrefix(rhs, "(") { // a cast
		if _, v, ok := strings.Cut(rhs, ") "); ok {
			if _, known := w.f.vars[v]; known {
				return w.operand(st, v, site)
			}
			if _, isNumber := number(v); isNumber {
				return w.operand(st, v, site)
			}
		}
		return 0
	}
	if strings.HasPrefix(rhs, "~") || strings.HasPrefix(rhs, "!") { // gcc writes !x of a bool as ~x
		if _, known := w.f.vars[rhs[1:]]; !known {
			return 0
		}
		v := w.operand(st, rhs[1:], site)
		if vs.boolean(v) || vs.nodes[v].op == opAtom {
			return vs.not(v)
		}
		return 0
	}
	parts := strings.Split(rhs, " ")
	if len(parts) != 3 {
		return 0
	}
	a, b := w.operand(st, parts[0], site), w.operand(st, parts[2], site)
	switch op := parts[1]; op {
	case "==", "!=", "<", ">", "<=", ">=":
		return w.compare(op, a, b)
	case "&", "|":
		return vs.combine(op, a, b)
	case "^":
		if n, ok := vs.isConst(b); ok && n == 1 && vs.boolean(a) {
			return vs.not(a)
		}
	case "+":
		// 0 + 1, a counter's first turn; the second is only known to be positive
		x, xConst := vs.isConst(a)
		y, yConst := vs.isConst(b)
		if xConst && yConst && y == 1 && x == 0 {
			return vs.constant(1)
		}
	}
	return 0
}

// compare knows that an unsigned x > -4096 is IS_ERR(x).
func (w *walk) compare(op string, a, b value) value {
	vs := w.a.values
	if n, ok := vs.isConst(b); ok {
		switch {
		case op == ">" && n == -maxErrno-1, op == ">=" && n == -maxErrno:
			return vs.errPtr(a)
		case op == "<=" && n == -maxErrno-1, op == "<" && n == -maxErrno:
			return vs.not(vs.errPtr(a))
		}
	}
	return vs.compare(op, a, b)
}

// shapeOf describes v to the outside.
func (w *walk) shapeOf(st *state, v value) shape {
	vs := w.a.values
	if v == 0 {
		return shape{}
	}
	switch n := vs.nodes[v]; n.op {
	case opConst:
		return shape{kind: 'c', n: n.n}
	case opToken:
		return shape{kind: 't', n: n.n}
	}
	switch vs.truth(st.facts, v) {
	case 0:
		return shape{kind: 'c'}
	case 1:
		if vs.boolean(v) {
			return shape{kind: 'c', n: 1}
		}
	}
	var sh shape
	for _, f := range st.facts {
		n := vs.nodes[f.v]
		if n.a != v {
			continue
		}
		switch c, ok := vs.isConst(n.b); {
		case n.op == opErrPtr:
			sh.limits = append(sh.limits, limit{op: opErrPtr, is: f.true})
		case ok && n.op == opEq && f.true:
			return shape{kind: 'c', n: c}
		case ok && (n.op == opEq || n.op == opLt):
			sh.limits = append(sh.limits, limit{op: n.op, n: c, is: f.true})
		}
	}
	if len(sh.limits) > 0 {
		slices.SortFunc(sh.limits, func(a, b limit) int {
			return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
		})
		sh.kind, sh.bounds = 'b', fmt.Sprint(sh.limits)
	}
	return sh
}

// assume gives st what limits tell of v; false where that cannot be.
func (w *walk) limit(st *state, v value, limits []limit) bool {
	vs := w.a.values
	for _, l := range limits {
		var cond value
		switch l.op {
		case opErrPtr:
			cond = vs.errPtr(v)
		case opEq:
			cond = vs.compare("==", v, vs.constant(l.n))
		case opLt:
			cond = vs.compare("<", v, vs.constant(l.n))
		}
		if cond == 0 {
			continue
		}
		fs, ok := vs.assume(st.facts, cond, l.is)
		if !ok {
			return false
		}
		st.facts = fs
	}
	return true
}

// key names a state at a block, after dropping what no longer matters.
func (w *walk) key(block int, st *state) string {
	vs := w.a.values
	live := w.f.live[block]
	atoms := map[value]bool{}
	var b strings.Builder
	fmt.Fprint(&b, block, st.win, st.inherited(), st.pending != nil, st.outer != nil)
	for n := range st.env {
		if !live[n] {
			st.env[n] = 0
			continue
		}
		// without facts an unknown is as good as any other
		if !w.all && !w.f.windowed[n] || !w.facts && st.env[n] != 0 && vs.unknown(st.env[n]) {
			st.env[n] = 0
		}
		if v := st.env[n]; v != 0 {
			fmt.Fprint(&b, ",", n, "=", int(v))
			vs.atoms(v, atoms)
		} else {
			atoms[vs.atom("first:"+w.f.names[n])] = true
		}
	}
	kept := make(facts, 0, len(st.facts))
	if w.facts {
		for _, f := range st.facts {
			of := map[value]bool{}
			vs.atoms(f.v, of)
			useful := true
			for atom := range of {
				useful = useful && atoms[atom]
			}
			if useful {
				kept = append(kept, f)
				fmt.Fprint(&b, ";", int(f.v), f.true)
			}
		}
	}
	st.facts = kept
	return b.String()
}
