// Package usercopy looks at what a change does to user access: the rules that a
// reviewer applies to a diff, where no window is left open but something else is
// worth a word. A range check that is gone, bytes that user space now sees and
// did not before, a helper that one architecture lacks.
//
// In: the tree before and after the change, which files it touches, and where
// there are any the objects built from it. Out: findings, each of one rule of
// [Rules], which also says what the rule means, where it comes from, how often it
// was wrong, and what it cannot see.
//
// A rule reads tokens (package csource), never lines, and reports only what the
// change adds: the same rule runs over both sides and what stood there before is
// taken away, moved code included. Nothing here executes or expands anything, so
// a rule that would need the compiler's view says so and stays a heuristic.
package usercopy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"uabot/checks"
)

// Reader returns the content of a file of one state of a tree, by its path from
// the root. A file that is not there gives an error that is [fs.ErrNotExist].
type Reader func(path string) ([]byte, error)

// Change is what is looked at: one patch, or a series from its base to its end.
type Change struct {
	Base    Reader // the tree before
	Patched Reader // the tree after
	// Files names what the change touches, in any order; those of several patches
	// may stand one after another. Only names are read: what was added follows
	// from the two trees, wherever git applied a hunk.
	Files []*gitdiff.File
	// Search lists the files of the patched tree that contain a word. When nil,
	// callers are looked for in the touched files alone.
	Search func(ctx context.Context, word string) ([]string, error)
	// Built are the patched tree's objects, for the layout of structures. May be empty.
	Built []*checks.Built
}

// Dir reads the tree below root. A symbolic link that leads out of it is as good as
// missing: what stands there is not the change's, and not for its readers.
func Dir(root string) Reader {
	return func(path string) ([]byte, error) {
		if !filepath.IsLocal(path) {
			return nil, fmt.Errorf("%q leads out of the tree: %w", path, fs.ErrNotExist)
		}
		f, err := os.OpenInRoot(root, path)
		if err != nil {
			if st, at := os.Lstat(filepath.Join(root, path)); at == nil && st.Mode().Type() == fs.ModeSymlink {
				return nil, fmt.Errorf("%w (%w)", fs.ErrNotExist, err)
			}
			return nil, err
		}
		defer f.Close()
		if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no regular file: %w", path, cmp.Or(err, fs.ErrNotExist))
		}
		return io.ReadAll(f)
	}
}

// Check applies every rule to c. It fails when a tree cannot be read, never because
// of what the change says.
func Check(ctx context.Context, c Change) ([]checks.Finding, error) {
	v, err := newView(ctx, c)
	if err != nil {
		return nil, err
	}
	hits := v.added()
	for _, rule := range changeRules {
		for _, p := range v.pairs {
			hits = append(hits, rule(v, p)...)
		}
	}
	for _, rule := range treeRules {
		hits = append(hits, rule(v)...)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return v.findings(hits), v.err
}

// stateRules judge one file as it stands; what they say of the base is subtracted.
var stateRules = []func(*view, *source) []hit{
	bytesReturned,
	accessOKArithmetic,
	callInArgument,
	argumentInWindow,
	beginEndKinds,
	unsafeWithoutBegin,
	beginRange,
	unwrappedGoto,
	putMacroGets,
	doubleFetch,
	uninitialisedBytes,
	windowSaved,
	objtoolSkipped,
	uncheckedOpenerUse,
	noWideCase,
}

// changeRules compare the two sides of one file.
var changeRules = []func(*view, *pair) []hit{
	hardenedBypass,
	rangeCheckLost,
	maskLost,
	writesMoreBack,
	valueChanged,
	annotationLost,
	objtoolSafeList,
}

// treeRules look at the change as a whole.
var treeRules = []func(*view) []hit{
	uncheckedOpener,
	fallbackGuard,
	missingOnArch,
}

// notThere reports whether err says that a file does not exist.
func notThere(err error) bool { return errors.Is(err, fs.ErrNotExist) }
