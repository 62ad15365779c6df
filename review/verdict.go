// Package review takes one revision of a series to one verdict: it chooses the
// base, applies the patches, plans what to compile, builds and checks every target
// before and after, compares by identity and brings each new finding to its patch.
package review

import (
	"slices"
	"time"

	"uabot/checks"
	"uabot/mail"
)

// Status says how a finding relates to the series.
type Status string

// The statuses.
const (
	New    Status = "new"    // not at the base, there with the series
	Gone   Status = "gone"   // at the base, not any more
	Before Status = "before" // at the base and with the series
)

// Finding is a finding of a check, set in relation to the series.
type Finding struct {
	checks.Finding
	Status   Status
	Patch    int // the patch (1-based, position in the series) that brings it; 0 when not known
	HealedBy int // the patch that takes it away again: the series breaks bisection between; 0 when it is there at the tip
}

// Base is the commit that a series was applied to.
type Base struct {
	Commit string // full id
	Name   string // what a reader calls it: a tag, a branch, an abbreviated id
	Reason string // why it was chosen: "base-commit in the cover letter"
}

// TargetStatus is the fate of a target in a review.
type TargetStatus string

// The fates.
const (
	OK      TargetStatus = "ok"
	Failed  TargetStatus = "failed"  // it could not be built for a reason that is not the series'
	Skipped TargetStatus = "skipped" // nothing to compile there, or its compiler is missing
)

// Target is what became of one target.
type Target struct {
	Name     string
	Status   TargetStatus
	Reason   string   // why it failed or was skipped
	Compiler string   // "gcc 12.2"
	Objects  []string // relative paths of the objects compared
	Seconds  float64
	Notes    []string

	// SourceOnly is why compiled code cannot show a window here: "no window
	// instructions there". Empty where it can.
	SourceOnly string
}

// WindowChange is the number of windows that a function opens on one target.
type WindowChange struct {
	Function string
	File     string
	Target   string
	Before   int // -1 when the function was not there
	After    int // -1 when the function is not there any more
}

// Uncompiled is a run of changed lines that no target compiled.
type Uncompiled struct {
	File   string
	First  int    // 1-based
	Last   int    // inclusive
	Reason string // "#ifdef CONFIG_X: needs CONFIG_X=y", "arch/mips: no target builds it"
}

// Since says what became of the new findings of an earlier revision.
type Since struct {
	Version int       // of that revision
	Fixed   []Finding // not there any more
	Still   []Finding // still new
}

// Compare sets v against the verdict on an earlier revision of the same work.
func (v *Verdict) Compare(earlier *Verdict) {
	v.Since = &Since{Version: earlier.Series.Version}
	for _, f := range earlier.NewFindings() {
		still := slices.ContainsFunc(v.NewFindings(), func(g Finding) bool { return g.Identity() == f.Identity() })
		if still {
			v.Since.Still = append(v.Since.Still, f)
		} else {
			v.Since.Fixed = append(v.Since.Fixed, f)
		}
	}
}

// Verdict is the outcome of a review.
type Verdict struct {
	Series     *mail.Series // what was reviewed
	Source     string       // how a person would fetch it: a Message-ID, "base..tip", a file
	Base       Base
	Applied    bool
	Targets    []Target
	Findings   []Finding
	Windows    []WindowChange
	Uncompiled []Uncompiled // nil: nobody looked; empty: every changed line was compiled
	Since      *Since       // against the revision before; nil where that was not reviewed
	Reproduce  []string     // shell lines that show the first new finding from nothing
	Notes      []string     // limits: "header touched: 40 of 312 including files compiled"
	Started    time.Time
	Seconds    float64
}

// NewFindings returns the findings that the series brings, those that it heals
// itself included, in the order of the verdict.
func (v *Verdict) NewFindings() []Finding {
	var list []Finding
	for _, f := range v.Findings {
		if f.Status == New {
			list = append(list, f)
		}
	}
	return list
}

// ExitCode is 0 when nothing is new and 1 when something is.
func (v *Verdict) ExitCode() int {
	if len(v.NewFindings()) > 0 {
		return 1
	}
	return 0
}
