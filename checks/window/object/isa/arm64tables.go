package isa

import "sync"

// arm64Table is chapter C4.1 of DDI 0487, in its order. d is Rd, t Rt, n Rn, m Rm, s Rs, i an
// immediate, c a condition; in a class that we need no more of, - is anything.
var arm64Table = sync.OnceValue(func() *table {
	return newTable(32, 21, 11, 10, 2, []row{
		// Reserved; SME and SVE write the general register of bits 4:0 at most.
		{"0000000000000000 iiiiiiiiiiiiiiii", "udf", aTrap},
		{"1--0000------------------------d", "SME", aWritesRd},
		{"---0010-------------------- -----", "SVE", aWritesRdSP},

		// Data processing, immediate.
		{"0 ii 10000 iiiiiiiiiiiiiiiiiii ddddd", "adr", func(in *Insn, w uint32) {
			if aRd(w) != 31 {
				in.set(Address, aX(aRd(w)), NoReg, aImmADR(w))
			}
		}},
		{"1 ii 10000 iiiiiiiiiiiiiiiiiii ddddd", "adrp", func(in *Insn, w uint32) {
			if aRd(w) != 31 {
				in.set(Page, aX(aRd(w)), NoReg, aImmADR(w)<<12)
			}
		}},
		{"1 0 0 100010 h iiiiiiiiiiii nnnnn ddddd", "add (immediate)", aAddImm(1)},
		{"1 0 1 100010 h iiiiiiiiiiii nnnnn ddddd", "adds (immediate), cmn", aAddImmFlags(1)},
		{"1 1 0 100010 h iiiiiiiiiiii nnnnn ddddd", "sub (immediate)", aAddImm(-1)},
		{"1 1 1 100010 h iiiiiiiiiiii nnnnn ddddd", "subs (immediate), cmp", aAddImmFlags(-1)},
		{"0 - 0 100010 h iiiiiiiiiiii nnnnn ddddd", "add, sub (immediate, 32-bit)", aWritesRdSP},
		{"0 0 1 100010 h iiiiiiiiiiii nnnnn ddddd", "adds (immediate, 32-bit), cmn", aCompareImm32(1)},
		{"0 1 1 100010 h iiiiiiiiiiii nnnnn ddddd", "subs (immediate, 32-bit), cmp", aCompareImm32(-1)},
		{"- - - 100011 - ------------ nnnnn ddddd", "addg, subg, smax, umin ...", aWritesRdSP},
		{"- 00 100100 - rrrrrr ssssss nnnnn ddddd", "and (immediate)", aLogicalImm(AndImm, true)},
		{"- 01 100100 - rrrrrr ssssss nnnnn ddddd", "orr (immediate), mov", aLogicalImm(OrImm, true)},
		{"- 10 100100 - rrrrrr ssssss nnnnn ddddd", "eor (immediate)", aLogicalImm(XorImm, true)},
		{"- 11 100100 - rrrrrr ssssss nnnnn ddddd", "ands (immediate), tst", aLogicalImm(AndImm, false)},
		{"- 00 100101 hh iiiiiiiiiiiiiiii ddddd", "movn", aMovWide(true)},
		{"- 10 100101 hh iiiiiiiiiiiiiiii ddddd", "movz", aMovWide(false)},
		{"- 11 100101 hh iiiiiiiiiiiiiiii ddddd", "movk", aMovk},
		{"- 00 100110 - rrrrrr ssssss nnnnn ddddd", "sbfm", aWritesRd},
		{"1 01 100110 1 rrrrrr ssssss nnnnn ddddd", "bfm (bfi, bfxil)", aBfm},
		{"1 10 100110 1 rrrrrr ssssss nnnnn ddddd", "ubfm (lsl, lsr, ubfx, ubfiz)", aUbfm},
		{"0 -- 100110 0 rrrrrr ssssss nnnnn ddddd", "bfm, ubfm (32-bit)", aWritesRd},
		{"- 00 100111 - 0mmmmm iiiiii nnnnn ddddd", "extr", aWritesRd},

		// Branches, exceptions, system.
		{"01010100 iiiiiiiiiiiiiiiiiii - cccc", "b.cond, bc.cond", aBranch},
		{"11010100 000 iiiiiiiiiiiiiiii 00001", "svc", nil},
		{"11010100 000 iiiiiiiiiiiiiiii 0001-", "hvc, smc", nil},
		{"11010100 001 iiiiiiiiiiiiiiii 00000", "brk", aTrap},
		{"11010100 010 iiiiiiiiiiiiiiii 00000", "hlt", aStop},
		{"11010100 011 iiiiiiiiiiiiiiii 00000", "tcancel", nil},
		{"11010100 101 iiiiiiiiiiiiiiii 000--", "dcps1, dcps2, dcps3", nil},
		{"1101010100 0 00 000 0100 mmmm 100 11111", "msr (immediate) PAN", func(in *Insn, w uint32) {
			in.Window, in.Control, in.SourceImm = Write, PAN, uint64(w>>8&1)
		}},
		{"1101010100 0 11 000 0010 0000 000 ttttt", "msr TTBR0_EL1", aWindow(TTBR0)},
		{"1101010100 0 11 000 0010 0000 001 ttttt", "msr TTBR1_EL1", aWindow(TTBR1)},
		{"1101010100 0 11 000 0100 0010 011 ttttt", "msr PAN", aWindow(PAN)},
		{"1101010100 1 11 000 0010 0000 000 ttttt", "mrs TTBR0_EL1", aControl(TTBR0)},
		{"1101010100 1 11 000 0010 0000 001 ttttt", "mrs TTBR1_EL1", aControl(TTBR1)},
		{"1101010100 1 11 000 0100 0010 011 ttttt", "mrs PAN", aControl(PAN)},
		{"1101010100 1 -- --- ---- ---- --- ttttt", "mrs, sysl, ttest, gcspopm", aWritesRd},
		{"1101010100 0 01 011 0111 0100 001 ttttt", "dc zva", aStore},
		{"1101010100 0 -- --- ---- ---- --- -----", "msr, sys, hints, barriers", nil},
		{"1101010101 1 -- --- ---- ---- --- ttttt", "mrrs", func(in *Insn, w uint32) {
			in.writes(aX(aRd(w)))
			in.writes(aX((aRd(w) + 1) & 31))
		}},
		{"1101010101 0 -- --- ---- ---- --- -----", "msrr, sysp", nil},
		{"1101011 0000 11111 000000 nnnnn 00000", "br", aRegBranch(JumpIndirect)},
		{"1101011 0000 11111 00001- nnnnn 11111", "braaz, brabz", aRegBranch(JumpIndirect)},
		{"1101011 1000 11111 00001- nnnnn mmmmm", "braa, brab", aRegBranch(JumpIndirect)},
		{"1101011 0001 11111 000000 nnnnn 00000", "blr", aRegBranch(CallIndirect)},
		{"1101011 0001 11111 00001- nnnnn 11111", "blraaz, blrabz", aRegBranch(CallIndirect)},
		{"1101011 1001 11111 00001- nnnnn mmmmm", "blraa, blrab", aRegBranch(CallIndirect)},
		{"1101011 0010 11111 000000 nnnnn 00000", "ret", aRegBranch(Return)},
		{"1101011 0010 11111 00001- 11111 11111", "retaa, retab", func(in *Insn, _ uint32) {
			in.Flow, in.Source = Return, ARM64LR
		}},
		{"1101011 0100 11111 ------ 11111 -----", "eret, eretaa, eretab", aStop},
		{"1101011 0101 11111 000000 11111 00000", "drps", aStop},
		{"0 00101 iiiiiiiiiiiiiiiiiiiiiiiiii", "b", func(in *Insn, w uint32) { in.jump(Jump, aImm26(w)) }},
		{"1 00101 iiiiiiiiiiiiiiiiiiiiiiiiii", "bl", func(in *Insn, w uint32) {
			in.jump(Call, aImm26(w))
			in.writes(ARM64LR)
		}},
		{"- 011010 0 iiiiiiiiiiiiiiiiiii ttttt", "cbz", aCompareBranch(Equal)},
		{"- 011010 1 iiiiiiiiiiiiiiiiiii ttttt", "cbnz", aCompareBranch(NotEqual)},
		{"b 011011 - bbbbb iiiiiiiiiiiiii ttttt", "tbz, tbnz", func(in *Insn, w uint32) {
			in.jump(Branch, aImm14(w))
		}},

		// Loads and stores. Exclusives and compare-and-swap:
		{"0- 001000 0-1 sssss - 11111 nnnnn ttttt", "casp", aCasp},
		{"-- 001000 1-1 sssss - 11111 nnnnn ttttt", "cas", aCas},
		{"-- 001000 00- sssss - ----- nnnnn ttttt", "stxr, stlxr, stxp, stlxp", aStoreStatus},
		{"-- 001000 010 ----- - ----- nnnnn ttttt", "ldxr, ldaxr", aLoadRt},
		{"-- 001000 011 ----- - uuuuu nnnnn ttttt", "ldxp, ldaxp", aLoadRtRt2},
		{"-- 001000 100 ----- - ----- nnnnn ttttt", "stlr, stllr", aStore},
		{"-- 001000 110 ----- - ----- nnnnn ttttt", "ldar, ldlar", aLoadRt},
		// vector structures
		{"0- 001100 0-000000 ---- -- nnnnn ttttt", "ld1-4, st1-4 (multiple)", aVector(false)},
		{"0- 001100 1-0----- ---- -- nnnnn ttttt", "ld1-4, st1-4 (multiple, post-index)", aVector(true)},
		{"0- 001101 0------- ---- -- nnnnn ttttt", "ld1-4, st1-4 (single)", aVector(false)},
		{"0- 001101 1------- ---- -- nnnnn ttttt", "ld1-4, st1-4 (single, post-index)", aVector(true)},
		// memory tags, copy and set, RCpc with an offset
		{"-- 011001 --0 iiiiiiiii 00 nnnnn ttttt", "ldapur, stlur", func(in *Insn, w uint32) {
			aUnscaled(in, w)
			if w>>22&3 != 0 {
				in.writes(aX(aRd(w)))
			}
		}},
		{"00 011001 --0 sssss 0--- 01 nnnnn ddddd", "cpyf*", func(in *Insn, w uint32) {
			in.Memory = Reads | Writes
			in.writes(aX(aRd(w)))
			in.writes(aX(aRn(w)))
			in.writes(aX(aRm(w)))
		}},
		{"-- 011-01 -------------- nnnnn ddddd", "memory copy and set, tags, LRCPC3, RCW, LSE128", func(in *Insn, w uint32) {
			in.Memory = Reads | Writes
			in.writes(aX(aRd(w)))
			in.writes(aSP(aRn(w)))
			in.writes(aX(aRm(w)))
		}},
		{"-- 011 0 00 iiiiiiiiiiiiiiiiiii ttttt", "ldr (literal), ldrsw, prfm", aLiteral},
		{"-- 011 1 00 iiiiiiiiiiiiiiiiiii ttttt", "ldr (literal, vector)", func(in *Insn, _ uint32) { in.Memory = Reads }},
		// pairs
		{"01 101 0 0 -- 0 iiiiiii uuuuu nnnnn ttttt", "stgp", func(in *Insn, w uint32) {
			in.Memory = Writes
			in.writes(aSP(aRn(w)))
		}},
		{"-- 101 0 0 mm l iiiiiii uuuuu nnnnn ttttt", "ldp, stp, ldnp, stnp, ldpsw", aPair},
		{"-- 101 1 0 mm l iiiiiii uuuuu nnnnn ttttt", "ldp, stp (vector)", aVectorPair},
		// one register
		{"-- 111 0 00 --0 iiiiiiiii -0 nnnnn ttttt", "ldur, stur, ldtr, sttr", aUnscaled},
		{"-- 111 0 00 --0 iiiiiiiii 01 nnnnn ttttt", "ldr, str (post-index)", aPostIndex},
		{"-- 111 0 00 --0 iiiiiiiii 11 nnnnn ttttt", "ldr, str (pre-index)", aPreIndex},
		{"-- 111 1 00 --0 iiiiiiiii -0 nnnnn ttttt", "ldur, stur (vector)", aVectorAt},
		{"-- 111 1 00 --0 iiiiiiiii -1 nnnnn ttttt", "ldr, str (vector, post- and pre-index)", aVector(true)},
		{"11 111 0 00 -01 11111 1-01 00 nnnnn ttttt", "st64b, ld64b", func(in *Insn, w uint32) {
			in.Memory = Reads | Writes
			for r := aRd(w); r < aRd(w)+8 && r < 31; r++ {
				in.writes(aX(r))
			}
		}},
		{"-- 111 0 00 --1 sssss ---- 00 nnnnn ttttt", "ldadd, ldclr, swp, ldapr ... (LSE)", aAtomicRt},
		{"-- 111 1 00 --1 sssss ---- 00 nnnnn ttttt", "LSFE", func(in *Insn, _ uint32) { in.Memory = Reads | Writes }},
		{"-- 111 0 00 --1 mmmmm ooo- 10 nnnnn ttttt", "ldr, str (register)", aRegOffset},
		{"-- 111 1 00 --1 mmmmm ooo- 10 nnnnn ttttt", "ldr, str (register, vector)", aVector(false)},
		{"11 111 0 00 --1 iiiiiiiii w1 nnnnn ttttt", "ldraa, ldrab", func(in *Insn, w uint32) {
			aLoadRt(in, w)
			if w>>11&1 != 0 {
				in.writes(aSP(aRn(w)))
			}
		}},
		{"-- 111 0 01 -- iiiiiiiiiiii nnnnn ttttt", "ldr, str (unsigned offset)", aUnsigned},
		{"-- 111 1 01 -- iiiiiiiiiiii nnnnn ttttt", "ldr, str (unsigned offset, vector)", aVectorAt},

		// Data processing, register.
		{"1 00 01010 000 mmmmm 000000 nnnnn ddddd", "and (shifted register)", aRegOp(And)},
		{"1 00 01010 001 mmmmm 000000 nnnnn ddddd", "bic (shifted register)", aRegOp(AndNot)},
		{"1 01 01010 000 mmmmm 000000 nnnnn ddddd", "orr (shifted register), mov", aRegOp(Or)},
		{"1 10 01010 000 mmmmm 000000 nnnnn ddddd", "eor (shifted register)", aRegOp(Xor)},
		{"- -- 01010 --- mmmmm iiiiii nnnnn ddddd", "the other logical", aWritesRd},
		{"1 0- 01011 000 mmmmm 000000 nnnnn ddddd", "add (shifted register)", aRegOp(Add)},
		{"1 1- 01011 000 mmmmm 000000 nnnnn ddddd", "sub (shifted register), cmp", aRegOp(Sub)},
		{"1 0- 01011 000 mmmmm iiiiii nnnnn ddddd", "add (shifted register, lsl)", aAddShifted},
		{"0 11 01011 000 mmmmm 000000 nnnnn ddddd", "subs (shifted register, 32-bit), cmp", aSubs32},
		{"- -- 01011 --0 mmmmm iiiiii nnnnn ddddd", "the other add, sub (shifted register)", aWritesRd},
		{"1 00 01011 001 mmmmm oooiii nnnnn ddddd", "add (extended register)", aAddExtended},
		{"- -0 01011 001 mmmmm oooiii nnnnn ddddd", "add, sub (extended register)", aWritesRdSP},
		{"- -1 01011 001 mmmmm oooiii nnnnn ddddd", "adds, subs (extended register)", aWritesRd},
		{"- -1 11010 000 ----- -00010 nnnnn 01101", "setf8, setf16", nil},
		{"1 01 11010 000 iiiiii 00001 nnnnn 0----", "rmif", nil},
		{"- -- 11010 000 mmmmm ------ nnnnn ddddd", "adc, sbc", aWritesRd},
		{"- -1 11010 010 mmmmm ------ nnnnn 0----", "ccmp, ccmn", nil},
		{"- -0 11010 100 mmmmm ------ nnnnn ddddd", "csel, csinc, csinv, csneg", aWritesRd},
		{"- -- 11010 110 mmmmm ------ nnnnn ddddd", "one and two sources: rev, clz, udiv, lslv, irg", aWritesRdSP},
		{"- 00 11011 --- mmmmm ------ nnnnn ddddd", "madd, msub, mulh", aWritesRd},

		// SIMD and floating point: what reaches a general register.
		{"- 0- 11110 -- 1 ----- 000000 nnnnn ddddd", "fcvt*, fmov to and from general registers", aWritesRd},
		{"- 0- 11110 -- 0 ----- ------ nnnnn ddddd", "fcvtzs, fcvtzu (fixed point)", aWritesRd},
		{"0 -0 01110 000 ----- 0 01-11 nnnnn ddddd", "umov, smov", aWritesRd},
		{"- -- -111- --- ----- ------ ----- -----", "the rest of SIMD and floating point", nil},
	})
})
