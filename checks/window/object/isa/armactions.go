package isa

import "math/bits"

// The fields of A32 encodings, and of the coprocessor instructions that T32 shares.
func mRn(w uint32) Reg { return Reg(w >> 16 & 15) }
func mRd(w uint32) Reg { return Reg(w >> 12 & 15) } // also Rt
func mRm(w uint32) Reg { return Reg(w & 15) }

// mWrites adds a register that is not the program counter.
func mWrites(in *Insn, r Reg) {
	if r != ARMPC {
		in.writes(r)
	}
}

func mWritesRd(in *Insn, w uint32)  { mWrites(in, mRd(w)) }
func mWritesRn(in *Insn, w uint32)  { mWrites(in, mRn(w)) }
func mWritesTwo(in *Insn, w uint32) { mWrites(in, mRd(w)); mWrites(in, mRn(w)) }

// mExpandImm is ARMExpandImm() of section A5.2.4.
func mExpandImm(w uint32) uint32 { return bits.RotateLeft32(w&0xff, -int(w>>8&15)*2) }

// mToPC is the flow of a data-processing instruction that writes the program counter.
func mToPC(in *Insn, setFlags, fromLR bool) {
	switch {
	case setFlags:
		in.Flow = Stop // an exception return
	case fromLR:
		in.Flow, in.Source = Return, ARMLR
	default:
		in.Flow = JumpIndirect
	}
}

// mImm is rd = rn op imm; back is how far the program counter runs ahead.
func mImm(in *Insn, op Op, rd, rn Reg, imm uint32, back int64) {
	v := int64(imm)
	switch {
	case op == Sub:
		op, v = AddImm, -v
	case op == AndNot:
		op, v = AndImm, int64(^imm)
	}
	switch {
	case rd == ARMPC: // a jump, whose flow is set by the caller
	case op == NoOp, rn == ARMPC && op != AddImm && op != Const:
		in.writes(rd)
	case op == Const:
		in.set(Const, rd, NoReg, v)
	case rn == ARMPC && back == 0: // T32: the address is rounded
		in.effect(Effect{Op: Address, Dst: rd, A: ARMPC, B: NoReg, Imm: v})
	case rn == ARMPC:
		in.set(Address, rd, NoReg, v+back)
	default:
		in.set(op, rd, rn, v)
	}
}

// mReg is rd = rn op (rm shifted): shift type 0 lsl, 1 lsr, 2 asr, 3 ror or rrx.
func mReg(in *Insn, op Op, rd, rn, rm Reg, kind, amount uint32) {
	if kind == 1 && amount == 0 {
		amount = 32
	}
	plain := amount == 0 && kind == 0
	switch {
	case op == NoOp, rm == ARMPC:
		mWrites(in, rd)
	case op == Move && plain:
		if rd != ARMPC {
			in.set(Move, rd, rm, 0)
		}
	case op == Move && kind == 0 && rd != ARMPC:
		in.set(ShiftLeft, rd, rm, int64(amount))
	case op == Move && kind == 1 && rd != ARMPC:
		in.set(ShiftRight, rd, rm, int64(amount))
	case op == Add && kind == 0 && !plain && (rn != ARMPC) == (rd != ARMPC):
		in.effect(Effect{Op: AddShifted, Dst: rd, A: rn, B: rm, Imm: int64(amount)})
	case op == Move, !plain, rn == ARMPC, rd == ARMPC:
		mWrites(in, rd)
	default:
		in.set3(op, rd, rn, rm)
	}
	in.Written &^= 1 << ARMPC
}

func mDataImm(op Op) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		mImm(in, op, mRd(w), mRn(w), mExpandImm(w), 8)
		if mRd(w) == ARMPC {
			mToPC(in, w>>20&1 != 0, false)
		}
	}
}

// mMvn is mvn (immediate): a constant.
func mMvn(in *Insn, w uint32) {
	mImm(in, Const, mRd(w), 0, ^mExpandImm(w), 8)
	if mRd(w) == ARMPC {
		mToPC(in, w>>20&1 != 0, false)
	}
}

func mDataReg(op Op) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		kind, amount := w>>5&3, w>>7&31
		mReg(in, op, mRd(w), mRn(w), mRm(w), kind, amount)
		if mRd(w) == ARMPC {
			plain := op == Move && kind|amount == 0
			mToPC(in, w>>20&1 != 0, plain && mRm(w) == ARMLR)
			if plain {
				in.Source = mRm(w)
			}
		}
	}
}

// mDataShifted is a register shifted by a register; Rd is not the program counter.
func mDataShifted(in *Insn, w uint32) { mWrites(in, mRd(w)) }

func mCompareImm(in *Insn, w uint32) { in.set(CompareImm, NoReg, mRn(w), int64(mExpandImm(w))) }

func mCompareReg(in *Insn, w uint32) {
	b := mRm(w)
	if w>>4&0xff != 0 {
		b = NoReg
	}
	in.set3(Compare, NoReg, mRn(w), b)
}

func mImm16(w uint32) int64 { return int64(w>>4&0xf000 | w&0xfff) }

func mMovw(in *Insn, w uint32) { mImm(in, Const, mRd(w), 0, uint32(mImm16(w)), 8) }

func mMovt(in *Insn, w uint32) {
	if mRd(w) != ARMPC {
		in.effect(Effect{Op: Insert16, Dst: mRd(w), A: mRd(w), B: 16, Imm: mImm16(w)})
	}
}

// mBitfield is bfc and bfi of Rd from Rn: bits msb to lsb.
func mBitfield(in *Insn, rd, rn Reg, msb, lsb uint32) {
	if msb < lsb || rd == ARMPC {
		mWrites(in, rd)
		return
	}
	mask := int64((uint64(1)<<(msb-lsb+1) - 1) << lsb)
	if rn == ARMPC {
		in.set(AndImm, rd, rd, ^mask&0xffffffff)
		return
	}
	in.effect(Effect{Op: Insert, Shift: uint8(lsb), Dst: rd, A: rd, B: rn, Imm: mask})
}

// mUbfx takes width bits from lsb on, as a rotation.
func mUbfx(in *Insn, rd, rn Reg, width, lsb uint32) {
	if rd == ARMPC || rn == ARMPC || lsb+width > 32 {
		mWrites(in, rd)
		return
	}
	in.set(RotateMask, rd, rn, int64((uint64(1)<<width-1)<<32|uint64(32-lsb)&31))
}

// mJumpReg is bx, bxj.
func mJumpReg(in *Insn, rm Reg) {
	in.Flow, in.Source = JumpIndirect, rm
	if rm == ARMLR {
		in.Flow = Return
	}
}

func mCallReg(in *Insn, rm Reg) {
	in.Flow, in.Source = CallIndirect, rm
	in.writes(ARMLR)
}

// mTransfer is one load or store of a general register at imm from rn. width is
// negative where a load sign-extends; ahead is what the program counter adds, 0 where
// it is to be rounded (T32).
func mTransfer(in *Insn, load bool, rt, rn Reg, imm, width, ahead int64) {
	if !load {
		in.Memory |= Writes
		switch {
		case rn == ARMSP && width == 4 && rt != ARMPC:
			in.set(Store, NoReg, rt, imm)
		case rn == ARMSP:
			in.effect(Effect{Op: Lost, Dst: NoReg, A: NoReg, B: Reg(width), Imm: imm})
		case width == 4 && rt != ARMPC && rn != ARMPC:
			in.effect(Effect{Op: StoreAt, Dst: NoReg, A: rt, B: rn, Imm: imm})
		}
		return
	}
	in.Memory |= Reads
	switch {
	case rt == ARMPC:
		in.Flow = JumpIndirect
		if rn == ARMSP {
			in.Flow = Return
		}
	case rn == ARMSP && width == 4:
		in.set(Load, rt, NoReg, imm)
	case rn == ARMPC && ahead != 0:
		in.effect(Effect{Op: LoadConst, Dst: rt, A: NoReg, B: Reg(width), Imm: imm + ahead})
	default:
		in.effect(Effect{Op: LoadConst, Dst: rt, A: rn, B: Reg(width), Imm: imm})
	}
}

// mMoveBase is the write-back of rn.
func mMoveBase(in *Insn, rn Reg, imm int64) {
	if rn != ARMPC {
		in.set(AddImm, rn, rn, imm)
	}
}

// mIndexed is P, U and W of a single load or store, bits 24, 23, 21.
func mIndexed(in *Insn, w uint32, load bool, imm, width int64, pair bool) {
	rt, rn := mRd(w), mRn(w)
	if w>>23&1 == 0 {
		imm = -imm
	}
	pre := w>>24&1 != 0
	at := imm
	if !pre {
		at = 0
	}
	switch {
	case pair && (rt&1 != 0 || rt == ARMLR): // unpredictable
		in.Memory = Reads | Writes
	case pair:
		mTransfer(in, load, rt, rn, at, width, 8)
		mTransfer(in, load, rt+1, rn, at+4, width, 8)
	default:
		mTransfer(in, load, rt, rn, at, width, 8)
	}
	if !pre || w>>21&1 != 0 {
		mMoveBase(in, rn, imm)
	}
}

// mIndexedReg is the same with a register offset, shifted left by amount (kind 0).
func mIndexedReg(in *Insn, w uint32, load bool, width int64, kind, amount uint32) {
	rt, rn, rm := mRd(w), mRn(w), mRm(w)
	writeBack := w>>24&1 == 0 || w>>21&1 != 0
	if load {
		in.Memory |= Reads
		if !writeBack && w>>23&1 != 0 && kind == 0 && rm != ARMPC {
			in.effect(Effect{Op: LoadIndexed, Dst: rt, A: rn, B: rm, Imm: int64(amount)<<8 | int64(uint8(width))})
		} else {
			mWrites(in, rt)
		}
		if rt == ARMPC {
			in.Flow = JumpIndirect
			if rn == ARMSP {
				in.Flow = Return
			}
		}
		in.Written &^= 1 << ARMPC
	} else {
		in.Memory |= Writes
	}
	if writeBack {
		mWrites(in, rn)
	}
}

func mWord(load bool, width int64) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { mIndexed(in, w, load, int64(w&0xfff), width, false) }
}

func mWordReg(load bool, width int64) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { mIndexedReg(in, w, load, width, w>>5&3, w>>7&31) }
}

func mHalf(load bool, width int64) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { mIndexed(in, w, load, int64(w>>4&0xf0|w&15), width, false) }
}

func mHalfReg(load bool, width int64) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { mIndexedReg(in, w, load, width, 0, 0) }
}

func mDual(load bool) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { mIndexed(in, w, load, int64(w>>4&0xf0|w&15), 4, true) }
}

func mDualReg(load bool) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		if mRd(w)&1 != 0 || mRd(w) == ARMLR { // unpredictable
			in.Memory = Reads | Writes
			return
		}
		mIndexedReg(in, w, load, 4, 1, 0)
		if load {
			mWrites(in, mRd(w)+1)
		}
	}
}

// mMultiple is ldm and stm of the registers in list, from offset first of rn on;
// moved is what is added to rn, 0 for nothing; user is the S bit.
func mMultiple(in *Insn, load bool, rn Reg, list uint32, first, moved int64, user bool) {
	n := bits.OnesCount32(list)
	room := len(in.Effects)
	if moved != 0 {
		room--
	}
	if load {
		in.Memory = Reads
		in.Written |= uint64(list &^ (1 << ARMPC))
	} else {
		in.Memory = Writes
	}
	switch {
	case rn != ARMSP:
	case n > room || user || list>>ARMPC != 0:
		if !load {
			in.effect(Effect{Op: Lost, Dst: NoReg, A: NoReg, B: Reg(4 * n), Imm: first})
		}
	default:
		for rest := list; rest != 0; rest &= rest - 1 {
			r := Reg(bits.TrailingZeros32(rest))
			mTransfer(in, load, r, rn, first, 4, 0)
			first += 4
		}
	}
	if moved != 0 && (list>>uint(rn)&1 == 0 || !load) {
		mMoveBase(in, rn, moved)
	}
	if load && list>>ARMPC != 0 {
		in.Flow = Return
		if user {
			in.Flow = Stop // an exception return
		}
	}
}

func mLoadStoreMultiple(in *Insn, w uint32) {
	list := w & 0xffff
	size := int64(bits.OnesCount32(list)) * 4
	first, moved := int64(0), size
	switch w >> 23 & 3 { // P, U
	case 0: // decrement after
		first, moved = 4-size, -size
	case 2: // decrement before
		first, moved = -size, -size
	case 3: // increment before
		first = 4
	}
	if w>>21&1 == 0 {
		moved = 0
	}
	mMultiple(in, w>>20&1 != 0, mRn(w), list, first, moved, w>>22&1 != 0)
}

// mExclusive writes the status register rd, and touches memory.
func mStoreExclusive(in *Insn, rd Reg) {
	in.Memory = Writes
	mWrites(in, rd)
}

func mLoadExclusive(in *Insn, rt, rt2 Reg) {
	in.Memory = Reads
	mWrites(in, rt)
	mWrites(in, rt2)
}

// mVectorTransfer is ldc, stc, vldr, vstr, vldm, vstm, vpush, vpop.
func mVectorTransfer(in *Insn, w uint32) {
	in.Memory = Writes
	if w>>20&1 != 0 {
		in.Memory = Reads
	}
	imm := int64(w&0xff) * 4
	if w>>23&1 == 0 {
		imm = -imm
	}
	pre, writeBack := w>>24&1 != 0, w>>21&1 != 0
	if mRn(w) == ARMSP && in.Memory == Writes {
		from, size := imm, int64(16) // vstr, stc
		if writeBack || !pre {       // vstm
			from, size = min(imm, 0), max(imm, -imm)
		}
		in.effect(Effect{Op: Lost, Dst: NoReg, A: NoReg, B: Reg(size), Imm: from})
	}
	if writeBack {
		mMoveBase(in, mRn(w), imm)
	}
}

// mStructures is vld1 and so on: Rm 15 is no write-back.
func mStructures(in *Insn, w uint32) {
	in.Memory = Writes
	if w>>21&1 != 0 {
		in.Memory = Reads
	}
	if mRm(w) != ARMPC {
		mWrites(in, mRn(w))
	}
}

func mWindow(c Control) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { in.Window, in.Control, in.Source = Write, c, mRd(w) }
}

func mControl(c Control) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		in.Control = c
		if mRd(w) != ARMPC {
			in.set(ReadControl, mRd(w), NoReg, 0)
		}
	}
}
