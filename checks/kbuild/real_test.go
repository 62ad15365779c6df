package kbuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"uabot/checks"
	"uabot/checks/kbuild/sandbox"
	"uabot/config"
	"uabot/internal/testenv"
)

// x86 is the built-in x86-64 target.
func x86(t *testing.T) config.Target {
	t.Helper()
	target := config.Default().Targets[0]
	target.Common = config.Default().Common
	if target.Name != "x86-64" {
		t.Fatalf("the first target is %s", target.Name)
	}
	return target
}

// scene is a kernel tree, a copy of it whose files are hard links, and a bare
// repository that borrows the tree's objects and has the commits of the test.
type scene struct {
	builder *Builder
	base    Tree
	dir     string // the copy
	git     string
}

// newScene builds in the cache of `uabot review`: a base that a review has prepared
// serves here.
func newScene(t *testing.T) *scene {
	t.Helper()
	kernel := testenv.Kernel(t)
	testenv.Tool(t, "bwrap", "make", "gcc", "git", "flex", "bison", "bc")
	runner, err := sandbox.New(t.Context())
	if errors.Is(err, sandbox.ErrUnavailable) {
		testenv.Missing(t, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	// Beside the tree: hard links do not cross file systems.
	work, err := os.MkdirTemp(filepath.Dir(kernel), "kbuild-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(work) })
	s := &scene{
		builder: &Builder{Cache: filepath.Join(testenv.Cache(t), "bases"), Runner: runner, Jobs: 2},
		dir:     filepath.Join(work, "tree"),
		git:     filepath.Join(work, "git"),
	}
	started := time.Now()
	s.builder.Progress = func(target, what string) {
		t.Logf("%5.1f s  %s: %s", time.Since(started).Seconds(), target, what)
	}
	head := strings.TrimSpace(command(t, kernel, "git", "rev-parse", "HEAD"))
	command(t, kernel, "git", "init", "-q", "--bare", s.git)
	objects := strings.TrimSpace(command(t, kernel, "git", "rev-parse", "--path-format=absolute", "--git-path", "objects"))
	if err := os.WriteFile(filepath.Join(s.git, "objects/info/alternates"), []byte(objects+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.base = Tree{Dir: kernel, Commit: head, Git: s.git}
	s.gitCommand(t, "read-tree", head)
	return s
}

func (s *scene) gitCommand(t *testing.T, args ...string) string {
	t.Helper()
	return strings.TrimSpace(command(t, s.git, append([]string{"git", "--git-dir", s.git, "-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...))
}

// commit replaces text in files and commits; edits are file, old, new. An empty old
// makes the file.
func (s *scene) commit(t *testing.T, edits ...string) Tree {
	t.Helper()
	if !exists(s.dir) {
		command(t, s.base.Dir, "cp", "-al", "--", s.base.Dir, s.dir)
	}
	for i := 0; i < len(edits); i += 3 {
		path := filepath.Join(s.dir, edits[i])
		data, err := os.ReadFile(path)
		if err != nil && edits[i+1] != "" {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), edits[i+1]) {
			t.Fatalf("%s has no %q", edits[i], edits[i+1])
		}
		// Never write through a link into the base.
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(data), edits[i+1], edits[i+2], 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		blob := s.gitCommand(t, "hash-object", "-w", "--", path)
		s.gitCommand(t, "update-index", "--add", "--cacheinfo", "100644,"+blob+","+edits[i])
	}
	commit := s.gitCommand(t, "commit-tree", "-m", "test", "-p", s.base.Commit, s.gitCommand(t, "write-tree"))
	return Tree{Dir: s.dir, Commit: commit, Git: s.git}
}

func command(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (s *scene) open(t *testing.T, ctx context.Context, target config.Target) *Base {
	t.Helper()
	base, err := s.builder.Open(ctx, s.base, target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(base.Close)
	return base
}

// A warning that a patch brings is the difference between the two states, and what
// another architecture or configuration compiles is left out with the reason.
func TestKernelBeforeAndAfter(t *testing.T) {
	s := newScene(t)
	ctx := t.Context()
	base := s.open(t, ctx, x86(t))
	tip := s.commit(t,
		"fs/select.c", "static int do_poll(", "static int unused_one;\nstatic int do_poll(",
		"fs/eventfd.c", "struct eventfd_ctx {", "struct eventfd_ctx {\n\tno_such_type x;",
		"arch/arm/kernel/signal.c", "#include <linux/errno.h>", "",
		"drivers/firmware/ti_sci.c", "#include", "\n#include")
	plan, err := base.Plan(ctx, tip)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(plan.Units, " ") != "fs/eventfd.c fs/select.c" {
		t.Errorf("units %q", plan.Units)
	}
	want := []Skipped{
		{"arch/arm/kernel/signal.c", "arch/arm: not this architecture"},
		{"drivers/firmware/ti_sci.c", "needs CONFIG_TI_SCI_PROTOCOL, which is off in this target's configuration"},
	}
	if !slices.Equal(plan.Skipped, want) {
		t.Errorf("skipped %+v", plan.Skipped)
	}

	before, err := base.Build(ctx, plan.Units)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range before.Units {
		if u.Err != "" || !exists(filepath.Join(before.Output, u.Object)) {
			t.Errorf("base: %+v", u)
		}
	}
	output := filepath.Join(t.TempDir(), "after")
	after, err := base.BuildState(ctx, tip, plan.Units, output)
	if err != nil {
		t.Fatal(err)
	}
	if after.Source != s.dir || after.Output != output || after.SourceAs != "/src" {
		t.Errorf("%+v", after)
	}
	if u := after.Units[0]; u.Source != "fs/eventfd.c" || !strings.Contains(u.Err, "fs/eventfd.c:") || !strings.Contains(u.Err, "error: ") || exists(filepath.Join(output, u.Object)) {
		t.Errorf("%+v", u)
	}
	if u := after.Units[1]; u.Err != "" || !exists(filepath.Join(output, u.Object)) {
		t.Errorf("%+v", u)
	}
	// Make gives the same object to the byte.
	k, err := s.builder.tools(ctx)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := changedFiles(ctx, tip.git(), s.base.Commit, tip.Commit)
	if err != nil {
		t.Fatal(err)
	}
	remade := filepath.Join(filepath.Dir(output), "remade")
	records, err := base.remake(ctx, k, remade, tip, changed, []string{"fs/select.c"})
	if err != nil {
		t.Fatal(err)
	}
	if rec := records["fs/select.c"]; rec.Err != "" || rec.Log != after.Units[1].Log {
		t.Errorf("by make %+v, by the command of the base %+v", rec, after.Units[1])
	}
	a, err1 := os.ReadFile(filepath.Join(output, "fs/select.o"))
	b, err2 := os.ReadFile(filepath.Join(remade, "fs/select.o"))
	if err := errors.Join(err1, err2); err != nil || !bytes.Equal(a, b) {
		t.Errorf("fs/select.o differs from what make builds: %v", err)
	}

	var rules []string
	for _, f := range newFindings(t, before, after) {
		rules = append(rules, fmt.Sprintf("%s %s:%d %s", f.Rule, f.File, f.Line, f.Title))
	}
	if len(rules) != 2 || !strings.HasPrefix(rules[0], "compiler-error fs/eventfd.c:") || !strings.Contains(rules[0], "unknown type name 'no_such_type'") ||
		!strings.HasPrefix(rules[1], "compiler-warning fs/select.c:") || !strings.Contains(rules[1], "'unused_one' defined but not used") {
		t.Errorf("new: %q", rules)
	}
}

// newFindings are the messages that after has and before has not.
func newFindings(t *testing.T, before, after *checks.Built) (list []checks.Finding) {
	t.Helper()
	old := map[string]bool{}
	for i, b := range []*checks.Built{before, after} {
		res, err := Messages{}.Run(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range res.Findings {
			if i == 0 {
				old[f.Identity()] = true
			} else if !old[f.Identity()] {
				list = append(list, f)
			}
		}
	}
	return list
}

// A header that everything includes: the users of what changes in it are compiled,
// up to the cap, with commands of the base, because the constants that assembler
// takes from C come out the same.
func TestKernelHeader(t *testing.T) {
	s := newScene(t)
	s.builder.HeaderUnits = 1
	again := false
	told := s.builder.Progress
	s.builder.Progress = func(target, what string) {
		told(target, what)
		again = again || strings.Contains(what, "preparing again")
	}
	ctx := t.Context()
	base := s.open(t, ctx, x86(t))
	tip := s.commit(t, "include/linux/uaccess.h",
		"static inline unsigned long user_access_save(void) { return 0UL; }", "static inline unsigned long user_access_save(void) { return 0; }")
	plan, err := base.Plan(ctx, tip)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Units) != 1 || len(plan.Notes) != 1 || !strings.HasPrefix(plan.Notes[0], "include/linux/uaccess.h: of ") || !strings.HasSuffix(plan.Notes[0], " name user_access_save, the first 1 are compiled") {
		t.Errorf("%+v", plan)
	}
	before, err := base.Build(ctx, plan.Units)
	if err != nil {
		t.Fatal(err)
	}
	after, err := base.BuildState(ctx, tip, plan.Units, filepath.Join(t.TempDir(), "after"))
	if err != nil {
		t.Fatal(err)
	}
	for i, u := range after.Units {
		if before.Units[i].Err != "" || u.Err != "" {
			t.Errorf("%+v %+v", before.Units[i], u)
		}
	}
	if list := newFindings(t, before, after); len(list) > 0 {
		t.Errorf("new: %+v", list)
	}
	if again {
		t.Error("make was used")
	}
}
