// Package imap takes mails from a mailbox on an IMAP server, and is told by the
// server when there are more.
//
// A mail is known by its UID, which means something only together with the
// mailbox's UIDVALIDITY: where that changes, everything is taken again (the store
// knows by content what it has). The mailbox is opened for reading only: nothing is
// marked as seen.
//
// Traps. Of go-imap beta.8: no command has a deadline, see conn; one item of a FETCH
// that it cannot parse ends the connection, so only UID, INTERNALDATE, RFC822.SIZE
// and BODY.PEEK[] are asked for. Of servers: UID FETCH n:* gives the last mail even
// when its UID is below n; a mailbox with UIDVALIDITY 0 is none (public-inbox's
// parent of the slices in which the mails are). Of public-inbox: a mailbox holds
// 50,000 mails, then a next one begins. Take such lists as a news group.
package imap

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"

	"uabot/mail"
)

// Encryption is how the connection is protected.
type Encryption int

const (
	TLS      Encryption = iota // from the first byte: port 993
	StartTLS                   // asked for, and insisted on: port 143
	Plain                      // not: for a server on the same machine
)

// Mailbox is a mail.Source, and a mail.Waiter: one mailbox.
type Mailbox struct {
	Addr       string // HOST:PORT
	Encryption Encryption
	TLS        *tls.Config // nil for what the system trusts
	User       string
	// Secret returns the password, or the token for OAuth; asked for at each
	// connection, as tokens live for an hour.
	Secret func(context.Context) (string, error)
	// Auth is LOGIN, PLAIN, OAUTHBEARER or XOAUTH2; empty for PLAIN where the
	// server has it, else LOGIN.
	Auth string
	// Mailbox is the name; empty for INBOX.
	Mailbox string
	// Since is where an empty cursor begins, by when the server got the mail.
	Since time.Time
	// Batch is how many mails are delivered at once; 0 is 50.
	Batch int
	// Timeout is how long the server may be silent; 0 is a minute.
	Timeout time.Duration
	// Poll is how long Wait trusts a server that says nothing; 0 is 5 minutes, or
	// a minute where the server has no IDLE.
	Poll time.Duration
	// Log is told what is odd; nil for slog.Default().
	Log *slog.Logger

	mu       sync.Mutex
	conn     *conn
	failures int       // in a row
	notUntil time.Time // to connect again
}

const (
	largest    = 64 << 20 // a mail that is larger is passed over
	fetchBytes = 8 << 20  // of mails that are asked for at once
)

// cursor is the last UID that was taken.
type cursor struct {
	Validity uint32   `json:"uidvalidity"`
	UID      imap.UID `json:"uid"`
}

func readCursor(text string) (cursor, error) {
	at := cursor{}
	if text == "" {
		return at, nil
	}
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		return at, fmt.Errorf("the cursor %.40q is not one: %w", text, err)
	}
	return at, nil
}

// Name implements mail.Source.
func (m *Mailbox) Name() string { return "imap:" + m.User + "@" + m.Addr + "/" + m.mailbox() }

// Pull implements mail.Source.
func (m *Mailbox) Pull(ctx context.Context, text string, deliver func(context.Context, mail.Batch) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, err := readCursor(text)
	if err == nil {
		err = m.with(ctx, func(c *conn) error { return m.pull(ctx, c, at, deliver) })
	}
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name(), err)
	}
	return nil
}

// Wait implements mail.Waiter.
func (m *Mailbox) Wait(ctx context.Context, text string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, err := readCursor(text)
	if err == nil {
		err = m.with(ctx, func(c *conn) error { return m.wait(ctx, c, at) })
	}
	if err != nil {
		return fmt.Errorf("%s: wait for mail: %w", m.Name(), err)
	}
	return nil
}

// Close ends the connection that Pull and Wait keep.
func (m *Mailbox) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn != nil {
		m.conn.close()
		m.conn = nil
	}
}

// with runs use on the connection that is there, or on a new one. After a failure
// it is not used again, and the next is made only after a while.
func (m *Mailbox) with(ctx context.Context, use func(*conn) error) error {
	if m.conn != nil && m.conn.closed() {
		m.conn = nil
	}
	if m.conn == nil {
		timer := time.NewTimer(time.Until(m.notUntil))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return fmt.Errorf("wait to connect again: %w", ctx.Err())
		}
		c, err := m.dial(ctx)
		if err != nil {
			m.failed(ctx)
			return err
		}
		m.conn = c
	}
	if err := use(m.conn); err != nil {
		m.conn.close()
		m.conn = nil
		m.failed(ctx)
		return err
	}
	m.failures = 0
	return nil
}

// failed puts the next connection off: a second, doubled each time, up to five
// minutes, and not all bots at once.
func (m *Mailbox) failed(ctx context.Context) {
	if ctx.Err() != nil { // it was told to stop
		return
	}
	wait := min(time.Second<<min(m.failures, 9), 5*time.Minute)
	m.failures++
	m.notUntil = time.Now().Add(wait/2 + rand.N(wait/2))
}

// examine opens the mailbox anew, for the present state of it.
func (m *Mailbox) examine(ctx context.Context, c *conn) (*imap.SelectData, error) {
	select { // what was said before is in the answer
	case <-c.news:
	default:
	}
	var box *imap.SelectData
	err := c.do(ctx, m.timeout(), "open mailbox "+m.mailbox(), func(func()) (err error) {
		box, err = c.client.Select(m.mailbox(), &imap.SelectOptions{ReadOnly: true}).Wait()
		return err
	})
	if err != nil {
		return nil, err
	}
	if box.UIDValidity == 0 {
		return nil, fmt.Errorf("mailbox %s holds no mails that can be numbered: its UIDVALIDITY is 0", m.mailbox())
	}
	return box, nil
}

func (m *Mailbox) pull(ctx context.Context, c *conn, at cursor, deliver func(context.Context, mail.Batch) error) error {
	box, err := m.examine(ctx, c)
	if err != nil {
		return err
	}
	before := at
	if at.Validity != box.UIDValidity {
		if at.Validity != 0 {
			m.log().WarnContext(ctx, "a mailbox was numbered anew: taking it from the beginning", "source", m.Name())
		}
		at = cursor{Validity: box.UIDValidity}
	}
	uids, err := m.uidsAfter(ctx, c, at.UID, box)
	if err != nil {
		return err
	}
	size := m.Batch
	if size == 0 {
		size = 50
	}
	for chunk := range slices.Chunk(uids, size) {
		messages, err := m.fetch(ctx, c, chunk, before.Validity == 0)
		if err != nil {
			return err
		}
		at.UID = chunk[len(chunk)-1]
		if err := give(ctx, deliver, messages, at); err != nil {
			return err
		}
	}
	if box.UIDNext > 0 {
		at.UID = max(at.UID, box.UIDNext-1)
	}
	if before == at || (len(uids) > 0 && at.UID == uids[len(uids)-1]) {
		return nil
	}
	return give(ctx, deliver, nil, at)
}

func give(ctx context.Context, deliver func(context.Context, mail.Batch) error, messages []mail.Raw, at cursor) error {
	text, err := json.Marshal(at)
	if err != nil {
		return fmt.Errorf("write the cursor: %w", err)
	}
	return deliver(ctx, mail.Batch{Messages: messages, Cursor: string(text)})
}

// uidsAfter returns the UIDs above last, in order, that the mailbox had when it was
// opened: one that came since is not below UIDNEXT, and would come again.
func (m *Mailbox) uidsAfter(ctx context.Context, c *conn, last imap.UID, box *imap.SelectData) ([]imap.UID, error) {
	if box.UIDNext > 0 && box.UIDNext <= last+1 {
		return nil, nil
	}
	var found []imap.UID
	err := c.do(ctx, m.timeout(), "search", func(func()) error {
		data, err := c.client.UIDSearch(&imap.SearchCriteria{UID: []imap.UIDSet{{imap.UIDRange{Start: last + 1}}}}, nil).Wait()
		if err == nil {
			found = data.AllUIDs()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(uid imap.UID) bool {
		return uid <= last || (box.UIDNext > 0 && uid >= box.UIDNext)
	})
	slices.Sort(found)
	return slices.Compact(found), nil
}

// fetch returns the mails with those UIDs, as far as they are still there, in that
// order; when begins, without those that are older than Since.
func (m *Mailbox) fetch(ctx context.Context, c *conn, uids []imap.UID, begins bool) ([]mail.Raw, error) {
	found, err := m.ask(ctx, c, uids, &imap.FetchOptions{UID: true, InternalDate: true, RFC822Size: true})
	if err != nil {
		return nil, err
	}
	var messages []mail.Raw
	var wanted []imap.UID
	total := int64(0)
	flush := func() error {
		if len(wanted) == 0 {
			return nil
		}
		bodies, err := m.ask(ctx, c, wanted, &imap.FetchOptions{UID: true, BodySection: []*imap.FetchItemBodySection{{Peek: true}}})
		if err != nil {
			return err
		}
		for _, uid := range wanted {
			if body, ok := bodies[uid]; ok && body.raw != nil {
				messages = append(messages, mail.Raw{
					Bytes: mail.Canonical(body.raw), Received: found[uid].received, Origin: fmt.Sprintf("%s uid %d", m.Name(), uid)})
			}
		}
		wanted, total = nil, 0
		return nil
	}
	for _, uid := range uids {
		item, ok := found[uid]
		switch {
		case !ok, begins && item.received.Before(m.Since):
			continue
		case item.size > largest:
			m.log().WarnContext(ctx, "a mail is far too large", "source", m.Name(), "uid", uid, "bytes", item.size)
			continue
		}
		if total += item.size; total > fetchBytes {
			if err := flush(); err != nil {
				return nil, err
			}
			total = item.size
		}
		wanted = append(wanted, uid)
	}
	return messages, flush()
}

// fetched is what a server said of one mail.
type fetched struct {
	received time.Time
	size     int64
	raw      []byte
}

// with adds what the server says later, which may be flags alone.
func (f fetched) with(later fetched) fetched {
	if !later.received.IsZero() {
		f.received = later.received
	}
	if later.size > 0 {
		f.size = later.size
	}
	if later.raw != nil {
		f.raw = later.raw
	}
	return f
}

// errTooLarge: a body that is not as long as the server said it was.
var errTooLarge = errors.New("a mail is larger than it was said to be")

func (m *Mailbox) ask(ctx context.Context, c *conn, uids []imap.UID, what *imap.FetchOptions) (map[imap.UID]fetched, error) {
	found := map[imap.UID]fetched{}
	err := c.do(ctx, m.timeout(), "fetch", func(progress func()) error {
		fetch := c.client.Fetch(imap.UIDSetNum(uids...), what)
		for data := fetch.Next(); data != nil; data = fetch.Next() {
			uid, item := imap.UID(0), fetched{}
			for part := data.Next(); part != nil; part = data.Next() {
				progress()
				switch part := part.(type) {
				case imapclient.FetchItemDataUID:
					uid = part.UID
				case imapclient.FetchItemDataInternalDate:
					item.received = part.Time
				case imapclient.FetchItemDataRFC822Size:
					item.size = part.Size
				case imapclient.FetchItemDataBodySection:
					if part.Literal == nil {
						continue
					}
					raw, err := io.ReadAll(io.LimitReader(ticking{part.Literal, progress}, 2*largest))
					if err == nil && len(raw) == 2*largest {
						err = errTooLarge
					}
					if err != nil {
						c.close() // what is left of it is read by nobody
						fetch.Close()
						return err
					}
					item.raw = raw
				}
			}
			if slices.Contains(uids, uid) { // others may be told without being asked
				found[uid] = found[uid].with(item)
			}
		}
		return fetch.Close()
	})
	return found, err
}

// ticking tells that bytes come.
type ticking struct {
	r    io.Reader
	tick func()
}

func (t ticking) Read(b []byte) (int, error) {
	n, err := t.r.Read(b)
	if n > 0 {
		t.tick()
	}
	return n, err
}

func (m *Mailbox) wait(ctx context.Context, c *conn, at cursor) error {
	box, err := m.examine(ctx, c)
	if err != nil || box.UIDValidity != at.Validity || box.UIDNext > at.UID+1 {
		return err
	}
	idles := false
	err = c.do(ctx, m.timeout(), "ask for IDLE", func(func()) error {
		idles = c.client.Caps().Has(imap.CapIdle)
		return nil
	})
	if err != nil {
		return err
	}
	patience := m.Poll
	if patience == 0 {
		patience = 5 * time.Minute
		if !idles {
			patience = time.Minute
		}
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var idle *imapclient.IdleCommand
	if idles {
		err := c.do(ctx, m.timeout(), "IDLE", func(func()) (err error) {
			idle, err = c.client.Idle()
			return err
		})
		if err != nil {
			return err
		}
	}
	select {
	case <-c.news:
	case <-timer.C:
	case <-c.client.Closed(): // a Pull will find out why
		return nil
	case <-ctx.Done():
		c.close()
		return ctx.Err()
	}
	if idle == nil {
		return nil
	}
	err = c.do(ctx, m.timeout(), "end IDLE", func(func()) error {
		if err := idle.Close(); err != nil {
			return err
		}
		return idle.Wait()
	})
	if errors.Is(err, mail.ErrTemporary) && ctx.Err() == nil {
		c.close() // it broke without a sign, which a Pull will find out about
		return nil
	}
	return err
}

func (m *Mailbox) mailbox() string {
	if m.Mailbox == "" {
		return "INBOX"
	}
	return m.Mailbox
}

func (m *Mailbox) timeout() time.Duration {
	if m.Timeout == 0 {
		return time.Minute
	}
	return m.Timeout
}

func (m *Mailbox) log() *slog.Logger {
	if m.Log != nil {
		return m.Log
	}
	return slog.Default()
}

// saslName escapes a name as RFC 5801, 4 wants it.
func saslName(name string) string {
	return strings.NewReplacer("=", "=3D", ",", "=2C").Replace(name)
}
