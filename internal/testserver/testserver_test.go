package testserver

import (
	"fmt"
	"io"
	"net/http"
	"net/smtp"
	"os"
	"path/filepath"
	"testing"
)

func get(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(response.StatusCode, " ", string(body))
}

func mailNumbered(n int) []byte {
	return fmt.Appendf(nil, "From: A <a@example.org>\nTo: uaccess@lists.example.org\nSubject: mail %d\nDate: Mon, 30 Nov 2026 10:00:0%d +0000\nMessage-ID: <%d@example.org>\n\nbody\n", n, n, n)
}

// What the tests of the sources stand on: these servers do what they are asked for.
func TestPublicInbox(t *testing.T) {
	p := NewPublicInbox(t)
	p.Add(t, mailNumbered(1), mailNumbered(2))
	p.AddInNewEpoch(t, mailNumbered(3))
	p.WaitSearchable(t, "3@example.org")
	for epoch, want := range map[string]bool{"0": true, "1": true, "2": false} {
		if _, err := os.Stat(filepath.Join(p.Dir, "git", epoch+".git")); (err == nil) != want {
			t.Errorf("epoch %s: %v", epoch, err)
		}
	}
	p.Remove(t, mailNumbered(1))
	p.Purge(t, mailNumbered(2))
	url := p.URL
	p.Stop(t)
	if _, err := http.Get(url); err == nil {
		t.Error("it answers though it was stopped")
	}
	p.Start(t)
	if p.URL != url {
		t.Errorf("restarted at %s, was %s", p.URL, url)
	}
	if got := get(t, p.URL+"/2@example.org/raw"); got[:3] != "404" {
		t.Errorf("a purged mail: %s", got)
	}
}

func TestOpenSMTPDFeedsDovecot(t *testing.T) {
	d := NewDovecot(t)
	box := d.Maildir(t, "bot")
	s := NewOpenSMTPD(t, box)
	if err := smtp.SendMail(s.Addr, nil, "a@example.org", []string{"bot@example.org"}, mailNumbered(1)); err != nil {
		t.Fatal(err)
	}
	until(t, "the mail arrives", func() bool {
		files, err := filepath.Glob(filepath.Join(box, "new", "*"))
		return err == nil && len(files) == 1
	})
}
