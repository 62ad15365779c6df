// Package nntp takes mails from a news server, of the kind that a public-inbox
// server is: each list is a group, each mail an article with a number that is never
// used again.
//
// Traps. A deleted article is a gap in the numbers; that it was there once, nobody
// says. A server that was set up anew may number otherwise: so the cursor holds the
// Message-ID of its article too. public-inbox adds header fields that news clients
// want; they are taken off again.
package nntp

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"uabot/mail"
)

// Group is a mail.Source: one news group.
type Group struct {
	// URL is nntps://HOST[:PORT]/GROUP, or nntp:// without encryption.
	URL string
	// TLS is for nntps; nil for what the system trusts.
	TLS *tls.Config
	// Since is where an empty cursor begins; zero is the oldest article.
	Since time.Time
	// Batch is how many articles are asked for, and delivered, at once; 0 is 50.
	Batch int
	// Timeout is how long the server may be silent; 0 is a minute.
	Timeout time.Duration
	// Log is told what is odd; nil for slog.Default().
	Log *slog.Logger
}

// cursor is the last article that was taken.
type cursor struct {
	Number int64  `json:"number"`
	ID     string `json:"id,omitempty"` // as the server calls it, in angle brackets
}

// Name implements mail.Source.
func (g *Group) Name() string { return g.URL }

// Pull implements mail.Source.
func (g *Group) Pull(ctx context.Context, text string, deliver func(context.Context, mail.Batch) error) error {
	err := g.pull(ctx, text, deliver)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w (%w)", ctx.Err(), err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", g.Name(), err)
	}
	return nil
}

func (g *Group) pull(ctx context.Context, text string, deliver func(context.Context, mail.Batch) error) error {
	at := cursor{}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &at); err != nil {
			return fmt.Errorf("the cursor %.40q is not one: %w", text, err)
		}
	}
	c, name, err := g.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	answer, err := c.ask("GROUP "+name, 211)
	if err != nil {
		return err
	}
	low, high, err := readGroup(answer)
	if err != nil {
		return err
	}
	if text == "" && !g.Since.IsZero() {
		at.Number, err = g.since(c, name, high)
	} else if at.Number > 0 {
		at, err = g.confirm(ctx, c, at, low, high)
	}
	if err != nil {
		return err
	}
	at.Number = max(at.Number, low-1)
	size := int64(g.Batch)
	if size == 0 {
		size = 50
	}
	for at.Number < high {
		batch, err := articles(c, g.URL, &at, min(at.Number+size, high))
		if err != nil {
			return err
		}
		if err := give(ctx, deliver, batch, at); err != nil {
			return err
		}
	}
	if text == "" && high < low { // an empty group too is a place to go on from
		return give(ctx, deliver, mail.Batch{}, at)
	}
	c.send("QUIT") // out of courtesy
	return nil
}

func give(ctx context.Context, deliver func(context.Context, mail.Batch) error, batch mail.Batch, at cursor) error {
	text, err := json.Marshal(at)
	if err != nil {
		return fmt.Errorf("write the cursor: %w", err)
	}
	batch.Cursor = string(text)
	return deliver(ctx, batch)
}

// connect connects to the server and returns the name of the group.
func (g *Group) connect(ctx context.Context) (*conn, string, error) {
	u, err := url.Parse(g.URL)
	if err != nil {
		return nil, "", fmt.Errorf("its address: %w", err)
	}
	name := strings.Trim(u.Path, "/")
	port := map[string]string{"nntp": "119", "nntps": "563"}[u.Scheme]
	if port == "" || u.Hostname() == "" || name == "" || strings.ContainsAny(name, " /*") {
		return nil, "", errors.New("its address is not of the form nntps://HOST/GROUP")
	}
	if u.Port() != "" {
		port = u.Port()
	}
	var config *tls.Config
	if u.Scheme == "nntps" {
		config = &tls.Config{}
		if g.TLS != nil {
			config = g.TLS.Clone()
		}
		if config.ServerName == "" {
			config.ServerName = u.Hostname()
		}
	}
	timeout := g.Timeout
	if timeout == 0 {
		timeout = time.Minute
	}
	c, err := dial(ctx, net.JoinHostPort(u.Hostname(), port), config, timeout)
	if err != nil {
		return nil, "", err
	}
	// Servers that also pass news among themselves begin in another mode.
	if _, err := c.ask("MODE READER", 200, 201, 500, 501); err != nil {
		c.Close()
		return nil, "", err
	}
	return c, name, nil
}

// readGroup reads "205 1 206 name": how many, the lowest and the highest number.
func readGroup(answer string) (low, high int64, err error) {
	fields := strings.Fields(answer)
	if len(fields) < 3 {
		return 0, 0, fmt.Errorf("GROUP answered %.80q", answer)
	}
	low, err = strconv.ParseInt(fields[1], 10, 64)
	if err == nil {
		high, err = strconv.ParseInt(fields[2], 10, 64)
	}
	if err != nil || low < 0 || high < 0 || high > 1<<53 {
		return 0, 0, fmt.Errorf("GROUP answered %.80q", answer)
	}
	return max(low, 1), high, nil
}

// readStat reads "206 <id> …", the answer to STAT and the first line of ARTICLE.
func readStat(answer string) (number int64, id string) {
	fields := strings.Fields(answer)
	if len(fields) < 2 {
		return 0, ""
	}
	number, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0, ""
	}
	return number, fields[1]
}

// stat asks for the number and the id of an article; 0 when it is not there.
func stat(c *conn, article string) (number int64, id string, err error) {
	answer, err := c.ask("STAT "+article, 223)
	if gone(err) {
		return 0, "", nil
	}
	if err != nil {
		return 0, "", err
	}
	number, id = readStat(answer)
	return number, id, nil
}

// gone reports whether the server said that it has no such article.
func gone(err error) bool {
	var r *refusal
	return errors.As(err, &r) && (r.code == 423 || r.code == 430 || r.code == 420)
}

// confirm makes sure that the cursor's number means the article that it meant, and
// finds where to go on when the server numbers anew.
func (g *Group) confirm(ctx context.Context, c *conn, at cursor, low, high int64) (cursor, error) {
	if at.Number > high {
		return at, fmt.Errorf("article %d was taken, but its last is %d: the server lags, or was set up anew and has less: %w", at.Number, high, mail.ErrTemporary)
	}
	if at.ID == "" {
		return at, nil
	}
	number, id, err := stat(c, strconv.FormatInt(at.Number, 10))
	if err != nil || number == 0 || id == at.ID { // a deleted article proves nothing
		return at, err
	}
	moved, _, err := stat(c, at.ID)
	if err != nil {
		return at, err
	}
	if moved > 0 { // the number may be that of another group
		if _, id, err = stat(c, strconv.FormatInt(moved, 10)); err != nil {
			return at, err
		}
	}
	next := cursor{Number: low - 1}
	if moved > 0 && id == at.ID {
		next = cursor{Number: moved, ID: at.ID}
	}
	g.log().WarnContext(ctx, "a news group was numbered anew", "source", g.Name(), "article", at.ID, "was", at.Number, "go on after", next.Number)
	return next, nil
}

// since returns the number of the article before the first that is newer than Since.
func (g *Group) since(c *conn, name string, high int64) (int64, error) {
	if _, err := c.ask("NEWNEWS "+name+" "+g.Since.UTC().Format("20060102 150405")+" GMT", 230); err != nil {
		return 0, fmt.Errorf("find the articles since %v: %w", g.Since, err)
	}
	text, err := c.block()
	if err != nil {
		return 0, fmt.Errorf("find the articles since %v: %w", g.Since, err)
	}
	first := high + 1
	for ids := range slices.Chunk(strings.Fields(string(text)), 50) {
		var commands []string
		for _, id := range ids {
			commands = append(commands, "STAT "+id)
		}
		if err := c.send(commands...); err != nil {
			return 0, err
		}
		for _, command := range commands {
			answer, err := c.answer(command, 223)
			if err != nil && !gone(err) {
				return 0, err
			}
			if number, _ := readStat(answer); number > 0 {
				first = min(first, number)
			}
		}
	}
	return first - 1, nil
}

// articles asks for the articles behind at up to last, all at once, and moves at on.
func articles(c *conn, source string, at *cursor, last int64) (mail.Batch, error) {
	var commands []string
	for n := at.Number + 1; n <= last; n++ {
		commands = append(commands, "ARTICLE "+strconv.FormatInt(n, 10))
	}
	if err := c.send(commands...); err != nil {
		return mail.Batch{}, err
	}
	var batch mail.Batch
	for _, command := range commands {
		answer, err := c.answer(command, 220)
		if gone(err) {
			continue
		}
		if err != nil {
			return mail.Batch{}, err
		}
		text, err := c.block()
		if err != nil {
			return mail.Batch{}, fmt.Errorf("%s: %w", command, err)
		}
		if _, at.ID = readStat(answer); !utf8.ValidString(at.ID) {
			at.ID = "" // a cursor cannot hold it
		}
		at.Number, err = strconv.ParseInt(strings.TrimPrefix(command, "ARTICLE "), 10, 64)
		if err != nil {
			return mail.Batch{}, fmt.Errorf("%s: %w", command, err)
		}
		batch.Messages = append(batch.Messages, mail.Raw{
			Bytes: mail.Canonical(withoutNews(text)), Origin: fmt.Sprintf("%s article %d", source, at.Number)})
	}
	at.Number = last // those at the end may have been deleted
	return batch, nil
}

// withoutNews takes from a header what public-inbox 1.9 adds for news clients, and
// gives a mail that has several ids all of them again: the server's own comes in
// Message-ID then, those of the mail in X-Alt-Message-ID behind all other fields,
// while in the archive it is the other way round.
func withoutNews(article []byte) []byte {
	header, body, ok := bytes.Cut(article, []byte("\n\n"))
	if !ok {
		header, body = bytes.TrimSuffix(article, []byte("\n")), nil
	}
	var fields [][]byte // with the lines that continue them
	for line := range bytes.Lines(append(bytes.Clone(header), '\n')) {
		if last := len(fields) - 1; last >= 0 && (line[0] == ' ' || line[0] == '\t') {
			fields[last] = append(bytes.Clone(fields[last]), line...)
		} else {
			fields = append(fields, line)
		}
	}
	var kept, ids, others [][]byte
	id := -1 // the place of the Message-ID in kept
	for _, field := range fields {
		name, value, _ := bytes.Cut(field, []byte(":"))
		switch strings.ToLower(string(name)) {
		case "xref", "newsgroups", "path":
		case "x-alt-message-id":
			others = append(others, append([]byte("Message-ID:"), value...))
		case "message-id":
			if id < 0 {
				id = len(kept)
			}
			ids = append(ids, field)
		default:
			kept = append(kept, field)
		}
	}
	if len(others) > 0 {
		kept = slices.Insert(kept, max(id, 0), others...)
		kept = append(kept, ids...)
	} else if id >= 0 {
		kept = slices.Insert(kept, id, ids...)
	}
	return append(append(bytes.Join(kept, nil), '\n'), body...)
}

func (g *Group) log() *slog.Logger {
	if g.Log != nil {
		return g.Log
	}
	return slog.Default()
}
