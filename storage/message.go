package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/klauspost/compress/zstd"

	"uabot/mail"
)

// Message is a stored mail.
type Message struct {
	Number   int64 // grows in the order that mails were taken
	Content  mail.Sum
	Raw      []byte // empty when Purged
	Size     int    // of Raw, as it was taken
	Received time.Time
	Deleted  bool // a source took it back
	Purged   bool // and from its history too: the raw bytes are gone here as well
}

// One encoder and decoder for all: EncodeAll and DecodeAll may be called by
// several goroutines, and a new one would cost more than a mail.
var (
	encoder, _ = zstd.NewWriter(nil, zstd.WithZeroFrames(true)) // so that only a purged mail has no bytes
	decoder, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(1<<30))
)

// take stores the mails, deletions and cursor of one batch, and returns the
// numbers of the mails that were not there before.
func (db *DB) take(ctx context.Context, tx *sql.Tx, source string, batch mail.Batch) ([]int64, error) {
	if db.dialect.taking != "" {
		if _, err := tx.ExecContext(ctx, db.dialect.taking); err != nil {
			return nil, fmt.Errorf("wait to store mails of %s: %w", source, err)
		}
	}
	var fresh []int64
	for _, raw := range batch.Messages {
		number, isNew, err := db.takeMessage(ctx, tx, source, raw)
		if err != nil {
			return nil, fmt.Errorf("store mail %s of %s: %w", raw.Origin, source, err)
		}
		if isNew {
			fresh = append(fresh, number)
		}
	}
	for _, deletion := range batch.Deleted {
		if err := db.takeDeletion(ctx, tx, source, deletion); err != nil {
			return nil, fmt.Errorf("store a deletion by %s: %w", source, err)
		}
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO cursors (source, cursor, at) VALUES ($1, $2, $3)
		ON CONFLICT (source) DO UPDATE SET cursor = excluded.cursor, at = excluded.at`,
		source, batch.Cursor, db.now().Unix())
	if err != nil {
		return nil, fmt.Errorf("store the cursor of %s: %w", source, err)
	}
	return fresh, nil
}

// takeMessage stores one mail. A content that is there already gets another
// sighting; one that this source had taken back is there again.
func (db *DB) takeMessage(ctx context.Context, tx *sql.Tx, source string, raw mail.Raw) (number int64, isNew bool, err error) {
	sum := mail.SumOf(raw.Bytes)
	var kept int
	err = tx.QueryRowContext(ctx, `SELECT id, length(raw) FROM messages WHERE content = $1`, sum[:]).Scan(&number, &kept)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		isNew = true
		err = tx.QueryRowContext(ctx, `INSERT INTO messages (content, raw, size, received, taken) VALUES ($1, $2, $3, $4, $5) RETURNING id`,
			sum[:], encoder.EncodeAll(raw.Bytes, nil), len(raw.Bytes), unix(raw.Received), db.now().Unix()).Scan(&number)
		if err != nil {
			return 0, false, err
		}
		for _, id := range mail.MessageIDs(raw.Bytes) {
			if _, err := tx.ExecContext(ctx, `INSERT INTO message_ids (message_id, message) VALUES ($1, $2)`, text(id), number); err != nil {
				return 0, false, err
			}
		}
	case err != nil:
		return 0, false, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO sightings (message, source, origin) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		number, source, text(raw.Origin))
	if err != nil {
		return 0, false, err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM deletions WHERE content = $1 AND source = $2`, sum[:], source); err != nil {
		return 0, false, err
	}
	if !isNew && kept == 0 { // it was purged
		_, err := tx.ExecContext(ctx, `UPDATE messages SET raw = $1 WHERE id = $2 AND NOT EXISTS
			(SELECT 1 FROM deletions WHERE deletions.content = messages.content AND purged)`,
			encoder.EncodeAll(raw.Bytes, nil), number)
		if err != nil {
			return 0, false, err
		}
	}
	return number, isNew, nil
}

func (db *DB) takeDeletion(ctx context.Context, tx *sql.Tx, source string, deletion mail.Deletion) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO deletions (content, source, purged, at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (content, source) DO UPDATE SET purged = excluded.purged, at = excluded.at`,
		deletion.Content[:], source, deletion.Purged, db.now().Unix())
	if err != nil || !deletion.Purged {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE messages SET raw = $1 WHERE content = $2`, []byte{}, deletion.Content[:])
	return err
}

const selectMessage = `SELECT id, content, raw, size, received,
	EXISTS (SELECT 1 FROM deletions WHERE deletions.content = messages.content),
	EXISTS (SELECT 1 FROM deletions WHERE deletions.content = messages.content AND purged)
	FROM messages `

// Message returns the mail with that number; ErrNotFound.
func (db *DB) Message(ctx context.Context, number int64) (Message, error) {
	found, err := db.messages(ctx, selectMessage+`WHERE id = $1`, number)
	if err != nil {
		return Message{}, fmt.Errorf("read mail %d: %w", number, err)
	}
	if len(found) == 0 {
		return Message{}, fmt.Errorf("mail %d: %w", number, ErrNotFound)
	}
	return found[0], nil
}

// MessagesByID returns all mails that have that Message-ID (without angle
// brackets), deleted ones too, in the order they were taken.
func (db *DB) MessagesByID(ctx context.Context, messageID string) ([]Message, error) {
	found, err := db.messages(ctx, selectMessage+`WHERE id IN (SELECT message FROM message_ids WHERE message_id = $1) ORDER BY id`, text(messageID))
	if err != nil {
		return nil, fmt.Errorf("read mails with the id <%s>: %w", messageID, err)
	}
	return found, nil
}

// MessagesAfter returns up to limit mails whose number is above number, deleted
// ones too, in the order they were taken.
func (db *DB) MessagesAfter(ctx context.Context, number int64, limit int) ([]Message, error) {
	found, err := db.messages(ctx, selectMessage+`WHERE id > $1 ORDER BY id LIMIT $2`, number, limit)
	if err != nil {
		return nil, fmt.Errorf("read mails after %d: %w", number, err)
	}
	return found, nil
}

func (db *DB) messages(ctx context.Context, query string, args ...any) ([]Message, error) {
	rows, err := db.sql.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []Message
	for rows.Next() {
		var m Message
		var content, compressed []byte
		var received int64
		if err := rows.Scan(&m.Number, &content, &compressed, &m.Size, &received, &m.Deleted, &m.Purged); err != nil {
			return nil, err
		}
		copy(m.Content[:], content)
		m.Received = fromUnix(received)
		if m.Raw, err = decoder.DecodeAll(compressed, nil); err != nil {
			return nil, fmt.Errorf("mail %d: decompress: %w", m.Number, err)
		}
		if !m.Purged && mail.SumOf(m.Raw) != m.Content {
			return nil, fmt.Errorf("mail %d: its bytes are not those that were stored", m.Number)
		}
		found = append(found, m)
	}
	return found, rows.Err()
}
