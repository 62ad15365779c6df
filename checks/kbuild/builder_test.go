package kbuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"uabot/checks"
	"uabot/checks/kbuild/sandbox"
	"uabot/config"
	"uabot/internal/testenv"
)

// small is testdata/tree as a git repository, and a builder for it.
type small struct {
	*scene
	mu    sync.Mutex
	steps []string // what the builder told
}

var smallTarget = config.Target{Name: "small", Arch: "x86", Config: []string{"A=y"}, Package: "gcc", Common: []string{"B=n"}}

func newSmall(t *testing.T, sandboxed bool) *small {
	t.Helper()
	testenv.Tool(t, "make", "gcc", "git", "prlimit")
	var runner *sandbox.Runner
	var err error
	if sandboxed {
		testenv.Tool(t, "bwrap")
		runner, err = sandbox.New(t.Context())
		if errors.Is(err, sandbox.ErrUnavailable) {
			testenv.Missing(t, err.Error())
		}
	} else {
		runner, err = sandbox.Unsandboxed()
	}
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	tree := filepath.Join(work, "base")
	if err := os.CopyFS(tree, os.DirFS("testdata/tree")); err != nil {
		t.Fatal(err)
	}
	s := &small{scene: &scene{
		builder: &Builder{Cache: filepath.Join(work, "cache"), Runner: runner, Jobs: 2, Dump: &DumpTool{Write: writeDumpTool}},
		dir:     filepath.Join(work, "patched"),
		git:     filepath.Join(work, "git"),
	}}
	s.builder.Progress = func(target, what string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.steps = append(s.steps, what)
	}
	command(t, work, "git", "init", "-q", "--bare", s.git)
	s.gitCommand(t, "--work-tree", tree, "add", "-f", tree)
	s.base = Tree{Dir: tree, Git: s.git, Commit: s.gitCommand(t, "commit-tree", "-m", "base", s.gitCommand(t, "write-tree"))}
	return s
}

// writeDumpTool makes a dump that tells its arguments.
func writeDumpTool(dir string) error {
	return os.WriteFile(filepath.Join(dir, "dump.sh"), []byte(`uabot_dump() {
	out=$1; shift
	echo "$CC $*" >"$out.cfg"
	[ ! -e "$UABOT_OVERLAY/dump.sh" ] || : >"$out.overlay.cfg"
}
`), 0o644)
}

func (s *small) told(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.steps, func(step string) bool { return strings.Contains(step, what) })
}

func eachMode(t *testing.T, f func(t *testing.T, s *small)) {
	for _, sandboxed := range []bool{true, false} {
		t.Run(fmt.Sprintf("sandboxed=%v", sandboxed), func(t *testing.T) { f(t, newSmall(t, sandboxed)) })
	}
}

func unit(t *testing.T, b *checks.Built, source string) checks.Unit {
	t.Helper()
	for _, u := range b.Units {
		if u.Source == source {
			return u
		}
	}
	t.Fatalf("%s is not among %+v", source, b.Units)
	return checks.Unit{}
}

func buildState(t *testing.T, base *Base, state Tree, units ...string) *checks.Built {
	t.Helper()
	built, err := base.BuildState(t.Context(), state, units, filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	return built
}

func TestPlanOfSmallTree(t *testing.T) {
	s := newSmall(t, true)
	base := s.open(t, t.Context(), smallTarget)
	tip := s.commit(t, "a/two.c", "2", "3", "a/included.c", "return x", "return +x", "a/off.c", "off", "of", "a/offpart.c", "int", "long",
		"a/part.c", "int", "long", "a/README", "", "text", "arch/arm/x.c", "", "int x;", "include/linux/api.h", "x + GENERATED", "GENERATED + x",
		"tools/t.c", "", "int t;")
	plan, err := base.Plan(t.Context(), tip)
	if err != nil {
		t.Fatal(err)
	}
	// one.c is there because it includes included.c, and api.h which it uses.
	if got := strings.Join(plan.Units, " "); got != "a/one.c a/part.c a/two.c" {
		t.Errorf("units %s", got)
	}
	var skipped []string
	for _, sk := range plan.Skipped {
		skipped = append(skipped, sk.Source+": "+sk.Reason)
	}
	want := []string{
		"arch/arm/x.c: arch/arm: not this architecture",
		"tools/t.c: tools/: not part of the kernel",
		"a/off.c: needs CONFIG_OFF, which is off in this target's configuration",
		"a/offpart.c: needs CONFIG_OFF, which is off in this target's configuration",
	}
	if !slices.Equal(skipped, want) {
		t.Errorf("skipped\n%s", strings.Join(skipped, "\n"))
	}
	if len(plan.Notes) > 0 {
		t.Errorf("notes %q", plan.Notes)
	}
}

func TestBeforeAndAfter(t *testing.T) {
	eachMode(t, func(t *testing.T, s *small) {
		base := s.open(t, t.Context(), smallTarget)
		before, err := base.Build(t.Context(), []string{"a/one.c", "a/bad.c"})
		if err != nil {
			t.Fatal(err)
		}
		one, bad := unit(t, before, "a/one.c"), unit(t, before, "a/bad.c")
		if one.Err != "" || one.Log != "" || !exists(filepath.Join(before.Output, one.Object)) || one.Overlay == "" {
			t.Errorf("%+v", one)
		}
		if dump, err := os.ReadFile(filepath.Join(before.Output, one.Dump)); err != nil || !strings.HasPrefix(string(dump), "/usr/bin/gcc -I"+before.SourceAs+"/include") || !strings.Contains(string(dump), `-DNAME="a/one.o" `) || strings.Contains(string(dump), "-MMD") {
			t.Errorf("the dump tool was called as %q, %v", dump, err)
		}
		if bad.Err != "a/bad.c:3:16: error: 'no_such_name' undeclared (first use in this function)" || !strings.Contains(bad.Log, "a/bad.c: In function 'bad':") {
			t.Errorf("%+v", bad)
		}

		tip := s.commit(t, "a/one.c", "return api_call(x);", "int unused;\n\treturn api_call(x);", "a/bad.c", "no_such_name", "no_other_name")
		after := buildState(t, base, tip, "a/one.c", "a/bad.c")
		one, bad = unit(t, after, "a/one.c"), unit(t, after, "a/bad.c")
		if one.Err != "" || !strings.HasPrefix(one.Log, "a/one.c: In function 'one':\na/one.c:5:13: warning: unused variable 'unused'") || one.Dump == "" || !exists(filepath.Join(after.Output, one.Object)) {
			t.Errorf("%+v", one)
		}
		// What fails at the base is not held against the patches.
		if !strings.HasPrefix(bad.Err, atBase) || strings.Contains(bad.Log, "no_other_name") {
			t.Errorf("%+v", bad)
		}
		if list := newFindings(t, before, after); len(list) != 1 || list[0].Function != "one" || list[0].Line != 5 {
			t.Errorf("%+v", list)
		}
		if s.told("preparing again") {
			t.Error("make was used for a plain change")
		}
		// The base's own files are as they were.
		if data, err := os.ReadFile(filepath.Join(s.base.Dir, "a/one.c")); err != nil || strings.Contains(string(data), "unused") {
			t.Errorf("%s %v", data, err)
		}
	})
}

// A unit that fails does not make the warnings that it had disappear.
func TestFailureMendsNothing(t *testing.T) {
	s := newSmall(t, true)
	base := s.open(t, t.Context(), smallTarget)
	before, err := base.Build(t.Context(), []string{"a/warned.c"})
	if err != nil {
		t.Fatal(err)
	}
	after := buildState(t, base, s.commit(t, "a/warned.c", "int x;", "int x = y;"), "a/warned.c")
	old, now := newFindings(t, after, before), newFindings(t, before, after)
	if len(old) != 0 || len(now) != 1 || now[0].Rule != CompilerError || !strings.HasPrefix(now[0].Evidence[0].Text, "a/warned.c:3:") {
		t.Errorf("gone %+v\nnew %+v", old, now)
	}
}

// Changes that the base's commands do not do for go through make, and give what a
// build from nothing gives.
func TestRemake(t *testing.T) {
	eachMode(t, func(t *testing.T, s *small) {
		base := s.open(t, t.Context(), smallTarget)
		if _, err := base.Build(t.Context(), []string{"a/one.c"}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name   string
			edits  []string
			remade bool
		}{
			{"a header that asm-offsets reads, without effect", []string{"include/linux/bounds.h", "int a;", "int b;"}, false},
			{"the same with effect", []string{"include/linux/bounds.h", "int b;", "long b, c;"}, true},
			{"a Makefile", []string{"a/Makefile", "one.o", "new.o one.o"}, true},
		} {
			s.steps = nil
			after := buildState(t, base, s.commit(t, c.edits...), "a/one.c")
			if u := unit(t, after, "a/one.c"); u.Err != "" || u.Dump == "" || !exists(filepath.Join(after.Output, u.Object)) {
				t.Errorf("%s: %+v", c.name, u)
			}
			if got := s.told("preparing again"); got != c.remade {
				t.Errorf("%s: make used: %v", c.name, got)
			}
		}
	})
}

// A Makefile that a series changes runs what it likes in the sandbox. Links that it
// leaves for what we read afterwards do not lead to our files.
func TestLinksInOutput(t *testing.T) {
	s := newSmall(t, true)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("a/one.c:1:1: warning: s3cret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	base := s.open(t, t.Context(), smallTarget)
	if _, err := base.Build(t.Context(), []string{"a/one.c", "a/two.c"}); err != nil {
		t.Fatal(err)
	}
	const check = "$(CHECK) $(CHECKFLAGS) $(flags) $(src)/$(@:.o=.c)"
	tip := s.commit(t, "Makefile", check, check+"; ln -sf "+secret+" a/.one.o.uabot-sparse; ln -sf "+secret+" a/.one.o.uabot.cfg; ln -sf "+secret+" a/two.o")
	after := buildState(t, base, tip, "a/one.c", "a/two.c")
	if u := after.Units[0]; u.Err != "" || strings.Contains(u.Log, "s3cret") || u.Dump != "" {
		t.Errorf("%+v", u)
	}
	if u := after.Units[1]; u.Err == "" || strings.Contains(u.Log, "s3cret") || exists(filepath.Join(after.Output, u.Object)) {
		t.Errorf("%+v", u)
	}
}

// A file that is new has no command at the base; what the base cannot build because
// it is not there is no failure.
func TestNewAndRemovedUnits(t *testing.T) {
	eachMode(t, func(t *testing.T, s *small) {
		base := s.open(t, t.Context(), smallTarget)
		units := []string{"a/new.c", "a/two.c"}
		tip := s.commit(t, "a/new.c", "", "int new_one(void);\nint new_one(void) { int unused; return 1; }\n")
		if err := os.Remove(filepath.Join(s.dir, "a/two.c")); err != nil {
			t.Fatal(err)
		}
		s.gitCommand(t, "--work-tree", s.dir, "update-index", "--force-remove", "a/two.c")
		tip.Commit = s.gitCommand(t, "commit-tree", "-m", "test", "-p", s.base.Commit, s.gitCommand(t, "write-tree"))
		before, err := base.Build(t.Context(), units)
		if err != nil {
			t.Fatal(err)
		}
		if u := unit(t, before, "a/new.c"); u.Err != notThere {
			t.Errorf("%+v", u)
		}
		after := buildState(t, base, tip, units...)
		if u := unit(t, after, "a/new.c"); u.Err != "" || !strings.Contains(u.Log, "unused variable 'unused'") || !exists(filepath.Join(after.Output, u.Object)) {
			t.Errorf("%+v", u)
		}
		if u := unit(t, after, "a/two.c"); u.Err != removed {
			t.Errorf("%+v", u)
		}
		if list := newFindings(t, before, after); len(list) != 1 || list[0].Rule != CompilerWarning {
			t.Errorf("%+v", list)
		}
	})
}

// The cache: a second builder finds everything made.
func TestReuse(t *testing.T) {
	s := newSmall(t, true)
	base := s.open(t, t.Context(), smallTarget)
	if _, err := base.Build(t.Context(), []string{"a/one.c"}); err != nil {
		t.Fatal(err)
	}
	prepared := func() string {
		data, _ := os.ReadFile(filepath.Join(base.out(), "count"))
		return strings.ReplaceAll(string(data), "\n", " ")
	}
	s.steps = nil
	again := s.open(t, t.Context(), smallTarget)
	if _, err := again.Build(t.Context(), []string{"a/one.c"}); err != nil {
		t.Fatal(err)
	}
	if len(s.steps) > 0 || prepared() != "prepared " {
		t.Errorf("done again: %q, %s", s.steps, prepared())
	}
	// Other units join them, another configuration does not.
	if built, err := again.Build(t.Context(), []string{"a/one.c", "a/two.c"}); err != nil || built.Units[1].Err != "" || !s.told("compiling 1 object of the base") {
		t.Errorf("%+v %v %q", built, err, s.steps)
	}
	other := smallTarget
	other.Config = []string{"A=m"}
	if got := s.open(t, t.Context(), other); got.dir == base.dir {
		t.Error("two configurations share a directory")
	}
}

// Two processes that want the same at the same time: one prepares, the other waits.
func TestTwoAtOnce(t *testing.T) {
	s := newSmall(t, true)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			b := &Builder{Cache: s.builder.Cache, Runner: s.builder.Runner, Jobs: 1}
			base, err := b.Open(t.Context(), s.base, smallTarget)
			if err != nil {
				t.Error(err)
				return
			}
			defer base.Close()
			built, err := base.Build(t.Context(), []string{"a/one.c", "a/two.c"})
			if err != nil || built.Units[0].Err != "" || built.Units[1].Err != "" {
				t.Errorf("%+v %v", built, err)
			}
		})
	}
	wait.Wait()
	data, err := filepath.Glob(filepath.Join(s.builder.Cache, "small-*/out/count"))
	if err != nil || len(data) != 1 {
		t.Fatalf("%q %v", data, err)
	}
	if text, _ := os.ReadFile(data[0]); string(text) != "prepared\n" {
		t.Errorf("prepared more than once:\n%s", text)
	}
}

// Ctrl-C while a base is prepared: no process and no half-made entry is left, and
// the next run starts afresh.
func TestCancelPrepare(t *testing.T) {
	eachMode(t, func(t *testing.T, s *small) {
		sleep := filepath.Join(s.base.Dir, "sleep")
		if err := os.WriteFile(sleep, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { _, err := s.builder.Open(ctx, s.base, smallTarget); done <- err }()
		started := func() bool {
			found, _ := filepath.Glob(filepath.Join(s.builder.Cache, "small-*/out/started"))
			return len(found) > 0
		}
		for begin := time.Now(); !started(); time.Sleep(20 * time.Millisecond) {
			if time.Since(begin) > 20*time.Second {
				t.Fatal("it does not start")
			}
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if left, _ := filepath.Glob(filepath.Join(s.builder.Cache, "small-*/*")); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
		if files, _ := filepath.Glob("/proc/[0-9]*/cmdline"); true {
			for _, file := range files {
				if line, _ := os.ReadFile(file); strings.Contains(string(line), "98771") {
					t.Errorf("alive: %q", line)
				}
			}
		}
		if err := os.Remove(sleep); err != nil {
			t.Fatal(err)
		}
		s.open(t, t.Context(), smallTarget)
	})
}

// What a killed process has left does not count as prepared.
func TestHalfMade(t *testing.T) {
	s := newSmall(t, true)
	base := s.open(t, t.Context(), smallTarget)
	if err := os.Remove(filepath.Join(base.dir, "complete")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base.out(), "leftover"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	base.Close()
	again := s.open(t, t.Context(), smallTarget)
	if exists(filepath.Join(again.out(), "leftover")) {
		t.Error("it was built on what was left")
	}
}

func TestOpenFails(t *testing.T) {
	s := newSmall(t, true)
	var config *ConfigError
	never := smallTarget
	never.Config = []string{"A=y", "NEVER=y"}
	if _, err := s.builder.Open(t.Context(), s.base, never); !errors.As(err, &config) || strings.Join(config.Lines, " ") != "NEVER=y" {
		t.Errorf("error %v", err)
	}
	var missing *MissingError
	cross := smallTarget
	cross.Cross, cross.Package = "vax-linux-gnu-", "gcc-vax-linux-gnu"
	if _, err := s.builder.Open(t.Context(), s.base, cross); !errors.As(err, &missing) || err.Error() != "vax-linux-gnu-gcc is not installed (apt install gcc-vax-linux-gnu)" {
		t.Errorf("error %v", err)
	}
	// Lines that all targets share are told, they are no reason to stop.
	common := smallTarget
	common.Common = []string{"NEVER=y"}
	if base := s.open(t, t.Context(), common); strings.Join(base.Notes, "") != "the tree's Kconfig does not honour NEVER=y" {
		t.Errorf("notes %q", base.Notes)
	}
	if err := os.WriteFile(filepath.Join(s.base.Dir, "broken"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	broken := smallTarget
	broken.Config = []string{"C=y"}
	if _, err := s.builder.Open(t.Context(), s.base, broken); err == nil || !strings.Contains(err.Error(), "tools are broken") {
		t.Errorf("error %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.builder.Cache, "small-*/out")); len(left) != 1 {
		t.Errorf("left: %q", left)
	}
}
