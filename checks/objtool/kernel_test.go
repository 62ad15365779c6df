package objtool

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"uabot/checks"
	"uabot/checks/kbuild"
	"uabot/checks/kbuild/sandbox"
	"uabot/config"
	"uabot/internal/testenv"
)

// On a real kernel: poll's write window, as it is, and with the failure of its begin
// sent to the label that closes it.
func TestKernel(t *testing.T) {
	kernel := testenv.Kernel(t)
	testenv.Tool(t, "bwrap", "make", "gcc", "git", "flex", "bison", "bc")
	runner, err := sandbox.New(t.Context())
	if errors.Is(err, sandbox.ErrUnavailable) {
		testenv.Missing(t, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	base := kbuild.Tree{Dir: kernel, Commit: git("-C", kernel, "rev-parse", "HEAD")}
	// The cache of `uabot review`: a base that a review has prepared serves here.
	builder := &kbuild.Builder{Cache: filepath.Join(testenv.Cache(t), "bases"), Runner: runner, Jobs: 2}
	target := config.Default().Targets[0]
	target.Common = config.Default().Common
	if target.Name != "x86-64" {
		t.Fatalf("the first target is %s", target.Name)
	}
	opened, err := builder.Open(t.Context(), base, target)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	units := []string{"fs/select.c"}
	before, err := opened.Build(t.Context(), units)
	if err != nil {
		t.Fatal(err)
	}

	// The patched tree: hard links, and one file of its own.
	work, err := os.MkdirTemp(filepath.Dir(kernel), "objtool-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(work)
	tree, repo := filepath.Join(work, "tree"), filepath.Join(work, "git")
	if out, err := exec.Command("cp", "-al", "--", kernel, tree).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	file := filepath.Join(tree, "fs/select.c")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const begin = "if (!user_write_access_begin(ufds, nfds * sizeof(*ufds)))\n\t\tgoto out_fds;"
	if !strings.Contains(string(text), begin) {
		t.Fatalf("fs/select.c is another one")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), begin, strings.Replace(begin, "out_fds", "Efault", 1), 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", "--bare", repo)
	objects := git("-C", kernel, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err := os.WriteFile(filepath.Join(repo, "objects/info/alternates"), []byte(objects+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	in := func(args ...string) string {
		return git(append([]string{"--git-dir", repo, "-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...)
	}
	in("read-tree", base.Commit)
	in("update-index", "--cacheinfo", "100644,"+in("hash-object", "-w", "--", file)+",fs/select.c")
	tip := kbuild.Tree{Dir: tree, Git: repo, Commit: in("commit-tree", "-m", "test", "-p", base.Commit, in("write-tree"))}
	after, err := opened.BuildState(t.Context(), tip, units, filepath.Join(work, "out"))
	if err != nil {
		t.Fatal(err)
	}

	run := func(c *Check, b *checks.Built) *checks.Result {
		t.Helper()
		res, err := c.Run(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	check := &Check{Runner: runner, Cache: work, Source: kernel, Commit: base.Commit}
	if res := run(check, before); len(res.Findings) > 0 || len(res.Notes) > 0 {
		t.Errorf("at the base: %+v", res)
	}
	want := `close-without-open fs/select.c:1042 in do_sys_poll
  user_write_access_end() can run when no window is open
  fs/select.c:1018  if (!user_write_access_begin(ufds, nfds * sizeof(*ufds)))  <- fails: no window is open
  fs/select.c:1042  user_write_access_end();  <- closes a window, but none is open
`
	// The objtool that the base's build has, and one built from the base's source.
	for _, c := range []*Check{check, {Runner: runner, Cache: work, Source: kernel, Commit: base.Commit}} {
		res := run(c, after)
		if len(res.Findings) != 1 || len(res.Notes) != 1 {
			t.Fatalf("%+v", res)
		}
		got := show(res.Findings[0])
		if i := strings.Index(got, "  fs/select.c:1018"); i > 0 { // the branches before are the compiler's choice
			got = got[:strings.Index(got, "\n  fs/")+1] + got[i:]
		}
		if got != want {
			t.Errorf("got\n%s", show(res.Findings[0]))
		}
	}
}
