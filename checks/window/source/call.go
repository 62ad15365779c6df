package source

import (
	"slices"
	"strings"

	"uabot/checks/window"
	"uabot/checks/window/source/gimple"
)

// call does a call and returns the states that follow: several where the result
// tells what happened to the window.
func (w *walk) call(st *state, s *gimple.Stmt, site string) []*state {
	vs := w.a.values
	name := s.Callee
	if p := w.a.primitives[name]; p != nil {
		w.clobberArgs(st, s, site, nil)
		return w.primitive(st, s, p, site)
	}
	switch {
	case passes[name] && len(s.Args) > 0:
		w.set(st, s.LHS, w.operand(st, s.Args[0], site))
		return []*state{st}
	case name == "IS_ERR" && len(s.Args) == 1:
		w.set(st, s.LHS, vs.errPtr(w.operand(st, s.Args[0], site)))
		return []*state{st}
	case builtin(name):
		w.clobberArgs(st, s, site, nil)
		w.setFresh(st, s.LHS, site)
		return []*state{st}
	}
	callee := w.a.funcs[name]
	if st.win.Open {
		switch {
		case w.a.safe.Safe(name), stub(name), allowed[name] != "":
			callee = nil
		case memory(name) != "":
			w.memory(st, s, name)
			callee = nil
		case s.Indirect:
			w.wrong(st, s, &blamed{rule: window.CallInWindow})
		case window.OpensOwn(name):
			w.wrong(st, s, &blamed{rule: window.OpenTwice, callee: name})
			callee = nil
		case callee == nil:
			w.wrong(st, s, &blamed{rule: window.CallInWindow, callee: name})
		}
	}
	if callee != nil && callee != w.f.fn && (st.win.Open || w.a.relevant[name]) {
		return w.into(st, s, callee, site)
	}
	w.clobberArgs(st, s, site, nil)
	if !w.a.quiet(name) {
		w.clobber(st, site)
	}
	w.setFresh(st, s.LHS, site)
	return []*state{st}
}

// memory judges a mem* in a window: small ones of a constant size become code in
// place, others may be calls, which only the object tells.
func (w *walk) memory(st *state, s *gimple.Stmt, name string) {
	if n := len(s.Args); n > 0 {
		if size, ok := number(s.Args[n-1]); ok && size <= inPlace {
			return
		}
	}
	w.wrong(st, s, &blamed{rule: window.CallInWindow, callee: memory(name), memory: true})
}

// clobberArgs makes unknown the variables whose address a call gets, except those
// that outs names.
func (w *walk) clobberArgs(st *state, s *gimple.Stmt, site string, but map[int]bool) {
	for i, a := range s.Args {
		if v, ok := strings.CutPrefix(a, "&"); ok && gimple.IsVar(v) && !but[i] {
			w.set(st, v, 0)
			w.setFresh(st, v, site+v)
			for _, field := range w.f.names {
				if strings.HasPrefix(field, v+".") {
					w.setFresh(st, field, site+field)
				}
			}
		}
	}
}

// outName is the caller's name for what the callee calls *p or p->f, when p is &v.
func outName(v, p, inCallee string) string {
	if inCallee == "*"+p {
		return v
	}
	return v + "." + strings.TrimPrefix(inCallee, p+"->")
}

// into follows a call into the body of callee, by its summary.
func (w *walk) into(st *state, s *gimple.Stmt, callee *gimple.Func, site string) []*state {
	f := w.a.flow(callee)
	entry := entryState{win: st.win, args: map[string]shape{}}
	kept := map[int]bool{} // arguments whose variables the callee's exits describe, or that it leaves alone
	for i, a := range s.Args {
		if i >= len(callee.Params) || callee.Params[i] == "" {
			continue
		}
		p := callee.Params[i]
		if v, ok := strings.CutPrefix(a, "&"); ok && gimple.IsVar(v) && !w.f.escaped[gimple.Base(v)] {
			any, followed := f.writes(p)
			kept[i] = !any || followed
			for _, n := range f.derefs[p] {
				if m, ok := w.f.vars[outName(v, p, f.names[n])]; ok && st.env[m] != 0 {
					if sh := w.shapeOf(st, st.env[m]); sh.kind == 'c' || sh.kind == 't' {
						entry.args[f.names[n]] = sh
					}
				}
			}
			continue
		}
		if sh := w.shapeOf(st, w.operand(st, a, site)); sh.kind == 'c' || sh.kind == 't' {
			if sh.kind == 't' { // whose window it is, the caller knows
				sh.n &^= fromCaller
			}
			entry.args[p] = sh
		}
	}
	before := st.trail
	st.step(entered, w.f, s, s.Callee)
	sum := w.a.summary(f, entry, st)
	for _, b := range sum.blame {
		w.passOn(st, s, b, sum)
	}
	inside := st.trail
	st.trail = before
	nested := slices.ContainsFunc(sum.blame, func(b *blamed) bool { return b.rule == window.OpenTwice })
	w.clobberArgs(st, s, site, kept)
	if w.a.relevant[s.Callee] || !w.a.quiet(s.Callee) {
		w.clobberBut(st, site, s, kept)
	}
	var states []*state
	for _, e := range sum.exits {
		n := st.clone()
		if nested && !e.win.Open { // a whole access in itself: see outer
			unchanged := *e
			unchanged.win, unchanged.opened = st.win, &opening{in: f, inherited: true}
			e = &unchanged
		}
		if w.apply(n, s, e, callee, site, sum.within(e.trail, inside)) {
			states = append(states, n)
		}
	}
	return states
}

// clobberBut makes memory unknown, except for variables that are kept.
func (w *walk) clobberBut(st *state, site string, s *gimple.Stmt, kept map[int]bool) {
	saved := map[int]value{}
	for i := range kept {
		v := strings.TrimPrefix(s.Args[i], "&")
		for n, name := range w.f.names {
			if name == v || strings.HasPrefix(name, v+".") {
				saved[n] = st.env[n]
			}
		}
	}
	w.clobber(st, site)
	for n, v := range saved {
		st.env[n] = v
	}
}

// passOn takes what a callee did wrong in a window that it did not open.
func (w *walk) passOn(st *state, s *gimple.Stmt, b *blamed, sum *summary) {
	up := *b
	if up.rule == window.CallInWindow || up.rule == window.OpenTwice {
		up.callee = s.Callee
	}
	trail := st.trail
	st.trail = sum.within(b.trail, trail)
	st.trail = &event{prev: st.trail, in: b.in, pos: b.pos, stmt: b.stmt, kind: reached}
	w.wrong(st, s, &up)
	st.trail = trail
}

// apply brings st to where e leaves it, on the path trail; false where that
// contradicts what is known.
func (w *walk) apply(st *state, s *gimple.Stmt, e *exit, callee *gimple.Func, site string, trail *event) bool {
	vs := w.a.values
	same := e.win.Open && e.opened != nil && e.opened.inherited
	before := st.encode()
	switch {
	case e.win.Open && e.opened == nil: // by a token of ours
		st.win = e.win
		if st.opened == nil {
			st.opened = &opening{in: w.f, inherited: true}
		}
	case e.win.Open && !same:
		st.win, st.opened = e.win, e.opened
		st.trail = trail
	case !e.win.Open && st.win.Open:
		st.win = e.win
		st.step(closed, w.f, s, s.Callee)
	case !e.win.Open && w.a.opensFor(s.Callee):
		st.step(failed, w.f, s, s.Callee)
	}
	if e.pending != nil && !(st.pending != nil && e.pending == st.pending) {
		st.pending = e.pending
	} else if e.pending == nil {
		st.pending = nil
	}
	result := func(name string, sh shape, site string) bool {
		switch sh.kind {
		case 'c':
			w.set(st, name, vs.constant(sh.n))
		case 't':
			n := sh.n
			if n&fromCaller != 0 {
				n = before
			}
			w.set(st, name, vs.token(n))
		default:
			v := w.setFresh(st, name, site)
			return v == 0 || w.limit(st, v, sh.limits)
		}
		return true
	}
	for i, a := range s.Args {
		v, ok := strings.CutPrefix(a, "&")
		if !ok || i >= len(callee.Params) || callee.Params[i] == "" {
			continue
		}
		for inCallee, sh := range e.outs {
			p := callee.Params[i]
			if inCallee == "*"+p || strings.HasPrefix(inCallee, p+"->") {
				if to := outName(v, p, inCallee); !result(to, sh, site+to) {
					return false
				}
			}
		}
	}
	return result(s.LHS, e.ret, site)
}
