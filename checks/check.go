package checks

import (
	"context"

	"uabot/config"
)

// Built is one state of a kernel tree, compiled for one target.
type Built struct {
	Target config.Target
	Source string // the tree's root, absolute
	Output string // the kbuild output directory (O=), absolute
	Units  []Unit
}

// Unit is one translation unit of a Built.
type Unit struct {
	Source  string // "sound/core/pcm_native.c", relative to Built.Source
	Object  string // "sound/core/pcm_native.o", relative to Built.Output
	Err     string // why it could not be compiled; empty when it was
	Log     string // what compiler and sparse printed
	Dump    string // gcc's control-flow dump, relative to Built.Output; empty when none was made
	Overlay string // the same with uaccess primitives replaced by marker calls
}

// Result is what a check saw in one Built.
type Result struct {
	Findings []Finding
	Windows  []Windows
	Notes    []string // limits worth telling a reader: "objtool reports one problem per function"
}

// Check looks at one Built.
type Check interface {
	// Name is what evidence is signed with: "objtool", "object code", "source".
	Name() string
	// Applies reports whether the check can see anything on t, and if not why.
	Applies(t config.Target) (ok bool, reason string)
	// Run checks every compiled unit of b. It fails only for its own trouble,
	// never because of what it found.
	Run(ctx context.Context, b *Built) (*Result, error)
}
