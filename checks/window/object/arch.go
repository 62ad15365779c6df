package object

import (
	"debug/elf"
	"fmt"
	"strings"

	"uabot/checks/window"
	"uabot/checks/window/object/isa"
)

// arch is what the checker knows of one kind of object.
type arch struct {
	name    string // as readers see it: "x86-64", "powerpc 8xx"
	kernel  string // the kernel's directory under arch/
	step    uint   // instructions start at multiples of this
	control isa.Control
	none    string // why there are no windows; the rest is empty then

	// marks find the instructions that may write the window register without
	// decoding: a word (or bytes) that matches makes its function a candidate.
	marks []mark

	// classify says what a write of value v to the window register does.
	classify func(o *object, l loc, in *isa.Insn, v value) step
	// eval computes effects that the arch's windows give a meaning of their own; ok
	// is false where the plain arithmetic is right.
	eval func(in *isa.Insn, e *isa.Effect, a, b value, s *state) (v value, ok bool)
	// clobbered is the set of registers that a call of callee changes.
	clobbered func(callee string) uint64
	// translates are functions that return their argument in another form: with
	// DEBUG_VIRTUAL an address is made physical by a call.
	translates []string
	// access reports whether a fault row of this kind is an access of user memory
	// that needs an open window; nil where that cannot be told.
	access func(kind int) bool
	// kept are static keys that stay as compiled, because windows depend on them.
	kept string
	// cOnly: functions written in assembly are left out, their callers open the windows.
	cOnly bool
	// restores: writing back a saved closed state counts as closing.
	restores bool
	// skip are functions that manage the window of another context.
	skip []string
	// startsOpen are prefixes of functions that are only called inside of a window.
	startsOpen []string
}

// mark is a bit pattern of little or big endian words.
type mark struct{ mask, value uint32 }

// step is what an instruction does to the window.
type step struct {
	what  action
	kind  window.Kind
	saved bool // what: restore; the saved state was open
}

type action uint8

const (
	nothing  action = iota
	opens           // opens a window of kind
	closes          // closes it
	seals           // closes what may be closed already, rightly
	restores        // puts a saved state back
	unclear         // writes the register with a value that could not be followed
)

// Kernel sources of the numbers below are linux 6.12.117.
var (
	archX86 = arch{
		name: "x86-64", kernel: "x86", step: 1,
		access: func(kind int) bool {
			// EX_TYPE_UACCESS = 3, EX_TYPE_EFAULT_REG = 17 with the immediate
			// -EFAULT (-14), EX_TYPE_UCOPY_LEN = 19:
			// arch/x86/include/asm/extable_fixup_types.h. The second is FPU code's, too.
			return kind&0xff == 3 || kind&0xff == 19
		},
		clobbered: func(string) uint64 { return 0 },
	}
	archI386 = with(archX86, func(a *arch) { a.name = "i386" })

	archARM64 = arch{
		name: "arm64 with software PAN", kernel: "arm64", step: 4, control: isa.TTBR0,
		marks:    []mark{{0xffffffe0, 0xd5182000}}, // msr ttbr0_el1, xN: DDI 0487 C5.2
		classify: classifyTTBR0, eval: evalTTBR,
		// AAPCS64 6.1.1: x0..x18 and the link register
		clobbered: func(string) uint64 { return 0x7ffff | 1<<30 },
		// arch/arm64/mm/physaddr.c
		translates: []string{"__phys_addr_symbol", "__virt_to_phys"},
		access:     func(kind int) bool { return kind == 2 }, // EX_TYPE_UACCESS_ERR_ZERO, asm/asm-extable.h
		cOnly:      true,
	}
	archARM = arch{
		name: "arm with software PAN", kernel: "arm", step: 4, control: isa.DACR,
		// mcr p15, 0, rN, c3, c0, 0 under any condition: DDI 0406 A8.8.98; T32 has
		// the same word with 0xe for the condition, halves swapped in memory.
		marks:    []mark{{0x0fff0fff, 0x0e030f10}, {0x0fffffff, 0x0f10ee03}},
		classify: classifyDACR, eval: evalDACR,
		clobbered: clobberedARM, cOnly: true, restores: true,
	}
	archPPC64 = arch{
		name: "powerpc book3s64", kernel: "powerpc", step: 4, control: isa.AMR,
		marks:    []mark{{0xfc1fffff, mtspr(29)}},
		classify: classifyAMR, eval: evalAMR,
		clobbered: clobberedPower,
		kept:      "mmu_feature_keys",
		skip:      powerSwitches, startsOpen: powerInside, cOnly: true,
	}
	archPPC8xx = arch{
		name: "powerpc 8xx", kernel: "powerpc", step: 4, control: isa.MDAP,
		marks:     []mark{{0xfc1fffff, mtspr(794)}},
		classify:  classifyMDAP,
		clobbered: clobberedPower, kept: "mmu_feature_keys",
		skip: powerSwitches, startsOpen: powerInside, cOnly: true,
	}
	archPPC32 = arch{
		name: "powerpc book3s32", kernel: "powerpc", step: 4, control: isa.Segment,
		marks:    []mark{{0xfc0007ff, 0x7c0001e4}, {0xfc1007ff, 0x7c0001a4}}, // mtsrin, mtsr
		classify: classifySegment, eval: evalSegment,
		clobbered: clobberedPower, kept: "mmu_feature_keys",
		skip: powerSwitches, startsOpen: powerInside, cOnly: true,
	}
	archBookE = with(archPPC8xx, func(a *arch) {
		a.name, a.control, a.marks, a.classify = "powerpc booke", isa.PID, []mark{{0xfc1fffff, mtspr(48)}}, classifyPID
	})
	archRISCV = arch{
		name: "riscv64", kernel: "riscv", step: 2, control: isa.SSTATUS,
		// csrrs and csrrc of sstatus (0x100) with a register: privileged spec, table 4
		marks:    []mark{{0xfff0707f, 0x10002073}, {0xfff0707f, 0x10003073}},
		classify: classifySSTATUS, eval: evalMask,
		// psABI: ra, t0-t2, a0-a7, t3-t6
		clobbered: func(string) uint64 { return 1<<1 | 7<<5 | 0xff<<10 | 0xf<<28 },
		access:    func(kind int) bool { return kind == 3 }, // EX_TYPE_UACCESS_ERR_ZERO, asm/asm-extable.h
		cOnly:     true,
	}
)

func with(a arch, change func(*arch)) arch {
	change(&a)
	return a
}

// mtspr is the word of mtspr n, r0: Power ISA 3.1B, book I 3.3.17; the halves of the
// number are swapped.
func mtspr(n uint32) uint32 { return 31<<26 | n&31<<16 | n>>5<<11 | 467<<1 }

// Interrupt entry and exit write the register for the context that they switch to:
// arch/powerpc/kernel/interrupt.c, arch/powerpc/include/asm/book3s/64/kup.h.
var powerSwitches = []string{
	"interrupt_exit_user_prepare", "interrupt_exit_user_prepare_main", "interrupt_exit_kernel_prepare",
	"interrupt_exit_user_restart", "interrupt_exit_kernel_restart",
	"syscall_exit_prepare", "syscall_exit_prepare_main", "syscall_exit_restart", "system_call_exception",
}

// arch/powerpc/kernel/signal_{32,64}.c: helpers that unsafe_* macros call.
var powerInside = []string{"__unsafe_", "unsafe_"}

// detectArch finds out what kind of object this is. Where the ELF header does not say
// which of an arch's ways to open windows is compiled in, the instructions do.
func (o *object) detectArch() error {
	switch o.machine {
	case elf.EM_X86_64:
		o.arch, o.decoder = &archX86, isa.X86(64)
	case elf.EM_386:
		o.arch, o.decoder = &archI386, isa.X86(32)
	case elf.EM_AARCH64:
		o.arch, o.decoder = &archARM64, isa.ARM64()
	case elf.EM_ARM:
		o.arch, o.decoder = &archARM, isa.ARM()
		for _, m := range o.mappings {
			if m.what == 't' {
				o.thumb = isa.Thumb()
				o.arch = ptr(with(archARM, func(a *arch) { a.step = 2 }))
				break
			}
		}
	case elf.EM_PPC64:
		o.arch, o.decoder = &archPPC64, isa.PowerPC(64, o.order)
	case elf.EM_PPC:
		o.arch, o.decoder = o.detectPower32(), isa.PowerPC(32, o.order)
	case elf.EM_RISCV:
		if o.class != elf.ELFCLASS64 {
			o.arch = &arch{name: "riscv 32-bit", kernel: "riscv", none: "32-bit riscv code is not followed"}
			return nil
		}
		o.arch, o.decoder = &archRISCV, isa.RISCV64()
	case elf.EM_S390:
		o.arch = &arch{name: "s390", kernel: "s390", none: "s390 has no window instructions: user memory is another address space"}
	default:
		return fmt.Errorf("%w: %v", ErrUnsupported, o.machine)
	}
	return nil
}

func ptr[T any](v T) *T { return &v }

// detectPower32 tells the 32-bit flavours apart by the register that is written where
// KUAP is compiled in. An object without such a place has no windows of any flavour.
func (o *object) detectPower32() *arch {
	for _, a := range []*arch{&archPPC8xx, &archPPC32, &archBookE} {
		for _, s := range o.kuap {
			for l := s.from; l < s.to; l += 4 {
				if w, ok := o.word(o.sections[l.sec()].data, l.off(), 4); ok && a.marked(uint32(w)) {
					return a
				}
			}
		}
	}
	return &arch{name: "powerpc 32-bit", kernel: "powerpc", step: 4, none: "no window instructions in this object"}
}

func (a *arch) marked(w uint32) bool {
	for _, m := range a.marks {
		if w&m.mask == m.value {
			return true
		}
	}
	return false
}

// clobberedPower: ELF ABIs, "Register Usage": r0, r3..r12, the count and link
// registers. The routines that save and restore r14.. change nothing else.
func clobberedPower(callee string) uint64 {
	for _, p := range []string{"_savegpr", "_restgpr", "_save32gpr", "_rest32gpr"} {
		if strings.HasPrefix(callee, p) {
			return 0
		}
	}
	return 0x1ff9 | 3<<32
}

// clobberedARM: AAPCS 6.1.1 (r0..r3, ip, lr), and less for the thunks, as
// arch/arm/include/asm/uaccess.h says in __GUP_CLOBBER_* and __PUT_USER clobbers.
func clobberedARM(callee string) uint64 {
	const r0, r2, r3, ip, lr = 1 << 0, 1 << 2, 1 << 3, 1 << 12, 1 << 14
	switch {
	case strings.HasPrefix(callee, "__put_user_"):
		return r0 | ip | lr
	case strings.HasPrefix(callee, "__get_user_8"), strings.HasPrefix(callee, "__get_user_64t_"), strings.HasPrefix(callee, "__get_user_32t_8"):
		return r0 | r2 | r3 | ip | lr
	case strings.HasPrefix(callee, "__get_user_"):
		return r0 | r2 | ip | lr
	}
	return 0xf | ip | lr
}
