package object

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"uabot/checks"
	"uabot/config"
)

// Checker follows the windows in every object of a build. The zero value is ready.
type Checker struct {
	// Objtool is tools/objtool/check.c of the base tree: its list of functions that may be
	// called in a window. nil means linux 6.12's. It is not read from the tree that is
	// checked: a patch may not declare itself safe.
	Objtool []byte
}

var _ checks.Check = Checker{}

// Name is what the check's evidence is signed with.
func (Checker) Name() string { return CheckName }

// windowless says of the kernel's arches without window instructions why that is so.
// x86, arm, powerpc and riscv always have them, as far as the configuration says here.
var windowless = map[string]string{
	"s390": "no window instructions: user memory is another address space",
}

// needs is the option that makes windows of an arch visible in objects.
var needs = map[string]string{
	"arm64": "ARM64_SW_TTBR0_PAN=y",
	"arm":   "CPU_SW_DOMAIN_PAN=y",
}

// Applies reports whether objects of t have windows, as far as its configuration says.
func (Checker) Applies(t config.Target) (bool, string) {
	switch t.Arch {
	case "x86", "x86_64", "i386", "powerpc", "riscv":
		return true, ""
	case "arm64", "arm":
		if option := needs[t.Arch]; !slices.Contains(t.Config, option) {
			return false, "no window instructions without " + option
		}
		return true, ""
	}
	if why, ok := windowless[t.Arch]; ok {
		return false, why
	}
	return false, "no window instructions on " + t.Arch
}

// Run checks the object of every compiled unit, several at a time.
func (c Checker) Run(ctx context.Context, b *checks.Built) (*checks.Result, error) {
	options := Options{Source: b.Source, Output: b.Output, SourceAs: b.SourceAs, OutputAs: b.OutputAs,
		Target: b.Target.Name, Objtool: c.Objtool}
	reports := make([]*Report, len(b.Units))
	failed := make([]error, len(b.Units))
	var group sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, u := range b.Units {
		if u.Err != "" || u.Object == "" {
			continue
		}
		group.Add(1)
		go func() {
			defer group.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			if ctx.Err() == nil {
				reports[i], failed[i] = Check(filepath.Join(b.Output, u.Object), options)
			}
		}()
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("checking objects of %s: %w", b.Target.Name, err)
	}
	var result checks.Result
	for i, r := range reports {
		switch {
		case failed[i] != nil:
			result.Notes = append(result.Notes, failed[i].Error())
		case r != nil:
			result.Findings = append(result.Findings, r.Findings...)
			result.Windows = append(result.Windows, r.Windows...)
			for _, n := range r.Notes {
				result.Notes = append(result.Notes, b.Units[i].Object+": "+n)
			}
		}
	}
	result.Findings = once(result.Findings)
	result.Windows = sum(result.Windows)
	return &result, nil
}

// once makes one finding of those that several objects have, from a header.
func once(all []checks.Finding) []checks.Finding {
	var list []checks.Finding
	index := map[string]int{}
	for _, f := range all {
		id := f.Identity()
		if i, ok := index[id]; ok {
			list[i].Evidence = append(list[i].Evidence, f.Evidence...)
			continue
		}
		index[id] = len(list)
		list = append(list, f)
	}
	return list
}

// sum adds up the windows of functions that several objects have.
func sum(all []checks.Windows) []checks.Windows {
	slices.SortFunc(all, func(a, b checks.Windows) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Function, b.Function))
	})
	var list []checks.Windows
	for _, w := range all {
		if n := len(list); n > 0 && list[n-1].File == w.File && list[n-1].Function == w.Function {
			list[n-1].Opens += w.Opens
			continue
		}
		list = append(list, w)
	}
	return list
}
