package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"uabot/mail"
	"uabot/mail/lore/epoch"
	"uabot/mail/mbox"
)

var replayCommand = command{
	name:  "replay",
	args:  "SOURCE",
	short: "what would have been reviewed of an archive, without doing it",
	long: `
Reads every mail of SOURCE, assembles the series and says which of them are about
user access, and why. SOURCE is an mbox file, a maildir, "-" for standard input, or
a local public-inbox: its directory, or one of its git epochs.

For a reader there is a line for each relevant series; with --json an object for
every series, and a last one with the counts of mails, series and mails that could
not be parsed.

Exit code: 0 when all was read, 2 when SOURCE could not be.`,
	run: runReplay,
}

func runReplay(f *flag.FlagSet) func(context.Context, *program, []string) int {
	asJSON := f.Bool("json", false, "print one JSON object for each series, and one with counts")
	since := f.String("since", "", "only mails that came on `DAY` (2026-01-31) or later")
	until := f.String("until", "", "only mails that came before `DAY`")
	return func(ctx context.Context, p *program, args []string) int {
		if len(args) != 1 {
			return p.trouble(fmt.Errorf("replay takes one SOURCE, not %d", len(args)))
		}
		from, err := day("since", *since)
		if err != nil {
			return p.trouble(err)
		}
		to, err := day("until", *until)
		if err != nil {
			return p.trouble(err)
		}
		l, err := p.replay(ctx, args[0], from, to)
		if err == nil {
			err = l.print(p.stdout, *asJSON)
		}
		if err != nil {
			return p.trouble(err)
		}
		return exitClean
	}
}

// day reads the value of a flag, a day in UTC; zero when it is empty.
func day(name, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, value)
	if err != nil {
		return t, fmt.Errorf("--%s takes a day as 2026-01-31, not %q", name, value)
	}
	return t, nil
}

// replay assembles the mails of source that came in a time.
func (p *program) replay(ctx context.Context, source string, from, to time.Time) (*listing, error) {
	l, err := p.listing()
	if err != nil {
		return nil, err
	}
	spool, err := newSpool()
	if err != nil {
		return nil, err
	}
	defer spool.close()
	a := p.assembler(spool.load)
	n := 0
	absent := func(origin string) {
		l.unparsed = append(l.unparsed, origin+" (its content is not in the repository)")
	}
	for raw, err := range p.rawMails(ctx, source, absent) {
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", source, err)
		}
		n++
		m, err := mail.Parse(raw.Bytes)
		if err != nil {
			name := raw.Origin
			if name == "" {
				name = fmt.Sprintf("mail %d", n)
			}
			l.mails++
			l.unparsed = append(l.unparsed, fmt.Sprintf("%s (%v)", name, err))
			continue
		}
		at := raw.Received
		if at.IsZero() {
			at = m.Arrived()
		}
		if !from.IsZero() && at.Before(from) || !to.IsZero() && !at.Before(to) {
			continue
		}
		l.mails++
		if err := spool.keep(m); err != nil {
			return nil, err
		}
		a.Add(m, at)
		if n%256 == 0 {
			series, err := a.Ready(at)
			if err != nil {
				return nil, err
			}
			l.add(series)
			l.change(a.Changes())
		}
	}
	series, err := a.Flush()
	if err != nil {
		return nil, err
	}
	l.add(series)
	l.change(a.Changes())
	return l, nil
}

// rawMails reads a local source from its beginning to its end. absent is told of mails
// that a partial copy of an archive does not have.
func (p *program) rawMails(ctx context.Context, source string, absent func(string)) iter.Seq2[mail.Raw, error] {
	return func(yield func(mail.Raw, error) bool) {
		if isInbox(source) {
			stop := errors.New("stop")
			archive := &epoch.Archive{Dir: source, Absent: absent}
			err := archive.Pull(ctx, "", func(_ context.Context, b mail.Batch) error {
				for _, raw := range b.Messages {
					if !yield(raw, nil) {
						return stop
					}
				}
				return nil
			})
			if err != nil && !errors.Is(err, stop) {
				yield(mail.Raw{}, err)
			}
			return
		}
		mails := mbox.Open(source)
		if source == "-" {
			mails = mbox.Read(p.stdin)
		}
		for raw, err := range mails {
			if err == nil {
				err = ctx.Err()
			}
			if !yield(mail.Raw{Bytes: raw}, err) || err != nil {
				return
			}
		}
	}
}

// isInbox reports whether a directory is a public-inbox or one of its epochs, and
// no maildir.
func isInbox(dir string) bool {
	for _, sign := range []string{"objects", ".git", "0.git", "git/0.git", "all.git"} {
		if info, err := os.Stat(filepath.Join(dir, sign)); err == nil && info.IsDir() {
			return true
		}
	}
	epochs, _ := filepath.Glob(filepath.Join(dir, "[0-9]*.git"))
	return len(epochs) > 0 || strings.HasSuffix(dir, ".git")
}

// spool keeps mails in a file that has no name, so that an assembler can let them go
// and have them back.
type spool struct {
	file *os.File
	size int64
	at   map[mail.Sum]span
}

type span struct {
	offset int64
	length int
}

func newSpool() (*spool, error) {
	file, err := os.CreateTemp("", "uabot-spool-")
	if err != nil {
		return nil, fmt.Errorf("making a spool file: %w", err)
	}
	os.Remove(file.Name()) // the open file stays until it is closed
	return &spool{file: file, at: map[mail.Sum]span{}}, nil
}

func (s *spool) close() { s.file.Close() }

// keep stores a mail that may be a part of a series. Replies are never asked for.
func (s *spool) keep(m *mail.Message) error {
	sum := mail.SumOf(m.Raw)
	if _, ok := s.at[sum]; ok {
		return nil
	}
	if _, err := s.file.WriteAt(m.Raw, s.size); err != nil {
		return fmt.Errorf("writing the spool file: %w", err)
	}
	s.at[sum] = span{s.size, len(m.Raw)}
	s.size += int64(len(m.Raw))
	return nil
}

func (s *spool) load(ref mail.Ref) ([]byte, error) {
	at, ok := s.at[ref.Sum]
	if !ok {
		return nil, fmt.Errorf("the spool file has no mail %s", ref.ID)
	}
	raw := make([]byte, at.length)
	if _, err := s.file.ReadAt(raw, at.offset); err != nil {
		return nil, fmt.Errorf("reading the spool file: %w", err)
	}
	return raw, nil
}
