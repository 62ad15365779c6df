package window

import (
	"strings"

	"uabot/checks"
)

// consequences say what comes of a broken rule, for a reader who wonders whether it
// matters to them. They rest on the primitives of the architectures in 6.12:
// arch/x86/include/asm/smap.h, arch/arm64/include/asm/uaccess.h,
// arch/powerpc/include/asm/{book3s/32,book3s/64,nohash/32}/kup*.h,
// arch/riscv/include/asm/uaccess.h.
var consequences = map[Rule]string{
	CloseWithoutOpen:    "Harmless on most; on 32-bit book3s it protects the kernel's own segment.",
	OpenAtReturn:        "Whatever runs next may touch user memory by mistake: SMAP, KUAP, PAN or SUM stay off until the next window closes.",
	OpenTwice:           "Windows do not nest: the first end closes both, and an access after it faults.",
	CallInWindow:        "What is called runs with user access open; on x86 it may also be scheduled away with it open.",
	AccessOutsideWindow: "It faults where the processor enforces windows, and works on a machine that does not.",
	KindMismatch:        "Harmless where one window serves both ways (x86, arm64, riscv, 8xx); book3s64 tells reading from writing, 32-bit book3s knows only writing.",
	UncheckedBegin:      "A begin that fails has not checked the address either: what follows can reach kernel memory.",
	SaveWithoutRestore:  "The state of before is lost: a window of the caller's stays closed, or one stays open.",
}

// Consequence is what comes of a finding of a window rule, in a sentence; empty for
// other rules.
func Consequence(f *checks.Finding) string {
	if Rule(f.Rule) == CloseWithoutOpen && strings.Contains(f.Title, "read_access_end") {
		return "Harmless by itself: to close reading again changes nothing on any architecture."
	}
	return consequences[Rule(f.Rule)]
}
