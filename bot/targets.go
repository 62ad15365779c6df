package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"

	"uabot/checks/kbuild"
)

var targetsCommand = command{
	name:  "targets",
	args:  "[NAME…]",
	short: "the targets, with their compilers or what to install",
	long: `
Lists what series are built for: architecture, compiler with version, and what
each target adds to the others. The table is built in; [[target]] in the
configuration adds rows or replaces them.

Exit code: 0 all compilers are there, 2 one is missing.`,
	run: runTargets,
}

func runTargets(f *flag.FlagSet) func(context.Context, *program, []string) int {
	fragment := f.Bool("fragment", false, "print the target's kernel configuration as a fragment")
	makeArgs := f.Bool("make", false, "print the target's variables for make's command line")
	asJSON := f.Bool("json", false, "print one JSON object for each target")
	return func(ctx context.Context, p *program, args []string) int {
		targets, err := p.config.Select(args)
		if err != nil {
			return p.trouble(err)
		}
		if *fragment {
			if len(args) != 1 {
				return p.trouble(errors.New("--fragment takes one target"))
			}
			fmt.Fprint(p.stdout, targets[0].Fragment())
			return exitClean
		}
		if *makeArgs {
			if len(args) != 1 {
				return p.trouble(errors.New("--make takes one target"))
			}
			fmt.Fprintln(p.stdout, strings.Join(targets[0].MakeArgs(), " "))
			return exitClean
		}
		runner, err := p.runner(ctx, false)
		if err != nil {
			return p.trouble(err)
		}
		builder := &kbuild.Builder{Runner: runner}
		table := tabwriter.NewWriter(p.stdout, 0, 8, 2, ' ', 0)
		code := exitClean
		for _, t := range targets {
			_, version, err := builder.Compiler(ctx, t)
			if ctx.Err() != nil {
				return p.trouble(ctx.Err())
			}
			shown := version
			if err != nil {
				shown, code = err.Error(), exitTrouble
			}
			if *asJSON {
				line := struct {
					Name, Arch, Compiler, Error, Why string
				}{t.Name, t.Arch, version, "", t.Why}
				if err != nil {
					line.Error = err.Error()
				}
				if err := jsonLines(p.stdout).Encode(line); err != nil {
					return p.trouble(err)
				}
				continue
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", t.Name, t.Arch, shown, t.Why)
		}
		if err := table.Flush(); err != nil {
			return p.trouble(err)
		}
		return code
	}
}
