package isa

import "math/bits"

// The fields of 16-bit encodings.
func tRd(w uint32) Reg     { return Reg(w & 7) }      // bits 2:0: Rd, Rt, Rdn
func tRn(w uint32) Reg     { return Reg(w >> 3 & 7) } // bits 5:3: Rn, Rm of two operands
func tRm(w uint32) Reg     { return Reg(w >> 6 & 7) } // bits 8:6
func tRd8(w uint32) Reg    { return Reg(w >> 8 & 7) } // bits 10:8
func tRdHi(w uint32) Reg   { return Reg(w>>7&1<<3 | w&7) }
func tRm4(w uint32) Reg    { return Reg(w >> 3 & 15) }
func tImm8(w uint32) int64 { return int64(w & 0xff) }
func tImm5(w uint32) int64 { return int64(w >> 6 & 31) }

func tWritesRd(in *Insn, w uint32) { in.writes(tRd(w)) }

func tShift(kind uint32) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { mReg(in, Move, tRd(w), 0, tRn(w), kind, w>>6&31) }
}

func tReg3(op Op) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { in.set3(op, tRd(w), tRn(w), tRm(w)) }
}

func tReg2(op Op) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { in.set3(op, tRd(w), tRd(w), tRn(w)) }
}

func tImm3(sign int64) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { in.set(AddImm, tRd(w), tRn(w), sign*int64(w>>6&7)) }
}

func tImm8To(sign int64) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { in.set(AddImm, tRd8(w), tRd8(w), sign*tImm8(w)) }
}

func tAddHi(in *Insn, w uint32) {
	rd, rm := tRdHi(w), tRm4(w)
	if rd == ARMPC {
		in.Flow = JumpIndirect
		return
	}
	mReg(in, Add, rd, rd, rm, 0, 0)
}

func tMovHi(in *Insn, w uint32) {
	rd, rm := tRdHi(w), tRm4(w)
	mReg(in, Move, rd, 0, rm, 0, 0)
	if rd == ARMPC {
		mToPC(in, false, rm == ARMLR)
		in.Source = rm
	}
}

// tAt is a load or store with a scaled immediate of five bits.
func tAt(load bool, width int64) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { mTransfer(in, load, tRd(w), tRn(w), tImm5(w)*width, width, 0) }
}

func tAtSP(load bool) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { mTransfer(in, load, tRd8(w), ARMSP, tImm8(w)*4, 4, 0) }
}

func tLoadReg(width int64) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		in.Memory = Reads
		in.effect(Effect{Op: LoadIndexed, Dst: tRd(w), A: tRn(w), B: tRm(w), Imm: int64(uint8(width))})
	}
}

func tCompareBranch(when Condition) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		in.jump(Branch, int64(w>>9&1<<6|w>>3&31<<1)+4)
		in.When = when
		in.set(CompareImm, NoReg, tRd(w), 0)
	}
}

func tPush(in *Insn, w uint32) {
	list := w&0xff | w>>8&1<<14
	size := int64(bits.OnesCount32(list)) * 4
	mMultiple(in, false, ARMSP, list, -size, -size, false)
}

func tPop(in *Insn, w uint32) {
	list := w&0xff | w>>8&1<<15
	mMultiple(in, true, ARMSP, list, 0, int64(bits.OnesCount32(list))*4, false)
}

func tMultiple(load bool) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		mMultiple(in, load, tRd8(w), w&0xff, 0, int64(bits.OnesCount32(w&0xff))*4, false)
	}
}

// The fields of 32-bit encodings, the first halfword in the high bits.
func wRd(w uint32) Reg { return Reg(w >> 8 & 15) }
func wRn(w uint32) Reg { return Reg(w >> 16 & 15) }
func wRm(w uint32) Reg { return Reg(w & 15) }
func wRt(w uint32) Reg { return Reg(w >> 12 & 15) }

func wImm5(w uint32) uint32  { return w>>12&7<<2 | w>>6&3 }
func wImm12(w uint32) uint32 { return w>>26&1<<11 | w>>12&7<<8 | w&0xff }
func wImm16(w uint32) uint32 { return w>>16&15<<12 | wImm12(w) }

func wWritesRd(in *Insn, w uint32) { mWrites(in, wRd(w)) }

// wExpandImm is ThumbExpandImm() of section A6.3.2.
func wExpandImm(w uint32) uint32 {
	imm := wImm12(w)
	b := imm & 0xff
	if imm>>10 == 0 {
		return [4]uint32{b, b<<16 | b, b<<24 | b<<8, b<<24 | b<<16 | b<<8 | b}[imm>>8&3]
	}
	return bits.RotateLeft32(0x80|imm&0x7f, -int(imm>>7))
}

func wImm(op Op) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { mImm(in, op, wRd(w), wRn(w), wExpandImm(w), 0) }
}

func wReg(op Op) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { mReg(in, op, wRd(w), wRn(w), wRm(w), w>>4&3, wImm5(w)) }
}

// wTransfer is a load or store of one register; wide is the 12-bit form.
func wTransfer(load bool, width int64) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		if wRn(w) == ARMPC { // a literal: U is bit 23
			imm := int64(w & 0xfff)
			if w>>23&1 == 0 {
				imm = -imm
			}
			mTransfer(in, load, wRt(w), ARMPC, imm, width, 0)
			return
		}
		if w>>23&1 != 0 {
			mTransfer(in, load, wRt(w), wRn(w), int64(w&0xfff), width, 0)
			return
		}
		imm, pre, writeBack := int64(w&0xff), w>>10&1 != 0, w>>8&1 != 0
		if w>>9&1 == 0 {
			imm = -imm
		}
		at := imm
		if !pre {
			at = 0
		}
		mTransfer(in, load, wRt(w), wRn(w), at, width, 0)
		if writeBack {
			mMoveBase(in, wRn(w), imm)
		}
	}
}

func wTransferReg(load bool, width int64) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		if !load {
			in.Memory = Writes
			return
		}
		in.Memory = Reads
		in.effect(Effect{Op: LoadIndexed, Dst: wRt(w), A: wRn(w), B: wRm(w), Imm: int64(w>>4&3)<<8 | int64(uint8(width))})
		if wRt(w) == ARMPC {
			in.Flow = JumpIndirect
			if wRn(w) == ARMSP {
				in.Flow = Return
			}
			in.Written &^= 1 << ARMPC
		}
	}
}

func wDual(load bool) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		imm, pre := int64(w&0xff)*4, w>>24&1 != 0
		if w>>23&1 == 0 {
			imm = -imm
		}
		at := imm
		if !pre {
			at = 0
		}
		rt, rt2 := wRt(w), wRd(w)
		if rt == ARMPC || rt2 == ARMPC { // unpredictable
			in.Memory = Reads | Writes
			return
		}
		mTransfer(in, load, rt, wRn(w), at, 4, 0)
		mTransfer(in, load, rt2, wRn(w), at+4, 4, 0)
		if w>>21&1 != 0 {
			mMoveBase(in, wRn(w), imm)
		}
	}
}

func wMultiple(down bool) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		list := w & 0xffff
		size := int64(bits.OnesCount32(list)) * 4
		first, moved := int64(0), size
		if down {
			first, moved = -size, -size
		}
		if w>>21&1 == 0 {
			moved = 0
		}
		mMultiple(in, w>>20&1 != 0, wRn(w), list, first, moved, false)
	}
}

// wTable is tbb and tbh: pc + 2 * the entry.
func wTable(in *Insn, w uint32) {
	in.Flow, in.Memory = JumpIndirect, Reads
	width := int64(1) << (w >> 4 & 1)
	in.effect(Effect{Op: LoadIndexed, Dst: ARMPC, A: wRn(w), B: wRm(w), Imm: (width-1)<<8 | width})
	in.Written &^= 1 << ARMPC
}

func wBranchCond(in *Insn, w uint32) { // S:J2:J1:imm6:imm11:0
	in.jump(Branch, signed(w>>26&1<<20|w>>11&1<<19|w>>13&1<<18|w>>16&0x3f<<12|w&0x7ff<<1, 21)+4)
	in.When = aWhen(w >> 22)
}

// wImm25 is S:I1:I2:imm10:imm11:0, I = not (J xor S).
func wImm25(w uint32) int64 {
	s := w >> 26 & 1
	i1, i2 := ^(w>>13^s)&1, ^(w>>11^s)&1
	return signed(s<<24|i1<<23|i2<<22|w>>16&0x3ff<<12|w&0x7ff<<1, 25)
}
