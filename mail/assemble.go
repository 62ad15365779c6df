package mail

import (
	"cmp"
	"slices"
)

// Assemble makes the series of a handful of messages, such as an mbox holds, in the
// order in which they begin.
func Assemble(messages []*Message) []*Series {
	a := &Assembler{}
	for _, m := range messages {
		a.Add(m)
	}
	return a.Flush()
}

// Assembler makes series of messages that come one after the other.
type Assembler struct {
	open []*Series
}

// Add takes one message.
func (a *Assembler) Add(m *Message) {
	s := ParseSubject(m.Subject)
	p, isPatch := PatchOf(m)
	switch {
	case isPatch:
		series := a.find(m, s, func(o *Series) bool {
			return !slices.ContainsFunc(o.Patches, func(q *Patch) bool { return q.Number == p.Number })
		})
		if series == nil {
			series = a.start(m, s)
		}
		series.Patches = append(series.Patches, p)
	case !s.Reply && s.Numbered && s.Number == 0:
		series := a.find(m, s, func(o *Series) bool { return o.Cover == nil })
		if series == nil {
			series = a.start(m, s)
		}
		series.Cover = m
	default:
		for _, o := range a.open {
			if slices.ContainsFunc(o.ids(), func(id string) bool {
				return slices.Contains(m.InReplyTo, id) || slices.Contains(m.References, id)
			}) {
				o.Replies = append(o.Replies, m)
				break
			}
		}
	}
}

func (a *Assembler) find(m *Message, s Subject, free func(*Series) bool) *Series {
	if !s.Numbered {
		return nil
	}
	for _, o := range slices.Backward(a.open) {
		if o.Version == s.Version && o.Total == s.Total && o.Author.Addr == m.sender.Addr && free(o) {
			return o
		}
	}
	return nil
}

func (a *Assembler) start(m *Message, s Subject) *Series {
	o := &Series{Version: s.Version, Total: s.Total, Author: m.sender, Prefixes: s.Prefixes}
	a.open = append(a.open, o)
	return o
}

func (s *Series) ids() []string {
	var ids []string
	if s.Cover != nil {
		ids = append(ids, s.Cover.ID)
	}
	for _, p := range s.Patches {
		ids = append(ids, p.Message.ID)
	}
	return ids
}

// Flush returns all series.
func (a *Assembler) Flush() []*Series {
	for _, s := range a.open {
		slices.SortStableFunc(s.Patches, func(x, y *Patch) int { return cmp.Compare(x.Number, y.Number) })
		var kept []*Patch
		have := map[int]bool{}
		for _, p := range s.Patches {
			if p.Number > s.Total {
				s.Extras = append(s.Extras, p)
				continue
			}
			have[p.Number] = true
			kept = append(kept, p)
		}
		s.Patches = kept
		for n := 1; n <= s.Total; n++ {
			if !have[n] {
				s.Missing = append(s.Missing, n)
			}
		}
		switch {
		case s.Cover != nil:
			s.ID, s.Subject, s.Date = s.Cover.ID, ParseSubject(s.Cover.Subject).Title, s.Cover.Date
		case len(s.Patches) > 0:
			s.ID, s.Subject, s.Date = s.Patches[0].Message.ID, s.Patches[0].Title, s.Patches[0].Message.Date
		}
		s.Lineage = s.ID
	}
	return a.open
}
