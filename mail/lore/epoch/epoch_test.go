package epoch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"uabot/internal/sourcetest"
	"uabot/internal/testserver"
	"uabot/mail"
	"uabot/mail/lore"
	"uabot/mail/lore/epoch"
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

func TestMirror(t *testing.T) {
	t.Parallel()
	server := testserver.NewPublicInbox(t)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := testserver.NewProxy(t, u.Host)
	dir := t.TempDir()
	mirrors := 0
	sourcetest.Run(t, sourcetest.Setup{
		Add: server.Add, Alters: true, Proxy: proxy, Stop: server.Stop, Start: server.Start,
		Source: func(t testing.TB, patience time.Duration) mail.Source {
			mirrors++ // a mirror that is complete would have nothing to break
			at := filepath.Join(dir, fmt.Sprint(t.Name(), mirrors))
			if t.Name() == "TestMirror/store_fails" {
				at = filepath.Join(dir, "kept")
			}
			return &epoch.Archive{Inbox: through(t, server.URL, proxy.Addr), Client: client(patience), Dir: at, Batch: 3, Log: quiet}
		},
	})
}

func TestLocal(t *testing.T) {
	t.Parallel()
	server := testserver.NewPublicInbox(t)
	sourcetest.Run(t, sourcetest.Setup{
		Add: server.Add, Alters: true,
		Source: func(t testing.TB, patience time.Duration) mail.Source {
			return &epoch.Archive{Dir: server.Dir, Batch: 3, Log: quiet}
		},
	})
}

var quiet = slog.New(slog.DiscardHandler)

// follower takes what a source delivers, as the program does.
type follower struct {
	source  mail.Source
	cursor  string
	taken   []mail.Raw
	deleted []mail.Deletion
}

func (f *follower) pull(t *testing.T) ([]mail.Raw, []mail.Deletion) {
	t.Helper()
	f.taken, f.deleted = nil, nil
	err := f.source.Pull(t.Context(), f.cursor, func(_ context.Context, batch mail.Batch) error {
		f.taken, f.deleted = append(f.taken, batch.Messages...), append(f.deleted, batch.Deleted...)
		f.cursor = batch.Cursor
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return f.taken, f.deleted
}

// What a list's archive goes through in years: epochs, removed, purged and
// edited mails, a mirror that is lost.
func TestHistory(t *testing.T) {
	t.Parallel()
	server := testserver.NewPublicInbox(t)
	mirror := t.TempDir()
	f := &follower{source: &epoch.Archive{Inbox: server.URL, Client: client(sourcetest.Patience), Dir: mirror, Batch: 2, Log: quiet}}
	local := &follower{source: &epoch.Archive{Dir: server.Dir, Batch: 2, Log: quiet}}
	both := func(when string, mails [][]byte, deleted []mail.Deletion) {
		t.Helper()
		followers := map[string]*follower{"mirror": f, "local": local}
		if deleted != nil && deleted[0].Purged {
			delete(followers, "local") // whose former history the server has thrown away
			defer local.pull(t)
		}
		for name, follower := range followers {
			taken, gone := follower.pull(t)
			if len(taken) != len(mails) {
				t.Errorf("%s, %s: %d mails, want %d", when, name, len(taken), len(mails))
			} else {
				for i := range taken {
					if !bytes.Equal(taken[i].Bytes, mails[i]) {
						t.Errorf("%s, %s: mail %d is\n%s\nwant\n%s", when, name, i, taken[i].Bytes, mails[i])
					}
					if taken[i].Received.IsZero() {
						t.Errorf("%s, %s: mail %d does not say when it was received", when, name, i)
					}
				}
			}
			if fmt.Sprint(gone) != fmt.Sprint(deleted) {
				t.Errorf("%s, %s: deletions %v, want %v", when, name, gone, deleted)
			}
		}
	}
	var m [][]byte
	for i := range 12 {
		m = append(m, sourcetest.Mail(i, fmt.Sprintf("body %d\n", i)))
	}
	server.Add(t, m[0], m[1], m[2], m[3])
	both("first", m[:4], nil)
	server.AddInNewEpoch(t, m[4], m[5])
	server.Add(t, m[6])
	both("a new epoch", m[4:7], nil)
	server.Remove(t, m[5])
	both("removed", nil, []mail.Deletion{{Content: mail.SumOf(m[5])}})
	server.Remove(t, m[0])
	both("removed, of an old epoch", nil, []mail.Deletion{{Content: mail.SumOf(m[0])}})
	server.Add(t, m[0])
	both("added again", m[:1], nil)

	// Purged from both epochs; mails that come at the same time are not lost.
	server.Purge(t, m[2])
	server.Purge(t, m[4])
	server.Add(t, m[7])
	both("purged", m[7:8], []mail.Deletion{{Content: mail.SumOf(m[2]), Purged: true}, {Content: mail.SumOf(m[4]), Purged: true}})
	both("after it", nil, nil)
	if found := grepObjects(t, mirror, "body 2\n"); found {
		t.Error("what was purged is still in the mirror")
	}
	server.Add(t, m[8])
	both("afterwards", m[8:9], nil)

	// Someone who starts from nothing gets what is left, with what was removed.
	whole := &follower{source: &epoch.Archive{Dir: server.Dir}}
	taken, _ := whole.pull(t)
	if len(taken) != 8 {
		t.Errorf("from the beginning: %d mails, want 8", len(taken))
	}

	// A mirror that was lost is made again, and where history did not change no
	// mail is delivered twice.
	if err := os.RemoveAll(mirror); err != nil {
		t.Fatal(err)
	}
	server.Add(t, m[9])
	both("mirror lost", m[9:10], nil)

	// A git that was killed leaves its locks.
	for _, lock := range []string{"0.git/refs/heads/master.lock", "1.git/packed-refs.lock", "0.git/HEAD.lock", "1.git/shallow.lock"} {
		if err := os.WriteFile(filepath.Join(mirror, lock), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	server.Purge(t, m[1])
	server.Add(t, m[10])
	both("stale locks", m[10:11], []mail.Deletion{{Content: mail.SumOf(m[1]), Purged: true}})
}

// grepObjects looks through everything a mirror's epochs hold, reachable or not.
func grepObjects(t *testing.T, mirror, text string) bool {
	t.Helper()
	repositories, err := filepath.Glob(filepath.Join(mirror, "*.git"))
	if err != nil || len(repositories) == 0 {
		t.Fatalf("no mirror in %s: %v", mirror, err)
	}
	for _, repository := range repositories {
		output := git(t, repository, "cat-file", "--batch", "--batch-all-objects", "--unordered")
		if bytes.Contains(output, []byte(text)) {
			return true
		}
	}
	return false
}

// A rewrite that is interrupted goes on where it was.
func TestRewriteInterrupted(t *testing.T) {
	t.Parallel()
	server := testserver.NewPublicInbox(t)
	var m [][]byte
	for i := range 12 {
		m = append(m, sourcetest.Mail(i, fmt.Sprintf("body %d\n", i)))
	}
	server.Add(t, m[:6]...)
	f := &follower{source: &epoch.Archive{Inbox: server.URL, Client: client(sourcetest.Patience), Dir: t.TempDir(), Batch: 1, Log: quiet}}
	f.pull(t)
	server.Purge(t, m[1])
	server.Add(t, m[6:9]...)
	stop := errors.New("killed")
	var taken int
	err := f.source.Pull(t.Context(), f.cursor, func(_ context.Context, batch mail.Batch) error {
		if taken += len(batch.Messages); taken > 2 {
			return stop
		}
		f.cursor = batch.Cursor
		return nil
	})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	server.Purge(t, m[7]) // taken from the history that was rewritten first
	server.Add(t, m[9])
	mails, deleted := f.pull(t)
	if len(mails) != 2 || !bytes.Equal(mails[0].Bytes, m[8]) || !bytes.Equal(mails[1].Bytes, m[9]) {
		t.Errorf("%d mails, want those two that were not taken", len(mails))
	}
	purged := map[mail.Sum]bool{}
	for _, d := range deleted {
		purged[d.Content] = d.Purged
	}
	if len(deleted) != 2 || !purged[mail.SumOf(m[1])] || !purged[mail.SumOf(m[7])] {
		t.Errorf("deletions %v, want both that were purged", deleted)
	}
}

func TestSince(t *testing.T) {
	t.Parallel()
	server := testserver.NewPublicInbox(t)
	m := [][]byte{sourcetest.Mail(-72*3600, "old\n"), sourcetest.Mail(-48*3600, "older than asked for\n"), sourcetest.Mail(1, "new\n"), sourcetest.Mail(2, "new\n")}
	server.Add(t, m[0])
	server.AddInNewEpoch(t, m[1], m[2])
	server.AddInNewEpoch(t, m[3])
	mirror := t.TempDir()
	f := &follower{source: &epoch.Archive{Inbox: server.URL, Client: client(sourcetest.Patience), Dir: mirror, Since: time.Now().Add(-24 * time.Hour), Log: quiet}}
	taken, _ := f.pull(t)
	if len(taken) != 2 || !bytes.Equal(taken[0].Bytes, m[2]) || !bytes.Equal(taken[1].Bytes, m[3]) {
		t.Errorf("%d mails, want the two new ones", len(taken))
	}
	if _, err := os.Stat(filepath.Join(mirror, "0.git")); err == nil {
		t.Error("an epoch that is too old as a whole was mirrored")
	}
	late := sourcetest.Mail(-96*3600, "dated long ago, but it comes now\n")
	server.Add(t, late)
	if taken, _ := f.pull(t); len(taken) != 1 {
		t.Errorf("a new mail with an old date: %d mails", len(taken))
	}
}

// None of these may look like an archive in which nothing happens.
func TestWrongPlace(t *testing.T) {
	t.Parallel()
	server := testserver.NewPublicInbox(t)
	server.Add(t, sourcetest.Mail(1, "body\n"))
	empty, other := t.TempDir(), t.TempDir()
	git(t, empty, "init", "--quiet", "--bare", empty)
	git(t, other, "init", "--quiet", "--bare", other)
	tree := bytes.TrimSpace(git(t, other, "hash-object", "-t", "tree", "-w", "/dev/null"))
	commit := bytes.TrimSpace(git(t, other, "-c", "user.name=x", "-c", "user.email=x@x", "commit-tree", "-m", "x", string(tree)))
	git(t, other, "update-ref", "HEAD", string(commit))
	for name, archive := range map[string]*epoch.Archive{
		"no such inbox":       {Inbox: server.URL + "nosuch", Client: client(sourcetest.Patience)},
		"an epoch, not inbox": {Inbox: server.URL + "/0", Client: client(sourcetest.Patience)},
		"the server":          {Inbox: server.URL + "/..", Client: client(sourcetest.Patience)},
		"an empty repository": {Dir: empty},
		"another repository":  {Dir: other},
		"no repository":       {Dir: t.TempDir()},
		"no directory":        {Dir: filepath.Join(t.TempDir(), "none")},
	} {
		if archive.Dir == "" {
			archive.Dir = t.TempDir()
		}
		err := archive.Pull(t.Context(), "", func(context.Context, mail.Batch) error {
			t.Errorf("%s: delivered something", name)
			return nil
		})
		if err == nil || errors.Is(err, mail.ErrTemporary) {
			t.Errorf("%s: error %v", name, err)
		}
		if archive.Inbox != "" && !errors.Is(err, lore.ErrNotFound) {
			t.Errorf("%s: error %v, want one that is lore.ErrNotFound", name, err)
		}
	}
}
