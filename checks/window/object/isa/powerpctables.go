package isa

import "sync"

var (
	power32  = sync.OnceValue(func() *table { return newTable(32, 26, 6, 1, 4, powerRows(false)) })
	power64  = sync.OnceValue(func() *table { return newTable(32, 26, 6, 1, 4, powerRows(true)) })
	power32X = sync.OnceValue(func() *table { return newTable(32, 6, 5, 1, 5, power31Rows()) })
	power64X = power32X
)

// powerRows are the primary opcodes of book III, appendix "Opcode Maps" (table 1), but 1
// (prefix) and 31. The sections are those of book I. A lone t is RT or RS, a RA, b RB.
func powerRows(long bool) []row {
	return []row{
		{"000000 ----- ----- ----- 0100000000 -", "attn (POWER4)", nil},
		// 3.3.11 trap
		{"000010 ttttt aaaaa iiiiiiiiiiiiiiii", "tdi", pTrapIf31},
		{"000011 ttttt aaaaa iiiiiiiiiiiiiiii", "twi", pTrapIf31},
		// 6: vectors, and multiply-add of 3.3.9; SPE's evxxx of e500 shares the opcode and
		// writes the general register of the same number
		{"000100 ttttt aaaaa bbbbb ccccc xxxxxx", "vector, maddld, SPE", pWritesRT},
		{"000110 ttttt aaaaa iiiiiiiiiiii xxxx", "lxvp, stxvp", nil},
		{"000111 ttttt aaaaa iiiiiiiiiiiiiiii", "mulli", pWritesRT},
		{"001000 ttttt aaaaa iiiiiiiiiiiiiiii", "subfic", pWritesRT},
		{"001001 ttttt aaaaa iiiiiiiiiiiiiiii", "dozi (601)", pWritesRT},
		{"001010 ----l aaaaa iiiiiiiiiiiiiiii", "cmpli", pCompareImm},
		{"001011 ----l aaaaa iiiiiiiiiiiiiiii", "cmpi", pCompareSigned},
		{"001100 ttttt aaaaa iiiiiiiiiiiiiiii", "addic", pWritesRT},
		{"001101 ttttt aaaaa iiiiiiiiiiiiiiii", "addic.", pWritesRT},
		{"001110 ttttt aaaaa iiiiiiiiiiiiiiii", "addi", pAddi(long, 0)},
		{"001111 ttttt aaaaa iiiiiiiiiiiiiiii", "addis", pAddi(long, 16)},

		// 2.4 branch
		{"010000 ooooo iiiii dddddddddddddd al", "bc", pBc},
		{"010001 ----- ----- ---- ------- --- --", "sc, scv", nil},
		{"010010 llllllllllllllllllllllll al", "b", pB},
		{"010011 ooooo iiiii --- bb 0000010000 l", "bclr", pBcReg(PowerPCLR, Return, BranchReturn)},
		{"010011 ooooo iiiii --- bb 1000010000 l", "bcctr", pBcReg(PowerPCCTR, JumpIndirect, BranchIndirect)},
		{"010011 ooooo iiiii --- bb 1000110000 l", "bctar", pBcReg(NoReg, JumpIndirect, BranchIndirect)},
		// book III, 4.3 (server) and the embedded and 8xx returns from interrupt
		{"010011 ----- ----- ----- 0000010010 -", "rfid", pStop},
		{"010011 ----- ----- ----- 0000110010 -", "rfi", pStop},
		{"010011 ----- ----- ----- 0000110011 -", "rfci", pStop},
		{"010011 ----- ----- ----- 0000100111 -", "rfdi", pStop},
		{"010011 ----- ----- ----- 0000100110 -", "rfmci", pStop},
		{"010011 ----- ----- ----- 0001100110 -", "rfgi", pStop},
		{"010011 ----- ----- ----- 0001010010 -", "rfscv", pStop},
		{"010011 ----- ----- ----- 0100010010 -", "hrfid", pStop},
		{"010011 ----- ----- ----- 0100110010 -", "urfid", pStop},
		{"010011 ttttt ----- ----- ----- 00010 -", "addpcis", pWritesRT},
		{"010011 ----- ----- ----- 0010010110 -", "isync", nil},
		{"010011 ----- ----- ----- ---------- -", "condition register logic, mcrf, stop, dnh", nil},

		// 3.3.14 rotate
		{"010100 sssss aaaaa hhhhh mmmmm eeeee r", "rlwimi", pRlwimi},
		{"010101 sssss aaaaa hhhhh mmmmm eeeee r", "rlwinm", pRlwinm(long)},
		{"010110 sssss aaaaa bbbbb mmmmm eeeee r", "rlmi (601)", pWritesRA},
		{"010111 sssss aaaaa bbbbb mmmmm eeeee r", "rlwnm", pWritesRA},
		// 3.3.13 logical
		{"011000 sssss aaaaa uuuuuuuuuuuuuuuu", "ori", pLogical(OrImm, 0)},
		{"011001 sssss aaaaa uuuuuuuuuuuuuuuu", "oris", pLogical(OrImm, 16)},
		{"011010 sssss aaaaa uuuuuuuuuuuuuuuu", "xori", pLogical(XorImm, 0)},
		{"011011 sssss aaaaa uuuuuuuuuuuuuuuu", "xoris", pLogical(XorImm, 16)},
		{"011100 sssss aaaaa uuuuuuuuuuuuuuuu", "andi.", pLogical(AndImm, 0)},
		{"011101 sssss aaaaa uuuuuuuuuuuuuuuu", "andis.", pLogical(AndImm, 16)},
		// 3.3.14.2 64-bit rotate
		{"011110 sssss aaaaa hhhhh mmmmmm 000 h r", "rldicl", pRld(func(_, mb uint32) uint64 { return powerMask(mb, 63) })},
		{"011110 sssss aaaaa hhhhh mmmmmm 001 h r", "rldicr", pRld(func(_, me uint32) uint64 { return powerMask(0, me) })},
		{"011110 sssss aaaaa hhhhh mmmmmm 010 h r", "rldic", pRld(func(sh, mb uint32) uint64 { return powerMask(mb, 63-sh) })},
		{"011110 sssss aaaaa hhhhh mmmmmm 011 h r", "rldimi", pRldimi},
		{"011110 sssss aaaaa bbbbb mmmmmm 100 - r", "rldcl, rldcr", pWritesRA},

		// 3.3.2 loads, 3.3.3 stores, 3.3.5 multiple
		{"100000 ttttt aaaaa dddddddddddddddd", "lwz", pLoadD(4, !long, false)},
		{"100001 ttttt aaaaa dddddddddddddddd", "lwzu", pLoadD(4, !long, true)},
		{"100010 ttttt aaaaa dddddddddddddddd", "lbz", pLoadD(1, false, false)},
		{"100011 ttttt aaaaa dddddddddddddddd", "lbzu", pLoadD(1, false, true)},
		{"100100 sssss aaaaa dddddddddddddddd", "stw", pStoreD(4, !long, false)},
		{"100101 sssss aaaaa dddddddddddddddd", "stwu", pStoreD(4, !long, true)},
		{"100110 sssss aaaaa dddddddddddddddd", "stb", pStoreD(1, false, false)},
		{"100111 sssss aaaaa dddddddddddddddd", "stbu", pStoreD(1, false, true)},
		{"101000 ttttt aaaaa dddddddddddddddd", "lhz", pLoadD(2, false, false)},
		{"101001 ttttt aaaaa dddddddddddddddd", "lhzu", pLoadD(2, false, true)},
		{"101010 ttttt aaaaa dddddddddddddddd", "lha", pLoadD(-2, false, false)},
		{"101011 ttttt aaaaa dddddddddddddddd", "lhau", pLoadD(-2, false, true)},
		{"101100 sssss aaaaa dddddddddddddddd", "sth", pStoreD(2, false, false)},
		{"101101 sssss aaaaa dddddddddddddddd", "sthu", pStoreD(2, false, true)},
		{"101110 ttttt aaaaa dddddddddddddddd", "lmw", pLmw},
		{"101111 sssss aaaaa dddddddddddddddd", "stmw", pStmw},
		// 4.6 floating point
		{"110000 ttttt aaaaa dddddddddddddddd", "lfs", pFloat(Reads, 4, false)},
		{"110001 ttttt aaaaa dddddddddddddddd", "lfsu", pFloat(Reads, 4, true)},
		{"110010 ttttt aaaaa dddddddddddddddd", "lfd", pFloat(Reads, 8, false)},
		{"110011 ttttt aaaaa dddddddddddddddd", "lfdu", pFloat(Reads, 8, true)},
		{"110100 sssss aaaaa dddddddddddddddd", "stfs", pFloat(Writes, 4, false)},
		{"110101 sssss aaaaa dddddddddddddddd", "stfsu", pFloat(Writes, 4, true)},
		{"110110 sssss aaaaa dddddddddddddddd", "stfd", pFloat(Writes, 8, false)},
		{"110111 sssss aaaaa dddddddddddddddd", "stfdu", pFloat(Writes, 8, true)},
		{"111000 ttttt aaaaa dddddddddddd ----", "lq", func(in *Insn, w uint32) {
			in.Memory = Reads
			in.writes(pRT(w))
			in.writes(pRT(w) + 1)
		}},
		{"111001 ttttt aaaaa dddddddddddddd --", "lfdp, lxsd, lxssp", pReads},
		{"111010 ttttt aaaaa dddddddddddddd 00", "ld", func(in *Insn, w uint32) { pLoad(in, w, pDS(w), 8, long, false) }},
		{"111010 ttttt aaaaa dddddddddddddd 01", "ldu", func(in *Insn, w uint32) { pLoad(in, w, pDS(w), 8, long, true) }},
		{"111010 ttttt aaaaa dddddddddddddd 10", "lwa", func(in *Insn, w uint32) { pLoad(in, w, pDS(w), -4, false, false) }},
		{"111101 sssss aaaaa dddddddddddddd --", "stfdp, stxsd, stxssp, lxv, stxv", func(in *Insn, w uint32) {
			in.Memory = Writes
			if w&7 == 1 { // lxv
				in.Memory = Reads
			} else if pRA(w) == PowerPCSP {
				in.effect(Effect{Op: Lost, Dst: NoReg, A: NoReg, B: 16, Imm: pDS(w)})
			}
		}},
		{"111110 sssss aaaaa dddddddddddddd 00", "std", func(in *Insn, w uint32) { pStore(in, w, pDS(w), 8, long, false) }},
		{"111110 sssss aaaaa dddddddddddddd 01", "stdu", func(in *Insn, w uint32) { pStore(in, w, pDS(w), 8, long, true) }},
		{"111110 sssss aaaaa dddddddddddddd 10", "stq", func(in *Insn, w uint32) { pStore(in, w, pDS(w), 16, false, false) }},

		// 4 and 7: floating point, decimal, vector-scalar; only these reach a general register
		{"111100 ttttt 0000- bbbbb 101011011 --", "xsxexpdp, xsxsigdp", pWritesRT},
		{"111011 ----- ----- ----- ----------- ", "floating point, single", nil},
		{"111100 ----- ----- ----- ----------- ", "vector-scalar", nil},
		{"111111 ----- ----- ----- ----------- ", "floating point, double", nil},
	}
}

// power31Rows are the extended opcodes of primary opcode 31: book III, appendix "Opcode
// Maps" (table 2 for 31), and for what is no longer there: PEM and the 8xx manual. The
// last column of each is Rc or reserved, o is OE.
func power31Rows() []row {
	return []row{
		// book III, 5.4.4 move to and from special registers. An SPR's number is drawn
		// low half first.
		{"011111 sssss 11010 11000 0111010011 -", "mtspr 794 (MD_AP)", pWindow(MDAP)},
		{"011111 sssss 11101 00000 0111010011 -", "mtspr 29 (AMR)", pWindow(AMR)},
		{"011111 sssss 10000 00001 0111010011 -", "mtspr 48 (PID)", pWindow(PID)},
		{"011111 sssss 01000 00000 0111010011 -", "mtspr 8 (LR)", pMoveTo(PowerPCLR)},
		{"011111 sssss 01001 00000 0111010011 -", "mtspr 9 (CTR)", pMoveTo(PowerPCCTR)},
		{"011111 sssss nnnnn nnnnn 0111010011 -", "mtspr", nil},
		{"011111 ttttt 11010 11000 0101010011 -", "mfspr 794 (MD_AP)", pControl(MDAP)},
		{"011111 ttttt 11101 00000 0101010011 -", "mfspr 29 (AMR)", pControl(AMR)},
		{"011111 ttttt 10000 00001 0101010011 -", "mfspr 48 (PID)", pControl(PID)},
		{"011111 ttttt 01000 00000 0101010011 -", "mfspr 8 (LR)", pMoveFrom(PowerPCLR)},
		{"011111 ttttt 01001 00000 0101010011 -", "mfspr 9 (CTR)", pMoveFrom(PowerPCCTR)},
		{"011111 ttttt nnnnn nnnnn 0101010011 -", "mfspr", pWritesRT},
		{"011111 sssss 0rrrr ----- 0011010010 -", "mtsr (book III 2.x, 5.9.3.2)", pWindow(Segment)},
		{"011111 sssss ----- bbbbb 0011110010 -", "mtsrin", pWindow(Segment)},
		{"011111 ttttt 0rrrr ----- 1001010011 -", "mfsr", pControl(Segment)},
		{"011111 ttttt ----- bbbbb 1010010011 -", "mfsrin", pControl(Segment)},
		{"011111 ttttt ----- ----- 0101110011 -", "mftb", pWritesRT},
		{"011111 ttttt ----- ----- 0000010011 -", "mfcr, mfocrf", pWritesRT},
		{"011111 ttttt ----- ----- 0001010011 -", "mfmsr", pWritesRT},
		{"011111 ttttt ----- ----- 0101000011 -", "mfdcr", pWritesRT},
		{"011111 ttttt ----- ----- 0101001110 -", "mfpmr", pWritesRT},
		{"011111 sssss ----- ----- 0010010000 -", "mtcrf, mtocrf", nil},
		{"011111 sssss ----- ----- 0010010010 -", "mtmsr", nil},
		{"011111 sssss ----- ----- 0010110010 -", "mtmsrd", nil},
		{"011111 sssss ----- ----- 0111000011 -", "mtdcr", nil},
		{"011111 sssss ----- ----- 0111001110 -", "mtpmr", nil},
		{"011111 sssss ----- ----- 0010000011 -", "wrtee", nil},
		{"011111 ----- ----- ----- 0010100011 -", "wrteei", nil},

		// 3.3.10 compare, 3.3.11 trap
		{"011111 ----l aaaaa bbbbb 0000000000 -", "cmp", pCompareSigned},
		{"011111 ----l aaaaa bbbbb 0000100000 -", "cmpl", pCompare},
		{"011111 ttttt aaaaa bbbbb 0000000100 -", "tw", pTrapIf31},
		{"011111 ttttt aaaaa bbbbb 0001000100 -", "td", pTrapIf31},

		// 3.3.9 arithmetic
		{"011111 ttttt aaaaa bbbbb 0100001010 -", "add", func(in *Insn, w uint32) {
			in.set3(Add, pRT(w), pRA(w), pRB(w))
		}},
		{"011111 ttttt aaaaa bbbbb 0000101000 -", "subf", func(in *Insn, w uint32) {
			in.set3(Sub, pRT(w), pRB(w), pRA(w))
		}},
		{"011111 ttttt aaaaa bbbbb 1100001010 -", "addo", pWritesRT},
		{"011111 ttttt aaaaa bbbbb o000001000 -", "subfc", pWritesRT},
		{"011111 ttttt aaaaa bbbbb 1000101000 -", "subfo", pWritesRT},
		{"011111 ttttt aaaaa bbbbb o001101000 -", "neg", pWritesRT},
		{"011111 ttttt aaaaa bbbbb o010001000 -", "subfe", pWritesRT},
		{"011111 ttttt aaaaa bbbbb o011001000 -", "subfze", pWritesRT},
		{"011111 ttttt aaaaa bbbbb o011101000 -", "subfme", pWritesRT},
		{"011111 ttttt aaaaa bbbbb o000001010 -", "addc", pWritesRT},
		{"011111 ttttt aaaaa bbbbb 0001001010 -", "addg6s", pWritesRT},
		{"011111 ttttt aaaaa bbbbb o010001010 -", "adde", pWritesRT},
		{"011111 ttttt aaaaa bbbbb o011001010 -", "addze", pWritesRT},
		{"011111 ttttt aaaaa bbbbb o011101010 -", "addme", pWritesRT},
		{"011111 ttttt aaaaa bbbbb -010101010 -", "addex", pWritesRT},
		{"011111 ttttt aaaaa bbbbb -0000010-1 -", "mulhdu, mulhwu", pWritesRT},
		{"011111 ttttt aaaaa bbbbb -0010010-1 -", "mulhd, mulhw", pWritesRT},
		{"011111 ttttt aaaaa bbbbb o0111010-1 -", "mulld, mullw", pWritesRT},
		{"011111 ttttt aaaaa bbbbb o1110010-1 -", "divdu, divwu", pWritesRT},
		{"011111 ttttt aaaaa bbbbb o1111010-1 -", "divd, divw", pWritesRT},
		{"011111 ttttt aaaaa bbbbb o1100010-1 -", "divdeu, divweu", pWritesRT},
		{"011111 ttttt aaaaa bbbbb o1101010-1 -", "divde, divwe", pWritesRT},
		{"011111 ttttt aaaaa bbbbb 01000010-1 -", "modud, moduw", pWritesRT},
		{"011111 ttttt aaaaa bbbbb 11000010-1 -", "modsd, modsw", pWritesRT},
		{"011111 ttttt aaaaa bbbbb ccccc 01111 -", "isel", pWritesRT},
		{"011111 ttttt aaaaa bbbbb 0010000000 -", "setb", pWritesRT},
		{"011111 ttttt aaaaa bbbbb 011--00000 -", "setbc, setbcr, setnbc, setnbcr", pWritesRT},
		{"011111 ttttt aaaaa bbbbb 1011110011 -", "darn", pWritesRT},

		// 3.3.13 logical, 3.3.14 shift, 3.3.15 BCD: RA is the target
		{"011111 sssss aaaaa bbbbb 0110111100 -", "or (mr)", pOr},
		{"011111 sssss aaaaa bbbbb 0000011100 -", "and", pRegOp(And)},
		{"011111 sssss aaaaa bbbbb 0100111100 -", "xor", pRegOp(Xor)},
		{"011111 sssss aaaaa bbbbb ----111100 -", "andc, eqv, orc, cmpb, bpermd, pdepd", pWritesRA},
		{"011111 sssss aaaaa bbbbb ----011100 -", "nor, nand, cfuged, pextd", pWritesRA},
		{"011111 sssss aaaaa bbbbb --00011000 -", "slw, srw, sraw", pWritesRA},
		{"011111 sssss aaaaa hhhhh 1100111000 -", "srawi", pWritesRA},
		{"011111 sssss aaaaa bbbbb --00011011 -", "sld, srd", pWritesRA},
		{"011111 sssss aaaaa bbbbb 1100011010 -", "srad", pWritesRA},
		{"011111 sssss aaaaa hhhhh 110011101- -", "sradi", pWritesRA},
		{"011111 sssss aaaaa hhhhh 110111101- -", "extswsli", pWritesRA},
		{"011111 sssss aaaaa ----- ----011010 -", "cntlzw, cnttzw, popcnt, prty, exts, cbcdtd", pWritesRA},
		{"011111 sssss aaaaa ----- ----111010 -", "cntlzd, cnttzd, popcntd, prtyd, extsb, cdtbcd", pWritesRA},
		{"011111 sssss aaaaa bbbbb ----111011 -", "cntlzdm, cnttzdm, brd", pWritesRA},
		{"011111 sssss aaaaa ----- 001--11011 -", "brw, brh", pWritesRA},

		// 3.3.2 loads
		{"011111 ttttt aaaaa bbbbb 0001010111 -", "lbzx", pLoadX(1)},
		{"011111 ttttt aaaaa bbbbb 0100010111 -", "lhzx", pLoadX(2)},
		{"011111 ttttt aaaaa bbbbb 0101010111 -", "lhax", pLoadX(-2)},
		{"011111 ttttt aaaaa bbbbb 0000010111 -", "lwzx", pLoadX(4)},
		{"011111 ttttt aaaaa bbbbb 0101010101 -", "lwax", pLoadX(-4)},
		{"011111 ttttt aaaaa bbbbb 0000010101 -", "ldx", pLoadX(8)},
		{"011111 ttttt aaaaa bbbbb 0001110111 -", "lbzux", pLoadUX},
		{"011111 ttttt aaaaa bbbbb 0100110111 -", "lhzux", pLoadUX},
		{"011111 ttttt aaaaa bbbbb 0101110111 -", "lhaux", pLoadUX},
		{"011111 ttttt aaaaa bbbbb 0000110111 -", "lwzux", pLoadUX},
		{"011111 ttttt aaaaa bbbbb 0101110101 -", "lwaux", pLoadUX},
		{"011111 ttttt aaaaa bbbbb 0000110101 -", "ldux", pLoadUX},
		{"011111 ttttt aaaaa bbbbb 1100010110 -", "lhbrx", pLoadOnly},
		{"011111 ttttt aaaaa bbbbb 1000010110 -", "lwbrx", pLoadOnly},
		{"011111 ttttt aaaaa bbbbb 1000010100 -", "ldbrx", pLoadOnly},
		{"011111 ttttt aaaaa bbbbb 0000010100 -", "lwarx", pLoadOnly},
		{"011111 ttttt aaaaa bbbbb 0000110100 -", "lbarx", pLoadOnly},
		{"011111 ttttt aaaaa bbbbb 0001110100 -", "lharx", pLoadOnly},
		{"011111 ttttt aaaaa bbbbb 0001010100 -", "ldarx", pLoadOnly},
		{"011111 ttttt aaaaa bbbbb 100-010101 -", "lswx, lswi", func(in *Insn, _ uint32) {
			in.Memory = Reads
			in.Written |= 0xffffffff // as many as the count says
		}},
		{"011111 ttttt aaaaa bbbbb 1001-00110 -", "lwat, ldat", pAtomic},

		// 3.3.3 stores
		{"011111 sssss aaaaa bbbbb 0011010111 -", "stbx", pWrites},
		{"011111 sssss aaaaa bbbbb 0110010111 -", "sthx", pWrites},
		{"011111 sssss aaaaa bbbbb 0010010111 -", "stwx", pWrites},
		{"011111 sssss aaaaa bbbbb 0010010101 -", "stdx", pWrites},
		{"011111 sssss aaaaa bbbbb 0011110111 -", "stbux", pStoreUX},
		{"011111 sssss aaaaa bbbbb 0110110111 -", "sthux", pStoreUX},
		{"011111 sssss aaaaa bbbbb 0010110111 -", "stwux", pStoreUX},
		{"011111 sssss aaaaa bbbbb 0010110101 -", "stdux", pStoreUX},
		{"011111 sssss aaaaa bbbbb 1110010110 -", "sthbrx", pWrites},
		{"011111 sssss aaaaa bbbbb 1010010110 -", "stwbrx", pWrites},
		{"011111 sssss aaaaa bbbbb 1010010100 -", "stdbrx", pWrites},
		{"011111 sssss aaaaa bbbbb 0010010110 1", "stwcx.", pWrites},
		{"011111 sssss aaaaa bbbbb 1010110110 1", "stbcx.", pWrites},
		{"011111 sssss aaaaa bbbbb 1011010110 1", "sthcx.", pWrites},
		{"011111 sssss aaaaa bbbbb 0011010110 1", "stdcx.", pWrites},
		{"011111 sssss aaaaa bbbbb 101-010101 -", "stswx, stswi", pWrites},

		// 4.6, 6.7, 7.6: floating point and vector loads and stores
		{"011111 ttttt aaaaa bbbbb 100-010111 -", "lfsx, lfdx", pReads},
		{"011111 ttttt aaaaa bbbbb 100-110111 -", "lfsux, lfdux", pLoadUXFloat},
		{"011111 ttttt aaaaa bbbbb 1101010111 -", "lfiwax", pReads},
		{"011111 ttttt aaaaa bbbbb 1101110111 -", "lfiwzx", pReads},
		{"011111 sssss aaaaa bbbbb 101-010111 -", "stfsx, stfdx", pWrites},
		{"011111 sssss aaaaa bbbbb 101-110111 -", "stfsux, stfdux", pStoreUX},
		{"011111 sssss aaaaa bbbbb 1111010111 -", "stfiwx", pWrites},
		{"011111 ttttt aaaaa bbbbb 0000-00110 -", "lvsl, lvsr", nil},
		{"011111 ttttt aaaaa bbbbb 0000-00111 -", "lvebx, lvehx", pReads},
		{"011111 ttttt aaaaa bbbbb 0001-00111 -", "lvewx, lvx", pReads},
		{"011111 ttttt aaaaa bbbbb 0101100111 -", "lvxl", pReads},
		{"011111 sssss aaaaa bbbbb 001--00111 -", "stvebx, stvehx, stvewx, stvx", pWrites},
		{"011111 sssss aaaaa bbbbb 0111100111 -", "stvxl", pWrites},
		{"011111 ttttt aaaaa bbbbb --0--0110- -", "lxsdx, lxvd2x, lxvx, lxvl and so on", pReads},
		{"011111 sssss aaaaa bbbbb --1--0110- -", "stxsdx, stxvd2x, stxvx, stxvl and so on", pWrites},

		// book II, 4: caches and barriers
		{"011111 ----- aaaaa bbbbb 0000110110 -", "dcbst", nil},
		{"011111 ----- aaaaa bbbbb 0001010110 -", "dcbf", nil},
		{"011111 ----- aaaaa bbbbb 0011110110 -", "dcbtst", nil},
		{"011111 ----- aaaaa bbbbb 0100010110 -", "dcbt", nil},
		{"011111 ----- aaaaa bbbbb 0111010110 -", "dcbi", nil},
		{"011111 ----- aaaaa bbbbb 1011110110 -", "dcba", nil},
		{"011111 ----- aaaaa bbbbb 1111010110 -", "icbi", nil},
		{"011111 ----- aaaaa bbbbb 0000010110 -", "icbt", nil},
		{"011111 ----- aaaaa bbbbb 1111110110 -", "dcbz", pWrites},
		{"011111 ----- ----- ----- 1001010110 -", "sync, lwsync", nil},
		{"011111 ----- ----- ----- 1101010110 -", "eieio, mbar", nil},
		{"011111 ----- ----- ----- 0000111110 -", "wait (2.x)", nil},
		{"011111 ----- ----- ----- 0000011110 -", "wait (3.0)", nil},
		// book III, 6.9: translation
		{"011111 ----- ----- ----- 0100110010 -", "tlbie", nil},
		{"011111 ----- ----- ----- 0100010010 -", "tlbiel", nil},
		{"011111 ----- ----- ----- 0101110010 -", "tlbia", nil},
		{"011111 ----- ----- ----- 1000110110 -", "tlbsync", nil},
		{"011111 ----- ----- ----- 0110110010 -", "slbie", nil},
		{"011111 ----- ----- ----- 0111110010 -", "slbia", nil},
		{"011111 ----- ----- ----- 0110010010 -", "slbmte", nil},

		// What is left moves to or from vectors, belongs to embedded parts, or to
		// transactions: a general register that it may write is RT or RA.
		{"011111 ----- ----- ----- ---------- -", "the rest of 31", pWritesBoth},
	}
}

func pLoadUXFloat(in *Insn, w uint32) {
	in.Memory = Reads
	in.writes(pRA(w))
}
