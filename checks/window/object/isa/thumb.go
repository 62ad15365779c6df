package isa

import "encoding/binary"

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
type thumb struct {
	narrow, wide *table
	it           uint32 // ITSTATE of section A2.5.2, 0 outside of a block
	next         *byte  // the first byte after the last instruction
}

// Thumb returns a decoder for T32. It is not safe for concurrent use.
func Thumb() Decoder { return &thumb{narrow: thumb16(), wide: thumb32()} }

func (d *thumb) Decode(code []byte, in *Insn) bool {
	in.reset()
	it := d.it
	if len(code) == 0 || &code[0] != d.next {
		it = 0
	}
	d.it, d.next = 0, nil
	if len(code) < 2 {
		in.Len = uint8(len(code))
		return false
	}
	in.Len = 2
	w := uint32(binary.LittleEndian.Uint16(code))
	table := d.narrow
	if w >= 0xe800 { // section A6.1
		if len(code) < 4 {
			return false
		}
		in.Len = 4
		w = w<<16 | uint32(binary.LittleEndian.Uint16(code[2:]))
		table = d.wide
	}
	ok := table.decode(in, w)
	in.wholeWords(4)
	switch {
	case in.Len == 2 && w>>8 == 0xbf && w&15 != 0: // it
		it = w & 0xff
	case it != 0:
		if cond := it >> 4; cond < 14 && w>>8 != 0xbe && w>>6 != 0x2ea { // bkpt, hlt: always
			armPredicate(in, cond)
		}
		if it&7 == 0 { // ITAdvance()
			it = 0
		} else {
			it = it&0xe0 | it<<1&0x1f
		}
	}
	if it != 0 && len(code) > int(in.Len) {
		d.it, d.next = it, &code[in.Len]
	}
	return ok
}
