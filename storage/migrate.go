package storage

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
)

// Migrations are numbered from 1 without a gap, 0001_mail.sql (a test
// holds that). A released one is
// never changed, only followed by another.
//
//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema up to date, all of it or nothing.
func (db *DB) migrate(ctx context.Context) error {
	files, err := fs.Glob(migrations, "migrations/*.sql") // sorted
	if err != nil {
		return fmt.Errorf("list migrations: %w", err)
	}
	return db.in(ctx, func(tx *sql.Tx) error {
		if db.dialect.migrating != "" {
			if _, err := tx.ExecContext(ctx, db.dialect.migrating); err != nil {
				return fmt.Errorf("lock for migration: %w", err)
			}
		}
		_, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS migrations (version BIGINT NOT NULL PRIMARY KEY, at BIGINT NOT NULL)`)
		if err != nil {
			return fmt.Errorf("make the table of migrations: %w", err)
		}
		var done int
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM migrations`).Scan(&done); err != nil {
			return fmt.Errorf("read the schema's version: %w", err)
		}
		if done > len(files) {
			return fmt.Errorf("its schema has version %d, this uabot knows up to %d: it is older than the one that wrote it", done, len(files))
		}
		for i, file := range files[done:] {
			version := done + i + 1
			text, err := migrations.ReadFile(file)
			if err != nil {
				return fmt.Errorf("migration: %w", err)
			}
			if _, err := tx.ExecContext(ctx, db.dialect.types.Replace(string(text))); err != nil {
				return fmt.Errorf("migration %s: %w", file, err)
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO migrations (version, at) VALUES ($1, $2)`, version, db.now().Unix()); err != nil {
				return fmt.Errorf("migration %s: write down that it is done: %w", file, err)
			}
		}
		return nil
	})
}
