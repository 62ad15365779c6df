package object

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"uabot/checks"
	"uabot/config"
	"uabot/internal/testenv"
)

// objects are those of windows.c, by what they were compiled for; see testdata/src.
var objects = []string{
	"x86-64", "x86-64-tables", "x86-64-dwarf5", "x86-64-split4", "x86-64-split5", "x86-64-nodebug", "i386",
	"arm64", "arm", "thumb", "ppc64le", "ppc64be", "ppc32", "ppc8xx", "ppcbooke", "riscv64",
}

// unpack puts testdata/name.gz into dir.
func unpack(t testing.TB, dir, name string) string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// kept unpacks an object with its .dwo file, if it has one.
func kept(t testing.TB, name string) string {
	t.Helper()
	dir := t.TempDir()
	if strings.Contains(name, "split") {
		unpack(t, dir, name+".dwo")
	}
	return unpack(t, dir, name+".o")
}

// wanted reads windows.want for one object: "function rule detail", sorted.
func wanted(t testing.TB, object string) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/windows.want")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, line := range strings.Split(string(data), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		here, only := false, false
		for _, where := range fields[3:] {
			match := strings.HasPrefix(object, where[1:])
			switch where[0] {
			case '+':
				only = true
				here = here || match
			case '!':
				only, here = true, !match && (here || !only)
			}
		}
		if here || !only {
			list = append(list, fmt.Sprintf("%s %s %s", fields[0], fields[1], strings.ReplaceAll(fields[2], "_function_", " function ")))
		}
	}
	slices.Sort(list)
	return list
}

func found(r *Report) []string {
	var list []string
	for _, f := range r.Findings {
		detail := f.Detail
		if detail == "" {
			detail = "-"
		}
		list = append(list, fmt.Sprintf("%s %s %s", f.Function, f.Rule, detail))
	}
	slices.Sort(list)
	return list
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	for _, s := range want {
		if !slices.Contains(got, s) {
			t.Errorf("not found: %s", s)
		}
	}
	for _, s := range got {
		if !slices.Contains(want, s) {
			t.Errorf("found, and is not there: %s", s)
		}
	}
}

// fromTree are the options for objects of testdata/src, which were compiled as /tree.
func fromTree(t testing.TB) Options {
	t.Helper()
	source, err := filepath.Abs("testdata/src")
	if err != nil {
		t.Fatal(err)
	}
	return Options{Source: source, SourceAs: "/tree"}
}

// Every rule, on every arch, with DWARF of each form; what is right stays silent.
func TestRules(t *testing.T) {
	for _, name := range objects {
		t.Run(name, func(t *testing.T) {
			r, err := Check(kept(t, name), fromTree(t))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, found(r), wanted(t, name))
			if len(r.Notes) > 0 && !strings.Contains(name, "nodebug") {
				t.Errorf("notes: %q", r.Notes)
			}
			for _, f := range r.Findings {
				if strings.Contains(name, "nodebug") {
					if f.Line != 0 || !strings.Contains(f.Note, f.Function+"+0x") {
						t.Errorf("%s without DWARF: line %d, note %q", f.Function, f.Line, f.Note)
					}
					continue
				}
				if f.File != "windows.c" || f.Line == 0 || len(f.Witness) == 0 || len(f.Witness) > checks.MaxWitness {
					t.Errorf("%s %s: at %s:%d, %d lines of witness", f.Function, f.Rule, f.File, f.Line, len(f.Witness))
				}
			}
		})
	}
}

// One bug is one finding, whatever the arch and the form of the debug information.
func TestOneIdentityForAllTargets(t *testing.T) {
	seen := map[string]map[string]bool{}
	for _, name := range objects {
		if strings.Contains(name, "nodebug") {
			continue
		}
		r, err := Check(kept(t, name), Options{Target: name})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			key := f.Function + " " + f.Rule
			if seen[key] == nil {
				seen[key] = map[string]bool{}
			}
			seen[key][f.Identity()] = true
		}
	}
	for key, ids := range seen {
		if len(ids) > 1 {
			t.Errorf("%s has %d identities", key, len(ids))
		}
	}
}

// Windows are counted by source function: opened_in_callee's is opened in a function
// that was inlined.
func TestWindows(t *testing.T) {
	want := map[string]int{"good_simple": 1, "begins_twice": 2, "two_places": 2, "open_it": 1}
	for _, name := range objects {
		r, err := Check(kept(t, name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, w := range r.Windows {
			got[w.Function] = w.Opens
		}
		for function, n := range want {
			if strings.Contains(name, "nodebug") && function == "open_it" {
				function = "opened_in_callee"
			}
			if got[function] != n {
				t.Errorf("%s: %s opens %d windows, want %d", name, function, got[function], n)
			}
		}
	}
}

// A reader of the finding sees where the window opens, what happens, and where it leaks.
func TestWitness(t *testing.T) {
	source, err := filepath.Abs("testdata/src")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Check(kept(t, "x86-64"), Options{Source: source, SourceAs: "/tree", Target: "x86-64"})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s:%d %s: %s\n", f.File, f.Line, f.Function, f.Title)
		for _, s := range f.Inlined {
			fmt.Fprintf(&b, "  inlined in %s\n", s)
		}
		for _, s := range f.Witness {
			fmt.Fprintf(&b, "  %4d %s", s.Line, strings.TrimSpace(s.Text))
			if s.Note != "" {
				fmt.Fprintf(&b, "    <- %s", s.Note)
			}
			b.WriteString("\n")
		}
		for _, e := range f.Evidence {
			fmt.Fprintf(&b, "  %s, %s: %s\n", e.Check, e.Target, e.Text)
		}
	}
	golden := "testdata/witness.txt"
	if os.Getenv("UABOT_UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("differs from %s (UABOT_UPDATE=1 writes it):\n%s", golden, b.String())
	}
}

// Objects of an arch without windows say so.
func TestNoWindows(t *testing.T) {
	for name, why := range map[string]string{
		"s390x":       "another address space",
		"arm64-hwpan": "PAN in hardware",
	} {
		r, err := Check(kept(t, name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.None, why) || len(r.Findings) > 0 || len(r.Windows) > 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole, err := os.ReadFile(kept(t, "riscv64"))
	if err != nil {
		t.Fatal(err)
	}
	mips := slices.Clone(whole)
	mips[18] = 8 // e_machine
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path string
		want error
	}{
		{filepath.Join(dir, "none.o"), os.ErrNotExist},
		{dir, ErrNotObject},
		{file("text.o", "int main(void) { return 0; }\n"), ErrNotObject},
		{file("empty.o", ""), ErrNotObject},
		{file("short.o", string(whole[:100])), ErrBroken},
		{file("cut.o", string(whole[:len(whole)/2])), ErrBroken},
		{file("mips.o", string(mips)), ErrUnsupported},
		{program, ErrNotObject},
	} {
		if _, err := Check(tt.path, Options{}); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", filepath.Base(tt.path), err, tt.want)
		}
	}
}

// A check of a build goes over its units, and one bad object does not spoil the rest.
func TestChecker(t *testing.T) {
	output := t.TempDir()
	unpack(t, output, "ppc8xx.o")
	unpack(t, output, "ppc32.o")
	if err := os.WriteFile(filepath.Join(output, "bad.o"), []byte("\x7fELF"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := &checks.Built{
		Target: config.Target{Name: "ppc8xx", Arch: "powerpc"}, Output: output, Source: "/src", SourceAs: "/tree",
		Units: []checks.Unit{
			{Source: "bad.c", Object: "bad.o"},
			{Source: "windows.c", Object: "ppc8xx.o"},
			{Source: "windows2.c", Object: "ppc32.o"},
			{Source: "failed.c", Object: "failed.o", Err: "does not compile"},
		},
	}
	result, err := Checker{}.Run(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Notes) != 1 || !strings.Contains(result.Notes[0], "bad.o") {
		t.Errorf("notes: %q", result.Notes)
	}
	want := len(wanted(t, "ppc8xx"))
	if len(result.Findings) != want {
		t.Errorf("%d findings, want %d", len(result.Findings), want)
	}
	for _, f := range result.Findings {
		if f.File != "windows.c" || len(f.Evidence) != 2 {
			t.Errorf("%s %s: in %s, evidence %v", f.Function, f.Rule, f.File, f.Evidence)
		}
	}
	for _, w := range result.Windows {
		if w.Function == "good_simple" && w.Opens != 2 {
			t.Errorf("good_simple in two objects opens %d windows", w.Opens)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (Checker{}).Run(ctx, b); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestApplies(t *testing.T) {
	for _, tt := range []struct {
		arch   string
		config []string
		want   bool
	}{
		{"x86", nil, true}, {"powerpc", nil, true}, {"riscv", nil, true},
		{"arm64", []string{"ARM64_SW_TTBR0_PAN=y"}, true}, {"arm64", nil, false},
		{"arm", []string{"CPU_SW_DOMAIN_PAN=y"}, true}, {"arm", nil, false},
		{"s390", nil, false}, {"mips", nil, false},
	} {
		ok, why := Checker{}.Applies(config.Target{Arch: tt.arch, Config: tt.config})
		if ok != tt.want || ok == (why != "") {
			t.Errorf("%s %v: %v, %q", tt.arch, tt.config, ok, why)
		}
	}
}

// What the base tree's objtool allows is allowed, what it does not list is not.
func TestObjtoolsListDecides(t *testing.T) {
	path := kept(t, "x86-64")
	list := []byte("static const char *uaccess_safe_builtin[] = {\n\t\"helper\",\n\tNULL\n};\n")
	r, err := Check(path, Options{Objtool: list})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Detail == "helper" {
			t.Errorf("%s: %s", f.Function, f.Title)
		}
	}
	if _, err := Check(path, Options{Objtool: []byte("nothing")}); err == nil {
		t.Error("a check.c without the list is accepted")
	}
}

// The same source, compiled anew and differently, gives the same findings; what is right
// stays silent.
func TestCompilers(t *testing.T) {
	testenv.Tool(t, "make", "gcc", "aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc", "powerpc64le-linux-gnu-gcc",
		"powerpc-linux-gnu-gcc", "riscv64-linux-gnu-gcc", "s390x-linux-gnu-gcc")
	for _, opt := range []string{"-O1", "-O2", "-Os", "-O3"} {
		t.Run(opt, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if out, err := exec.Command("make", "-s", "-C", "testdata/src", "OUT="+dir, "OPT="+opt).CombinedOutput(); err != nil {
				t.Fatalf("make: %v\n%s", err, out)
			}
			for _, name := range objects {
				r, err := Check(filepath.Join(dir, name+".o"), fromTree(t))
				if err != nil {
					t.Fatal(err)
				}
				got, want := found(r), wanted(t, name)
				t.Run(name, func(t *testing.T) { compare(t, got, want) })
			}
		})
	}
}
