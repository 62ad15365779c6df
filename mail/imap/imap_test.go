package imap

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/smtp"
	"strings"
	"testing"
	"time"

	"uabot/internal/sourcetest"
	"uabot/internal/testserver"
	"uabot/mail"
)

var quiet = slog.New(slog.DiscardHandler)

func secret(text string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return text, nil }
}

// box is a mailbox of dovecot, by way of addr.
func box(addr, user string, patience time.Duration) *Mailbox {
	return &Mailbox{Addr: addr, Encryption: Plain, User: user, Secret: secret(testserver.Password), Batch: 3, Timeout: patience, Log: quiet}
}

func TestDovecot(t *testing.T) {
	t.Parallel()
	server := testserver.NewDovecot(t)
	proxy := testserver.NewProxy(t, server.Addr)
	sourcetest.Run(t, sourcetest.Setup{
		Add:   func(t testing.TB, raw ...[]byte) { server.Deliver(t, "bot", raw...) },
		Proxy: proxy, Stop: server.Stop, Start: server.Start,
		Source: func(t testing.TB, patience time.Duration) mail.Source {
			m := box(proxy.Addr, "bot", patience)
			t.Cleanup(m.Close)
			return m
		},
	})
}

func TestPublicInbox(t *testing.T) {
	t.Parallel()
	server := testserver.NewPublicInbox(t)
	proxy := testserver.NewProxy(t, server.IMAP)
	sourcetest.Run(t, sourcetest.Setup{
		Add: server.Add, Alters: true, Proxy: proxy, Stop: server.Stop, Start: server.Start,
		Source: func(t testing.TB, patience time.Duration) mail.Source {
			m := box(proxy.Addr, "anonymous", patience)
			m.Mailbox = server.Mailbox
			t.Cleanup(m.Close)
			return m
		},
	})
	parent := box(server.IMAP, "anonymous", sourcetest.Patience)
	parent.Mailbox = server.Newsgroup
	if _, _, err := pull(t, parent, ""); err == nil || errors.Is(err, mail.ErrTemporary) {
		t.Errorf("the parent of the slices, which is empty for ever: %v", err)
	}
}

func pull(t *testing.T, m *Mailbox, cursor string) ([]mail.Raw, string, error) {
	t.Helper()
	var taken []mail.Raw
	err := m.Pull(t.Context(), cursor, func(_ context.Context, batch mail.Batch) error {
		taken, cursor = append(taken, batch.Messages...), batch.Cursor
		return nil
	})
	return taken, cursor, err
}

func TestLogin(t *testing.T) {
	t.Parallel()
	server := testserver.NewDovecot(t)
	for _, user := range []string{"dev.one", "oauth"} {
		server.Deliver(t, user, sourcetest.Mail(1, "body\n"))
	}
	trusted := &tls.Config{RootCAs: server.CA}
	for _, test := range []struct {
		name       string
		encryption Encryption
		tls        *tls.Config
		user, auth string
		secret     string
		fails      string // "" for not
	}{
		{"TLS", TLS, trusted, "dev.one", "", testserver.Password, ""},
		{"STARTTLS", StartTLS, trusted, "dev.one", "", testserver.Password, ""},
		{"LOGIN", Plain, nil, "dev.one", "LOGIN", testserver.Password, ""},
		{"PLAIN", Plain, nil, "dev.one", "PLAIN", testserver.Password, ""},
		{"OAUTHBEARER", TLS, trusted, "oauth", "OAUTHBEARER", testserver.Token, ""},
		{"XOAUTH2", TLS, trusted, "oauth", "XOAUTH2", testserver.Token, ""},
		{"LOGIN refused", Plain, nil, "dev.one", "LOGIN", "wrong", "uthentication failed"},
		{"PLAIN refused", Plain, nil, "dev.one", "PLAIN", "wrong", "uthentication failed"},
		{"OAUTHBEARER refused", TLS, trusted, "oauth", "OAUTHBEARER", "old-token", "uthentication failed"},
		{"XOAUTH2 refused", TLS, trusted, "oauth", "XOAUTH2", "old-token", "uthentication failed"},
		{"no such way", Plain, nil, "dev.one", "SECRET", "x", "no way to log in"},
		{"a certificate that nobody knows", TLS, nil, "dev.one", "", testserver.Password, "certificate"},
		{"the same with STARTTLS", StartTLS, nil, "dev.one", "", testserver.Password, "certificate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := box(server.Addr, test.user, sourcetest.Patience)
			m.Encryption, m.TLS, m.Auth, m.Secret = test.encryption, test.tls, test.auth, secret(test.secret)
			if test.encryption == TLS {
				m.Addr = server.TLSAddr
			}
			defer m.Close()
			taken, _, err := pull(t, m, "")
			switch {
			case test.fails == "" && (err != nil || len(taken) != 1):
				t.Errorf("%d mails, %v", len(taken), err)
			case test.fails != "" && (err == nil || errors.Is(err, mail.ErrTemporary) || !strings.Contains(err.Error(), test.fails)):
				t.Errorf("error %v, want one that lasts and says %q", err, test.fails)
			}
		})
	}
}

func TestRenumbered(t *testing.T) {
	t.Parallel()
	server := testserver.NewDovecot(t)
	server.Deliver(t, "bot", sourcetest.Mail(1, "1\n"), sourcetest.Mail(2, "2\n"))
	m := box(server.Addr, "bot", sourcetest.Patience)
	taken, cursor, err := pull(t, m, "")
	if err != nil || len(taken) != 2 || taken[0].Received.IsZero() {
		t.Fatalf("%d mails, %v", len(taken), err)
	}
	m.Close()
	server.Stop(t)
	server.Renumber(t, "bot")
	server.Start(t)
	server.Deliver(t, "bot", sourcetest.Mail(3, "3\n"))
	taken, after, err := pull(t, m, cursor)
	if err != nil || len(taken) != 3 || after == cursor {
		t.Errorf("numbered anew: %d mails, want all three; cursor %s, was %s; %v", len(taken), after, cursor, err)
	}
	if taken, again, err := pull(t, m, after); err != nil || len(taken) != 0 || again != after {
		t.Errorf("then: %d mails, %v", len(taken), err)
	}
	m.Close()
}

func TestSince(t *testing.T) {
	t.Parallel()
	server := testserver.NewDovecot(t)
	server.Deliver(t, "bot", sourcetest.Mail(1, "1\n"))
	time.Sleep(2 * time.Second) // INTERNALDATE has seconds
	m := box(server.Addr, "bot", sourcetest.Patience)
	defer m.Close()
	m.Since = time.Now().Truncate(time.Second)
	server.Deliver(t, "bot", sourcetest.Mail(2, "2\n"))
	taken, cursor, err := pull(t, m, "")
	if err != nil || len(taken) != 1 || !bytes.Contains(taken[0].Bytes, []byte("<2@")) {
		t.Errorf("%d mails, %v, want the second alone", len(taken), err)
	}
	m.Since = time.Now().Add(time.Hour)
	server.Deliver(t, "bot", sourcetest.Mail(3, "3\n"))
	if taken, _, err = pull(t, m, cursor); err != nil || len(taken) != 1 {
		t.Errorf("with a cursor: %d mails, %v; Since counts at the beginning only", len(taken), err)
	}
}

// opensmtpd delivers, dovecot says so, and the mail is taken.
func TestWaitForDelivery(t *testing.T) {
	t.Parallel()
	imap := testserver.NewDovecot(t)
	mailbox := imap.Maildir(t, "bot")
	mx := testserver.NewOpenSMTPD(t, mailbox)
	m := box(imap.Addr, "bot", sourcetest.Patience)
	defer m.Close()
	_, cursor, err := pull(t, m, "")
	if err != nil {
		t.Fatal(err)
	}
	sent := time.Now()
	for n := 1; n <= 3; n++ {
		raw := bytes.ReplaceAll(sourcetest.Mail(n, ".\n..\nFrom here\n"), []byte("\n"), []byte("\r\n"))
		if err := smtp.SendMail(mx.Addr, nil, "dev@example.org", []string{"bot@example.org"}, raw); err != nil {
			t.Fatal(err)
		}
	}
	var taken []mail.Raw
	for len(taken) < 3 && time.Since(sent) < 20*time.Second {
		if err := m.Wait(t.Context(), cursor); err != nil {
			t.Fatal(err)
		}
		more, next, err := pull(t, m, cursor)
		if err != nil {
			t.Fatal(err)
		}
		taken, cursor = append(taken, more...), next
	}
	if len(taken) != 3 || !bytes.HasSuffix(taken[2].Bytes, []byte("\n\n.\n..\nFrom here\n")) {
		t.Errorf("%d mails after %v", len(taken), time.Since(sent))
	}
	t.Logf("3 mails through SMTP and IDLE in %v", time.Since(sent))
}

func TestWait(t *testing.T) {
	t.Parallel()
	server := testserver.NewDovecot(t)
	proxy := testserver.NewProxy(t, server.Addr)
	server.Deliver(t, "bot", sourcetest.Mail(1, "1\n"))
	m := box(proxy.Addr, "bot", sourcetest.Patience)
	defer m.Close()
	if err := m.Wait(t.Context(), ""); err != nil {
		t.Errorf("with mail that was never taken: %v", err)
	}
	_, cursor, err := pull(t, m, "")
	if err != nil {
		t.Fatal(err)
	}
	// wait starts a Wait and does what happens while it waits; then the server can
	// be reached again.
	wait := func(name string, atLeast, atMost time.Duration, happens func()) {
		t.Helper()
		begin, done := time.Now(), make(chan error)
		go func() { done <- m.Wait(t.Context(), cursor) }()
		time.Sleep(300 * time.Millisecond)
		happens()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if took := time.Since(begin); took < atLeast {
				t.Errorf("%s: it waited for %v only", name, took)
			}
		case <-time.After(atMost):
			t.Fatalf("%s: still waiting after %v", name, atMost)
		}
		proxy.Pass()
		m.Timeout = sourcetest.Patience
		var taken []mail.Raw
		if taken, cursor, err = pull(t, m, cursor); err != nil {
			t.Errorf("%s: then %v", name, err)
		}
		t.Logf("%s: %v, then %d mails", name, time.Since(begin), len(taken))
	}
	m.Poll = 700 * time.Millisecond
	wait("nothing comes", m.Poll, 10*time.Second, func() {})
	m.Poll = time.Minute
	wait("a mail comes", 0, 10*time.Second, func() { server.Deliver(t, "bot", sourcetest.Mail(2, "2\n")) })
	wait("the connection breaks", 0, 10*time.Second, proxy.CutNow)
	wait("the server restarts", 0, 10*time.Second, func() { server.Stop(t); server.Start(t) })
	m.Poll, m.Timeout = 2*time.Second, time.Second
	wait("the connection is dead, without a sign", m.Poll+m.Timeout, 10*time.Second, func() { proxy.StallAfter(0) })

	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if err := m.Wait(ctx, cursor); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 5*time.Second {
		t.Errorf("told to stop: %v after %v", err, time.Since(begin))
	}
	// Mail that came between the Pull and the Wait is not waited for.
	server.Deliver(t, "bot", sourcetest.Mail(3, "3\n"))
	begin = time.Now()
	if err := m.Wait(t.Context(), cursor); err != nil || time.Since(begin) > 5*time.Second {
		t.Errorf("mail that is there: %v after %v", err, time.Since(begin))
	}
}

// A server that is down is not asked in a tight loop.
func TestBackoff(t *testing.T) {
	t.Parallel()
	m := box("127.0.0.1:1", "bot", sourcetest.Patience)
	begin := time.Now()
	for range 3 {
		if _, _, err := pull(t, m, ""); !errors.Is(err, mail.ErrTemporary) {
			t.Fatal(err)
		}
	}
	if took := time.Since(begin); took < 1500*time.Millisecond || took > 4*time.Second {
		t.Errorf("three tries in %v", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := m.Pull(ctx, "", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("told to stop while it waits: %v", err)
	}
}

// Mails that break a parser of mail structure pass: only their bytes are asked for.
func TestMalformed(t *testing.T) {
	t.Parallel()
	server := testserver.NewDovecot(t)
	var raw [][]byte
	for _, text := range []string{
		"From me\nSubject: \xff\xfe\nContent-Type: multipart/mixed; boundary=\n\n--\n--\n",
		"Content-Type: message/rfc822\n\nContent-Type: multipart/x; boundary=\"a\n\n--a\n",
		"no header\n",
		": empty name\n\nbody\n",
		"Content-Type: ((((;;=\n\tx\"\n\nbody\n",
		"\n\nbody alone\n",
		"Subject: " + strings.Repeat("x", 100_000) + "\n\n",
	} {
		raw = append(raw, []byte(text))
	}
	server.Deliver(t, "bot", raw...)
	m := box(server.Addr, "bot", sourcetest.Patience)
	defer m.Close()
	taken, _, err := pull(t, m, "")
	if err != nil || len(taken) != len(raw) {
		t.Fatalf("%d of %d mails, %v", len(taken), len(raw), err)
	}
	for i := range taken {
		if want := mail.Canonical(raw[i]); !bytes.Equal(taken[i].Bytes, want) {
			t.Errorf("%.80q came as %.80q", want, taken[i].Bytes)
		}
	}
	fmt.Fprintln(t.Output(), len(taken), "mails")
}
