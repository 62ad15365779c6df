package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"uabot/config"
	"uabot/mail"
	"uabot/mail/imap"
	"uabot/mail/lore"
	"uabot/mail/lore/epoch"
	"uabot/mail/lore/nntp"
)

// client is what archives are asked with: it says who is asking.
func (p *program) client() *lore.Client {
	agent := "uabot/" + strings.Fields(version())[0]
	contact := "mailto:" + p.config.Bot.Address
	if p.config.Bot.URL != "" {
		contact = "+" + p.config.Bot.URL + "; " + contact
	}
	return &lore.Client{UserAgent: agent + " (" + strings.ReplaceAll(contact, ")", "") + ")"}
}

// topics are what makes a series relevant, by the configuration.
func (p *program) topics() mail.Topics {
	t, own := mail.DefaultTopics(), p.config.Relevance
	for _, set := range []struct {
		to  *[]string
		own []string
	}{{&t.Windows, own.Windows}, {&t.Accesses, own.Accesses}, {&t.Copies, own.Copies}, {&t.X86, own.X86}, {&t.Paths, own.Paths}} {
		if len(set.own) > 0 {
			*set.to = set.own
		}
	}
	return t
}

// source opens a source of the configuration.
func (p *program) source(s config.Source, client *lore.Client) (mail.Source, error) {
	switch s.Kind {
	case "git":
		dir := s.Dir
		if dir == "" {
			u, err := url.Parse(s.URL)
			if err != nil {
				return nil, fmt.Errorf("source %s: %w", s.URL, err)
			}
			dir = filepath.Join(p.config.Cache, "mirrors", u.Host, filepath.FromSlash(strings.Trim(u.Path, "/")))
		}
		return &epoch.Archive{Inbox: s.URL, Client: client, Dir: dir, Since: s.Start()}, nil
	case "search":
		return &lore.Search{Client: client, Inbox: s.URL, Query: lore.Query(searchWords, nil), Since: s.Start()}, nil
	case "nntp":
		return &nntp.Group{URL: s.URL, Since: s.Start()}, nil
	case "imap":
		return mailbox(s)
	}
	return nil, fmt.Errorf("a source of kind %q is not known", s.Kind)
}

// searchWords are what an archive is searched for: whole words, as its index has no
// patterns. What comes back is judged again by the topics.
var searchWords = []string{
	"user_access_begin", "user_access_end", "user_read_access_begin", "user_read_access_end",
	"user_write_access_begin", "user_write_access_end", "masked_user_access_begin",
	"unsafe_get_user", "unsafe_put_user", "unsafe_copy_to_user", "unsafe_copy_from_user",
	"scoped_user_read_access", "scoped_user_write_access", "scoped_user_rw_access",
	"user_access_save", "user_access_restore", "__uaccess_begin", "__uaccess_begin_nospec", "__uaccess_end",
	"get_user", "put_user", "__get_user", "__put_user", "access_ok", "allow_user_access", "prevent_user_access",
}

func mailbox(s config.Source) (mail.Source, error) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", s.URL, err)
	}
	m := &imap.Mailbox{User: s.User, Auth: s.Auth, Since: s.Start(), Mailbox: strings.Trim(u.Path, "/")}
	port := "993"
	if u.Scheme == "imap" {
		port, m.Encryption = "143", imap.StartTLS
		if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
			m.Encryption = imap.Plain
		}
	}
	if u.Port() != "" {
		port = u.Port()
	}
	m.Addr = net.JoinHostPort(u.Hostname(), port)
	m.Secret = func(context.Context) (string, error) {
		secret, err := os.ReadFile(s.SecretFile)
		if err != nil {
			return "", fmt.Errorf("reading the secret of %s: %w", s.URL, err)
		}
		return string(bytes.TrimRight(secret, "\r\n")), nil
	}
	return m, nil
}

// assembler is one that waits as the configuration says.
func (p *program) assembler(load func(mail.Ref) ([]byte, error)) *mail.Assembler {
	return &mail.Assembler{Quiet: time.Duration(p.config.QuietMinutes) * time.Minute, Load: load}
}
