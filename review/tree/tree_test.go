package tree

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"uabot/internal/testenv"
)

// bundle is a small repository as a user would have it, opened for review.
type bundle struct {
	*Repo
	t     *testing.T
	dir   string // the user's repository
	cache string
	base  string // its first commit
	tip   string // its second
}

// setup makes a repository with two commits, of which the second changes kernel/a.c,
// adds kernel/new.c and deletes doc/old.
func setup(t *testing.T) *bundle {
	testenv.Tool(t, "git")
	b := &bundle{t: t, dir: t.TempDir(), cache: t.TempDir()}
	b.run("init", "-q", "-b", "master")
	b.write("Makefile", "# SPDX\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 3\nEXTRAVERSION =\n")
	b.write("kernel/a.c", "int a;\nint b;\nint c;\n")
	b.write("kernel/keep.c", "int keep;\n")
	b.write("doc/old", "no newline at the end")
	b.run("add", "-A")
	b.run("commit", "-q", "-m", "base")
	b.base = b.run("rev-parse", "HEAD")
	b.write("kernel/a.c", "int a;\nlong b;\nint c;\n")
	b.write("kernel/new.c", "int n;\n")
	if err := os.Remove(filepath.Join(b.dir, "doc/old")); err != nil {
		t.Fatal(err)
	}
	b.run("add", "-A")
	b.run("commit", "-q", "-m", "kernel: make b long")
	b.tip = b.run("rev-parse", "HEAD")
	repo, err := Open(t.Context(), b.dir, b.cache)
	if err != nil {
		t.Fatal(err)
	}
	b.Repo = repo
	return b
}

func (b *bundle) run(args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (b *bundle) write(name, text string) {
	b.t.Helper()
	file := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// patch is the mail of the second commit.
func (b *bundle) patch() Patch {
	b.t.Helper()
	mbox, err := b.FormatPatch(b.t.Context(), b.base, b.tip)
	if err != nil {
		b.t.Fatal(err)
	}
	return Patch{Title: "kernel: make b long", Mail: mbox, Paths: []string{"kernel/a.c", "kernel/new.c", "doc/old"}}
}

// leftovers lists what a review left in the cache besides what is meant to stay.
func (b *bundle) leftovers() []string {
	b.t.Helper()
	var list []string
	for _, pattern := range []string{"work/*", "trees/*.half", "trees/*.index", "trees/*/half", "git/half-*", "git/*/worktrees/*"} {
		found, _ := filepath.Glob(filepath.Join(b.cache, pattern))
		list = append(list, found...)
	}
	return list
}

func TestApply(t *testing.T) {
	b := setup(t)
	b.write("kernel/keep.c", "edited by the user, not committed\n")
	before := b.run("status", "--porcelain") + b.run("rev-parse", "HEAD")
	commits, err := b.Apply(t.Context(), b.base, []Patch{b.patch()})
	if err != nil {
		t.Fatal(err)
	}
	changes, err := b.Changes(t.Context(), b.base, commits[0])
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range changes {
		got = append(got, c.Path)
	}
	if want := "doc/old kernel/a.c kernel/new.c"; strings.Join(got, " ") != want {
		t.Errorf("changed %v, want %s", got, want)
	}
	if after := b.run("status", "--porcelain") + b.run("rev-parse", "HEAD"); after != before {
		t.Errorf("the user's tree changed from %q to %q", before, after)
	}
	if left := b.leftovers(); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestApplyFails(t *testing.T) {
	b := setup(t)
	_, err := b.Apply(t.Context(), b.base, []Patch{b.patch(), b.patch()})
	var apply *ApplyError
	if !errors.As(err, &apply) {
		t.Fatalf("got %v, want an ApplyError", err)
	}
	if apply.Patch != 2 || !strings.Contains(apply.Git, "Patch already applied") || strings.Contains(apply.Git, "Applying:") {
		t.Errorf("patch %d failed with %q", apply.Patch, apply.Git)
	}
	if left := b.leftovers(); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestApplyConflict(t *testing.T) {
	b := setup(t)
	patch := b.patch()
	b.run("checkout", "-q", b.base)
	b.write("kernel/a.c", "int a;\nchar b;\nint c;\n")
	b.run("commit", "-q", "-a", "-m", "somebody else's change")
	_, err := b.Apply(t.Context(), b.run("rev-parse", "HEAD"), []Patch{patch})
	var apply *ApplyError
	if !errors.As(err, &apply) || !strings.Contains(apply.Git, "Merge conflict in kernel/a.c") || strings.Contains(apply.Git, "git am --continue") {
		t.Fatalf("got %v, want git's words on kernel/a.c", err)
	}
	if left := b.leftovers(); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// A series of a tree that has moved on applies by three-way merge when the tree has
// the blobs that the patch names.
func TestApplyThreeWay(t *testing.T) {
	b := setup(t)
	patch := b.patch()
	b.run("checkout", "-q", b.base)
	b.write("kernel/a.c", "int first;\nint a;\nint b;\nint c;\nint d;\n")
	b.run("commit", "-q", "-a", "-m", "moved on")
	moved := b.run("rev-parse", "HEAD")
	commits, err := b.Apply(t.Context(), moved, []Patch{patch})
	if err != nil {
		t.Fatal(err)
	}
	text, err := b.ReadFile(t.Context(), commits[0], "kernel/a.c")
	if err != nil || string(text) != "int first;\nint a;\nlong b;\nint c;\nint d;\n" {
		t.Errorf("kernel/a.c is %q, %v", text, err)
	}
}

func TestInterruptLeavesNothing(t *testing.T) {
	b := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Apply(ctx, b.base, []Patch{b.patch()}); !errors.Is(err, context.Canceled) {
		t.Errorf("Apply: %v", err)
	}
	if _, err := b.Scratch(ctx, b.base); !errors.Is(err, context.Canceled) {
		t.Errorf("Scratch: %v", err)
	}
	if left := b.leftovers(); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestScratch(t *testing.T) {
	b := setup(t)
	commits, err := b.Apply(t.Context(), b.base, []Patch{b.patch()})
	if err != nil {
		t.Fatal(err)
	}
	from, err := b.Checkout(t.Context(), b.base)
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.Scratch(t.Context(), b.base)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Set(t.Context(), commits[0]); err != nil {
		t.Fatal(err)
	}
	b.expect(s.Dir, map[string]string{"kernel/a.c": "int a;\nlong b;\nint c;\n", "kernel/new.c": "int n;\n", "doc/old": "", "kernel/keep.c": "int keep;\n"})
	b.expect(from, map[string]string{"kernel/a.c": "int a;\nint b;\nint c;\n", "kernel/new.c": "", "doc/old": "no newline at the end"})
	if err := s.Set(t.Context(), b.base); err != nil {
		t.Fatal(err)
	}
	b.expect(s.Dir, map[string]string{"kernel/a.c": "int a;\nint b;\nint c;\n", "kernel/new.c": "", "doc/old": "no newline at the end"})
	was, _ := os.Stat(filepath.Join(from, "kernel/a.c"))
	is, _ := os.Stat(filepath.Join(s.Dir, "kernel/a.c"))
	if !os.SameFile(was, is) {
		t.Error("a file that is the base's again is a copy with a new time: make would compile it again")
	}
}

// A review that was killed leaves its files in the scratch tree; the next one of that
// base gets it clean.
func TestScratchAfterKill(t *testing.T) {
	b := setup(t)
	commits, err := b.Apply(t.Context(), b.base, []Patch{b.patch()})
	if err != nil {
		t.Fatal(err)
	}
	killed, err := b.Scratch(t.Context(), b.base)
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Set(t.Context(), commits[0]); err != nil {
		t.Fatal(err)
	}
	other, err := b.Scratch(t.Context(), b.base)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if other.Dir == killed.Dir {
		t.Fatal("two reviews share a scratch tree")
	}
	for _, f := range []*os.File{killed.held, killed.journal, killed.work.held} {
		f.Close() // as the kernel does when a process dies
	}
	next, err := b.Scratch(t.Context(), b.base)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if next.Dir != killed.Dir {
		t.Errorf("the scratch tree %s was not taken up again", killed.Dir)
	}
	b.expect(next.Dir, map[string]string{"kernel/a.c": "int a;\nint b;\nint c;\n", "kernel/new.c": "", "doc/old": "no newline at the end"})
}

// expect holds files under dir against their content; "" is a file that is not there.
func (b *bundle) expect(dir string, want map[string]string) {
	b.t.Helper()
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if string(got) != text || (err != nil) != (text == "") {
			b.t.Errorf("%s is %q (%v), want %q", filepath.Join(dir, name), got, err, text)
		}
	}
}

func TestResolveAndName(t *testing.T) {
	b := setup(t)
	if _, err := b.Resolve(t.Context(), "no-such"); !errors.Is(err, ErrNoCommit) {
		t.Errorf("got %v", err)
	}
	if _, err := b.Resolve(t.Context(), "--all"); !errors.Is(err, ErrNoCommit) {
		t.Errorf("an option as a revision: %v", err)
	}
	id, err := b.Resolve(t.Context(), "HEAD~1")
	if err != nil || id != b.base {
		t.Errorf("HEAD~1 is %s, %v", id, err)
	}
	if got, want := b.Name(t.Context(), b.base), b.base[:12]+" (6.12.3)"; got != want {
		t.Errorf("named %q, want %q", got, want)
	}
	b.run("tag", "v6.12.3", b.base)
	if got := b.Name(t.Context(), b.base); got != "v6.12.3" {
		t.Errorf("named %q, want its tag", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	testenv.Tool(t, "git")
	for name, dir := range map[string]string{"no directory": "/nonexistent/linux", "no repository": t.TempDir()} {
		if _, err := Open(t.Context(), dir, t.TempDir()); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a killed review left is removed by a later one; what a running one holds is not.
func TestAbandoned(t *testing.T) {
	b := setup(t)
	running, err := b.workDir("tree-")
	if err != nil {
		t.Fatal(err)
	}
	defer running.remove()
	killed, err := b.workDir("tree-")
	if err != nil {
		t.Fatal(err)
	}
	killed.held.Close() // as the kernel does when a process dies
	old := time.Now().Add(-time.Hour)
	for _, w := range []*workDir{running, killed} {
		if err := os.Chtimes(w.path+".lock", old, old); err != nil {
			t.Fatal(err)
		}
	}
	next, err := b.workDir("tree-")
	if err != nil {
		t.Fatal(err)
	}
	defer next.remove()
	if _, err := os.Stat(running.path); err != nil {
		t.Errorf("a running review lost its directory: %v", err)
	}
	if _, err := os.Stat(killed.path); err == nil {
		t.Error("a killed review's directory is still there")
	}
}

// In a shallow clone the parents of the oldest commit are not there; uabot's own
// repository does not know that, and must not ask for them.
func TestShallowClone(t *testing.T) {
	b := setup(t)
	patch := b.patch()
	shallow := filepath.Join(t.TempDir(), "shallow")
	b.run("checkout", "-q", "-b", "old", b.base)
	b.write("Makefile", "VERSION = 6\nPATCHLEVEL = 13\n")
	b.run("commit", "-q", "-a", "-m", "the only commit of the clone")
	b.run("clone", "-q", "--depth", "1", "file://"+b.dir, shallow)
	repo, err := Open(t.Context(), shallow, b.cache)
	if err != nil {
		t.Fatal(err)
	}
	head, err := repo.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	commits, err := repo.Apply(t.Context(), head, []Patch{patch})
	if err != nil {
		t.Fatal(err)
	}
	s, err := repo.Scratch(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Set(t.Context(), commits[0]); err != nil {
		t.Fatal(err)
	}
	b.expect(s.Dir, map[string]string{"kernel/new.c": "int n;\n", "Makefile": "VERSION = 6\nPATCHLEVEL = 13\n"})
	if got, want := repo.Name(t.Context(), head), head[:12]+" (6.13)"; got != want {
		t.Errorf("named %q, want %q", got, want)
	}
}

func TestCommit(t *testing.T) {
	b := setup(t)
	const diff = "--- a/kernel/a.c\n+++ b/kernel/a.c\n@@ -1,3 +1,3 @@\n int a;\n-int b;\n+short b;\n int c;\n"
	commit, err := b.Commit(t.Context(), b.base, diff)
	if err != nil {
		t.Fatal(err)
	}
	text, err := b.ReadFile(t.Context(), commit, "kernel/a.c")
	if err != nil || string(text) != "int a;\nshort b;\nint c;\n" {
		t.Errorf("kernel/a.c is %q, %v", text, err)
	}
	if _, err := b.Commit(t.Context(), b.tip, diff); err == nil {
		t.Error("a diff that does not fit was committed")
	}
	if left := b.leftovers(); left != nil {
		t.Errorf("left behind: %v", left)
	}
}
