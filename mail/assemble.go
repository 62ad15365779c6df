package mail

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// The defaults of an Assembler.
const (
	DefaultQuiet  = 20 * time.Minute
	DefaultKeep   = 45 * 24 * time.Hour
	DefaultBudget = 64 << 20
)

// Assembler makes series of messages that come one after the other, in any order.
//
// A series is handed out by Ready as soon as it is complete, or when nothing more
// has come for a quiet time; again when a part comes later. Changes tells what
// threads say of series that were handed out. Its memory does not grow with what went by: a series is
// forgotten some time after its last mail, and the messages themselves are let go
// when it was handed out, or before that when they are too many, if Load can bring
// them back.
//
// The zero value works. It is not safe for use by several goroutines.
type Assembler struct {
	Quiet time.Duration // how long to wait for what is missing; 0 for DefaultQuiet
	Keep  time.Duration // how long a series is remembered after its last mail; 0 for DefaultKeep
	// Load returns the raw bytes of a mail that was added before. Without it all
	// messages are kept, which is right for an mbox and wrong for an archive.
	Load   func(Ref) ([]byte, error)
	Budget int // bytes of messages to hold when there is Load; 0 for DefaultBudget

	clock   clock
	order   []*posting            // as they began
	byID    map[string][]*posting // by the id of a part or a reply
	byRoot  map[string][]*posting // by what their parts answer
	sender  map[string][]*posting // by the sender's address
	naked   map[string]*part      // mails that may turn out to be cover letters, by id
	works   works
	held    int // bytes of messages held
	changes []Change
	forgets int // messages since the last look for what can be forgotten
}

// Assemble makes the series of a handful of messages, such as an mbox holds, in the
// order in which they begin, each with what the whole thread makes of it.
func Assemble(messages []*Message) []*Series {
	a := &Assembler{Keep: 100 * 365 * 24 * time.Hour}
	for _, m := range messages {
		a.Add(m, m.Arrived())
	}
	series, _ := a.Flush() // it cannot fail: nothing has to be loaded
	return series
}

// Arrived is when a message came, as far as it can be known from itself: the
// topmost Received header, which the last server wrote, before the Date, which
// the sender did.
func (m *Message) Arrived() time.Time {
	if !m.Received.IsZero() {
		return m.Received
	}
	return m.Date
}

// Add takes one message that came at a time (see Message.Arrived for those that
// are read from an archive).
func (a *Assembler) Add(m *Message, at time.Time) {
	if a.byID == nil {
		a.byID, a.byRoot = map[string][]*posting{}, map[string][]*posting{}
		a.sender, a.naked = map[string][]*posting{}, map[string]*part{}
	}
	if at = at.UTC(); at.Year() < 1980 {
		at = a.clock.now()
	}
	a.clock.tick(at)
	s := ParseSubject(m.Subject)
	patch, isPatch := PatchOf(m)
	switch {
	case isPatch, isCover(m, s) && !a.answersCover(m, s):
		a.addPart(newPart(m, s, patch, at))
	default:
		a.addReply(m, s, at)
	}
	if a.forgets++; a.forgets >= 256 {
		a.forgets = 0
		a.forget()
	}
	a.keepBudget()
}

// answersCover reports whether a mail that looks like a cover letter is an answer
// whose "Re:" got lost: somebody else wrote a cover letter with the very same
// subject in its thread.
func (a *Assembler) answersCover(m *Message, s Subject) bool {
	for _, id := range m.parents() {
		for _, p := range a.byID[id] {
			if p.cover != nil && p.cover.subject.Title == s.Title && p.version == s.Version && !sameSender(p.sender, m.sender, true) {
				return true
			}
		}
	}
	return false
}

func (a *Assembler) addPart(t *part) {
	near := a.around(t)
	if slices.ContainsFunc(near, func(p *posting) bool { return p.twice(t) }) {
		return
	}
	p := best(near, t)
	if p == nil {
		p = newPosting(t)
		a.order = append(a.order, p)
		key := senderKey(t.sender)
		a.sender[key] = append(a.sender[key], p)
		p.base = a.reroll(t)
	}
	p.add(t)
	a.held += t.size
	a.index(a.byID, t.ref.ID, p)
	for id := range p.roots {
		a.index(a.byRoot, id, p)
	}
	if !t.cover && p.cover == nil && len(t.parents) > 0 {
		if n := a.naked[t.parents[0]]; n != nil && p.takesNaked(n) {
			p.add(n)
			a.index(a.byID, n.ref.ID, p)
			delete(a.naked, n.ref.ID)
		}
	}
}

// twice reports whether a part is one that the posting has: the same mail through
// another list, or one that was sent anew into its thread because it had not
// seemed to arrive, or within one run of git send-email. Mails with one Message-ID that say different things are not.
func (p *posting) twice(t *part) bool {
	for _, q := range p.parts() {
		if q.ref.ID == t.ref.ID && q.cover == t.cover && q.subject.Number == t.subject.Number &&
			q.subject.Version == t.subject.Version && q.subject.Title == t.subject.Title && q.subject.Resend == t.subject.Resend {
			if q.ref != t.ref {
				p.again = append(p.again, t.ref)
			}
			return true
		}
		if q.cover == t.cover && q.subject.Numbered && q.subject.Number == t.subject.Number &&
			q.content == t.content && sameSender(q.sender, t.sender, true) &&
			q.subject.Total == t.subject.Total && q.subject.Version == t.subject.Version {
			if link, _ := p.link(t); t.subject.Resend && !p.resend && link > 0 || t.stem != "" && t.stem == q.stem {
				p.again = append(p.again, t.ref)
				return true
			}
		}
	}
	return false
}

// around returns the postings that a part may belong to: those of its thread, and
// the latest of its sender.
func (a *Assembler) around(t *part) []*posting {
	var list []*posting
	seen := map[*posting]bool{}
	add := func(some []*posting) {
		for _, p := range some {
			if !p.gone && !seen[p] {
				seen[p] = true
				list = append(list, p)
			}
		}
	}
	add(a.byID[t.ref.ID])
	add(a.byRoot[t.ref.ID])
	for _, id := range t.parents {
		add(a.byID[id])
		add(a.byRoot[id])
	}
	own := a.sender[senderKey(t.sender)]
	add(own[max(0, len(own)-64):])
	return list
}

// best returns the posting that a part fits best, of equals the latest; nil when it
// fits none.
func best(list []*posting, t *part) (best *posting) {
	score := 0
	for _, p := range list {
		if n := p.fit(t); n > score || n > 0 && n == score && p.last.After(best.last) {
			best, score = p, n
		}
	}
	return best
}

// reroll returns the posting that a part replaces one patch of: [PATCH v3 2/4] as
// an answer to [PATCH v2 2/4], or [PATCH 2/4] corrected and sent once more into its
// thread.
func (a *Assembler) reroll(t *part) *posting {
	if t.cover || !t.subject.Numbered || len(t.parents) == 0 {
		return nil
	}
	for _, p := range a.byID[t.parents[0]] {
		q := p.slots[t.subject.Number]
		if q == nil || p.total != t.subject.Total || p.version > t.subject.Version || !sameSender(p.sender, t.sender, true) {
			continue
		}
		if q.ref.ID == t.parents[0] || p.version == t.subject.Version && q.subject.Title == t.subject.Title {
			return p
		}
	}
	return nil
}

// corrected returns the posting that p holds corrected patches of, sent without a
// thread: they have the same version, counter and title.
func (a *Assembler) corrected(p *posting) *posting {
	if p.cover != nil || len(p.slots) == 0 {
		return nil
	}
	for _, q := range slices.Backward(a.sender[senderKey(p.sender)]) {
		if q == p || q.gone || q.total != p.total || q.version != p.version || len(q.slots) <= len(p.slots) || q.first.After(p.first) {
			continue
		}
		same := true
		for n, t := range p.slots {
			same = same && q.slots[n] != nil && q.slots[n].subject.Title == t.subject.Title
		}
		if same {
			return q
		}
	}
	return nil
}

// takesNaked reports whether a mail without a counter is the posting's cover
// letter all the same: its own author wrote it just before.
func (p *posting) takesNaked(n *part) bool {
	return p.cover == nil && sameSender(p.sender, n.sender, true) && apart(p.first, n.at) <= slipWindow && n.message != nil
}

func (a *Assembler) addReply(m *Message, s Subject, at time.Time) {
	if len(m.InReplyTo)+len(m.References) == 0 && !s.Reply {
		n := newPart(m, s, nil, at)
		n.subject.Version, n.subject.Explicit = 1, false
		for _, p := range a.byRoot[m.ID] {
			if !p.gone && p.takesNaked(n) {
				p.add(n)
				a.index(a.byID, m.ID, p)
				a.held += n.size
				return
			}
		}
		a.naked[m.ID] = n
		return
	}
	for _, id := range m.parents() {
		for _, p := range slices.Backward(a.byID[id]) {
			if p.gone {
				continue
			}
			light := m
			if a.Load != nil {
				light = m.withoutText()
			}
			p.replies = append(p.replies, light)
			if p.status == Open {
				a.hear(p, m, light)
			}
			a.index(a.byID, m.ID, p)
			return
		}
	}
}

// withoutText is a message of which only the header's fields are kept.
func (m *Message) withoutText() *Message {
	light := *m
	light.Raw, light.Body, light.text, light.memo = nil, "", nil, nil
	return &light
}

func (a *Assembler) index(in map[string][]*posting, id string, p *posting) {
	if !slices.Contains(in[id], p) {
		in[id] = append(in[id], p)
	}
}

func senderKey(s Address) string { return lowerHost(s.Addr) }

// Ready returns the series that can be reviewed at a time: complete, or waited for
// long enough. Each is returned again, with another Event, when it changed since.
// Those that Load fails for are left for the next call, and the errors returned.
func (a *Assembler) Ready(now time.Time) ([]*Series, error) {
	return a.give(func(p *posting) bool {
		return p.complete() && !p.expectsCover() || now.Sub(p.last) >= a.quiet()
	})
}

// Changes returns what has changed, since it was called last, in the status of
// series that were handed out.
func (a *Assembler) Changes() []Change {
	list := a.changes
	a.changes = nil
	return list
}

// become gives a posting a status.
func (a *Assembler) become(p *posting, status Status, by *Message) {
	if p.status == status {
		return
	}
	p.status, p.by = status, by
	if p.given {
		a.changes = append(a.changes, Change{p.id, p.lineage, status, by})
	}
}

// Flush returns what Ready has not returned yet, waiting for nothing more.
func (a *Assembler) Flush() ([]*Series, error) {
	return a.give(func(*posting) bool { return true })
}

// expectsCover reports whether a cover letter may still be on its way: the patches
// answer a mail that was not seen.
func (p *posting) expectsCover() bool {
	if p.cover != nil || p.total == 1 {
		return false
	}
	for id := range p.roots {
		if !p.has(id) {
			return true
		}
	}
	return false
}

func (a *Assembler) quiet() time.Duration { return cmp.Or(a.Quiet, DefaultQuiet) }

func (a *Assembler) give(ready func(*posting) bool) (list []*Series, err error) {
	var due []*posting
	for _, p := range a.order {
		if p.dirty && !p.gone && ready(p) {
			if !p.complete() {
				a.merge(p)
			}
			if !p.complete() && p.base == nil {
				p.base = a.corrected(p)
			}
			due = append(due, p)
		}
	}
	// Works are told from the whole of what is due, so that a revision which is
	// superseded in the same breath says so.
	type made struct {
		p *posting
		s *Series
	}
	var done []made
	for _, p := range due {
		if p.gone {
			continue
		}
		s, e := a.series(p)
		if e != nil {
			err = errors.Join(err, e)
			continue
		}
		a.works.place(p, s)
		a.supersede(p)
		done = append(done, made{p, s})
	}
	for _, d := range done {
		p, s := d.p, d.s
		s.Lineage, s.Status, s.By = p.lineage, p.status, p.by
		switch {
		case p.given:
			s.Event = Late
		case s.Complete():
			s.Event = Whole
		default:
			s.Event = Waited
		}
		p.dirty, p.given = false, true
		list = append(list, s)
		if a.Load != nil {
			a.release(p)
		}
	}
	return list, err
}

// merge joins the two halves of a posting whose sending broke off and went on in a
// thread of its own, where what came first of the second half was not its head.
func (a *Assembler) merge(p *posting) {
	for _, q := range a.sender[senderKey(p.sender)] {
		if q == p || q.gone || q.total != p.total || q.version != p.version || q.resend != p.resend ||
			q.cover != nil && p.cover != nil || !samePrefixes(p.prefixes, q.prefixes) ||
			len(p.slots)+len(q.slots) != p.total || len(p.slots) == 0 || len(q.slots) == 0 || apart(p.last, q.first) > resumeWindow {
			continue
		}
		overlap := false
		for n := range q.slots {
			overlap = overlap || p.slots[n] != nil
		}
		if overlap {
			continue
		}
		for _, t := range q.parts() {
			p.add(t)
			a.index(a.byID, t.ref.ID, p)
		}
		p.replies = append(p.replies, q.replies...)
		q.gone = true
		return
	}
}

// series makes what is handed out.
func (a *Assembler) series(p *posting) (*Series, error) {
	s := &Series{Version: p.version, Total: p.total, Prefixes: p.prefixes, Author: p.sender, Date: p.first, Replies: p.replies}
	if p.cover != nil {
		m, err := a.message(p.cover)
		if err != nil {
			return nil, err
		}
		s.Cover, s.Subject, s.ID = m, p.cover.subject.Title, m.ID
		s.Date = m.Date
	}
	for n := 1; n <= p.total; n++ {
		t := p.slots[n]
		if t == nil {
			s.Missing = append(s.Missing, n)
			if p.base == nil || p.base.slots[n] == nil {
				continue
			}
			t = p.base.slots[n]
			s.Reused = append(s.Reused, n)
		}
		patch, err := a.patch(t)
		if err != nil {
			return nil, err
		}
		s.Patches = append(s.Patches, patch)
	}
	for _, t := range p.extras {
		patch, err := a.patch(t)
		if err != nil {
			return nil, err
		}
		s.Extras = append(s.Extras, patch)
	}
	if first := p.firstPart(); s.Cover == nil && first != nil {
		s.ID, s.Subject = first.ref.ID, first.subject.Title
		if patch, err := a.patch(first); err == nil {
			s.Date = patch.Message.Date
		}
	}
	if p.id == "" {
		p.id = s.ID
	}
	s.ID = p.id
	return s, nil
}

// firstPart is the patch with the lowest number that came with the posting.
func (p *posting) firstPart() *part {
	for _, n := range slices.Sorted(maps.Keys(p.slots)) {
		return p.slots[n]
	}
	for _, t := range p.extras {
		return t
	}
	return nil
}

// message returns a part's message, loading it where it was let go.
func (a *Assembler) message(t *part) (*Message, error) {
	if t.message != nil {
		return t.message, nil
	}
	raw, err := a.Load(t.ref)
	if err != nil {
		return nil, fmt.Errorf("loading mail %s again: %w", t.ref.ID, err)
	}
	m, err := Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("reading mail %s again: %w", t.ref.ID, err)
	}
	return m, nil
}

func (a *Assembler) patch(t *part) (*Patch, error) {
	if t.patch != nil {
		return t.patch, nil
	}
	m, err := a.message(t)
	if err != nil {
		return nil, err
	}
	p, ok := PatchOf(m)
	if !ok {
		return nil, fmt.Errorf("mail %s was a patch before it was loaded again", t.ref.ID)
	}
	return p, nil
}

func (a *Assembler) release(p *posting) {
	for _, t := range p.parts() {
		if t.message != nil {
			a.held -= t.size
			t.release()
		}
	}
}

// keepBudget lets messages go that are too many to hold, those of the oldest
// postings first.
func (a *Assembler) keepBudget() {
	limit := cmp.Or(a.Budget, DefaultBudget)
	if a.Load == nil || a.held <= limit {
		return
	}
	for _, p := range a.order {
		if a.release(p); a.held <= limit/2 {
			return
		}
	}
}

// forget drops what has been silent for long and was handed out.
func (a *Assembler) forget() {
	now := a.clock.now()
	keep := cmp.Or(a.Keep, DefaultKeep)
	for id, n := range a.naked {
		if now.Sub(n.at) > slipWindow {
			delete(a.naked, id)
		}
	}
	old := func(p *posting) bool { return p.gone || !p.dirty && now.Sub(p.last) > keep }
	if !slices.ContainsFunc(a.order, old) {
		return
	}
	for _, p := range a.order {
		if old(p) {
			p.gone = true
			p.base = nil
		}
	}
	isGone := func(p *posting) bool { return p.gone }
	a.order = slices.DeleteFunc(a.order, isGone)
	for _, p := range a.order {
		if p.base != nil && p.base.gone && p.given {
			p.base = nil
		}
	}
	for _, in := range []map[string][]*posting{a.byID, a.byRoot, a.sender} {
		for key, list := range in {
			if list = slices.DeleteFunc(list, isGone); len(list) == 0 {
				delete(in, key)
			} else {
				in[key] = list
			}
		}
	}
}

// clock follows the arrival times of messages; one that is far off does not move it.
type clock struct {
	recent [5]time.Time
	next   int
}

func (c *clock) tick(t time.Time) {
	c.recent[c.next%len(c.recent)] = t
	c.next++
}

func (c *clock) now() time.Time {
	sorted := slices.SortedFunc(slices.Values(c.recent[:]), time.Time.Compare)
	return sorted[len(sorted)/2]
}
