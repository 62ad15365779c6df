package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"uabot/mail"
	"uabot/storage"
)

var pollCommand = command{
	name:  "poll",
	args:  "--once",
	short: "take new mail from the configured sources, say what is to be reviewed",
	long: `
Asks every [[source]] of the configuration for what came since it was asked last,
stores the mails with the place to go on from, and lists the series about user
access that are new or changed. A source that fails is named; the others are asked
all the same, and the next call goes on where this one ended.

Exit code: 0 all sources answered, 2 one did not.`,
	run: runPoll,
}

func runPoll(f *flag.FlagSet) func(context.Context, *program, []string) int {
	once := f.Bool("once", false, "ask each source once")
	asJSON := f.Bool("json", false, "print one JSON object for each series, and one with counts")
	return func(ctx context.Context, p *program, args []string) int {
		switch {
		case len(args) > 0:
			return p.trouble(errors.New("poll takes no argument"))
		case !*once:
			return p.trouble(errors.New("poll needs --once: it does not go on by itself"))
		case len(p.config.Sources) == 0:
			return p.trouble(fmt.Errorf("there is no [[source]] in the configuration (%s)", cmp.Or(p.config.File, "no file")))
		}
		code, err := p.poll(ctx, *asJSON)
		if err != nil {
			return p.trouble(err)
		}
		return code
	}
}

func (p *program) poll(ctx context.Context, asJSON bool) (code int, err error) {
	if !strings.Contains(p.config.Database, "://") {
		if err := os.MkdirAll(filepath.Dir(p.config.Database), 0o700); err != nil {
			return 0, fmt.Errorf("making a place for the database: %w", err)
		}
	}
	db, err := storage.Open(ctx, p.config.Database)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	l, err := p.listing()
	if err != nil {
		return 0, err
	}
	var first int64 // the oldest mail that is new
	client := p.client()
	for _, s := range p.config.Sources {
		source, err := p.source(s, client)
		if err != nil {
			return 0, err
		}
		cursor, err := db.Cursor(ctx, source.Name())
		if err != nil {
			return 0, err
		}
		err = source.Pull(ctx, cursor, func(ctx context.Context, b mail.Batch) error {
			numbers, err := db.Take(ctx, source.Name(), b)
			if err != nil {
				return err
			}
			l.mails += len(numbers)
			if len(numbers) > 0 && (first == 0 || numbers[0] < first) {
				first = numbers[0]
			}
			return nil
		})
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(p.stderr, "uabot: %s: %v\n", source.Name(), err)
			code = exitTrouble
		}
	}
	if first > 0 {
		if err := p.assembleStored(ctx, db, first, l); err != nil {
			return 0, err
		}
	}
	return code, l.print(p.stdout, asJSON)
}

// assembleStored lists the series that mails from number first on belong to. Older
// mails are assembled too, since a series may have begun with them.
func (p *program) assembleStored(ctx context.Context, db *storage.DB, first int64, l *listing) error {
	a := p.assembler(func(ref mail.Ref) ([]byte, error) {
		list, err := db.MessagesByID(ctx, ref.ID)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			if m.Content == ref.Sum {
				return m.Raw, nil
			}
		}
		return nil, fmt.Errorf("mail %s is not in the database any more", ref.ID)
	})
	const page = 500
	older := true
	for number := int64(0); ; {
		list, err := db.MessagesAfter(ctx, number, page)
		if err != nil {
			return err
		}
		for _, stored := range list {
			number = stored.Number
			if older && number >= first {
				older = false
				if _, err := a.Flush(); err != nil { // known already
					return err
				}
				a.Changes()
			}
			if stored.Deleted {
				continue
			}
			m, err := mail.Parse(stored.Raw)
			if err != nil {
				if !older {
					l.unparsed = append(l.unparsed, fmt.Sprintf("number %d (%v)", number, err))
				}
				continue
			}
			at := stored.Received
			if at.IsZero() {
				at = m.Arrived()
			}
			a.Add(m, at)
		}
		if len(list) < page {
			break
		}
	}
	series, err := a.Ready(time.Now())
	if err != nil {
		return err
	}
	l.add(series)
	l.change(a.Changes())
	return nil
}
