package kbuild

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Plan says what is compiled to judge a series on one target.
type Plan struct {
	Units   []string  // sources to compile, touched ones first
	Skipped []Skipped // touched sources that this target does not compile
	Notes   []string  // what was left out: "include/linux/uaccess.h: of 312 files that may include it …, the first 24 are compiled"
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
	users, err := including(tip, candidates)
	if err != nil {
		return fail(err)
	}
	all := slices.Clone(candidates)
	for _, name := range candidates {
		all = append(all, users[name]...)
	}
	configured, err := p.configured(ctx, tip, all)
	if err != nil {
		return fail(err)
	}
	add := func(name string) {
		switch {
		case slices.Contains(plan.Units, name):
		case configured[name].off != "":
			plan.Skipped = append(plan.Skipped, Skipped{name, configured[name].off})
		case !exists(filepath.Join(tip.Dir, name)) && !exists(filepath.Join(p.tree.Dir, name)):
			plan.Skipped = append(plan.Skipped, Skipped{name, "it is neither in the base nor in the patched tree"})
		default:
			plan.Units = append(plan.Units, name)
		}
	}
	for _, name := range candidates {
		if configured[name].listed || len(users[name]) == 0 {
			add(name)
		}
		for _, user := range users[name] {
			add(user)
		}
	}
	if err := p.headerUnits(ctx, plan, tip, touched); err != nil {
		return fail(err)
	}
	return plan, nil
}

// including finds the sources that are included by other sources beside them, and
// by which: sound/core/pcm_compat.c is a part of pcm_native.c.
func including(tip Tree, sources []string) (map[string][]string, error) {
	users := map[string][]string{}
	for _, source := range sources {
		dir, name := path.Split(source)
		if path.Ext(name) != ".c" {
			continue
		}
		entries, err := os.ReadDir(filepath.Join(tip.Dir, dir))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		include := []byte(`#include "` + name + `"`)
		for _, e := range entries {
			if path.Ext(e.Name()) != ".c" || e.Name() == name || !e.Type().IsRegular() {
				continue
			}
			if data, err := os.ReadFile(filepath.Join(tip.Dir, dir, e.Name())); err == nil && bytes.Contains(data, include) {
				users[source] = append(users[source], dir+e.Name())
			}
		}
	}
	return users, nil
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
