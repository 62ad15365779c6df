package kbuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lock is an flock(2) on a file of its own. The kernel lets it go when the process
// ends, however it ends.
type lock struct{ file *os.File }

// lockFile waits for the lock. waiting is called once when somebody else has it.
func lockFile(ctx context.Context, path string, exclusive bool, waiting func()) (*lock, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking: %w", err)
	}
	l := &lock{file}
	if err := l.take(ctx, exclusive, waiting); err != nil {
		file.Close()
		return nil, err
	}
	return l, nil
}

// take takes the lock, or changes between shared and exclusive; changing is not
// atomic: another process may have had the lock in between.
func (l *lock) take(ctx context.Context, exclusive bool, waiting func()) error {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	for first := true; ; first = false {
		err := unix.Flock(int(l.file.Fd()), how|unix.LOCK_NB)
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("locking %s: %w", l.file.Name(), err)
		}
		if first && waiting != nil {
			waiting()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (l *lock) release() { l.file.Close() }
