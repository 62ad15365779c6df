package object

import (
	"math/bits"

	"uabot/checks/window"
	"uabot/checks/window/object/isa"
)

// What a write of each arch's window register does, by the value that is written; and
// the arithmetic that its values go through on the way.

// powerpc 8xx: arch/powerpc/include/asm/nohash/32/kup-8xx.h and mmu-8xx.h.
const (
	mdAPGInit = 0xdc000000 // MD_APG_INIT: user access allowed
	mdAPGKUAP = 0xde000000 // MD_APG_KUAP: denied
)

func classifyMDAP(o *object, l loc, in *isa.Insn, v value) step {
	switch {
	case !o.inKUAP(l):
		return step{}
	case v.kind == saved:
		return step{what: restores, saved: v.bits == 1}
	case v.kind == constant && v.bits == mdAPGInit:
		return step{what: opens}
	case v.kind == constant && v.bits == mdAPGKUAP:
		return step{what: closes}
	}
	return step{what: unclear}
}

// powerpc booke: arch/powerpc/include/asm/nohash/kup-booke.h: the PID register holds
// thread.pid while a window is open, 0 otherwise.
func classifyPID(o *object, l loc, in *isa.Insn, v value) step {
	switch {
	case !o.inKUAP(l):
		return step{}
	case v.kind == constant && v.bits == 0:
		return step{what: closes}
	}
	return step{what: opens}
}

// powerpc book3s64: arch/powerpc/include/asm/book3s/64/kup.h.
const (
	amrBlockRead  = 0x5455555555555555
	amrBlockWrite = 0xa8aaaaaaaaaaaaaa
	amrBlocked    = amrBlockRead | amrBlockWrite
)

func classifyAMR(o *object, l loc, in *isa.Insn, v value) step {
	switch v.kind {
	case saved:
		return step{what: restores, saved: v.bits == 1}
	case constant, atLeast:
		r, w := v.bits&amrBlockRead == amrBlockRead, v.bits&amrBlockWrite == amrBlockWrite
		switch {
		case r && w:
			return step{what: closes}
		case w:
			return step{what: opens, kind: window.Read}
		case r:
			return step{what: opens, kind: window.Write}
		case v.kind == constant:
			return step{what: opens, kind: window.ReadWrite}
		}
	}
	return step{what: opens} // thread.regs->amr: what the task may do anyway
}

func evalAMR(in *isa.Insn, e *isa.Effect, a, b value, s *state) (value, bool) {
	if a.kind == saved && e.Op != isa.Move && !(e.Op == isa.AddImm && e.Imm == 0) && !(e.Op == isa.Or && e.A == e.B) {
		return value{}, true
	}
	return value{}, false
}

// powerpc book3s32: arch/powerpc/include/asm/book3s/32/kup.h; bit 1 of a segment
// register, Ks, denies the access.
const srKs = 0x40000000

func classifySegment(o *object, l loc, in *isa.Insn, v value) step {
	switch {
	case !o.inKUAP(l):
		return step{}
	case v.kind == allows:
		return step{what: opens, kind: window.Write}
	case v.kind == denies:
		return step{what: closes}
	}
	return step{what: unclear}
}

func evalSegment(in *isa.Insn, e *isa.Effect, a, b value, s *state) (value, bool) {
	if a.kind != saved && a.kind != allows && a.kind != denies {
		return value{}, false
	}
	switch {
	case e.Op == isa.RotateMask && e.Imm&31 == 0 && uint64(e.Imm)>>32&srKs == 0,
		e.Op == isa.AndImm && e.Imm&srKs == 0:
		return value{kind: allows}, true
	case e.Op == isa.OrImm && e.Imm&srKs != 0:
		return value{kind: denies}, true
	case e.Op == isa.RotateMask && e.Imm&31 == 0, e.Op == isa.OrImm, e.Op == isa.Move:
		return a, true
	}
	return value{}, true
}

// riscv: arch/riscv/include/asm/csr.h.
const sstatusSUM = 0x40000

func classifySSTATUS(o *object, l loc, in *isa.Insn, v value) step {
	if in.Source == isa.NoReg {
		v = value{constant, in.SourceImm}
	}
	switch {
	case in.Window == isa.Write:
		return step{} // the API never writes the whole register: other fields are meant
	case (v.kind == constant || v.kind == masked) && v.bits&sstatusSUM == 0:
		return step{} // interrupts on or off
	case v.kind != constant:
		return step{what: unclear}
	case in.Window == isa.SetBits:
		return step{what: opens}
	}
	return step{what: closes}
}

// evalMask: what was read of sstatus is followed through masks only.
func evalMask(in *isa.Insn, e *isa.Effect, a, b value, s *state) (value, bool) {
	return value{}, e.Op == isa.ReadControl
}

// arm: arch/arm/include/asm/domain.h, uaccess.h: two bits of DACR for each domain, that
// of user memory in bits 2 and 3: DOMAIN_CLIENT (1) opens, DOMAIN_NOACCESS (0) closes.
const dacrUser, dacrClient = 0xc, 0x4

func classifyDACR(o *object, l loc, in *isa.Insn, v value) step {
	switch v.kind {
	case saved:
		return step{what: restores, saved: v.bits == 1}
	case allows:
		return step{what: opens}
	case denies:
		return step{what: closes}
	case constant:
		if v.bits&dacrUser == dacrClient {
			return step{what: opens}
		}
		return step{what: closes}
	}
	return step{what: unclear}
}

func evalDACR(in *isa.Insn, e *isa.Effect, a, b value, s *state) (value, bool) {
	mask := uint32(e.Imm)
	switch e.Op {
	case isa.And, isa.Or:
		if b.kind != constant {
			a, b = b, a
		}
		if b.kind != constant {
			return value{}, a.kind == saved || a.kind == allows || a.kind == denies
		}
		mask = uint32(b.bits)
	case isa.Insert:
		if mask&dacrUser == dacrUser && b.kind == constant {
			if bits.RotateLeft32(uint32(b.bits), int(e.Shift))&dacrUser == dacrClient {
				return value{kind: allows}, true
			}
			return value{kind: denies}, true
		}
	}
	if a.kind != saved && a.kind != allows && a.kind != denies {
		return value{}, false
	}
	switch e.Op {
	case isa.AndImm, isa.And:
		if mask&dacrUser == 0 {
			return value{kind: denies}, true
		}
		return a, true
	case isa.OrImm, isa.Or:
		if mask&dacrUser == dacrClient {
			return value{kind: allows}, true
		}
		return a, true
	case isa.Move:
		return a, true
	case isa.AddImm:
		if e.Imm == 0 {
			return a, true
		}
	}
	return value{}, true
}

// arm64: arch/arm64/include/asm/uaccess.h: TTBR0 is the task's table while a window is
// open, else reserved_pg_dir, which lies beside the kernel's table in TTBR1.
func classifyTTBR0(o *object, l loc, in *isa.Insn, v value) step {
	if in.Control != isa.TTBR0 {
		return step{}
	}
	switch v.kind {
	case kernelTT:
		return step{what: closes}
	case reserved:
		return step{what: seals}
	}
	return step{what: opens}
}

func evalTTBR(in *isa.Insn, e *isa.Effect, a, b value, s *state) (value, bool) {
	if e.Op == isa.ReadControl {
		if in.Control == isa.TTBR1 {
			return value{kind: kernelTT}, true
		}
		return value{}, true
	}
	for _, v := range []value{a, b} {
		if v.kind == kernelTT || v.kind == reserved {
			return v, true
		}
	}
	return value{}, false
}
