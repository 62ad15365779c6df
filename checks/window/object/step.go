package object

import (
	"math/bits"
	"slices"
	"strings"

	"uabot/checks/window"
	"uabot/checks/window/object/isa"
)

func trailing(r uint64) int { return bits.TrailingZeros64(r) }

// observations collects what exploring finds, each thing once.
type observations struct {
	problems []problem
	seen     map[problem]bool
	opens    map[loc]bool
	unclear  map[loc]bool
}

func newObservations() *observations {
	return &observations{seen: map[problem]bool{}, opens: map[loc]bool{}, unclear: map[loc]bool{}}
}

func (m *observations) into(v *verdict) {
	v.problems = m.problems
	v.opens, v.unclear = places(m.opens), places(m.unclear)
}

func places(set map[loc]bool) []loc {
	var list []loc
	for l := range set {
		list = append(list, l)
	}
	slices.Sort(list)
	return list
}

// report notes a problem at an instruction; the first state that shows it has the
// shortest path.
func (m *observations) report(p problem) {
	key := p
	key.state, key.kind, key.as = 0, 0, 0
	if !m.seen[key] {
		m.seen[key] = true
		m.problems = append(m.problems, p)
	}
}

// step is the state after n in its state number which, and whether the path goes on:
// behind a second opening nothing that it shows is the author's.
func (v *verdict) step(node, which int32, m *observations) (after state, goesOn bool) {
	o, n := v.o, v.nodes[node]
	s := n.states[which]
	inside := o.startsOpen(v.f)
	report := func(rule window.Rule, callee string, as window.Kind) {
		m.report(problem{rule, node, which, callee, s.Kind, as})
	}
	if (n.calls || n.tail) && n.helper.what == nothing {
		if rule := s.Call(n.callee, o.callees); rule != "" && !o.callsInside(n.callee) {
			report(rule, n.callee, 0)
		}
	}
	if n.tail && n.helper.what == nothing && !inside && !o.callsInside(n.callee) {
		if rule := s.Leave(); rule != "" {
			report(rule, "", 0)
		}
	}
	if rule := v.access(n, &s); rule != "" && !inside {
		report(rule, "", accessKind(n.in.Memory))
	}
	after, goesOn = s, true
	step := n.helper
	if step.what == nothing {
		step = v.window(n, &s)
	}
	switch step.what {
	case opens:
		m.opens[n.loc] = true
		var rule window.Rule
		if after.State, rule = s.Begin(step.kind); rule != "" {
			report(rule, "", 0)
			goesOn = false
		}
	case closes:
		// A closing after the register was read and kept is save and lock, closed or
		// not; one behind pushf, too.
		if !s.Open && (s.read || s.stack > 1) {
			break
		}
		var rule window.Rule
		if after.State, rule = s.End(window.Unknown); rule != "" {
			report(rule, "", 0)
		}
	case seals:
		after.State = window.State{}
	case restores:
		if !step.saved && !s.Open && o.arch.restores {
			report(window.CloseWithoutOpen, "", 0)
		}
		after.State = window.State{Open: step.saved}
	case unclear:
		m.unclear[n.loc] = true
		goesOn = false // neither open nor closed would be sure
	}
	if n.leaves && !inside {
		leaving := s
		if n.helper.what != nothing {
			leaving = after
		}
		if rule := leaving.Leave(); rule != "" {
			report(rule, "", 0)
		}
	}
	v.values(n, &s, &after)
	return after, goesOn
}

// window is what n does to the window, given the values in s.
func (v *verdict) window(n *node, s *state) step {
	o, in := v.o, n.in
	switch in.Window {
	case isa.Open:
		return step{what: opens}
	case isa.Close:
		return step{what: closes}
	case isa.Restore:
		// smap_save() and smap_restore(); other popf are about interrupts
		if s.stack > 1 && o.replaced(n.loc) {
			return step{what: restores, saved: s.stack&1 == 1}
		}
		return step{}
	}
	if !o.writes(n) {
		return step{}
	}
	return o.arch.classify(o, n.loc, in, s.value(holder(in.Source)))
}

// access is AccessOutsideWindow where n is an access of user memory that needs a window
// and none is open, KindMismatch where the open one does not allow it.
func (v *verdict) access(n *node, s *state) window.Rule {
	o := v.o
	rows := o.faults[n.loc]
	if len(rows) == 0 || n.in.Memory == isa.NoMemory && o.arch.step != 1 {
		return ""
	}
	if s.Open {
		if k := accessKind(n.in.Memory); o.arch.control == isa.AMR && s.Kind != window.Unknown && k != window.Unknown && s.Kind&k == 0 {
			return window.KindMismatch
		}
		return ""
	}
	if o.arch.access == nil || strings.Contains(v.f.name, "nofault") {
		return ""
	}
	if slices.ContainsFunc(rows, func(e exception) bool { return o.arch.access(e.kind) }) {
		return window.AccessOutsideWindow
	}
	return ""
}

func accessKind(m isa.Memory) window.Kind {
	return window.Kind(m) // both are 1 for reads, 2 for writes
}

// values makes the values after n of those before.
func (v *verdict) values(n *node, before, after *state) {
	o, in := v.o, n.in
	switch in.Window {
	case isa.Save:
		if o.replaced(n.loc) && before.stack < 128 {
			after.stack = before.stack << 1
			if before.Open {
				after.stack |= 1
			}
		}
	case isa.Restore:
		if o.replaced(n.loc) && before.stack > 1 {
			after.stack = before.stack >> 1
		}
	}
	if o.writes(n) {
		after.read = false
	}
	for k := range in.Effects[:in.NumEffects] {
		if in.Effects[k].Op == isa.ReadControl && in.Control == o.arch.control && o.arch.control == isa.AMR {
			after.read = true
		}
	}
	if !v.matter(n) {
		after.values = nil
		return
	}
	values := slices.Clone(before.values)
	set := func(h holder, x value) {
		i, ok := slices.BinarySearchFunc(values, h, func(b binding, h holder) int { return int(b.in) - int(h) })
		switch {
		case ok && x.kind == unknown:
			values = slices.Delete(values, i, i+1)
		case ok:
			values[i].v = x
		case x.kind != unknown:
			values = slices.Insert(values, i, binding{h, x})
		}
	}
	written := in.Written
	if n.calls {
		written |= o.arch.clobbered(n.callee)
	}
	for r := written; r != 0; r &= r - 1 {
		set(holder(trailing(r)), value{})
	}
	if n.calls {
		values = slices.DeleteFunc(values, func(b binding) bool { return b.in.lostInCall() })
	}
	if n.calls && slices.Contains(o.arch.translates, n.callee) && before.value(0).kind == reserved {
		set(0, before.value(0))
	}
	moved := int64(0)
	effects := o.effects(n)
	for k := range effects {
		e := &effects[k]
		a, b := before.value(holder(e.A)), before.value(holder(e.B))
		var x value
		switch e.Op {
		case isa.NoOp, isa.StoreAt:
			continue
		case isa.Compare, isa.CompareImm:
			if !o.withZero(n.loc, e) || a.kind != truth {
				a = value{}
			}
			set(o.comparedIn(n.loc), a)
			continue
		case isa.Store:
			if e.A == isa.NoReg {
				a = value{kind: constant}
			}
			if in.Conditional {
				a = value{}
			}
			set(slot(e.Imm), a)
			continue
		case isa.Lost:
			for off := e.Imm; off < e.Imm+int64(e.B); off++ {
				set(slot(off), value{})
			}
			continue
		case isa.Load:
			x = before.value(slot(e.Imm))
		case isa.LoadConst, isa.Address, isa.Page:
			x = o.named(n.loc, in, e)
			if e.Op == isa.LoadConst && a.kind == truthAt && e.Imm == 0 {
				x = value{kind: truth}
			}
		case isa.AddImm:
			if e.Dst == e.A && o.isStack(e.Dst) {
				moved = e.Imm
				continue
			}
			if x = o.flagAddress(n.loc, in); x.kind == unknown {
				x = o.compute(in, e, a, b, before)
			}
		default:
			x = o.compute(in, e, a, b, before)
		}
		if in.Conditional {
			x = value{}
		}
		if e.Dst >= 0 {
			set(holder(e.Dst), x)
		}
		if o.record(n.loc, in) {
			if x.kind != truth {
				x = value{}
			}
			set(compared, x)
		}
	}
	switch {
	case moved != 0:
		for i := range values {
			if values[i].in >= slots {
				values[i].in -= holder(moved)
			}
		}
	case o.stackLost(in):
		values = slices.DeleteFunc(values, func(b binding) bool { return b.in >= slots })
	}
	after.values = values
}

// matter reports whether any value matters behind n.
func (v *verdict) matter(n *node) bool {
	for _, e := range n.succ {
		to := v.nodes[e.to]
		if to.needs.regs|to.truths.regs != 0 || len(to.needs.slots)+len(to.truths.slots) > 0 {
			return true
		}
	}
	return false
}

// named is the value that a relocation gives: a constant in read-only memory, or an
// address that means something.
func (o *object) named(l loc, in *isa.Insn, e *isa.Effect) value {
	x, ok := o.branchReloc(l, in)
	if !ok {
		return value{}
	}
	s := &o.symbols[x.sym]
	if s.name == "reserved_pg_dir" {
		return value{kind: reserved}
	}
	if trueFlags[s.name] && e.Op == isa.LoadConst {
		return value{kind: truth}
	}
	to, ok := o.place(s, o.addend(l.sec(), x))
	if e.Op != isa.LoadConst || !ok {
		return value{}
	}
	sec := &o.sections[to.sec()]
	if !strings.HasPrefix(sec.name, ".toc") && !sec.constant() {
		return value{}
	}
	if y, ok := o.within(to.sec(), to.off(), to.off()+1); ok { // an address, not a number
		if trueFlags[o.symbols[y.sym].name] {
			return value{kind: truthAt}
		}
		return value{}
	}
	width := int(e.B)
	if width < 0 {
		width = -width
	}
	if width != 4 && width != 8 {
		return value{}
	}
	w, ok := o.word(sec.data, to.off(), width)
	if !ok {
		return value{}
	}
	if e.B == -4 {
		w = uint64(int64(int32(w)))
	}
	return value{constant, w}
}

// isStack reports whether r is the stack pointer.
func (o *object) isStack(r isa.Reg) bool { return r == o.stackPointer() && r != isa.NoReg }

func (o *object) stackPointer() isa.Reg {
	switch o.arch.kernel {
	case "powerpc":
		return 1
	case "arm64":
		return 31
	case "arm":
		return 13
	case "riscv":
		return 2
	}
	return isa.NoReg
}

// stackLost reports whether the instruction sets the stack pointer to what is not known.
func (o *object) stackLost(in *isa.Insn) bool {
	sp := o.stackPointer()
	return sp != isa.NoReg && in.Written>>uint(sp)&1 == 1
}

// startsOpen reports whether f is only called with a window open. On x86 those are the
// functions that objtool says are safe to call there; what other arches call there, and
// is written in C, opens a window of its own (arch/arm/lib/uaccess_with_memcpy.c).
func (o *object) startsOpen(f *function) bool {
	return o.arch.kernel == "x86" && o.callees.Safe(f.name) || o.callsInside(f.name)
}

// callsInside reports whether name is a helper of the window API's users that is only
// called inside of a window.
func (o *object) callsInside(name string) bool {
	return slices.ContainsFunc(o.arch.startsOpen, func(p string) bool { return strings.HasPrefix(name, p) })
}
