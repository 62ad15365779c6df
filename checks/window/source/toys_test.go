package source

import (
	"context"
	"flag"
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

var (
	update   = flag.Bool("update", false, "write the dumps of the gcc at hand to testdata/gccN")
	compiler = flag.String("gcc", "gcc", "the compiler that makes dumps")
)

// The C files in testdata say themselves what is to be found where:
//
//	user_access_end(); /* want: RULE [in FUNCTION] [DETAIL] */
var toys = []struct {
	name, arch string
	flags      []string
}{
	{"rules", "s390", nil},
	{"calls", "s390", nil},
	{"helpers", "s390", nil},
	{"guards", "s390", nil},
	{"macros", "s390", nil},
	{"tokens", "s390", nil},
	{"scopes", "s390", []string{"-Iscoped"}},
	{"arm64", "arm64", nil},
	{"arm", "arm", nil},
	{"powerpc", "powerpc", nil},
}

// dumpToy makes the dumps of one file in testdata with the shell function that
// kbuild uses, into dir.
func dumpToy(t *testing.T, gcc, dir, name string, flags []string) {
	t.Helper()
	args := append([]string{"-c", `. ../overlay/dump.sh; uabot_dump "$@"`, "sh", filepath.Join(dir, name), "-O2", "-Wall"}, flags...)
	cmd := exec.Command("sh", append(args, "-Iinclude", name+".c")...)
	cmd.Dir = "testdata"
	cmd.Env = append(os.Environ(), "CC="+gcc, "UABOT_OVERLAY=../overlay")
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		log, _ := os.ReadFile(filepath.Join(dir, name+".cfg.log"))
		t.Fatalf("dumping %s: %v\n%s%s", name, err, out, log)
	}
	os.Remove(filepath.Join(dir, name+".cfg.log"))
	// errors there cost findings silently
	if data, err := os.ReadFile(filepath.Join(dir, name+".overlay.log")); err == nil && strings.Count(string(data), " error: ") != 1 {
		t.Errorf("%s does not compile through the overlay:\n%s", name, data)
	}
}

func checkToy(t *testing.T, dir, name, arch string) *checks.Result {
	t.Helper()
	u := checks.Unit{Source: name + ".c", Dump: name + ".cfg"}
	if _, err := os.Stat(filepath.Join(dir, name+".overlay.cfg")); err == nil {
		u.Overlay = name + ".overlay.cfg"
	}
	b := &checks.Built{Target: config.Target{Name: "toy", Arch: arch}, Source: "testdata", Output: dir, Units: []checks.Unit{u}}
	res, err := Checker{}.Run(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

var want = regexp.MustCompile(`want: ([\w-]+)(?: in (\w+))?(?: (\w[\w ]*?))? \*/`)

func wanted(t *testing.T, file string) []string {
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i, line := range strings.Split(string(data), "\n") {
		if m := want.FindStringSubmatch(line); m != nil {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s:%d %s %s %s", file, i+1, m[1], m[2], m[3])))
		}
	}
	return all
}

func compareToy(t *testing.T, res *checks.Result, name string) {
	t.Helper()
	wants := wanted(t, name+".c")
	var got []string
	for _, f := range res.Findings {
		in := ""
		if len(f.Uses) > 0 {
			in = f.Function
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s:%d %s %s %s", f.File, f.Line, f.Rule, in, f.Detail)))
	}
	for _, g := range got {
		if !slices.Contains(wants, g) {
			t.Errorf("not wanted: %s", g)
		}
	}
	for _, w := range wants {
		if !slices.Contains(got, w) {
			t.Errorf("not found: %s", w)
		}
	}
	if len(res.Notes) > 0 {
		t.Errorf("notes: %v", res.Notes)
	}
}

// Every rule, right and wrong, on dumps that were kept from each gcc version.
func TestToysKept(t *testing.T) {
	dirs, err := filepath.Glob("testdata/gcc*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no kept dumps: %v", err)
	}
	for _, dir := range dirs {
		for _, toy := range toys {
			t.Run(filepath.Base(dir)+"/"+toy.name, func(t *testing.T) {
				compareToy(t, checkToy(t, dir, toy.name, toy.arch), toy.name)
			})
		}
	}
}

// The same with the gcc at hand.
func TestToys(t *testing.T) {
	gcc := testenv.Tool(t, *compiler)[0]
	dir := t.TempDir()
	if *update {
		version, err := exec.Command(gcc, "-dumpversion").Output()
		if err != nil {
			t.Fatal(err)
		}
		dir, _ = filepath.Abs("testdata/gcc" + strings.TrimSpace(string(version)))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, toy := range toys {
		t.Run(toy.name, func(t *testing.T) {
			dumpToy(t, gcc, dir, toy.name, toy.flags)
			compareToy(t, checkToy(t, dir, toy.name, toy.arch), toy.name)
		})
	}
}
