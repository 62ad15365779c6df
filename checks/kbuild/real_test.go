package kbuild

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"uabot/checks/kbuild/sandbox"
	"uabot/config"
	"uabot/internal/testenv"
)

// common and x86 are the built-in lines and target that the tests build with.
var (
	common = []string{
		"KASAN=n", "KCSAN=n", "KMSAN=n", "KCOV=n", "GCOV_KERNEL=n", "UBSAN=n",
		"GCC_PLUGINS=n", "WERROR=n", "TRACE_BRANCH_PROFILING=n", "PROFILE_ALL_BRANCHES=n",
		"BRANCH_PROFILE_NONE=y", "MODVERSIONS=n", "MODULE_SIG=n", "DEBUG_INFO_BTF=n",
		"DEBUG_INFO_NONE=n", "DEBUG_INFO_DWARF4=y", "DEBUG_INFO_REDUCED=n",
		"DEBUG_INFO_COMPRESSED_NONE=y", "COMPILE_TEST=y",
	}
	x86 = config.Target{Name: "x86-64", Arch: "x86", Config: []string{"64BIT=y"}, Package: "gcc", Common: common}
)

// scene is a kernel tree and a worktree of it to put commits into.
type scene struct {
	builder *Builder
	base    Tree
	dir     string // the worktree
}

// newScene builds in the test cache, so that a prepared base is shared between
// test runs.
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
	head := strings.TrimSpace(command(t, kernel, "git", "rev-parse", "HEAD"))
	dir := filepath.Join(t.TempDir(), "tree")
	command(t, kernel, "git", "worktree", "add", "--detach", "--no-checkout", dir, "HEAD")
	t.Cleanup(func() {
		_ = exec.Command("git", "-C", kernel, "worktree", "remove", "--force", dir).Run()
	})
	// Files are shared with the base by hard links: a checkout takes half a minute.
	// git unlinks before it writes, so that the base's stay.
	command(t, kernel, "cp", "-al", "--", kernel+"/.", dir+".files")
	if err := os.RemoveAll(dir + ".files/.git"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir+"/.git", dir+".files/.git"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir+".files", dir); err != nil {
		t.Fatal(err)
	}
	command(t, dir, "git", "reset", "-q", "--mixed")
	return &scene{
		builder: &Builder{Cache: filepath.Join(testenv.Cache(t), "test-builds"), Runner: runner, Jobs: 2,
			Progress: func(target, what string) { t.Logf("%s %s: %s", time.Now().Format("05.000"), target, what) }},
		base: Tree{Dir: kernel, Commit: head},
		dir:  dir,
	}
}

// commit replaces text in files of the worktree and commits; edits are file, old, new.
func (s *scene) commit(t *testing.T, edits ...string) Tree {
	t.Helper()
	for i := 0; i < len(edits); i += 3 {
		path := filepath.Join(s.dir, edits[i])
		data, err := os.ReadFile(path)
		if err != nil && edits[i+1] != "" {
			t.Fatal(err)
		}
		text := string(data)
		if !strings.Contains(text, edits[i+1]) {
			t.Fatalf("%s has no %q", edits[i], edits[i+1])
		}
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(text, edits[i+1], edits[i+2], 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		command(t, s.dir, "git", "add", "-f", edits[i])
	}
	command(t, s.dir, "git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", "test")
	return Tree{Dir: s.dir, Commit: strings.TrimSpace(command(t, s.dir, "git", "rev-parse", "HEAD"))}
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

func TestKernelBeforeAndAfter(t *testing.T) {
	s := newScene(t)
	ctx := t.Context()
	t.Log("scene")
	base := s.open(t, ctx, x86)
	tip := s.commit(t, "fs/select.c", "static int do_poll(", "static int unused_one;\nstatic int do_poll(",
		"arch/arm/kernel/signal.c", "#include <linux/errno.h>", "",
		"drivers/firmware/ti_sci.c", "#include", "\n#include")
	plan, err := base.Plan(ctx, tip)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", plan)
	before, err := base.Build(ctx, plan.Units)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", before)
	after, err := base.BuildState(ctx, tip, plan.Units, filepath.Join(t.TempDir(), "after"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", after)
}
