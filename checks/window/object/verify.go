package object

import (
	"slices"

	"uabot/checks/window"
	"uabot/checks/window/object/isa"
)

// holder numbers what can hold a value: registers 0..63, stack slots from slots on.
type holder int32

const (
	compared holder = 1 << 14 // and seven more: what each condition field was last set by comparing with 0
	slots    holder = 1 << 16
)

// slot is the holder at an offset from the stack pointer; far ones share the last.
func slot(off int64) holder { return slots + 1<<20 + holder(max(-1<<19, min(off, 1<<19))) }

// demand is the set of holders whose value matters.
type demand struct {
	regs  uint64
	slots []holder // sorted
}

func (d *demand) has(h holder) bool {
	if h < 64 {
		return d.regs>>uint(h)&1 == 1
	}
	_, ok := slices.BinarySearch(d.slots, h)
	return ok
}

// add reports whether h is new.
func (d *demand) add(h holder) bool {
	switch {
	case h < 0:
		return false
	case h < 64:
		old := d.regs
		d.regs |= 1 << uint(h)
		return d.regs != old
	}
	i, ok := slices.BinarySearch(d.slots, h)
	if ok || len(d.slots) >= maxSlots {
		return false
	}
	d.slots = slices.Insert(d.slots, i, h)
	return true
}

// maxSlots bounds the stack slots that are followed at one place.
const maxSlots = 64

// binding is a known value.
type binding struct {
	in holder
	v  value
}

// state is what is known when control reaches an instruction.
type state struct {
	window.State
	read   bool      // powerpc: the register was read since it was last written
	stack  uint8     // x86: windows pushed by pushf, a bit each behind a leading 1
	values []binding // sorted by holder; what is unknown is left out
	from   int32     // the node that control came from, -1 at the entry
	which  int32     // its state
}

func (s *state) same(t *state) bool {
	return s.State == t.State && s.read == t.read && s.stack == t.stack && slices.Equal(s.values, t.values)
}

func (s *state) value(h holder) value {
	if h < 0 {
		return value{}
	}
	for _, b := range s.values {
		if b.in == h {
			return b.v
		}
	}
	return value{}
}

// problem is a wrong step that a path reaches.
type problem struct {
	rule   window.Rule
	node   int32
	state  int32
	callee string
	kind   window.Kind // of the open window
	as     window.Kind
}

// The bounds of one function: distinct states at one instruction, and steps in all. The
// 1,300 objects of linux 6.12.117 that access user memory need 2 and 3,600 at most.
const (
	maxStates = 128
	maxSteps  = 1 << 20
)

// verdict is what exploring a function gave.
type verdict struct {
	*graph
	problems []problem
	opens    []loc // instructions that open a window on some path
	unclear  []loc // writes that could not be followed
	gaveUp   bool  // the bounds were exceeded
}

// verify explores f in every state that can reach its instructions.
func (o *object) verify(f *function) *verdict {
	v := &verdict{graph: o.build(f)}
	if v.tooLarge() {
		v.gaveUp = true
		return v
	}
	v.spreadDemand()
	v.explore()
	return v
}

// writes reports whether the instruction of n may write the window register.
func (o *object) writes(n *node) bool {
	if n.in == nil {
		return false
	}
	switch n.in.Window {
	case isa.Write, isa.SetBits, isa.ClearBits:
		return n.in.Control == o.arch.control
	}
	return false
}

// spreadDemand finds out backwards which values matter where: those that reach a
// write of the window register, and those that reach a branch on a known flag.
func (v *verdict) spreadDemand() {
	if v.o.arch.classify == nil {
		return
	}
	v.spread(v.o.writes, func(n *node) *demand { return &n.needs })
	if v.o.hasTrueFlags() {
		v.spread(v.o.decides, func(n *node) *demand { return &n.truths })
	}
}

func (v *verdict) spread(source func(*node) bool, set func(*node) *demand) {
	var work []int32
	queued := make([]bool, len(v.nodes))
	for i, n := range v.nodes {
		if source(n) {
			work = append(work, int32(i))
			queued[i] = true
		}
	}
	if len(work) == 0 {
		return
	}
	preds := v.preds()
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		queued[i] = false
		if v.demandAt(v.nodes[i], source, set) {
			for _, p := range preds[i] {
				if !queued[p] {
					queued[p] = true
					work = append(work, p)
				}
			}
		}
	}
}

// demandAt recomputes what n needs from what its successors need; true if that grew.
func (v *verdict) demandAt(n *node, source func(*node) bool, set func(*node) *demand) bool {
	var out demand
	for _, e := range n.succ {
		d := set(v.nodes[e.to])
		out.regs |= d.regs
		for _, h := range d.slots {
			out.add(h)
		}
	}
	grew := false
	need := func(h holder) {
		if set(n).add(h) {
			grew = true
		}
	}
	in := n.in
	if in == nil {
		return false
	}
	if source(n) {
		if in.Flow == isa.Branch {
			need(v.o.tested(n.loc))
		} else {
			need(holder(in.Source))
		}
	}
	written := in.Written
	if n.calls {
		written |= v.o.arch.clobbered(n.callee)
	}
	moved := int64(0)
	var replaced []holder
	effects := v.o.effects(n)
	for k := range effects {
		e := &effects[k]
		switch e.Op {
		case isa.NoOp, isa.Lost, isa.StoreAt:
		case isa.Compare, isa.CompareImm:
			field := v.o.comparedIn(n.loc)
			replaced = append(replaced, field)
			if v.o.withZero(n.loc, e) && out.has(field) {
				need(holder(e.A))
			}
		case isa.Store:
			replaced = append(replaced, slot(e.Imm))
			// the frame may move in the same instruction
			if out.has(slot(e.Imm).moved(v.o, in)) {
				need(holder(e.A))
			}
		case isa.Load:
			if out.has(holder(e.Dst)) {
				need(slot(e.Imm))
			}
		default:
			if e.Op == isa.AddImm && e.Dst == e.A && v.o.isStack(e.Dst) {
				moved = e.Imm
				continue
			}
			record := v.o.record(n.loc, in)
			if record {
				replaced = append(replaced, compared)
			}
			if e.Dst >= 0 && out.has(holder(e.Dst)) || record && out.has(compared) {
				need(holder(e.A))
				if e.Op != isa.Insert16 && e.Op != isa.RotateMask64 && e.Op != isa.LoadConst {
					need(holder(e.B))
				}
			}
		}
	}
	if n.calls && out.has(0) && slices.Contains(v.o.arch.translates, n.callee) {
		need(0)
	}
	for r := out.regs; r != 0; r &= r - 1 {
		h := holder(trailing(r))
		if written>>uint(h)&1 == 0 || in.Conditional {
			need(h)
		}
	}
	for _, h := range out.slots {
		if n.calls && h.lostInCall() {
			continue
		}
		before := h
		if h >= slots {
			before += holder(moved)
		}
		if in.Conditional || !slices.Contains(replaced, before) {
			need(before)
		}
	}
	return grew
}

// moved renumbers a slot by what the instruction adds to the stack pointer.
func (h holder) moved(o *object, in *isa.Insn) holder {
	for k := range in.Effects[:in.NumEffects] {
		e := &in.Effects[k]
		if e.Op == isa.AddImm && e.Dst == e.A && o.isStack(e.Dst) {
			return h - holder(e.Imm)
		}
	}
	return h
}

// explore walks all paths, each instruction once for every state that reaches it,
// nearest first, so that the first path to a problem is a shortest one.
func (v *verdict) explore() {
	o := v.o
	first := state{stack: 1, from: -1, which: -1}
	first.Open = o.startsOpen(v.f)
	v.nodes[0].states = append(v.nodes[0].states, first)
	type item struct{ node, state int32 }
	queue := []item{{0, 0}}
	seen := newObservations()
	for head := 0; head < len(queue); head++ {
		if head >= maxSteps {
			v.gaveUp = true
			break
		}
		at := queue[head]
		n := v.nodes[at.node]
		if n.in == nil {
			continue
		}
		o.spent++
		before := &n.states[at.state]
		after, goesOn := v.step(at.node, at.state, seen)
		if !goesOn {
			continue
		}
		for _, e := range n.succ {
			if o.never(n, e.kind, before) {
				continue
			}
			next := after
			if e.kind == faults || e.kind == patched {
				next = *before
			}
			next.from, next.which = at.node, at.state
			to := v.nodes[e.to]
			next.values = keep(next.values, to)
			if slices.ContainsFunc(to.states, func(s state) bool { return s.same(&next) }) {
				continue
			}
			if len(to.states) >= maxStates {
				v.gaveUp = true
				continue
			}
			to.states = append(to.states, next)
			queue = append(queue, item{e.to, int32(len(to.states) - 1)})
			before = &n.states[at.state]
		}
	}
	seen.into(v)
}

// keep leaves only the values that are needed at n.
func keep(values []binding, n *node) []binding {
	if len(values) == 0 {
		return nil
	}
	wanted := func(b binding) bool {
		if b.v.kind == truth || b.v.kind == truthAt {
			return n.truths.has(b.in)
		}
		return n.needs.has(b.in)
	}
	if n.truths.regs != 0 {
		// A copy of a flag may be made by setting it where it is known.
		for i, b := range values {
			if b.v == (value{constant, 1}) && n.truths.has(b.in) && !n.needs.has(b.in) {
				values = slices.Clone(values)
				values[i].v = value{kind: truth}
			}
		}
	}
	if !slices.ContainsFunc(values, func(b binding) bool { return !wanted(b) }) {
		return values
	}
	var kept []binding
	for _, b := range values {
		if wanted(b) {
			kept = append(kept, b)
		}
	}
	return kept
}
