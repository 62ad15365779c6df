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

// revisionLabel is how the line of a change log begins that links to an earlier
// revision: "- Link to v1:", "v2:", "RFC:".
var revisionLabel = regexp.MustCompile(`(?i)^[ \t*-]*(?:link to )?(?:rfc |patch )?(?:v\d+|rfc|previous (?:version|posting|series))\b`)

// earlier returns the Message-IDs of earlier revisions that a text links to, as b4
// writes them: "- Link to v1: https://lore.kernel.org/r/<id>".
func earlier(text string) (ids []string) {
	for at := 0; ; {
		i := strings.Index(text[at:], "://")
		if i < 0 {
			return ids
		}
		at += i + 3
		url, _, _ := strings.Cut(text[at:], "\n")
		if end := strings.IndexAny(url, " \t)]>"); end >= 0 {
			url = url[:end]
		}
		id := ""
		for _, part := range strings.Split(url, "/")[1:] {
			if strings.Contains(part, "@") {
				id = strings.TrimRight(part, ".,;")
			}
		}
		if id == "" {
			continue
		}
		start := strings.LastIndexByte(text[:at], '\n') + 1
		label := text[start:at]
		if bare := strings.TrimLeft(label, " \t<[(-*"); strings.HasPrefix(bare, "http") && start > 0 {
			// The link stands on a line of its own, below its label.
			label = text[strings.LastIndexByte(text[:start-1], '\n')+1 : start-1]
		}
		if revisionLabel.MatchString(label) {
			ids = append(ids, id)
		}
	}
}

// place finds the work that a posting is a revision of, or begins a new one: by its
// change-id, by the links to earlier revisions, by what it answers, and at last by
// sender and subject.
func (w *works) place(p *posting, s *Series) {
	sender := workSender(p.sender)
	var keys []string
	if id := s.ChangeID(); id != "" {
		keys = append(keys, "change "+id)
	}
	for _, text := range s.texts() {
		for _, id := range append(trailers(text, "supersedes"), earlier(text)...) {
			keys = append(keys, "id "+strings.Trim(id, "<>"))
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
		a.become(older, Superseded, nil)
	}
}
