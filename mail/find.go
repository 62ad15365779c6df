package mail

import "slices"

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
