// Package kbuild compiles the objects that a series affects, before and after it,
// for one target after another, and reads the messages of the compilers.
//
// A [Builder] opens a base for a target ([Builder.Open]): an output directory in
// the cache, configured and prepared once, where the objects of the unpatched tree
// are kept. [Base.Plan] chooses units, [Base.Build] compiles them at the base and
// [Base.BuildState] with patches applied. Both give a [checks.Built] that checks
// look at; [Messages] is the check of what compilers and sparse print.
//
// The base is built by make, one call for all units of a target. The patched tree
// is not: make spends 1.8 s on finding out what a target with four objects needs
// (6.12, x86-64, 2 cores), and would need a copy of the output directory to work
// in. Instead the very commands that make ran for the base, which kbuild keeps in
// .cmd files, are run again where the tree's root (/src) is the patched tree and
// everything generated is the base's, read-only. That is the same build as long as
// the patches touch nothing that decides about commands or goes into what make
// prepares; else (see replayable) make does it, in a copy.
//
// Traps: make compares times, and the files of a fresh worktree are new whatever
// they hold: see refresh. -Wp,-MMD names the dependency file, and with it the
// object: the wrapper finds out from it which object it is called for.
package kbuild

import (
	"context"
	"fmt"
	"sync"

	"uabot/checks/kbuild/sandbox"
	"uabot/config"
)

// Tree is a checked-out state of a kernel tree. Nothing in it is changed, and what
// is in it has to be what Commit says.
type Tree struct {
	Dir    string // absolute
	Commit string // full id
	Git    string // a repository that has Commit, also a bare one; empty when Dir is one
}

// git is where git can be asked about Commit.
func (t Tree) git() string {
	if t.Git != "" {
		return t.Git
	}
	return t.Dir
}

// DumpTool makes control-flow dumps from the compiler calls of a unit.
type DumpTool struct {
	// Write writes into a directory a shell script dump.sh, and what that needs.
	// The script is sourced for every compiled C unit, in the output directory,
	// with UABOT_OVERLAY, its directory, and CC set. It defines the function
	//	uabot_dump OUT C_FLAGS... SOURCE.c
	// which writes OUT.cfg, the dump, and may write OUT.overlay.cfg, one with
	// uaccess primitives replaced by marker calls, and further files OUT.*.
	Write func(dir string) error
}

// Progress tells what is being done for a target: "preparing", "compiling 4 objects".
type Progress func(target, what string)

// Builder builds targets. Its fields are set before its first use; it is safe for
// concurrent use.
type Builder struct {
	Cache    string          // directory for prepared bases; made when missing
	Runner   *sandbox.Runner // what everything foreign runs in
	Jobs     int             // compilers at once, for one target; at least 1
	Limits   sandbox.Limits  // of one compiler call, and one make call
	Dump     *DumpTool       // nil for no dumps
	Progress Progress        // nil for none

	// HeaderUnits caps the units that are compiled because they include a header
	// that is touched, per target.
	HeaderUnits int

	mu        sync.Mutex
	compilers map[string]compiler
	kit       *kit

	scan    sync.Mutex // guards the rest: what was found out about the headers of the last series
	scanned string
	use     *headerUse
}

func (b *Builder) progress(t config.Target, format string, args ...any) {
	if b.Progress != nil {
		b.Progress(t.Name, fmt.Sprintf(format, args...))
	}
}

func (b *Builder) jobs() int { return max(1, b.Jobs) }

// run runs one foreign command. An exit status other than 0 is an error that
// carries the end of what it printed.
func (b *Builder) run(ctx context.Context, what string, c sandbox.Command) (sandbox.Result, error) {
	c.Limits = b.Limits
	res, err := b.Runner.Run(ctx, c)
	if err == nil && res.Exit != 0 {
		err = fmt.Errorf("exit status %d\n%s", res.Exit, tail(append(res.Stdout, res.Stderr...), 20))
	}
	if err != nil {
		return res, fmt.Errorf("%s: %w", what, err)
	}
	return res, nil
}
