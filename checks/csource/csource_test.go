package csource

import (
	"slices"
	"strings"
	"testing"
)

const sample = `// not a function: int no(void) { return 0; }
#ifndef GUARD_H
#define GUARD_H

#define put(x, p, label)			\
do {						\
	if (__put(x, p)) /* } */		\
		goto label;			\
} while (0)

struct __packed rec {
	int a; /* user_access_begin() */
	char *text;
};

static const struct ops table = {
	.open = open_it,
};

static inline __must_check int
#ifdef CONFIG_WIDE
thing(struct rec __user *u, long n)
{
	if (n) {
#else
thing(struct rec __user *u, int n)
{
	while (n) {
#endif
		log("brace { in a string", '}', '\'');
		put(n, &u->a, out);
	}
out:
	return -1;
}

SYSCALL_DEFINE2(frob, int, fd, void __user *, arg)
{
	return thing((struct rec __user *)arg, fd);
}
#endif
`

func TestRegions(t *testing.T) {
	f := Parse([]byte(sample))
	var funcs []string
	for _, fn := range f.Funcs {
		funcs = append(funcs, fn.Name)
	}
	if want := []string{"thing", "__do_sys_frob"}; !slices.Equal(funcs, want) {
		t.Errorf("functions %v, want %v", funcs, want)
	}
	if fn := f.Funcs[0]; fn.Line != 22 || fn.Start != 20 || fn.End != 35 {
		t.Errorf("thing spans %d, %d … %d", fn.Start, fn.Line, fn.End)
	}
	if f.Funcs[1].Written != "SYSCALL_DEFINE2(frob" {
		t.Errorf("written %q", f.Funcs[1].Written)
	}
	if len(f.Macros) != 2 || f.Macros[1].Name != "put" || f.Macros[1].Line != 5 || f.Macros[1].End != 9 ||
		!slices.Equal(f.Macros[1].Params, []string{"x", "p", "label"}) || f.Macros[0].FunctionLike {
		t.Errorf("macros %+v", f.Macros)
	}
	if len(f.Structs) != 1 || f.Structs[0].Name != "rec" {
		t.Errorf("structures %+v", f.Structs)
	}
	if !f.Conds[0].Guard || f.Conds[1].Word != "ifdef" || f.Conds[2].Word != "else" || f.Conds[2].First != 1 {
		t.Errorf("branches %+v", f.Conds)
	}
	if got := f.Branch(24); got != 1 {
		t.Errorf("line 24 is in branch %d", got)
	}
	if got := f.Branch(30); got != 0 {
		t.Errorf("line 30 is in branch %d", got)
	}
	for line, want := range map[int]bool{1: false, 2: true, 4: false, 7: true, 12: true, 29: true} {
		if f.HasCode(line) != want {
			t.Errorf("code on line %d: %v", line, !want)
		}
	}
}

func TestCalls(t *testing.T) {
	f := Parse([]byte(sample))
	var got []string
	for _, c := range Calls(f.Funcs[0].Body) {
		var args []string
		for _, a := range c.Args {
			args = append(args, Text(a))
		}
		got = append(got, c.Name+"<"+strings.Join(args, "; ")+">")
	}
	// The head in the #else branch reads as a call of the function by itself.
	want := []string{"thing<struct rec __user *u; int n>", `log<"brace { in a string"; '}'; '\''>`, "put<n; &u->a; out>"}
	if !slices.Equal(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
}

func TestExpressions(t *testing.T) {
	for _, test := range []struct{ text, key, root string }{
		{"&u->a", "&u->a", "u"},
		{"(u32 __user *) & u -> a", "&u->a", "u"},
		{"((long)(x))", "x", "x"},
		{"(flags) & MASK", "(flags)&MASK", "flags"},
		{"(unsigned long)p + n", "p+n", "p"},
		{"*(int __user *)arg", "*(int __user*)arg", "arg"},
		{"((struct rec __user *)arg)->b", "((struct rec __user*)arg)->b", "arg"},
		{"&pages[i].entry", "&pages[i].entry", "pages"},
		{"f(u)", "f(u)", ""},
		{"sizeof(*p)", "sizeof(*p)", ""},
		{"", "", ""},
		{"((", "((", ""},
	} {
		tokens := Parse([]byte(test.text)).Tokens
		if got := Key(tokens); got != test.key {
			t.Errorf("Key(%q) = %q, want %q", test.text, got, test.key)
		}
		if got := Root(tokens); got != test.root {
			t.Errorf("Root(%q) = %q, want %q", test.text, got, test.root)
		}
	}
}

// Any bytes give tokens in order, each one standing on its line of the text, and
// regions within the file.
func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("#if 1\n#elif\n#else\n#endif\n#endif\n\"")
	f.Add("a\\\nb /* \n x */ 'c\\\n' 0x1e+2 1.e-3 u8\"x\" #define")
	f.Add("#define f(\n#define g(a b\n#define 3\n#include <a\n{{{}}}}(((]")
	f.Fuzz(func(t *testing.T, src string) {
		file := Parse([]byte(src))
		lines := strings.Split(src, "\n")
		last := 1
		for _, tok := range file.Tokens {
			if tok.Line < last || tok.Line > len(lines) {
				t.Fatalf("token %q on line %d after line %d of %d", tok.Text, tok.Line, last, len(lines))
			}
			last = tok.Line
			if tok.Text == "" || tok.Cond < -1 || tok.Cond >= len(file.Conds) {
				t.Fatalf("token %+v", tok)
			}
			first, _, _ := strings.Cut(tok.Text, "\n")
			if !strings.Contains(lines[tok.Line-1], first) {
				t.Fatalf("token %q is not on line %d: %q", tok.Text, tok.Line, lines[tok.Line-1])
			}
			if !file.HasCode(tok.Line) {
				t.Fatalf("line %d has token %q and no code", tok.Line, tok.Text)
			}
		}
		for _, fn := range file.Funcs {
			if fn.Start > fn.Line || fn.Line > fn.End || fn.End > file.Lines {
				t.Fatalf("function %q: %d, %d, %d of %d", fn.Name, fn.Start, fn.Line, fn.End, file.Lines)
			}
		}
		for i, c := range file.Conds {
			if c.Parent >= i || c.First > i || c.End < c.Line {
				t.Fatalf("branch %d: %+v", i, c)
			}
		}
		tokens := file.Tokens[:min(len(file.Tokens), maxArguments)]
		for range min(len(tokens), 40) {
			Key(tokens)
			Root(tokens)
			Idents(tokens)
			tokens = tokens[1:]
		}
		Calls(file.Tokens)
	})
}
