package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Scratch is the source of a base with the files of another commit laid over it.
// Files that do not differ are the base's own (hard links, with their times), so
// that make sees just what changed.
//
// Making one takes a second or two, and so does deleting it; it is kept in the cache
// for the next review of that base. What was laid over it is in a journal, written
// before the file is touched, so that a killed review leaves nothing unknown.
type Scratch struct {
	Dir     string // the source tree
	repo    *Repo
	base    string // the base's commit
	from    string // the base's checkout
	work    *workDir
	held    *os.File        // the lock on the tree
	journal *os.File        // paths that may differ from the base, each ended by a NUL
	over    map[string]bool // the same
}

// Scratch gives a scratch tree that stands at base and belongs to the caller until
// Close.
func (r *Repo) Scratch(ctx context.Context, base string) (_ *Scratch, err error) {
	from, err := r.Checkout(ctx, base)
	if err != nil {
		return nil, err
	}
	s := &Scratch{repo: r, base: base, from: from, over: map[string]bool{}}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("laying out a scratch tree: %w", err), s.Close())
		}
	}()
	var dir string
	for n := 0; s.held == nil; n++ { // the first that nobody else works in
		dir = fmt.Sprintf("%s.scratch%d", from, n)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		held, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			held.Close()
			if !errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, err
			}
			continue
		}
		s.held = held
	}
	s.Dir = filepath.Join(dir, "src")
	if _, err := os.Stat(s.Dir); err != nil {
		half := filepath.Join(dir, "half")
		if err := os.RemoveAll(half); err != nil {
			return nil, err
		}
		if err := linkTree(ctx, from, half); err != nil {
			return nil, errors.Join(err, os.RemoveAll(half))
		}
		if err := os.Rename(half, s.Dir); err != nil {
			return nil, err
		}
	}
	if s.journal, err = os.OpenFile(filepath.Join(dir, "journal"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644); err != nil {
		return nil, err
	}
	known, err := os.ReadFile(s.journal.Name())
	if err != nil {
		return nil, err
	}
	for _, path := range strings.Split(strings.TrimSuffix(string(known), "\x00"), "\x00") {
		if path != "" {
			s.over[path] = true
		}
	}
	if s.work, err = r.workDir("objects-"); err != nil {
		return nil, err
	}
	return s, s.Set(ctx, base)
}

// Close gives the tree back.
func (s *Scratch) Close() (err error) {
	if s.work != nil {
		err = s.work.remove()
	}
	for _, f := range []*os.File{s.journal, s.held} {
		if f != nil {
			f.Close()
		}
	}
	return err
}

// From is the base's checkout, which nobody may write in.
func (s *Scratch) From() string { return s.from }

// Beside is a directory for objects made of the tree; it goes with Close.
func (s *Scratch) Beside() string { return s.work.path }

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
	if err := s.note(changes); err != nil {
		return fmt.Errorf("noting what is laid over the base: %w", err)
	}
	for path := range s.over {
		if !over[path] {
			if err := s.restore(path); err != nil {
				return fmt.Errorf("restoring %s: %w", path, err)
			}
		}
	}
	for _, c := range changes {
		if err := s.lay(ctx, c); err != nil {
			return fmt.Errorf("laying out %s: %w", c.Path, err)
		}
	}
	s.over = over
	return nil
}

// note adds the paths of changes to the journal, and begins it anew where nothing
// is laid over the base.
func (s *Scratch) note(changes []Change) error {
	if len(s.over) == 0 {
		if err := s.journal.Truncate(0); err != nil {
			return err
		}
	}
	var b strings.Builder
	for _, c := range changes {
		b.WriteString(c.Path + "\x00")
	}
	_, err := s.journal.WriteString(b.String())
	return err
}

// lay puts one changed file in place. It leaves a file alone that already has the
// content, so that its time does not change from one state to the next.
func (s *Scratch) lay(ctx context.Context, c Change) error {
	file := filepath.Join(s.Dir, c.Path)
	if c.Deleted {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if c.mode != "100644" && c.mode != "100755" {
		return fmt.Errorf("mode %s is no plain file", c.mode)
	}
	content, err := s.repo.blob(ctx, c.blob)
	if err != nil {
		return err
	}
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, content) {
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
	return os.WriteFile(file, content, perm)
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
