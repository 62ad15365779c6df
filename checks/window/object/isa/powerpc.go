package isa

import "encoding/binary"

// powerpc decodes the Power ISA (version 3.1B, books I to III; and the segment
// register instructions of version 2.x book III-S, the 8xx and booke ones).
//
// Registers: r0..r31 are 0..31 (stack pointer 1, TOC pointer 2), the link register 32, the
// count register 33. mtctr and mtlr are a Move, so that bctr has Source 33. Condition
// registers, XER, floating point and vectors are not reported.
//
// Stack slots: a doubleword (ld, std) of 64-bit code, a word (lwz, stw) of 32-bit code,
// as the byte offset from r1. stwu/stdu r1 is a Store, if it fits, and an AddImm of r1.
//
// Windows: mtspr 794 (MDAP), 29 (AMR), 48 (PID) and mtsr, mtsrin (Segment): Write with
// Source. mfspr of the same and mfsr, mfsrin: the effect ReadControl. All of them are
// given on every flavour: which is meant by the object at hand, the verifier knows.
//
// Constants: addi, addis, ori, oris, xori, xoris, andi., andis., rlwinm (RotateMask),
// rlwimi and rldimi (Insert), rldicl, rldicr, rldic (RotateMask64), mr, and, or, xor, add;
// a load that is not from the stack is a LoadConst with the displacement of the
// instruction, whose relocation lies at its 16-bit field: offset 2 (BE) or 0 (LE).
//
// Flow: tw, twi, td, tdi that always trap (TO = 31) are Trap, conditional ones (BUG_ON) are
// Next; rfi, rfid, hrfid, rfci, rfdi, rfmci and rfscv are Stop; sc and scv are Next.
// bcl 20,31,$+4 (reads the address of the next instruction) is Next and writes the link
// register. Conditional bclrl, bcctrl are CallIndirect and Conditional.
type powerpc struct {
	long       bool
	bigEndian  bool
	main, op31 *table
}

// PowerPC returns the decoder for 32 or 64 bit code of the byte order.
func PowerPC(bits int, order binary.ByteOrder) Decoder {
	d := &powerpc{long: bits == 64, bigEndian: order == binary.BigEndian}
	if d.long {
		d.main, d.op31 = power64(), power64X()
	} else {
		d.main, d.op31 = power32(), power32X()
	}
	return d
}

func (d *powerpc) word(b []byte) uint32 {
	if d.bigEndian {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (d *powerpc) Decode(code []byte, in *Insn) bool {
	in.reset()
	if len(code) < 4 {
		in.Len = uint8(len(code))
		return false
	}
	in.Len = 4
	w := d.word(code)
	switch w >> 26 {
	case 1: // book I, section 1.6: a prefix and its suffix
		if len(code) < 8 {
			return false
		}
		in.Len = 8
		in.writes(pRT(d.word(code[4:]))) // paddi, pld and so on; a vector's number does no harm
		return true
	case 31:
		return d.op31.decode(in, w)
	}
	ok := d.main.decode(in, w)
	if d.long {
		in.wholeWords(8)
	} else {
		in.wholeWords(4)
	}
	return ok
}
