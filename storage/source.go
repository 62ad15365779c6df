package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"uabot/mail"
)

// Take stores a batch of a source: its mails, its deletions and its cursor, all or
// nothing. It returns the numbers of the mails that no source had brought before.
func (db *DB) Take(ctx context.Context, source string, batch mail.Batch) ([]int64, error) {
	var fresh []int64
	err := db.in(ctx, func(tx *sql.Tx) (err error) {
		fresh, err = db.take(ctx, tx, source, batch)
		return err
	})
	if err != nil {
		return nil, err
	}
	return fresh, nil
}

// Cursor returns where to go on with a source: "" at the beginning.
func (db *DB) Cursor(ctx context.Context, source string) (string, error) {
	var cursor string
	err := db.sql.QueryRowContext(ctx, `SELECT cursor FROM cursors WHERE source = $1`, source).Scan(&cursor)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read the cursor of %s: %w", source, err)
	}
	return cursor, nil
}

// Sources returns the names of the sources that brought the mail with that number.
func (db *DB) Sources(ctx context.Context, number int64) ([]string, error) {
	rows, err := db.sql.QueryContext(ctx, `SELECT source FROM sightings WHERE message = $1 ORDER BY source`, number)
	if err != nil {
		return nil, fmt.Errorf("read the sources of mail %d: %w", number, err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("read the sources of mail %d: %w", number, err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the sources of mail %d: %w", number, err)
	}
	return names, nil
}

// text makes foreign bytes fit for a text column, which in PostgreSQL takes
// neither a NUL nor what is not UTF-8. Raw mails are not stored as text.
func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func fromUnix(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
