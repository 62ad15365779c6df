package storage

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"uabot/internal/testserver"
	"uabot/mail"
)

// The suite runs on a fresh database of every kind.
var suite = map[string]func(t *testing.T, dsn string){
	"take":           testTake,
	"take odd mails": testTakeOdd,
	"deletions":      testDeletions,
	"take is atomic": testTakeIsAtomic,
	"concurrent":     testConcurrent,
	"migrate once":   testMigrateOnce,
}

func TestSQLite(t *testing.T) {
	for name, test := range suite {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, filepath.Join(t.TempDir(), "a ?#%41&name.db"))
		})
	}
}

func TestPostgreSQL(t *testing.T) {
	server := testserver.PostgreSQL(t)
	admin, err := sql.Open("pgx", server)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	count := 0
	for name, test := range suite {
		t.Run(name, func(t *testing.T) {
			count++
			database := fmt.Sprint("test", count)
			if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE "+database); err != nil {
				t.Fatal(err)
			}
			test(t, strings.Replace(server, "/postgres?", "/"+database+"?", 1))
		})
	}
}

func open(t *testing.T, dsn string) *DB {
	t.Helper()
	db, err := Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func raw(id, body string) mail.Raw {
	return mail.Raw{Bytes: fmt.Appendf(nil, "Message-ID: <%s>\n\n%s", id, body), Received: time.Unix(1700000000, 0), Origin: "test " + id}
}

func take(t *testing.T, db *DB, source, cursor string, mails ...mail.Raw) []int64 {
	t.Helper()
	fresh, err := db.Take(t.Context(), source, mail.Batch{Messages: mails, Cursor: cursor})
	if err != nil {
		t.Fatal(err)
	}
	return fresh
}

func testTake(t *testing.T, dsn string) {
	db := open(t, dsn)
	if cursor, err := db.Cursor(t.Context(), "list"); cursor != "" || err != nil {
		t.Fatalf("cursor at the beginning: %q, %v", cursor, err)
	}
	a, b := raw("a@x", "first\n"), raw("b@x", "\x00\xff not text, "+strings.Repeat("long ", 1000))
	if fresh := take(t, db, "list", "c1", a, b); len(fresh) != 2 {
		t.Fatalf("%d fresh mails, want 2", len(fresh))
	}
	// The same again, as after a crash or through another list, is not new.
	if fresh := take(t, db, "list", "c2", b); len(fresh) != 0 {
		t.Errorf("a mail was new twice: %v", fresh)
	}
	if fresh := take(t, db, "mailbox", "7", a); len(fresh) != 0 {
		t.Errorf("a mail was new through a second source: %v", fresh)
	}
	// The same id with other content is.
	if fresh := take(t, db, "list", "c3", raw("a@x", "second\n")); len(fresh) != 1 {
		t.Errorf("other content under a known id: %d fresh mails, want 1", len(fresh))
	}
	db.Close()

	db = open(t, dsn) // a restart
	cursor, err := db.Cursor(t.Context(), "list")
	if cursor != "c3" || err != nil {
		t.Errorf("cursor %q, %v, want c3", cursor, err)
	}
	found, err := db.MessagesByID(t.Context(), "a@x")
	if err != nil || len(found) != 2 {
		t.Fatalf("%d mails have the id a@x, %v, want 2", len(found), err)
	}
	if !bytes.Equal(found[0].Raw, a.Bytes) || !found[0].Received.Equal(a.Received) || found[0].Size != len(a.Bytes) {
		t.Errorf("stored %+v, want %q of %v", found[0], a.Bytes, a.Received)
	}
	sources, err := db.Sources(t.Context(), found[0].Number)
	if err != nil || !slices.Equal(sources, []string{"list", "mailbox"}) {
		t.Errorf("sources %v, %v", sources, err)
	}
	all, err := db.MessagesAfter(t.Context(), 0, 10)
	if err != nil || len(all) != 3 {
		t.Fatalf("%d mails in all, %v, want 3", len(all), err)
	}
	if !bytes.Equal(all[1].Raw, b.Bytes) {
		t.Errorf("the second mail is %.40q", all[1].Raw)
	}
	rest, err := db.MessagesAfter(t.Context(), all[0].Number, 1)
	if err != nil || len(rest) != 1 || rest[0].Number != all[1].Number {
		t.Errorf("after the first: %v, %v", rest, err)
	}
	if _, err := db.Message(t.Context(), 12345); !errors.Is(err, ErrNotFound) {
		t.Errorf("a mail that is not there: %v", err)
	}
}

// A mail that is empty, or has no id, or one that no text column takes, is kept.
func testTakeOdd(t *testing.T, dsn string) {
	db := open(t, dsn)
	odd := []mail.Raw{
		{},
		{Bytes: []byte("no header at all")},
		{Bytes: []byte("Message-ID: <\xff\x00@x>\n\n"), Origin: "\xfe\x00"},
	}
	if fresh := take(t, db, "list", "\u00e4", odd...); len(fresh) != len(odd) {
		t.Fatalf("%d of %d were kept", len(fresh), len(odd))
	}
	for _, m := range odd {
		if fresh := take(t, db, "list", "2", m); len(fresh) != 0 {
			t.Errorf("%q was new twice", m.Bytes)
		}
	}
	all, err := db.MessagesAfter(t.Context(), 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range all {
		if !bytes.Equal(m.Raw, odd[i].Bytes) || m.Purged {
			t.Errorf("kept %q, want %q", m.Raw, odd[i].Bytes)
		}
	}
	if found, err := db.MessagesByID(t.Context(), "\xff\x00@x"); err != nil || len(found) != 1 {
		t.Errorf("by an id that is not text: %d, %v", len(found), err)
	}
}

func testDeletions(t *testing.T, dsn string) {
	db := open(t, dsn)
	a, b := raw("a@x", "1"), raw("a@x", "2")
	take(t, db, "list", "1", a, b)
	remove := func(source string, purged bool, m mail.Raw) {
		t.Helper()
		batch := mail.Batch{Deleted: []mail.Deletion{{Content: mail.SumOf(m.Bytes), Purged: purged}}, Cursor: "2"}
		if _, err := db.Take(t.Context(), source, batch); err != nil {
			t.Fatal(err)
		}
	}
	want := func(when string, deleted, purged bool) {
		t.Helper()
		found, err := db.MessagesByID(t.Context(), "a@x")
		if err != nil || len(found) != 2 {
			t.Fatalf("%s: %d mails, %v", when, len(found), err)
		}
		if found[0].Deleted != deleted || found[0].Purged != purged || (len(found[0].Raw) == 0) != purged {
			t.Errorf("%s: deleted %v, purged %v, %d bytes", when, found[0].Deleted, found[0].Purged, len(found[0].Raw))
		}
		if found[1].Deleted || len(found[1].Raw) == 0 {
			t.Errorf("%s: the other content under that id went too", when)
		}
	}
	remove("list", false, raw("never@x", "taken"))
	want("before", false, false)
	remove("list", false, a)
	want("removed", true, false)
	take(t, db, "mailbox", "1", a) // does not undo what the list decided
	want("removed, seen elsewhere", true, false)
	take(t, db, "list", "3", a)
	want("added again", false, false)
	remove("list", true, a)
	want("purged", true, true)
	take(t, db, "mailbox", "2", a)
	want("purged, seen elsewhere", true, true)
	take(t, db, "list", "4", a)
	want("purged, added again", false, false)
}

// When a batch cannot be stored as a whole nothing of it is, the cursor least of all.
func testTakeIsAtomic(t *testing.T, dsn string) {
	db := open(t, dsn)
	take(t, db, "list", "before")
	ctx, cancel := context.WithCancel(t.Context())
	err := db.in(ctx, func(tx *sql.Tx) error {
		if _, err := db.take(ctx, tx, "list", mail.Batch{Messages: []mail.Raw{raw("a@x", "")}, Cursor: "after"}); err != nil {
			t.Fatal(err)
		}
		cancel() // the program is told to stop
		return nil
	})
	if err == nil {
		t.Fatal("a transaction was kept though its context had ended")
	}
	if cursor, err := db.Cursor(t.Context(), "list"); cursor != "before" || err != nil {
		t.Errorf("cursor %q, %v, want before", cursor, err)
	}
	if all, err := db.MessagesAfter(t.Context(), 0, 10); len(all) != 0 || err != nil {
		t.Errorf("%d mails, %v, want none", len(all), err)
	}
}

// Several sources write while others read: nobody gets "database is locked", and
// a reader that follows the numbers sees every mail.
func testConcurrent(t *testing.T, dsn string) {
	db := open(t, dsn)
	const writers, mails = 4, 40
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			source := fmt.Sprint("list", w)
			for i := range mails {
				_, err := db.Take(context.Background(), source, mail.Batch{Messages: []mail.Raw{raw(fmt.Sprintf("%d-%d@x", w, i), "")}, Cursor: fmt.Sprint(i)})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()
	seen, last := 0, int64(0)
	for finished := false; ; {
		found, err := db.MessagesAfter(t.Context(), last, 7)
		if err != nil {
			t.Fatal(err)
		}
		seen += len(found)
		if len(found) > 0 {
			last = found[len(found)-1].Number
		} else if finished {
			break
		} else {
			select {
			case <-done:
				finished = true
			case <-time.After(time.Millisecond):
			}
		}
	}
	if seen != writers*mails {
		t.Errorf("a reader that follows saw %d mails, want %d", seen, writers*mails)
	}
}

func testMigrateOnce(t *testing.T, dsn string) {
	var opening sync.WaitGroup
	for range 4 {
		opening.Go(func() {
			db, err := Open(context.Background(), dsn)
			if err != nil {
				t.Error(err)
				return
			}
			db.Close()
		})
	}
	opening.Wait()
	db := open(t, dsn)
	take(t, db, "list", "kept")
	if _, err := db.sql.ExecContext(t.Context(), `INSERT INTO migrations (version, at) VALUES (9999, 0)`); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), dsn); err == nil || !strings.Contains(err.Error(), "older than the one that wrote it") {
		t.Errorf("a database of a newer program was opened: %v", err)
	}
}

func TestMigrationsAreNumbered(t *testing.T) {
	entries, err := os.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	for i, entry := range entries {
		if want := fmt.Sprintf("%04d_", i+1); !strings.HasPrefix(entry.Name(), want) {
			t.Errorf("migration %s comes where %s… should", entry.Name(), want)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	for dsn, want := range map[string]string{
		"": "no name",
		"postgres://u:secret@127.0.0.1:1/db?password=secret": "postgres://u:xxxxx@127.0.0.1:1/db",
		"mysql://u:secret@h/db":                              "mysql",
		filepath.Join("no", "such", "dir", "x.db"):           "no/such/dir",
	} {
		_, err := Open(t.Context(), dsn)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("Open(%q): %v, want one that says %q", dsn, err, want)
		}
	}
}
