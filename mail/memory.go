package mail

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

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
