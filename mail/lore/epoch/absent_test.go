package epoch_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"uabot/internal/testenv"
	"uabot/mail"
	"uabot/mail/lore/epoch"
)

// A copy of an archive may lack the content of a large mail. Whoever says so gets the
// others and the name of that one; for anybody else it is an error, since a mail must
// not get lost unseen.
func TestAbsent(t *testing.T) {
	testenv.Tool(t, "git")
	dir := t.TempDir()
	bare := filepath.Join(dir, "0.git")
	word := func(args ...string) string { return strings.TrimSpace(string(git(t, bare, args...))) }
	word("init", "-q", "--bare")
	var parent []string
	var large string
	for _, subject := range []string{"first", "large", "last"} {
		file := filepath.Join(dir, "m")
		text := "From: Ada <ada@dev.example.org>\nMessage-ID: <" + subject + "@dev.example.org>\nSubject: " + subject + "\n\nText.\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		blob := word("hash-object", "-w", file)
		word("update-index", "--add", "--cacheinfo", "100644,"+blob+",m")
		commit := append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "commit-tree", "-m", subject}, parent...)
		id := word(append(commit, word("write-tree"))...)
		word("update-ref", "HEAD", id)
		parent = []string{"-p", id}
		if subject == "large" {
			large = blob
		}
	}
	if err := os.Remove(filepath.Join(bare, "objects", large[:2], large[2:])); err != nil {
		t.Fatal(err)
	}
	var got, absent []string
	deliver := func(_ context.Context, b mail.Batch) error {
		for _, m := range b.Messages {
			_, rest, _ := strings.Cut(string(m.Bytes), "Subject: ")
			subject, _, _ := strings.Cut(rest, "\n")
			got = append(got, subject)
		}
		return nil
	}
	archive := &epoch.Archive{Dir: bare, Log: quiet}
	if err := archive.Pull(t.Context(), "", deliver); err == nil || !strings.Contains(err.Error(), large) {
		t.Errorf("without being asked: %v", err)
	}
	got = nil
	archive.Absent = func(origin string) { absent = append(absent, origin) }
	if err := archive.Pull(t.Context(), "", deliver); err != nil {
		t.Fatal(err)
	}
	if strings.Join(got, " ") != "first last" || len(absent) != 1 {
		t.Errorf("got %v, absent %v", got, absent)
	}
}
