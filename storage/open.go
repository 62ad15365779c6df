// Package storage keeps what the bot knows in a database: SQLite in a file beside
// it, or PostgreSQL when one machine is outgrown.
//
// Mails go in as a source delivers them and are kept by content, compressed; they
// come out by number, in the order they were taken, or by Message-ID.
//
// An exported method opens the transaction it needs; the unexported one that does
// the work takes it, so that several can share one.
//
// Traps of SQLite: without _txlock=immediate two transactions that read and then
// write fail with SQLITE_BUSY at once, whatever busy_timeout says; without WAL
// readers block writers. Both are set by Open.
package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// ErrNotFound is wrapped by errors that say that what was asked for is not stored.
var ErrNotFound = errors.New("not in the database")

// DB is an open database. Its methods may be called by several goroutines.
type DB struct {
	sql     *sql.DB
	dialect dialect
	now     func() time.Time
}

// Open opens the database that dsn names and brings its schema up to date. dsn is
// the path of a SQLite file, made when it is not there, or the address of a
// PostgreSQL database, postgres://….
func Open(ctx context.Context, dsn string) (*DB, error) {
	dialect, source, err := parseDSN(dsn)
	if err != nil {
		return nil, err
	}
	pool, err := sql.Open(dialect.driver, source)
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", redacted(dsn), err)
	}
	db := &DB{sql: pool, dialect: dialect, now: time.Now}
	if err := db.migrate(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("database %s: %w", redacted(dsn), err)
	}
	return db, nil
}

// Close closes the database.
func (db *DB) Close() error { return db.sql.Close() }

func parseDSN(dsn string) (dialect, string, error) {
	switch scheme, _, ok := strings.Cut(dsn, "://"); {
	case dsn == "":
		return dialect{}, "", errors.New("database: no name is given")
	case scheme == "postgres" || scheme == "postgresql":
		return postgres, dsn, nil
	case ok:
		return dialect{}, "", fmt.Errorf("database: %q is no kind of database that is known", scheme)
	}
	// A path may hold any byte that is special in a URI.
	options := url.Values{
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(20000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"},
	}
	uri := url.URL{Scheme: "file", Opaque: (&url.URL{Path: dsn}).EscapedPath(), RawQuery: options.Encode()}
	return sqlite, uri.String(), nil
}

// redacted is dsn without a password, for errors and logs.
func redacted(dsn string) string {
	if u, err := url.Parse(dsn); err == nil && u.Host != "" {
		u.RawQuery = "" // where it may be too
		return u.Redacted()
	}
	return dsn
}

// in runs do in a transaction, which is kept when do returns nil.
func (db *DB) in(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := db.sql.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	defer tx.Rollback() // of no effect once it is committed
	if err := do(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}
