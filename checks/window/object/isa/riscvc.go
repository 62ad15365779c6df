package isa

import "sync"

// The fields of compressed instructions, volume I, table 16.1.
func rcRd(w uint32) Reg   { return rvX(w >> 7) }
func rcRs2(w uint32) Reg  { return rvX(w >> 2) }
func rcRdP(w uint32) Reg  { return Reg(w>>7&7 + 8) } // rd', rs1'
func rcRs2P(w uint32) Reg { return Reg(w>>2&7 + 8) } // rs2', and rd' of loads

func rcImm6(w uint32) int64  { return signed(w>>12&1<<5|w>>2&31, 6) }
func rcShamt(w uint32) int64 { return int64(w>>12&1<<5 | w>>2&31) }

// The scrambled immediates, as the figures of sections 16.3 to 16.5 number their bits.
func rcLW(w uint32) int64   { return int64(w>>10&7<<3 | w>>6&1<<2 | w>>5&1<<6) }              // 5:3, 2|6
func rcLD(w uint32) int64   { return int64(w>>10&7<<3 | w>>5&3<<6) }                          // 5:3, 7:6
func rcLWSP(w uint32) int64 { return int64(w>>12&1<<5 | w>>4&7<<2 | w>>2&3<<6) }              // 5, 4:2|7:6
func rcLDSP(w uint32) int64 { return int64(w>>12&1<<5 | w>>5&3<<3 | w>>2&7<<6) }              // 5, 4:3|8:6
func rcSWSP(w uint32) int64 { return int64(w>>9&15<<2 | w>>7&3<<6) }                          // 5:2|7:6
func rcSDSP(w uint32) int64 { return int64(w>>10&7<<3 | w>>7&7<<6) }                          // 5:3|8:6
func rc4SPN(w uint32) int64 { return int64(w>>11&3<<4 | w>>7&15<<6 | w>>6&1<<2 | w>>5&1<<3) } // 5:4|9:6|2|3

func rc16SP(w uint32) int64 { // 9, 4|6|8:7|5
	return signed(w>>12&1<<9|w>>6&1<<4|w>>5&1<<6|w>>3&3<<7|w>>2&1<<5, 10)
}

func rcJ(w uint32) int64 { // 11|4|9:8|10|6|7|3:1|5
	return signed(w>>12&1<<11|w>>11&1<<4|w>>9&3<<8|w>>8&1<<10|w>>7&1<<6|w>>6&1<<7|w>>3&7<<1|w>>2&1<<5, 12)
}

func rcB(w uint32) int64 { // 8|4:3, 7:6|2:1|5
	return signed(w>>12&1<<8|w>>10&3<<3|w>>5&3<<6|w>>3&3<<1|w>>2&1<<5, 9)
}

func rcRegOp(op Op) func(*Insn, uint32) {
	return func(in *Insn, w uint32) { rvReg(in, op, rcRdP(w), rcRdP(w), rcRs2P(w)) }
}

func rcWritesRdP(in *Insn, w uint32) { in.writes(rcRdP(w)) }

// riscv16 is volume I, tables 16.5 to 16.7 (RVC quadrants 0 to 2), RV64 columns, and
// Zcb of the code size extensions. Hints (rd = x0 and the like) do nothing.
var riscv16 = sync.OnceValue(func() *table {
	return newTable(16, 10, 6, 0, 2, []row{
		{"000 00000000 000 00", "defined illegal", rvTrap},
		{"000 iiiiiiii ddd 00", "c.addi4spn", func(in *Insn, w uint32) {
			in.set(AddImm, rcRs2P(w), RISCVSP, rc4SPN(w))
		}},
		{"001 iii sss ii ddd 00", "c.fld", rvReads},
		{"010 iii sss ii ddd 00", "c.lw", func(in *Insn, w uint32) {
			rvLoad(in, rcRs2P(w), rcRdP(w), rcLW(w), -4)
		}},
		{"011 iii sss ii ddd 00", "c.ld", func(in *Insn, w uint32) {
			rvLoad(in, rcRs2P(w), rcRdP(w), rcLD(w), 8)
		}},
		{"100 00- sss ii ddd 00", "c.lbu, c.lhu, c.lh (Zcb)", func(in *Insn, w uint32) {
			in.writes(rcRs2P(w))
			in.Memory = Reads
		}},
		{"100 01- sss ii ttt 00", "c.sb, c.sh (Zcb)", rvWrites},
		{"101 iii sss ii ttt 00", "c.fsd", rvWrites},
		{"110 iii sss ii ttt 00", "c.sw", func(in *Insn, w uint32) {
			rvStore(in, rcRs2P(w), rcRdP(w), rcLW(w), 4)
		}},
		{"111 iii sss ii ttt 00", "c.sd", func(in *Insn, w uint32) {
			rvStore(in, rcRs2P(w), rcRdP(w), rcLD(w), 8)
		}},

		{"000 i 00000 iiiii 01", "c.nop", nil},
		{"000 i ddddd iiiii 01", "c.addi", func(in *Insn, w uint32) {
			rvImm(in, AddImm, rcRd(w), rcRd(w), rcImm6(w))
		}},
		{"001 i ddddd iiiii 01", "c.addiw", func(in *Insn, w uint32) {
			rvImm(in, AddImm, rcRd(w), rcRd(w), rcImm6(w))
		}},
		{"010 i ddddd iiiii 01", "c.li", func(in *Insn, w uint32) {
			rvImm(in, AddImm, rcRd(w), NoReg, rcImm6(w))
		}},
		{"011 i 00010 iiiii 01", "c.addi16sp", func(in *Insn, w uint32) {
			rvImm(in, AddImm, RISCVSP, RISCVSP, rc16SP(w))
		}},
		{"011 i ddddd iiiii 01", "c.lui", func(in *Insn, w uint32) {
			rvImm(in, AddImm, rcRd(w), NoReg, rcImm6(w)<<12)
		}},
		{"100 i 00 ddd iiiii 01", "c.srli", func(in *Insn, w uint32) {
			rvImm(in, ShiftRight, rcRdP(w), rcRdP(w), rcShamt(w))
		}},
		{"100 i 01 ddd iiiii 01", "c.srai", rcWritesRdP},
		{"100 i 10 ddd iiiii 01", "c.andi", func(in *Insn, w uint32) {
			rvImm(in, AndImm, rcRdP(w), rcRdP(w), rcImm6(w))
		}},
		{"100 0 11 ddd 00 ttt 01", "c.sub", rcRegOp(Sub)},
		{"100 0 11 ddd 01 ttt 01", "c.xor", rcRegOp(Xor)},
		{"100 0 11 ddd 10 ttt 01", "c.or", rcRegOp(Or)},
		{"100 0 11 ddd 11 ttt 01", "c.and", rcRegOp(And)},
		{"100 1 11 ddd 0- ttt 01", "c.subw, c.addw", rcWritesRdP},
		{"100 1 11 ddd 10 ttt 01", "c.mul (Zcb)", rcWritesRdP},
		{"100 1 11 ddd 11 --- 01", "c.zext, c.sext, c.not (Zcb)", rcWritesRdP},
		{"101 iiiiiiiiiii 01", "c.j", func(in *Insn, w uint32) { in.jump(Jump, rcJ(w)) }},
		{"110 iii sss iiiii 01", "c.beqz", func(in *Insn, w uint32) {
			rvBranch(in, Equal, rcRdP(w), NoReg, rcB(w))
		}},
		{"111 iii sss iiiii 01", "c.bnez", func(in *Insn, w uint32) {
			rvBranch(in, NotEqual, rcRdP(w), NoReg, rcB(w))
		}},

		{"000 i ddddd iiiii 10", "c.slli", func(in *Insn, w uint32) {
			rvImm(in, ShiftLeft, rcRd(w), rcRd(w), rcShamt(w))
		}},
		{"001 i ddddd iiiii 10", "c.fldsp", rvReads},
		{"010 i ddddd iiiii 10", "c.lwsp", func(in *Insn, w uint32) {
			rvLoad(in, rcRd(w), RISCVSP, rcLWSP(w), -4)
		}},
		{"011 i ddddd iiiii 10", "c.ldsp", func(in *Insn, w uint32) {
			rvLoad(in, rcRd(w), RISCVSP, rcLDSP(w), 8)
		}},
		{"100 0 00000 00000 10", "reserved", rvTrap},
		{"100 0 sssss 00000 10", "c.jr", func(in *Insn, w uint32) {
			rvJumpReg(in, NoReg, rcRd(w), 0)
		}},
		{"100 0 ddddd ttttt 10", "c.mv", func(in *Insn, w uint32) {
			rvReg(in, Add, rcRd(w), NoReg, rcRs2(w))
		}},
		{"100 1 00000 00000 10", "c.ebreak", rvTrap},
		{"100 1 sssss 00000 10", "c.jalr", func(in *Insn, w uint32) {
			rvJumpReg(in, RISCVRA, rcRd(w), 0)
		}},
		{"100 1 ddddd ttttt 10", "c.add", func(in *Insn, w uint32) {
			rvReg(in, Add, rcRd(w), rcRd(w), rcRs2(w))
		}},
		{"101 iiiiii ttttt 10", "c.fsdsp", rvWrites},
		{"110 iiiiii ttttt 10", "c.swsp", func(in *Insn, w uint32) {
			rvStore(in, rcRs2(w), RISCVSP, rcSWSP(w), 4)
		}},
		{"111 iiiiii ttttt 10", "c.sdsp", func(in *Insn, w uint32) {
			rvStore(in, rcRs2(w), RISCVSP, rcSDSP(w), 8)
		}},
	})
})
