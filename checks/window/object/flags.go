package object

import "uabot/checks/window/object/isa"

// trueFlags are variables that are true once the kernel has booted. With
// CONFIG_JUMP_LABEL_FEATURE_CHECK_DEBUG powerpc's mmu_has_feature() warns and then reads
// the features from memory where they are not yet patched in
// (arch/powerpc/include/asm/mmu.h): code that opens a window or not by itself, and by
// another question closes it.
var trueFlags = map[string]bool{"static_key_feature_checks_initialized": true}

// hasTrueFlags reports whether the object refers to one.
func (o *object) hasTrueFlags() bool {
	if o.flagged == 0 {
		o.flagged = 1
		for i := range o.symbols {
			if trueFlags[o.symbols[i].name] {
				o.flagged = 2
			}
		}
	}
	return o.flagged == 2
}

// decides reports whether n is a branch that may test a flag. gcc asks whether it is 0,
// clang whether it is above.
func (o *object) decides(n *node) bool {
	return n.in != nil && n.in.Flow == isa.Branch && n.in.When != isa.Other
}

// never reports whether a branch on a true flag, which is 1, does not go this way.
func (o *object) never(n *node, kind edgeKind, s *state) bool {
	if kind != falls && kind != jumps || !o.decides(n) || s.value(o.tested(n.loc)).kind != truth {
		return false
	}
	switch n.in.When {
	case isa.NotEqual, isa.Above, isa.AboveEqual:
		return kind == falls
	}
	return kind == jumps
}

// flagAddress is truthAt if the instruction's relocation is to a flag.
func (o *object) flagAddress(l loc, in *isa.Insn) value {
	if o.hasTrueFlags() {
		if x, ok := o.branchReloc(l, in); ok && trueFlags[o.symbols[x.sym].name] {
			return value{kind: truthAt}
		}
	}
	return value{}
}

// withZero reports whether e compares with 0: cmpwi, cmpdi, cmplwi and cmpldi have the
// number in the low half of their word (Power ISA 3.1B, book I 3.3.10).
func (o *object) withZero(l loc, e *isa.Effect) bool {
	w, _ := o.word(o.sections[l.sec()].data, l.off(), 4)
	return (e.Op == isa.CompareImm || e.Op == isa.Compare && e.B == isa.NoReg) && w&0xffff == 0
}

// record reports whether a powerpc instruction compares its result with 0: andi., andis.,
// and those with the Rc bit (book I 3.3.13, 3.3.14).
func (o *object) record(l loc, in *isa.Insn) bool {
	if !o.hasTrueFlags() || o.arch.kernel != "powerpc" || in.Flow != isa.Next {
		return false
	}
	w, _ := o.word(o.sections[l.sec()].data, l.off(), 4)
	switch w >> 26 {
	case 28, 29:
		return true
	case 20, 21, 23, 30, 31:
		return w&1 != 0
	}
	return false
}

// comparedIn is the condition field that a powerpc comparison at l sets: BF, book I 3.3.10.
func (o *object) comparedIn(l loc) holder {
	w, _ := o.word(o.sections[l.sec()].data, l.off(), 4)
	return compared + holder(w>>23&7)
}

// tested is the condition field that a powerpc branch at l tests: BI, book I 2.4.
func (o *object) tested(l loc) holder {
	w, _ := o.word(o.sections[l.sec()].data, l.off(), 4)
	return compared + holder(w>>18&7)
}

// lostInCall reports whether h is a condition field that a call changes: all but 2 to 4
// (powerpc ELF ABIs, "Register Usage").
func (h holder) lostInCall() bool {
	return h >= compared && h < slots && (h < compared+2 || h > compared+4)
}

// byteOnStack is what stb and lbz do with a byte of the stack (powerpc, book I 3.3.2): a
// copy of a flag may be kept there. The decoder follows whole words only.
func (o *object) byteOnStack(l loc) (isa.Effect, bool) {
	w, _ := o.word(o.sections[l.sec()].data, l.off(), 4)
	if o.arch.kernel != "powerpc" || w>>16&31 != 1 {
		return isa.Effect{}, false
	}
	r, off := isa.Reg(w>>21&31), int64(int16(w))
	switch w >> 26 {
	case 38:
		return isa.Effect{Op: isa.Store, Dst: isa.NoReg, A: r, B: isa.NoReg, Imm: off}, true
	case 34:
		return isa.Effect{Op: isa.Load, Dst: r, A: isa.NoReg, B: isa.NoReg, Imm: off}, true
	}
	return isa.Effect{}, false
}
