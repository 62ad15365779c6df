package csource

import (
	"strings"
	"testing"
	"time"
)

// Text that repeats must not take quadratic time: the text
// comes from strangers.
func TestLinearTime(t *testing.T) {
	for _, unit := range []string{"a(", "(", "{", "}", "f(){", "#if x\n", "#if x\n#else\n", "#endif\n", "struct a{", "struct ", "union a a ",
		"/*", "\"", "'", "\\\n", "//\\\n", "#define f(x", "#define f(x) a(x)\n", "a(){}", "typeof(", "__attribute__((", "a ", "0x", "u8\"", "=", "a;", "(a)", "f(a,", ",", "1e+"} {
		text := []byte(strings.Repeat(unit, 1<<17/len(unit)))
		start := time.Now()
		f := Parse(text)
		Calls(f.Tokens)
		for _, fn := range f.Funcs[:min(len(f.Funcs), 1)] {
			Calls(fn.Body)
		}
		f.Branch(f.Lines / 2)
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("128 KiB of %q take %v", unit, d)
		}
	}
}
