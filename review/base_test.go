package review

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"uabot/internal/testenv"
	"uabot/review/tree"
)

func TestChooseBase(t *testing.T) {
	git := testenv.Tool(t, "git")[0]
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(git, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q")
	var commits []string
	for _, version := range []string{"11", "12", "13"} {
		if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte("VERSION = 6\nPATCHLEVEL = "+version+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		run("add", "-A")
		run("commit", "-q", "-m", version)
		commits = append(commits, run("rev-parse", "HEAD"))
	}
	repo, err := tree.Open(t.Context(), dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	missing := strings.Repeat("1", 40)
	for _, test := range []struct {
		name, named, asked string
		commit, reason     string
	}{
		{"named by the series", commits[0], "HEAD", commits[0], "base-commit of the series"},
		{"asked for", "", "HEAD~1", commits[1], "asked for by --base"},
		{"neither", "", "", commits[2], "the tree's HEAD"},
		{"named, but not in the tree", missing, "", commits[2], "the tree's HEAD; the series names base-commit 111111111111, which is not in the tree"},
		{"named, not in the tree, and asked for", missing, commits[1], commits[1], "asked for by --base; the series names base-commit 111111111111, which is not in the tree"},
	} {
		base, err := chooseBase(t.Context(), repo, test.named, test.asked)
		if err != nil || base.Commit != test.commit || base.Reason != test.reason {
			t.Errorf("%s: got %+v, %v", test.name, base, err)
		}
	}
	if _, err := chooseBase(t.Context(), repo, "", "v9"); !errors.Is(err, tree.ErrNoCommit) {
		t.Errorf("a base that is none: %v", err)
	}
}
