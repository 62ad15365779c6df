package object

import (
	"math/bits"

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
		// a bool: its lowest bit is what counts
		kept := e.Op == isa.RotateMask && e.Imm&31 == 0 && e.Imm>>32&1 == 1 ||
			e.Op == isa.AndImm && e.Imm&1 == 1 || e.Op == isa.RotateMask64 && e.B == 0 && e.Imm&1 == 1
		if e.Op == isa.Move || e.Op == isa.AddImm && e.Imm == 0 || e.Op == isa.Or && e.A == e.B || a.kind == truth && kept {
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

// mixed is an effect of which only the sources are known.
const mixed isa.Op = 1 << 7

// effects are those of n's instruction. For arm64 they include which registers a shifted
// operation or a bit field is made of, where the decoder leaves out how: a translation
// table stays what it is when bits of its address move (phys_to_ttbr()).
func (o *object) effects(n *node) []isa.Effect {
	in := n.in
	if o.hasTrueFlags() {
		if e, ok := o.byteOnStack(n.loc); ok {
			return []isa.Effect{e}
		}
	}
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
