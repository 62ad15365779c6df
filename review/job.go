package review

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"uabot/checks"
	"uabot/checks/kbuild"
	"uabot/checks/window/object"
	"uabot/config"
)

// job is one target of a run.
type job struct {
	run    *run
	target config.Target
	checks []checks.Check
	result *Target // in the verdict

	built *kbuild.Base
	plan  *kbuild.Plan
	units []string      // sources that are compared
	tip   *checks.Built // the patched tree; nil when the target was not built
	out   string        // the base's output directory, with the configuration
}

// close lets the target's prepared base go.
func (j *job) close() {
	if j != nil && j.built != nil {
		j.built.Close()
	}
}

// tell passes on what the job is doing.
func (j *job) tell(format string, args ...any) { j.run.tell(j.target.Name, format, args...) }

// end ends the job without a result.
func (j *job) end(status TargetStatus, format string, args ...any) error {
	j.result.Status, j.result.Reason = status, fmt.Sprintf(format, args...)
	j.tell("%s: %s", status, j.result.Reason)
	return nil
}

// beforeAndAfter builds base and tip and runs the checks on both.
func (j *job) beforeAndAfter(ctx context.Context) error {
	u := j.run
	started := time.Now()
	*j.result = Target{Name: j.target.Name}
	defer func() {
		j.result.Seconds = time.Since(started).Seconds()
		u.mu.Lock()
		u.done++
		u.mu.Unlock()
		j.tell("")
	}()
	var err error
	j.built, err = u.Builder.Open(ctx, u.base, j.target)
	switch missing, config := new(kbuild.MissingError), new(kbuild.ConfigError); {
	case errors.As(err, &missing), errors.As(err, &config):
		return j.end(Skipped, "%v", err)
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return j.end(Failed, "%v", err)
	}
	j.result.Compiler = j.built.Compiler()
	j.result.Notes = append(j.result.Notes, j.built.Notes...)
	if j.plan, err = j.built.Plan(ctx, u.patched()); err != nil {
		return err
	}
	j.result.Notes = append(j.result.Notes, j.plan.Notes...)
	if len(j.plan.Units) == 0 {
		reason := "the series touches nothing that is compiled there"
		if len(j.plan.Skipped) > 0 {
			reason = j.plan.Skipped[0].Source + ": " + j.plan.Skipped[0].Reason
		}
		return j.end(Skipped, "%s", reason)
	}
	base, err := j.built.Build(ctx, j.plan.Units)
	if err != nil {
		return j.failed(ctx, err)
	}
	j.out = base.Output
	if j.tip, err = j.build(ctx, u.patched(), j.plan.Units); err != nil {
		return j.failed(ctx, err)
	}
	j.compare(base)
	if len(j.result.Objects) == 0 {
		return j.end(Failed, "%s", strings.Join(j.result.Notes, "; "))
	}
	before, err := j.check(ctx, 0, base)
	if err != nil {
		return err
	}
	after, err := j.check(ctx, len(u.commits), j.tip)
	if err != nil {
		return err
	}
	if allBuilt(base) && allBuilt(j.tip) { // else a function that is not there has no windows
		u.mu.Lock()
		u.windows[j.target.Name] = windowCounts{base: before, tip: after}
		u.mu.Unlock()
	}
	j.result.Status = OK
	return nil
}

// allBuilt reports whether every unit of b was compiled.
func allBuilt(b *checks.Built) bool {
	return !slices.ContainsFunc(b.Units, func(u checks.Unit) bool { return u.Err != "" })
}

// compare leaves out the units that say nothing: what does not build before and
// after is not the series' doing, and neither are its messages.
func (j *job) compare(base *checks.Built) {
	both := func(i int) bool { return base.Units[i].Err != "" && j.tip.Units[i].Err != "" }
	var before, after []checks.Unit
	for i, unit := range j.tip.Units {
		if both(i) {
			j.result.Notes = append(j.result.Notes, unit.Source+" does not build at the base: "+base.Units[i].Err)
			continue
		}
		j.result.Objects = append(j.result.Objects, unit.Object)
		before, after = append(before, base.Units[i]), append(after, unit)
		j.units = append(j.units, unit.Source)
	}
	base.Units, j.tip.Units = before, after
}

// failed ends the job when the builder is in trouble: that is the machine's, and
// the other targets go on.
func (j *job) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	j.tip = nil
	return j.end(Failed, "%v", err)
}

// build compiles units of t into a directory that goes with the review.
func (j *job) build(ctx context.Context, t kbuild.Tree, units []string) (*checks.Built, error) {
	output, err := os.MkdirTemp(j.run.scratch.Beside(), j.target.Name+"-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for objects: %w", err)
	}
	return j.built.BuildState(ctx, t, units, output)
}

// step builds and checks t, the tree with the first k patches.
func (j *job) step(ctx context.Context, k int, t kbuild.Tree) error {
	u := j.run
	j.tell("looking at patch %d/%d", k, len(u.commits))
	built, err := j.build(ctx, t, j.units)
	if err != nil {
		return fmt.Errorf("stepping through the series: %w", err)
	}
	_, err = j.check(ctx, k, built)
	return err
}

// check runs every check that sees anything on the target, and records the findings
// as those of state k. It returns the windows of each function as they are in the
// objects: what the source opens may be no instruction at all.
func (j *job) check(ctx context.Context, k int, built *checks.Built) ([]checks.Windows, error) {
	if !allBuilt(built) {
		j.run.mu.Lock()
		j.run.broken[k][j.target.Name] = true
		j.run.mu.Unlock()
	}
	var windows []checks.Windows
	findings, err := j.each(ctx, built, func(c checks.Check, result *checks.Result) {
		if c.Name() == object.CheckName {
			windows = result.Windows
		}
		j.run.mu.Lock()
		defer j.run.mu.Unlock()
		for _, note := range result.Notes {
			if !slices.Contains(j.result.Notes, note) {
				j.result.Notes = append(j.result.Notes, note)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	j.run.record(k, j.target.Name, findings)
	return windows, nil
}

// each runs every check that sees anything on the target, and returns all findings.
func (j *job) each(ctx context.Context, built *checks.Built, seen func(checks.Check, *checks.Result)) ([]checks.Finding, error) {
	var findings []checks.Finding
	for _, c := range j.checks {
		if ok, reason := c.Applies(j.target); !ok {
			if c.Name() == object.CheckName {
				j.run.mu.Lock()
				j.result.SourceOnly, _, _ = strings.Cut(reason, ":")
				j.run.mu.Unlock()
			}
			continue
		}
		j.tell("%s", c.Name())
		result, err := c.Run(ctx, built)
		if err != nil {
			return nil, fmt.Errorf("%s on %s: %w", c.Name(), j.target.Name, err)
		}
		findings = append(findings, result.Findings...)
		seen(c, result)
	}
	return findings, nil
}

// patched is the tree with all patches.
func (u *run) patched() kbuild.Tree {
	return kbuild.Tree{Dir: u.scratch.Dir, Commit: u.tip(), Git: u.Repo.Git()}
}
