package report

import (
	"fmt"
	"strings"

	"uabot/checks"
	"uabot/review"
)

// opening says in one paragraph what was reviewed, on top of what, how widely it was
// built, and how much is new.
func (t *text) opening(p *page) {
	s := t.series()
	var about []string
	if s.Version > 1 {
		about = append(about, fmt.Sprintf("v%d", s.Version))
	}
	what := "series"
	if n := len(s.Patches); n > 1 {
		about = append(about, fmt.Sprintf("%d patches", n))
	} else if s.Total <= 1 {
		what = "patch"
	}
	if len(s.Missing) > 0 {
		about = append(about, fmt.Sprintf("%d of %d patches missing", len(s.Missing), s.Total))
	}
	what = "this " + what
	if len(about) > 0 {
		what += " (" + strings.Join(about, ", ") + ")"
	}
	base := t.baseName()
	if t.v.Base.Reason != "" {
		base += " (" + phrase(t.v.Base.Reason) + ")"
	}
	if !t.v.Applied {
		p.paragraph("", "", fmt.Sprintf("uabot could not apply %s to %s. Nothing was checked.", what, base))
		return
	}
	p.paragraph("", "", fmt.Sprintf("uabot applied %s to %s and %s. %s", what, base, t.builtFor(), t.outcome()))
}

func (t *text) baseName() string {
	if t.v.Base.Name != "" {
		return phrase(t.v.Base.Name)
	}
	commit := phrase(t.v.Base.Commit)
	return commit[:min(12, len(commit))]
}

func (t *text) builtFor() string {
	built, total := len(t.built()), len(t.v.Targets)
	switch {
	case total == 0:
		return "built nothing"
	case built == 0:
		return fmt.Sprintf("could build it for none of %s", counted(total, "target", "targets"))
	case built < total:
		return fmt.Sprintf("built it for %d of %d targets", built, total)
	}
	if total == 1 {
		return "built it for " + phrase(t.v.Targets[0].Name)
	}
	return fmt.Sprintf("built it for %d targets", total)
}

// outcome counts what is new, by what it asks of the reader.
func (t *text) outcome() string {
	var broken, healed, doubts, policies int
	for i := range t.findings {
		switch rank(&t.findings[i]) {
		case 0:
			broken++
		case 1:
			healed++
		case 2:
			doubts++
		case 3:
			policies++
		}
	}
	var parts []string
	if broken > 0 {
		parts = append(parts, counted(broken, "new problem", "new problems"))
	}
	if healed > 0 {
		parts = append(parts, counted(healed, "problem", "problems")+" in the middle of the series")
	}
	if doubts > 0 {
		parts = append(parts, counted(doubts, "thing to look at", "things to look at"))
	}
	if policies > 0 {
		parts = append(parts, counted(policies, "change that needs an ack", "changes that need an ack"))
	}
	switch {
	case len(parts) > 0 && broken+healed == 0:
		return "No new problem, but " + listed(parts) + ":"
	case len(parts) > 0 && broken == 0:
		return "No problem at its end, but " + listed(parts) + ":"
	case len(parts) > 0:
		return sentence(listed(parts) + ":")
	case len(t.built()) == 0:
		return "Nothing was checked in compiled code."
	}
	return "No new problem."
}

// built are the targets that compiled with the series applied.
func (t *text) built() []review.Target {
	var list []review.Target
	for _, target := range t.v.Targets {
		if target.Status == review.OK && len(t.brokenBy(target.Name)) == 0 {
			list = append(list, target)
		}
	}
	return list
}

// brokenBy are the numbers of the findings that keep a target from compiling at the
// end of the series.
func (t *text) brokenBy(target string) []int {
	var numbers []int
	for i, f := range t.findings {
		if f.Class != checks.Build || f.HealedBy > 0 || !isError(&f) {
			continue
		}
		for _, name := range f.Targets() {
			if name == target {
				numbers = append(numbers, i+1)
			}
		}
	}
	return numbers
}

// isError tells a message that ends a compilation from one that does not.
func isError(f *review.Finding) bool {
	if strings.Contains(f.Rule, "error") {
		return true
	}
	for _, e := range f.Evidence {
		if strings.Contains(e.Text, ": error: ") || strings.Contains(e.Text, ": fatal error: ") {
			return true
		}
	}
	return false
}
