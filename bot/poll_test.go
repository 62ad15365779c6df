package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"uabot/config"
	"uabot/internal/testserver"
	"uabot/mail/mbox"
)

// TestPoll follows a real public-inbox through git and its news server, each with a
// database of its own: what is new is listed once.
func TestPoll(t *testing.T) {
	server := testserver.NewPublicInbox(t)
	add := func(name string) {
		t.Helper()
		for raw, err := range mbox.Open(filepath.Join(examplesDir(t), name)) {
			if err != nil {
				t.Fatal(err)
			}
			server.Add(t, raw)
		}
	}
	add("fat-readdir-v1.mbox")
	sources := map[string]string{
		"git":  "kind = \"git\"\nurl = \"" + server.URL + "\"\n",
		"nntp": "kind = \"nntp\"\nurl = \"nntp://" + server.NNTP + "/" + server.Newsgroup + "\"\n",
	}
	settings := map[string]string{}
	for kind, source := range sources {
		dir := t.TempDir()
		settings[kind] = filepath.Join(dir, "uabot.toml")
		text := "cache = \"cache\"\ndatabase = \"data/uabot.db\"\n[[source]]\n" + source
		if err := os.WriteFile(settings[kind], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	poll := func(kind string) string {
		t.Helper()
		code, out, words := run(t, "poll", "--once", "--config", settings[kind])
		if code != exitClean {
			t.Fatalf("%s: code %d\n%s%s", kind, code, out, words)
		}
		return out
	}
	for kind := range sources {
		if out := poll(kind); !strings.Contains(out, "v1    2/2 fat: One user access per entry") || !strings.Contains(out, "3 mails, 1 series, 1 about user access") {
			t.Errorf("%s: the first revision:\n%s", kind, out)
		}
		if out := poll(kind); out != "0 mails, 0 series, 0 about user access\n" {
			t.Errorf("%s: nothing is new, but it lists\n%s", kind, out)
		}
	}
	add("fat-readdir-v2.mbox")
	for kind := range sources {
		if out := poll(kind); !strings.Contains(out, "v2    2/2 ") || strings.Contains(out, "v1 ") || !strings.Contains(out, "3 mails, 1 series, 1 about user access") {
			t.Errorf("%s: the second revision:\n%s", kind, out)
		}
	}
}

// A series is fetched whole by the id of any of its mails, or by the address of one.
func TestReviewByMessageID(t *testing.T) {
	server := testserver.NewPublicInbox(t)
	for _, name := range []string{"fat-readdir-v1.mbox", "fat-readdir-v2.mbox"} {
		for raw, err := range mbox.Open(filepath.Join(examplesDir(t), name)) {
			if err != nil {
				t.Fatal(err)
			}
			server.Add(t, raw)
		}
	}
	p := &program{stderr: io.Discard, config: config.Default()}
	p.config.Archive = server.URL
	const id = "202610050920.fat-v1-2-ada@dev.example.org"
	for _, source := range []string{id, "<" + id + ">", server.URL + "/" + id + "/", server.URL + "/" + id + "/t.mbox.gz"} {
		series, requests, err := p.readSource(t.Context(), nil, &reviewFlags{}, source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if len(series) != 1 || len(series[0].Patches) != 2 || series[0].Version != 1 || requests[0].Source != id {
			t.Errorf("%s: got %d series, the first %+v", source, len(series), series[0])
		}
	}
	if _, _, err := p.readSource(t.Context(), nil, &reviewFlags{}, "nobody@dev.example.org"); err == nil || !strings.Contains(err.Error(), "nobody@dev.example.org") {
		t.Errorf("an id that is not there: %v", err)
	}
}

// A source that does not answer is named, and ends with code 2.
func TestPollNoAnswer(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "uabot.toml")
	text := "database = \"uabot.db\"\n[[source]]\nkind = \"git\"\ndir = \"" + filepath.Join(dir, "nowhere") + "\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, words := run(t, "poll", "--once", "--config", file)
	if code != exitTrouble || !strings.Contains(words, "nowhere") {
		t.Errorf("code %d: %s", code, words)
	}
	if code, _, words := run(t, "poll", "--once", "--config", "/dev/null"); code != exitTrouble || !strings.Contains(words, "there is no [[source]] in the configuration") {
		t.Errorf("no source: code %d: %s", code, words)
	}
}
