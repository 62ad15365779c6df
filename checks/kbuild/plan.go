package kbuild

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Plan says what is compiled to judge a series on one target.
type Plan struct {
	Units   []string  // sources to compile, touched ones first
	Skipped []Skipped // touched sources that this target does not compile
	Notes   []string  // what was left out: "include/linux/uaccess.h: 24 of 312 units that include it"
}

// Skipped is a source that is touched and not compiled.
type Skipped struct {
	Source string
	Reason string
}

// Plan chooses the units that the commits from the base to tip affect: the sources
// that they touch, and sources that include a header they touch and name something
// that they change in it.
func (p *Base) Plan(ctx context.Context, tip Tree) (*Plan, error) {
	fail := func(err error) (*Plan, error) {
		return nil, fmt.Errorf("choosing objects for %s: %w", p.target.Name, err)
	}
	touched, err := touchedFiles(ctx, tip.git(), p.tree.Commit, tip.Commit)
	if err != nil {
		return fail(err)
	}
	plan := &Plan{}
	var candidates []string
	for _, name := range touched {
		if !isSource(name) {
			continue
		}
		if reason := p.foreign(name); reason != "" {
			plan.Skipped = append(plan.Skipped, Skipped{name, reason})
			continue
		}
		candidates = append(candidates, name)
	}
	configured, err := p.configured(ctx, tip, candidates)
	if err != nil {
		return fail(err)
	}
	for _, name := range candidates {
		switch {
		case configured[name] != "":
			plan.Skipped = append(plan.Skipped, Skipped{name, configured[name]})
		case !exists(filepath.Join(tip.Dir, name)) && !exists(filepath.Join(p.tree.Dir, name)):
			plan.Skipped = append(plan.Skipped, Skipped{name, "it is neither in the base nor in the patched tree"})
		default:
			plan.Units = append(plan.Units, name)
		}
	}
	return plan, nil
}

// isSource reports whether a file is compiled by itself.
func isSource(name string) bool {
	switch path.Ext(name) {
	case ".c":
		return true
	case ".S":
		return !strings.HasSuffix(name, ".lds.S")
	}
	return false
}

// foreign says why no configuration of the target compiles a file, "" when it may.
func (p *Base) foreign(name string) string {
	parts := strings.Split(name, "/")
	switch parts[0] {
	case "arch":
		if len(parts) > 2 && parts[1] != sourceArch(p.target) {
			return "arch/" + parts[1] + ": not this architecture"
		}
	case "tools", "scripts", "usr", "samples", "Documentation":
		return parts[0] + "/: not part of the kernel"
	}
	if slices.Contains(parts, "um") && parts[0] == "arch" {
		return "user-mode Linux: not this architecture"
	}
	return ""
}
