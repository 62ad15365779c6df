package isa

import (
	"fmt"
	"strings"
	"testing"
)

// TestNoDeadRow finds rows that an earlier row hides altogether: a table that says two
// things about one encoding is wrong in one of them.
func TestNoDeadRow(t *testing.T) {
	for name, table := range map[string]*table{
		"power32": power32(), "power64": power64(), "power31": power32X(),
		"arm64": arm64Table(), "a32": a32Table(), "a32 unconditional": a32Unconditional(),
		"thumb16": thumb16(), "thumb32": thumb32(), "riscv32": riscv32(), "riscv16": riscv16(),
	} {
		type pattern struct{ mask, value uint32 }
		alive := map[pattern]bool{}
		for _, bucket := range table.buckets {
			for i, m := range bucket {
				hidden := false
				for _, earlier := range bucket[:i] {
					// earlier asks for no bit that m does not fix to the same value
					hidden = hidden || earlier.mask&^m.mask == 0 && (earlier.value^m.value)&earlier.mask == 0
				}
				p := pattern{m.mask, m.value}
				alive[p] = alive[p] || !hidden
			}
		}
		for p, ok := range alive {
			if !ok {
				t.Errorf("%s: the row %s is never reached", name, drawn(p.mask, p.value))
			}
		}
	}
}

func drawn(mask, value uint32) string {
	var b strings.Builder
	for bit := 31; bit >= 0; bit-- {
		switch {
		case mask>>bit&1 == 0:
			b.WriteByte('-')
		case value>>bit&1 == 1:
			b.WriteByte('1')
		default:
			b.WriteByte('0')
		}
	}
	return b.String()
}

// TestRowLength: a row with a mark too few or too many is found before it decodes anything.
func TestRowLength(t *testing.T) {
	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "has 15 bits, not 16") {
			t.Errorf("a row of 15 bits: %v", r)
		}
	}()
	newTable(16, 8, 8, 0, 2, []row{{"000 iiiii mmm dddd", "short", nil}})
}

// TestFirstRowWins: a special case stands before its class.
func TestFirstRowWins(t *testing.T) {
	table := newTable(16, 12, 4, 0, 0, []row{
		{"0001 0000 0000 0001", "special", func(in *Insn, _ uint32) { in.Flow = Trap }},
		{"0001 ---- ---- ----", "class", func(in *Insn, _ uint32) { in.Flow = Jump }},
	})
	for w, want := range map[uint32]Flow{0x1001: Trap, 0x1002: Jump} {
		var in Insn
		if !table.decode(&in, w) || in.Flow != want {
			t.Errorf("%#x: flow %d, not %d", w, in.Flow, want)
		}
	}
	if table.decode(new(Insn), 0x2000) {
		t.Error("0x2000 matches no row, and yet is decoded")
	}
}
