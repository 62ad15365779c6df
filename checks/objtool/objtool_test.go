package objtool

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"uabot/checks"
	"uabot/checks/kbuild/sandbox"
	"uabot/config"
)

var update = flag.Bool("update", false, "write the golden files")

// fixture is testdata/windows.o as if it had been built from this directory.
func fixture(t *testing.T) (*checks.Built, checks.Unit, *object) {
	t.Helper()
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	u := checks.Unit{Source: "testdata/windows.c", Object: "testdata/windows.o"}
	b := &checks.Built{Target: config.Target{Name: "x86-64", Arch: "x86"}, Source: dir, Output: dir, SourceAs: "/src", OutputAs: "/out", Units: []checks.Unit{u}}
	o, err := openObject(filepath.Join(dir, u.Object))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.close)
	return b, u, o
}

func show(f checks.Finding) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s:%d in %s", f.Rule, f.File, f.Line, f.Function)
	if f.Detail != "" {
		fmt.Fprintf(&out, " [%s]", f.Detail)
	}
	fmt.Fprintf(&out, "\n  %s\n", f.Title)
	for _, in := range f.Inlined {
		fmt.Fprintf(&out, "  inlined in %s\n", in)
	}
	for _, s := range f.Witness {
		fmt.Fprintf(&out, "  %s:%d  %s", s.File, s.Line, strings.Join(strings.Fields(s.Text), " "))
		if s.Note != "" {
			fmt.Fprintf(&out, "  <- %s", s.Note)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// The text that objtool printed for windows.o becomes findings with the lines of
// windows.c (testdata/make.sh makes both).
func TestFindings(t *testing.T) {
	b, u, o := fixture(t)
	text, err := os.ReadFile("testdata/windows.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	p := newPlacer(b, u, o)
	for _, w := range Parse(string(text)) {
		f := p.finding(w)
		got.WriteString(show(f))
		if f.Class != checks.Object || len(f.Evidence) != 1 || f.Evidence[0].Target != "x86-64" || !strings.HasPrefix(f.Evidence[0].Text, "testdata/windows.o: ") {
			t.Errorf("%+v", f)
		}
	}
	const golden = "testdata/windows.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
}

// Without debug information there are no lines, but still function and rule.
func TestWithoutLines(t *testing.T) {
	b, u, o := fixture(t)
	o.lines = nil
	for _, c := range []struct{ text, want string }{
		{"x.o: warning: objtool: .altinstr_replacement+0x9: redundant UACCESS disable\nx.o: warning: objtool:   unpaired+0x24 (.text+0x54): (alt)\n", "close-without-open testdata/windows.c:0 in unpaired"},
		{"x.o: warning: objtool: leak.isra.0+0x2d: return with UACCESS enabled\n", "open-at-return testdata/windows.c:0 in leak"},
		{"x.o: warning: objtool: calls+0x18: call to foo.constprop.0() with UACCESS enabled\n", "call-in-window testdata/windows.c:0 in calls [foo]"},
	} {
		f := newPlacer(b, u, o).finding(Parse(c.text)[0])
		if got := show(f); !strings.HasPrefix(got, c.want+"\n") {
			t.Errorf("got %s want %s", got, c.want)
		}
	}
	// And when the object cannot be read at all.
	f := newPlacer(b, u, &object0).finding(Parse("x.o: warning: objtool: leak+0x2d (.text+0xcd): return with UACCESS enabled\n")[0])
	if f.Function != "leak" || f.Rule != "open-at-return" {
		t.Errorf("%+v", f)
	}
}

func TestParse(t *testing.T) {
	got := Parse(`  CC      foo.o
vmlinux.o: warning: objtool: foo+0x1d (.text+0x1ad): call to __put_user_4() with UACCESS enabled
vmlinux.o: warning: objtool:   foo+0x15 (.text+0x1a5): (alt)
vmlinux.o: warning: objtool:   foo+0x0 (.text+0x190): <=== (sym)
a/b.o: error: objtool: .text+0x10: unreachable instruction
a/b.o: warning: objtool: missing symbol for section .text
a/b.o: warning: objtool: foo.cold+0x3: return with modified stack frame
sh: 1: gawk: not found
`)
	want := []Warning{
		{Location{"foo", 0x1d, ".text", 0x1ad}, "call to __put_user_4() with UACCESS enabled",
			[]Step{{Location{"foo", 0x15, ".text", 0x1a5}, "alt"}, {Location{"foo", 0, ".text", 0x190}, "sym"}}, ""},
		{Location{"", 0, ".text", 0x10}, "unreachable instruction", nil, ""},
		{Location{}, "missing symbol for section .text", nil, ""},
		{Location{"foo.cold", 3, "", 0}, "return with modified stack frame", nil, ""},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if g, w := got[i], want[i]; g.At != w.At || g.Text != w.Text || !slices.Equal(g.Path, w.Path) || g.Raw == "" {
			t.Errorf("got %+v, want %+v", g, w)
		}
	}
}

// Warnings that are no matter of windows have an identity without offsets.
func TestOther(t *testing.T) {
	b, u, o := fixture(t)
	id := ""
	for _, text := range []string{
		"x.o: warning: objtool: leak+0x2d: sibling call from foo+0x10 with modified stack frame\n",
		"x.o: warning: objtool: leak+0x22: sibling call from foo+0x12 with modified stack frame\n",
	} {
		f := newPlacer(b, u, o).finding(Parse(text)[0])
		if f.Rule != Rule || f.Function != "leak" || f.File != "testdata/windows.c" || f.Line == 0 {
			t.Errorf("%+v", f)
		}
		if id != "" && f.Identity() != id {
			t.Error("an offset is part of the identity")
		}
		id = f.Identity()
	}
}

func TestApplies(t *testing.T) {
	for _, c := range []struct {
		target config.Target
		want   bool
	}{
		{config.Target{Arch: "x86", Config: []string{"64BIT=y"}}, true},
		{config.Target{Arch: "x86_64"}, true},
		{config.Target{Arch: "x86", Config: []string{"64BIT=n"}}, false},
		{config.Target{Arch: "powerpc"}, false},
	} {
		ok, reason := (&Check{}).Applies(c.target)
		if ok != c.want || ok == (reason != "") {
			t.Errorf("%+v: %v, %q", c.target, ok, reason)
		}
	}
}

func TestChooseFlags(t *testing.T) {
	const help612 = " Usage: objtool <actions> [<options>] file.o\n  -h, --hacks[=<x>]\n -o, --orc  \n -u, --uaccess \n --backtrace\n --dry-run\n --sec-address\n"
	for _, c := range []struct{ help, want string }{
		{help612, "--hacks=jump_label --hacks=noinstr --orc --uaccess --backtrace --sec-address --dry-run"},
		{" Usage: objtool <actions> [<options>] file.o\n -u, --uaccess\n --backtrace\n", "--uaccess --backtrace"},
		{" usage: objtool COMMAND [ARGS]\n\n   check\n", "check --uaccess --backtrace --no-unreachable"},
	} {
		got, err := chooseFlags(c.help)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%q, %v, want %q", got, err, c.want)
		}
	}
	if _, err := chooseFlags("something else"); err == nil {
		t.Error("a program that is no objtool was accepted")
	}
}

// A patch cannot bring its own objtool: one in the output of another tree than the
// base is not used.
func TestObjtoolOfTheBase(t *testing.T) {
	r, err := sandbox.Unsandboxed()
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "tools/objtool"), 0o755); err != nil {
		t.Fatal(err)
	}
	fake := "#!/bin/sh\necho '-u, --uaccess --backtrace'\n"
	if err := os.WriteFile(filepath.Join(dir, "tools/objtool/objtool"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	base := &Check{Runner: r, Source: "/base", Cache: t.TempDir()}
	if tool, flags, err := base.objtool(context.Background(), &checks.Built{Source: "/base", Output: dir}); err != nil || tool != filepath.Join(dir, "tools/objtool/objtool") || len(flags) != 2 {
		t.Errorf("%s %q %v", tool, flags, err)
	}
	other := &Check{Runner: r, Source: t.TempDir(), Cache: t.TempDir()}
	if tool, _, err := other.objtool(context.Background(), &checks.Built{Source: "/patched", Output: dir}); err == nil {
		t.Errorf("the objtool of the patched tree is used: %s", tool)
	}
}

func FuzzParse(f *testing.F) {
	text, err := os.ReadFile("testdata/windows.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("a: warning: objtool:   x+0x1: (alt)\na: error: objtool: .t+0xffffffffffffffff (.u+0x0): y\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, w := range Parse(text) {
			if strings.Contains(w.Text, "\n") {
				t.Errorf("%+v", w)
			}
		}
	})
}

// Objects come out of a build of somebody else's tree, and warnings with them.
func FuzzObject(f *testing.F) {
	data, err := os.ReadFile("testdata/windows.o")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, uint64(0x9))
	f.Fuzz(func(t *testing.T, data []byte, offset uint64) {
		path := filepath.Join(t.TempDir(), "x.o")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		o, err := openObject(path)
		if err != nil {
			return
		}
		defer o.close()
		b := &checks.Built{Source: t.TempDir(), SourceAs: "/src"}
		text := fmt.Sprintf("x.o: warning: objtool: .altinstr_replacement+0x%x: redundant UACCESS disable\nx.o: warning: objtool:   leak+0x%x: (alt)\n", offset, offset)
		for _, w := range Parse(text) {
			newPlacer(b, checks.Unit{Source: "x.c", Object: "x.o"}, o).finding(w)
		}
	})
}
