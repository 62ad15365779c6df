package checks

import (
	"context"
	"path"
	"strings"

	"uabot/config"
)

// Built is one state of a kernel tree, compiled for one target.
type Built struct {
	Target config.Target
	Source string // the tree's root, absolute
	Output string // the kbuild output directory (O=), absolute
	Units  []Unit

	// SourceAs is the tree's root as the compiler was told it, since it may have run
	// where the tree lies elsewhere ("/src"): what file names in objects, dumps and
	// messages begin with. OutputAs is the same for Output.
	SourceAs string
	OutputAs string
}

// Rel brings a file name out of an object, a dump or a message to one relative to
// the tree, and a name below the output directory (a generated file) to one
// relative to that. Others are only cleaned.
func (b *Built) Rel(name string) string {
	if name == "" {
		return ""
	}
	name = path.Clean(name)
	for _, root := range []string{b.SourceAs, b.OutputAs, b.Source, b.Output} {
		if root == "" {
			continue
		}
		if rest, ok := strings.CutPrefix(name, path.Clean(root)+"/"); ok {
			return rest
		}
	}
	return name
}

// Unit is one translation unit of a Built.
type Unit struct {
	Source  string // "sound/core/pcm_native.c", relative to Built.Source
	Object  string // "sound/core/pcm_native.o", relative to Built.Output
	Err     string // why it could not be compiled; empty when it was
	Log     string // what compiler and sparse printed; for a unit that fails with patches, behind it what they printed at the base
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
