package object

import (
	"math/bits"

	"uabot/checks/window"
	"uabot/checks/window/object/isa"
)

// value is what is known of a register or stack slot.
type value struct {
	kind valueKind
	bits uint64
}

type valueKind uint8

const (
	unknown  valueKind = iota
	constant           // bits
	atLeast            // an unknown number in which bits are set
	masked             // an unknown number with no other bits than bits set
	saved              // the window register as it was; bits is 1 if a window was open
	allows             // the window register with user access allowed ...
	denies             // ... and denied, everything else as it was
	kernelTT           // arm64: made of TTBR1, the kernel's own translation table
	reserved           // arm64: the address of reserved_pg_dir
	truth              // of a flag that is true once the kernel has booted
	truthAt            // the address of such a flag
)

// compute is the value of an effect's destination.
func (o *object) compute(in *isa.Insn, e *isa.Effect, a, b value, s *state) value {
	switch {
	case a.kind == truth || a.kind == truthAt:
		byteOf := e.Op == isa.RotateMask && e.Imm&31 == 0 && e.Imm>>32&0xff == 0xff ||
			e.Op == isa.AndImm && e.Imm&0xff == 0xff || e.Op == isa.RotateMask64 && e.B == 0 && e.Imm&0xff == 0xff
		if e.Op == isa.Move || e.Op == isa.AddImm && e.Imm == 0 || e.Op == isa.Or && e.A == e.B || a.kind == truth && byteOf {
			return a
		}
		return value{}
	case b.kind == truth || b.kind == truthAt:
		return value{}
	case o.arch.eval != nil:
		if v, ok := o.arch.eval(in, e, a, b, s); ok {
			return v
		}
	}
	num := func(n uint64) value {
		if o.long() == 4 {
			n = uint64(uint32(n))
		}
		return value{constant, n}
	}
	imm := uint64(e.Imm)
	ca, cb := a.kind == constant, b.kind == constant
	switch e.Op {
	case isa.Const:
		return num(imm)
	case isa.Move:
		return a
	case isa.ReadControl:
		if s.Open {
			return value{saved, 1}
		}
		return value{saved, 0}
	case isa.AddImm:
		if imm == 0 {
			return a
		}
		if ca {
			return num(a.bits + imm)
		}
	case isa.OrImm:
		return or(a, value{constant, imm})
	case isa.Or:
		return or(a, b)
	case isa.AndImm:
		return and(a, value{constant, imm})
	case isa.And:
		return and(a, b)
	case isa.XorImm:
		if ca {
			return num(a.bits ^ imm)
		}
	case isa.ShiftLeft:
		if ca {
			return num(a.bits << (imm & 63))
		}
	case isa.ShiftRight:
		if ca {
			return num(a.bits >> (imm & 63))
		}
	case isa.Xor:
		if ca && cb {
			return num(a.bits ^ b.bits)
		}
	case isa.Add:
		if ca && cb {
			return num(a.bits + b.bits)
		}
	case isa.Sub:
		if ca && cb {
			return num(a.bits - b.bits)
		}
	case isa.Insert16:
		if ca {
			sh := uint(e.B) & 63
			return num(a.bits&^(0xffff<<sh) | imm&0xffff<<sh)
		}
	case isa.RotateMask:
		if ca {
			return num(uint64(bits.RotateLeft32(uint32(a.bits), int(imm&31)) & uint32(imm>>32)))
		}
	case isa.RotateMask64:
		if ca {
			return num(bits.RotateLeft64(a.bits, int(e.B)) & imm)
		}
	case isa.Insert:
		if ca && cb {
			r := bits.RotateLeft64(b.bits, int(e.Shift))
			if o.long() == 4 {
				r = uint64(bits.RotateLeft32(uint32(b.bits), int(e.Shift)))
			}
			return num(a.bits&^imm | r&imm)
		}
	}
	return value{}
}

func or(a, b value) value {
	if b.kind != constant {
		a, b = b, a
	}
	switch {
	case b.kind != constant:
		return value{}
	case a.kind == constant:
		return value{constant, a.bits | b.bits}
	case a.kind == atLeast:
		return value{atLeast, a.bits | b.bits}
	case b.bits != 0:
		return value{atLeast, b.bits}
	}
	return a
}

func and(a, b value) value {
	if b.kind != constant {
		a, b = b, a
	}
	switch {
	case b.kind != constant:
		return value{}
	case a.kind == constant || a.kind == masked:
		return value{a.kind, a.bits & b.bits}
	}
	return value{masked, b.bits}
}

// powerpc 8xx: arch/powerpc/include/asm/nohash/32/kup-8xx.h and mmu-8xx.h.
const (
	mdAPGInit = 0xdc000000 // MD_APG_INIT: user access allowed
	mdAPGKUAP = 0xde000000 // MD_APG_KUAP: denied
)

func classifyMDAP(o *object, l loc, in *isa.Insn, v value) step {
	switch {
	case !o.inKUAP(l):
		return step{}
	case v.kind == saved:
		return step{what: restores, saved: v.bits == 1}
	case v.kind == constant && v.bits == mdAPGInit:
		return step{what: opens}
	case v.kind == constant && v.bits == mdAPGKUAP:
		return step{what: closes}
	}
	return step{what: unclear}
}

// powerpc booke: arch/powerpc/include/asm/nohash/kup-booke.h: the PID register holds
// thread.pid while a window is open, 0 otherwise.
func classifyPID(o *object, l loc, in *isa.Insn, v value) step {
	switch {
	case !o.inKUAP(l):
		return step{}
	case v.kind == constant && v.bits == 0:
		return step{what: closes}
	}
	return step{what: opens}
}

// powerpc book3s64: arch/powerpc/include/asm/book3s/64/kup.h.
const (
	amrBlockRead  = 0x5455555555555555
	amrBlockWrite = 0xa8aaaaaaaaaaaaaa
	amrBlocked    = amrBlockRead | amrBlockWrite
)

func classifyAMR(o *object, l loc, in *isa.Insn, v value) step {
	switch v.kind {
	case saved:
		return step{what: restores, saved: v.bits == 1}
	case constant, atLeast:
		r, w := v.bits&amrBlockRead == amrBlockRead, v.bits&amrBlockWrite == amrBlockWrite
		switch {
		case r && w:
			return step{what: closes}
		case w:
			return step{what: opens, kind: window.Read}
		case r:
			return step{what: opens, kind: window.Write}
		case v.kind == constant:
			return step{what: opens, kind: window.ReadWrite}
		}
	}
	return step{what: opens} // thread.regs->amr: what the task may do anyway
}

func evalAMR(in *isa.Insn, e *isa.Effect, a, b value, s *state) (value, bool) {
	if a.kind == saved && e.Op != isa.Move && !(e.Op == isa.AddImm && e.Imm == 0) && !(e.Op == isa.Or && e.A == e.B) {
		return value{}, true
	}
	return value{}, false
}

// powerpc book3s32: arch/powerpc/include/asm/book3s/32/kup.h; bit 1 of a segment
// register, Ks, denies the access.
const srKs = 0x40000000

func classifySegment(o *object, l loc, in *isa.Insn, v value) step {
	switch {
	case !o.inKUAP(l):
		return step{}
	case v.kind == allows:
		return step{what: opens, kind: window.Write}
	case v.kind == denies:
		return step{what: closes}
	}
	return step{what: unclear}
}

func evalSegment(in *isa.Insn, e *isa.Effect, a, b value, s *state) (value, bool) {
	if a.kind != saved && a.kind != allows && a.kind != denies {
		return value{}, false
	}
	switch {
	case e.Op == isa.RotateMask && e.Imm&31 == 0 && uint64(e.Imm)>>32&srKs == 0,
		e.Op == isa.AndImm && e.Imm&srKs == 0:
		return value{kind: allows}, true
	case e.Op == isa.OrImm && e.Imm&srKs != 0:
		return value{kind: denies}, true
	case e.Op == isa.RotateMask && e.Imm&31 == 0, e.Op == isa.OrImm, e.Op == isa.Move:
		return a, true
	}
	return value{}, true
}

// riscv: arch/riscv/include/asm/csr.h.
const sstatusSUM = 0x40000

func classifySSTATUS(o *object, l loc, in *isa.Insn, v value) step {
	if in.Source == isa.NoReg {
		v = value{constant, in.SourceImm}
	}
	switch {
	case in.Window == isa.Write:
		return step{} // the API never writes the whole register: other fields are meant
	case (v.kind == constant || v.kind == masked) && v.bits&sstatusSUM == 0:
		return step{} // interrupts on or off
	case v.kind != constant:
		return step{what: unclear}
	case in.Window == isa.SetBits:
		return step{what: opens}
	}
	return step{what: closes}
}

// evalMask: what was read of sstatus is followed through masks only.
func evalMask(in *isa.Insn, e *isa.Effect, a, b value, s *state) (value, bool) {
	return value{}, e.Op == isa.ReadControl
}

// arm: arch/arm/include/asm/domain.h, uaccess.h: two bits of DACR for each domain, that
// of user memory in bits 2 and 3: DOMAIN_CLIENT (1) opens, DOMAIN_NOACCESS (0) closes.
const dacrUser, dacrClient = 0xc, 0x4

func classifyDACR(o *object, l loc, in *isa.Insn, v value) step {
	switch v.kind {
	case saved:
		return step{what: restores, saved: v.bits == 1}
	case allows:
		return step{what: opens}
	case denies:
		return step{what: closes}
	case constant:
		if v.bits&dacrUser == dacrClient {
			return step{what: opens}
		}
		return step{what: closes}
	}
	return step{what: unclear}
}

func evalDACR(in *isa.Insn, e *isa.Effect, a, b value, s *state) (value, bool) {
	mask := uint32(e.Imm)
	switch e.Op {
	case isa.And, isa.Or:
		if b.kind != constant {
			a, b = b, a
		}
		if b.kind != constant {
			return value{}, a.kind == saved || a.kind == allows || a.kind == denies
		}
		mask = uint32(b.bits)
	case isa.Insert:
		if mask&dacrUser == dacrUser && b.kind == constant {
			if bits.RotateLeft32(uint32(b.bits), int(e.Shift))&dacrUser == dacrClient {
				return value{kind: allows}, true
			}
			return value{kind: denies}, true
		}
	}
	if a.kind != saved && a.kind != allows && a.kind != denies {
		return value{}, false
	}
	switch e.Op {
	case isa.AndImm, isa.And:
		if mask&dacrUser == 0 {
			return value{kind: denies}, true
		}
		return a, true
	case isa.OrImm, isa.Or:
		if mask&dacrUser == dacrClient {
			return value{kind: allows}, true
		}
		return a, true
	case isa.Move:
		return a, true
	case isa.AddImm:
		if e.Imm == 0 {
			return a, true
		}
	}
	return value{}, true
}

// arm64: arch/arm64/include/asm/uaccess.h: TTBR0 is the task's table while a window is
// open, else reserved_pg_dir, which lies beside the kernel's table in TTBR1.
func classifyTTBR0(o *object, l loc, in *isa.Insn, v value) step {
	if in.Control != isa.TTBR0 {
		return step{}
	}
	switch v.kind {
	case kernelTT:
		return step{what: closes}
	case reserved:
		return step{what: seals}
	}
	return step{what: opens}
}

func evalTTBR(in *isa.Insn, e *isa.Effect, a, b value, s *state) (value, bool) {
	if e.Op == isa.ReadControl {
		if in.Control == isa.TTBR1 {
			return value{kind: kernelTT}, true
		}
		return value{}, true
	}
	for _, v := range []value{a, b} {
		if v.kind == kernelTT || v.kind == reserved {
			return v, true
		}
	}
	return value{}, false
}

// mixed is an effect of which only the sources are known.
const mixed isa.Op = 1 << 7

// effects are those of n's instruction. For arm64 they include which registers a shifted
// operation or a bit field is made of, where the decoder leaves out how: a translation
// table stays what it is when bits of its address move (phys_to_ttbr()).
func (o *object) effects(n *node) []isa.Effect {
	in := n.in
	if in.NumEffects > 0 || o.arch.control != isa.TTBR0 || in.Written == 0 || in.Flow != isa.Next {
		return in.Effects[:in.NumEffects]
	}
	w, _ := o.word(o.sections[n.loc.sec()].data, n.loc.off(), 4)
	e := isa.Effect{Op: mixed, Dst: isa.Reg(w & 31), A: isa.Reg(w >> 5 & 31), B: isa.NoReg}
	switch {
	case w&0x1e000000 == 0x0a000000: // logical, add and sub (shifted register): DDI 0487 C4.1.95
		e.B = isa.Reg(w >> 16 & 31)
	case w&0x1f800000 == 0x13000000: // bit field: C4.1.93; bfm keeps a part of Rd
		if w>>29&3 == 1 {
			e.B = e.Dst
		}
	case w&0x1f800000 == 0x13800000: // extract
		e.B = isa.Reg(w >> 16 & 31)
	default:
		return nil
	}
	return []isa.Effect{e}
}
