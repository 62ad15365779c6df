package review

import (
	"context"
	"fmt"
	"slices"

	"uabot/checks"
)

// maxFixes bounds the fixes that are tried: each costs a build of the objects on one
// target.
const maxFixes = 3

// tryFixes applies the diff of each suggested fix on top of the series, builds it and
// looks again. A diff that does not fit, does not compile, leaves the finding or
// brings another is not shown: neither are those that were not tried.
func (u *run) tryFixes(ctx context.Context, jobs []*job) error {
	tried := 0
	for i := range u.verdict.Findings {
		f := &u.verdict.Findings[i]
		if f.Fix == nil || f.Fix.Diff == "" {
			continue
		}
		good := false
		if f.Status == New && f.HealedBy == 0 && tried < maxFixes {
			tried++
			var err error
			if good, err = u.tryFix(ctx, f, jobs); err != nil {
				return err
			}
		}
		if !good {
			f.Fix = &checks.Fix{Text: f.Fix.Text}
		}
	}
	return u.scratch.Set(ctx, u.tip())
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
	if err := u.scratch.Set(ctx, commit); err != nil {
		return false, err
	}
	j.tell("trying a fix")
	output, err := u.tempDir(j.target.Name)
	if err != nil {
		return false, err
	}
	patched := u.tree(len(u.commits))
	patched.Commit = commit
	built, err := j.built.BuildState(ctx, patched, j.units, output)
	if err != nil {
		return false, fmt.Errorf("trying a fix: %w", err)
	}
	if !allBuilt(built) {
		return false, nil
	}
	fixed, err := j.each(ctx, built, func(checks.Check, *checks.Result) {})
	if err != nil {
		return false, err
	}
	name := j.target.Name
	after := state{}
	after.add(name, fixed)
	after.fold()
	if after.has(f.Identity()) {
		return false, nil
	}
	tip := u.states[len(u.commits)]
	for id := range after[name] {
		if !tip.has(id) && !u.states[0].has(id) {
			return false, nil
		}
	}
	return true, nil
}
