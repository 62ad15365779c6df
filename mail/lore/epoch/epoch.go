// Package epoch takes mails from the git repositories ("epochs") in which a
// public-inbox keeps them: from a mirror that it fetches from a server, or from
// local ones.
//
// An epoch has one commit per mail, whose file m is the mail. A mail that was
// removed is a commit in which the file is called d. A mail that was purged, or
// edited, is gone from the whole history: all commits after it are other commits
// then. So where a history did not simply grow, it is compared by the mails in it
// (blobs), not by its commits.
//
// Traps. A clone of the wrong address (the inbox instead of an epoch) succeeds and
// is empty: epochs are fetched only as the server's manifest lists them, and an
// empty one is an error. What git would collect as garbage after a rewrite is what
// has to be read to tell what was purged: nothing is collected before that.
package epoch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"uabot/mail"
	"uabot/mail/lore"
)

// Archive is a mail.Source: all epochs of one public-inbox.
type Archive struct {
	// Inbox is the address of the inbox to mirror, https://lore.kernel.org/linux-mm,
	// asked through Client. Empty for local epochs.
	Inbox  string
	Client *lore.Client
	// Dir is the directory of the mirror, made when it is not there, or of a
	// local public-inbox: epochs are 0.git, 1.git … in it or in its directory git;
	// it may also be a single epoch. In a local one that its server purges, the
	// former history is not kept: all mails are delivered again, and what was
	// purged is not told.
	Dir string
	// Since is where an empty cursor begins, by when the archive got the mail;
	// zero is the beginning. Epochs that are older as a whole are not mirrored.
	Since time.Time
	// Absent is told of a mail whose content is not in the repository, as in a copy
	// that leaves out large files; the mail is passed over then. nil makes it an error.
	Absent func(origin string)
	// Batch is how many mails are delivered at once; 0 is 200.
	Batch int
	// Log is told what is odd; nil for slog.Default().
	Log *slog.Logger
}

// batchBytes ends a batch early: two hundred mails can be large.
const batchBytes = 8 << 20

// cursor is, for each epoch by number, the commits whose mails were taken, with all
// those before them. It is one commit, except in the midst of taking a history that
// was rewritten: then its own commits come first, and those of before behind.
type cursor struct {
	Epochs map[int][]string `json:"epochs"`
	// First is the oldest epoch that is looked at.
	First int `json:"first,omitempty"`
}

// Name implements mail.Source.
func (a *Archive) Name() string {
	if a.Inbox != "" {
		return "git:" + strings.TrimSuffix(a.Inbox, "/")
	}
	return "git:" + a.Dir
}

// Pull implements mail.Source.
func (a *Archive) Pull(ctx context.Context, text string, deliver func(context.Context, mail.Batch) error) error {
	if err := a.pull(ctx, text, deliver); err != nil {
		return fmt.Errorf("%s: %w", a.Name(), err)
	}
	return nil
}

func (a *Archive) pull(ctx context.Context, text string, deliver func(context.Context, mail.Batch) error) error {
	at := cursor{}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &at); err != nil {
			return fmt.Errorf("the cursor %.40q is not one: %w", text, err)
		}
	}
	if at.Epochs == nil {
		at.Epochs = map[int][]string{}
	}
	begins := time.Time{}
	if len(at.Epochs) == 0 {
		begins = a.Since
	}
	give := func(ctx context.Context, batch mail.Batch) error {
		text, err := json.Marshal(at)
		if err != nil {
			return fmt.Errorf("write the cursor: %w", err)
		}
		batch.Cursor = string(text)
		return deliver(ctx, batch)
	}
	if a.Inbox == "" {
		epochs, err := a.local()
		if err != nil {
			return err
		}
		for _, repository := range epochs {
			if _, err := a.take(ctx, repository, begins, &at, give); err != nil {
				return err
			}
		}
		return nil
	}
	return a.mirror(ctx, begins, &at, give)
}

// local finds the epochs in Dir.
func (a *Archive) local() ([]repository, error) {
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", a.Dir, err)
	}
	for _, parent := range []string{filepath.Join(dir, "git"), dir} {
		entries, err := os.ReadDir(parent)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("look for git epochs: %w", err)
		}
		var found []repository
		for _, entry := range entries {
			name, ok := strings.CutSuffix(entry.Name(), ".git")
			number, err := strconv.ParseUint(name, 10, 16)
			if ok && err == nil {
				found = append(found, repository{dir: filepath.Join(parent, entry.Name()), number: int(number)})
			}
		}
		if len(found) > 0 {
			slices.SortFunc(found, func(a, b repository) int { return a.number - b.number })
			return found, nil
		}
	}
	for _, single := range []string{dir, filepath.Join(dir, ".git")} {
		if _, err := os.Stat(filepath.Join(single, "objects")); err == nil {
			return []repository{{dir: single}}, nil
		}
	}
	return nil, fmt.Errorf("%s holds no git epoch", a.Dir)
}

// take delivers what is new in one epoch, and of a mail that the archive got
// before begins nothing. It reports whether the epoch's history was rewritten.
func (a *Archive) take(ctx context.Context, r repository, begins time.Time, at *cursor, give func(context.Context, mail.Batch) error) (rewritten bool, err error) {
	tip, err := r.tip(ctx)
	if err != nil {
		return false, err
	}
	known := at.Epochs[r.number]
	if len(known) == 1 && known[0] == tip {
		return false, nil
	}
	t := &taking{Archive: a, repository: r, begins: begins, at: at, give: give}
	if t.blobs, err = r.blobs(ctx); err != nil {
		return false, err
	}
	defer t.blobs.close()

	range_ := tip
	if len(known) == 1 && r.has(ctx, known[0]) {
		grown, err := r.isAncestor(ctx, known[0], tip)
		if err != nil {
			return false, err
		}
		if grown {
			range_ = known[0] + ".." + tip
		} else {
			rewritten = true
		}
	} else if len(known) > 0 {
		rewritten = true
	}
	if rewritten {
		a.log().WarnContext(ctx, "the history of a git epoch was rewritten: comparing it by its mails",
			"source", a.Name(), "epoch", r.number, "was", known[0], "is", tip)
		if err := t.remember(ctx, known); err != nil {
			return true, err
		}
	}
	if err := r.walk(ctx, range_, func(e entry) error { return t.visit(ctx, e) }); err != nil {
		return rewritten, err
	}
	if t.entries == 0 && range_ == tip {
		return false, fmt.Errorf("%s is no git epoch of a public-inbox (of version 2): no commit has a file m or d", r.dir)
	}
	if err := t.purged(ctx); err != nil {
		return rewritten, err
	}
	at.Epochs[r.number] = []string{tip}
	return rewritten, t.flush(ctx)
}

// taking is one walk through one epoch.
type taking struct {
	*Archive
	repository repository
	blobs      *blobs
	begins     time.Time
	at         *cursor
	give       func(context.Context, mail.Batch) error

	batch   mail.Batch
	size    int
	entries int
	before  []string        // the cursor's commits of a history that was rewritten
	mails   map[string]bool // blobs that were taken of it; true once seen in the new one
	removed map[string]bool // blobs that it took back
}

// remember collects what the commits of a former history held.
func (t *taking) remember(ctx context.Context, known []string) error {
	t.mails, t.removed = map[string]bool{}, map[string]bool{}
	for _, commit := range known {
		if !t.repository.has(ctx, commit) {
			// A mirror that was lost and made again: the store knows what it has.
			t.log().WarnContext(ctx, "the former history of a git epoch is not there: its mails are delivered again",
				"source", t.Name(), "epoch", t.repository.number, "commit", commit)
			continue
		}
		t.before = append(t.before, commit)
		err := t.repository.walk(ctx, commit, func(e entry) error {
			if e.deleted {
				t.removed[e.blob] = true
			} else {
				t.mails[e.blob] = false
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *taking) visit(ctx context.Context, e entry) error {
	t.entries++
	if _, taken := t.mails[e.blob]; !e.deleted && taken {
		t.mails[e.blob] = true
		return nil
	}
	if e.blob == "" || emptyBlob(e.blob) || (e.deleted && t.removed[e.blob]) || e.received.Before(t.begins) {
		return nil
	}
	origin := fmt.Sprintf("%d.git %s", t.repository.number, e.commit)
	raw, err := t.blobs.read(e.blob)
	if errors.Is(err, errMissing) && t.Absent != nil {
		t.Absent(origin)
		return nil
	}
	if err != nil {
		return err
	}
	if raw == nil {
		t.log().WarnContext(ctx, "what should be a mail is none, or far too large", "source", t.Name(), "epoch", t.repository.number, "commit", e.commit)
		return nil
	}
	raw = mail.Canonical(raw)
	if e.deleted {
		// After the batch's mails, of which it may be one.
		t.batch.Deleted = append(t.batch.Deleted, mail.Deletion{Content: mail.SumOf(raw)})
	} else {
		if len(t.batch.Deleted) > 0 { // a mail that was taken back may come again
			if err := t.flush(ctx); err != nil {
				return err
			}
		}
		t.batch.Messages = append(t.batch.Messages, mail.Raw{
			Bytes: raw, Received: e.received, Origin: origin})
		t.size += len(raw)
	}
	t.at.Epochs[t.repository.number] = append([]string{e.commit}, t.before...)
	limit := t.Batch
	if limit == 0 {
		limit = 200
	}
	if len(t.batch.Messages)+len(t.batch.Deleted) >= limit || t.size >= batchBytes {
		return t.flush(ctx)
	}
	return nil
}

// purged delivers what the former history held and the new one does not.
func (t *taking) purged(ctx context.Context) error {
	var gone []string
	for blob, still := range t.mails {
		if !still && !emptyBlob(blob) {
			gone = append(gone, blob)
		}
	}
	slices.Sort(gone)
	for _, blob := range gone {
		raw, err := t.blobs.read(blob)
		if errors.Is(err, errMissing) {
			continue
		}
		if err != nil {
			return err
		}
		if raw != nil {
			t.batch.Deleted = append(t.batch.Deleted, mail.Deletion{Content: mail.SumOf(mail.Canonical(raw)), Purged: true})
		}
	}
	return nil
}

func (t *taking) flush(ctx context.Context) error {
	batch := t.batch
	t.batch, t.size = mail.Batch{}, 0
	return t.give(ctx, batch)
}

func (a *Archive) log() *slog.Logger {
	if a.Log != nil {
		return a.Log
	}
	return slog.Default()
}
