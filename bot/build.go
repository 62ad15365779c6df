package main

import (
	"os"
	"path/filepath"
	"time"

	"uabot/checks"
	"uabot/checks/kbuild"
	"uabot/checks/kbuild/sandbox"
	"uabot/checks/objtool"
	"uabot/checks/window/object"
	"uabot/checks/window/source"
)

// builder makes the builder that the configuration asks for.
func (p *program) builder(runner *sandbox.Runner) (*kbuild.Builder, error) {
	c := p.config
	return &kbuild.Builder{
		Cache:       filepath.Join(c.Cache, "bases"),
		Runner:      runner,
		Jobs:        c.Jobs,
		HeaderUnits: c.Limits.HeaderUnits,
		Dump:        &kbuild.DumpTool{Write: source.WriteOverlay},
		Limits: sandbox.Limits{
			Wall:      time.Duration(c.Limits.CompileSeconds) * time.Second,
			Memory:    int64(c.Limits.MemoryMB) << 20,
			Processes: c.Limits.Processes,
			Output:    int64(c.Limits.OutputMB) << 20,
		},
	}, nil
}

// checks are what every target is looked at with.
func (p *program) checks(builder *kbuild.Builder, base kbuild.Tree) []checks.Check {
	safe := readIfThere(filepath.Join(base.Dir, "tools/objtool/check.c"))
	return []checks.Check{
		kbuild.Messages{},
		&objtool.Check{
			Runner: builder.Runner, Limits: builder.Limits,
			Cache: filepath.Join(p.config.Cache, "objtool"), Source: base.Dir, Commit: base.Commit,
		},
		object.Checker{Objtool: safe},
		source.Checker{},
	}
}

// readIfThere returns the content of a file, nil where there is none.
func readIfThere(path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return data
}
