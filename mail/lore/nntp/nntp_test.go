package nntp

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"uabot/internal/sourcetest"
	"uabot/internal/testserver"
	"uabot/mail"
	"uabot/mail/lore/epoch"
)

var quiet = slog.New(slog.DiscardHandler)

func TestGroup(t *testing.T) {
	t.Parallel()
	server := testserver.NewPublicInbox(t)
	proxy := testserver.NewProxy(t, server.NNTP)
	sourcetest.Run(t, sourcetest.Setup{
		Add: server.Add, Alters: true, Proxy: proxy, Stop: server.Stop, Start: server.Start,
		Source: func(t testing.TB, patience time.Duration) mail.Source {
			return &Group{URL: "nntp://" + proxy.Addr + "/" + server.Newsgroup, Batch: 3, Timeout: patience, Log: quiet}
		},
	})
}

// pull takes what there is after cursor, and returns the next one.
func pull(t *testing.T, g *Group, cursor string) ([]mail.Raw, string) {
	t.Helper()
	var taken []mail.Raw
	err := g.Pull(t.Context(), cursor, func(_ context.Context, batch mail.Batch) error {
		taken, cursor = append(taken, batch.Messages...), batch.Cursor
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return taken, cursor
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	server := testserver.NewPublicInbox(t)
	g := &Group{URL: "nntp://" + server.NNTP + "/" + server.Newsgroup, Batch: 2, Log: quiet}
	if taken, cursor := pull(t, g, ""); len(taken) != 0 || cursor == "" {
		t.Errorf("an empty group: %d mails, cursor %q", len(taken), cursor)
	}
	var m [][]byte
	for i := range 8 {
		m = append(m, sourcetest.Mail(i, fmt.Sprintf("body %d\n", i)))
	}
	server.Add(t, m[:5]...)
	server.Remove(t, m[0])
	server.Remove(t, m[2])
	server.Remove(t, m[4])
	taken, cursor := pull(t, g, "")
	if len(taken) != 2 || !bytes.Equal(taken[0].Bytes, m[1]) || !bytes.Equal(taken[1].Bytes, m[3]) {
		t.Errorf("%d mails, want the two that were not removed", len(taken))
	}
	server.Add(t, m[5])
	taken, cursor = pull(t, g, cursor)
	if len(taken) != 1 || !bytes.Equal(taken[0].Bytes, m[5]) {
		t.Errorf("after the removed ones: %d mails", len(taken))
	}
	// The article of the cursor is removed: its number still counts.
	server.Remove(t, m[5])
	server.Add(t, m[6])
	if taken, _ = pull(t, g, cursor); len(taken) != 1 || !bytes.Equal(taken[0].Bytes, m[6]) {
		t.Errorf("after the cursor's article was removed: %d mails", len(taken))
	}

	// A server that was set up anew, in which article 6 has another number.
	other := testserver.NewPublicInbox(t)
	other.Add(t, m[5], m[6], m[1], m[0], m[3], m[2], m[7])
	moved := &Group{URL: "nntp://" + other.NNTP + "/" + other.Newsgroup, Log: quiet}
	if taken, _ = pull(t, moved, cursor); len(taken) != 6 || !bytes.Equal(taken[0].Bytes, m[6]) {
		t.Errorf("numbered anew: %d mails, want the six behind the cursor's", len(taken))
	}
	if taken, _ = pull(t, moved, `{"number":2,"id":"<never@was.there>"}`); len(taken) != 7 {
		t.Errorf("numbered anew, the cursor's article is not there: %d mails, want all", len(taken))
	}
	err := moved.Pull(t.Context(), `{"number":100,"id":"<never@was.there>"}`, func(context.Context, mail.Batch) error { return nil })
	if !errors.Is(err, mail.ErrTemporary) {
		t.Errorf("a cursor behind the end: %v, want a temporary error", err)
	}
}

// One mail is the same bytes through the news server and through the git epochs,
// so that a bot which takes both knows it again. A folded Message-ID alone is not:
// the server unfolds it.
func TestSameAsEpoch(t *testing.T) {
	t.Parallel()
	server := testserver.NewPublicInbox(t)
	again := append(sourcetest.Mail(1, "body\n"), "other content\n"...)
	nameless := []byte("From: a@example.org\nDate: Mon, 30 Nov 2026 10:00:00 +0000\nSubject: no id\n folded\n\nbody\n")
	server.Add(t, sourcetest.Mail(1, "body\n"))
	server.Add(t, again, nameless, sourcetest.Mail(2, ""))
	g := &Group{URL: "nntp://" + server.NNTP + "/" + server.Newsgroup}
	news, _ := pull(t, g, "")
	var git []mail.Raw
	archive := &epoch.Archive{Dir: server.Dir}
	err := archive.Pull(t.Context(), "", func(_ context.Context, batch mail.Batch) error {
		git = append(git, batch.Messages...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(git) != 4 || len(news) != 4 {
		t.Fatalf("%d through git, %d through news, want 4", len(git), len(news))
	}
	for i := range git {
		if !bytes.Equal(git[i].Bytes, news[i].Bytes) {
			t.Errorf("through git:\n%s\nthrough news:\n%s", git[i].Bytes, news[i].Bytes)
		}
	}
}

// An id that no cursor can hold must not come back as another article's.
func TestForeignID(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	go func() {
		bufio.NewReader(server).ReadString('\n')
		server.Write([]byte("220 1 <\xfc@x> article\r\nA: b\r\n\r\nbody\r\n.\r\n"))
	}()
	c := &conn{Conn: client, timeout: sourcetest.Patience, in: bufio.NewReader(client)}
	at := cursor{}
	batch, err := articles(c, "", &at, 1)
	if err != nil || len(batch.Messages) != 1 || at.Number != 1 || at.ID != "" {
		t.Errorf("%d mails, cursor %+v, %v", len(batch.Messages), at, err)
	}
}

func TestSince(t *testing.T) {
	t.Parallel()
	server := testserver.NewPublicInbox(t)
	m := [][]byte{sourcetest.Mail(-72*3600, "old\n"), sourcetest.Mail(1, "new\n"), sourcetest.Mail(2, "new\n")}
	server.Add(t, m...)
	g := &Group{URL: "nntp://" + server.NNTP + "/" + server.Newsgroup, Since: time.Now().Add(-24 * time.Hour)}
	taken, cursor := pull(t, g, "")
	if len(taken) != 2 || !bytes.Equal(taken[0].Bytes, m[1]) {
		t.Errorf("%d mails, want the two new ones", len(taken))
	}
	late := sourcetest.Mail(-96*3600, "dated long ago, but it comes now\n")
	server.Add(t, late)
	if taken, _ := pull(t, g, cursor); len(taken) != 1 {
		t.Errorf("a new mail with an old date: %d mails", len(taken))
	}
	g.Since = time.Now().Add(time.Hour)
	if taken, _ = pull(t, g, ""); len(taken) != 0 {
		t.Errorf("since later than all: %d mails", len(taken))
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	server := testserver.NewPublicInbox(t)
	server.Add(t, sourcetest.Mail(1, "body\n"))
	addr, authority := testserver.NewTLSProxy(t, server.NNTP)
	g := &Group{URL: "nntps://" + addr + "/" + server.Newsgroup, TLS: &tls.Config{RootCAs: authority}}
	if taken, _ := pull(t, g, ""); len(taken) != 1 {
		t.Errorf("%d mails, want 1", len(taken))
	}
	g.TLS = nil
	err := g.Pull(t.Context(), "", func(context.Context, mail.Batch) error { return nil })
	if err == nil || errors.Is(err, mail.ErrTemporary) {
		t.Errorf("a certificate that nobody knows: %v", err)
	}
}

func TestWrongPlace(t *testing.T) {
	t.Parallel()
	server := testserver.NewPublicInbox(t)
	web := strings.TrimPrefix(server.URL, "http://")
	web, _, _ = strings.Cut(web, "/")
	for name, address := range map[string]string{
		"no such group":  "nntp://" + server.NNTP + "/org.example.nosuch",
		"not encrypted":  "nntps://" + server.NNTP + "/" + server.Newsgroup,
		"a web server":   "nntp://" + web + "/" + server.Newsgroup,
		"no group":       "nntp://" + server.NNTP + "/",
		"another scheme": "http://" + server.NNTP + "/" + server.Newsgroup,
		"two commands":   "nntp://" + server.NNTP + "/a%0d%0aQUIT",
	} {
		g := &Group{URL: address, Timeout: time.Second} // a web server says nothing first
		err := g.Pull(t.Context(), "", func(context.Context, mail.Batch) error {
			t.Errorf("%s: delivered something", name)
			return nil
		})
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A server that speaks out of turn, or without end, is no danger.
func FuzzServer(f *testing.F) {
	f.Add([]byte("201 hi\r\n500 what\r\n211 2 1 2 x\r\n220 1 <a@b>\r\nA: b\r\n\r\n..body\r\n.\r\n423 no\r\n"))
	f.Add([]byte("200 hi\r\n200 ok\r\n211 1 9223372036854775807 1 x\r\n"))
	f.Add([]byte("200 hi\n200 ok\n211 5 1 5 x\n223 3 <c@d> x\n430 x\n220 1 <a@b>\nXref: a\n b\nX-Alt-Message-ID: <q>\n.\n"))
	f.Fuzz(func(t *testing.T, script []byte) {
		client, server := net.Pipe()
		go func() {
			go func() { // takes every command
				discard := bufio.NewReader(server)
				for {
					if _, err := discard.ReadByte(); err != nil {
						return
					}
				}
			}()
			server.Write(script)
			server.Close()
		}()
		defer client.Close()
		c := &conn{Conn: client, timeout: time.Second, stop: func() bool { return true }}
		c.in = bufio.NewReaderSize(deadlined{c}, 16)
		if _, err := c.answer("greeting", 200, 201); err != nil {
			return
		}
		answer, err := c.ask("GROUP x", 211)
		if err != nil {
			return
		}
		low, high, err := readGroup(answer)
		if err != nil {
			return
		}
		if low < 1 {
			t.Fatalf("the lowest number is %d", low)
		}
		at, err := (&Group{Log: quiet}).confirm(t.Context(), c, cursor{2, "<c@d>"}, low, high)
		if err != nil {
			return
		}
		before := at.Number
		if batch, err := articles(c, "", &at, before+3); err == nil && (at.Number != before+3 || len(batch.Messages) > 3) {
			t.Fatalf("%d articles of 3, then at %d", len(batch.Messages), at.Number)
		}
	})
}
