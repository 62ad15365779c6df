package isa

// The fields of book I, section 1.6.2.
func pRT(w uint32) Reg      { return Reg(w >> 21 & 31) } // also RS
func pRA(w uint32) Reg      { return Reg(w >> 16 & 31) }
func pRB(w uint32) Reg      { return Reg(w >> 11 & 31) }
func pSI(w uint32) int64    { return int64(int16(w)) }
func pUI(w uint32) int64    { return int64(w & 0xffff) }
func pDS(w uint32) int64    { return int64(int16(w &^ 3)) }
func pSH64(w uint32) uint32 { return w>>11&31 | w>>1&1<<5 }
func pMB64(w uint32) uint32 { return w>>6&31 | w>>5&1<<5 } // also ME

// powerMask is MASK(mb, me) of book I, section 3.3.14, for 64 bits, bit 0 first;
// it wraps where mb > me.
func powerMask(mb, me uint32) uint64 {
	from, to := ^uint64(0)>>mb, ^uint64(0)<<(63-me)
	if mb <= me {
		return from & to
	}
	return from | to
}

// powerMask32 is the same for the 32 low bits, as rlwinm has it.
func powerMask32(mb, me uint32) uint32 {
	from, to := ^uint32(0)>>mb, ^uint32(0)<<(31-me)
	if mb <= me {
		return from & to
	}
	return from | to
}

func pWritesRT(in *Insn, w uint32)   { in.writes(pRT(w)) }
func pWritesRA(in *Insn, w uint32)   { in.writes(pRA(w)) }
func pWritesBoth(in *Insn, w uint32) { in.writes(pRT(w)); in.writes(pRA(w)) }
func pStop(in *Insn, _ uint32)       { in.Flow = Stop }
func pReads(in *Insn, _ uint32)      { in.Memory = Reads }
func pWrites(in *Insn, _ uint32)     { in.Memory = Writes }

// pAdd is RT = (RA|0) + imm.
func pAdd(in *Insn, w uint32, imm int64) {
	if pRA(w) == 0 {
		in.set(Const, pRT(w), NoReg, imm)
		return
	}
	in.set(AddImm, pRT(w), pRA(w), imm)
}

// pAddi is addi and addis; a constant of a 32-bit machine has 32 bits.
func pAddi(long bool, shift uint) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		pAdd(in, w, pSI(w)<<shift)
		if e := &in.Effects[0]; e.Op == Const && !long {
			e.Imm &= 0xffffffff
		}
	}
}

// pLogical is RA = RS op imm.
func pLogical(op Op, shift uint) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { in.set(op, pRA(w), pRT(w), pUI(w)<<shift) }
}

func pRlwinm(long bool) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		sh, mb, me := w>>11&31, w>>6&31, w>>1&31
		if long && mb > me { // the mask wraps through the high word
			in.writes(pRA(w))
			return
		}
		in.set(RotateMask, pRA(w), pRT(w), int64(uint64(powerMask32(mb, me))<<32|uint64(sh)))
	}
}

// pInsert is RA = the bits of RS << sh under mask, the rest of RA.
func pInsert(in *Insn, w uint32, sh uint32, mask uint64) {
	if mask&(1<<sh-1) != 0 { // bits that come round from the other end
		in.writes(pRA(w))
		return
	}
	in.effect(Effect{Op: Insert, Shift: uint8(sh), Dst: pRA(w), A: pRA(w), B: pRT(w), Imm: int64(mask)})
}

func pRlwimi(in *Insn, w uint32) {
	mb, me := w>>6&31, w>>1&31
	if mb > me {
		in.writes(pRA(w))
		return
	}
	pInsert(in, w, w>>11&31, uint64(powerMask32(mb, me)))
}

func pRldimi(in *Insn, w uint32) {
	sh := pSH64(w)
	pInsert(in, w, sh, powerMask(pMB64(w), 63-sh))
}

// pRld is rldicl, rldicr, rldic: RA = rotl64(RS, SH) & MASK(mb, me).
func pRld(mask func(sh, m uint32) uint64) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		sh := pSH64(w)
		in.effect(Effect{Op: RotateMask64, Dst: pRA(w), A: pRT(w), B: Reg(sh), Imm: int64(mask(sh, pMB64(w)))})
	}
}

// pCompare tells unsigned comparisons; a signed one is with something unknown.
func pCompareImm(in *Insn, w uint32) { in.set(CompareImm, NoReg, pRA(w), pUI(w)) }
func pCompare(in *Insn, w uint32)    { in.set3(Compare, NoReg, pRA(w), pRB(w)) }
func pCompareSigned(in *Insn, w uint32) {
	in.set3(Compare, NoReg, pRA(w), NoReg)
}

// pLoad is a load of width bytes (negative: sign-extended) from imm(RA|0); slot says
// that this is a word of the machine, update that RA becomes the address.
func pLoad(in *Insn, w uint32, imm, width int64, slot, update bool) {
	in.Memory = Reads
	ra := pRA(w)
	switch {
	case ra == 0:
		in.writes(pRT(w))
	case ra == PowerPCSP && slot:
		in.set(Load, pRT(w), NoReg, imm)
	default:
		in.effect(Effect{Op: LoadConst, Dst: pRT(w), A: ra, B: Reg(width), Imm: imm})
	}
	if update {
		in.set(AddImm, ra, ra, imm)
	}
}

func pStore(in *Insn, w uint32, imm, width int64, slot, update bool) {
	in.Memory = Writes
	ra := pRA(w)
	switch {
	case ra == 0:
	case ra == PowerPCSP && slot:
		in.set(Store, NoReg, pRT(w), imm)
	case ra == PowerPCSP:
		in.effect(Effect{Op: Lost, Dst: NoReg, A: NoReg, B: Reg(width), Imm: imm})
	case slot:
		in.effect(Effect{Op: StoreAt, Dst: NoReg, A: pRT(w), B: ra, Imm: imm})
	}
	if update {
		in.set(AddImm, ra, ra, imm)
	}
}

func pLoadD(width int64, slot, update bool) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { pLoad(in, w, pSI(w), width, slot, update) }
}

func pStoreD(width int64, slot, update bool) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { pStore(in, w, pSI(w), width, slot, update) }
}

// pFloat is a load or store of a floating point register.
func pFloat(m Memory, width int64, update bool) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		in.Memory = m
		if m == Writes && pRA(w) == PowerPCSP {
			in.effect(Effect{Op: Lost, Dst: NoReg, A: NoReg, B: Reg(width), Imm: pSI(w)})
		}
		if update {
			in.set(AddImm, pRA(w), pRA(w), pSI(w))
		}
	}
}

// pLoadX is a load from (RA|0) + RB, pStoreX a store to it.
func pLoadX(width int64) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		in.Memory = Reads
		if pRA(w) == 0 {
			in.writes(pRT(w))
			return
		}
		in.effect(Effect{Op: LoadIndexed, Dst: pRT(w), A: pRA(w), B: pRB(w), Imm: int64(uint8(width))})
	}
}

func pLoadUX(in *Insn, w uint32) {
	in.Memory = Reads
	pWritesBoth(in, w)
}

func pLoadOnly(in *Insn, w uint32) {
	in.Memory = Reads
	in.writes(pRT(w))
}

func pStoreUX(in *Insn, w uint32) {
	in.Memory = Writes
	in.writes(pRA(w))
}

func pAtomic(in *Insn, w uint32) {
	in.Memory = Reads | Writes
	in.writes(pRT(w))
}

func pLmw(in *Insn, w uint32) {
	in.Memory = Reads
	in.Written |= 0xffffffff &^ (1<<uint(pRT(w)) - 1)
}

func pStmw(in *Insn, w uint32) {
	in.Memory = Writes
	if pRA(w) == PowerPCSP {
		in.effect(Effect{Op: Lost, Dst: NoReg, A: NoReg, B: 4 * (32 - pRT(w)), Imm: pSI(w)})
	}
}

// pTrapIf31 is a trap under the condition TO, which may be "always".
func pTrapIf31(in *Insn, w uint32) {
	if w>>21&31 == 31 {
		in.Flow = Trap
	}
}

// always says whether BO is "branch always" (book I, figure 40: 1z1zz).
func powerAlways(w uint32) bool { return w>>21&0x14 == 0x14 }

// powerWhen reads BO and BI: bits LT, GT, EQ, SO of a condition register field.
func powerWhen(w uint32) Condition {
	bit := w >> 16 & 3
	switch w >> 21 & 0x1c {
	case 0x0c: // 011at: if the bit is 1
		return [4]Condition{Below, Above, Equal, Other}[bit]
	case 0x04: // 001at: if the bit is 0
		return [4]Condition{AboveEqual, BelowEqual, NotEqual, Other}[bit]
	}
	return Other
}

func pB(in *Insn, w uint32) {
	in.Flow = Jump
	if w&1 != 0 {
		in.Flow = Call
		in.writes(PowerPCLR)
	}
	if w&2 == 0 { // AA: an absolute address is not a displacement
		in.jump(in.Flow, signed(w&0x03fffffc, 26))
	}
}

func pBc(in *Insn, w uint32) {
	always, lk := powerAlways(w), w&1 != 0
	target := pDS(w)
	switch {
	case lk && always && target == 4 && w&2 == 0: // bcl 20,31,$+4 asks where it is
		in.writes(PowerPCLR)
		return
	case lk:
		in.Flow, in.Conditional = Call, !always
		in.writes(PowerPCLR)
	case always:
		in.Flow = Jump
	default:
		in.Flow = Branch
	}
	in.When = powerWhen(w)
	if w>>21&4 == 0 {
		in.writes(PowerPCCTR) // counts down
	}
	if w&2 == 0 {
		in.jump(in.Flow, target)
	}
}

// pBcReg is bclr, bcctr, bctar: a branch to a register.
func pBcReg(source Reg, always, sometimes Flow) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		in.Source, in.When = source, powerWhen(w)
		if w>>21&4 == 0 {
			in.writes(PowerPCCTR)
		}
		switch {
		case w&1 != 0:
			in.Flow, in.Conditional = CallIndirect, !powerAlways(w)
			in.writes(PowerPCLR)
		case powerAlways(w):
			in.Flow = always
		default:
			in.Flow = sometimes
		}
	}
}

// pWindow is a write of a control register, pControl a read of one.
func pWindow(c Control) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { in.Window, in.Control, in.Source = Write, c, pRT(w) }
}

func pControl(c Control) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		in.Control = c
		in.set(ReadControl, pRT(w), NoReg, 0)
	}
}

func pMoveTo(r Reg) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { in.set(Move, r, pRT(w), 0) }
}

func pMoveFrom(r Reg) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { in.set(Move, pRT(w), r, 0) }
}

// pRegOp is RA = RS op RB.
func pRegOp(op Op) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { in.set3(op, pRA(w), pRT(w), pRB(w)) }
}

func pOr(in *Insn, w uint32) {
	if pRT(w) == pRB(w) { // mr
		in.set(Move, pRA(w), pRT(w), 0)
		return
	}
	in.set3(Or, pRA(w), pRT(w), pRB(w))
}
