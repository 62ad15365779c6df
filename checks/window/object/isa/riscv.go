package isa

import "sync"

// riscv decodes RV64GC of the RISC-V Instruction Set Manual (volume I: unprivileged,
// version 20191213 and the ratified extensions after it; volume II: privileged).
//
// Registers: x0..x31 are 0..31; x0 is never named (ra 1, sp 2, fp 8). Floating point and
// vector registers are not reported.
//
// Stack slots: 8 bytes (ld, sd, c.ldsp, c.sdsp), the byte offset from sp.
//
// Windows, all with Control SSTATUS (CSR 0x100): csrrs with rs1 is SetBits, csrrc is
// ClearBits, csrrw is Write, Source rs1; the immediate forms have Source NoReg and
// SourceImm. Where rd is not x0 there is the effect ReadControl too; csrr alone has that
// effect only.
//
// Constants: lui, addi(w), slli, srli, ori, andi, xori, add, sub, and, or, xor and their
// compressed forms. auipc is Address; the following addi, ld or jalr carries its own
// relocation.
//
// Flow: jal and jalr with rd = x0 are Jump and JumpIndirect, with another rd Call and
// CallIndirect (Source rs1); jalr x0, 0(ra) or 0(t0) is Return. auipc+jalr pairs are not
// folded: the jalr is CallIndirect or JumpIndirect, the relocation is at the auipc
// before it. ebreak is Trap; mret, sret are Stop; ecall, wfi are Next.
type riscv struct{ full, compressed *table }

// RISCV64 returns the decoder for RV64GC.
func RISCV64() Decoder { return &riscv{full: riscv32(), compressed: riscv16()} }

func (d *riscv) Decode(code []byte, in *Insn) bool {
	in.reset()
	if len(code) < 2 {
		in.Len = uint8(len(code))
		return false
	}
	// Volume I, section 1.5: the low bits tell the length.
	h := uint32(code[0]) | uint32(code[1])<<8
	if h&3 != 3 {
		in.Len = 2
		ok := d.compressed.decode(in, h)
		in.wholeWords(8)
		return ok
	}
	size := 4
	switch {
	case h&0x3f == 0x1f:
		size = 6
	case h&0x7f == 0x3f:
		size = 8
	case h&0x1f == 0x1f: // longer ones are reserved
		size = 2
	}
	in.Len = uint8(min(size, len(code)))
	if size != 4 || len(code) < 4 {
		return false
	}
	ok := d.full.decode(in, h|uint32(code[2])<<16|uint32(code[3])<<24)
	in.wholeWords(8)
	return ok
}

const riscvSSTATUS = 0x100 // volume II, table "Supervisor-level CSR addresses"

// The fields of volume I, section 2.2.
func rvRd(w uint32) Reg      { return rvX(w >> 7) }
func rvRs1(w uint32) Reg     { return rvX(w >> 15) }
func rvRs2(w uint32) Reg     { return rvX(w >> 20) }
func rvImmI(w uint32) int64  { return signed(w>>20, 12) }
func rvImmS(w uint32) int64  { return signed(w>>25<<5|w>>7&31, 12) }
func rvShamt(w uint32) int64 { return int64(w >> 20 & 63) }

func rvImmB(w uint32) int64 {
	return signed(w>>31<<12|w>>7&1<<11|w>>25&0x3f<<5|w>>8&0xf<<1, 13)
}

func rvImmU(w uint32) int64 { return int64(int32(w & 0xfffff000)) }

func rvImmJ(w uint32) int64 {
	return signed(w>>31<<20|w>>12&0xff<<12|w>>20&1<<11|w>>21&0x3ff<<1, 21)
}

// rvX is the register of the five low bits, NoReg for x0.
func rvX(v uint32) Reg {
	if v&31 == 0 {
		return NoReg
	}
	return Reg(v & 31)
}

// rvImm is rd = rs1 op imm, where x0 as rs1 reads zero.
func rvImm(in *Insn, op Op, rd, rs1 Reg, imm int64) {
	switch {
	case rd == NoReg:
	case rs1 != NoReg:
		in.set(op, rd, rs1, imm)
	case op == AddImm || op == OrImm || op == XorImm:
		in.set(Const, rd, NoReg, imm)
	default: // 0 & imm, 0 << imm, 0 >> imm
		in.set(Const, rd, NoReg, 0)
	}
}

// rvReg is rd = rs1 op rs2, where x0 reads zero.
func rvReg(in *Insn, op Op, rd, rs1, rs2 Reg) {
	switch {
	case rd == NoReg:
	case rs1 != NoReg && rs2 != NoReg:
		in.set3(op, rd, rs1, rs2)
	case op == And:
		in.set(Const, rd, NoReg, 0)
	case rs2 == NoReg && rs1 != NoReg: // + 0, - 0, | 0, ^ 0
		in.set(Move, rd, rs1, 0)
	case rs1 == NoReg && rs2 != NoReg && op != Sub:
		in.set(Move, rd, rs2, 0)
	case rs1 == NoReg && rs2 == NoReg:
		in.set(Const, rd, NoReg, 0)
	default:
		in.writes(rd)
	}
}

func rvLoad(in *Insn, rd, base Reg, imm, width int64) {
	in.Memory = Reads
	switch {
	case rd == NoReg:
	case base == NoReg: // an absolute address
		in.writes(rd)
	case base == RISCVSP && width == 8:
		in.set(Load, rd, NoReg, imm)
	default:
		in.effect(Effect{Op: LoadConst, Dst: rd, A: base, B: Reg(width), Imm: imm})
	}
}

func rvStore(in *Insn, src, base Reg, imm, width int64) {
	in.Memory = Writes
	switch {
	case base == RISCVSP && width == 8:
		in.set(Store, NoReg, src, imm)
	case base == RISCVSP:
		in.effect(Effect{Op: Lost, Dst: NoReg, A: NoReg, B: Reg(width), Imm: imm})
	case base != NoReg && width == 8:
		in.effect(Effect{Op: StoreAt, Dst: NoReg, A: src, B: base, Imm: imm})
	}
}

func rvBranch(in *Insn, when Condition, a, b Reg, target int64) {
	in.jump(Branch, target)
	in.When = when
	if a == NoReg { // x0 first: the comparison is turned round
		a, b = b, a
		switch when {
		case Below:
			in.When = Above
		case AboveEqual:
			in.When = BelowEqual
		}
	}
	switch {
	case a == NoReg:
	case b == NoReg:
		in.set(CompareImm, NoReg, a, 0)
	default:
		in.set3(Compare, NoReg, a, b)
	}
}

func rvJumpReg(in *Insn, rd, rs1 Reg, imm int64) {
	in.writes(rd)
	in.Source = rs1
	switch {
	case rd != NoReg:
		in.Flow = CallIndirect
	case (rs1 == RISCVRA || rs1 == 5) && imm == 0: // volume I, table "return-address stack prediction hints"
		in.Flow = Return
	default:
		in.Flow = JumpIndirect
	}
}

// rvStatus is an access to sstatus; src or imm is what it writes.
func rvStatus(in *Insn, win Window, rd, src Reg, imm uint64) {
	in.Control = SSTATUS
	in.Window, in.Source, in.SourceImm = win, src, imm
	if rd != NoReg {
		in.set(ReadControl, rd, NoReg, 0)
	}
}

func rvCSR(in *Insn, win Window, w uint32, src Reg, imm uint64) {
	if w>>20 == riscvSSTATUS {
		rvStatus(in, win, rvRd(w), src, imm)
		return
	}
	in.writes(rvRd(w))
}

// Actions that several rows share.
func rvWritesRd(in *Insn, w uint32) { in.writes(rvRd(w)) }
func rvReads(in *Insn, _ uint32)    { in.Memory = Reads }
func rvWrites(in *Insn, _ uint32)   { in.Memory = Writes }
func rvStop(in *Insn, _ uint32)     { in.Flow = Stop }
func rvTrap(in *Insn, _ uint32)     { in.Flow = Trap }

func rvLoadI(width int64) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { rvLoad(in, rvRd(w), rvRs1(w), rvImmI(w), width) }
}

func rvStoreS(width int64) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { rvStore(in, rvRs2(w), rvRs1(w), rvImmS(w), width) }
}

func rvImmOp(op Op) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { rvImm(in, op, rvRd(w), rvRs1(w), rvImmI(w)) }
}

func rvShiftOp(op Op) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { rvImm(in, op, rvRd(w), rvRs1(w), rvShamt(w)) }
}

func rvRegOp(op Op) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { rvReg(in, op, rvRd(w), rvRs1(w), rvRs2(w)) }
}

func rvBranchIf(when Condition) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { rvBranch(in, when, rvRs1(w), rvRs2(w), rvImmB(w)) }
}

// riscv32 is volume I, chapter "RV32/64G Instruction Set Listings" (24 in 20191213),
// unless said. d is rd, s rs1, t rs2, i an immediate.
var riscv32 = sync.OnceValue(func() *table {
	return newTable(32, 12, 3, 2, 5, []row{
		{"iiiiiii iiiii iiiii iii ddddd 0110111", "lui", func(in *Insn, w uint32) {
			rvImm(in, AddImm, rvRd(w), NoReg, rvImmU(w))
		}},
		{"iiiiiii iiiii iiiii iii ddddd 0010111", "auipc", func(in *Insn, w uint32) {
			if rvRd(w) != NoReg {
				in.set(Address, rvRd(w), NoReg, rvImmU(w))
			}
		}},
		{"iiiiiii iiiii iiiii iii 00000 1101111", "jal x0 (j)", func(in *Insn, w uint32) {
			in.jump(Jump, rvImmJ(w))
		}},
		{"iiiiiii iiiii iiiii iii ddddd 1101111", "jal", func(in *Insn, w uint32) {
			in.jump(Call, rvImmJ(w))
			in.writes(rvRd(w))
		}},
		{"iiiiiii iiiii sssss 000 ddddd 1100111", "jalr", func(in *Insn, w uint32) {
			rvJumpReg(in, rvRd(w), rvRs1(w), rvImmI(w))
		}},

		{"iiiiiii ttttt sssss 000 iiiii 1100011", "beq", rvBranchIf(Equal)},
		{"iiiiiii ttttt sssss 001 iiiii 1100011", "bne", rvBranchIf(NotEqual)},
		{"iiiiiii ttttt sssss 100 iiiii 1100011", "blt", rvBranchIf(Other)},
		{"iiiiiii ttttt sssss 101 iiiii 1100011", "bge", rvBranchIf(Other)},
		{"iiiiiii ttttt sssss 110 iiiii 1100011", "bltu", rvBranchIf(Below)},
		{"iiiiiii ttttt sssss 111 iiiii 1100011", "bgeu", rvBranchIf(AboveEqual)},

		{"iiiiiii iiiii sssss 000 ddddd 0000011", "lb", rvLoadI(-1)},
		{"iiiiiii iiiii sssss 001 ddddd 0000011", "lh", rvLoadI(-2)},
		{"iiiiiii iiiii sssss 010 ddddd 0000011", "lw", rvLoadI(-4)},
		{"iiiiiii iiiii sssss 011 ddddd 0000011", "ld", rvLoadI(8)},
		{"iiiiiii iiiii sssss 100 ddddd 0000011", "lbu", rvLoadI(1)},
		{"iiiiiii iiiii sssss 101 ddddd 0000011", "lhu", rvLoadI(2)},
		{"iiiiiii iiiii sssss 110 ddddd 0000011", "lwu", rvLoadI(4)},
		{"iiiiiii ttttt sssss 000 iiiii 0100011", "sb", rvStoreS(1)},
		{"iiiiiii ttttt sssss 001 iiiii 0100011", "sh", rvStoreS(2)},
		{"iiiiiii ttttt sssss 010 iiiii 0100011", "sw", rvStoreS(4)},
		{"iiiiiii ttttt sssss 011 iiiii 0100011", "sd", rvStoreS(8)},

		{"iiiiiii iiiii sssss 000 ddddd 0010011", "addi", rvImmOp(AddImm)},
		{"iiiiiii iiiii sssss 01- ddddd 0010011", "slti, sltiu", rvWritesRd},
		{"iiiiiii iiiii sssss 100 ddddd 0010011", "xori", rvImmOp(XorImm)},
		{"iiiiiii iiiii sssss 110 ddddd 0010011", "ori", rvImmOp(OrImm)},
		{"iiiiiii iiiii sssss 111 ddddd 0010011", "andi", rvImmOp(AndImm)},
		{"000000i iiiii sssss 001 ddddd 0010011", "slli", rvShiftOp(ShiftLeft)},
		{"000000i iiiii sssss 101 ddddd 0010011", "srli", rvShiftOp(ShiftRight)},
		{"------- ----- sssss -01 ddddd 0010011", "srai; Zbb, Zbs, Zbkb, Zkn shifts and unary", rvWritesRd},
		// sext32(rs1 + imm): exact in the low half, where every bit of sstatus lies that we ask for.
		{"iiiiiii iiiii sssss 000 ddddd 0011011", "addiw", rvImmOp(AddImm)},
		{"------- ----- sssss --- ddddd 0011011", "slliw, srliw, sraiw; Zba, Zbb", rvWritesRd},

		{"0000000 ttttt sssss 000 ddddd 0110011", "add", rvRegOp(Add)},
		{"0100000 ttttt sssss 000 ddddd 0110011", "sub", rvRegOp(Sub)},
		{"0000000 ttttt sssss 100 ddddd 0110011", "xor", rvRegOp(Xor)},
		{"0000000 ttttt sssss 110 ddddd 0110011", "or", rvRegOp(Or)},
		{"0000000 ttttt sssss 111 ddddd 0110011", "and", rvRegOp(And)},
		{"0010000 ttttt sssss 010 ddddd 0110011", "sh1add (Zba)", rvShiftAdd(1)},
		{"0010000 ttttt sssss 100 ddddd 0110011", "sh2add (Zba)", rvShiftAdd(2)},
		{"0010000 ttttt sssss 110 ddddd 0110011", "sh3add (Zba)", rvShiftAdd(3)},
		{"------- ttttt sssss --- ddddd 0110011", "the other OP: sll, slt, mul, div, Zb*, Zk*", rvWritesRd},
		{"------- ttttt sssss --- ddddd 0111011", "OP-32", rvWritesRd},

		{"------- ----- ----- --- ----- 0001111", "MISC-MEM: fence, fence.i, pause, cbo.*", nil},
		{"00010-- 00000 sssss --- ddddd 0101111", "lr", func(in *Insn, w uint32) {
			in.writes(rvRd(w))
			in.Memory = Reads
		}},
		{"------- ttttt sssss --- ddddd 0101111", "sc, amo*, Zacas, Zabha", func(in *Insn, w uint32) {
			in.writes(rvRd(w))
			in.Memory = Reads | Writes
		}},

		{"0000000 00000 00000 000 00000 1110011", "ecall", nil},
		{"0000000 00001 00000 000 00000 1110011", "ebreak", rvTrap},
		{"0001000 00010 00000 000 00000 1110011", "sret", rvStop},
		{"0011000 00010 00000 000 00000 1110011", "mret", rvStop},
		{"0111000 00010 00000 000 00000 1110011", "mnret (Smrnmi)", rvStop},
		{"------- ----- ----- 000 00000 1110011", "wfi, sfence.vma, hfence.*, sinval.*, wrs.*", nil},
		{"0110-00 ----- sssss 100 ddddd 1110011", "hlv.*, hlvx.*: loads of a guest", func(in *Insn, w uint32) {
			in.writes(rvRd(w))
			in.Memory = Reads
		}},
		{"0110--- ----- sssss 100 ddddd 1110011", "hlv.*, hsv.*", rvWritesRd},
		{"iiiiiii iiiii 00000 01- ddddd 1110011", "csrrs, csrrc with x0 (csrr)", func(in *Insn, w uint32) {
			rvCSR(in, NoWindow, w, NoReg, 0)
		}},
		{"iiiiiii iiiii 00000 11- ddddd 1110011", "csrrsi, csrrci with 0", func(in *Insn, w uint32) {
			rvCSR(in, NoWindow, w, NoReg, 0)
		}},
		{"iiiiiii iiiii sssss 001 ddddd 1110011", "csrrw", func(in *Insn, w uint32) {
			rvCSR(in, Write, w, rvRs1(w), 0)
		}},
		{"iiiiiii iiiii sssss 010 ddddd 1110011", "csrrs", func(in *Insn, w uint32) {
			rvCSR(in, SetBits, w, rvRs1(w), 0)
		}},
		{"iiiiiii iiiii sssss 011 ddddd 1110011", "csrrc", func(in *Insn, w uint32) {
			rvCSR(in, ClearBits, w, rvRs1(w), 0)
		}},
		{"iiiiiii iiiii uuuuu 101 ddddd 1110011", "csrrwi", func(in *Insn, w uint32) {
			rvCSR(in, Write, w, NoReg, uint64(w>>15&31))
		}},
		{"iiiiiii iiiii uuuuu 110 ddddd 1110011", "csrrsi", func(in *Insn, w uint32) {
			rvCSR(in, SetBits, w, NoReg, uint64(w>>15&31))
		}},
		{"iiiiiii iiiii uuuuu 111 ddddd 1110011", "csrrci", func(in *Insn, w uint32) {
			rvCSR(in, ClearBits, w, NoReg, uint64(w>>15&31))
		}},

		{"------- ----- ----- --- ----- 0000111", "LOAD-FP, vector loads", rvReads},
		{"------- ----- ----- --- ----- 0100111", "STORE-FP, vector stores", rvWrites},
		{"------- ----- ----- --- ----- 100--11", "fmadd, fmsub, fnmsub, fnmadd", nil},
		{"10100-- ----- ----- --- ddddd 1010011", "feq, flt, fle", rvWritesRd},
		{"11000-- ----- ----- --- ddddd 1010011", "fcvt.w/wu/l/lu", rvWritesRd},
		{"11100-- ----- ----- --- ddddd 1010011", "fmv.x, fclass", rvWritesRd},
		{"------- ----- ----- --- ----- 1010011", "the other OP-FP", nil},
		{"------- ----- ----- 111 ddddd 1010111", "vsetvli, vsetivli, vsetvl (vector spec 6)", rvWritesRd},
		{"010000- ----- ----- 010 ddddd 1010111", "vmv.x.s, vcpop, vfirst (vector spec 15, 16)", rvWritesRd},
		{"------- ----- ----- --- ----- 1010111", "the other OP-V", nil},
		{"------- ----- ----- --- ----- 1110111", "OP-VE: vector crypto", nil},
	})
})

// rvShiftAdd is rd = rs2 + (rs1 << n).
func rvShiftAdd(n int64) func(*Insn, uint32) {
	return func(in *Insn, w uint32) {
		rd, a, b := rvRd(w), rvRs2(w), rvRs1(w)
		if rd == NoReg || a == NoReg || b == NoReg {
			in.writes(rd)
			return
		}
		in.effect(Effect{Op: AddShifted, Dst: rd, A: a, B: b, Imm: n})
	}
}
