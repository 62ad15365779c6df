package isa

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// generated compiles C code made up for the purpose: branches, switches, loops, calls
// through pointers, arithmetic of all widths.
func generated(t *testing.T, m *machine, gcc string) []string {
	t.Helper()
	dir := t.TempDir()
	var objects []string
	functions := 100                   // gcc needs 2 s for each file of them
	if len(m.cflags) > 0 && !m.thumb { // no libraries beside it
		functions = 300
	}
	for i, opt := range []string{"-O2", "-Os", "-O1"} {
		src := filepath.Join(dir, fmt.Sprintf("g%d.c", i))
		obj := strings.TrimSuffix(src, ".c") + ".o"
		if err := os.WriteFile(src, generateC(rand.New(rand.NewPCG(uint64(i), 1)), functions), 0o666); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"-c", "-w", "-ffreestanding", opt, "-o", obj, src}, m.cflags...)
		if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
			t.Fatalf("compiling generated code: %v\n%s", err, out)
		}
		objects = append(objects, obj)
	}
	return objects
}

func generateC(rng *rand.Rand, functions int) []byte {
	var b bytes.Buffer
	types := []string{"signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long", "long long", "unsigned long long"}
	operators := []string{"+", "-", "*", "&", "|", "^", "<<", ">>"}
	pick := func(s []string) string { return s[rng.IntN(len(s))] }
	b.WriteString("struct s { struct s *next; char c; short h; int i; long l; long long q; int (*call)(long, int); };\nextern volatile int sink; extern int ext(long, int); extern void *tab[64];\n")
	for f := range functions {
		fmt.Fprintf(&b, "%s f%d(struct s *p, %s a, %s b, int n) {\n%s v = a, w = b; int i;\n", pick(types), f, pick(types), pick(types), pick(types))
		for range 4 + rng.IntN(10) {
			switch rng.IntN(9) {
			case 0:
				fmt.Fprintf(&b, "if (v %s %d) w = v %s w; else p->q += w;\n", pick([]string{"<", ">", "==", "!=", "<=", ">="}), rng.IntN(70000)-300, pick(operators[:6]))
			case 1:
				b.WriteString("switch (n) {\n")
				for k := range 4 + rng.IntN(9) {
					fmt.Fprintf(&b, "case %d: v %s= %d; p->i ^= w; break;\n", k, pick(operators[:6]), rng.IntN(1<<20))
				}
				b.WriteString("default: return w; }\n")
			case 2:
				fmt.Fprintf(&b, "for (i = 0; i < n; i++) { v += ((%s *)p)[i]; p->c ^= w; }\n", pick(types))
			case 3:
				fmt.Fprintf(&b, "if (!p->next) return ext(v, w %s %d); p = p->next;\n", pick(operators), 1+rng.IntN(7))
			case 4:
				b.WriteString("w += p->call(v, n);\n")
			case 5:
				fmt.Fprintf(&b, "v = (v %s %d) %s (w >> %d);\n", pick(operators), 1+rng.IntN(7), pick(operators[:6]), 1+rng.IntN(7))
			case 6:
				fmt.Fprintf(&b, "while (w & %d) { w >>= 1; sink = v; if (v == %d) goto out; }\n", 1<<rng.IntN(7), rng.IntN(99))
			case 7:
				fmt.Fprintf(&b, "p->l = __sync_fetch_and_add(&p->i, %d); if (__builtin_expect(p->h < 0, 0)) __builtin_trap();\n", rng.IntN(99))
			case 8:
				fmt.Fprintf(&b, "p->h = v / (n | 1); v = __builtin_bswap32(w) %% 77u; p->q = (long long)v * w; tab[n & 63] = p;\n")
			}
		}
		b.WriteString("out: return v + w;\n}\n")
	}
	return b.Bytes()
}
