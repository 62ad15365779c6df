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
	switch n := len(s.Patches); {
	case len(s.Missing) > 0:
		var missing []string
		for _, number := range s.Missing {
			missing = append(missing, fmt.Sprintf("%d/%d", number, s.Total))
		}
		verb := "are"
		if len(missing) == 1 {
			verb = "is"
		}
		about = append(about, fmt.Sprintf("%d of its %d patches: %s %s missing", n, s.Total, listed(missing), verb))
	case n > 1:
		about = append(about, fmt.Sprintf("%d patches", n))
	case s.Total <= 1:
		what = "patch"
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
		return name(t.v.Base.Name)
	}
	commit := name(t.v.Base.Commit)
	return commit[:min(12, len(commit))]
}

func (t *text) builtFor() string {
	built, total := len(t.built()), len(t.v.Targets)
	switch {
	case total == 0:
		return "built nothing"
	case built == 0 && total == 1:
		return "could not build it for " + name(t.v.Targets[0].Name)
	case built == 0:
		return fmt.Sprintf("could build it for none of %d targets", total)
	case built < total:
		return fmt.Sprintf("built it for %d of %d targets", built, total)
	}
	if total == 1 {
		return "built it for " + name(t.v.Targets[0].Name)
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
	if healed > 0 && broken > 0 {
		parts = append(parts, counted(healed, "more", "more")+" in the middle of the series")
	} else if healed > 0 {
		parts = append(parts, counted(healed, "in its middle", "in its middle"))
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
		return "No new problem at the end of the series, but " + listed(parts) + ":"
	case len(parts) > 0:
		return capital(listed(parts)) + ":"
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
		for _, seen := range f.Targets() {
			if seen == target {
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
