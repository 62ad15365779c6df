package usercopy

import (
	"context"
	"strings"
	"testing"

	"uabot/checks"
)

// A change between any two texts gets an answer, its findings stand on lines of
// the patched text, and no change gives none.
func FuzzCheck(f *testing.F) {
	f.Add("int f(int __user *p)\n{\n\treturn put_user(1, p);\n}\n", "int f(int *p)\n{\n\treturn __put_user(g(1), p);\n}\n")
	f.Add("struct s { int a, b; };\nint f(struct s __user *u)\n{\n\treturn put_user(1, &u->a);\n}\n",
		"struct s { int a, b; };\nint f(struct s __user *u)\n{\n\tstruct s v;\n\tv.a = 1;\n\treturn copy_to_user(u, &v, sizeof(struct s));\n}\n")
	f.Add("#define unsafe_put_user(x, p, l) do {", "#ifndef user_access_begin\n#define __user_access_begin(p, n) stac()\n#if\n#define put(x,p,l) if (put_user(x,p)) goto l\n")
	f.Add("", "static const char *uaccess_safe_builtin[] = { \"a\", };\nint f(){unsafe_get_user(a, b->c, e);user_access_save();access_ok(p,n*2);switch(x){case 1:case 2:case 4:default:}}")
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, name := range []string{"fs/a.c", "arch/x86/include/asm/uaccess.h", "include/linux/uaccess.h", "tools/objtool/check.c", "fs/Makefile"} {
			base, patched := tree{name: before}, tree{name: after}
			found, err := Check(context.Background(), change(base, patched))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				if f.File != name || f.Line < 1 || f.Line > strings.Count(after, "\n")+1 || f.Title == "" || f.Note == "" || len(f.Witness) > checks.MaxWitness {
					t.Fatalf("%+v", f)
				}
			}
			if same, err := Check(context.Background(), Change{Base: patched.read, Patched: patched.read, Files: change(base, patched).Files}); err != nil || len(same) > 0 {
				t.Fatalf("no change gives %v, %v", describe(same), err)
			}
		}
	})
}
