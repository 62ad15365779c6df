package review

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"uabot/checks"
	"uabot/checks/coverage"
	"uabot/checks/kbuild"
	"uabot/checks/usercopy"
	"uabot/config"
	"uabot/mail"
	"uabot/review/tree"
)

// Reviewer reviews series against one tree. It is safe for concurrent use.
type Reviewer struct {
	Repo    *tree.Repo
	Builder *kbuild.Builder
	Targets []config.Target
	Jobs    int // targets that are worked on at once; at least 1
	// Checks makes the checks for a base: objtool is the base's own, so that a
	// series cannot change its judge.
	Checks func(base kbuild.Tree) []checks.Check
}

// Request is one series to review.
type Request struct {
	Series   *mail.Series
	Source   string // how a person would fetch it, see Verdict.Source
	Base     string // a commit asked for; empty for the series' own base or the tree's HEAD
	Progress Progress
}

// ErrNothingToDo is returned for a series without a patch.
var ErrNothingToDo = errors.New("there is no patch in it")

// run is one review under way.
type run struct {
	*Reviewer
	Request
	verdict *Verdict
	base    kbuild.Tree
	commits []string // after each patch; the last is the tip
	scratch *tree.Scratch

	mu      sync.Mutex
	done    int                     // targets
	states  []state                 // after so many patches; nil where nobody looked
	broken  []map[string]bool       // the targets where something does not compile then
	windows map[string]windowCounts // by target
}

// windowCounts are the windows of one target at the base and at the tip.
type windowCounts struct{ base, tip []checks.Windows }

// Run reviews one series. What the series does wrong is in the verdict; an error
// means that there is none: a *tree.ApplyError, a *mail.RefusedError, or trouble of
// the machine's.
func (r *Reviewer) Run(ctx context.Context, q Request) (*Verdict, error) {
	if len(q.Series.Patches) == 0 {
		return nil, ErrNothingToDo
	}
	started := time.Now()
	u := &run{
		Reviewer: r, Request: q, windows: map[string]windowCounts{},
		verdict: &Verdict{Series: q.Series, Source: q.Source, Started: started},
	}
	if err := u.apply(ctx); err != nil {
		return nil, err
	}
	var err error
	if u.scratch, err = r.Repo.Scratch(ctx, u.base.Commit); err != nil {
		return nil, err
	}
	defer u.scratch.Close()
	u.base.Dir = u.scratch.From()
	if err := u.scratch.Set(ctx, u.tip()); err != nil {
		return nil, err
	}
	if err := u.review(ctx); err != nil {
		return nil, err
	}
	u.verdict.Seconds = time.Since(started).Seconds()
	return u.verdict, nil
}

// tell passes an event on to whoever watches.
func (u *run) tell(target, format string, args ...any) {
	if u.Progress == nil {
		return
	}
	u.mu.Lock()
	done := u.done
	u.mu.Unlock()
	u.Progress(Event{Target: target, What: fmt.Sprintf(format, args...), Done: done, Total: len(u.Targets), After: time.Since(u.verdict.Started)})
}

// tip is the commit with all patches.
func (u *run) tip() string { return u.commits[len(u.commits)-1] }

// apply refuses what must not reach git, chooses the base and makes the commits.
func (u *run) apply(ctx context.Context) error {
	var patches []tree.Patch
	for _, p := range u.Series.Patches {
		if err := p.Refuse(); err != nil {
			return fmt.Errorf("%q is not applied: %w", p.Title, err)
		}
		patches = append(patches, tree.Patch{Title: p.Title, Mail: p.Mail(), Paths: pathsOf(p)})
	}
	base, err := chooseBase(ctx, u.Repo, u.Series.BaseCommit(), u.Request.Base)
	if err != nil {
		return fmt.Errorf("choosing a base: %w", err)
	}
	u.verdict.Base = base
	u.base = kbuild.Tree{Commit: base.Commit, Git: u.Repo.Git()}
	u.tell("", "applying %d %s to %s", len(patches), plural(len(patches), "patch", "patches"), base.Name)
	if u.commits, err = u.Repo.Apply(ctx, base.Commit, patches); err != nil {
		return fmt.Errorf("on %s, %s: %w", base.Name, base.Reason, err)
	}
	u.verdict.Applied = true
	u.states = make([]state, len(u.commits)+1)
	u.states[0], u.states[len(u.commits)] = state{}, state{}
	u.broken = make([]map[string]bool, len(u.states))
	for k := range u.broken {
		u.broken[k] = map[string]bool{}
	}
	u.tell("", "laying out the source of %s", base.Name)
	return nil
}

// review builds and checks base and tip for every target, then the states between
// where they tell which patch it was.
func (u *run) review(ctx context.Context) error {
	u.verdict.Targets = make([]Target, len(u.Targets))
	list := u.Checks(u.base)
	jobs := make([]*job, len(u.Targets))
	err := u.parallel(ctx, len(u.Targets), func(ctx context.Context, i int) error {
		jobs[i] = &job{run: u, target: u.Targets[i], checks: list, result: &u.verdict.Targets[i]}
		return jobs[i].beforeAndAfter(ctx)
	})
	defer func() {
		for _, j := range jobs {
			j.close()
		}
	}()
	if err != nil {
		return err
	}
	if err := u.lookAtChange(ctx, len(u.commits), u.scratch.Dir, jobs); err != nil {
		return err
	}
	u.states[0].fold()
	u.states[len(u.commits)].fold()
	u.verdict.Findings = compare(u.states[0], u.states[len(u.commits)])
	if err := u.stepThrough(ctx, jobs); err != nil {
		return err
	}
	u.carry()
	u.verdict.Findings = attribute(compare(u.states[0], u.states[len(u.commits)]), u.states)
	if err := u.tryFixes(ctx, jobs); err != nil {
		return err
	}
	u.verdict.Windows = u.windowChanges()
	if err := u.findUncompiled(ctx, jobs); err != nil {
		return err
	}
	u.verdict.Reproduce = reproduce(u.verdict, u.Targets)
	return nil
}

// parallel calls f for 0..n-1, Jobs at a time. The first error ends the others.
func (u *run) parallel(ctx context.Context, n int, f func(context.Context, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, max(1, u.Jobs))
	var wg sync.WaitGroup
	for i := range n {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() { <-slots }()
			if err := f(ctx, i); err != nil {
				cancel(err)
			}
		}()
	}
	wg.Wait()
	return context.Cause(ctx)
}

// stepThrough builds the trees between base and tip: on the targets that show what
// is new, to find the patch; on one target when nothing is, to see whether the
// series breaks in the middle.
func (u *run) stepThrough(ctx context.Context, jobs []*job) error {
	if len(u.commits) < 2 {
		return nil
	}
	chosen := telling(u.verdict.Findings, jobs)
	return u.parallel(ctx, len(u.commits)-1, func(ctx context.Context, i int) error {
		k := i + 1
		u.mu.Lock()
		u.states[k] = state{}
		u.mu.Unlock()
		return u.at(ctx, u.commits[k-1], func(t kbuild.Tree) error {
			for _, j := range chosen {
				if err := j.step(ctx, k, t); err != nil {
					return err
				}
			}
			if err := u.lookAtChange(ctx, k, t.Dir, nil); err != nil {
				return err
			}
			u.mu.Lock()
			defer u.mu.Unlock()
			u.states[k].fold()
			return nil
		})
	})
}

// at calls f with the source of a commit, laid out in a scratch tree of its own.
func (u *run) at(ctx context.Context, commit string, f func(kbuild.Tree) error) error {
	s, err := u.Repo.Scratch(ctx, u.base.Commit)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Set(ctx, commit); err != nil {
		return err
	}
	return f(kbuild.Tree{Dir: s.Dir, Commit: commit, Git: u.Repo.Git()})
}

// carry goes through the states in order and takes over what cannot be seen in one.
func (u *run) carry() {
	for k := 1; k < len(u.states); k++ {
		if u.states[k] == nil {
			continue
		}
		for target := range u.broken[k] {
			for j := k - 1; j >= 0; j-- {
				if _, looked := u.states[j][target]; looked {
					u.states[k].carry(u.states[j], target)
					break
				}
			}
		}
	}
}

// telling chooses the fewest targets that together show every new finding; the
// first that was built when there is none.
func telling(findings []Finding, jobs []*job) []*job {
	var chosen []*job
	shows := func(f Finding) bool {
		return slices.ContainsFunc(chosen, func(j *job) bool { return slices.Contains(f.Targets(), j.target.Name) })
	}
	for _, f := range findings {
		if f.Status != New || shows(f) {
			continue
		}
		for _, j := range jobs {
			if j.result.Status == OK && slices.Contains(f.Targets(), j.target.Name) {
				chosen = append(chosen, j)
				break
			}
		}
	}
	if chosen == nil {
		for _, j := range jobs {
			if j.result.Status == OK {
				return []*job{j}
			}
		}
	}
	return chosen
}

// lookAtChange applies the rules on the change itself to the first k patches, whose
// tree is in dir. Their findings belong to no target.
func (u *run) lookAtChange(ctx context.Context, k int, dir string, jobs []*job) error {
	change := usercopy.Change{
		Base:    usercopy.Dir(u.base.Dir),
		Patched: usercopy.Dir(dir),
		Search:  usercopy.Grep(dir),
	}
	for _, p := range u.Series.Patches[:k] {
		change.Files = append(change.Files, p.Files...)
	}
	for _, j := range jobs {
		if j != nil && j.tip != nil {
			change.Built = append(change.Built, j.tip)
		}
	}
	findings, err := usercopy.Check(ctx, change)
	if err != nil {
		return fmt.Errorf("looking at the change itself: %w", err)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.states[k].add("", findings)
	return nil
}

// record keeps what a check saw on a target in state k.
func (u *run) record(k int, target string, findings []checks.Finding) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.states[k].add(target, findings)
}

// windowChanges lists, for the functions of touched files that open another number of
// windows than before on some target, the numbers of every target that has them. What
// the compiler inlines from elsewhere moves, too, and is not the series' doing.
func (u *run) windowChanges() []WindowChange {
	touched := map[string]bool{}
	for _, p := range u.Series.Patches {
		for _, name := range pathsOf(p) {
			touched[name] = true
		}
	}
	differs := map[string]bool{}
	for _, w := range u.windows {
		for _, c := range compareWindows("", w.base, w.tip, func(string, string) bool { return false }) {
			if touched[c.File] {
				differs[c.File+"\x00"+c.Function] = true
			}
		}
	}
	var list []WindowChange
	for _, t := range u.Targets {
		if w, ok := u.windows[t.Name]; ok {
			for _, c := range compareWindows(t.Name, w.base, w.tip, func(file, function string) bool { return differs[file+"\x00"+function] }) {
				if differs[c.File+"\x00"+c.Function] {
					list = append(list, c)
				}
			}
		}
	}
	return list
}

// findUncompiled lists the added lines that no target compiled.
func (u *run) findUncompiled(ctx context.Context, jobs []*job) error {
	change := coverage.Change{Base: usercopy.Dir(u.base.Dir), Patched: usercopy.Dir(u.scratch.Dir)}
	configs := map[*checks.Built]string{}
	for _, j := range jobs {
		if j.result.Status == OK {
			change.Built = append(change.Built, j.tip)
			configs[j.tip] = j.out
		}
	}
	if change.Built == nil {
		return nil // nobody looked: there is nothing that was built
	}
	change.Config = func(b *checks.Built) string { return configs[b] }
	for _, p := range u.Series.Patches {
		change.Files = append(change.Files, p.Files...)
	}
	result, err := coverage.Lines(ctx, change)
	if err != nil {
		return fmt.Errorf("looking for lines that no target compiled: %w", err)
	}
	u.verdict.Uncompiled = []Uncompiled{}
	for _, h := range result.Holes {
		reason := h.Reason
		if h.Needs != "" {
			reason += "; needs " + h.Needs
		}
		u.verdict.Uncompiled = append(u.verdict.Uncompiled, Uncompiled{File: h.File, First: h.First, Last: h.Last, Reason: reason})
	}
	u.verdict.Notes = append(u.verdict.Notes, result.Notes...)
	return nil
}

// pathsOf lists the files that a patch touches, old and new names.
func pathsOf(p *mail.Patch) []string {
	names := map[string]bool{}
	for _, f := range p.Files {
		names[f.OldName], names[f.NewName] = true, true
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
