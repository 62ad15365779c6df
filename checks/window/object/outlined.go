package object

import (
	"uabot/checks/window"
	"uabot/checks/window/object/isa"
)

// answers are arm64 functions that a compiler may leave out of line, and what they say in
// a kernel whose windows are in the code: arch/arm64/include/asm/cpufeature.h.
var answers = map[string]bool{"system_uses_hw_pan": false, "system_uses_ttbr0_pan": true}

// decided reports which way an arm64 branch on such an answer goes, if it is one: the
// call, at most a test or an extension of w0, and the branch (DDI 0487 C4.1).
func (o *object) decided(n *node) (taken, ok bool) {
	if o.arch.control != isa.TTBR0 {
		return false, false
	}
	word := func(l loc) uint32 {
		w, _ := o.word(o.sections[l.sec()].data, l.off(), 4)
		return uint32(w)
	}
	var ifZero bool
	switch w := word(n.loc); {
	case w&0xff00001e == 0x54000000: // b.eq, b.ne
		ifZero = w&1 == 0
	case w&0x7e00001f == 0x34000000, w&0x7ef8001f == 0x36000000: // cbz, cbnz w0; tbz, tbnz w0, #0
		ifZero = w&(1<<24) == 0
	default:
		return false, false
	}
	for l := n.loc.add(-4); l+8 >= n.loc && l < n.loc; l = l.add(-4) {
		in := o.insn(l)
		if in == nil {
			break
		}
		if in.Flow == isa.Call {
			to, external, _ := o.target(l, in)
			if external == "" {
				if f := o.entry(to); f != nil {
					external = f.name
				}
			}
			answer, known := answers[window.FunctionName(external)]
			return ifZero != answer, known
		}
		switch word(l) {
		case 0x72001c1f, 0x12001c00, 0x53001c00: // tst w0, #0xff; and w0, w0, #0xff; uxtb w0, w0
		default:
			return false, false
		}
	}
	return false, false
}
