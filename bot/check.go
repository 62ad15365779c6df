package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"uabot/checks"
	"uabot/checks/window"
	"uabot/checks/window/object"
	"uabot/checks/window/source"
)

var checkCommand = command{
	name:  "check",
	args:  "OBJECT… | --source FILE.c…",
	short: "verify the access windows of objects, or of source files, by themselves",
	long: `
Follows every path through the functions of relocatable objects (.o, .ko) and
says where a window of user access is left open, closed twice, opened twice, or
where something is called or accessed that must not be: what objtool does for
x86-64, for every architecture whose objects show windows.

With --source it follows the source instead, as the compiler of a configured tree
sees it: a pre-flight that needs no patch and no second build. Files are named from
the root of the tree (--tree, else the current directory); --output is make's O=.

The architecture is read from the object, --target says it where the object does
not tell (the powerpc flavours). A file that cannot be read is an error of its
own; the others are checked all the same.

Exit code: 0 no finding, 1 findings, 2 a file could not be checked.`,
	run: runCheck,
}

func runCheck(f *flag.FlagSet) func(context.Context, *program, []string) int {
	target := f.String("target", "", "the objects were built for `TARGET`")
	asJSON := f.Bool("json", false, "print one JSON object for each file")
	sources := f.Bool("source", false, "the arguments are C files of a configured kernel tree")
	tree := f.String("tree", ".", "with --source: the tree's root `DIR`")
	output := f.String("output", "", "with --source: the output directory `DIR` of the build (make's O=)")
	windows := f.Bool("windows", false, "list how many windows each function opens")
	return func(ctx context.Context, p *program, args []string) int {
		if len(args) == 0 {
			return p.trouble(errors.New("check takes objects, or --source and C files; see `uabot help check`"))
		}
		var makeArgs []string
		if *target != "" {
			list, err := p.config.Select([]string{*target})
			if err != nil {
				return p.trouble(err)
			}
			makeArgs = list[0].MakeArgs()
		}
		if *sources {
			result, err := source.CheckFiles(ctx, source.Tree{Source: *tree, Output: *output, Make: makeArgs}, args)
			if err != nil {
				return p.trouble(err)
			}
			return p.printSource(result, *asJSON, *windows)
		}
		code := exitClean
		for r := range p.checkObjects(ctx, args, object.Options{Target: *target}) {
			if ctx.Err() != nil {
				return p.trouble(ctx.Err())
			}
			switch {
			case r.err != nil:
				code = exitTrouble
			case len(r.report.Findings) > 0 && code == exitClean:
				code = exitFound
			}
			if *asJSON {
				if err := jsonLines(p.stdout).Encode(r.json()); err != nil {
					return p.trouble(err)
				}
				continue
			}
			p.printObject(r, *windows)
		}
		return code
	}
}

// checked is what became of one file.
type checked struct {
	path   string
	report *object.Report
	err    error
}

// checkObjects checks files, several at once, and yields them in their order.
func (p *program) checkObjects(ctx context.Context, paths []string, options object.Options) func(func(checked) bool) {
	return func(yield func(checked) bool) {
		results := make([]chan checked, len(paths))
		slots := make(chan struct{}, runtime.GOMAXPROCS(0))
		var wg sync.WaitGroup
		defer wg.Wait()
		for i := range paths {
			results[i] = make(chan checked, 1)
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i, path := range paths {
				slots <- struct{}{}
				wg.Add(1)
				go func() {
					defer wg.Done()
					defer func() { <-slots }()
					if ctx.Err() != nil {
						results[i] <- checked{path: path, err: ctx.Err()}
						return
					}
					report, err := object.Check(path, options)
					results[i] <- checked{path, report, err}
				}()
			}
		}()
		for i := range paths {
			if !yield(<-results[i]) {
				return
			}
		}
	}
}

// printObject writes the report of one object for a person. An object without a
// finding is silent, as objtool is.
func (p *program) printObject(r checked, windows bool) {
	if r.err != nil {
		fmt.Fprintf(p.stderr, "uabot: %v\n", r.err)
		return
	}
	if r.report.None != "" && (windows || len(r.report.Findings) == 0) {
		fmt.Fprintf(p.stderr, "%s: %s: %s\n", r.path, r.report.Arch, r.report.None)
	}
	for _, f := range r.report.Findings {
		printFinding(p, r.path, f)
	}
	for _, note := range r.report.Notes {
		fmt.Fprintf(p.stderr, "%s: note: %s\n", r.path, note)
	}
	if windows {
		for _, w := range r.report.Windows {
			fmt.Fprintf(p.stdout, "%s: %s: %s opens %d\n", r.path, w.File, w.Function, w.Opens)
		}
	}
}

// printSource writes what was found in source files.
func (p *program) printSource(result *checks.Result, asJSON, windows bool) int {
	code := exitClean
	if len(result.Findings) > 0 {
		code = exitFound
	}
	if asJSON {
		if err := jsonLines(p.stdout).Encode(jsonOfResult(result)); err != nil {
			return p.trouble(err)
		}
		return code
	}
	for _, f := range result.Findings {
		printFinding(p, f.File, f)
	}
	for _, note := range result.Notes {
		fmt.Fprintf(p.stderr, "note: %s\n", note)
	}
	if windows {
		for _, w := range result.Windows {
			fmt.Fprintf(p.stdout, "%s: %s opens %d\n", w.File, w.Function, w.Opens)
		}
	}
	return code
}

// printFinding writes a finding as compilers do, then its path.
func printFinding(p *program, path string, f checks.Finding) {
	place := path
	if f.File != "" {
		place = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	fmt.Fprintf(p.stdout, "%s: %s [%s]\n", place, f.Title, f.Rule)
	fmt.Fprintf(p.stdout, "    in %s()\n", f.Function)
	for _, where := range f.Inlined {
		fmt.Fprintf(p.stdout, "    inlined from %s\n", where)
	}
	for _, s := range f.Witness {
		fmt.Fprintf(p.stdout, "    %s:%d: %s", s.File, s.Line, s.Text)
		if s.Note != "" {
			fmt.Fprintf(p.stdout, "  <- %s", s.Note)
		}
		fmt.Fprintln(p.stdout)
	}
	for _, e := range f.Evidence {
		fmt.Fprintf(p.stdout, "    %s\n", e.Text)
	}
	if note := cmp.Or(f.Note, window.Consequence(&f)); note != "" {
		fmt.Fprintf(p.stdout, "    %s\n", note)
	}
	if f.Fix != nil && f.Fix.Text != "" {
		fmt.Fprintf(p.stdout, "    %s\n", f.Fix.Text)
		for line := range strings.Lines(f.Fix.Diff) {
			fmt.Fprintf(p.stdout, "      %s", line)
		}
	}
}

// checkedJSON is one file of `uabot check --json`.
type checkedJSON struct {
	Object   string            `json:"object,omitempty"` // not with --source
	Arch     string            `json:"arch,omitempty"`   // the same
	Error    string            `json:"error,omitempty"`
	None     string            `json:"no_windows,omitempty"` // why there are none to be seen
	Findings []findingJSON     `json:"findings"`
	Windows  []windowCountJSON `json:"windows"`
	Notes    []string          `json:"notes"`
}

// findingJSON is a finding with the field names of `uabot review --json`.
type findingJSON struct {
	ID       string            `json:"id"`
	Rule     string            `json:"rule"`
	Title    string            `json:"title"`
	File     string            `json:"file"`
	Line     int               `json:"line"`
	Function string            `json:"function"`
	Detail   string            `json:"detail"`
	Class    checks.Class      `json:"class"`
	Inlined  []string          `json:"inlined"`
	Witness  checks.Witness    `json:"witness"`
	Evidence []checks.Evidence `json:"evidence"`
	Note     string            `json:"note,omitempty"`
	Fix      *checks.Fix       `json:"fix,omitempty"`
}

type windowCountJSON struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Opens    int    `json:"opens"`
}

func (r checked) json() checkedJSON {
	out := checkedJSON{Object: r.path, Findings: []findingJSON{}, Windows: []windowCountJSON{}, Notes: []string{}}
	if r.err != nil {
		out.Error = r.err.Error()
		return out
	}
	out.Arch, out.None = r.report.Arch, r.report.None
	out.Notes = append(out.Notes, r.report.Notes...)
	for _, f := range r.report.Findings {
		out.Findings = append(out.Findings, jsonOf(f))
	}
	for _, w := range r.report.Windows {
		out.Windows = append(out.Windows, windowCountJSON{w.Function, w.File, w.Opens})
	}
	return out
}

// jsonOfResult has no object: what was found belongs to source files.
func jsonOfResult(result *checks.Result) checkedJSON {
	return checked{report: &object.Report{Findings: result.Findings, Windows: result.Windows, Notes: result.Notes}}.json()
}

func jsonOf(f checks.Finding) findingJSON {
	return findingJSON{
		ID: f.Identity(), Rule: f.Rule, Title: f.Title, File: f.File, Line: f.Line, Function: f.Function, Detail: f.Detail,
		Class: f.Class, Inlined: append([]string{}, f.Inlined...), Witness: append(checks.Witness{}, f.Witness...),
		Evidence: append([]checks.Evidence{}, f.Evidence...), Note: f.Note, Fix: f.Fix,
	}
}
