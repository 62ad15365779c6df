package epoch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"uabot/mail"
	"uabot/mail/lore"
)

// mirror brings the mirror up to date and delivers what is new, epoch by epoch.
func (a *Archive) mirror(ctx context.Context, begins time.Time, at *cursor, give func(context.Context, mail.Batch) error) error {
	epochs, err := a.Client.Epochs(ctx, a.Inbox)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return fmt.Errorf("find the mirror: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the mirror: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("lock the mirror: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("the mirror %s is in use by another program: %w: %w", dir, err, mail.ErrTemporary)
	}
	repositoryOf := func(e lore.Epoch) repository {
		return repository{dir: filepath.Join(dir, strconv.Itoa(e.Number)+".git"), number: e.Number, lock: lock}
	}
	if !begins.IsZero() {
		at.First, err = a.firstSince(ctx, epochs, repositoryOf)
		if err != nil {
			return err
		}
	}
	for _, e := range epochs {
		if e.Number < at.First {
			continue
		}
		r := repositoryOf(e)
		if err := a.fetch(ctx, r, e); err != nil {
			return err
		}
		rewritten, err := a.take(ctx, r, begins, at, give)
		if err != nil {
			return err
		}
		if err := r.collect(ctx, rewritten); err != nil {
			return err
		}
	}
	return nil
}

// firstSince returns the newest epoch that begins before Since; it fetches those
// that it has to look at.
func (a *Archive) firstSince(ctx context.Context, epochs []lore.Epoch, repositoryOf func(lore.Epoch) repository) (int, error) {
	for i := len(epochs) - 1; i > 0; i-- {
		r := repositoryOf(epochs[i])
		if err := a.fetch(ctx, r, epochs[i]); err != nil {
			return 0, err
		}
		tip, err := r.tip(ctx)
		if err != nil {
			return 0, err
		}
		roots, err := r.run(ctx, "log", "--max-parents=0", "--format=%ct", tip)
		if err != nil {
			return 0, err
		}
		oldest, err := strconv.ParseInt(strings.Fields(roots + " 0")[0], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: the first commit's time is %q: %w", r.dir, roots, err)
		}
		if oldest < a.Since.Unix() {
			return epochs[i].Number, nil
		}
	}
	return epochs[0].Number, nil
}

// fetch makes the mirror of one epoch the same as the server's, history rewritten
// or not. It does nothing when the server's refs are those of the last fetch.
func (a *Archive) fetch(ctx context.Context, r repository, e lore.Epoch) error {
	seen := filepath.Join(r.dir, "uabot-fingerprint")
	if old, err := os.ReadFile(seen); err == nil && e.Fingerprint != "" && string(old) == e.Fingerprint {
		return nil
	}
	_, err := os.Stat(seen)
	isNew := errors.Is(err, os.ErrNotExist)
	if isNew { // or was begun, which git init does not mind
		if _, err := r.run(ctx, "init", "--quiet", "--bare", "--initial-branch=master", r.dir); err != nil {
			return err
		}
	}
	if err := r.unlock(); err != nil {
		return err
	}
	// lowSpeed: a server that sends nothing for so long will not any more.
	_, err = r.run(ctx, "-c", "http.userAgent="+a.Client.UserAgent, "-c", "http.lowSpeedLimit=1", "-c", "http.lowSpeedTime="+strconv.Itoa(int(max(time.Second, a.stall()).Seconds())),
		"-c", "protocol.allow=never", "-c", "protocol.http.allow=always", "-c", "protocol.https.allow=always",
		"fetch", "--quiet", "--no-auto-gc", "--no-write-fetch-head", "--no-tags", e.URL, "+refs/*:refs/*")
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("fetch %s: %w: %w", e.URL, err, mail.ErrTemporary)
	}
	if _, err := r.tip(ctx); err != nil {
		if isNew {
			os.RemoveAll(r.dir)
		}
		return fmt.Errorf("fetch %s: %w", e.URL, err)
	}
	if err := os.WriteFile(seen, []byte(e.Fingerprint), 0o644); err != nil {
		return fmt.Errorf("note what was fetched: %w", err)
	}
	return nil
}

func (a *Archive) stall() time.Duration {
	if a.Client.Stall > 0 {
		return a.Client.Stall
	}
	return time.Minute
}

// unlock removes the locks of a git that was killed: whoever holds the mirror's
// own lock is the only one there.
func (r repository) unlock() error {
	for _, pattern := range []string{"*.lock", "refs/heads/*.lock", "objects/info/*.lock", "objects/info/commit-graphs/*.lock", "gc.pid"} {
		stale, err := filepath.Glob(filepath.Join(r.dir, pattern))
		if err != nil {
			return fmt.Errorf("look for stale locks: %w", err)
		}
		for _, file := range stale {
			if err := os.Remove(file); err != nil {
				return fmt.Errorf("remove a stale lock: %w", err)
			}
		}
	}
	return nil
}

// collect packs what many fetches brought, when it is worth while. After a
// rewrite, what was purged from the archive goes from the mirror at once.
func (r repository) collect(ctx context.Context, rewritten bool) error {
	settings := []string{"-c", "gc.auto=6700", "-c", "gc.autoDetach=false", "-c", "gc.bigPackThreshold=256m", "gc", "--quiet", "--auto"}
	if rewritten {
		settings = []string{"gc", "--quiet", "--prune=now"}
	}
	_, err := r.run(ctx, settings...)
	return err
}
