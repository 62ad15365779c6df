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
// Flow: twi, tw, tdi, td that always trap (TO = 31) are Trap, and so are conditional ones
// never; rfi, rfid, hrfid, rfci, rfdi, rfmci and rfscv are Stop; sc and scv are Next.
// bcl 20,31,$+4 (reads the address of the next instruction) is Next and writes the link
// register. Conditional bclrl, bcctrl are CallIndirect and Conditional.
type powerpc struct {
	long  bool
	order binary.ByteOrder
}

// PowerPC returns the decoder for 32 or 64 bit code of the byte order.
func PowerPC(bits int, order binary.ByteOrder) Decoder {
	return &powerpc{long: bits == 64, order: order}
}

func (d *powerpc) Decode(code []byte, in *Insn) bool {
	in.reset()
	in.Len = uint8(min(len(code), 4))
	return false
}
