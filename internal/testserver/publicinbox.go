package testserver

import (
	_ "embed"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"uabot/internal/testenv"
)

//go:embed add.pl
var addScript string

// PublicInbox is a public-inbox server with one inbox, "uaccess".
type PublicInbox struct {
	Dir       string // of the inbox; its epochs are git/0.git, git/1.git …
	URL       string // of the inbox: http://127.0.0.1:PORT/uaccess
	NNTP      string // address
	Newsgroup string
	IMAP      string // address; any user and password
	Mailbox   string // in IMAP: 50,000 mails a slice, this is the first

	env     []string
	work    string
	process *process
	listen  []string
	script  string
	files   int
}

const inboxName = "uaccess"

// NewPublicInbox starts a server whose inbox is empty.
func NewPublicInbox(t testing.TB) *PublicInbox {
	t.Helper()
	testenv.Tool(t, "git", "perl", "public-inbox-init", "public-inbox-netd", "public-inbox-learn", "public-inbox-purge")
	work := dir(t, "public-inbox")
	// What it compiles takes a second, and is the same for all.
	inline := filepath.Join(testenv.Cache(t), "perl-inline")
	if err := os.MkdirAll(inline, 0o755); err != nil {
		t.Fatal(err)
	}
	p := &PublicInbox{
		Dir: filepath.Join(work, "inbox"), Newsgroup: "org.example.uaccess", Mailbox: "org.example.uaccess.0",
		work: work, script: filepath.Join(work, "add.pl"),
		env: append(os.Environ(), "HOME="+work, "PI_CONFIG="+work+"/config", "PI_DIR="+work+"/pi",
			"PERL_INLINE_DIRECTORY="+inline, "GIT_CONFIG_NOSYSTEM=1", "TMPDIR="+work),
		listen: []string{"-l", "http://127.0.0.1:0", "-l", "nntp://127.0.0.1:0", "-l", "imap://127.0.0.1:0"},
	}
	writeFile(t, p.script, 0o644, "%s", addScript)
	run(t, p.env, nil, "public-inbox-init", "-V2", "-L", "full", "--ng", p.Newsgroup, inboxName, p.Dir,
		"http://127.0.0.1/"+inboxName+"/", inboxName+"@lists.example.org")
	p.Start(t)
	return p
}

var bound = regexp.MustCompile(`(?m)^# bound (\w+)://(\S+)$`)

// Start starts the server again after Stop, on the same ports.
func (p *PublicInbox) Start(t testing.TB) {
	t.Helper()
	p.process = start(t, filepath.Join(p.work, "netd.log"), p.env, append([]string{"public-inbox-netd", "-W0"}, p.listen...)...)
	var lines [][]string
	until(t, "public-inbox-netd listens", func() bool {
		lines = bound.FindAllStringSubmatch(string(p.process.said()), -1)
		return len(lines) == 3
	})
	p.listen = nil
	for _, line := range lines {
		p.listen = append(p.listen, "-l", line[1]+"://"+line[2])
		switch line[1] {
		case "http":
			p.URL = "http://" + line[2] + "/" + inboxName
		case "nntp":
			p.NNTP = line[2]
		case "imap":
			p.IMAP = line[2]
		}
	}
}

// Stop ends the server; its connections break.
func (p *PublicInbox) Stop(t testing.TB) {
	t.Helper()
	p.process.stop(t)
}

// Add brings mails into the inbox as a list's delivery would.
func (p *PublicInbox) Add(t testing.TB, raw ...[]byte) {
	t.Helper()
	p.add(t, "0", raw)
}

// AddInNewEpoch is Add into a git epoch that is started for them.
func (p *PublicInbox) AddInNewEpoch(t testing.TB, raw ...[]byte) {
	t.Helper()
	p.add(t, "1", raw)
}

func (p *PublicInbox) add(t testing.TB, newEpoch string, raw [][]byte) {
	t.Helper()
	command := []string{"perl", p.script, inboxName, newEpoch}
	for _, bytes := range raw {
		p.files++
		file := filepath.Join(p.work, fmt.Sprint("mail", p.files))
		writeFile(t, file, 0o644, "%s", bytes)
		command = append(command, file)
	}
	output := string(run(t, p.env, nil, command...))
	if !strings.HasSuffix("\n"+output, fmt.Sprintf("\n%d mails\n", len(raw))) {
		t.Fatalf("public-inbox was given %d mails and said:\n%s", len(raw), output)
	}
	for _, file := range command[4:] {
		os.Remove(file)
	}
	p.reload()
}

// reload makes search see what changed; by itself it takes up to 40 s.
func (p *PublicInbox) reload() { p.process.cmd.Process.Signal(syscall.SIGHUP) }

// Remove takes a mail out of the inbox; the history keeps it (file `d`).
func (p *PublicInbox) Remove(t testing.TB, raw []byte) {
	t.Helper()
	run(t, p.env, raw, "public-inbox-learn", "rm")
	p.reload()
}

// Purge takes a mail out of the inbox and its history, which is rewritten.
func (p *PublicInbox) Purge(t testing.TB, raw []byte) {
	t.Helper()
	run(t, p.env, raw, "public-inbox-purge", p.Dir)
	p.reload()
}

// WaitSearchable waits until the search index answers for a Message-ID.
func (p *PublicInbox) WaitSearchable(t testing.TB, messageID string) {
	t.Helper()
	p.WaitFound(t, "m:"+messageID)
}

// WaitFound waits until a search has a hit.
func (p *PublicInbox) WaitFound(t testing.TB, query string) {
	t.Helper()
	until(t, "search finds "+query, func() bool {
		response, err := http.Get(p.URL + "/?x=A&q=" + url.QueryEscape(query))
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}
