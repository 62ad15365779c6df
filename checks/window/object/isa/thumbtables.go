package isa

import "sync"

// thumb16 is section A6.2 of DDI 0406. d is Rd, n Rn, m Rm, t Rt, i an immediate, r a
// register list.
var thumb16 = sync.OnceValue(func() *table {
	return newTable(16, 8, 8, 6, 2, []row{
		{"000 00 iiiii mmm ddd", "lsl (immediate), mov", tShift(0)},
		{"000 01 iiiii mmm ddd", "lsr (immediate)", tShift(1)},
		{"000 10 iiiii mmm ddd", "asr (immediate)", tShift(2)},
		{"000 1100 mmm nnn ddd", "add (register)", tReg3(Add)},
		{"000 1101 mmm nnn ddd", "sub (register)", tReg3(Sub)},
		{"000 1110 iii nnn ddd", "add (immediate)", tImm3(1)},
		{"000 1111 iii nnn ddd", "sub (immediate)", tImm3(-1)},
		{"001 00 ddd iiiiiiii", "mov (immediate)", func(in *Insn, w uint32) { in.set(Const, tRd8(w), NoReg, tImm8(w)) }},
		{"001 01 nnn iiiiiiii", "cmp (immediate)", func(in *Insn, w uint32) { in.set(CompareImm, NoReg, tRd8(w), tImm8(w)) }},
		{"001 10 ddd iiiiiiii", "add (immediate)", tImm8To(1)},
		{"001 11 ddd iiiiiiii", "sub (immediate)", tImm8To(-1)},
		{"010000 0000 mmm ddd", "and (register)", tReg2(And)},
		{"010000 0001 mmm ddd", "eor (register)", tReg2(Xor)},
		{"010000 1000 mmm nnn", "tst", nil},
		{"010000 1010 mmm nnn", "cmp (register)", func(in *Insn, w uint32) { in.set3(Compare, NoReg, tRd(w), tRn(w)) }},
		{"010000 1011 mmm nnn", "cmn", nil},
		{"010000 1100 mmm ddd", "orr (register)", tReg2(Or)},
		{"010000 1110 mmm ddd", "bic (register)", tReg2(AndNot)},
		{"010000 ---- mmm ddd", "lsl, lsr, asr, adc, sbc, ror, rsb, mul, mvn", tWritesRd},
		{"010001 00 d mmmm ddd", "add (register, high)", tAddHi},
		{"010001 01 n mmmm nnn", "cmp (register, high)", func(in *Insn, w uint32) { in.set3(Compare, NoReg, tRdHi(w), tRm4(w)) }},
		{"010001 10 d mmmm ddd", "mov (register)", tMovHi},
		{"010001 110 mmmm ---", "bx", func(in *Insn, w uint32) { mJumpReg(in, tRm4(w)) }},
		{"010001 111 mmmm ---", "blx (register)", func(in *Insn, w uint32) { mCallReg(in, tRm4(w)) }},
		{"01001 ttt iiiiiiii", "ldr (literal)", func(in *Insn, w uint32) {
			mTransfer(in, true, tRd8(w), ARMPC, tImm8(w)*4, 4, 0)
		}},
		{"0101 000 mmm nnn ttt", "str (register)", aStore},
		{"0101 001 mmm nnn ttt", "strh (register)", aStore},
		{"0101 010 mmm nnn ttt", "strb (register)", aStore},
		{"0101 011 mmm nnn ttt", "ldrsb (register)", tLoadReg(-1)},
		{"0101 100 mmm nnn ttt", "ldr (register)", tLoadReg(4)},
		{"0101 101 mmm nnn ttt", "ldrh (register)", tLoadReg(2)},
		{"0101 110 mmm nnn ttt", "ldrb (register)", tLoadReg(1)},
		{"0101 111 mmm nnn ttt", "ldrsh (register)", tLoadReg(-2)},
		{"0110 0 iiiii nnn ttt", "str (immediate)", tAt(false, 4)},
		{"0110 1 iiiii nnn ttt", "ldr (immediate)", tAt(true, 4)},
		{"0111 0 iiiii nnn ttt", "strb (immediate)", tAt(false, 1)},
		{"0111 1 iiiii nnn ttt", "ldrb (immediate)", tAt(true, 1)},
		{"1000 0 iiiii nnn ttt", "strh (immediate)", tAt(false, 2)},
		{"1000 1 iiiii nnn ttt", "ldrh (immediate)", tAt(true, 2)},
		{"1001 0 ttt iiiiiiii", "str (immediate, sp)", tAtSP(false)},
		{"1001 1 ttt iiiiiiii", "ldr (immediate, sp)", tAtSP(true)},
		{"1010 0 ddd iiiiiiii", "adr", func(in *Insn, w uint32) {
			in.effect(Effect{Op: Address, Dst: tRd8(w), A: ARMPC, B: NoReg, Imm: tImm8(w) * 4})
		}},
		{"1010 1 ddd iiiiiiii", "add (sp plus immediate)", func(in *Insn, w uint32) {
			in.set(AddImm, tRd8(w), ARMSP, tImm8(w)*4)
		}},
		// A6.2.5 miscellaneous
		{"1011 0000 0 iiiiiii", "add sp", func(in *Insn, w uint32) { mMoveBase(in, ARMSP, int64(w&0x7f)*4) }},
		{"1011 0000 1 iiiiiii", "sub sp", func(in *Insn, w uint32) { mMoveBase(in, ARMSP, -int64(w&0x7f)*4) }},
		{"1011 00i1 iiiii nnn", "cbz", tCompareBranch(Equal)},
		{"1011 10i1 iiiii nnn", "cbnz", tCompareBranch(NotEqual)},
		{"1011 0010 -- mmm ddd", "sxth, sxtb, uxth, uxtb", tWritesRd},
		{"1011 010 m rrrrrrrr", "push", tPush},
		{"1011 0110 --------", "setend, cps, setpan", nil},
		{"1011 1010 10 iiiiii", "hlt", aStop},
		{"1011 1010 -- mmm ddd", "rev, rev16, revsh", tWritesRd},
		{"1011 110 p rrrrrrrr", "pop", tPop},
		{"1011 1110 iiiiiiii", "bkpt", aTrap},
		{"1011 1111 --------", "it, hints", nil},
		{"1100 0 nnn rrrrrrrr", "stm", tMultiple(false)},
		{"1100 1 nnn rrrrrrrr", "ldm", tMultiple(true)},
		{"1101 1110 iiiiiiii", "udf", aTrap},
		{"1101 1111 iiiiiiii", "svc", nil},
		{"1101 cccc iiiiiiii", "b (conditional)", func(in *Insn, w uint32) {
			in.jump(Branch, signed(w, 8)<<1+4)
			in.When = aWhen(w >> 8)
		}},
		{"11100 iiiiiiiiiii", "b", func(in *Insn, w uint32) { in.jump(Jump, signed(w, 11)<<1+4) }},
	})
})

// thumb32 is section A6.3, both halfwords in one row; the ARMv8 additions are those of
// DDI 0487, F3.
var thumb32 = sync.OnceValue(func() *table {
	return newTable(32, 20, 8, 12, 4, append(append([]row{
		// A6.3.5 load/store multiple
		{"11101 00 00 0-0 1101 ----------------", "srsdb", nil},
		{"11101 00 11 0-0 1101 ----------------", "srsia", nil},
		{"11101 00 00 0-1 nnnn ----------------", "rfedb", aStop},
		{"11101 00 11 0-1 nnnn ----------------", "rfeia", aStop},
		{"11101 00 01 0wl nnnn rrrrrrrrrrrrrrrr", "stm, ldm, pop", wMultiple(false)},
		{"11101 00 10 0wl nnnn rrrrrrrrrrrrrrrr", "stmdb, push, ldmdb", wMultiple(true)},
		// A6.3.6 dual, exclusive, table branch
		{"11101 00 00 100 nnnn tttt dddd iiiiiiii", "strex", func(in *Insn, w uint32) { mStoreExclusive(in, wRd(w)) }},
		{"11101 00 00 101 nnnn tttt ---- iiiiiiii", "ldrex", func(in *Insn, w uint32) { mLoadExclusive(in, wRt(w), ARMPC) }},
		{"11101 00 01 100 nnnn tttt uuuu 10-- ----", "stl, stlb, stlh", aStore},
		{"11101 00 01 100 nnnn tttt uuuu ---- dddd", "strexb, strexh, strexd, stlex", func(in *Insn, w uint32) {
			mStoreExclusive(in, wRm(w))
		}},
		{"11101 00 01 101 nnnn 1111 0000 000h mmmm", "tbb, tbh", wTable},
		{"11101 00 01 101 nnnn tttt uuuu ---- ----", "ldrexb, ldrexh, ldrexd, lda, ldaex", func(in *Insn, w uint32) {
			mLoadExclusive(in, wRt(w), wRd(w))
		}},
		{"11101 00 -- 1-0 nnnn tttt uuuu iiiiiiii", "strd (immediate)", wDual(false)},
		{"11101 00 -- 1-1 nnnn tttt uuuu iiiiiiii", "ldrd (immediate, literal)", wDual(true)},
		// A6.3.11 data processing (shifted register)
		{"11101 01 0000 1 nnnn 0iii 1111 iitt mmmm", "tst", nil},
		{"11101 01 0000 s nnnn 0iii dddd iitt mmmm", "and", wReg(And)},
		{"11101 01 0001 s nnnn 0iii dddd iitt mmmm", "bic", wReg(AndNot)},
		{"11101 01 0010 s 1111 0iii dddd iitt mmmm", "mov, lsl, lsr, asr, ror, rrx", wReg(Move)},
		{"11101 01 0010 s nnnn 0iii dddd iitt mmmm", "orr", wReg(Or)},
		{"11101 01 0100 1 nnnn 0iii 1111 iitt mmmm", "teq", nil},
		{"11101 01 0100 s nnnn 0iii dddd iitt mmmm", "eor", wReg(Xor)},
		{"11101 01 1000 1 nnnn 0iii 1111 iitt mmmm", "cmn", nil},
		{"11101 01 1000 s nnnn 0iii dddd iitt mmmm", "add", wReg(Add)},
		{"11101 01 1101 1 nnnn 0000 1111 0000 mmmm", "cmp", func(in *Insn, w uint32) { in.set3(Compare, NoReg, wRn(w), wRm(w)) }},
		{"11101 01 1101 1 nnnn 0iii 1111 iitt mmmm", "cmp (shifted)", nil},
		{"11101 01 1101 s nnnn 0iii dddd iitt mmmm", "sub", wReg(Sub)},
		{"11101 01 ---- s nnnn -iii dddd iitt mmmm", "orn, mvn, pkh, adc, sbc, rsb, csel", wWritesRd},
		// A6.3.1 data processing (modified immediate)
		{"11110 i0 0000 1 nnnn 0iii 1111 iiiiiiii", "tst", nil},
		{"11110 i0 0000 s nnnn 0iii dddd iiiiiiii", "and", wImm(AndImm)},
		{"11110 i0 0001 s nnnn 0iii dddd iiiiiiii", "bic", wImm(AndNot)},
		{"11110 i0 0010 s 1111 0iii dddd iiiiiiii", "mov", wImm(Const)},
		{"11110 i0 0010 s nnnn 0iii dddd iiiiiiii", "orr", wImm(OrImm)},
		{"11110 i0 0011 s 1111 0iii dddd iiiiiiii", "mvn", func(in *Insn, w uint32) {
			mImm(in, Const, wRd(w), 0, ^wExpandImm(w), 0)
		}},
		{"11110 i0 0100 1 nnnn 0iii 1111 iiiiiiii", "teq", nil},
		{"11110 i0 0100 s nnnn 0iii dddd iiiiiiii", "eor", wImm(XorImm)},
		{"11110 i0 1000 1 nnnn 0iii 1111 iiiiiiii", "cmn", nil},
		{"11110 i0 1000 s nnnn 0iii dddd iiiiiiii", "add", wImm(AddImm)},
		{"11110 i0 1101 1 nnnn 0iii 1111 iiiiiiii", "cmp", func(in *Insn, w uint32) {
			in.set(CompareImm, NoReg, wRn(w), int64(wExpandImm(w)))
		}},
		{"11110 i0 1101 s nnnn 0iii dddd iiiiiiii", "sub", wImm(Sub)},
		{"11110 i0 ---- s nnnn 0iii dddd iiiiiiii", "orn, adc, sbc, rsb", wWritesRd},
		// A6.3.3 data processing (plain binary immediate)
		{"11110 i1 0000 0 nnnn 0iii dddd iiiiiiii", "addw, adr", func(in *Insn, w uint32) { mImm(in, AddImm, wRd(w), wRn(w), wImm12(w), 0) }},
		{"11110 i1 0010 0 iiii 0iii dddd iiiiiiii", "movw", func(in *Insn, w uint32) { mImm(in, Const, wRd(w), 0, wImm16(w), 0) }},
		{"11110 i1 0101 0 nnnn 0iii dddd iiiiiiii", "subw, adr", func(in *Insn, w uint32) { mImm(in, Sub, wRd(w), wRn(w), wImm12(w), 0) }},
		{"11110 i1 0110 0 iiii 0iii dddd iiiiiiii", "movt", func(in *Insn, w uint32) {
			if wRd(w) != ARMPC {
				in.effect(Effect{Op: Insert16, Dst: wRd(w), A: wRd(w), B: 16, Imm: int64(wImm16(w))})
			}
		}},
		{"11110 -1 1011 0 nnnn 0iii dddd ii-mmmmm", "bfi, bfc", func(in *Insn, w uint32) {
			mBitfield(in, wRd(w), wRn(w), w&31, wImm5(w))
		}},
		{"11110 -1 1110 0 nnnn 0iii dddd ii-wwwww", "ubfx", func(in *Insn, w uint32) {
			mUbfx(in, wRd(w), wRn(w), w&31+1, wImm5(w))
		}},
		{"11110 -1 1--- 0 nnnn 0iii dddd ii------", "ssat, usat, sbfx", wWritesRd},
		// A6.3.4 branches and miscellaneous control
		{"11110 0111101 nnnn 1000 ---- iiiiiiii", "subs pc, lr; eret", aStop},
		{"11110 0111100 mmmm 10-0 ---- --------", "bxj", func(in *Insn, w uint32) { mJumpReg(in, wRn(w)) }},
		{"11110 011111- ---- 10-0 dddd --------", "mrs", wWritesRd},
		{"11110 1111111 iiii 1010 iiii iiiiiiii", "udf", aTrap},
		{"11110 -111--- ---- 10-0 ---- --------", "msr, hints, barriers, dcps, hvc, smc", nil},
		{"11110 s cccc iiiiii 10j0 jiiiiiiiiiii", "b (conditional)", wBranchCond},
		{"11110 s iiiiiiiiii 10j1 jiiiiiiiiiii", "b", func(in *Insn, w uint32) { in.jump(Jump, wImm25(w)+4) }},
		{"11110 s iiiiiiiiii 11j1 jiiiiiiiiiii", "bl", func(in *Insn, w uint32) {
			in.jump(Call, wImm25(w)+4)
			in.writes(ARMLR)
		}},
		{"11110 s iiiiiiiiii 11j0 jiiiiiiiiii0", "blx (immediate)", func(in *Insn, _ uint32) {
			in.Flow = Call // its target needs the address rounded
			in.writes(ARMLR)
		}},
		// A6.3.10 store single
		{"11111 00 0 -00 0 nnnn tttt 0000 00ii mmmm", "strb (register)", wTransferReg(false, 1)},
		{"11111 00 0 -01 0 nnnn tttt 0000 00ii mmmm", "strh (register)", wTransferReg(false, 2)},
		{"11111 00 0 010 0 nnnn tttt 0000 00ii mmmm", "str (register)", wTransferReg(false, 4)},
		{"11111 00 0 -00 0 nnnn tttt iiii iiii iiii", "strb (immediate)", wTransfer(false, 1)},
		{"11111 00 0 -01 0 nnnn tttt iiii iiii iiii", "strh (immediate)", wTransfer(false, 2)},
		{"11111 00 0 -10 0 nnnn tttt iiii iiii iiii", "str (immediate)", wTransfer(false, 4)},
		// A6.3.7 to A6.3.9 loads; Rt 1111 of a byte or halfword is a preload
		{"11111 00 - -0- 1 nnnn 1111 ---- ---- ----", "pld, pldw, pli", nil},
		{"11111 00 0 000 1 nnnn tttt 0000 00ii mmmm", "ldrb (register)", wTransferReg(true, 1)},
		{"11111 00 0 001 1 nnnn tttt 0000 00ii mmmm", "ldrh (register)", wTransferReg(true, 2)},
		{"11111 00 0 010 1 nnnn tttt 0000 00ii mmmm", "ldr (register)", wTransferReg(true, 4)},
		{"11111 00 1 000 1 nnnn tttt 0000 00ii mmmm", "ldrsb (register)", wTransferReg(true, -1)},
		{"11111 00 1 001 1 nnnn tttt 0000 00ii mmmm", "ldrsh (register)", wTransferReg(true, -2)},
		{"11111 00 0 -00 1 nnnn tttt iiii iiii iiii", "ldrb (immediate, literal)", wTransfer(true, 1)},
		{"11111 00 0 -01 1 nnnn tttt iiii iiii iiii", "ldrh (immediate, literal)", wTransfer(true, 2)},
		{"11111 00 0 -10 1 nnnn tttt iiii iiii iiii", "ldr (immediate, literal)", wTransfer(true, 4)},
		{"11111 00 1 -00 1 nnnn tttt iiii iiii iiii", "ldrsb (immediate, literal)", wTransfer(true, -1)},
		{"11111 00 1 -01 1 nnnn tttt iiii iiii iiii", "ldrsh (immediate, literal)", wTransfer(true, -2)},
		// A6.3.12 to A6.3.17
		{"11111 001 --l0 nnnn dddd ---- ---- mmmm", "vld1-4, vst1-4", mStructures},
		{"11111 010 ---- nnnn 1111 dddd ---- mmmm", "lsl, sxt, uxt, parallel arithmetic, qadd, rev, clz", wWritesRd},
		{"11111 0110 --- nnnn aaaa dddd ---- mmmm", "mul, mla, smmul, usad8", wWritesRd},
		{"11111 0111 --- nnnn llll hhhh ---- mmmm", "smull, umull, sdiv, udiv, smlal", func(in *Insn, w uint32) {
			mWrites(in, wRt(w))
			mWrites(in, wRd(w))
		}},
		{"111-1111 ---- ---- ---- ---- ---- ----", "advanced SIMD", nil},
	}, armCoprocessor("1110")...), armCoprocessor("1111")...))
})
