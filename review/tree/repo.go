// Package tree applies series to a kernel git repository and lays out the source
// of any commit for the compilers.
//
// The user's repository is only ever read. A bare repository in the cache borrows
// its objects (alternates), and everything that is written goes there: the commits
// of the applied patches, worktrees, indexes. Patches are applied in a worktree
// without files, which takes a second where a full checkout takes half a minute;
// git apply reads the few files it needs from the index.
//
// Git itself does the work. It runs without the user's configuration, hooks and
// identity, so that the same series gives the same result everywhere.
package tree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrNoCommit is returned where a name resolves to no commit of the repository.
var ErrNoCommit = errors.New("no such commit")

// Repo is a kernel repository and the bare repository beside it that belongs to uabot.
type Repo struct {
	Path  string // the user's repository, absolute
	cache string // directory of everything that is written
	own   string // the bare repository
}

// Open takes the repository at path for reading, and cache as the directory that
// may be written.
func Open(ctx context.Context, path, cache string) (*Repo, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("opening the tree %s: %w", path, err)
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("opening the tree: %w", err)
	}
	r := &Repo{Path: path, cache: cache}
	objects, err := r.user(ctx, "rev-parse", "--git-path", "objects")
	if err != nil {
		return nil, fmt.Errorf("%s is no git repository: %w", path, err)
	}
	if !filepath.IsAbs(objects) {
		objects = filepath.Join(path, objects)
	}
	sum := sha256.Sum256([]byte(objects))
	r.own = filepath.Join(cache, "git", hex.EncodeToString(sum[:6])+".git")
	if _, err := os.Stat(filepath.Join(r.own, "HEAD")); err == nil {
		return r, nil
	}
	return r, r.create(ctx, objects)
}

// create makes the bare repository; the rename at the end makes it whole or absent.
func (r *Repo) create(ctx context.Context, objects string) error {
	if err := os.MkdirAll(filepath.Dir(r.own), 0o755); err != nil {
		return fmt.Errorf("making the cache: %w", err)
	}
	half, err := os.MkdirTemp(filepath.Dir(r.own), "half-")
	if err != nil {
		return fmt.Errorf("making the cache: %w", err)
	}
	defer os.RemoveAll(half)
	if _, err := r.git(ctx, filepath.Dir(r.own), nil, "init", "-q", "--bare", half); err != nil {
		return err
	}
	// Worktrees keep their own settings; said once here, since reviews that run at the
	// same time must not all write it.
	for _, args := range [][]string{{"extensions.worktreeConfig", "true"}, {"--unset", "core.bare"}, {"--worktree", "core.bare", "true"}} {
		if _, err := r.git(ctx, half, nil, append([]string{"config"}, args...)...); err != nil {
			return err
		}
	}
	alternates := filepath.Join(half, "objects", "info", "alternates")
	if err := os.WriteFile(alternates, []byte(objects+"\n"), 0o644); err != nil {
		return fmt.Errorf("borrowing the objects of %s: %w", r.Path, err)
	}
	if err := os.Rename(half, r.own); err != nil && !errors.Is(err, os.ErrExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return fmt.Errorf("making %s: %w", r.own, err)
	}
	return nil
}

// Git is the bare repository that has every commit of the user's repository and those
// that Apply made.
func (r *Repo) Git() string { return r.own }

// Resolve returns the full id of the commit that rev names in the user's repository.
// It fails with ErrNoCommit.
func (r *Repo) Resolve(ctx context.Context, rev string) (string, error) {
	if rev == "" || strings.HasPrefix(rev, "-") {
		return "", fmt.Errorf("%q in %s: %w", rev, r.Path, ErrNoCommit)
	}
	id, err := r.user(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%q in %s: %w", rev, r.Path, ErrNoCommit)
	}
	return id, nil
}

// Name is what a reader calls commit: its tag where it has one, else its short id
// with the kernel version of its Makefile.
func (r *Repo) Name(ctx context.Context, commit string) string {
	if tag, err := r.user(ctx, "describe", "--tags", "--exact-match", commit); err == nil {
		return tag
	}
	name := commit[:min(12, len(commit))]
	if version := r.kernelVersion(ctx, commit); version != "" {
		name += " (" + version + ")"
	}
	return name
}

// kernelVersion reads VERSION, PATCHLEVEL, SUBLEVEL and EXTRAVERSION at the top of
// the Makefile: "6.12.117", "6.16-rc1".
func (r *Repo) kernelVersion(ctx context.Context, commit string) string {
	text, err := r.user(ctx, "show", commit+":Makefile")
	if err != nil {
		return ""
	}
	values := map[string]string{}
	for _, line := range strings.SplitN(text, "\n", 10) {
		if key, value, ok := strings.Cut(line, "="); ok {
			values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	if values["VERSION"] == "" {
		return ""
	}
	version := values["VERSION"] + "." + values["PATCHLEVEL"]
	if sub := values["SUBLEVEL"]; sub != "" && sub != "0" {
		version += "." + sub
	}
	return version + values["EXTRAVERSION"]
}

// FormatPatch returns the commits of base..tip as mails in mbox form, oldest first.
func (r *Repo) FormatPatch(ctx context.Context, base, tip string) ([]byte, error) {
	merges, err := r.user(ctx, "rev-list", "--merges", "--max-count=1", base+".."+tip)
	if err != nil {
		return nil, err
	}
	if merges != "" {
		return nil, fmt.Errorf("%s..%s has a merge (%.12s): review the commits of one branch at a time", base, tip, merges)
	}
	return r.output(ctx, r.Path, nil, "format-patch", "--stdout", "--no-signature", "--numbered", "--full-index", "--no-renames", base+".."+tip)
}

// user runs git on the user's repository, which it must not change.
func (r *Repo) user(ctx context.Context, args ...string) (string, error) {
	return r.git(ctx, r.Path, nil, args...)
}

// git runs git in dir and returns what it printed, without the last newline.
func (r *Repo) git(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	out, err := r.output(ctx, dir, env, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// output runs git in dir and returns every byte that it printed. An error carries
// git's own words.
func (r *Repo) output(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=/nonexistent",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0",
		"GIT_AUTHOR_NAME=uabot", "GIT_AUTHOR_EMAIL=uabot@localhost",
		"GIT_COMMITTER_NAME=uabot", "GIT_COMMITTER_EMAIL=uabot@localhost",
		"GIT_CONFIG_COUNT=5",
		"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*", // the tree may belong to somebody else
		"GIT_CONFIG_KEY_1=core.hooksPath", "GIT_CONFIG_VALUE_1=/dev/null",
		"GIT_CONFIG_KEY_2=gc.auto", "GIT_CONFIG_VALUE_2=0",
		"GIT_CONFIG_KEY_3=core.quotePath", "GIT_CONFIG_VALUE_3=false",
		"GIT_CONFIG_KEY_4=commit.gpgSign", "GIT_CONFIG_VALUE_4=false",
	}, env...)
	// A git that is interrupted may have children (am runs apply and commit): end
	// them all.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &gitError{args: args, words: strings.TrimSpace(out.String() + "\n" + words.String()), err: err}
	}
	return out.Bytes(), nil
}

// gitError is a git command that failed, with everything it printed.
type gitError struct {
	args  []string
	words string
	err   error
}

func (e *gitError) Error() string {
	return fmt.Sprintf("git %s: %v: %s", e.args[0], e.err, e.words)
}

func (e *gitError) Unwrap() error { return e.err }
