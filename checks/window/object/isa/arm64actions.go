package isa

func aWritesRd(in *Insn, w uint32)   { in.writes(aX(aRd(w))) }
func aWritesRdSP(in *Insn, w uint32) { in.writes(aSP(aRd(w))) }
func aTrap(in *Insn, _ uint32)       { in.Flow = Trap }
func aStop(in *Insn, _ uint32)       { in.Flow = Stop }

// aAddImm is Rd = Rn ± imm, both 31 for the stack pointer.
func aAddImm(sign int64) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { in.set(AddImm, aSP(aRd(w)), aSP(aRn(w)), sign*aImm12(w)) }
}

// aAddImmFlags is the same with flags, where Rd 31 is the zero register: a comparison.
func aAddImmFlags(sign int64) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		if aRd(w) == 31 {
			in.set(CompareImm, NoReg, aSP(aRn(w)), -sign*aImm12(w))
			return
		}
		in.set(AddImm, aX(aRd(w)), aSP(aRn(w)), sign*aImm12(w))
	}
}

func aCompareImm32(sign int64) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		if aRd(w) == 31 {
			in.set(CompareImm, NoReg, aSP(aRn(w)), -sign*aImm12(w))
			return
		}
		in.writes(aX(aRd(w)))
	}
}

// aLogicalImm is Rd = Rn op bitmask; Rd is the stack pointer where it is 31, but for ands.
func aLogicalImm(op Op, sp bool) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		rd := aX(aRd(w))
		if sp {
			rd = aSP(aRd(w))
		}
		mask, ok := aBitMask(w)
		if w>>31 == 0 {
			mask = uint64(uint32(mask))
		}
		switch {
		case rd == NoReg:
		case !ok:
			in.writes(rd)
		case aRn(w) == 31 && op == OrImm: // mov
			in.set(Const, rd, NoReg, int64(mask))
		case aRn(w) == 31 || w>>31 == 0:
			in.writes(rd)
		default:
			in.set(op, rd, aX(aRn(w)), int64(mask))
		}
	}
}

func aMovWide(invert bool) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		v := uint64(w>>5&0xffff) << (w >> 21 & 3 * 16)
		if invert {
			v = ^v
		}
		if w>>31 == 0 {
			v = uint64(uint32(v))
		}
		if aRd(w) != 31 {
			in.set(Const, aX(aRd(w)), NoReg, int64(v))
		}
	}
}

func aMovk(in *Insn, w uint32) {
	if rd := aX(aRd(w)); rd != NoReg {
		in.effect(Effect{Op: Insert16, Dst: rd, A: rd, B: Reg(w >> 21 & 3 * 16), Imm: int64(w >> 5 & 0xffff)})
	}
}

// aBfm is bfi (imms < immr) and bfxil of x registers.
func aBfm(in *Insn, w uint32) {
	rd, rn, immr, imms := aX(aRd(w)), aX(aRn(w)), aImmr(w), aImm6(w)
	switch {
	case rd == NoReg:
	case rn == NoReg && imms < immr: // bfc
		in.set(AndImm, rd, rd, ^int64((uint64(1)<<(imms+1)-1)<<(64-immr)))
	case rn == NoReg:
		in.writes(rd)
	case imms < immr:
		in.effect(Effect{Op: Insert, Shift: uint8(64 - immr), Dst: rd, A: rd, B: rn, Imm: int64((uint64(1)<<(imms+1) - 1) << (64 - immr))})
	default:
		in.effect(Effect{Op: InsertRight, Shift: uint8(immr), Dst: rd, A: rd, B: rn, Imm: int64(^uint64(0) >> (63 - (imms - immr)))})
	}
}

// aUbfm is lsl, lsr, ubfx, ubfiz of x registers.
func aUbfm(in *Insn, w uint32) {
	rd, rn, immr, imms := aX(aRd(w)), aX(aRn(w)), aImmr(w), aImm6(w)
	switch {
	case rd == NoReg:
	case rn == NoReg:
		in.set(Const, rd, NoReg, 0)
	case imms == 63:
		in.set(ShiftRight, rd, rn, int64(immr))
	case imms+1 == immr:
		in.set(ShiftLeft, rd, rn, int64(63-imms))
	case imms < immr: // ubfiz
		in.effect(Effect{Op: RotateMask64, Dst: rd, A: rn, B: Reg(64 - immr), Imm: int64((uint64(1)<<(imms+1) - 1) << (64 - immr))})
	default: // ubfx
		in.effect(Effect{Op: RotateMask64, Dst: rd, A: rn, B: Reg((64 - immr) & 63), Imm: int64(^uint64(0) >> (63 - (imms - immr)))})
	}
}

// aRegOp is Rd = Rn op Rm, x registers, no shift.
func aRegOp(op Op) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		rd, rn, rm := aX(aRd(w)), aX(aRn(w)), aX(aRm(w))
		switch {
		case rd == NoReg && op == Sub && rn != NoReg && rm != NoReg:
			in.set3(Compare, NoReg, rn, rm)
		case rd == NoReg:
		case rn != NoReg && rm != NoReg:
			in.set3(op, rd, rn, rm)
		case rn == NoReg && rm != NoReg && (op == Or || op == Xor || op == Add):
			in.set(Move, rd, rm, 0)
		case rm == NoReg && rn != NoReg && op != And:
			in.set(Move, rd, rn, 0)
		default: // and with zero, neg, a zero register moved
			if op == And || op != Sub && op != AndNot {
				in.set(Const, rd, NoReg, 0)
				return
			}
			in.writes(rd)
		}
	}
}

// aSubs32 is a comparison of w registers where Rd is the zero register.
func aSubs32(in *Insn, w uint32) {
	rn, rm := aX(aRn(w)), aX(aRm(w))
	if aRd(w) == 31 && rn != NoReg && rm != NoReg {
		in.set3(Compare, NoReg, rn, rm)
	}
	in.writes(aX(aRd(w)))
}

// aAddShifted is Rd = Rn + (Rm << imm6).
func aAddShifted(in *Insn, w uint32) {
	rd, rn, rm := aX(aRd(w)), aX(aRn(w)), aX(aRm(w))
	if rd == NoReg || rn == NoReg || rm == NoReg {
		in.writes(rd)
		return
	}
	in.effect(Effect{Op: AddShifted, Dst: rd, A: rn, B: rm, Imm: int64(aImm6(w))})
}

// aAddExtended is Rd = Rn + (Rm extended << imm3), 31 for the stack pointer.
func aAddExtended(in *Insn, w uint32) {
	if aX(aRm(w)) == NoReg {
		in.writes(aSP(aRd(w)))
		return
	}
	in.effect(Effect{Op: AddShifted, Dst: aSP(aRd(w)), A: aSP(aRn(w)), B: aX(aRm(w)), Imm: int64(w >> 10 & 7)})
}

func aBranch(in *Insn, w uint32) {
	in.jump(Branch, aImm19(w))
	in.When = aWhen(w)
}

func aCompareBranch(when Condition) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		in.jump(Branch, aImm19(w))
		in.When = when
		if rt := aX(aRd(w)); rt != NoReg {
			in.set(CompareImm, NoReg, rt, 0)
		}
	}
}

// aRegBranch is a branch to Rn.
func aRegBranch(f Flow) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		in.Flow, in.Source = f, aX(aRn(w))
		if f == CallIndirect {
			in.writes(ARM64LR)
		}
		if f == Return && aRn(w) != 30 {
			in.Flow = JumpIndirect
		}
	}
}

func aWindow(c Control) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { in.Window, in.Control, in.Source = Write, c, aX(aRd(w)) }
}

func aControl(c Control) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		in.Control = c
		if aRd(w) != 31 {
			in.set(ReadControl, aX(aRd(w)), NoReg, 0)
		}
	}
}

// aSlot is a load or store of width bytes (negative: sign-extended) of a general
// register at imm from the base Rn.
func aSlot(in *Insn, load bool, rt, base Reg, width, imm int64) {
	switch {
	case load:
		in.Memory |= Reads
		switch {
		case rt == NoReg:
		case base == ARM64SP && width == 8:
			in.set(Load, rt, NoReg, imm)
		default:
			in.effect(Effect{Op: LoadConst, Dst: rt, A: base, B: Reg(width), Imm: imm})
		}
	default:
		in.Memory |= Writes
		switch {
		case base == ARM64SP && width == 8:
			in.set(Store, NoReg, rt, imm)
		case base == ARM64SP:
			in.effect(Effect{Op: Lost, Dst: NoReg, A: NoReg, B: Reg(width), Imm: imm})
		case width == 8:
			in.effect(Effect{Op: StoreAt, Dst: NoReg, A: rt, B: base, Imm: imm})
		}
	}
}

// aWidth reads size and opc of a load or store of a general register; 0 is a prefetch.
func aWidth(w uint32) (width int64, load bool) {
	width = int64(1) << (w >> 30)
	switch opc := w >> 22 & 3; {
	case opc == 0:
		return width, false
	case opc == 1:
		return width, true
	case w>>30 == 3:
		return 0, false
	}
	return -width, true
}

// aUnsigned is [Rn, #imm12 scaled], aUnscaled [Rn, #imm9]; unprivileged too.
func aUnsigned(in *Insn, w uint32) {
	if width, load := aWidth(w); width != 0 {
		aSlot(in, load, aX(aRd(w)), aSP(aRn(w)), width, int64(w>>10&0xfff)<<(w>>30))
	}
}

func aUnscaled(in *Insn, w uint32) {
	if width, load := aWidth(w); width != 0 {
		aSlot(in, load, aX(aRd(w)), aSP(aRn(w)), width, aImm9(w))
	}
}

func aPostIndex(in *Insn, w uint32) {
	width, load := aWidth(w)
	aSlot(in, load, aX(aRd(w)), aSP(aRn(w)), width, 0)
	in.set(AddImm, aSP(aRn(w)), aSP(aRn(w)), aImm9(w))
}

func aPreIndex(in *Insn, w uint32) {
	aUnscaled(in, w)
	in.set(AddImm, aSP(aRn(w)), aSP(aRn(w)), aImm9(w))
}

// aRegOffset is [Rn, Rm extended, shifted by the width or not].
func aRegOffset(in *Insn, w uint32) {
	width, load := aWidth(w)
	switch {
	case width == 0:
	case !load:
		in.Memory = Writes
	default:
		in.Memory = Reads
		rt, rm := aX(aRd(w)), aX(aRm(w))
		if rt == NoReg || rm == NoReg {
			in.writes(rt)
			return
		}
		shift := int64(w >> 12 & 1 * (w >> 30))
		in.effect(Effect{Op: LoadIndexed, Dst: rt, A: aSP(aRn(w)), B: rm, Imm: shift<<8 | int64(uint8(width))})
	}
}

// aVector is a load or store of a vector register: bit 22 tells which; the base
// register changes with update.
func aVector(update bool) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		in.Memory = Writes
		if w>>22&1 != 0 {
			in.Memory = Reads
		}
		if update {
			in.writes(aSP(aRn(w)))
		}
	}
}

// aVectorAt is the same with an immediate offset, whose bytes on the stack are lost.
func aVectorAt(in *Insn, w uint32) {
	aVector(false)(in, w)
	scale := w>>30 | w>>23&1<<2
	if in.Memory == Writes && aRn(w) == 31 {
		imm := aImm9(w)
		if w>>24&1 != 0 {
			imm = int64(w>>10&0xfff) << scale
		}
		in.effect(Effect{Op: Lost, Dst: NoReg, A: NoReg, B: 1 << scale, Imm: imm})
	}
}

// aPair is ldp, stp, ldpsw: mode 0 no allocate, 1 post-index, 2 offset, 3 pre-index.
func aPair(in *Insn, w uint32) {
	load, mode := w>>22&1 != 0, w>>23&3
	width, base := int64(4), aSP(aRn(w))
	if w>>31 != 0 {
		width = 8
	}
	imm := signed(w>>15, 7) * width
	at := imm
	if mode == 1 {
		at = 0
	}
	if w>>30 == 1 && load {
		width = -4
	}
	second := max(width, -width)
	aSlot(in, load, aX(aRd(w)), base, width, at)
	aSlot(in, load, aX(aRt2(w)), base, width, at+second)
	if mode&1 != 0 {
		in.set(AddImm, base, base, imm)
	}
}

func aVectorPair(in *Insn, w uint32) {
	aVector(w>>23&1 != 0)(in, w)
	if in.Memory == Writes && aRn(w) == 31 {
		width := int64(4) << (w >> 30)
		at := signed(w>>15, 7) * width
		if w>>23&3 == 1 {
			at = 0
		}
		in.effect(Effect{Op: Lost, Dst: NoReg, A: NoReg, B: Reg(2 * width), Imm: at})
		if w>>23&1 != 0 {
			in.set(AddImm, ARM64SP, ARM64SP, signed(w>>15, 7)*width)
		}
	} else if w>>23&1 != 0 {
		in.set(AddImm, aSP(aRn(w)), aSP(aRn(w)), signed(w>>15, 7)<<(2+w>>30))
	}
}

// aLiteral is a load from the code; opc 00 w, 01 x, 10 sign-extended w, 11 a prefetch.
func aLiteral(in *Insn, w uint32) {
	width := [4]int64{4, 8, -4, 0}[w>>30]
	if width == 0 {
		return
	}
	in.Memory = Reads
	if rt := aX(aRd(w)); rt != NoReg {
		in.effect(Effect{Op: LoadConst, Dst: rt, A: NoReg, B: Reg(width), Imm: aImm19(w)})
	}
}

// aLoads, aStores and aBoth touch memory and write the registers they name.
func aLoadRt(in *Insn, w uint32) {
	in.Memory = Reads
	in.writes(aX(aRd(w)))
}

func aLoadRtRt2(in *Insn, w uint32) {
	in.Memory = Reads
	in.writes(aX(aRd(w)))
	in.writes(aX(aRt2(w)))
}

func aStore(in *Insn, _ uint32) { in.Memory = Writes }

func aStoreStatus(in *Insn, w uint32) {
	in.Memory = Writes
	in.writes(aX(aRm(w)))
}

func aAtomicRt(in *Insn, w uint32) {
	in.Memory = Reads | Writes
	in.writes(aX(aRd(w)))
}

func aCas(in *Insn, w uint32) {
	in.Memory = Reads | Writes
	in.writes(aX(aRm(w)))
}

func aCasp(in *Insn, w uint32) {
	in.Memory = Reads | Writes
	in.writes(aX(aRm(w)))
	in.writes(aX((aRm(w) + 1) & 31))
}
