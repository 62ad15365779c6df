package report

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"uabot/checks"
	"uabot/review"
)

// maxLabel is the width at which the targets before a piece of evidence are wrapped.
const maxLabel = 28

// seen is one line of evidence: what was seen, on which targets. What a check of the
// change itself saw, on no target, is the witness.
type seen struct {
	targets []string
	what    string
}

// tellEvidence groups the targets that saw the same, in the order of the review.
func (t *text) tellEvidence(p *page, f *review.Finding) {
	rows := t.evidence(f)
	if len(rows) == 0 && (f.Class == checks.Object || f.Class == checks.Source) {
		p.line("%sRead off the source as patched, not off compiled code.", indent)
	}
	width := 15
	labels := make([][]string, len(rows))
	for i, row := range rows {
		labels[i] = wrappedAt(row.targets, maxLabel)
		for _, label := range labels[i] {
			width = min(max(width, utf8.RuneCountInString(label)), maxLabel)
		}
	}
	for i, row := range rows {
		text := wrapped("", "", row.what, Width-len(indent)-width-2)
		for n := range max(len(text), len(labels[i])) {
			label, what := "", ""
			if n < len(labels[i]) {
				label = labels[i][n]
			}
			if n < len(text) {
				what = text[n]
			}
			p.line("%s%s  %s", indent, pad(label, width), what)
		}
	}
}

func wrappedAt(words []string, width int) []string {
	var lines []string
	for _, word := range words {
		if n := len(lines); n > 0 && len(lines[n-1])+1+len(word) <= width {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

func (t *text) evidence(f *review.Finding) []seen {
	// Targets in the order of the review, then those it does not know.
	var names []string
	for _, target := range t.v.Targets {
		names = append(names, target.Name)
	}
	for _, e := range f.Evidence {
		if e.Target != "" && !slices.Contains(names, e.Target) {
			names = append(names, e.Target)
		}
	}
	var rows []seen
	for _, target := range names {
		best := strongest(f.Evidence, target)
		if best == nil {
			continue
		}
		what := t.sawWhat(f, best)
		i := slices.IndexFunc(rows, func(r seen) bool { return r.what == what })
		if i < 0 {
			rows = append(rows, seen{what: what})
			i = len(rows) - 1
		}
		rows[i].targets = append(rows[i].targets, name(target))
	}
	return rows
}

// strength ranks the checks by how near to the running machine they look; those that
// are not named stand between.
var strength = map[string]int{"objtool": -2, "object code": -1, "source": 1}

func strongest(list []checks.Evidence, target string) *checks.Evidence {
	var best *checks.Evidence
	for i := range list {
		e := &list[i]
		if e.Target == target && (best == nil || strength[e.Check] < strength[best.Check]) {
			best = e
		}
	}
	return best
}

var (
	// "snd-pcm.o: warning: objtool: .altinstr_replacement+0x9: redundant UACCESS disable"
	objtoolLine = regexp.MustCompile(`^(?:\S*/)?([^\s/:]+\.o): (?:warning: |error: )?(?:objtool: )?(?:\S+\+0x[0-9a-f]+: )?(.+)$`)
	// "unused variable 'n' [-Wunused-variable]"
	option = regexp.MustCompile(`\s*\[-W[^\]]*\]$`)
	// "sound/core/pcm_native.c:3101:9: error: ..."
	atPlace = regexp.MustCompile(`^\S+:\d+(?::\d+)?: (.+)$`)
)

// sawWhat says in a few words what a check saw.
func (t *text) sawWhat(f *review.Finding, e *checks.Evidence) string {
	first, _, _ := strings.Cut(strings.TrimSpace(e.Text), "\n")
	first = escaped(oneLine(first))
	check := name(e.Check)
	switch e.Check {
	case "objtool":
		if m := objtoolLine.FindStringSubmatch(first); m != nil {
			return bounded("objtool, "+m[1]+": "+m[2], maxSaid)
		}
	case "object code":
		return check // offsets differ from target to target and say nothing to a reader
	case "source":
		for _, target := range t.v.Targets {
			if target.Name == e.Target && target.SourceOnly != "" {
				return "source only: " + phrase(target.SourceOnly)
			}
		}
		return "source only"
	}
	if m := atPlace.FindStringSubmatch(first); m != nil {
		first = m[1]
	}
	first = option.ReplaceAllString(first, "")
	said := func(what string) bool { return strings.Contains(wording(f), bounded(what, maxPhrase)) }
	if said(first) {
		return check
	}
	// A compiler's "error: x" under the title "x" would say it twice.
	if kind, rest, ok := strings.Cut(first, ": "); ok && said(rest) {
		return check + " " + kind
	}
	return bounded(check+": "+first, maxSaid)
}
