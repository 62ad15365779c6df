package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Checkout returns the directory that holds the source of commit, laying it out if
// it is not in the cache. Nobody may write in it: every review of that base shares it.
func (r *Repo) Checkout(ctx context.Context, commit string) (string, error) {
	trees := filepath.Join(r.cache, "trees")
	if err := os.MkdirAll(trees, 0o755); err != nil {
		return "", fmt.Errorf("making the cache: %w", err)
	}
	dir := filepath.Join(trees, commit[:12])
	unlock, err := lock(ctx, dir+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	half := dir + ".half"
	if err := os.RemoveAll(half); err != nil { // of a run that was killed
		return "", fmt.Errorf("clearing a half-made checkout: %w", err)
	}
	if err := os.Mkdir(half, 0o755); err != nil {
		return "", fmt.Errorf("checking out %.12s: %w", commit, err)
	}
	index := dir + ".index"
	defer os.Remove(index)
	env := []string{"GIT_DIR=" + r.own, "GIT_WORK_TREE=" + half, "GIT_INDEX_FILE=" + index}
	if _, err := r.git(ctx, half, env, "checkout", "-q", "-f", commit, "--", "."); err != nil {
		return "", errors.Join(fmt.Errorf("checking out %.12s: %w", commit, err), os.RemoveAll(half))
	}
	if err := os.Rename(half, dir); err != nil {
		return "", fmt.Errorf("checking out %.12s: %w", commit, err)
	}
	return dir, nil
}

// Change is a file that differs between a base and another commit.
type Change struct {
	Path    string
	Deleted bool
	mode    string
	blob    string
}

// Changes lists the files that differ between two commits, by path.
func (r *Repo) Changes(ctx context.Context, from, to string) ([]Change, error) {
	out, err := r.git(ctx, r.own, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to)
	if err != nil {
		return nil, fmt.Errorf("comparing %.12s with %.12s: %w", from, to, err)
	}
	var list []Change
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		// ":100644 100644 <old blob> <new blob> M", then the path
		f := strings.Fields(fields[i])
		if len(f) != 5 {
			return nil, fmt.Errorf("comparing %.12s with %.12s: git printed %q", from, to, fields[i])
		}
		list = append(list, Change{Path: fields[i+1], Deleted: f[4] == "D", mode: f[1], blob: f[3]})
	}
	return list, nil
}

// blob returns the content of a blob.
func (r *Repo) blob(ctx context.Context, id string) ([]byte, error) {
	return r.output(ctx, r.own, nil, "cat-file", "blob", id)
}

// ReadFile returns the content of a file at a commit; fs.ErrNotExist when it is not there.
func (r *Repo) ReadFile(ctx context.Context, commit, path string) ([]byte, error) {
	id, err := r.git(ctx, r.own, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+":"+path)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s at %.12s: %w", path, commit, fs.ErrNotExist)
	}
	return r.blob(ctx, id)
}

// lock takes the lock of file, waiting for it as long as ctx allows.
func lock(ctx context.Context, file string) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking: %w", err)
	}
	if err := flock(ctx, f); err != nil {
		f.Close()
		return nil, fmt.Errorf("locking %s: %w", file, err)
	}
	return func() { f.Close() }, nil
}

// flock waits for the exclusive lock of f. The kernel has no flock with a time
// limit, so it asks again and again.
func flock(ctx context.Context, f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}
