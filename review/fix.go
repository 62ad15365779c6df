package review

import (
	"context"
	"fmt"
	"slices"

	"uabot/checks"
	"uabot/checks/kbuild"
)

// maxFixes bounds the fixes that are tried: each costs a build of the objects on one
// target.
const maxFixes = 3

// tryFixes applies the diff of each suggested fix on top of the series, builds it and
// looks again. A diff that does not fit, does not compile, leaves the finding or
// brings another is not shown: neither are those that were not tried.
func (u *run) tryFixes(ctx context.Context, jobs []*job) error {
	var try []*Finding
	for i := range u.verdict.Findings {
		f := &u.verdict.Findings[i]
		switch {
		case f.Fix == nil || f.Fix.Diff == "":
		case f.Status == New && f.HealedBy == 0 && len(try) < maxFixes:
			try = append(try, f)
		default:
			f.Fix = &checks.Fix{Text: f.Fix.Text}
		}
	}
	return u.parallel(ctx, len(try), func(ctx context.Context, i int) error {
		good, err := u.tryFix(ctx, try[i], jobs)
		if !good {
			try[i].Fix = &checks.Fix{Text: try[i].Fix.Text}
		}
		return err
	})
}

// tryFix reports whether the diff of a fix mends f, and only that.
func (u *run) tryFix(ctx context.Context, f *Finding, jobs []*job) (bool, error) {
	i := slices.IndexFunc(jobs, func(j *job) bool {
		return j.result.Status == OK && slices.Contains(f.Targets(), j.target.Name)
	})
	if i < 0 {
		return false, nil
	}
	j := jobs[i]
	commit, err := u.Repo.Commit(ctx, u.tip(), f.Fix.Diff)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		return false, nil // it does not fit: no fix to show
	}
	j.tell("trying a fix")
	var after state
	err = u.at(ctx, commit, func(t kbuild.Tree) error {
		built, err := j.build(ctx, t, j.units)
		if err != nil {
			return fmt.Errorf("trying a fix: %w", err)
		}
		if !allBuilt(built) {
			return nil
		}
		findings, err := j.each(ctx, built, func(checks.Check, *checks.Result) {})
		if err != nil {
			return err
		}
		after = state{}
		after.add(j.target.Name, findings)
		after.fold()
		return nil
	})
	if err != nil || after == nil || after.has(f.Identity()) {
		return false, err
	}
	tip := u.states[len(u.commits)]
	for id := range after[j.target.Name] {
		if !tip.has(id) && !u.states[0].has(id) {
			return false, nil
		}
	}
	return true, nil
}
