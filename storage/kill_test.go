package storage

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"uabot/mail"
)

// TestMain is also the program that TestKilled kills.
func TestMain(m *testing.M) {
	if dsn := os.Getenv("UABOT_TEST_TAKE_FOREVER"); dsn != "" {
		takeForever(dsn)
	}
	os.Exit(m.Run())
}

// takeForever takes mails 1, 2, 3 …, three in a batch, its cursor the last number.
func takeForever(dsn string) {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ctx := context.Background()
	db, err := Open(ctx, dsn)
	if err != nil {
		fail(err)
	}
	cursor, err := db.Cursor(ctx, "list")
	if err != nil {
		fail(err)
	}
	n, _ := strconv.Atoi(cursor) // "" is 0
	for {
		var batch mail.Batch
		for range 3 {
			n++
			batch.Messages = append(batch.Messages, raw(fmt.Sprintf("%d@x", n), strings.Repeat("text ", 1000)))
		}
		batch.Cursor = strconv.Itoa(n)
		fresh, err := db.Take(ctx, "list", batch)
		if err != nil {
			fail(err)
		}
		if len(fresh) != 3 {
			fail(fmt.Errorf("of the batch up to %d only %d are new", n, len(fresh)))
		}
		fmt.Println(n)
	}
}

// Killed at any moment, no mail is lost and none taken twice.
func TestKilled(t *testing.T) {
	dsn := filepath.Join(t.TempDir(), "db")
	for i := range 12 {
		program := exec.Command(os.Args[0])
		program.Env = append(os.Environ(), "UABOT_TEST_TAKE_FOREVER="+dsn)
		var stderr strings.Builder
		program.Stderr = &stderr
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(60+i*7) * time.Millisecond)
		program.Process.Kill() // an error says that it has ended, and why is in stderr
		program.Wait()
		if stderr.Len() > 0 {
			t.Fatalf("start %d: %s", i, stderr.String())
		}
	}
	db := open(t, dsn)
	cursor, err := db.Cursor(t.Context(), "list")
	if err != nil {
		t.Fatal(err)
	}
	last, err := strconv.Atoi(cursor)
	if err != nil || last < 12 {
		t.Fatalf("the cursor is %q", cursor)
	}
	all, err := db.MessagesAfter(t.Context(), 0, 10*last)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != last {
		t.Errorf("%d mails, but the cursor stands behind the %dth", len(all), last)
	}
	for i, m := range all {
		if ids := mail.MessageIDs(m.Raw); len(ids) != 1 || ids[0] != fmt.Sprintf("%d@x", i+1) {
			t.Fatalf("the %dth mail is %v", i+1, ids)
		}
	}
	t.Logf("%d mails, 12 times killed", last)
}
