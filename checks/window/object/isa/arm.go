package isa

import "encoding/binary"

// a32 decodes the A32 instruction set of the Arm Architecture Reference Manual for
// ARMv7-A (DDI 0406), chapter A5, and the v8 additions to it (DDI 0487, chapter F4).
// Instructions are little endian.
//
// Registers: r0..r15 are 0..15 (sp 13, lr 14, pc 15). Flags, VFP and NEON registers are
// not reported.
//
// Stack slots: a word, the byte offset from sp before the instruction (ldr, str, ldrd,
// strd, ldm and stm of one or two registers). push and pop move sp by AddImm.
//
// Windows: mcr p15,0,rX,c3,c0,0 is Write with Control DACR and Source rX, mcr
// p15,0,rX,c2,c0,2 the same with TTBCR; mrc of them is the effect ReadControl.
//
// Constants: mov, mvn, movw, movt (Insert16), and, bic (AndImm or And after the
// complement of a constant), orr, eor, add, sub with an unshifted register or an
// immediate, bfi and bfc (Insert, AndImm).
//
// Conditional execution: Conditional is set for every condition but "always"; b is then
// Branch, bx lr, pop {pc} and ldm {pc} are BranchReturn, bx, a move or load to pc are
// BranchIndirect, bl and blx stay Call and CallIndirect.
//
// Flow: bx lr, mov pc,lr, ldm/pop/ldr from sp to pc are Return, other writes of pc
// JumpIndirect; movs pc,lr, subs pc,lr and ldm ^ with pc (exception returns), rfe, eret
// are Stop (with Conditional: they may fall through); udf (BUG) and bkpt are Trap, but
// Next where conditional. Table jumps: add pc,pc,rX,lsl #2 has the effect AddShifted
// with Dst and A pc (the table is code at insn+8), ldr pc,[pc,rX,lsl #2] the effect
// LoadIndexed with Dst and A pc (the table is at insn+8).
type a32 struct{ conditional, unconditional *table }

// ARM returns the decoder for A32.
func ARM() Decoder { return &a32{conditional: a32Table(), unconditional: a32Unconditional()} }

func (d *a32) Decode(code []byte, in *Insn) bool {
	in.reset()
	if len(code) < 4 {
		in.Len = uint8(len(code))
		return false
	}
	in.Len = 4
	w := binary.LittleEndian.Uint32(code)
	cond := w >> 28
	if cond == 15 {
		return d.unconditional.decode(in, w)
	}
	ok := d.conditional.decode(in, w)
	in.wholeWords(4)
	if cond != 14 {
		armPredicate(in, cond)
	}
	return ok
}

// armPredicate makes an instruction conditional; cond is not "always" (section A8.3).
func armPredicate(in *Insn, cond uint32) {
	in.Conditional, in.When = true, aWhen(cond)
	switch in.Flow {
	case Jump:
		in.Flow = Branch
	case Return:
		in.Flow = BranchReturn
	case JumpIndirect:
		in.Flow = BranchIndirect
	case Trap:
		in.Flow = Next
	}
}
