package config

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Source is somewhere that mails come from.
type Source struct {
	// Kind is git (public-inbox epochs, mirrored or local), search (public-inbox over
	// HTTP, only what names user access), nntp, or imap.
	Kind string `toml:"kind"`
	// URL is https://HOST/LIST for git and search; nntp[s]://HOST[:PORT]/GROUP;
	// imap[s]://HOST[:PORT]/MAILBOX, where imap means STARTTLS except on this machine.
	URL string `toml:"url"`
	Dir string `toml:"dir"` // git: a local public-inbox, instead of a URL
	// Since is the day, as 2026-01-31, where a new source begins; empty for the beginning.
	Since string `toml:"since"`

	User       string `toml:"user"`        // imap
	SecretFile string `toml:"secret_file"` // imap: a file with the password or the token
	Auth       string `toml:"auth"`        // imap: LOGIN, PLAIN, OAUTHBEARER or XOAUTH2; empty to choose
}

// Start is Since as a time, in UTC; zero when it is empty.
func (s Source) Start() time.Time {
	t, _ := time.Parse(time.DateOnly, s.Since)
	return t
}

// schemes are the URL schemes of each kind of source.
var schemes = map[string][]string{
	"git": {"https", "http"}, "search": {"https", "http"}, "nntp": {"nntps", "nntp"}, "imap": {"imaps", "imap"},
}

// check says what is wrong with s, naming the key.
func (s Source) check() (key string, err error) {
	known, ok := schemes[s.Kind]
	if !ok {
		return "kind", fmt.Errorf("a source's kind is git, search, nntp or imap, not %q", s.Kind)
	}
	if s.Since != "" {
		if _, err := time.Parse(time.DateOnly, s.Since); err != nil {
			return "since", fmt.Errorf("%q is no day: 2026-01-31 is", s.Since)
		}
	}
	if s.Kind == "git" && s.Dir != "" {
		if s.URL != "" {
			return "url", fmt.Errorf("a git source has a url to mirror or a dir, not both")
		}
		return "", nil
	}
	u, err := url.Parse(s.URL)
	switch {
	case err != nil || u.Host == "" || !slices.Contains(known, u.Scheme):
		return "url", fmt.Errorf("a source of kind %s needs a url that begins with %s://, not %q", s.Kind, strings.Join(known, ":// or "), s.URL)
	case u.User != nil:
		return "url", fmt.Errorf("name and password of a source belong in user and secret_file")
	case s.Kind != "imap":
		return "", nil
	case s.User == "":
		return "user", fmt.Errorf("an imap source needs a user")
	case s.SecretFile == "":
		return "secret_file", fmt.Errorf("an imap source needs a secret_file: a file with the password")
	case !slices.Contains([]string{"", "LOGIN", "PLAIN", "OAUTHBEARER", "XOAUTH2"}, s.Auth):
		return "auth", fmt.Errorf("auth is LOGIN, PLAIN, OAUTHBEARER or XOAUTH2, not %q", s.Auth)
	}
	return "", nil
}

// Relevance replaces what makes a series relevant; an empty list keeps the built-in
// one. Symbols are regular expressions that match whole identifiers.
type Relevance struct {
	Windows  []string `toml:"windows"`
	Accesses []string `toml:"accesses"`
	Copies   []string `toml:"copies"`
	X86      []string `toml:"x86"`
	Paths    []string `toml:"paths"`
}

// defaultDatabase is where mails and cursors are kept without a setting: data that
// is not made anew, other than the cache.
func defaultDatabase() string {
	dir := os.Getenv("XDG_DATA_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return filepath.Join(defaultCache(), "uabot.db")
		}
		dir = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(dir, "uabot", "uabot.db")
}
