package object

import (
	"golang.org/x/arch/x86/x86asm"
	"uabot/checks/window/object/isa"
)

// x86stopgap decodes with golang.org/x/arch until isa.X86 does; the value is the mode.
type x86stopgap int

func (d x86stopgap) Decode(b []byte, in *isa.Insn) bool {
	*in = isa.Insn{Source: isa.NoReg}
	if len(b) >= 4 && b[0] == 0xf3 && b[1] == 0x0f && b[2] == 0x1e && (b[3] == 0xfa || b[3] == 0xfb) {
		in.Len = 4
		return true
	}
	if len(b) >= 3 && b[0] == 0x0f && b[1] == 0x01 && b[2] >= 0xc0 {
		in.Len = 3
		switch b[2] {
		case 0xca:
			in.Window = isa.Close
		case 0xcb:
			in.Window = isa.Open
		}
		return true
	}
	i, err := x86asm.Decode(b, int(d))
	if err != nil {
		in.Len = 1
		return false
	}
	in.Len = uint8(i.Len)
	rel := func(f, g isa.Flow) {
		if r, ok := i.Args[0].(x86asm.Rel); ok {
			in.Flow, in.HasTarget, in.Target = f, true, int64(r)+int64(i.Len)
		} else {
			in.Flow = g
		}
	}
	switch i.Op {
	case x86asm.RET, x86asm.LRET:
		in.Flow = isa.Return
	case x86asm.IRET, x86asm.IRETD, x86asm.IRETQ, x86asm.SYSRET, x86asm.SYSEXIT, x86asm.HLT:
		in.Flow = isa.Stop
	case x86asm.UD1, x86asm.UD2:
		in.Flow = isa.Trap
	case x86asm.PUSHF, x86asm.PUSHFQ, x86asm.PUSHFD:
		in.Window = isa.Save
	case x86asm.POPF, x86asm.POPFQ, x86asm.POPFD:
		in.Window = isa.Restore
	case x86asm.CALL:
		rel(isa.Call, isa.CallIndirect)
	case x86asm.JMP:
		rel(isa.Jump, isa.JumpIndirect)
	case x86asm.JA, x86asm.JAE, x86asm.JB, x86asm.JBE, x86asm.JCXZ, x86asm.JE, x86asm.JECXZ, x86asm.JG, x86asm.JGE, x86asm.JL, x86asm.JLE, x86asm.JNE, x86asm.JNO, x86asm.JNP, x86asm.JNS, x86asm.JO, x86asm.JP, x86asm.JRCXZ, x86asm.JS, x86asm.LOOP, x86asm.LOOPE, x86asm.LOOPNE:
		rel(isa.Branch, isa.Branch)
	}
	return true
}
