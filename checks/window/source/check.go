package source

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"uabot/checks"
	"uabot/checks/window"
	"uabot/checks/window/source/gimple"
	"uabot/config"
)

// Name signs the evidence of this check.
const Name = "source"

// Checker is the checks.Check of windows in the source.
type Checker struct{}

// Name is "source".
func (Checker) Name() string { return Name }

// Applies is true everywhere: what a target's compiler has no dump for, a unit's
// Dump says.
func (Checker) Applies(config.Target) (bool, string) { return true, "" }

// Run reads the dumps of every unit of b, several at once.
func (Checker) Run(ctx context.Context, b *checks.Built) (*checks.Result, error) {
	safe := window.SafeCallees(b.Target.Arch)
	if list, err := os.ReadFile(filepath.Join(b.Source, "tools/objtool/check.c")); err == nil {
		if err := safe.UseObjtool(list); err != nil && !errors.Is(err, window.ErrNoSafeList) {
			return nil, fmt.Errorf("reading objtool's list: %w", err)
		}
	}
	texts := &sources{root: b.Source, output: b.Output}
	results := make([]*checks.Result, len(b.Units))
	errs := make([]error, len(b.Units))
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, u := range b.Units {
		if u.Dump == "" && u.Overlay == "" {
			continue
		}
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wg.Done() }()
			if ctx.Err() != nil {
				return
			}
			results[i], errs[i] = unit(b, u, safe, texts)
		}()
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	all := &checks.Result{}
	for _, r := range results {
		if r != nil {
			all.Findings = append(all.Findings, r.Findings...)
			all.Windows = append(all.Windows, r.Windows...)
			all.Notes = append(all.Notes, r.Notes...)
		}
	}
	all.Findings = merge(all.Findings)
	// a header's functions are in many units
	slices.SortFunc(all.Windows, func(a, b checks.Windows) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Opens, b.Opens))
	})
	all.Windows = slices.Compact(all.Windows)
	return all, nil
}

// merge makes findings of one identity one: a header's function is in many units.
func merge(findings []checks.Finding) []checks.Finding {
	var out []checks.Finding
	index := map[string]int{}
	for _, f := range findings {
		i, known := index[f.Identity()]
		if !known {
			index[f.Identity()] = len(out)
			out = append(out, f)
			continue
		}
		for _, u := range f.Uses {
			if !slices.Contains(out[i].Uses, u) {
				out[i].Uses = append(out[i].Uses, u)
			}
		}
		if f.Class.Stronger(out[i].Class) {
			f.Uses = out[i].Uses
			out[i] = f
		}
	}
	return out
}

// unit reads the dumps of one translation unit.
func unit(b *checks.Built, u checks.Unit, safe *window.Callees, texts *sources) (*checks.Result, error) {
	res := &checks.Result{}
	for _, dump := range []string{u.Overlay, u.Dump} {
		if dump == "" {
			continue
		}
		path := filepath.Join(b.Output, dump)
		funcs, err := parseFile(path)
		if err != nil {
			return nil, fmt.Errorf("the control flow of %s: %w", u.Source, err)
		}
		table := plainPrimitives
		if dump == u.Overlay {
			table = primitives
		}
		a := newAnalysis(b.Target.Arch, safe, table, funcs)
		a.run()
		r := &report{rel: b.Rel, text: texts.lines, target: b.Target.Name}
		if dump == u.Overlay {
			if log, err := os.ReadFile(strings.TrimSuffix(path, ".cfg") + ".log"); err == nil {
				if r.uses, err = parseUses(bytes.NewReader(log)); err != nil {
					return nil, fmt.Errorf("%s: %w", u.Source, err)
				}
				r.places = locate(funcs, r.uses)
			}
			res.Windows = windows(funcs, b.Rel)
		}
		res.Findings = append(res.Findings, r.findings(a.problems)...)
		for _, name := range a.gaveUp {
			res.Notes = append(res.Notes, fmt.Sprintf("%s: %s() has more paths than are looked at", u.Source, name))
		}
	}
	res.Findings = merge(covered(res.Findings))
	slices.Sort(res.Notes)
	res.Notes = slices.Compact(res.Notes)
	return res, nil
}

// covered drops findings that say of a use what another says of the macro, or that
// follow from another.
func covered(findings []checks.Finding) []checks.Finding {
	return slices.DeleteFunc(findings, func(f checks.Finding) bool {
		return slices.ContainsFunc(findings, func(g checks.Finding) bool { return g.Covers(&f) })
	})
}

func parseFile(path string) ([]*gimple.Func, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return gimple.ParseAll(f)
}

// windows counts the places of each function that open a window by the API.
func windows(funcs []*gimple.Func, rel func(string) string) []checks.Windows {
	var all []checks.Windows
	for _, f := range funcs {
		n := 0
		for _, b := range f.Blocks {
			for _, s := range b.Stmts {
				if p := primitives[s.Callee]; s.Kind == gimple.Call && p != nil && strings.HasPrefix(p.name, marker) &&
					(p.effect == begins || p.effect == opens || p.effect == whole) {
					n++
				}
			}
		}
		if n > 0 {
			all = append(all, checks.Windows{Function: window.FunctionName(f.Name), File: rel(f.Pos.File), Opens: n})
		}
	}
	return all
}

// sources reads files of the tree, each once.
type sources struct {
	root, output string
	mu           sync.Mutex
	files        map[string][]string
}

func (t *sources) lines(file string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines, known := t.files[file]
	if known {
		return lines
	}
	for _, root := range []string{t.root, t.output} {
		if data, err := os.ReadFile(filepath.Join(root, file)); err == nil {
			lines = strings.Split(string(data), "\n")
			break
		}
	}
	if t.files == nil {
		t.files = map[string][]string{}
	}
	t.files[file] = lines
	return lines
}
