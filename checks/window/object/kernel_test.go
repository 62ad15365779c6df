package object

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"uabot/checks"
	"uabot/config"
	"uabot/internal/testenv"
)

// kernelTargets are the targets that the mutants are built for: a kernel's configuration,
// preparation and files take half a minute each.
var kernelTargets = []string{"x86-64", "ppc64le"}

// mutant is a change of one kernel file and what it is to show.
type mutant struct {
	name, patch, file string
	expect            []string // "function rule detail where", see windows.want
}

func mutants(t *testing.T) []mutant {
	t.Helper()
	paths, err := filepath.Glob("testdata/kernel/*.patch")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no mutants: %v", err)
	}
	var list []mutant
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		m := mutant{name: strings.TrimSuffix(filepath.Base(path), ".patch"), patch: abs}
		for _, line := range strings.Split(string(data), "\n") {
			if e, ok := strings.CutPrefix(line, "# expect: "); ok {
				m.expect = append(m.expect, e)
			}
			if f, ok := strings.CutPrefix(line, "+++ b/"); ok {
				m.file = f
			}
		}
		list = append(list, m)
	}
	return list
}

// Real kernel code: what is in the tree is silent, each mutant is found, on its line and
// with nothing else.
func TestKernelMutants(t *testing.T) {
	kernel := testenv.Kernel(t)
	testenv.Tool(t, "make", "patch")
	all := mutants(t)
	for _, name := range kernelTargets {
		t.Run(name, func(t *testing.T) {
			settings := config.Default()
			targets, err := settings.Select([]string{name})
			if err != nil {
				t.Fatal(err)
			}
			target := targets[0]
			target.Common = settings.Common
			testenv.Tool(t, target.CC())
			output := prepared(t, kernel, target)
			var objects []string
			for _, m := range all {
				objects = append(objects, strings.TrimSuffix(m.file, ".c")+".o")
			}
			slices.Sort(objects)
			objects = slices.Compact(objects)
			kbuild(t, kernel, output, target, objects...)
			options := Options{Source: kernel, Output: output, Target: name}
			for _, o := range objects {
				r, err := Check(filepath.Join(output, o), options)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range r.Findings {
					t.Errorf("unmodified %s: %s:%d %s", o, f.File, f.Line, f.Title)
				}
			}
			for _, m := range all {
				t.Run(m.name, func(t *testing.T) {
					object, source := compileMutant(t, kernel, output, m)
					options := options
					options.SourceAs = source
					r, err := Check(object, options)
					if err != nil {
						t.Fatal(err)
					}
					var want []string
					for _, e := range m.expect {
						if f := strings.Fields(e); len(f) == 3 || f[3] == "+"+name || f[3][0] == '!' && f[3] != "!"+name {
							want = append(want, strings.Join(f[:3], " "))
						}
					}
					compare(t, found(r), want)
					for _, f := range r.Findings {
						if f.File != m.file || !near(t, m.patch, f) {
							t.Errorf("%s at %s:%d, not where the change is; %v", f.Rule, f.File, f.Line, f.Witness)
						}
					}
				})
			}
		})
	}
}

// prepared returns an output directory in which single files of the target compile. It
// is kept in the cache.
func prepared(t *testing.T, kernel string, target config.Target) string {
	t.Helper()
	output := filepath.Join(testenv.Cache(t), "test-object", target.Name)
	fragment := filepath.Join(output, "fragment")
	_, err := os.Stat(filepath.Join(output, "include/generated/bounds.h"))
	if before, err2 := os.ReadFile(fragment); err == nil && err2 == nil && string(before) == target.Fragment() {
		return output
	}
	if err := os.MkdirAll(output, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fragment, []byte(target.Fragment()), 0o644); err != nil {
		t.Fatal(err)
	}
	kbuild(t, kernel, output, target, "KCONFIG_ALLCONFIG="+fragment, "allmodconfig")
	kbuild(t, kernel, output, target, "prepare", "modules_prepare")
	return output
}

func kbuild(t *testing.T, kernel, output string, target config.Target, what ...string) {
	t.Helper()
	args := append([]string{"-s", "-j2", "-C", kernel, "O=" + output}, target.MakeArgs()...)
	if out, err := exec.Command("make", append(args, what...)...).CombinedOutput(); err != nil {
		t.Fatalf("make %v: %v\n%s", what, err, out)
	}
}

var savedCommand = regexp.MustCompile(`(?m)^savedcmd_\S+ := (.*?)(?: ; |$)`)

// compileMutant compiles the changed file as kbuild compiled the original, beside the
// tree, which stays as it is. source is where the changed file lies as in a tree.
func compileMutant(t *testing.T, kernel, output string, m mutant) (object, source string) {
	t.Helper()
	source = t.TempDir()
	file := filepath.Join(source, m.file)
	data, err := os.ReadFile(filepath.Join(kernel, m.file))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("patch", "-s", "-p1", "-d", source, "-i", m.patch).CombinedOutput(); err != nil {
		t.Fatalf("patch: %v\n%s", err, out)
	}
	relative := strings.TrimSuffix(m.file, ".c") + ".o"
	saved, err := os.ReadFile(filepath.Join(output, filepath.Dir(relative), "."+filepath.Base(relative)+".cmd"))
	if err != nil {
		t.Fatal(err)
	}
	command := savedCommand.FindSubmatch(saved)
	if command == nil {
		t.Fatalf("no command for %s", relative)
	}
	object = filepath.Join(source, filepath.Base(relative))
	line := string(command[1])
	line = regexp.MustCompile(`-Wp,-MMD,\S+`).ReplaceAllString(line, "")
	line = strings.Replace(line, " -o "+relative+" ", " -iquote "+filepath.Join(kernel, filepath.Dir(m.file))+" -o "+object+" ", 1)
	line = strings.Replace(line, " "+filepath.Join(kernel, m.file), " "+file, 1)
	make := exec.Command("sh", "-c", line)
	make.Dir = output
	if out, err := make.CombinedOutput(); err != nil {
		t.Fatalf("compiling %s: %v\n%s", m.file, err, out)
	}
	return object, source
}

var hunk = regexp.MustCompile(`(?m)^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@`)

// near reports whether the finding or a line of its witness lies in a hunk of the patch,
// or not far: where a label lacks its end, the access that goes there is named.
func near(t *testing.T, patch string, f checks.Finding) bool {
	t.Helper()
	data, err := os.ReadFile(patch)
	if err != nil {
		t.Fatal(err)
	}
	const far = 10
	lines := []int{f.Line}
	for _, s := range f.Witness {
		lines = append(lines, s.Line)
	}
	for _, h := range hunk.FindAllStringSubmatch(string(data), -1) {
		var from, n int
		fmt.Sscan(h[1], &from)
		fmt.Sscan(h[2], &n)
		if slices.ContainsFunc(lines, func(l int) bool { return l >= from-far && l < from+n+far }) {
			return true
		}
	}
	return false
}
