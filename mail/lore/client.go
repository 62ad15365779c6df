// Package lore takes mails from a public-inbox server over HTTP, as
// lore.kernel.org is one: by search (Search), or a whole thread by one Message-ID
// (Client.FetchThread). Its subdirectories take them from the server's git epochs
// and over NNTP.
//
// An archive that serves a community is to be used politely: a Client says who it
// is, sends one request at a time to a host, and stays away as long as the host
// asks for.
//
// Traps. The server answers in more ways than its status says: a form in HTML for
// a search that was not a POST, a page that wants a browser to prove itself, 404
// for "no hits" as for "no such inbox". So nothing is taken for mails but gzip, and
// a 404 is told apart by its text. A search does not see a new mail at once: the
// server's index lags by up to 40 s in public-inbox 1.9.
package lore

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"uabot/mail"
)

var (
	// ErrNotFound is wrapped when the server has no such inbox or no such mail.
	ErrNotFound = errors.New("not found")
	// ErrChallenge is wrapped when a page of HTML came where mails were asked
	// for: a server that wants a person in front of a browser, or no
	// public-inbox at all.
	ErrChallenge = errors.New("a web page came instead of mails")
	// ErrTooLarge is wrapped when an answer is larger than Client.MaxBytes.
	ErrTooLarge = errors.New("too large")
)

// Client asks public-inbox servers. One is enough for a program: it is what holds
// back a second request to a host until the first one is done.
type Client struct {
	// UserAgent names the bot and how to reach who runs it:
	// "uabot/1.0 (+https://uabot.example.org; mailto:owner@example.org)".
	UserAgent string
	// MaxBytes bounds an answer after decompression; 0 is 64 MiB.
	MaxBytes int64
	// Stall is how long an answer may make no progress; 0 is a minute.
	Stall time.Duration
	// Retries is how often a request that failed for the moment is made again
	// (0: three times, negative: never), Backoff the time before the first
	// (0: 2 s), doubled each time. A Retry-After that is longer than a minute is
	// not waited for: requests fail until then.
	Retries int
	Backoff time.Duration

	mu    sync.Mutex
	hosts map[string]*host
}

// host is a server's place in the queue.
type host struct {
	busy  chan struct{} // holds one token while a request is running
	until time.Time     // the server asked not to be asked before
}

const longestWait = time.Minute

// transport bounds what no context does. DisableCompression: what is gzip is asked
// for as such and must be seen as such.
var transport = func() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true
	t.MaxResponseHeaderBytes = 1 << 16
	return t
}()

// httpClient follows a redirect within a host only: elsewhere is not who was asked.
var httpClient = &http.Client{
	Transport: transport,
	CheckRedirect: func(request *http.Request, via []*http.Request) error {
		if request.URL.Host != via[0].URL.Host || len(via) > 3 || request.Method != via[0].Method {
			return http.ErrUseLastResponse
		}
		return nil
	},
}

// answer is a response of which the status was seen to be 200.
type answer struct {
	header http.Header
	body   io.Reader // bounded and under a timer
}

// get makes one request, again when it failed for the moment, and hands a 200
// response to use. Its errors are returned as they are.
func (c *Client) get(ctx context.Context, method, address string, use func(answer) error) error {
	if err := c.identified(); err != nil {
		return err
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return fmt.Errorf("%q is not a web address", address)
	}
	host := c.host(parsed.Host)
	select {
	case host.busy <- struct{}{}:
		defer func() { <-host.busy }()
	case <-ctx.Done():
		return fmt.Errorf("wait to ask %s: %w", parsed.Host, ctx.Err())
	}
	retries, backoff := c.Retries, c.Backoff
	if retries == 0 {
		retries = 3
	}
	if backoff == 0 {
		backoff = 2 * time.Second
	}
	for attempt := 0; ; attempt++ {
		if wait := time.Until(host.until); wait > longestWait {
			return fmt.Errorf("%s asked to be left alone for %v more: %w", parsed.Host, wait.Round(time.Second), mail.ErrTemporary)
		} else if err := sleep(ctx, wait); err != nil {
			return err
		}
		err := c.once(ctx, method, address, host, use)
		if err == nil || !errors.Is(err, mail.ErrTemporary) || attempt >= retries || ctx.Err() != nil {
			return err
		}
		// Not all clients that failed together come back together.
		wait := backoff << min(attempt, 6)
		if err := sleep(ctx, min(longestWait, wait+rand.N(wait/2+1))); err != nil {
			return err
		}
	}
}

// brief is an address for an error: a search for all symbols fills a page.
func brief(address string) string {
	const enough = 120
	if len(address) > enough {
		return address[:enough] + "…"
	}
	return address
}

func (c *Client) identified() error {
	if !strings.Contains(c.UserAgent, "@") && !strings.Contains(c.UserAgent, "://") {
		return fmt.Errorf("the user agent %q names no contact: a bot says whose it is", c.UserAgent)
	}
	return nil
}

func (c *Client) host(name string) *host {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hosts == nil {
		c.hosts = map[string]*host{}
	}
	if c.hosts[name] == nil {
		c.hosts[name] = &host{busy: make(chan struct{}, 1)}
	}
	return c.hosts[name]
}

func (c *Client) once(ctx context.Context, method, address string, host *host, use func(answer) error) error {
	stall := c.Stall
	if stall == 0 {
		stall = time.Minute
	}
	what := method + " " + brief(address)
	stalled := fmt.Errorf("%s: no progress for %v: %w", what, stall, mail.ErrTemporary)
	asking, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(stall, func() { cancel(stalled) })
	defer timer.Stop()

	request, err := http.NewRequestWithContext(asking, method, address, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	request.Header.Set("User-Agent", c.UserAgent)
	response, err := httpClient.Do(request)
	if err != nil {
		var failure *url.Error // which names the whole address
		if errors.As(err, &failure) {
			err = failure.Err
		}
		return broken(ctx, asking, fmt.Errorf("%s: %w", what, err))
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return refused(what, response, host)
	}
	limit := c.MaxBytes
	if limit == 0 {
		limit = 64 << 20
	}
	body := &progress{r: response.Body, tick: func() { timer.Reset(stall) }, left: limit}
	err = use(answer{header: response.Header, body: body})
	if err != nil {
		err = fmt.Errorf("%s: %w", what, err)
		if body.failed != nil {
			return broken(ctx, asking, err)
		}
	}
	return err
}

// broken says of an error of the connection that it is temporary, and of one that
// the timer or the caller made what it really was.
func broken(ctx, asking context.Context, err error) error {
	switch {
	case ctx.Err() != nil, errors.Is(err, ErrTooLarge):
		return err
	case asking.Err() != nil:
		return context.Cause(asking)
	}
	return fmt.Errorf("%w: %w", err, mail.ErrTemporary)
}

// refused makes an error of a response that is not 200, and notes what the server
// asked for.
func refused(what string, response *http.Response, host *host) error {
	text, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
	said := what + ": " + response.Status
	switch status := response.StatusCode; {
	case status == http.StatusNotFound && bytes.Contains(text, []byte("No results found")):
		return fmt.Errorf("%s: %w", said, errNoHits)
	case status == http.StatusNotFound, status == http.StatusMultipleChoices, status == http.StatusGone:
		// 300 is public-inbox's page of ids that look like the one it does not have.
		return fmt.Errorf("%s: %w", said, ErrNotFound)
	case status == http.StatusTooManyRequests, status >= 500, status == http.StatusRequestTimeout:
		if wait := retryAfter(response.Header); wait > 0 {
			host.until = time.Now().Add(wait)
		}
		return fmt.Errorf("%s: %w", said, mail.ErrTemporary)
	case isHTML(response.Header):
		return fmt.Errorf("%s: %w", said, ErrChallenge)
	}
	return errors.New(said)
}

// retryAfter reads RFC 9110, 10.2.3: seconds or a date. More than a day is taken
// for a day.
func retryAfter(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	wait := time.Duration(0)
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = time.Until(at)
	}
	return max(0, min(wait, 24*time.Hour))
}

func isHTML(header http.Header) bool {
	kind := header.Get("Content-Type")
	return strings.HasPrefix(kind, "text/html") || strings.HasPrefix(kind, "application/xhtml")
}

func sleep(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait before asking again: %w", ctx.Err())
	}
}

// progress reads a bounded number of bytes and tells a timer that they come.
type progress struct {
	r      io.Reader
	tick   func()
	left   int64
	failed error // what the connection failed with
}

func (p *progress) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.left -= int64(n)
	if p.left < 0 {
		p.failed = ErrTooLarge
		return 0, p.failed
	}
	if n > 0 {
		p.tick()
	}
	if err != nil && err != io.EOF {
		p.failed = err
	}
	return n, err
}

// gunzip returns the bytes of a gzip answer. An answer that is anything else is
// refused, whatever its header says; one that ends early is temporary.
func (c *Client) gunzip(a answer) (io.Reader, error) {
	limit := c.MaxBytes
	if limit == 0 {
		limit = 64 << 20
	}
	magic := make([]byte, 2)
	n, err := io.ReadFull(a.body, magic)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		if isHTML(a.header) {
			return nil, ErrChallenge
		}
		return nil, fmt.Errorf("not gzip but %q, which begins with %q", a.header.Get("Content-Type"), magic[:n])
	}
	unzip, err := gzip.NewReader(io.MultiReader(bytes.NewReader(magic), a.body))
	if err != nil {
		return nil, cutShort(err)
	}
	return &unzipped{unzip, limit}, nil
}

// unzipped bounds what comes out of gzip, which the size of the answer does not.
type unzipped struct {
	r    io.Reader
	left int64
}

func (u *unzipped) Read(b []byte) (int, error) {
	n, err := u.r.Read(b)
	u.left -= int64(n)
	if u.left < 0 {
		return 0, ErrTooLarge
	}
	if err != nil && err != io.EOF {
		err = cutShort(err)
	}
	return n, err
}

// cutShort: gzip that breaks off or has a wrong sum is a connection that broke.
func cutShort(err error) error {
	if errors.Is(err, ErrTooLarge) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("the gzip stream broke off: %w: %w", err, mail.ErrTemporary)
}
