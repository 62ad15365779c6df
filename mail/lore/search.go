package lore

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"uabot/mail"
)

// Search is a mail.Source that asks an archive's search for the mails that a query
// finds, and takes the threads they are in. For a while it looks again at each
// thread: a part of the series that the query does not find may come late.
//
// It finds mails by when the archive received them, which is what the topmost
// Received header says, else the Date: a mail that comes to the archive with a
// header older than Overlap is never found. Deletions are not seen. The git epochs
// (package epoch) have neither of these weaknesses.
type Search struct {
	Client *Client
	Inbox  string // https://lore.kernel.org/linux-mm
	Query  string // see Query
	// Since is where an empty cursor begins; zero takes the whole archive.
	Since time.Time
	// Overlap is how far a search goes back before the end of the one before; 0
	// is 10 minutes. At least 2 minutes are kept: the index lags.
	Overlap time.Duration
}

const (
	leastOverlap = 2 * time.Minute
	// The first window; the next is twice as long, or half when the answer is too large.
	window      = 30 * 24 * time.Hour
	leastWindow = time.Minute
	// A thread is watched until so long after the last mail that came to it …
	watch = 72 * time.Hour
	// … and asked for when it has been quiet as long again as it was, within:
	soonest, latest = 5 * time.Minute, 12 * time.Hour
)

// searchCursor says how far the search has come and what must not be taken again.
type searchCursor struct {
	Since   int64              `json:"since"`             // searched up to here
	Seen    map[string]int64   `json:"seen,omitempty"`    // content taken: until when it is to be remembered
	Threads map[string]watched `json:"threads,omitempty"` // by a Message-ID in it
}

type watched struct {
	Last int64 `json:"last"` // something new came
	Next int64 `json:"next"` // to be asked for again
}

// Name implements mail.Source.
func (s *Search) Name() string { return "search:" + s.Inbox }

// Pull implements mail.Source.
func (s *Search) Pull(ctx context.Context, cursor string, deliver func(context.Context, mail.Batch) error) error {
	state := searchCursor{}
	if cursor != "" {
		if err := json.Unmarshal([]byte(cursor), &state); err != nil {
			return fmt.Errorf("%s: the cursor %.40q is not one: %w", s.Name(), cursor, err)
		}
	} else if !s.Since.IsZero() {
		state.Since = s.Since.Unix()
	}
	if state.Seen == nil {
		state.Seen = map[string]int64{}
	}
	if state.Threads == nil {
		state.Threads = map[string]watched{}
	}
	p := &pull{s, state, map[string]bool{}, deliver}
	err := p.windows(ctx)
	if err == nil {
		err = p.threads(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name(), err)
	}
	return nil
}

// pull is one Pull.
type pull struct {
	*Search
	state    searchCursor
	returned map[string]bool // contents that the server returned in this Pull
	deliver  func(context.Context, mail.Batch) error
}

// windows searches from the cursor to the present.
func (p *pull) windows(ctx context.Context) error {
	overlap := p.Overlap
	if overlap == 0 {
		overlap = 10 * time.Minute
	}
	overlap = max(overlap, leastOverlap)
	for size := window; ; {
		since := time.Unix(p.state.Since, 0)
		end := since.Add(size)
		last := end.After(time.Now())
		if p.state.Since == 0 && size == window {
			last = true // everything at once, as long as it is not too large
		}
		if last {
			end = time.Time{}
		}
		hits, now, err := p.Client.search(ctx, p.Inbox, received(p.Query, since.Add(-overlap), end))
		if errors.Is(err, ErrTooLarge) && size > leastWindow {
			if p.state.Since == 0 {
				since = time.Unix(beginning, 0)
				p.state.Since = beginning
			}
			if last { // half of what there was, not of what there could be
				size = time.Since(since)
			}
			size /= 2
			continue
		}
		if err != nil {
			return err
		}
		for _, hit := range hits {
			if err := p.takeHit(ctx, hit, now); err != nil {
				return err
			}
		}
		if last {
			p.state.Since = max(p.state.Since, now.Unix())
		} else {
			p.state.Since = end.Unix()
		}
		p.forget(time.Unix(p.state.Since, 0).Add(-overlap))
		if err := p.give(ctx, nil); err != nil {
			return err
		}
		if last {
			return nil
		}
		size *= 2 // years without a hit are one request
	}
}

// forget drops what no later search returns: what was taken before the overlap
// begins, unless this Pull saw it, as a mail of the future is seen again and again.
func (p *pull) forget(before time.Time) {
	maps.DeleteFunc(p.state.Seen, func(content string, until int64) bool {
		return !p.returned[content] && until < before.Unix()
	})
}

// takeHit delivers the thread of a hit that was not taken yet, and watches it.
func (p *pull) takeHit(ctx context.Context, hit mail.Raw, now time.Time) error {
	content := contentOf(hit)
	p.returned[content] = true
	if _, taken := p.state.Seen[content]; taken {
		return nil
	}
	ids := mail.MessageIDs(hit.Bytes)
	thread := []mail.Raw{hit}
	if len(ids) > 0 {
		found, err := p.Client.Thread(ctx, p.Inbox, ids[0])
		switch {
		case errors.Is(err, ErrNotFound), errors.Is(err, ErrTooLarge):
			ids = nil // the hit alone, not watched
		case err != nil:
			return err
		default:
			thread = found
			if !slices.ContainsFunc(found, func(m mail.Raw) bool { return contentOf(m) == content }) {
				thread = append(thread, hit)
			}
		}
	}
	if len(ids) == 0 {
		return p.takeThread(ctx, "", thread, now)
	}
	name := ids[0]
	for _, m := range thread { // it may be watched by another of its mails
		for _, id := range mail.MessageIDs(m.Bytes) {
			if _, ok := p.state.Threads[id]; ok {
				name = id
			}
		}
	}
	return p.takeThread(ctx, name, thread, now)
}

// threads looks again at the watched threads whose time it is.
func (p *pull) threads(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(p.state.Threads)) {
		now := time.Now()
		if p.state.Threads[id].Next > now.Unix() {
			continue
		}
		thread, err := p.Client.Thread(ctx, p.Inbox, id)
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrTooLarge) {
			thread = nil
			delete(p.state.Threads, id)
			id = ""
		} else if err != nil {
			return err
		}
		if err := p.takeThread(ctx, id, thread, now); err != nil {
			return err
		}
	}
	return nil
}

// takeThread delivers what is new of a thread. Watched under name, "" for not.
func (p *pull) takeThread(ctx context.Context, name string, thread []mail.Raw, now time.Time) error {
	var fresh []mail.Raw
	for _, m := range thread {
		content := contentOf(m)
		p.returned[content] = true
		if _, taken := p.state.Seen[content]; !taken {
			fresh = append(fresh, m)
			p.state.Seen[content] = now.Unix()
		}
	}
	if name != "" {
		w := p.state.Threads[name]
		if len(fresh) > 0 || w.Last == 0 {
			w.Last = now.Unix()
		}
		quiet := now.Sub(time.Unix(w.Last, 0))
		w.Next = now.Add(min(max(quiet, soonest), latest)).Unix()
		p.state.Threads[name] = w
		until := w.Last + int64(watch.Seconds())
		if now.Unix() > until {
			delete(p.state.Threads, name)
		}
		for _, m := range thread {
			p.state.Seen[contentOf(m)] = until + int64(latest.Seconds())
		}
	}
	return p.give(ctx, fresh)
}

// give delivers mails with the cursor as it is now.
func (p *pull) give(ctx context.Context, mails []mail.Raw) error {
	cursor, err := json.Marshal(p.state)
	if err != nil {
		return fmt.Errorf("write the cursor: %w", err)
	}
	for i := range mails {
		if ids := mail.MessageIDs(mails[i].Bytes); len(ids) > 0 {
			mails[i].Origin = p.Inbox + " <" + ids[0] + ">"
		}
	}
	return p.deliver(ctx, mail.Batch{Messages: mails, Cursor: string(cursor)})
}

// contentOf is short for a cursor: 64 bits, of which two mails in a window are
// not alike by chance.
func contentOf(m mail.Raw) string {
	sum := mail.SumOf(m.Bytes)
	return hex.EncodeToString(sum[:8])
}
