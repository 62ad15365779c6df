package tree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// workDir is a directory of one running review. Its lock is held as long as the
// process lives, so that a later run knows which directories a killed one left.
type workDir struct {
	path string
	held *os.File
}

// workDir makes a directory under cache/work and removes those that nobody holds.
func (r *Repo) workDir(prefix string) (*workDir, error) {
	parent := filepath.Join(r.cache, "work")
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("making the cache: %w", err)
	}
	removeAbandoned(parent)
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, fmt.Errorf("making a work directory: %w", err)
	}
	held, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		os.RemoveAll(path)
		return nil, fmt.Errorf("making a work directory: %w", err)
	}
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		held.Close()
		os.RemoveAll(path)
		return nil, fmt.Errorf("locking a work directory: %w", err)
	}
	return &workDir{path: path, held: held}, nil
}

// remove takes the directory away. Compilers ran with it read-only, so that every
// file in it is ours to delete.
func (w *workDir) remove() error {
	err := os.RemoveAll(w.path)
	os.Remove(w.path + ".lock")
	w.held.Close()
	return err
}

// removeAbandoned removes the work directories whose lock nobody holds.
func removeAbandoned(parent string) {
	locks, _ := filepath.Glob(filepath.Join(parent, "*.lock"))
	for _, file := range locks {
		held, err := os.OpenFile(file, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil && age(file) > time.Minute {
			os.RemoveAll(strings.TrimSuffix(file, ".lock"))
			os.Remove(file)
		}
		held.Close()
	}
}

// age is the age of file: a directory made this moment has a lock file that is
// not locked yet.
func age(file string) time.Duration {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return time.Since(info.ModTime())
}

// pause waits a moment, or until ctx is over.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(100 * time.Millisecond):
		return nil
	}
}
