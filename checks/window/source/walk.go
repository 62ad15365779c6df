package source

import (
	"fmt"
	"strings"

	"uabot/checks/window"
	"uabot/checks/window/source/gimple"
)

// The states, blocks times what is known there, of one walk and of all walks of a dump.
// The most that a file of linux 6.12.117 needs is some 22,000 (arch/powerpc/lib/sstep.c).
const (
	maxStates    = 5000
	maxAllStates = 60000
)

// run walks every path from entry, breadth first, so that the first way to a place
// is a shortest one. It reports false where the states ran out.
func (w *walk) run(entry *state) bool {
	w.exits, w.seen, w.blame = nil, map[string]bool{}, nil
	if len(w.f.fn.Blocks) == 0 {
		w.exits = []*exit{{win: entry.win, opened: entry.opened, pending: entry.pending, trail: entry.trail}}
		return true
	}
	w.queue = []place{{w.f.fn.Blocks[0].ID, entry}}
	for len(w.queue) > 0 {
		at := w.queue[0]
		w.queue = w.queue[1:]
		key := w.key(at.block, at.st)
		if w.seen[key] {
			continue
		}
		w.seen[key] = true
		if w.a.states++; len(w.seen) > maxStates || w.a.states > maxAllStates {
			return false
		}
		if b := w.f.fn.Block(at.block); b != nil {
			w.block(b, at.st)
		}
	}
	return true
}

func (w *walk) to(block int, st *state) {
	w.queue = append(w.queue, place{block, st})
}

// block runs the statements of b from st and queues what follows.
func (w *walk) block(b *gimple.Block, st *state) {
	states := []*state{st}
	var last *gimple.Stmt
	for i, s := range b.Stmts {
		site := fmt.Sprint(b.ID, ".", i, ".")
		last = s
		if !s.Pos.Known() { // some gotos and returns have none: the one before is near
			for j := i - 1; j >= 0 && !s.Pos.Known(); j-- {
				s.Pos = b.Stmts[j].Pos
			}
		}
		var next []*state
		for _, st := range states {
			switch s.Kind {
			case gimple.Assign:
				if w.f.returned[s.LHS] {
					st.result = s
				}
				w.assign(st, s, site)
				next = append(next, st)
			case gimple.Call:
				next = append(next, w.call(st, s, site)...)
			case gimple.AsmStmt:
				w.asm(st, s, site)
				next = append(next, st)
			case gimple.Cond:
				w.cond(st, s, site)
			case gimple.Switch:
				w.switchOn(st, s, site)
			case gimple.Return:
				w.leave(st, s, site)
			default:
				next = append(next, st)
			}
		}
		states = next
		if s.Kind == gimple.Cond || s.Kind == gimple.Switch || s.Kind == gimple.Return {
			return
		}
	}
	for _, st := range states {
		for _, to := range b.Succs {
			n := st
			if len(b.Succs) > 1 {
				n = st.clone()
				if last != nil && last.Kind == gimple.AsmStmt && to != b.Succs[0] {
					n.step(branched, w.f, last, "jumps away")
				}
			}
			w.to(to, n)
		}
	}
}

func (w *walk) assign(st *state, s *gimple.Stmt, site string) {
	vs := w.a.values
	if strings.HasPrefix(s.RHS, "{CLOBBER") { // out of scope
		w.set(st, s.LHS, 0)
		return
	}
	defer w.stored(st, s.LHS, site)
	n, matters := w.f.vars[s.LHS]
	if !matters {
		w.set(st, s.LHS, 0)
		return
	}
	v := w.expression(st, s.RHS, site)
	if v != 0 {
		w.set(st, s.LHS, v)
		return
	}
	// A counter that was 0 or more is 1 or more after adding one.
	positive := false
	if counted, ok := strings.CutSuffix(s.RHS, " + 1"); ok {
		if old := w.operand(st, counted, site); old != 0 {
			if negative := vs.compare("<", old, vs.constant(0)); negative != 0 {
				positive = vs.truth(st.facts, negative) == 0
			}
		}
	}
	v = w.fresh(st, n, site)
	w.set(st, s.LHS, v)
	if positive {
		st.facts, _ = vs.assume(st.facts, vs.compare("<", v, vs.constant(1)), false)
	}
}

func (w *walk) cond(st *state, s *gimple.Stmt, site string) {
	vs := w.a.values
	var c value
	if s.Op != "" {
		c = w.compare(s.Op, w.operand(st, s.A, site), w.operand(st, s.B, site))
	}
	if c == 0 {
		c = vs.atom("if:" + site)
	}
	for _, is := range []bool{true, false} {
		fs, possible := vs.assume(st.facts, c, is)
		if !possible {
			continue
		}
		n := st.clone()
		n.facts = fs
		to, note := s.Then, "true"
		if !is {
			to, note = s.Else, "false"
		}
		if _, known := vs.isConst(c); !known {
			n.step(branched, w.f, s, note)
		}
		w.to(to, n)
	}
}

func (w *walk) switchOn(st *state, s *gimple.Stmt, site string) {
	vs := w.a.values
	on := w.operand(st, s.A, site)
	rest, restPossible := st.facts, true
	def := -1
	for _, c := range s.Cases {
		if c.Lo == "" {
			def = c.Target
			continue
		}
		lo, isNumber := number(c.Lo)
		n := st.clone()
		if k, ok := vs.isConst(on); ok && c.Hi != "" {
			if hi, _ := number(c.Hi); k < lo || k > hi {
				continue
			}
			restPossible = false
		} else if isNumber && c.Hi == "" {
			is := vs.compare("==", on, vs.constant(lo))
			if is != 0 {
				fs, possible := vs.assume(st.facts, is, true)
				var ok bool
				if rest, ok = vs.assume(rest, is, false); !ok {
					restPossible = false
				}
				if !possible {
					continue
				}
				n.facts = fs
			}
		}
		n.step(branched, w.f, s, "case "+c.Lo)
		w.to(c.Target, n)
	}
	if def >= 0 && restPossible {
		n := st.clone()
		n.facts = rest
		n.step(branched, w.f, s, "default")
		w.to(def, n)
	}
}

func (w *walk) asm(st *state, s *gimple.Stmt, site string) {
	for _, out := range s.Asm.Outs {
		if i := strings.LastIndexByte(out, ' '); i >= 0 {
			if v := out[i+1:]; tracked(v) {
				w.setFresh(st, v, site+v)
			}
		}
	}
	if p := asmWindow(w.a.arch, s.Asm); p != nil {
		w.primitive(st, s, p, site)
		return
	}
	if kind, ok := asmAccess(w.a.arch, s.Asm); ok {
		w.access(st, s, kind, "")
	}
	if !st.win.Open {
		return
	}
	for _, name := range asmCalls(s.Asm) {
		if rule := st.win.Call(name, w.a.safe); rule != "" {
			w.wrong(st, s, &blamed{rule: rule, callee: name})
		}
	}
}

// access checks that the window is open and lets user memory be touched so.
func (w *walk) access(st *state, s *gimple.Stmt, kind window.Kind, api string) {
	if w.f.nofacc {
		return
	}
	if !st.win.Open {
		w.a.report(&problem{Problem: window.Problem{Rule: window.AccessOutsideWindow, API: api}, in: w.f, pos: s.Pos, stmt: s, trail: st.trail})
		return
	}
	if have := st.win.Kind; have != window.Unknown && kind&^have != 0 {
		what := "a user access"
		if api != "" {
			what = api + "()"
		}
		verb := "reads"
		if kind&^have&window.Write != 0 {
			verb = "writes"
		}
		w.wrong(st, s, &blamed{rule: window.KindMismatch, closedAs: kind, api: api,
			title: fmt.Sprintf("%s %s in a user %s access window", what, verb, have)})
	}
}

// wrong states a step that is wrong because of the open window: here where it was
// opened here, at the caller's call where the caller opened it.
func (w *walk) wrong(st *state, s *gimple.Stmt, b *blamed) {
	b.in, b.pos, b.stmt, b.trail = w.f, s.Pos, s, st.trail
	if st.inherited() && !w.a.root(w.f) {
		for _, other := range w.blame {
			if other.rule == b.rule && other.memory == b.memory {
				return
			}
		}
		w.blame = append(w.blame, b)
		return
	}
	p := &problem{
		Problem: window.Problem{Rule: b.rule, Callee: b.callee, Kind: st.win.Kind, ClosedAs: b.closedAs, API: b.api},
		in:      w.f, pos: s.Pos, stmt: s, trail: st.trail, opened: st.opened, memory: b.memory, title: b.title,
	}
	w.a.report(p)
}

// primitive does to st what p does and returns the states that follow.
func (w *walk) primitive(st *state, s *gimple.Stmt, p *primitive, site string) []*state {
	vs := w.a.values
	kind := p.kind
	if p.last && len(s.Args) > 0 {
		if n, ok := vs.isConst(w.operand(st, s.Args[len(s.Args)-1], site)); ok && n >= 1 && n <= 3 {
			kind = window.Kind(n)
		}
	}
	at := &opening{in: w.f, pos: s.Pos, stmt: s, api: p.api()}
	switch p.effect {
	case begins, opens:
		unchecked := (p.effect == begins || strings.HasPrefix(p.name, marker)) && !w.f.used(s)
		states := []*state{st}
		if unchecked {
			w.a.report(&problem{Problem: window.Problem{Rule: window.UncheckedBegin, API: at.api, Kind: kind}, in: w.f, pos: s.Pos, stmt: s, trail: st.trail})
		} else if p.effect == begins {
			n := st.clone()
			n.step(failed, w.f, s, at.api)
			w.set(n, s.LHS, vs.constant(0))
			states = []*state{n, st}
		}
		w.open(st, s, at, kind)
		if p.effect == begins {
			w.set(st, s.LHS, vs.constant(1))
		} else {
			w.setFresh(st, s.LHS, site)
		}
		return states
	case closes:
		w.close(st, s, at.api, kind)
	case saves:
		w.set(st, s.LHS, vs.token(st.encode()))
		st.pending = at
		st.win = window.State{}
		st.step(saved, w.f, s, at.api)
	case saveOpens:
		w.set(st, s.LHS, vs.token(st.encode()))
		st.win = window.State{Open: true, Kind: kind}
		st.opened = at
		st.step(opened, w.f, s, at.api)
	case restores:
		st.pending = nil
		st.win = window.State{}
		if len(s.Args) > 0 {
			w.restore(st, w.operand(st, s.Args[0], site))
		}
		st.step(closed, w.f, s, at.api)
	case accesses:
		w.access(st, s, kind, at.api)
		w.setFresh(st, s.LHS, site)
	case whole:
		if st.win.Open {
			w.wrong(st, s, &blamed{rule: window.OpenTwice, callee: at.api})
		}
		w.setFresh(st, s.LHS, site)
	}
	return []*state{st}
}

func (w *walk) open(st *state, s *gimple.Stmt, at *opening, kind window.Kind) {
	next, rule := st.win.Begin(kind)
	if rule != "" {
		w.wrong(st, s, &blamed{rule: rule, api: at.api})
		st.outer = &outer{st.win, st.opened, s.Pos}
	}
	st.win, st.opened = next, at
	st.step(opened, w.f, s, at.api)
}

func (w *walk) close(st *state, s *gimple.Stmt, api string, kind window.Kind) {
	next, rule := st.win.End(kind)
	switch rule {
	case window.CloseWithoutOpen:
		w.a.report(&problem{Problem: window.Problem{Rule: rule, API: api}, in: w.f, pos: s.Pos, stmt: s, trail: st.trail})
	case window.KindMismatch:
		w.wrong(st, s, &blamed{rule: rule, closedAs: kind, api: api})
	}
	st.win = next
	st.step(closed, w.f, s, api)
	if o := st.outer; o != nil {
		if o.pos.File == s.Pos.File && o.pos.Line == s.Pos.Line {
			st.win, st.opened = o.win, o.opened
		}
		st.outer = nil
	}
}

// restore brings back what token saved, where it is one.
func (w *walk) restore(st *state, token value) {
	n := w.a.values.nodes[token]
	if n.op != opToken {
		return
	}
	st.win = decode(n.n)
	if n.n&fromCaller != 0 {
		st.opened = &opening{in: w.f, inherited: true}
	}
}

// leave notes an exit.
func (w *walk) leave(st *state, s *gimple.Stmt, site string) {
	vs := w.a.values
	e := &exit{at: s, in: w.f, win: st.win, opened: st.opened, pending: st.pending, trail: st.trail, outs: map[string]shape{}}
	if st.result != nil && st.result.Pos.Known() {
		e.at = st.result
	}
	if s.A != "" {
		v := w.operand(st, s.A, site)
		e.ret = w.shapeOf(st, v)
		if vs.nodes[v].op == opToken {
			e.pending = nil // the caller's to restore
		}
	}
	for _, n := range w.f.outs {
		if st.env[n] != 0 {
			// only what was assigned tells a caller something on purpose
			if op := w.a.values.nodes[st.env[n]].op; op == opConst || op == opToken {
				e.outs[w.f.names[n]] = w.shapeOf(st, st.env[n])
			}
		}
	}
	for _, other := range w.exits {
		if other.key() == e.key() {
			return
		}
	}
	w.exits = append(w.exits, e)
}

func (e *exit) key() string {
	// fmt prints maps sorted
	outs := map[string]string{}
	for name, sh := range e.outs {
		outs[name] = sh.key()
	}
	return fmt.Sprint(e.win, e.win.Open && e.opened != nil && e.opened.inherited, e.pending != nil, e.ret.key(), outs)
}
