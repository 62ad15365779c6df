package mail

import (
	"cmp"
	"errors"
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
			a.held += n.size
			a.index(a.byID, n.ref.ID, p)
			delete(a.naked, n.ref.ID)
		}
	}
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
