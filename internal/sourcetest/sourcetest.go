// Package sourcetest is what every mail.Source has to pass, with the real server
// behind it: no mail is lost and none is taken twice, whatever breaks off when.
package sourcetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"uabot/internal/testserver"
	"uabot/mail"
	"uabot/storage"
)

// Setup is one server, empty at first, and the source that takes its mails.
type Setup struct {
	// Add brings mails to the server; it returns when a Pull has to see them.
	Add func(t testing.TB, raw ...[]byte)
	// Source makes the source as after a restart of the program. It is to give up
	// on a server that is silent for patience, and to deliver few mails in a batch.
	Source func(t testing.TB, patience time.Duration) mail.Source
	// Proxy stands between them. Nil when there is no network.
	Proxy *testserver.Proxy
	// Stop and Start end the server and start it again. Nil when there is none.
	Stop, Start func(t testing.TB)
	// Unordered: the source cannot say in what order mails came (a search).
	Unordered bool
	// Alters: the server gives each mail an id of its own when it has none, or one
	// that was there already with other content.
	Alters bool
	// Step is how many bytes more each try of an interrupted Pull gets; 0 is 700.
	Step int
}

// Patience is what a source has for a real server on a busy machine; impatience is
// for a server that is known to be silent.
const (
	Patience   = 30 * time.Second
	impatience = time.Second
)

// Mail makes a mail that a server of patches takes, its id N@example.org, sent five
// minutes ago and N seconds later.
func Mail(n int, body string) []byte {
	at := time.Now().UTC().Add(-5*time.Minute + time.Duration(n)*time.Second)
	return fmt.Appendf(nil, "From: A Developer <dev%d@example.org>\nTo: uaccess@lists.example.org\nSubject: [PATCH] user_access_begin %d\nDate: %s\nMessage-ID: <%d@example.org>\n\n%s",
		n, n, at.Format("Mon, 02 Jan 2006 15:04:05 -0700"), n, body)
}

// bodies are what a transport may spoil.
var bodies = []string{
	"user_access_begin\n",
	"From the beginning\n>From the quoted one\n\nFrom \n>>From\nuser_access_begin\n",
	".\n..\n...\n.user_access_begin\nend\n",
	"user_access_begin \xff\xfe\x80 caf\xe9 \xc3\xa9\n",
	"user_access_begin\n" + strings.Repeat("a long line ", 3000) + "\n",
	"user_access_begin\n\n\n\n",
	"user_access_begin without a newline at the end",
	"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-\tuser_access_begin\n+\t\n \n",
	strings.Repeat("user_access_begin many lines\n", 2000),
	"user_access_begin, a tab \t and spaces  \t \n-- \n2.39.5\n",
	"* 1 EXISTS\n)\n{5}\nuser_access_begin\nA001 OK\n",
}

// suite is what the tests share: they run on one server, one after another.
type suite struct {
	Setup
	t    testing.TB // of the server, which lives longer than a part
	sent [][]byte
	next int
}

// Run runs all of them.
func Run(t *testing.T, setup Setup) {
	s := &suite{Setup: setup, t: t}
	t.Run("everything", s.everything)
	t.Run("only what is new", s.onlyNew)
	t.Run("same id", s.sameID)
	t.Run("store fails", s.storeFails)
	if s.Proxy != nil {
		t.Run("connection breaks", s.breaks)
		t.Run("server stalls", s.stalls)
		t.Run("told to stop", s.toldToStop)
	}
	if s.Stop != nil {
		t.Run("server restarts", s.restarts)
	}
	t.Run("bad cursor", s.badCursor)
}

func (s *suite) add(t *testing.T, bodies ...string) {
	t.Helper()
	var raw [][]byte
	for _, body := range bodies {
		s.next++
		raw = append(raw, Mail(s.next, body))
	}
	s.Add(t, raw...)
	s.sent = append(s.sent, raw...)
}

// taker is a program that takes mails, with its database.
type taker struct {
	db    *storage.DB
	taken [][]byte
}

func newTaker(t testing.TB) *taker {
	t.Helper()
	db, err := storage.Open(t.Context(), filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &taker{db: db}
}

// pull starts the program, which pulls once; deliver says when storing fails.
func (k *taker) pull(t testing.TB, ctx context.Context, source mail.Source, fail func() error) error {
	t.Helper()
	cursor, err := k.db.Cursor(ctx, source.Name())
	if err != nil {
		t.Fatal(err)
	}
	return source.Pull(ctx, cursor, func(ctx context.Context, batch mail.Batch) error {
		if err := fail(); err != nil {
			return err
		}
		fresh, err := k.db.Take(ctx, source.Name(), batch)
		if err != nil {
			return err
		}
		if len(fresh) != len(batch.Messages) {
			t.Errorf("%d of %d mails of a batch were taken before", len(batch.Messages)-len(fresh), len(batch.Messages))
		}
		for _, m := range batch.Messages {
			k.taken = append(k.taken, m.Bytes)
			if m.Origin == "" {
				t.Error("a mail that does not say where it is from")
			}
		}
		return nil
	})
}

func never() error { return nil }

func (s *suite) pull(t *testing.T, k *taker) {
	t.Helper()
	if err := k.pull(t, t.Context(), s.Source(t, Patience), never); err != nil {
		t.Fatal(err)
	}
}

// check says what of all that was sent is not there, and what is there twice.
func (s *suite) check(t *testing.T, k *taker, sent [][]byte) {
	t.Helper()
	var want [][]byte
	for _, raw := range sent {
		want = append(want, mail.Canonical(raw))
	}
	got := slices.Clone(k.taken)
	if s.Unordered {
		slices.SortFunc(want, bytes.Compare)
		slices.SortFunc(got, bytes.Compare)
	}
	for i := range max(len(got), len(want)) {
		var g, w []byte
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if !bytes.Equal(g, w) {
			at := 0
			for at < min(len(g), len(w)) && g[at] == w[at] {
				at++
			}
			from := max(0, at-30)
			t.Fatalf("took %d mails, %d were sent. The %dth differs at byte %d:\n%.300q\nis not\n%.300q",
				len(got), len(want), i+1, at, g[min(from, len(g)):], w[min(from, len(w)):])
		}
	}
}

func (s *suite) everything(t *testing.T) {
	s.add(t, bodies...)
	k := newTaker(t)
	s.pull(t, k)
	s.check(t, k, s.sent)
}

func (s *suite) onlyNew(t *testing.T) {
	k := newTaker(t)
	s.pull(t, k)
	k.taken = nil
	s.pull(t, k)
	s.check(t, k, nil)
	s.add(t, "user_access_begin, late\n")
	s.pull(t, k)
	s.check(t, k, s.sent[len(s.sent)-1:])
	s.pull(t, k)
	s.check(t, k, s.sent[len(s.sent)-1:])
}

// sameID: a mail with the id of another one is another mail.
func (s *suite) sameID(t *testing.T) {
	k := newTaker(t)
	s.pull(t, k)
	k.taken = nil
	first := s.sent[0]
	second := append(bytes.Clone(first), "and user_access_end\n"...)
	s.Add(t, second)
	s.pull(t, k)
	if s.Alters && len(k.taken) == 1 {
		second = k.taken[0] // with a second id in its header
		if !bytes.HasSuffix(second, []byte("and user_access_end\n")) {
			t.Errorf("took %q", second)
		}
	}
	s.sent = append(s.sent, second)
	s.check(t, k, [][]byte{second})
}

// storeFails: each batch fails the first time, as when the program is killed
// before its transaction is committed.
func (s *suite) storeFails(t *testing.T) {
	full := errors.New("disk full")
	k, tries := newTaker(t), 0
	for {
		failed := false
		calls := 0
		err := k.pull(t, t.Context(), s.Source(t, Patience), func() error {
			if calls++; calls > 1 && !failed {
				failed = true
				return full
			}
			return nil
		})
		if tries++; err == nil {
			break
		}
		if !errors.Is(err, full) {
			t.Fatalf("the error of the store came back as %v", err)
		}
		if tries > 1000 {
			t.Fatal("it does not get on")
		}
	}
	if tries < 3 {
		t.Errorf("only %d tries: the batches are too large for this test", tries)
	}
	s.check(t, k, s.sent)
}

// breaks: the connection breaks after a few bytes, each time a few later.
func (s *suite) breaks(t *testing.T) {
	defer s.Proxy.Pass()
	step := s.Step
	if step == 0 {
		step = 700
	}
	k, tries := newTaker(t), 0
	for limit := step; ; limit += step {
		s.Proxy.CutAfter(limit)
		err := k.pull(t, t.Context(), s.Source(t, Patience), never)
		if tries++; err == nil {
			break
		}
		if !errors.Is(err, mail.ErrTemporary) {
			t.Fatalf("after %d bytes: %v, which does not say that it is temporary", limit, err)
		}
		if tries > 300 {
			t.Fatal("it does not get on")
		}
		step += step / 4
	}
	t.Logf("%d tries", tries)
	if tries < 3 {
		t.Errorf("only %d tries: this broke nothing", tries)
	}
	s.check(t, k, s.sent)
}

// stalls: the server accepts connections, but says nothing more.
func (s *suite) stalls(t *testing.T) {
	defer s.Proxy.Pass()
	k := newTaker(t)
	for _, limit := range []int{0, 300, 1500} {
		s.Proxy.StallAfter(limit)
		begin := time.Now()
		err := k.pull(t, t.Context(), s.Source(t, impatience), never)
		if !errors.Is(err, mail.ErrTemporary) {
			t.Errorf("after %d bytes: %v, which does not say that it is temporary", limit, err)
		}
		if took := time.Since(begin); took > 5*impatience+5*time.Second {
			t.Errorf("after %d bytes it waited for %v", limit, took)
		}
		s.Proxy.CutNow()
	}
	s.Proxy.Pass()
	s.pull(t, k)
	s.check(t, k, s.sent)
}

func (s *suite) toldToStop(t *testing.T) {
	defer s.Proxy.Pass()
	s.Proxy.StallAfter(500)
	ctx, cancel := context.WithTimeout(t.Context(), impatience/5)
	defer cancel()
	k, begin := newTaker(t), time.Now()
	err := k.pull(t, ctx, s.Source(t, Patience), never)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it stopped with %v", err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it stopped after %v", took)
	}
}

func (s *suite) restarts(t *testing.T) {
	k, source := newTaker(t), s.Source(t, Patience)
	if err := k.pull(t, t.Context(), source, never); err != nil {
		t.Fatal(err)
	}
	s.Stop(s.t)
	if err := k.pull(t, t.Context(), source, never); !errors.Is(err, mail.ErrTemporary) {
		t.Errorf("the server is down: %v, which does not say that it is temporary", err)
	}
	s.Start(s.t)
	s.add(t, "user_access_begin after the restart\n")
	if err := k.pull(t, t.Context(), source, never); err != nil {
		t.Fatal(err)
	}
	s.check(t, k, s.sent)
}

func (s *suite) badCursor(t *testing.T) {
	err := s.Source(t, Patience).Pull(t.Context(), "not a cursor\x00", func(context.Context, mail.Batch) error {
		t.Error("it delivered all the same")
		return nil
	})
	if err == nil || errors.Is(err, mail.ErrTemporary) {
		t.Errorf("a cursor that is none: %v", err)
	}
}
