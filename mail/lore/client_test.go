package lore

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"uabot/mail"
)

func zipped(text string) []byte {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	zip.Write([]byte(text))
	zip.Close()
	return out.Bytes()
}

func quick() *Client {
	return &Client{UserAgent: "uabot/test (+mailto:test@example.org)", Stall: 300 * time.Millisecond, Backoff: time.Millisecond}
}

// serve answers every request with the handler, and counts them.
func serve(t *testing.T, handler http.HandlerFunc) (string, *atomic.Int32) {
	t.Helper()
	var count atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count.Add(1)
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/list", &count
}

const mbox = from + "Message-ID: <1@x>\n\nbody\n\n"

// What servers answer that is not what was asked for. The temporary ones are asked
// again three times, the others once.
func TestAnswers(t *testing.T) {
	anubis := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><html><title>Making sure you&#39;re not a bot!</title>")
	}
	for _, test := range []struct {
		name      string
		answer    func(http.ResponseWriter)
		want      error // nil: any that lasts
		temporary bool
	}{
		{"a challenge for browsers", anubis, ErrChallenge, false},
		{"a challenge that says it is refused", func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusForbidden)
		}, ErrChallenge, false},
		{"a page that says it is gzip", func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/gzip")
			fmt.Fprint(w, "<!doctype html>")
		}, nil, false},
		{"gzip of a page", func(w http.ResponseWriter) { w.Write(zipped("<!doctype html>")) }, nil, false},
		{"nothing at all", func(http.ResponseWriter) {}, nil, false},
		{"404 without a text, an unknown thread", func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }, ErrNotFound, false},
		{"404, an unknown inbox", func(w http.ResponseWriter) { http.Error(w, "Not Found", http.StatusNotFound) }, ErrNotFound, false},
		{"300, ids that look like it", func(w http.ResponseWriter) { w.WriteHeader(http.StatusMultipleChoices) }, ErrNotFound, false},
		{"401", func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }, nil, false},
		{"a redirect to another host", func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://192.0.2.1/")
			w.WriteHeader(http.StatusFound)
		}, nil, false},
		{"busy", func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }, mail.ErrTemporary, true},
		{"too many requests", func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) }, mail.ErrTemporary, true},
		{"gzip that breaks off", func(w http.ResponseWriter) { w.Write(zipped(mbox)[:30]) }, mail.ErrTemporary, true},
		{"gzip with a wrong sum", func(w http.ResponseWriter) {
			text := zipped(mbox)
			text[len(text)-6]++
			w.Write(text)
		}, mail.ErrTemporary, true},
		{"a connection that breaks", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "1000")
			w.Write(zipped(mbox))
		}, mail.ErrTemporary, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			inbox, count := serve(t, func(w http.ResponseWriter, _ *http.Request) { test.answer(w) })
			for what, ask := range map[string]func(*Client) error{
				"thread": func(c *Client) error { _, err := c.Thread(t.Context(), inbox, "1@x"); return err },
				"search": func(c *Client) error { _, _, err := c.search(t.Context(), inbox, "x"); return err },
				"epochs": func(c *Client) error { _, err := c.Epochs(t.Context(), inbox); return err },
			} {
				count.Store(0)
				err := ask(quick())
				if test.name == "a connection that breaks" && err == nil {
					continue // all that was wanted came before
				}
				if err == nil || errors.Is(err, mail.ErrTemporary) != test.temporary || test.want != nil && !errors.Is(err, test.want) {
					t.Errorf("%s: %v, want %v, temporary: %v", what, err, test.want, test.temporary)
				}
				want := int32(1)
				if test.temporary {
					want = 4
				}
				if n := count.Load(); n != want {
					t.Errorf("%s: asked %d times, want %d", what, n, want)
				}
			}
		})
	}
}

func TestNoHits(t *testing.T) {
	inbox, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.FormValue("x") != "m" {
			t.Errorf("searched with %s %s", r.Method, r.URL)
		}
		http.Error(w, "No results found", http.StatusNotFound)
	})
	if hits, _, err := quick().search(t.Context(), inbox, "x"); err != nil || len(hits) != 0 {
		t.Errorf("%d hits, %v", len(hits), err)
	}
}

// Neither what comes over the wire nor what it unfolds to is without bounds.
func TestBombs(t *testing.T) {
	bomb := zipped(from + "A: b\n\n" + strings.Repeat("\x00", 100<<20))
	inbox, count := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/raw") {
			fmt.Fprint(w, from, "A: b\n\n", strings.Repeat("x", 2<<20))
			return
		}
		w.Write(bomb)
	})
	c := quick()
	c.MaxBytes = 1 << 20
	_, err := c.Thread(t.Context(), inbox, "1@x")
	if !errors.Is(err, ErrTooLarge) || errors.Is(err, mail.ErrTemporary) || count.Load() != 1 {
		t.Errorf("a gzip of %d bytes that unfolds to 100 MiB: %v, asked %d times", len(bomb), err, count.Load())
	}
	if _, err := c.Mail(t.Context(), inbox, "1@x"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a mail of 2 MiB: %v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	busy := atomic.Bool{}
	busy.Store(true)
	after := "1"
	inbox, count := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if busy.Swap(false) {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		w.Write(zipped(mbox))
	})
	c, begin := quick(), time.Now()
	if _, err := c.Thread(t.Context(), inbox, "1@x"); err != nil || time.Since(begin) < 900*time.Millisecond {
		t.Errorf("asked to wait for a second, it waited %v: %v", time.Since(begin), err)
	}
	// Longer than it is worth to wait: no request until then, not even another.
	busy.Store(true)
	after = time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	count.Store(0)
	for range 2 {
		if _, err := c.Thread(t.Context(), inbox, "1@x"); !errors.Is(err, mail.ErrTemporary) || !strings.Contains(err.Error(), "left alone") {
			t.Errorf("asked to wait for an hour: %v", err)
		}
	}
	if n := count.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// One request at a time, which says who it is from.
func TestPolite(t *testing.T) {
	var now, most atomic.Int32
	inbox, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if agent := r.UserAgent(); agent != "uabot/test (+mailto:test@example.org)" {
			t.Errorf("it calls itself %q", agent)
		}
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		time.Sleep(20 * time.Millisecond)
		w.Write(zipped(mbox))
	})
	c := quick()
	done := make(chan error)
	for range 5 {
		go func() {
			_, err := c.Thread(t.Context(), inbox, "1@x")
			done <- err
		}()
	}
	for range 5 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d requests at a time", most.Load())
	}
	for _, agent := range []string{"", "Mozilla/5.0", "uabot"} {
		if _, err := (&Client{UserAgent: agent}).Thread(t.Context(), inbox, "1@x"); err == nil || !strings.Contains(err.Error(), "contact") {
			t.Errorf("as %q: %v", agent, err)
		}
	}
}

func TestStall(t *testing.T) {
	for _, bytes := range []int{0, 10} {
		release := make(chan struct{})
		inbox, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if bytes > 0 {
				w.Write(zipped(mbox)[:bytes])
				w.(http.Flusher).Flush()
			}
			<-release
		})
		c := quick()
		c.Retries = -1
		begin := time.Now()
		_, err := c.Thread(t.Context(), inbox, "1@x")
		if !errors.Is(err, mail.ErrTemporary) || !strings.Contains(err.Error(), "no progress") || time.Since(begin) > 2*time.Second {
			t.Errorf("silent after %d bytes: %v after %v", bytes, err, time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := c.Thread(ctx, inbox, "1@x"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("told to stop: %v", err)
		}
		close(release)
	}
}

func TestLocate(t *testing.T) {
	const all = "https://lore.kernel.org/all"
	for where, want := range map[string][2]string{
		"a@b":                                  {all, "a@b"},
		"<a@b>":                                {all, "a@b"},
		"id:a@b":                               {all, "a@b"},
		"https://lore.kernel.org/lkml/a@b/":    {"https://lore.kernel.org/lkml", "a@b"},
		"https://lore.kernel.org/r/a@b":        {all, "a@b"},
		"https://lore.kernel.org/all/a@b/T/#u": {all, "a@b"},
		"https://lore.kernel.org/all/a@b/T/#mabc":      {all, "a@b"},
		"https://lore.kernel.org/lkml/a%40b/t.mbox.gz": {"https://lore.kernel.org/lkml", "a@b"},
		"https://lore.kernel.org/lkml/a%2Fx@b/raw":     {"https://lore.kernel.org/lkml", "a/x@b"},
		"https://lore.kernel.org/all/%3Ca@b%3E/":       {all, "a@b"},
		"http://example.org/archives/list/a@b/":        {"http://example.org/archives/list", "a@b"},
	} {
		inbox, id, err := locate(all, where)
		if err != nil || inbox != want[0] || id != want[1] {
			t.Errorf("%s: %q %q, %v, want %q", where, inbox, id, err, want)
		}
	}
}

func TestReadManifest(t *testing.T) {
	text := `{"/list/git/1.git":{"fingerprint":"b"},"/list/git/0.git":{"fingerprint":"a","reference":null},
		"/list/git/10.git":{},"/other/git/0.git":{},"/list/git/../../x.git":{},"/list/git/+1.git":{},"/list/git/all.git":{},"/list/git/00.git":{}}`
	epochs, err := readManifest("https://example.org/list", []byte(text))
	if err != nil || fmt.Sprint(epochs) != "[{0 https://example.org/list/git/0.git a} {1 https://example.org/list/git/1.git b} {10 https://example.org/list/git/10.git }]" {
		t.Errorf("%v, %v", epochs, err)
	}
	if _, err := readManifest("https://example.org/nosuch", []byte(text)); !errors.Is(err, ErrNotFound) {
		t.Errorf("an inbox that is not in it: %v", err)
	}
}

func FuzzReadManifest(f *testing.F) {
	f.Add([]byte(`{"/list/git/1.git":{"fingerprint":"b"},"/list/git/0.git":{"fingerprint":null}}`))
	f.Add([]byte(`{"/list/git/-1.git":7}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		epochs, err := readManifest("https://example.org/list", text)
		for i, e := range epochs {
			if err != nil || e.URL != fmt.Sprintf("https://example.org/list/git/%d.git", e.Number) || i > 0 && epochs[i-1].Number >= e.Number {
				t.Errorf("%v, %v", epochs, err)
			}
		}
	})
}
