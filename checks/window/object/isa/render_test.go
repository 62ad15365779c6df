package isa

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

var (
	flowNames    = []string{"", "jump", "branch", "call", "call-indirect", "jump-indirect", "branch-indirect", "return", "branch-return", "trap", "stop"}
	windowNames  = []string{"", "open", "close", "write", "set-bits", "clear-bits", "save", "restore"}
	controlNames = []string{"", "MDAP", "AMR", "PID", "Segment", "TTBR0", "TTBR1", "PAN", "DACR", "TTBCR", "SSTATUS"}
	whenNames    = []string{"", "equal", "not-equal", "above", "above-equal", "below", "below-equal"}
)

// render writes an instruction down in one line: length, flow, window, effects, and
// the registers that are lost without an effect.
func render(in *Insn) string {
	parts := []string{fmt.Sprint(in.Len)}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if in.Conditional {
		add("conditional")
	}
	if in.Flow != Next {
		add("%s", flowNames[in.Flow])
	}
	if in.HasTarget {
		add("%+d", in.Target)
	}
	if in.When != Other {
		add("if %s", whenNames[in.When])
	}
	if in.Window != NoWindow {
		add("%s", windowNames[in.Window])
	}
	if in.Control != NoControl {
		add("%s", controlNames[in.Control])
	}
	switch {
	case in.Source != NoReg:
		add("r%d", in.Source)
	case in.SourceImm != 0 || in.Window == Write || in.Window == SetBits || in.Window == ClearBits:
		add("#%#x", in.SourceImm)
	}
	add("%s", []string{"", "reads", "writes", "reads+writes"}[in.Memory])
	lost := in.Written
	for _, e := range in.Effects[:in.NumEffects] {
		if e.Dst >= 0 {
			if lost>>uint(e.Dst)&1 == 0 && !(e.Dst == ARMPC && e.Op != Const) {
				add("(not in Written!)")
			}
		}
		add("%s", renderEffect(e))
	}
	for _, e := range in.Effects[:in.NumEffects] {
		if e.Dst >= 0 {
			lost &^= 1 << uint(e.Dst)
		}
	}
	if lost != 0 {
		names := ""
		for r := range 64 {
			if lost>>r&1 != 0 {
				names += fmt.Sprintf(" r%d", r)
			}
		}
		add("loses%s", names)
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

func renderEffect(e Effect) string {
	a, b := fmt.Sprintf("r%d", e.A), fmt.Sprintf("r%d", e.B)
	if e.A == NoReg {
		a = "pc"
	}
	infix := map[Op]string{Or: "|", And: "&", Xor: "^", Add: "+", Sub: "-", AndNot: "&^"}
	imm := map[Op]string{AddImm: "+", OrImm: "|", XorImm: "^", AndImm: "&", ShiftLeft: "<<", ShiftRight: ">>"}
	dst := fmt.Sprintf("[r%d = ", e.Dst)
	switch e.Op {
	case Const:
		return dst + fmt.Sprintf("%#x]", uint64(e.Imm))
	case Move:
		return dst + a + "]"
	case AddImm:
		return dst + fmt.Sprintf("%s%+d]", a, e.Imm)
	case OrImm, XorImm, AndImm, ShiftLeft, ShiftRight:
		return dst + fmt.Sprintf("%s %s %#x]", a, imm[e.Op], uint64(e.Imm))
	case RotateMask:
		return dst + fmt.Sprintf("rotl32(%s, %d) & %#x]", a, e.Imm&31, uint64(e.Imm)>>32)
	case RotateMask64:
		return dst + fmt.Sprintf("rotl64(%s, %d) & %#x]", a, e.B, uint64(e.Imm))
	case Or, And, Xor, Add, Sub, AndNot:
		return dst + fmt.Sprintf("%s %s %s]", a, infix[e.Op], b)
	case Insert16:
		return dst + fmt.Sprintf("%s with %#x at bit %d]", a, e.Imm, e.B)
	case Insert:
		return dst + fmt.Sprintf("%s with %s<<%d under %#x]", a, b, e.Shift, uint64(e.Imm))
	case InsertRight:
		return dst + fmt.Sprintf("%s with %s>>%d under %#x]", a, b, e.Shift, uint64(e.Imm))
	case ReadControl:
		return dst + "control]"
	case Load:
		return dst + fmt.Sprintf("slot%+d]", e.Imm)
	case Store:
		return fmt.Sprintf("[slot%+d = %s]", e.Imm, strings.Replace(a, "pc", "0", 1))
	case Lost:
		return fmt.Sprintf("[slot%+d lost, %d bytes]", e.Imm, e.B)
	case StoreAt:
		return fmt.Sprintf("[mem(%s%+d) = %s]", b, e.Imm, strings.Replace(a, "pc", "0", 1))
	case LoadConst:
		return dst + fmt.Sprintf("mem(%s%+d), %d bytes]", a, e.Imm, e.B)
	case LoadIndexed:
		return dst + fmt.Sprintf("mem(%s + %s<<%d), %d bytes]", a, b, e.Imm>>8, int8(e.Imm))
	case Address:
		return dst + fmt.Sprintf("address of %s%+d]", a, e.Imm)
	case Page:
		return dst + fmt.Sprintf("page of pc%+d]", e.Imm)
	case AddShifted:
		return dst + fmt.Sprintf("%s + %s<<%d]", a, b, e.Imm)
	case CompareImm:
		return fmt.Sprintf("[%s ? %#x]", a, uint64(e.Imm))
	case Compare:
		if e.B == NoReg {
			b = "unknown"
		}
		return fmt.Sprintf("[%s ? %s]", a, b)
	}
	return fmt.Sprintf("[op %d]", e.Op)
}

// encoding is one line of a table: what the assembler made of a source line (bytes
// in the order of memory), and what it is.
type encoding struct {
	bytes, source, want string
}

// checkEncodings reads each hand-chosen encoding.
func checkEncodings(t *testing.T, d Decoder, rows []encoding) {
	t.Helper()
	for _, r := range rows {
		code, err := hex.DecodeString(strings.ReplaceAll(r.bytes, " ", ""))
		if err != nil {
			t.Fatalf("%s: %v", r.source, err)
		}
		var in Insn
		got := "invalid"
		if d.Decode(code, &in) {
			got = render(&in)
		}
		if got != r.want {
			t.Errorf("%s (%s):\n got  %s\n want %s", r.source, r.bytes, got, r.want)
		}
	}
}
