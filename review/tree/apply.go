package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Patch is one mail as `git am` takes it.
type Patch struct {
	Title string
	Mail  []byte
	Paths []string // the files that it touches, old and new names
}

// ApplyError says which patch did not apply, in git's own words.
type ApplyError struct {
	Patch int // position in the series, 1-based
	Title string
	Git   string // what git printed
}

func (e *ApplyError) Error() string {
	return fmt.Sprintf("patch %d (%s) does not apply:\n%s", e.Patch, e.Title, e.Git)
}

// Apply makes one commit for each patch on top of base and returns their ids, in
// order. The commits are in uabot's own repository and belong to no branch. It
// fails with an *ApplyError; nothing is left behind then.
func (r *Repo) Apply(ctx context.Context, base string, patches []Patch) (commits []string, err error) {
	work, err := r.workDir("apply-")
	if err != nil {
		return nil, err
	}
	defer work.remove()
	dir := filepath.Join(work.path, "wt")
	if _, err := r.git(ctx, r.own, nil, "worktree", "add", "-q", "--no-checkout", "--detach", dir, base); err != nil {
		return nil, fmt.Errorf("making a worktree for %s: %w", base, err)
	}
	defer func() {
		// The worktree goes even when ctx is over: nothing is left behind.
		_, pruned := r.git(context.WithoutCancel(ctx), r.own, nil, "worktree", "remove", "--force", "--force", dir)
		err = errors.Join(err, pruned)
	}()
	if err := r.index(ctx, dir, patches); err != nil {
		return nil, fmt.Errorf("making a worktree for %s: %w", base, err)
	}
	for i, p := range patches {
		file := filepath.Join(work.path, fmt.Sprintf("%04d.eml", i+1))
		if err := os.WriteFile(file, p.Mail, 0o600); err != nil {
			return nil, fmt.Errorf("writing patch %d: %w", i+1, err)
		}
		// --no-keep-cr is git's default, said here because a mail's CRLF is the
		// mail's and not the file's.
		words, err := r.git(ctx, dir, nil, "am", "-3", "--no-keep-cr", file)
		if err != nil {
			if failed := new(gitError); errors.As(err, &failed) {
				return nil, &ApplyError{Patch: i + 1, Title: p.Title, Git: plainWords(failed.words)}
			}
			return nil, fmt.Errorf("applying patch %d: %w", i+1, err)
		}
		id, err := r.git(ctx, dir, nil, "rev-parse", "HEAD")
		if err != nil {
			return nil, fmt.Errorf("applying patch %d: %w", i+1, err)
		}
		if i == 0 && id == base || i > 0 && id == commits[i-1] { // am is content when a merge leaves nothing
			return nil, &ApplyError{Patch: i + 1, Title: p.Title, Git: plainWords(words)}
		}
		commits = append(commits, id)
	}
	return commits, nil
}

// index fills the index of a worktree from its commit, and the worktree with the
// files that the patches touch: git apply would take them from the index, but a
// three-way merge takes a missing file for a deletion of the user's.
func (r *Repo) index(ctx context.Context, dir string, patches []Patch) error {
	if _, err := r.git(ctx, dir, nil, "read-tree", "HEAD"); err != nil {
		return err
	}
	args := []string{"--literal-pathspecs", "ls-files", "-z", "--"}
	for _, p := range patches {
		args = append(args, p.Paths...)
	}
	if len(args) == 4 {
		return nil
	}
	there, err := r.git(ctx, dir, nil, args...)
	if err != nil || there == "" {
		return err
	}
	files := strings.Split(strings.TrimSuffix(there, "\x00"), "\x00")
	_, err = r.git(ctx, dir, nil, append([]string{"checkout-index", "-f", "-u", "-q", "--"}, files...)...)
	return err
}

// plainWords leaves out git's hints on how to go on by hand in a worktree that is
// already gone.
func plainWords(words string) string {
	var keep []string
	for _, line := range strings.Split(words, "\n") {
		if !strings.HasPrefix(line, "hint:") && !strings.HasPrefix(line, "Applying: ") && !strings.HasPrefix(line, "When you have resolved") &&
			!strings.HasPrefix(line, "If you prefer to skip") && !strings.HasPrefix(line, "To restore the original") {
			keep = append(keep, line)
		}
	}
	return strings.Join(keep, "\n")
}

// Commit makes a commit of a unified diff on top of another commit, without a worktree,
// and returns its id. The diff has to fit exactly.
func (r *Repo) Commit(ctx context.Context, on, diff string) (string, error) {
	work, err := r.workDir("commit-")
	if err != nil {
		return "", err
	}
	defer work.remove()
	file := filepath.Join(work.path, "diff")
	if err := os.WriteFile(file, []byte(diff), 0o600); err != nil {
		return "", fmt.Errorf("writing a diff: %w", err)
	}
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(work.path, "index")}
	var out string
	for _, args := range [][]string{
		{"read-tree", on},
		{"apply", "--cached", file},
		{"write-tree"},
	} {
		if out, err = r.git(ctx, r.own, env, args...); err != nil {
			return "", fmt.Errorf("committing a diff on %.12s: %w", on, err)
		}
	}
	commit, err := r.git(ctx, r.own, nil, "commit-tree", "-p", on, "-m", "a fix that is tried", out)
	if err != nil {
		return "", fmt.Errorf("committing a diff on %.12s: %w", on, err)
	}
	return commit, nil
}
