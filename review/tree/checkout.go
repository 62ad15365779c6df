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

// Scratch is the source of a base with the files of another commit laid over it.
// Files that do not differ are the base's own (hard links, with their times), so
// that make sees just what changed.
type Scratch struct {
	Dir  string // the source tree
	repo *Repo
	base string // the base's commit
	from string // the base's checkout
	work *workDir
	over map[string]bool // paths that differ from the base now
}

// Scratch makes a scratch tree that stands at base. Close removes it.
func (r *Repo) Scratch(ctx context.Context, base string) (*Scratch, error) {
	from, err := r.Checkout(ctx, base)
	if err != nil {
		return nil, err
	}
	work, err := r.workDir("tree-")
	if err != nil {
		return nil, err
	}
	s := &Scratch{Dir: filepath.Join(work.path, "src"), repo: r, base: base, from: from, work: work, over: map[string]bool{}}
	if err := linkTree(ctx, from, s.Dir); err != nil {
		return nil, errors.Join(fmt.Errorf("laying out a scratch tree: %w", err), work.remove())
	}
	return s, nil
}

// Close removes the tree.
func (s *Scratch) Close() error { return s.work.remove() }

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

// Set makes the tree stand at commit.
func (s *Scratch) Set(ctx context.Context, commit string) error {
	changes, err := s.repo.Changes(ctx, s.base, commit)
	if err != nil {
		return err
	}
	over := map[string]bool{}
	for _, c := range changes {
		over[c.Path] = true
	}
	for path := range s.over {
		if !over[path] {
			if err := s.restore(path); err != nil {
				return fmt.Errorf("restoring %s: %w", path, err)
			}
			delete(s.over, path)
		}
	}
	for _, c := range changes {
		s.over[c.Path] = true
		if err := s.lay(ctx, c); err != nil {
			return fmt.Errorf("laying out %s: %w", c.Path, err)
		}
	}
	return nil
}

// lay puts one changed file in place. It leaves a file alone that already has the
// content, so that its time does not change from one state to the next.
func (s *Scratch) lay(ctx context.Context, c Change) error {
	file := filepath.Join(s.Dir, c.Path)
	if c.Deleted {
		return os.Remove(file)
	}
	if c.mode != "100644" && c.mode != "100755" {
		return fmt.Errorf("mode %s is no plain file", c.mode)
	}
	content, err := s.repo.blob(ctx, c.blob)
	if err != nil {
		return err
	}
	if old, err := os.ReadFile(file); err == nil && string(old) == content {
		return nil
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // never write through the link into the base
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	perm := fs.FileMode(0o644)
	if c.mode == "100755" {
		perm = 0o755
	}
	return os.WriteFile(file, []byte(content), perm)
}

// restore puts the base's own file back, or removes what the base does not have.
func (s *Scratch) restore(path string) error {
	file := filepath.Join(s.Dir, path)
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := os.Link(filepath.Join(s.from, path), file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// blob returns the content of a blob, every byte of it.
func (r *Repo) blob(ctx context.Context, id string) (string, error) {
	out, err := r.git(ctx, r.own, nil, "cat-file", "blob", id)
	if err != nil {
		return "", err
	}
	// git() takes the last newline off; the size says whether there was one.
	size, err := r.git(ctx, r.own, nil, "cat-file", "-s", id)
	if err != nil {
		return "", err
	}
	if fmt.Sprint(len(out)) != size {
		out += "\n"
	}
	return out, nil
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
	text, err := r.blob(ctx, id)
	return []byte(text), err
}

// linkTree makes to a copy of from whose files are hard links.
func linkTree(ctx context.Context, from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Mkdir(filepath.Join(to, rel), 0o755)
		}
		return os.Link(path, filepath.Join(to, rel))
	})
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
