package isa

import (
	"encoding/binary"
	"math/bits"
)

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
type arm64 struct{ table *table }

// ARM64 returns the decoder for A64.
func ARM64() Decoder { return &arm64{table: arm64Table()} }

func (d *arm64) Decode(code []byte, in *Insn) bool {
	in.reset()
	if len(code) < 4 {
		in.Len = uint8(len(code))
		return false
	}
	in.Len = 4
	ok := d.table.decode(in, binary.LittleEndian.Uint32(code))
	in.wholeWords(8)
	return ok
}

// The fields, as the manual names them.
func aRd(w uint32) uint32    { return w & 31 } // also Rt
func aRn(w uint32) uint32    { return w >> 5 & 31 }
func aRm(w uint32) uint32    { return w >> 16 & 31 } // also Rs
func aRt2(w uint32) uint32   { return w >> 10 & 31 }
func aImm12(w uint32) int64  { return int64(w>>10&0xfff) << (w >> 22 & 1 * 12) }
func aImm9(w uint32) int64   { return signed(w>>12, 9) }
func aImm19(w uint32) int64  { return signed(w>>5, 19) << 2 }
func aImm14(w uint32) int64  { return signed(w>>5, 14) << 2 }
func aImm26(w uint32) int64  { return signed(w, 26) << 2 }
func aImmADR(w uint32) int64 { return signed(w>>5&0x7ffff<<2|w>>29&3, 21) }
func aImm6(w uint32) uint32  { return w >> 10 & 63 } // also imms
func aImmr(w uint32) uint32  { return w >> 16 & 63 }

// aX is register 31 as the zero register, aSP as the stack pointer.
func aX(n uint32) Reg {
	if n == 31 {
		return NoReg
	}
	return Reg(n)
}

func aSP(n uint32) Reg { return Reg(n) }

// aWhen is the condition of section C1.2.4.
func aWhen(cond uint32) Condition {
	return [16]Condition{0: Equal, 1: NotEqual, 2: AboveEqual, 3: Below, 8: Above, 9: BelowEqual}[cond&15]
}

// aBitMask is DecodeBitMasks() of chapter J1: an element of 2 to 64 bits with imms+1 ones
// rotated right by immr, repeated.
func aBitMask(w uint32) (uint64, bool) {
	n, imms, immr := w>>22&1, w>>10&63, w>>16&63
	length := bits.Len32(n<<6|^imms&63) - 1
	if length < 1 {
		return 0, false
	}
	size := uint(1) << length
	ones, turn := uint(imms)&(size-1)+1, uint(immr)&(size-1)
	if ones == size {
		return 0, false
	}
	element := uint64(1)<<ones - 1
	element = element>>turn | element<<(size-turn)
	if size < 64 {
		element &= uint64(1)<<size - 1
	}
	for ; size < 64; size *= 2 {
		element |= element << size
	}
	return element, true
}
