package gimple

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// show prints a dump as it was understood.
func show(funcs []*Func) string {
	var b strings.Builder
	for _, f := range funcs {
		var locals []string
		for v := range f.Locals {
			locals = append(locals, v)
		}
		slices.Sort(locals)
		fmt.Fprintf(&b, "func %s inline=%v params=%q at %v\nlocals %q\n", f.Name, f.Inline, f.Params, f.Pos, locals)
		for _, block := range f.Blocks {
			fmt.Fprintf(&b, "%d -> %v\n", block.ID, block.Succs)
			for _, s := range block.Stmts {
				fmt.Fprintf(&b, "  %d:%d ", s.Pos.Line, s.Pos.Col)
				switch s.Kind {
				case Assign:
					fmt.Fprintf(&b, "assign %q = %q\n", s.LHS, s.RHS)
				case Call:
					fmt.Fprintf(&b, "call %q = %s indirect=%v %q\n", s.LHS, s.Callee, s.Indirect, s.Args)
				case Cond:
					fmt.Fprintf(&b, "if %q %s %q then %d else %d\n", s.A, s.Op, s.B, s.Then, s.Else)
				case Switch:
					fmt.Fprintf(&b, "switch %q", s.A)
					for _, c := range s.Cases {
						fmt.Fprintf(&b, " [%s %s] %d", c.Lo, c.Hi, c.Target)
					}
					b.WriteByte('\n')
				case Return:
					fmt.Fprintf(&b, "return %q\n", s.A)
				case AsmStmt:
					fmt.Fprintf(&b, "asm %q outs %q ins %q\n", s.Asm.Template, s.Asm.Outs, s.Asm.Ins)
				case Label:
					fmt.Fprintf(&b, "label %q\n", s.Name)
				}
			}
		}
	}
	return b.String()
}

// One of each statement, as each gcc version prints it.
func TestShapes(t *testing.T) {
	dumps, err := filepath.Glob("testdata/*.cfg")
	if err != nil || len(dumps) == 0 {
		t.Fatalf("no dumps: %v", err)
	}
	for _, name := range dumps {
		t.Run(filepath.Base(name), func(t *testing.T) {
			in, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			funcs, err := ParseAll(in)
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(name, ".cfg") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(show(funcs)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(funcs); got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		name        string
		isVar       bool
		base, plain string
	}{
		{"errD.12", true, "errD.12", "err"},
		{"D.17", true, "D.17", "D.17"},
		{"_3", true, "_3", "_3"},
		{"len.16_1", true, "len.16_1", "len.16_1"},
		{"sD.3.okD.5", true, "sD.3", "sD.3.ok"},
		{"5", false, "5", "5"},
		{"0B", false, "0B", "0B"},
		{"printk", false, "printk", "printk"},
		{"pD.3->fD.4", false, "pD.3->fD.4", "pD.3->f"},
	} {
		if got := IsVar(tt.name); got != tt.isVar {
			t.Errorf("IsVar(%s) = %v", tt.name, got)
		}
		if got := Plain(tt.name); got != tt.plain {
			t.Errorf("Plain(%s) = %s", tt.name, got)
		}
		if got := Base(tt.name); tt.isVar && got != tt.base {
			t.Errorf("Base(%s) = %s", tt.name, got)
		}
	}
	var vars []string
	Vars(`&sD.3.okD.5, "textD.4", pD.9->fD.2 + _7`, func(v string) { vars = append(vars, v) })
	if want := []string{"sD.3.okD.5", "pD.9", "fD.2", "_7"}; !slices.Equal(vars, want) {
		t.Errorf("Vars: %q, want %q", vars, want)
	}
}

func TestNoDump(t *testing.T) {
	if _, err := ParseAll(strings.NewReader("int main(void) { return 0; }\n")); !errors.Is(err, ErrNoDump) {
		t.Errorf("got %v", err)
	}
	if funcs, err := ParseAll(strings.NewReader("")); err != nil || funcs != nil {
		t.Errorf("an empty dump, of a file without functions: %v, %v", funcs, err)
	}
}

// A dump that ends anywhere is read as far as it goes.
func TestCut(t *testing.T) {
	data, err := os.ReadFile("testdata/shapes-gcc12.cfg")
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(data); n += 7 {
		if _, err := ParseAll(strings.NewReader(string(data[:n]))); err != nil && !errors.Is(err, ErrNoDump) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	dumps, _ := filepath.Glob("testdata/*.cfg")
	for _, name := range dumps {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, dump string) {
		funcs, err := ParseAll(strings.NewReader(dump))
		if err != nil && !errors.Is(err, ErrNoDump) {
			t.Fatal(err)
		}
		for _, fn := range funcs {
			for _, b := range fn.Blocks {
				for _, s := range b.Stmts {
					if s.Kind == AsmStmt && s.Asm == nil {
						t.Fatal("an asm without one")
					}
					Vars(s.RHS, func(v string) { _ = Base(v) })
				}
			}
		}
	})
}
