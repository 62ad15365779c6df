package kbuild

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const header = `/* A header. */
#ifndef A_H
#define A_H

#include <linux/b.h>

/*
 * What it is for.
 */
#define ONE 1

#define begin(p, n) ({		\
	int ok = access(p, n);	\
	if (ok)			\
		open();		\
	ok;			\
})

struct thing {
	int a;
	int b;
};

static inline int twice(int x)
{
	int y = x;

	return 2 * y;
}

static inline unsigned long
long_head(const void *p,
	  int n)
{
	return n;
}

int declared(int x,
	     int y);
extern int counter;

#endif
`

func TestNameAround(t *testing.T) {
	lines := strings.Split(header, "\n")
	for text, want := range map[string]string{
		"/* A header. */":        "",
		" * What it is for.":     "",
		"#include <linux/b.h>":   "",
		"#define ONE 1":          "ONE",
		"#define begin(p":        "begin",
		"\t\topen();":            "begin",
		"})":                     "begin",
		"struct thing":           "thing",
		"\tint b;":               "thing",
		"static inline int tw":   "twice",
		"\treturn 2 * y;":        "twice",
		"long_head(const":        "long_head",
		"\t  int n)":             "long_head",
		"\treturn n;":            "long_head",
		"int declared(":          "declared",
		"extern int counter;":    "counter",
		"#endif":                 "",
		"#ifndef A_H":            "",
		"static inline unsigned": "",
	} {
		i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, text) })
		if i < 0 {
			t.Fatalf("no line %q", text)
		}
		if got := nameAround(lines, i+1); got != want {
			t.Errorf("%q belongs to %q, want %q", text, got, want)
		}
	}
}

func TestChangedNames(t *testing.T) {
	lines := strings.Split(header, "\n")
	at := func(text string) int {
		return slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, text) }) + 1
	}
	diff := fmt.Sprintf("--- a/a.h\n+++ b/a.h\n@@ -%d +%d,0 @@\n-\t\topen();\n@@ -%d,0 +%d,2 @@ struct thing\n+\tint b;\n+};\n",
		at("\t\topen();"), at("\t\topen();"), at("\tint a;"), at("\tint b;"))
	if got := changedNames([]byte(diff), []byte(header), []byte(header)); strings.Join(got, " ") != "begin thing" {
		t.Errorf("got %q", got)
	}
}

func TestCountNames(t *testing.T) {
	names := map[string]bool{"begin": true, "open": true, "absent": true}
	got := countNames([]byte("begin(x); user_begin(y); begin2(); open();open begin"), names)
	if len(got) != 2 || got["begin"] != 2 || got["open"] != 2 {
		t.Errorf("%v", got)
	}
	if got := countNames([]byte("nothing"), names); got != nil {
		t.Errorf("%v", got)
	}
}

func TestIncludes(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"include/linux/uaccess.h":        "#include <asm/uaccess.h>\n",
		"include/linux/loop.h":           "#include <linux/loop2.h>\n",
		"include/linux/loop2.h":          "#include <linux/loop.h>\n#  include <linux/uaccess.h>\n",
		"include/linux/kconfig.h":        "",
		"include/linux/compiler_types.h": "#include <linux/forced.h>\n",
		"include/linux/forced.h":         "",
		"include/asm-generic/param.h":    "",
		"arch/x86/include/asm/uaccess.h": "#include <asm/smap.h>\n#include <asm/param.h>\n",
		"arch/x86/include/asm/smap.h":    "",
		"arch/arm/include/asm/uaccess.h": "",
		"drivers/a/a.h":                  "#include \"b.h\"\n",
		"drivers/a/b.h":                  "",
		"drivers/a/a.c":                  "#include <linux/loop.h>\n#include \"a.h\"\n",
		"drivers/b/b.c":                  "#include <linux/none.h>\n#include \"../a/a.h\"\n",
		"drivers/b/c.c":                  "// #include <linux/loop.h> is not needed\nint x;\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	x86 := &includeGraph{root: root, arch: "x86", known: map[string][]string{}}
	arm := &includeGraph{root: root, arch: "arm", known: map[string][]string{}}
	for _, c := range []struct {
		graph          *includeGraph
		source, header string
		want           bool
	}{
		{x86, "drivers/a/a.c", "arch/x86/include/asm/smap.h", true},
		{x86, "drivers/a/a.c", "include/asm-generic/param.h", true},
		{x86, "drivers/b/c.c", "arch/x86/include/asm/smap.h", false},
		{x86, "drivers/b/b.c", "drivers/a/b.h", true},
		{x86, "drivers/b/b.c", "arch/x86/include/asm/smap.h", false},
		{x86, "drivers/b/c.c", "include/linux/forced.h", true},
		{arm, "drivers/a/a.c", "arch/x86/include/asm/smap.h", false},
		{arm, "drivers/a/a.c", "arch/arm/include/asm/uaccess.h", true},
	} {
		if got := c.graph.includes(c.source, c.header); got != c.want {
			t.Errorf("%s: %s includes %s: %v", c.graph.arch, c.source, c.header, got)
		}
	}
}
