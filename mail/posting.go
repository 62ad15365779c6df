package mail

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// posting is a series in the making.
type posting struct {
	id       string // what Series.ID is, once it was handed out
	version  int
	explicit bool // the version was written
	total    int
	sender   Address
	prefixes []string
	resend   bool
	cover    *part
	slots    map[int]*part
	extras   []*part
	again    []Ref           // parts that came twice
	stems    map[string]bool // of its parts
	roots    map[string]bool // what its parts answer
	base     *posting        // the revision that this one sends only some patches anew of
	first    time.Time
	last     time.Time

	replies []*Message
	status  Status
	by      *Message
	lineage string

	dirty bool // something changed since it was handed out
	given bool // it was handed out
	gone  bool // merged into another, or forgotten
}

func newPosting(t *part) *posting {
	p := &posting{
		version: t.subject.Version, explicit: t.subject.Explicit, total: t.subject.Total, sender: t.sender,
		prefixes: t.subject.Prefixes, resend: t.subject.Resend,
		slots: map[int]*part{}, stems: map[string]bool{}, roots: map[string]bool{}, first: t.at, last: t.at,
	}
	return p
}

// add puts a part that fits in its place.
func (p *posting) add(t *part) {
	switch s := t.subject; {
	case t.cover:
		p.cover = t
		if s.Explicit && !p.explicit {
			p.version, p.explicit = s.Version, true
		}
		if len(p.prefixes) < len(s.Prefixes) {
			p.prefixes = s.Prefixes
		}
	case s.Between || s.Number > s.Total:
		p.extras = append(p.extras, t)
	default:
		if len(p.slots) == 0 {
			p.total = s.Total // the patches know better than the cover letter
			if !p.explicit && s.Explicit {
				p.version, p.explicit = s.Version, true
			}
		}
		p.slots[s.Number] = t
	}
	if t.stem != "" {
		p.stems[t.stem] = true
	}
	for i, id := range t.parents {
		if i < 1 || i == len(t.parents)-1 { // whom it answers, and where the thread begins
			p.roots[id] = true
		}
	}
	if t.at.Before(p.first) {
		p.first = t.at
	}
	if t.at.After(p.last) {
		p.last = t.at
	}
	p.dirty = true
}

func (p *posting) parts() []*part {
	var list []*part
	if p.cover != nil {
		list = append(list, p.cover)
	}
	for _, n := range slices.Sorted(maps.Keys(p.slots)) {
		list = append(list, p.slots[n])
	}
	return append(list, p.extras...)
}

func (p *posting) complete() bool { return len(p.slots) >= p.total }

// has reports whether id is one of the posting's own mails.
func (p *posting) has(id string) bool {
	return slices.ContainsFunc(p.parts(), func(t *part) bool { return t.ref.ID == id })
}

// free reports whether the place that a part would take is free.
func (p *posting) free(t *part) bool {
	switch {
	case t.cover:
		return p.cover == nil
	case t.subject.Between || t.subject.Number > t.subject.Total:
		return !slices.ContainsFunc(p.extras, func(e *part) bool {
			return e.subject.Number == t.subject.Number && e.subject.Between == t.subject.Between
		})
	}
	return p.slots[t.subject.Number] == nil
}

const (
	// joinWindow is how far apart mails of one posting may come that nothing
	// but sender, version and counter ties together. b4 takes 30 minutes as well.
	joinWindow = 30 * time.Minute
	// resumeWindow is how long after a broken off `git send-email` the rest,
	// which begins where it stopped or is the one patch that got lost, still
	// belongs to it.
	resumeWindow = 24 * time.Hour
	// slipWindow is how soon patches follow a cover letter whose counter or
	// version has a slip.
	slipWindow = time.Hour
)

// fit says how well a part fits into a posting: 0 not at all, otherwise the more
// the better.
func (p *posting) fit(t *part) int {
	s := t.subject
	if p.gone || !p.free(t) {
		return 0
	}
	link, direct := p.link(t)
	if !s.Numbered && !t.cover {
		// [PATCH] below [PATCH 0/1]
		if direct && p.total == 1 && p.cover != nil && p.cover.subject.Numbered && sameSender(p.sender, t.sender, true) &&
			(p.version == s.Version || !s.Explicit) {
			return link
		}
		return 0
	}
	if !sameSender(p.sender, t.sender, link > 0) {
		return 0
	}
	run := t.stem != "" && p.stems[t.stem] // sent in one run: a bracket of its own, as in [PATCH 8/22] [v2], is the patch's
	if p.total != s.Total || p.version != s.Version && !run {
		// The counter or the version of the cover letter has a slip. Only a
		// direct answer to it tells, and only while the two were not
		// seen with others.
		slip := direct && apart(p.last, t.at) <= slipWindow
		switch {
		case t.cover:
			slip = slip && p.cover == nil && !(s.Explicit && p.explicit && s.Version != p.version)
		default:
			slip = slip && p.cover != nil && !(s.Explicit && s.Version != p.version) &&
				(len(p.slots) == 0 || p.total == s.Total)
		}
		if !slip {
			return 0
		}
	}
	if link > 0 {
		if s.Resend != p.resend && !direct && !run {
			return 0
		}
		if samePrefixes(p.prefixes, s.Prefixes) {
			link++
		}
		return link
	}
	// Nothing ties them together. A part that answers another thread is not of
	// this posting.
	if s.Resend != p.resend || !samePrefixes(p.prefixes, s.Prefixes) || len(t.parents) > 0 {
		return 0
	}
	gap := apart(p.last, t.at)
	// A cover letter is sent in one run with its patches; single patches may not be.
	other := (p.cover != nil || t.cover) && len(p.stems) > 0 && t.stem != ""
	switch rest := !t.cover && s.Number > 1 && (p.next() == s.Number || len(p.slots) == p.total-1); {
	case rest && gap <= resumeWindow, len(p.roots) == 0 && !other && gap <= joinWindow:
		return 1
	}
	return 0
}

// link says how strongly the thread ties a part to the posting; direct when the
// part answers the cover letter or is answered by the parts.
func (p *posting) link(t *part) (strength int, direct bool) {
	if t.stem != "" && p.stems[t.stem] {
		strength += 8
	}
	if p.roots[t.ref.ID] {
		strength += 6
		direct = true
	}
	for i, id := range t.parents {
		near := i == 0
		switch {
		case p.cover != nil && p.cover.ref.ID == id:
			strength += 4
			if near {
				strength += 2
				direct = true
			}
		case p.has(id):
			strength += 2
			if near {
				strength += 2
			}
		case p.roots[id] && (near || i == len(t.parents)-1):
			strength += 3
		default:
			continue
		}
		break
	}
	return strength, direct
}

// next is the number that would come next if the posting was broken off; 0 when it
// was not.
func (p *posting) next() int {
	for n := 1; n <= p.total; n++ {
		if p.slots[n] == nil {
			if len(p.slots) == n-1 {
				return n
			}
			return 0
		}
	}
	return 0
}

func apart(a, b time.Time) time.Duration {
	if a.IsZero() || b.IsZero() {
		return 0
	}
	return a.Sub(b).Abs()
}

// sameSender compares who sent two mails; in one thread the name is enough, since
// people have several addresses.
func sameSender(a, b Address, threaded bool) bool {
	if strings.EqualFold(a.Addr, b.Addr) {
		return true
	}
	return threaded && a.Name != "" && strings.EqualFold(a.Name, b.Name)
}

// samePrefixes compares sets of words, order and case aside. Those that say nothing
// about where a patch belongs are left out.
func samePrefixes(a, b []string) bool {
	return slices.Equal(prefixSet(a), prefixSet(b))
}

func prefixSet(words []string) []string {
	var set []string
	for _, w := range words {
		set = append(set, strings.ToLower(w))
	}
	slices.Sort(set)
	return slices.Compact(set)
}
