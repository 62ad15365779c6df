package lore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"uabot/internal/sourcetest"
	"uabot/internal/testserver"
	"uabot/mail"
	"uabot/mail/lore"
)

func client(patience time.Duration) *lore.Client {
	return &lore.Client{UserAgent: "uabot/test (+mailto:test@example.org)", Stall: patience, Retries: -1}
}

// through is an inbox's address with another host in it.
func through(t testing.TB, inbox, addr string) string {
	t.Helper()
	u, err := url.Parse(inbox)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = addr
	return u.String()
}

var query = lore.Query([]string{"user_access_begin", "user_access_end"}, []string{"uaccess*"})

// add returns how mails are brought to a server such that its search finds them.
func add(server *testserver.PublicInbox) func(testing.TB, ...[]byte) {
	return func(t testing.TB, raw ...[]byte) {
		t.Helper()
		server.Add(t, raw...)
		for _, m := range raw {
			server.WaitSearchable(t, mail.MessageIDs(m)[0])
		}
		// The id alone says nothing when another mail has it too.
		last := bytes.TrimSpace(raw[len(raw)-1])
		if words := lastWord.Find(last); bytes.HasSuffix(last, []byte("and user_access_end")) && words != nil {
			server.WaitFound(t, "nq:"+string(words))
		}
	}
}

var lastWord = regexp.MustCompile(`\w+$`)

func TestSearch(t *testing.T) {
	t.Parallel()
	server := testserver.NewPublicInbox(t)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := testserver.NewProxy(t, u.Host)
	sourcetest.Run(t, sourcetest.Setup{
		Add: add(server), Alters: true, Unordered: true, Proxy: proxy, Stop: server.Stop, Start: server.Start,
		Source: func(t testing.TB, patience time.Duration) mail.Source {
			return &lore.Search{Client: client(patience), Inbox: through(t, server.URL, proxy.Addr), Query: query, Since: time.Now().Add(-24 * time.Hour)}
		},
	})
}

func pull(t *testing.T, s mail.Source, cursor string) ([]string, string) {
	t.Helper()
	var ids []string
	err := s.Pull(t.Context(), cursor, func(_ context.Context, batch mail.Batch) error {
		cursor = batch.Cursor
		for _, m := range batch.Messages {
			ids = append(ids, mail.MessageIDs(m.Bytes)[0])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids, cursor
}

// inThread is a mail of a thread, of which the body decides whether it is found.
func inThread(n, root int, body string) []byte {
	raw := sourcetest.Mail(n, body)
	raw = bytes.Replace(raw, []byte("Subject: [PATCH] user_access_begin"), []byte("Subject: [PATCH] part"), 1)
	return bytes.Replace(raw, []byte("\n\n"), fmt.Appendf(nil, "\nIn-Reply-To: <%d@example.org>\n\n", root), 1)
}

// The search finds one mail of a series; the rest of it comes through the thread,
// what is late too.
func TestThreads(t *testing.T) {
	t.Parallel()
	server := testserver.NewPublicInbox(t)
	s := &lore.Search{Client: client(sourcetest.Patience), Inbox: server.URL, Query: query, Since: time.Now().Add(-24 * time.Hour)}
	if ids, cursor := pull(t, s, ""); len(ids) != 0 || cursor == "" {
		t.Errorf("an archive without a hit: %v, cursor %q", ids, cursor)
	}
	add(server)(t, inThread(1, 1, "the cover letter\n"), inThread(2, 1, "+user_access_begin()\n"), inThread(3, 1, "another part\n"),
		inThread(10, 10, "not about that, though it quotes:\n> user_access_begin\n"))
	ids, cursor := pull(t, s, "")
	if want := []string{"1@example.org", "2@example.org", "3@example.org"}; !slices.Equal(ids, want) {
		t.Errorf("took %v, want %v", ids, want)
	}
	add(server)(t, inThread(4, 1, "a late part, which the search does not find\n"))
	if ids, _ := pull(t, s, cursor); len(ids) != 0 {
		t.Errorf("the thread was asked for again at once: %v", ids)
	}
	// Five minutes later; the cursor says when the thread is to be looked at again.
	later := regexp.MustCompile(`"next":\d+`).ReplaceAllString(cursor, `"next":1`)
	ids, cursor = pull(t, s, later)
	if !slices.Equal(ids, []string{"4@example.org"}) {
		t.Errorf("the late part: %v", ids)
	}
	// A late part that is found is not waited for, and its thread is known.
	add(server)(t, inThread(5, 1, "+user_access_end()\n"), inThread(6, 1, "and one more\n"))
	ids, cursor = pull(t, s, cursor)
	if !slices.Equal(ids, []string{"5@example.org", "6@example.org"}) {
		t.Errorf("late parts that are found: %v", ids)
	}
	if n := strings.Count(cursor, `"next"`); n != 1 {
		t.Errorf("%d threads are watched, want one: %s", n, cursor)
	}
}

// Everything of an archive, in answers that are too large to be taken at once.
func TestSmallAnswers(t *testing.T) {
	t.Parallel()
	server := testserver.NewPublicInbox(t)
	var raw [][]byte
	for n := range 8 {
		m := sourcetest.Mail(-n*100*24*3600, "user_access_begin\n"+strings.Repeat("much text\n", 50))
		raw = append(raw, m)
	}
	add(server)(t, raw...)
	c := client(sourcetest.Patience)
	c.MaxBytes = 2000
	s := &lore.Search{Client: c, Inbox: server.URL, Query: query}
	ids, _ := pull(t, s, "")
	if len(ids) != len(raw) {
		t.Errorf("took %d mails, want %d", len(ids), len(raw))
	}
}

func TestFetchThread(t *testing.T) {
	t.Parallel()
	server := testserver.NewPublicInbox(t)
	odd := bytes.Replace(inThread(3, 1, "x\n"), []byte("<3@example.org>"), []byte("<a/b?c%d#e+f&g@example.org>"), 1)
	first := inThread(1, 1, "1\nFrom here\n")
	add(server)(t, first, inThread(2, 1, "2\n"), odd)
	c := client(sourcetest.Patience)
	host := strings.TrimSuffix(server.URL, "/uaccess")
	for _, where := range []string{
		"1@example.org", "<1@example.org>", " <2@example.org>\n", "a/b?c%d#e+f&g@example.org",
		server.URL + "/1@example.org/", server.URL + "/1@example.org", server.URL + "/1@example.org/T/#u",
		server.URL + "/2@example.org/t.mbox.gz", server.URL + "/2@example.org/raw", server.URL + "/2%40example.org/t/#m123",
		server.URL + "/a%2Fb%3Fc%25d%23e+f&g@example.org/T/",
	} {
		mails, id, err := c.FetchThread(t.Context(), server.URL, where)
		if err != nil || len(mails) != 3 || !strings.HasSuffix(id, "@example.org") {
			t.Errorf("%s: %d mails, id %q, %v", where, len(mails), id, err)
			continue
		}
		if !bytes.Equal(mails[0].Bytes, first) {
			t.Errorf("%s: the first mail is %q", where, mails[0].Bytes)
		}
	}
	for where, want := range map[string]error{
		"never@was.there":                lore.ErrNotFound,
		server.URL + "/never@was.there/": lore.ErrNotFound,
		host + "/nosuch/1@example.org/":  lore.ErrNotFound,
		host + "/1@example.org/":         nil,
		server.URL + "/":                 nil,
		"arch/x86/include/asm/uaccess.h": nil,
		"two words@example.org":          nil,
		"":                               nil,
	} {
		_, _, err := c.FetchThread(t.Context(), server.URL, where)
		if err == nil || want != nil && !errors.Is(err, want) || errors.Is(err, mail.ErrTemporary) {
			t.Errorf("%s: %v, want %v", where, err, want)
		}
	}
	raw, err := c.Mail(t.Context(), server.URL, "1@example.org")
	if err != nil || len(raw) != 1 || !bytes.Equal(raw[0].Bytes, first) {
		t.Errorf("one mail: %q, %v", raw, err)
	}
	if _, err := c.Mail(t.Context(), server.URL, "never@was.there"); !errors.Is(err, lore.ErrNotFound) {
		t.Errorf("a mail that is not there: %v", err)
	}
}

func TestSearchWrongPlace(t *testing.T) {
	t.Parallel()
	server := testserver.NewPublicInbox(t)
	s := &lore.Search{Client: client(sourcetest.Patience), Inbox: server.URL + "nosuch", Query: query}
	err := s.Pull(t.Context(), "", func(context.Context, mail.Batch) error {
		t.Error("this looks as if there were no hits")
		return nil
	})
	if !errors.Is(err, lore.ErrNotFound) {
		t.Errorf("no such inbox: %v", err)
	}
}
