// Package coverage tells which added lines no target compiled: lines inside an #if
// that is false on all of them, in a file that no configuration builds, of an
// architecture that nobody builds for. Whatever the other checks say, they say it
// of the rest.
//
// A line counts as compiled when one unit on one target certainly read it as code.
// Three sources tell, cheapest first: the configuration against the conditions
// around the line; the debug information of the objects; and, where the caller
// lends a way to run the compiler, its preprocessor. A line of which none of them
// is certain is not reported but noted: nothing here is a guess.
package coverage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"uabot/checks"
	"uabot/checks/csource"
)

// Change is what is looked at: one patch, or a series from its base to its end.
type Change struct {
	Base    func(path string) ([]byte, error) // the tree before; a missing file is fs.ErrNotExist
	Patched func(path string) ([]byte, error) // the tree after
	Files   []*gitdiff.File                   // what was touched; only names are read
	Built   []*checks.Built                   // the patched tree, one for each target that was built
	// Config is the output directory that has the target's .config; nil or an empty
	// answer stands for Built.Output.
	Config func(b *checks.Built) string
	// Preprocess returns a unit's text as PreprocessCommand makes it; nil when
	// nothing may be run. It is asked only where nothing else tells.
	Preprocess func(ctx context.Context, b *checks.Built, u checks.Unit) ([]byte, error)
}

// Hole is a run of added lines that no target compiled.
type Hole struct {
	File        string
	First, Last int    // 1-based, inclusive
	Reason      string // "#ifdef CONFIG_X (line 12) is false on every target"
	Needs       string // what would compile them: "CONFIG_X=y", "ARCH=mips"; empty when not known
}

// Result is what is known of the added lines.
type Result struct {
	Holes []Hole
	Notes []string // lines of which nothing is certain, and why
}

// Lines finds the added lines of c that no target compiled, in order of file and line.
// It fails only when a tree or a configuration cannot be read.
func Lines(ctx context.Context, c Change) (*Result, error) {
	targets, err := open(c)
	if err != nil {
		return nil, err
	}
	res := &Result{}
	for _, name := range touched(c.Files) {
		before, err := read(c.Base, name.old)
		if err != nil {
			return nil, fmt.Errorf("reading %s of the base: %w", name.old, err)
		}
		after, err := read(c.Patched, name.new)
		if err != nil {
			return nil, fmt.Errorf("reading %s of the patched tree: %w", name.new, err)
		}
		f := &file{name: name.new, File: csource.Parse(after)}
		for line := range csource.AddedLines(lines(before), lines(after)) {
			if f.HasCode(line) {
				f.added = append(f.added, line)
			}
		}
		if len(f.added) == 0 {
			continue
		}
		slices.Sort(f.added)
		if err := judge(ctx, c, targets, f, res); err != nil {
			return nil, err
		}
	}
	return res, ctx.Err()
}

// file is one touched file of the patched tree.
type file struct {
	*csource.File
	name  string
	added []int // added lines that hold code
}

// judge adds to res what is to be said of one file.
func judge(ctx context.Context, c Change, targets []*target, f *file, res *Result) error {
	if reason, needs := f.notBuilt(c, targets); reason != "" {
		res.add(f, f.added, reason, needs)
		return nil
	}
	byBranch := map[int][]int{}
	for _, line := range f.added {
		b := f.Branch(line)
		byBranch[b] = append(byBranch[b], line)
	}
	var open []string       // branches of which nothing is certain
	lines := 0              // added lines in them
	dead := map[int][]int{} // outermost branch that nothing compiled → its lines
	for _, b := range slices.Sorted(maps.Keys(byBranch)) {
		if b < 0 {
			continue
		}
		state, err := f.branch(ctx, c, targets, b)
		if err != nil {
			return err
		}
		switch state {
		case no:
			outer := b
			for at := f.Conds[b].Parent; at >= 0; at = f.Conds[at].Parent {
				if state, err := f.branch(ctx, c, targets, at); err != nil {
					return err
				} else if state == no {
					outer = at
				}
			}
			dead[outer] = append(dead[outer], byBranch[b]...)
		case unknown:
			open = append(open, fmt.Sprintf("#%s (line %d)", f.text(b), f.Conds[b].Line))
			lines += len(byBranch[b])
		}
	}
	if lines > 0 {
		if len(open) > 3 {
			open = append(open[:3], "...")
		}
		res.Notes = append(res.Notes, fmt.Sprintf("%s: not known whether any target compiled %s inside of %s", f.name, count(lines), strings.Join(open, ", ")))
	}
	for _, b := range slices.Sorted(maps.Keys(dead)) {
		slices.Sort(dead[b])
		reason, needs := f.why(targets, b)
		res.add(f, dead[b], reason, needs)
	}
	slices.SortFunc(res.Holes, func(a, b Hole) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.First, b.First))
	})
	return nil
}

func count(n int) string {
	if n == 1 {
		return "1 added line"
	}
	return fmt.Sprintf("%d added lines", n)
}

// add appends lines as runs; a run goes on over lines without code.
func (r *Result) add(f *file, list []int, reason, needs string) {
	for i, line := range list {
		if i > 0 {
			last := &r.Holes[len(r.Holes)-1]
			joined := true
			for l := last.Last + 1; l < line; l++ {
				joined = joined && !f.HasCode(l)
			}
			if joined {
				last.Last = line
				continue
			}
		}
		r.Holes = append(r.Holes, Hole{File: f.name, First: line, Last: line, Reason: reason, Needs: needs})
	}
}

type rename struct{ old, new string }

// touched lists the files whose lines a compiler may read, with the names that they
// have before and after all patches.
func touched(files []*gitdiff.File) []rename {
	was := map[string]string{}
	var names []string
	for _, f := range files {
		if f.IsDelete || f.IsBinary || f.NewName == "" {
			continue
		}
		old := cmp.Or(f.OldName, f.NewName)
		if first, ok := was[old]; ok {
			old = first
		}
		if _, ok := was[f.NewName]; !ok {
			was[f.NewName] = old
		}
		if compiled(f.NewName) && !slices.Contains(names, f.NewName) {
			names = append(names, f.NewName)
		}
	}
	slices.Sort(names)
	var list []rename
	for _, n := range names {
		list = append(list, rename{was[n], n})
	}
	return list
}

// compiled reports whether a file of that name is kernel code.
func compiled(name string) bool {
	for _, dir := range []string{"Documentation/", "tools/", "scripts/", "usr/"} {
		if strings.HasPrefix(name, dir) {
			return false
		}
	}
	switch path.Ext(name) {
	case ".c", ".h", ".S":
		return true
	}
	return false
}

// read returns a file's text; a file that does not exist has none.
func read(from func(string) ([]byte, error), name string) ([]byte, error) {
	data, err := from(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), err
}

func lines(data []byte) []string {
	if len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}
