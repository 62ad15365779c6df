package kbuild

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"uabot/checks"
)

// The logs are what gcc 12, its assembler and sparse 0.6.4 print for small files of
// the shapes named.
func TestParseMessages(t *testing.T) {
	for _, c := range []struct {
		name, log string
		want      []string // tool error? place function text
	}{
		{"warning in a function", `a/b.c: In function 'f':
a/b.c:7:13: warning: unused variable 'x' [-Wunused-variable]
    7 |         int x;
      |             ^
`, []string{"gcc warning a/b.c:7 f: unused variable 'x' [-Wunused-variable]"}},
		{"the use of a macro is the place, outermost", `a/b.c: In function 'f':
include/m.h:3:20: warning: statement with no effect [-Wunused-value]
    3 | #define INNER(x) ((x) == 1)
      |                  ~~~~^~~~~
include/m.h:4:18: note: in expansion of macro 'INNER'
    4 | #define OUTER(x) INNER(x)
      |                  ^~~~~
a/b.c:9:9: note: in expansion of macro 'OUTER'
    9 |         OUTER(x);
      |         ^~~~~
`, []string{"gcc warning a/b.c:9 f: statement with no effect [-Wunused-value]"}},
		{"inlined", `In function 'fortify_memcpy_chk',
    inlined from 'g' at a/c.c:12:9,
    inlined from 'f' at a/b.c:22:2:
include/linux/fortify-string.h:571:25: error: call to '__write_overflow_field' declared with attribute warning: detected write
  571 |                         __write_overflow_field(p_size_field, size);
`, []string{"gcc error a/b.c:22 f: call to '__write_overflow_field' declared with attribute warning: detected write"}},
		{"a missing header ends it", `a/b.c:20:10: fatal error: asm/vfp.h: No such file or directory
   20 | #include <asm/vfp.h>
      |          ^~~~~~~~~~~
compilation terminated.
`, []string{"gcc error a/b.c:20 : asm/vfp.h: No such file or directory"}},
		{"included from", `In file included from include/a.h:5,
                 from a/b.c:1:
include/b.h:3:1: error: unknown type name 'foo'
    3 | foo bar;
      | ^~~
include/b.h:1:1: note: it was here
`, []string{"gcc error include/b.h:3 : unknown type name 'foo'"}},
		{"file scope after a function", `a/b.c: In function 'f':
a/b.c:2:1: error: expected ';' before '}' token
a/b.c: At top level:
a/b.c:9:12: warning: 'g' defined but not used [-Wunused-function]
cc1: some warnings being treated as errors
`, []string{"gcc error a/b.c:2 f: expected ';' before '}' token", "gcc warning a/b.c:9 : 'g' defined but not used [-Wunused-function]"}},
		{"assembler", `{standard input}: Assembler messages:
{standard input}:123: Error: no such instruction: ` + "`frob'" + `
a/c.S:4: Warning: zero assumed
`, []string{"gcc error {standard input}:123 : no such instruction: `frob'", "gcc warning a/c.S:4 : zero assumed"}},
		{"no place", "cc1: error: unrecognized command-line option '-mfoo'\n", []string{"gcc error :0 : unrecognized command-line option '-mfoo'"}},
		{"sparse behind gcc", `a/b.c: In function 'f':
a/b.c:7:13: warning: unused variable 'x' [-Wunused-variable]
  CHECK   a/b.o
a/b.c:11:20: warning: incorrect type in argument 1 (different address spaces)
a/b.c:11:20:    expected void const *from
a/b.c:11:20:    got void [noderef] __user *p
a/b.c:30:5: warning: symbol 'g' was not declared. Should it be static?
a/b.c:41:9: error: undefined identifier 'h'
`, []string{
			"gcc warning a/b.c:7 f: unused variable 'x' [-Wunused-variable]",
			"sparse warning a/b.c:11 : incorrect type in argument 1 (different address spaces) expected void const *from got void [noderef] __user *p",
			"sparse warning a/b.c:30 : symbol 'g' was not declared. Should it be static?",
			"sparse error a/b.c:41 : undefined identifier 'h'",
		}},
		{"sparse in a header", `  CHECK   a/b.o
a/b.c: note: in included file (through include/a.h):
include/b.h:5:5: warning: symbol 'use' was not declared. Should it be static?
`, []string{"sparse warning include/b.h:5 : symbol 'use' was not declared. Should it be static?"}},
		{"nothing", "", nil},
		{"talk", "  CC      a/b.o\nhello\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			raw := 0
			for _, m := range ParseMessages(c.log) {
				severity := "warning"
				if m.Error {
					severity = "error"
				}
				got = append(got, m.Tool+" "+severity+" "+m.File+":"+strconv.Itoa(m.Line)+" "+m.Function+": "+m.Text)
				raw += len(m.Raw)
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if raw > len(c.log) {
				t.Errorf("the raw texts have %d bytes, the log has %d", raw, len(c.log))
			}
		})
	}
}

func TestIdentityOfMessages(t *testing.T) {
	for _, c := range []struct{ a, b string }{
		{"the frame size of 1040 bytes is larger than 1024 bytes [-Wframe-larger-than=]", "the frame size of 2040 bytes is larger than 1024 bytes [-Wframe-larger-than=]"},
		{"'x' may be used, declared at line 7", "'x' may be used, declared at line 8"},
		{"(unnamed struct at a/b.c:12:3)", "(unnamed struct at a/b.c:14:3)"},
		{"'*D.1234' is used", "'*D.77' is used"},
	} {
		a, b := Message{Text: c.a}, Message{Text: c.b}
		if a.Identity() != b.Identity() {
			t.Errorf("%q and %q differ", a.Identity(), b.Identity())
		}
	}
	for _, c := range []struct{ a, b string }{
		{"array subscript 5 is above array bounds of 'int[4]'", "array subscript 6 is above array bounds of 'int[4]'"},
		{"unused variable 'x1'", "unused variable 'x2'"},
	} {
		a, b := Message{Text: c.a}, Message{Text: c.b}
		if a.Identity() == b.Identity() {
			t.Errorf("%q and %q are taken for the same", c.a, c.b)
		}
	}
}

// Two functions with the same message are two findings; the same one from two
// units (in a header) is one; and a line more above changes nothing.
func TestMessagesCheck(t *testing.T) {
	run := func(source, log string, units ...checks.Unit) []checks.Finding {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "a"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a/b.c"), []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		if units == nil {
			units = []checks.Unit{{Source: "a/b.c", Log: log}, {Source: "a/c.c", Log: log}}
		}
		res, err := Messages{}.Run(t.Context(), &checks.Built{Source: dir, Units: units})
		if err != nil {
			t.Fatal(err)
		}
		return res.Findings
	}
	const sparse = "  CHECK   a/b.o\na/b.c:3:2: warning: dereference of noderef expression\na/b.c:7:2: warning: dereference of noderef expression\n"
	before := run("int f(void)\n{\n\treturn *p;\n}\nstatic int *g(int a)\n{\n\treturn *p;\n}\n", sparse)
	if len(before) != 2 || before[0].Function != "f" || before[1].Function != "g" || before[0].Rule != Sparse ||
		before[0].Class != checks.Build || before[0].Line != 3 || before[0].Witness[0].Text != "\treturn *p;" {
		t.Fatalf("%+v", before)
	}
	after := run("int x;\nint f(void)\n{\n\treturn *p;\n}\nstatic int *g(int a)\n{\n\treturn *p;\n}\n",
		"  CHECK   a/b.o\na/b.c:4:2: warning: dereference of noderef expression\na/b.c:8:2: warning: dereference of noderef expression\n")
	for i := range before {
		if before[i].Identity() != after[i].Identity() {
			t.Errorf("another identity after a line was put in: %+v and %+v", before[i], after[i])
		}
	}

	// A unit that fails without a message that we know.
	odd := run("", "", checks.Unit{Source: "a/b.c", Err: "the compiler failed with exit status 4"})
	if len(odd) != 1 || odd[0].Rule != CompilerError || odd[0].File != "a/b.c" || odd[0].Title != "the compiler failed with exit status 4" {
		t.Errorf("%+v", odd)
	}
	// The same at the base has the same identity.
	if base := run("", "", checks.Unit{Source: "a/b.c", Err: atBase + "the compiler failed with exit status 4"}); base[0].Identity() != odd[0].Identity() {
		t.Errorf("%+v", base)
	}
	if gone := run("", "", checks.Unit{Source: "a/b.c", Err: removed}); len(gone) != 0 {
		t.Errorf("%+v", gone)
	}
	// Terminal escapes and a flood of text are made harmless.
	flood := run("", "", checks.Unit{Source: "a/b.c", Log: "a/b.c:1:1: warning: \x1b[31mred\x9b " + strings.Repeat("x", 10000) + "\n"})
	if len(flood) != 1 || strings.ContainsRune(flood[0].Title+flood[0].Evidence[0].Text, '\x1b') || !utf8.ValidString(flood[0].Title) || len(flood[0].Title) > maxTitle+10 || len(flood[0].Evidence[0].Text) > maxRaw+10 {
		t.Errorf("%+v", flood)
	}
}

func FuzzParseMessages(f *testing.F) {
	f.Add("a/b.c: In function 'f':\na/b.c:7:13: warning: unused variable 'x' [-Wunused-variable]\n    7 |\n")
	f.Add("In function 'm',\n    inlined from 'g' at a/c.c:12:9:\ni.h:1:2: error: x\ni.h:2:1: note: in expansion of macro 'A'\n")
	f.Add("  CHECK   a/b.o\na/b.c:11:20: warning: incorrect type\na/b.c:11:20:    expected\n")
	f.Add("{standard input}:123: Error: no\ncc1: error: x\n")
	f.Fuzz(func(t *testing.T, log string) {
		raw := 0
		for _, m := range ParseMessages(log) {
			if m.Line < 0 || m.Text == "" && m.Raw == "" {
				t.Errorf("%+v", m)
			}
			raw += len(m.Raw)
			m.Identity()
		}
		if raw > len(log) {
			t.Errorf("%d bytes of messages from %d", raw, len(log))
		}
	})
}
