package object

import (
	"debug/elf"
	"slices"
	"strings"

	"uabot/checks/window/object/isa"
)

// lookBack bounds the instructions before an indirect jump that are searched for how
// it finds its table.
const lookBack = 400

// table lists where the indirect jump n goes, nil if no table is found.
//
// How compilers build tables (gcc 12, clang 19; -O2):
//   - x86: jmp *table(,reg,8), words with an absolute relocation in .rodata; or PC32
//     against the start of the table in code that may be moved
//   - powerpc 32: words in .rodata, REL32 against the start of the table
//   - powerpc 64: words in .text relative to the table without relocations, or in .rodata
//     with; its address from .toc
//   - riscv: words in .rodata, ADD32 target and SUB32 table; addresses with clang
//   - arm64: 1, 2 or 4 bytes in .rodata, times 4, relative to an adr
//   - arm: words behind the jump (A32), bytes or halfwords behind it (T32 tbb, tbh)
func (g *graph) table(n *node) []loc {
	switch g.o.machine {
	case elf.EM_ARM:
		return g.tableBehind(n)
	case elf.EM_AARCH64:
		return g.tableOfOffsets(n)
	case elf.EM_386, elf.EM_X86_64:
		if x, ok := g.o.branchReloc(n.loc, n.in); ok {
			return g.tableOfWords(n.loc, x)
		}
	}
	var targets []loc
	g.before(n, func(m *node) bool {
		if x, ok := g.o.branchReloc(m.loc, m.in); ok {
			targets = g.tableOfWords(m.loc, x)
		}
		return targets != nil
	})
	return targets
}

// before visits the instructions from which n is reached, nearest first, until f is
// satisfied.
func (g *graph) before(n *node, f func(*node) bool) {
	preds := g.preds()
	queue := []int32{g.index[n.loc]}
	seen := map[int32]bool{queue[0]: true}
	for i := 0; i < len(queue) && i < lookBack; i++ {
		if m := g.nodes[queue[i]]; m.in != nil && f(m) {
			return
		}
		for _, p := range preds[queue[i]] {
			if !seen[p] {
				seen[p] = true
				queue = append(queue, p)
			}
		}
	}
}

// preds lists the predecessors of every node.
func (g *graph) preds() [][]int32 {
	preds := make([][]int32, len(g.nodes))
	for i, n := range g.nodes {
		for _, e := range n.succ {
			preds[e.to] = append(preds[e.to], int32(i))
		}
	}
	return preds
}

// inside reports whether l is an instruction of the function.
func (g *graph) inside(l loc) bool {
	return g.f.owns(g.o.functionAt(l)) && g.o.insn(l) != nil
}

// tableOfWords reads the table whose address the relocation x of an instruction at l
// gives.
func (g *graph) tableOfWords(l loc, x reloc) []loc {
	o := g.o
	s := &o.symbols[x.sym]
	addend := o.addend(l.sec(), x)
	if s.sec == 0 {
		return nil
	}
	start, ok := o.place(s, addend)
	if !ok {
		return nil
	}
	sec := &o.sections[start.sec()]
	if strings.HasPrefix(sec.name, ".toc") {
		if start, _, ok = o.pointer(start.sec(), start.off()); !ok {
			return nil
		}
		sec = &o.sections[start.sec()]
	}
	switch {
	case sec.code() && g.f.owns(o.functionAt(start)):
		return g.tableInText(start)
	case !o.isTable(start.sec()):
		return nil
	}
	width := uint64(4)
	if e, ok := o.within(start.sec(), start.off(), start.off()+1); ok {
		if how, ok := dataRelocs[o.machine][e.kind]; ok && how.how == '=' {
			width = uint64(how.width) // addresses
		}
	}
	var targets []loc
	end := o.nextTable(start)
	for off := start.off(); off+width <= end; off += width {
		e, ok := o.within(start.sec(), off, off+1)
		if !ok || o.symbols[e.sym].sec == 0 {
			break
		}
		addend := o.addend(start.sec(), e)
		switch {
		case (o.machine == elf.EM_PPC || o.machine == elf.EM_PPC64) && e.kind == uint32(elf.R_PPC_REL32),
			o.machine == elf.EM_X86_64 && e.kind == uint32(elf.R_X86_64_PC32):
			addend -= int64(off - start.off()) // relative to the field; wanted is to the table
		}
		to, ok := o.place(&o.symbols[e.sym], addend)
		if !ok || !g.inside(to) {
			break
		}
		targets = append(targets, to)
	}
	return targets
}

// tableInText reads words that are relative to the table, which ends where the code
// that it leads to begins.
func (g *graph) tableInText(start loc) []loc {
	o := g.o
	if o.machine != elf.EM_PPC64 {
		return nil
	}
	var targets []loc
	end := at(start.sec(), uint64(len(o.sections[start.sec()].data)))
	for l := start; l+4 <= end; l += 4 {
		w, _ := o.word(o.sections[l.sec()].data, l.off(), 4)
		to := start.add(int64(int32(w)))
		if !g.inside(to) {
			break
		}
		if to > start {
			end = min(end, to)
		}
		targets = append(targets, to)
	}
	return targets
}

// tableOfOffsets reads an arm64 table: the jump goes to base + entry * 4.
func (g *graph) tableOfOffsets(n *node) []loc {
	o := g.o
	var base, start loc = nowhere, nowhere
	width, bound := int8(0), int64(-1)
	g.before(n, func(m *node) bool {
		x, relocated := o.branchReloc(m.loc, m.in)
		for _, e := range m.in.Effects[:m.in.NumEffects] {
			switch {
			case e.Op == isa.Address && !relocated && base == nowhere:
				base = m.loc.add(e.Imm)
			case e.Op == isa.LoadIndexed && width == 0:
				width = int8(e.Imm)
			case e.Op == isa.CompareImm && bound < 0:
				bound = e.Imm
			}
		}
		if relocated && start == nowhere && x.kind == uint32(elf.R_AARCH64_ADD_ABS_LO12_NC) {
			if l, ok := o.place(&o.symbols[x.sym], x.addend); ok && o.isTable(l.sec()) {
				start = l
			}
		}
		return base != nowhere && start != nowhere && width != 0 && bound >= 0
	})
	size := uint64(max(width, -width))
	if base == nowhere || start == nowhere || size == 0 {
		return nil
	}
	var targets []loc
	data, end := o.sections[start.sec()].data, o.nextTable(start)
	for off := start.off(); off+size <= end && (bound < 0 || int64(len(targets)) <= bound); off += size {
		w, _ := o.word(data, off, int(size))
		var entry int64
		switch width {
		case 1:
			entry = int64(uint8(w))
		case -1:
			entry = int64(int8(w))
		case 2:
			entry = int64(uint16(w))
		case -2:
			entry = int64(int16(w))
		default:
			entry = int64(int32(w))
		}
		// An unsigned load is followed by an add with sign extension where gcc
		// chose the smaller form: both readings are tried.
		to := base.add(entry * 4)
		if !g.inside(to) {
			switch width {
			case 1:
				to = base.add(int64(int8(w)) * 4)
			case 2:
				to = base.add(int64(int16(w)) * 4)
			}
		}
		if !g.inside(to) {
			break
		}
		targets = append(targets, to)
	}
	return targets
}

// tableBehind reads the tables of arm, which follow the jump.
func (g *graph) tableBehind(n *node) []loc {
	o := g.o
	var e *isa.Effect
	for i := range n.in.Effects[:n.in.NumEffects] {
		if op := n.in.Effects[i].Op; op == isa.LoadIndexed || op == isa.AddShifted {
			e = &n.in.Effects[i]
		}
	}
	if e == nil {
		return nil
	}
	var targets []loc
	size := int64(max(int8(e.Imm), -int8(e.Imm)))
	switch {
	case e.Op == isa.AddShifted: // branches, one after the other
		for l := n.loc.add(8); g.inside(l) && o.insn(l).Flow == isa.Jump; l = l.add(4) {
			targets = append(targets, l)
		}
	case size == 4:
		for l := n.loc.add(8); ; l = l.add(4) {
			to, _, ok := o.pointer(l.sec(), l.off())
			if !ok || !g.inside(to) {
				break
			}
			targets = append(targets, to)
		}
	case size == 1 || size == 2: // tbb, tbh
		bound := int64(-1)
		g.before(n, func(m *node) bool {
			for _, e := range m.in.Effects[:m.in.NumEffects] {
				if e.Op == isa.CompareImm {
					bound = e.Imm
				}
			}
			return bound >= 0
		})
		start := n.loc.add(4)
		for i := int64(0); i <= bound; i++ {
			w, ok := o.word(o.sections[start.sec()].data, start.off()+uint64(i*size), int(size))
			to := start.add(2 * int64(w))
			if !ok || !g.inside(to) {
				break
			}
			targets = append(targets, to)
		}
	}
	return targets
}

// isTable reports whether section sec may hold jump tables.
func (o *object) isTable(sec int) bool {
	s := &o.sections[sec]
	return s.constant() && !strings.HasPrefix(s.name, ".rodata.str") && !strings.HasPrefix(s.name, ".rodata.cst")
}

// nextTable is the offset of the next thing behind start that code refers to: a table
// ends there at the latest.
func (o *object) nextTable(start loc) uint64 {
	if o.constants == nil {
		o.constants = map[int][]uint64{}
		for i := range o.sections {
			if !o.sections[i].code() {
				continue
			}
			r := &o.sections[i].relocs
			for j := range r.len() {
				x := r.at(j)
				if x.sym >= len(o.symbols) || o.symbols[x.sym].sec == 0 || !o.isTable(o.symbols[x.sym].sec) {
					continue
				}
				if to, ok := o.place(&o.symbols[x.sym], o.addend(i, x)); ok {
					o.constants[to.sec()] = append(o.constants[to.sec()], to.off())
				}
			}
		}
		for _, list := range o.constants {
			slices.Sort(list)
		}
	}
	list := o.constants[start.sec()]
	if i, _ := slices.BinarySearch(list, start.off()+1); i < len(list) {
		return list[i]
	}
	return uint64(len(o.sections[start.sec()].data))
}

// guessTables links indirect jumps without a table to the code of the function that
// nothing else reaches. Where there is none, the jump leaves the function.
func (g *graph) guessTables() {
	var open []*node
	for _, i := range g.jumps {
		n := g.nodes[i]
		if !slices.ContainsFunc(n.succ, func(e edge) bool { return e.kind == selects }) {
			open = append(open, n)
		}
	}
	if len(open) == 0 {
		return
	}
	for range 64 {
		targets := g.orphans()
		if len(targets) == 0 {
			break
		}
		for _, to := range targets {
			for _, n := range open {
				g.link(n, to, selects)
			}
		}
		g.follow()
	}
	for _, n := range open {
		n.tail = !slices.ContainsFunc(n.succ, func(e edge) bool { return e.kind == selects })
	}
}

// orphans lists the starts of unreached code: what follows an instruction that never
// goes on, and is no target of other unreached code.
func (g *graph) orphans() []loc {
	o := g.o
	var starts []loc
	targets := map[loc]bool{}
	for _, span := range g.f.spans() {
		f := o.entries[span.from]
		s := o.stretch(f)
		goesOn := true
		for i := range s.insns {
			l, in := s.locs[i], &s.insns[i]
			node, reached := g.index[l]
			if !reached {
				if !goesOn {
					starts = append(starts, l)
				}
				if in.Flow == isa.Jump || in.Flow == isa.Branch {
					if to, external, ok := o.target(l, in); ok && external == "" {
						targets[to] = true
					}
				}
				for _, e := range o.faults[l] {
					targets[e.fixup] = true
				}
				for _, b := range o.labels[l] {
					targets[b.target] = true
				}
			}
			switch in.Flow {
			case isa.Jump, isa.Return, isa.JumpIndirect, isa.Stop:
				goesOn = false
			case isa.Trap:
				goesOn = o.bugs[l]
			default:
				goesOn = !reached || len(g.nodes[node].succ) > 0
			}
		}
	}
	return slices.DeleteFunc(starts, func(l loc) bool { return targets[l] })
}
