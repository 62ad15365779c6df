package isa

import "sync"

// a32Table is chapter A5 of DDI 0406, conditions other than 1111. c is the condition, d
// Rd, n Rn, m Rm, s Rs, t Rt, u Rt2, i an immediate.
var a32Table = sync.OnceValue(func() *table {
	return newTable(32, 20, 8, 4, 4, append([]row{
		// A5.2.12 miscellaneous
		{"cccc 0001 0010 1111 1111 1111 0001 mmmm", "bx", func(in *Insn, w uint32) { mJumpReg(in, mRm(w)) }},
		{"cccc 0001 0010 1111 1111 1111 0010 mmmm", "bxj", func(in *Insn, w uint32) { mJumpReg(in, mRm(w)) }},
		{"cccc 0001 0010 1111 1111 1111 0011 mmmm", "blx (register)", func(in *Insn, w uint32) { mCallReg(in, mRm(w)) }},
		{"cccc 0001 0110 0000 0000 0000 0110 1110", "eret", aStop},
		{"cccc 0001 0000 iiii iiii iiii 0111 iiii", "hlt", aStop},
		{"cccc 0001 0010 iiii iiii iiii 0111 iiii", "bkpt", aTrap},
		{"cccc 0001 01-0 iiii iiii iiii 0111 iiii", "hvc, smc", nil},
		{"cccc 0001 0-00 ---- dddd ---- 0000 ----", "mrs", mWritesRd},
		{"cccc 0001 0-10 ---- ---- ---- 0000 ----", "msr (register)", nil},
		{"cccc 0001 0110 ---- dddd ---- 0001 mmmm", "clz", mWritesRd},
		{"cccc 0001 0--0 nnnn dddd 00-0 0100 mmmm", "crc32", mWritesRd},
		{"cccc 0001 0--0 nnnn dddd ---- 0101 mmmm", "qadd, qsub, qdadd, qdsub", mWritesRd},
		{"cccc 0001 0100 hhhh llll mmmm 1--0 nnnn", "smlal<x><y>", mWritesTwo},
		{"cccc 0001 0--0 dddd aaaa mmmm 1--0 nnnn", "smla<x><y>, smlaw, smulw, smul", mWritesRn},
		// A5.2.5 multiply, A5.2.10 synchronization
		{"cccc 0000 00-- dddd aaaa mmmm 1001 nnnn", "mul, mla", mWritesRn},
		{"cccc 0000 0110 dddd aaaa mmmm 1001 nnnn", "mls", mWritesRn},
		{"cccc 0000 ---- hhhh llll mmmm 1001 nnnn", "umaal, umull, umlal, smull, smlal", mWritesTwo},
		{"cccc 0001 0-00 nnnn tttt ---- 1001 mmmm", "swp", func(in *Insn, w uint32) {
			in.Memory = Reads | Writes
			mWrites(in, mRd(w))
		}},
		{"cccc 0001 1--0 nnnn dddd ---- 1001 tttt", "strex, strexb, strexh, strexd, stl, stlex", func(in *Insn, w uint32) {
			mStoreExclusive(in, mRd(w))
		}},
		{"cccc 0001 1011 nnnn tttt ---- 1001 ----", "ldrexd, ldaexd", func(in *Insn, w uint32) {
			mLoadExclusive(in, mRd(w), mRd(w)+1)
		}},
		{"cccc 0001 1--1 nnnn tttt ---- 1001 ----", "ldrex, ldrexb, ldrexh, lda, ldaex", func(in *Insn, w uint32) {
			mLoadExclusive(in, mRd(w), ARMPC)
		}},
		// A5.2.8 extra loads and stores
		{"cccc 000- -1-0 nnnn tttt iiii 1011 iiii", "strh (immediate)", mHalf(false, 2)},
		{"cccc 000- -1-1 nnnn tttt iiii 1011 iiii", "ldrh (immediate)", mHalf(true, 2)},
		{"cccc 000- -1-0 nnnn tttt iiii 1101 iiii", "ldrd (immediate)", mDual(true)},
		{"cccc 000- -1-1 nnnn tttt iiii 1101 iiii", "ldrsb (immediate)", mHalf(true, -1)},
		{"cccc 000- -1-0 nnnn tttt iiii 1111 iiii", "strd (immediate)", mDual(false)},
		{"cccc 000- -1-1 nnnn tttt iiii 1111 iiii", "ldrsh (immediate)", mHalf(true, -2)},
		{"cccc 000- -0-0 nnnn tttt ---- 1011 mmmm", "strh (register)", mHalfReg(false, 2)},
		{"cccc 000- -0-1 nnnn tttt ---- 1011 mmmm", "ldrh (register)", mHalfReg(true, 2)},
		{"cccc 000- -0-0 nnnn tttt ---- 1101 mmmm", "ldrd (register)", mDualReg(true)},
		{"cccc 000- -0-1 nnnn tttt ---- 1101 mmmm", "ldrsb (register)", mHalfReg(true, -1)},
		{"cccc 000- -0-0 nnnn tttt ---- 1111 mmmm", "strd (register)", mDualReg(false)},
		{"cccc 000- -0-1 nnnn tttt ---- 1111 mmmm", "ldrsh (register)", mHalfReg(true, -2)},
		// A5.2.1 data processing (register)
		{"cccc 0000 000s nnnn dddd iiii itt0 mmmm", "and (register)", mDataReg(And)},
		{"cccc 0000 001s nnnn dddd iiii itt0 mmmm", "eor (register)", mDataReg(Xor)},
		{"cccc 0000 010s nnnn dddd iiii itt0 mmmm", "sub (register)", mDataReg(Sub)},
		{"cccc 0000 100s nnnn dddd iiii itt0 mmmm", "add (register)", mDataReg(Add)},
		{"cccc 0000 ---s nnnn dddd iiii itt0 mmmm", "rsb, adc, sbc, rsc (register)", mDataReg(NoOp)},
		{"cccc 0001 0101 nnnn ---- iiii itt0 mmmm", "cmp (register)", mCompareReg},
		{"cccc 0001 0--1 nnnn ---- iiii itt0 mmmm", "tst, teq, cmn (register)", nil},
		{"cccc 0001 100s nnnn dddd iiii itt0 mmmm", "orr (register)", mDataReg(Or)},
		{"cccc 0001 101s ---- dddd iiii itt0 mmmm", "mov, lsl, lsr, asr, ror (immediate)", mDataReg(Move)},
		{"cccc 0001 110s nnnn dddd iiii itt0 mmmm", "bic (register)", mDataReg(AndNot)},
		{"cccc 0001 111s ---- dddd iiii itt0 mmmm", "mvn (register)", mDataReg(NoOp)},
		// A5.2.2 data processing (register-shifted register)
		{"cccc 0001 0--1 nnnn ---- ssss 0tt1 mmmm", "tst, teq, cmp, cmn (shifted)", nil},
		{"cccc 000- ---- nnnn dddd ssss 0tt1 mmmm", "data processing (shifted by a register)", mDataShifted},
		// A5.2.3 data processing (immediate)
		{"cccc 0010 000s nnnn dddd rrrr iiii iiii", "and (immediate)", mDataImm(AndImm)},
		{"cccc 0010 001s nnnn dddd rrrr iiii iiii", "eor (immediate)", mDataImm(XorImm)},
		{"cccc 0010 010s nnnn dddd rrrr iiii iiii", "sub (immediate), adr", mDataImm(Sub)},
		{"cccc 0010 100s nnnn dddd rrrr iiii iiii", "add (immediate), adr", mDataImm(AddImm)},
		{"cccc 0010 ---s nnnn dddd rrrr iiii iiii", "rsb, adc, sbc, rsc (immediate)", mDataImm(NoOp)},
		{"cccc 0011 0000 iiii dddd iiii iiii iiii", "movw", mMovw},
		{"cccc 0011 0100 iiii dddd iiii iiii iiii", "movt", mMovt},
		{"cccc 0011 0-10 ---- ---- ---- ---- ----", "msr (immediate), hints", nil},
		{"cccc 0011 0101 nnnn ---- rrrr iiii iiii", "cmp (immediate)", mCompareImm},
		{"cccc 0011 0--1 nnnn ---- rrrr iiii iiii", "tst, teq, cmn (immediate)", nil},
		{"cccc 0011 100s nnnn dddd rrrr iiii iiii", "orr (immediate)", mDataImm(OrImm)},
		{"cccc 0011 101s ---- dddd rrrr iiii iiii", "mov (immediate)", mDataImm(Const)},
		{"cccc 0011 110s nnnn dddd rrrr iiii iiii", "bic (immediate)", mDataImm(AndNot)},
		{"cccc 0011 111s ---- dddd rrrr iiii iiii", "mvn (immediate)", mMvn},

		// A5.3 load/store word and unsigned byte; the unprivileged forms among them
		{"cccc 010- -0-0 nnnn tttt iiii iiii iiii", "str (immediate)", mWord(false, 4)},
		{"cccc 010- -0-1 nnnn tttt iiii iiii iiii", "ldr (immediate, literal)", mWord(true, 4)},
		{"cccc 010- -1-0 nnnn tttt iiii iiii iiii", "strb (immediate)", mWord(false, 1)},
		{"cccc 010- -1-1 nnnn tttt iiii iiii iiii", "ldrb (immediate, literal)", mWord(true, 1)},
		{"cccc 011- -0-0 nnnn tttt iiii itt0 mmmm", "str (register)", mWordReg(false, 4)},
		{"cccc 011- -0-1 nnnn tttt iiii itt0 mmmm", "ldr (register)", mWordReg(true, 4)},
		{"cccc 011- -1-0 nnnn tttt iiii itt0 mmmm", "strb (register)", mWordReg(false, 1)},
		{"cccc 011- -1-1 nnnn tttt iiii itt0 mmmm", "ldrb (register)", mWordReg(true, 1)},

		// A5.4 media
		{"cccc 0111 1111 iiii iiii iiii 1111 iiii", "udf", aTrap},
		{"cccc 0111 110m mmmm dddd llll l001 nnnn", "bfc, bfi", func(in *Insn, w uint32) {
			mBitfield(in, mRd(w), mRm(w), w>>16&31, w>>7&31)
		}},
		{"cccc 0111 111w wwww dddd llll l101 nnnn", "ubfx", func(in *Insn, w uint32) {
			mUbfx(in, mRd(w), mRm(w), w>>16&31+1, w>>7&31)
		}},
		{"cccc 0111 101w wwww dddd llll l101 nnnn", "sbfx", mWritesRd},
		{"cccc 0111 0100 hhhh llll mmmm --s1 nnnn", "smlald, smlsld", mWritesTwo},
		{"cccc 0111 ---- dddd aaaa mmmm ---1 nnnn", "smlad, smmla, usad8, sdiv, udiv", mWritesRn},
		{"cccc 0110 ---- nnnn dddd ---- ---1 mmmm", "parallel arithmetic, pkh, sxt, uxt, sat, rev", mWritesRd},

		// A5.5 branch, block transfer
		{"cccc 100- ---- nnnn rrrr rrrr rrrr rrrr", "ldm, stm", mLoadStoreMultiple},
		{"cccc 1010 iiii iiii iiii iiii iiii iiii", "b", func(in *Insn, w uint32) {
			in.jump(Jump, signed(w, 24)<<2+8)
		}},
		{"cccc 1011 iiii iiii iiii iiii iiii iiii", "bl", func(in *Insn, w uint32) {
			in.jump(Call, signed(w, 24)<<2+8)
			in.writes(ARMLR)
		}},
		{"cccc 1111 iiii iiii iiii iiii iiii iiii", "svc", nil},
	}, armCoprocessor("cccc")...))
})

// armCoprocessor is section A5.6, which T32 shares but for the four high bits (A6.3.18).
func armCoprocessor(top string) []row {
	return []row{
		// B4.1.43 DACR, B4.1.153 TTBCR
		{top + "1110 0000 0011 tttt 1111 0001 0000", "mcr p15, 0, Rt, c3, c0, 0", mWindow(DACR)},
		{top + "1110 0001 0011 tttt 1111 0001 0000", "mrc p15, 0, Rt, c3, c0, 0", mControl(DACR)},
		{top + "1110 0000 0010 tttt 1111 0101 0000", "mcr p15, 0, Rt, c2, c0, 2", mWindow(TTBCR)},
		{top + "1110 0001 0010 tttt 1111 0101 0000", "mrc p15, 0, Rt, c2, c0, 2", mControl(TTBCR)},
		{top + "1110 ---0 nnnn tttt pppp ooo1 mmmm", "mcr, vmov from general registers", nil},
		{top + "1110 ---1 nnnn tttt pppp ooo1 mmmm", "mrc, vmov to a general register, vmrs", mWritesRd},
		{top + "1110 ---- nnnn dddd pppp ooo0 mmmm", "cdp, floating point", nil},
		{top + "1100 0101 uuuu tttt pppp ---- ----", "mrrc, vmov to two general registers", mWritesTwo},
		{top + "1100 0100 uuuu tttt pppp ---- ----", "mcrr, vmov from two general registers", nil},
		{top + "110- ---- nnnn dddd pppp iiii iiii", "ldc, stc, vldr, vstr, vldm, vstm", mVectorTransfer},
	}
}

// a32Unconditional is section A5.7: condition 1111.
var a32Unconditional = sync.OnceValue(func() *table {
	return newTable(32, 20, 8, 4, 4, append([]row{
		{"1111 0001 0000 ---- ---- ---- ---- ----", "cps, setend, setpan", nil},
		{"1111 001- ---- ---- ---- ---- ---- ----", "advanced SIMD, crypto", nil},
		{"1111 0100 --l0 nnnn dddd ---- ---- mmmm", "vld1-4, vst1-4", mStructures},
		{"1111 0101 0111 1111 1111 0000 ---- ----", "clrex, dsb, dmb, isb, sb", nil},
		{"1111 01-- --01 nnnn ---- ---- ---- ----", "pld, pldw, pli", nil},
		{"1111 100- -1-0 1101 ---- ---- ---- ----", "srs", nil},
		{"1111 100- -0-1 nnnn ---- ---- ---- ----", "rfe", aStop},
		{"1111 101h iiii iiii iiii iiii iiii iiii", "blx (immediate)", func(in *Insn, w uint32) {
			in.jump(Call, signed(w, 24)<<2|int64(w>>24&1<<1)+8)
			in.writes(ARMLR)
		}},
		{"1111 1111 ---- ---- ---- ---- ---- ----", "not allocated", nil},
	}, armCoprocessor("1111")...))
})
