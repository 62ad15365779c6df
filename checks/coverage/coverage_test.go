package coverage

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"uabot/checks"
	"uabot/config"
	"uabot/internal/testenv"
)

// A tree small enough to read, compiled for two "targets" that differ in one option.
var sources = map[string]string{
	"fs/Makefile": "obj-y += thing.o\nobj-$(CONFIG_OTHER) += other.o\nother-y := part.o \\\n\tlast.o\n",
	"Kbuild":      "obj-y += fs/\n",
	"fs/thing.c": `#include <linux/thing.h>

#ifdef CONFIG_A
int only_a(void) { return 1; }
#else
int not_a(void) { return 2; }
#endif

#if defined(CONFIG_B) && !defined(CONFIG_A)
int b(void)
{
	return 3;
}

#ifdef CONFIG_A
int never(void) { return 4; }
#endif
#endif

#if 0
int dead(void) { return 5; }
#endif

#ifdef HAVE_THING
int have(void) { return thing(1); }
#else
int have_not(void) { return 0; }
#endif

#ifdef MACROS_ONLY
#define WIDTH 8
#else
#define WIDTH 4
#endif

/* a comment
 * is no code
 */
int width(void) { return WIDTH; }
`,
	"include/linux/thing.h": `#ifndef THING_H
#define THING_H
#define HAVE_THING
#ifndef thing
#define thing(x) (x)
#endif
#ifdef __ASSEMBLY__
.macro thing
#endif
#endif
`,
	"fs/part.c":                  "int part(void) { return 1; }\n",
	"fs/loose.c":                 "int loose(void) { return 1; }\n",
	"arch/mips/kernel/thing.c":   "int mips(void) { return 1; }\n",
	"include/linux/unused.h":     "int unused(void);\n",
	"Documentation/thing.c":      "int text;\n",
	"tools/testing/thing/main.c": "int main(void) { return 0; }\n",
}

func TestLines(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")[0]
	dir := t.TempDir()
	for name, text := range sources {
		write(t, filepath.Join(dir, "src", name), text)
	}
	var built []*checks.Built
	for name, symbols := range map[string]string{"a": "CONFIG_A=y\n", "a-too": "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_N=12\n"} {
		built = append(built, compile(t, gcc, dir, name, symbols, "fs/thing.c"))
	}
	c := Change{Patched: reader(filepath.Join(dir, "src")), Base: func(string) ([]byte, error) { return nil, fs.ErrNotExist }, Built: built}
	for name := range sources {
		c.Files = append(c.Files, &gitdiff.File{OldName: name, NewName: name})
	}
	res, err := Lines(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	want := `arch/mips/kernel/thing.c:1-1 arch/mips: no target builds it; ARCH=mips
fs/loose.c:1-1 no Makefile names it; 
fs/part.c:1-1 no target's configuration builds it; CONFIG_OTHER=y
fs/thing.c:6-6 #else of #ifdef CONFIG_A (line 5) is false on every target that compiles the file; CONFIG_A=n
fs/thing.c:10-17 #if defined(CONFIG_B) && !defined(CONFIG_A) (line 9) is false on every target that compiles the file; CONFIG_A=n, CONFIG_B=y
fs/thing.c:21-21 #if 0 (line 20) is false on every target that compiles the file; 
fs/thing.c:27-27 #else of #ifdef HAVE_THING (line 26) is false on every target that compiles the file; 
include/linux/thing.h:8-8 #ifdef __ASSEMBLY__ (line 7) is false on every target that compiles the file; 
include/linux/unused.h:1-1 no object that was compiled includes it; 
`
	if got := holes(res); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	if notes := strings.Join(res.Notes, "\n"); len(res.Notes) != 2 || !strings.Contains(notes, "MACROS_ONLY") || !strings.Contains(notes, "#ifndef thing") {
		t.Errorf("notes:\n%s", notes)
	}

	// The preprocessor knows of the rest.
	c.Preprocess = preprocess(t, "")
	res, err = Lines(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	more := "fs/thing.c:31-31 #ifdef MACROS_ONLY (line 30) is false on every target that compiles the file; \n"
	want = strings.Replace(want, "include/linux/thing.h:8-8", more+"include/linux/thing.h:8-8", 1)
	if got := holes(res); got != want || len(res.Notes) > 0 {
		t.Errorf("with the preprocessor:\n%swant:\n%snotes: %v", got, want, res.Notes)
	}

	// One target more, with the option off and the macro on the command line.
	c.Built = append(c.Built, compile(t, gcc, dir, "b", "CONFIG_B=y\n", "fs/thing.c", "fs/part.c"))
	c.Preprocess = preprocess(t, "-DMACROS_ONLY")
	res, err = Lines(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got := holes(res); strings.Contains(got, "thing.c:6-6") || strings.Contains(got, "part.c") || strings.Contains(got, "thing.c:31") || !strings.Contains(got, "fs/thing.c:16-16") {
		t.Errorf("with a third target:\n%s", got)
	}
}

// Lines that were there before are not the change's.
func TestOnlyAddedLines(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "out", ".config"), "CONFIG_A=y\n")
	before := "#ifdef CONFIG_Z\nint a;\n\nint c;\n#endif\n"
	after := strings.Replace(before, "\n\n", "\n\n/* why */\nint b;\n\n", 1)
	read := func(text string) func(string) ([]byte, error) {
		return func(string) ([]byte, error) { return []byte(text), nil }
	}
	res, err := Lines(context.Background(), Change{
		Base: read(before), Patched: read(after),
		Files: []*gitdiff.File{{OldName: "fs/x.c", NewName: "fs/x.c"}},
		Built: []*checks.Built{{Target: config.Target{Name: "t", Arch: "x86"}, Output: filepath.Join(dir, "out"), Units: []checks.Unit{{Source: "fs/x.c", Object: "fs/x.o"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := holes(res), "fs/x.c:5-5 #ifdef CONFIG_Z (line 1) is false on every target that compiles the file; CONFIG_Z=y\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func holes(res *Result) string {
	var b strings.Builder
	for _, h := range res.Holes {
		fmt.Fprintf(&b, "%s:%d-%d %s; %s\n", h.File, h.First, h.Last, h.Reason, h.Needs)
	}
	return b.String()
}

func reader(root string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(root, name)) }
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// compile builds units of the tree the way kbuild does, for a target with the given
// configuration.
func compile(t *testing.T, gcc, dir, name, symbols string, units ...string) *checks.Built {
	t.Helper()
	src, out := filepath.Join(dir, "src"), filepath.Join(dir, name)
	write(t, filepath.Join(out, ".config"), symbols)
	b := &checks.Built{Target: config.Target{Name: name, Arch: "x86"}, Source: src, Output: out, SourceAs: src, OutputAs: out}
	defines := ""
	for _, s := range strings.Fields(symbols) {
		if sym, val, ok := strings.Cut(s, "="); ok && strings.HasPrefix(sym, "CONFIG_") {
			defines += " -D" + sym + "=" + strings.Replace(val, "y", "1", 1)
		}
	}
	for _, u := range units {
		object := strings.TrimSuffix(u, ".c") + ".o"
		command := fmt.Sprintf("%s -Wp,-MMD,%s -I%s/include -D__KERNEL__%s -g -c -o %s %s/%s", gcc, filepath.Join(filepath.Dir(u), "."+filepath.Base(object)+".d"), src, defines, object, src, u)
		write(t, filepath.Join(out, filepath.Dir(u), "."+filepath.Base(object)+".cmd"), "")
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = out
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		deps, err := os.ReadFile(filepath.Join(out, filepath.Dir(u), "."+filepath.Base(object)+".d"))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(out, filepath.Dir(u), "."+filepath.Base(object)+".cmd"), "savedcmd_"+object+" := "+command+"\n\ndeps_"+object+" := "+strings.SplitN(string(deps), ":", 2)[1])
		b.Units = append(b.Units, checks.Unit{Source: u, Object: object})
	}
	return b
}

// preprocess runs the saved command of a unit as a preprocessor.
func preprocess(t *testing.T, extra string) func(context.Context, *checks.Built, checks.Unit) ([]byte, error) {
	return func(ctx context.Context, b *checks.Built, u checks.Unit) ([]byte, error) {
		saved, err := os.ReadFile(filepath.Join(b.Output, filepath.Dir(u.Object), "."+filepath.Base(u.Object)+".cmd"))
		if err != nil {
			return nil, err
		}
		_, command, _ := strings.Cut(strings.SplitN(string(saved), "\n", 2)[0], " := ")
		command, err = PreprocessCommand(command)
		if err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, "sh", "-c", command+" "+extra)
		cmd.Dir = b.Output
		return cmd.Output()
	}
}
