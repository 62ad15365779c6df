package mail

import (
	"container/list"
	"regexp"
	"strings"
	"unicode"
)

// maxWorks bounds what is remembered of works that went by: titles, change-ids and
// ids of revisions, the least recently seen are forgotten first.
const maxWorks = 50_000

// works knows which postings are revisions of one work. The zero value is empty.
type works struct {
	known map[string]*list.Element
	order list.List // of work, most recently seen first
}

type work struct{ key, lineage string }

func (w *works) look(key string) string {
	if e := w.known[key]; e != nil {
		w.order.MoveToFront(e)
		return e.Value.(work).lineage
	}
	return ""
}

func (w *works) learn(key, lineage string) {
	if w.known == nil {
		w.known = map[string]*list.Element{}
	}
	if e := w.known[key]; e != nil {
		e.Value = work{key, lineage}
		w.order.MoveToFront(e)
		return
	}
	w.known[key] = w.order.PushFront(work{key, lineage})
	if len(w.known) > maxWorks {
		last := w.order.Back()
		delete(w.known, last.Value.(work).key)
		w.order.Remove(last)
	}
}

// linkPattern finds the earlier revisions that an author links to in the change log:
// "- Link to v1: https://lore.kernel.org/r/<id>", "v2: https://lore.kernel.org/all/<id>/".
var linkPattern = regexp.MustCompile(`(?mi)^[ \t*-]*(?:link to )?(?:rfc |patch )?(?:v\d+|rfc|previous (?:version|posting|series))\b[^\n]{0,40}?(?:\n[ \t]*)?https?://[^/\s]+/[^\s]*?/?([^/\s<>]+@[^/\s<>]+?)/?(?:T/|t/|#\S*)?[\])>.,]*$`)

var supersedesPattern = regexp.MustCompile(`(?mi)^supersedes:[ \t]*<?([^<>\s]+@[^<>\s]+)>?[ \t]*$`)

// place finds the work that a posting is a revision of, or begins a new one: by its
// change-id, by the links to earlier revisions, by what it answers, and at last by
// sender and subject.
func (w *works) place(p *posting, s *Series) {
	sender := workSender(p.sender)
	var keys []string
	if id := s.ChangeID(); id != "" {
		keys = append(keys, "change "+id)
	}
	for _, pattern := range []*regexp.Regexp{supersedesPattern, linkPattern} {
		for _, id := range s.all(pattern) {
			keys = append(keys, "id "+id)
		}
	}
	titles := func(title string) string { return "title " + sender + "\x00" + plainTitle(title) }
	main := titles(s.Subject)
	lineage := p.lineage
	for _, key := range keys {
		if lineage == "" {
			lineage = w.look(key)
		}
	}
	if lineage == "" && p.base != nil {
		lineage = p.base.lineage
	}
	if lineage == "" {
		lineage = w.look(main)
	}
	patches := map[string]int{}
	for _, q := range s.Patches {
		if found := w.look(titles(q.Title)); found != "" {
			patches[found]++
		}
	}
	for found, n := range patches {
		if lineage == "" && 2*n >= len(s.Patches) {
			lineage = found
		}
	}
	if lineage == "" && s.Version > 1 {
		// v2 as an answer to v1, under another name.
		for _, t := range p.parts() {
			for _, id := range t.parents {
				if lineage == "" {
					lineage = w.look("own " + sender + "\x00" + id)
				}
			}
		}
	}
	if lineage == "" {
		lineage = s.ID
		if id := s.ChangeID(); id != "" {
			lineage = id
		}
	}
	p.lineage = lineage
	for _, key := range keys {
		if strings.HasPrefix(key, "change ") {
			w.learn(key, lineage)
		}
	}
	w.learn(main, lineage)
	for _, q := range s.Patches {
		w.learn(titles(q.Title), lineage)
	}
	for _, t := range p.parts() {
		w.learn("id "+t.ref.ID, lineage)
		w.learn("own "+sender+"\x00"+t.ref.ID, lineage)
	}
}

// workSender is what is the same of an author over years: the name, where there is
// one, since addresses change.
func workSender(a Address) string {
	if a.Name != "" && a.Name != a.Addr {
		return plainTitle(a.Name)
	}
	return strings.ToLower(a.Addr)
}

// plainTitle leaves of a title what authors do not change by accident: letters and digits.
func plainTitle(title string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// supersede marks the older revisions of p's work that are still remembered.
func (a *Assembler) supersede(p *posting) {
	for _, q := range a.order {
		if q == p || q.gone || q.lineage != p.lineage || q.status != Open && q.status != Superseded {
			continue
		}
		older, newer := q, p
		if q.version > p.version || q.version == p.version && q.first.After(p.first) {
			older, newer = p, q
		}
		if older.status != Open || newer.version == older.version && !newer.resend && !newer.complete() {
			continue
		}
		older.become(Superseded, nil)
	}
}

// become gives a posting a status, and has it handed out again for that.
func (p *posting) become(status Status, by *Message) {
	if p.status == status {
		return
	}
	p.status, p.by = status, by
	if p.given && !p.dirty {
		p.dirty, p.why = true, Changed
	}
}
