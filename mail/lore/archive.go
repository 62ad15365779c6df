package lore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"uabot/mail"
)

// errNoHits: the server searched and found nothing.
var errNoHits = errors.New("no hits")

// search returns all mails that query finds, in the order the archive got them,
// and the server's time.
func (c *Client) search(ctx context.Context, inbox, query string) (hits []mail.Raw, now time.Time, err error) {
	address := strings.TrimSuffix(inbox, "/") + "/?x=m&q=" + url.QueryEscape(query)
	now = time.Now()
	err = c.get(ctx, http.MethodPost, address, func(a answer) error {
		unzipped, err := c.gunzip(a)
		if err != nil {
			return err
		}
		if date, err := http.ParseTime(a.header.Get("Date")); err == nil {
			now = date
		}
		hits, err = readMboxrd(unzipped)
		return err
	})
	if errors.Is(err, errNoHits) {
		return nil, now, nil
	}
	if err != nil {
		return nil, now, fmt.Errorf("search: %w", err)
	}
	slices.Reverse(hits) // the newest comes first
	return hits, now, nil
}

// Thread returns all mails of the thread that the mail with that id is in, in the
// order the archive got them; ErrNotFound.
func (c *Client) Thread(ctx context.Context, inbox, messageID string) ([]mail.Raw, error) {
	var mails []mail.Raw
	err := c.get(ctx, http.MethodGet, addressOf(inbox, messageID)+"/t.mbox.gz", func(a answer) error {
		unzipped, err := c.gunzip(a)
		if err != nil {
			return err
		}
		mails, err = readMboxrd(unzipped)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("thread of <%s>: %w", messageID, err)
	}
	return mails, nil
}

// Mail returns the mails that have that id: mostly one; ErrNotFound.
func (c *Client) Mail(ctx context.Context, inbox, messageID string) ([]mail.Raw, error) {
	var mails []mail.Raw
	err := c.get(ctx, http.MethodGet, addressOf(inbox, messageID)+"/raw", func(a answer) (err error) {
		if isHTML(a.header) {
			return ErrChallenge
		}
		mails, err = readMboxrd(a.body)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("mail <%s>: %w", messageID, err)
	}
	return mails, nil
}

func addressOf(inbox, messageID string) string {
	return strings.TrimSuffix(inbox, "/") + "/" + url.PathEscape(messageID)
}

// Kernel is the archive of all lists of the kernel.
const Kernel = "https://lore.kernel.org/all"

// FetchThread returns the whole thread of a mail that is named as people name it:
// by its Message-ID, with or without angle brackets, which is then looked up in
// archive (see Kernel); or by a page of an archive:
// https://lore.kernel.org/LIST/MESSAGE-ID/, with T/, t.mbox.gz or raw behind it,
// /all/ or /r/ for the list. The second result is the Message-ID.
func (c *Client) FetchThread(ctx context.Context, archive, where string) ([]mail.Raw, string, error) {
	inbox, messageID, err := locate(archive, where)
	if err != nil {
		return nil, "", err
	}
	mails, err := c.Thread(ctx, inbox, messageID)
	return mails, messageID, err
}

// locate splits the address of a mail into its inbox and its Message-ID.
func locate(archive, where string) (inbox, messageID string, err error) {
	where = strings.TrimSpace(where)
	if !strings.HasPrefix(where, "http://") && !strings.HasPrefix(where, "https://") {
		messageID = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(where, "id:"), "<"), ">")
		if !strings.Contains(messageID, "@") || strings.ContainsAny(messageID, " \t\r\n<>") {
			return "", "", fmt.Errorf("%q is neither a Message-ID nor the address of a mail in an archive", where)
		}
		return archive, messageID, nil
	}
	page, err := url.Parse(where)
	if err != nil {
		return "", "", fmt.Errorf("%q is no address of a mail: %w", where, err)
	}
	// The id is the first part with an @: an inbox can be several directories deep.
	parts := strings.Split(strings.Trim(page.EscapedPath(), "/"), "/")
	for i, part := range parts {
		id, err := url.PathUnescape(part)
		if err != nil || !strings.Contains(id, "@") {
			continue
		}
		list := strings.Join(parts[:i], "/")
		if list == "r" { // lore's short form, which forwards to a list
			list = "all"
		}
		if list == "" {
			break
		}
		return page.Scheme + "://" + page.Host + "/" + list, strings.Trim(id, "<>"), nil
	}
	return "", "", fmt.Errorf("%q is no address of a mail: ARCHIVE/LIST/MESSAGE-ID/ was expected", where)
}

// Epoch is one git repository of an inbox.
type Epoch struct {
	Number      int
	URL         string // to fetch from
	Fingerprint string // changes with the repository's refs
}

// Epochs returns the git epochs of an inbox, the oldest first, as its manifest
// lists them; ErrNotFound. Never guess them: a clone of an address that is none
// gives an empty repository and no error.
func (c *Client) Epochs(ctx context.Context, inbox string) ([]Epoch, error) {
	inbox = strings.TrimSuffix(inbox, "/")
	var epochs []Epoch
	err := c.get(ctx, http.MethodGet, inbox+"/manifest.js.gz", func(a answer) error {
		unzipped, err := c.gunzip(a)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(unzipped)
		if err != nil {
			return err
		}
		epochs, err = readManifest(inbox, text)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("git epochs of %s: %w", inbox, err)
	}
	return epochs, nil
}

// readManifest reads what grokmirror calls a manifest: repositories by path.
func readManifest(inbox string, text []byte) ([]Epoch, error) {
	var repositories map[string]struct {
		Fingerprint string `json:"fingerprint"`
	}
	if err := json.Unmarshal(text, &repositories); err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	base, err := url.Parse(inbox)
	if err != nil {
		return nil, fmt.Errorf("the inbox's address: %w", err)
	}
	var epochs []Epoch
	for path, repository := range repositories {
		// A manifest may list a server's other inboxes too.
		name, ok := strings.CutPrefix(path, base.Path+"/git/")
		name, isGit := strings.CutSuffix(name, ".git")
		number, err := strconv.ParseUint(name, 10, 16)
		if !ok || !isGit || err != nil || name != strconv.FormatUint(number, 10) {
			continue
		}
		epochs = append(epochs, Epoch{int(number), base.Scheme + "://" + base.Host + path, repository.Fingerprint})
	}
	if len(epochs) == 0 {
		return nil, fmt.Errorf("its manifest lists none: %w", ErrNotFound)
	}
	slices.SortFunc(epochs, func(a, b Epoch) int { return a.Number - b.Number })
	return epochs, nil
}
