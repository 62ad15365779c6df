package object

import (
	"errors"
	"os"
	"testing"
	"time"
)

// checkHostile runs the whole reader, and fails if it panics or takes unreasonably long.
func checkHostile(t testing.TB, data []byte) {
	t.Helper()
	start := time.Now()
	r, err := CheckBytes("hostile.o", data, Options{Source: "/nowhere"})
	if spent := time.Since(start); spent > 20*time.Second {
		t.Errorf("took %v", spent)
	}
	if err == nil && r == nil {
		t.Error("neither a report nor an error")
	}
	if err != nil && !errors.Is(err, ErrNotObject) && !errors.Is(err, ErrBroken) &&
		!errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrTooLarge) {
		t.Errorf("an error without a kind: %v", err)
	}
}

// Objects that end early, or whose bytes are wrong, are refused or read as far as they
// make sense.
func TestHostile(t *testing.T) {
	for _, name := range []string{"x86-64-dwarf5", "ppc64be", "arm", "riscv64", "i386", "arm64"} {
		whole, err := os.ReadFile(kept(t, name))
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(whole); n += len(whole)/13 + 1 {
			checkHostile(t, whole[:n])
		}
		broken := make([]byte, len(whole))
		for i := 0; i < 60; i++ {
			copy(broken, whole)
			// the same places each time: a simple linear congruence
			for k, x := 0, uint32(i)*2654435761; k < 1+i%16; k++ {
				x = x*1664525 + 1013904223
				broken[int(x>>8)%len(broken)] = byte(x)
			}
			checkHostile(t, broken)
		}
	}
}

// The whole reader, with every arch's object to start from. They are large: run it with
// -fuzzminimizetime 1x.
func FuzzCheck(f *testing.F) {
	for _, name := range append([]string{"s390x", "arm64-hwpan"}, objects...) {
		data, err := os.ReadFile(kept(f, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkHostile(t, data) })
}
