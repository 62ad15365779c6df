package report

import (
	"fmt"
	"slices"
	"strings"

	"uabot/checks"
	"uabot/review"
)

// since tells what became of the findings of the revision before.
func (t *text) since(p *page) {
	s := t.v.Since
	if s == nil || len(s.Fixed)+len(s.Still) == 0 {
		return
	}
	p.blank()
	if len(s.Still) > 0 {
		p.line("Of what was new in v%d, %s fixed and %s.", s.Version, counted(len(s.Fixed), "finding is", "findings are"), counted(len(s.Still), "is still there", "are still there"))
	} else {
		p.line("Fixed since v%d:", s.Version)
	}
	for i := range s.Fixed {
		line := wording(&s.Fixed[i])
		if at := place(&s.Fixed[i]); at != "" {
			line = at + ": " + line
		}
		p.line("  %s", line)
	}
}

// history tells what is gone with the series, and how much was there before.
func (t *text) history(p *page) {
	t.since(p)
	var gone []string
	before := 0
	for i := range t.v.Findings {
		f := &t.v.Findings[i]
		switch f.Status {
		case review.Gone:
			line := wording(f)
			if at := place(f); at != "" {
				line = at + ": " + line
			}
			gone = append(gone, line)
		case review.Before:
			before++
		}
	}
	switch {
	case len(gone) > 0 && t.cut.gone == 0:
		t.left = true
		p.blank()
		p.line("%s gone with this series.", capital(counted(len(gone), "finding is", "findings are")))
	case len(gone) > 0:
		p.blank()
		what := "series"
		if len(t.series().Patches) == 1 {
			what = "patch"
		}
		p.line("Gone with this %s:", what)
		shown := min(len(gone), t.cut.gone)
		for _, line := range gone[:shown] {
			p.line("  %s", line)
		}
		t.more(p, len(gone)-shown, "finding", "findings")
	}
	if before > 0 {
		p.blank()
		verbs := [...]string{"were", "stay"}
		if before == 1 {
			verbs = [...]string{"was", "stays"}
		}
		p.line("%s %s there before and %s.", capital(counted(before, "finding", "findings")), verbs[0], verbs[1])
	}
}

// more says how much of a list was left out.
func (t *text) more(p *page, n int, one, many string) {
	if n > 0 {
		t.left = true
		p.line("  and %s", counted(n, "more "+one, "more "+many))
	}
}

// group is a set of targets of which the same can be said.
type group struct {
	key   string
	names []string
}

func grouped(groups []group, key, target string) []group {
	i := slices.IndexFunc(groups, func(g group) bool { return g.key == key })
	if i < 0 {
		groups = append(groups, group{key: key})
		i = len(groups) - 1
	}
	groups[i].names = append(groups[i].names, name(target))
	return groups
}

// coverage says which targets were built with what, which were not and why, and which
// changed lines nothing compiled.
func (t *text) coverage(p *page) {
	p.blank()
	built := t.built()
	warned := slices.ContainsFunc(t.findings, func(f review.Finding) bool { return f.Class == checks.Build })
	var compilers []group
	for _, target := range built {
		compilers = grouped(compilers, name(target.Compiler), target.Name)
	}
	for _, g := range compilers {
		line := "Built"
		if g.key != "" {
			line += " with " + g.key
		}
		if !warned {
			line += ", no new warnings"
		}
		p.paragraph("", "  ", line+": "+strings.Join(g.names, " "))
	}
	var failed, skipped, broken []group
	for _, target := range t.v.Targets {
		switch target.Status {
		case review.Failed:
			failed = grouped(failed, phrase(target.Reason), target.Name)
		case review.Skipped:
			skipped = grouped(skipped, phrase(target.Reason), target.Name)
		case review.OK:
			var tags []string
			for _, n := range t.brokenBy(target.Name) {
				tags = append(tags, fmt.Sprintf("[%d]", n))
			}
			if len(tags) > 0 {
				broken = grouped(broken, strings.Join(tags, " "), target.Name)
			}
		}
	}
	tellGroups(p, "Does not compile any more: ", broken)
	tellGroups(p, "Could not be built, not because of the series: ", failed)
	tellGroups(p, "Not built: ", skipped)
	t.uncompiled(p, len(built))
}

func tellGroups(p *page, lead string, groups []group) {
	if len(groups) == 0 {
		return
	}
	var parts []string
	for _, g := range groups {
		part := strings.Join(g.names, " ")
		switch {
		case strings.HasPrefix(g.key, "["):
			part += " " + g.key
		case g.key != "":
			part += " (" + g.key + ")"
		}
		parts = append(parts, part)
	}
	p.paragraph("", "  ", lead+strings.Join(parts, ", "))
}

func (t *text) uncompiled(p *page, built int) {
	runs := t.v.Uncompiled
	if len(runs) == 0 {
		switch {
		case runs == nil: // nobody looked
		case built == 1:
			p.line("Every changed line was compiled by it.")
		case built > 1:
			p.line("Every changed line was compiled by at least one of them.")
		}
		return
	}
	p.blank()
	if t.cut.uncompiled == 0 {
		t.left = true
		p.line("No target compiled the changed lines in %s.", counted(len(runs), "place", "places"))
		return
	}
	p.line("Changed lines that no target compiled:")
	shown := min(len(runs), t.cut.uncompiled)
	var places []string
	width := 0
	for _, run := range runs[:shown] {
		at := fmt.Sprintf("%s:%d", name(run.File), run.First)
		if run.Last > run.First {
			at += fmt.Sprintf("-%d", run.Last)
		}
		places = append(places, at)
		width = max(width, len(at))
	}
	for i, run := range runs[:shown] {
		p.line("  %s  %s", pad(places[i], width), phrase(run.Reason))
	}
	t.more(p, len(runs)-shown, "place", "places")
}

// notes tells the limits of the review, those of targets under their names.
func (t *text) notes(p *page) {
	var list []string
	for _, note := range t.v.Notes {
		if note = stopped(prose(note)); note != "" {
			list = append(list, note)
		}
	}
	var groups []group
	for _, target := range t.v.Targets {
		for _, note := range target.Notes {
			if note = stopped(prose(note)); note != "" {
				groups = grouped(groups, note, target.Name)
			}
		}
	}
	for _, g := range groups {
		list = append(list, strings.Join(g.names, " ")+": "+g.key)
	}
	if len(list) == 0 {
		return
	}
	p.blank()
	if t.cut.notes == 0 {
		t.left = true
		p.line("%s left out.", capital(counted(len(list), "note is", "notes are")))
		return
	}
	shown := min(len(list), t.cut.notes)
	for _, note := range list[:shown] {
		p.paragraph("", "  ", note)
	}
	t.more(p, len(list)-shown, "note", "notes")
}
