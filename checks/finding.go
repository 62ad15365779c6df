// Package checks says what a check is and what it finds.
//
// A check looks at one kernel tree as it was built for one target and returns
// findings; the review runs it on the base and on the patched tree and compares
// the two results by identity. A finding is stated once, however many checks and
// targets saw it: the evidence of each is kept beside it (see Merge).
package checks

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Class is the kind of evidence behind a finding. It decides what is mailed and
// what waits for a person.
type Class string

// The classes, strongest first.
const (
	Object    Class = "object"    // seen in compiled code, objtool included
	Source    Class = "source"    // seen in the compiler's control flow
	Build     Class = "build"     // a compiler or sparse message
	Heuristic Class = "heuristic" // a rule that can be wrong
	Policy    Class = "policy"    // allowed, but somebody must agree to it
)

// classOrder ranks the classes, strongest first.
var classOrder = []Class{Object, Source, Build, Heuristic, Policy}

// Stronger reports whether c is stronger evidence than d.
func (c Class) Stronger(d Class) bool {
	return slices.Index(classOrder, c) < slices.Index(classOrder, d)
}

// Step is one source line of a witness.
type Step struct {
	File string `json:"file"` // relative to the tree
	Line int    `json:"line"` // 1-based; 0 when unknown
	Text string `json:"text"` // the line as it stands in the file, tabs kept
	Note string `json:"note,omitempty"`
}

// Witness is the shortest path that shows a finding, in the order of execution:
// where the window opens, which branches are taken, where it leaks.
type Witness []Step

// MaxWitness bounds the lines of a witness that a reader is shown.
const MaxWitness = 15

// Evidence is what one check saw on one target, in its own words.
type Evidence struct {
	Check  string `json:"check"`
	Target string `json:"target"`
	Text   string `json:"text"`
}

// Fix is a change that would mend a finding: in words, and where that says it
// best as a unified diff against the patched tree.
type Fix struct {
	Text string `json:"text"`
	Diff string `json:"diff,omitempty"`
}

// Use is one use of a macro.
type Use struct {
	Function string // the function that uses it
	File     string // relative to the tree
	Line     int
}

// Finding is one problem.
type Finding struct {
	Rule     string // e.g. "close-without-open"; the rules of windows are in checks/window
	File     string // relative to the tree
	Line     int    // 1-based; 0 when unknown
	Function string
	Detail   string // what window, what callee: the part of the identity that words the case
	Class    Class
	Title    string // one line: "user_write_access_end() can run when no window is open"
	Witness  Witness
	Inlined  []string // "function (file:line)", innermost first, where the place was inlined
	Uses     []Use    // Function is a macro: where it is used; see Covers
	Evidence []Evidence
	Note     string // consequence per arch, limits of the evidence
	Fix      *Fix
}

// Identity names a finding across builds, targets and revisions: rule, file,
// function and detail, never a line or an offset. It is 12 hex digits.
func (f *Finding) Identity() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Rule, f.File, f.Function, f.Detail}, "\x00")))
	return hex.EncodeToString(sum[:6])
}

// Covers reports whether g says less well what f says: of a function that uses a
// macro what f says of the macro itself, which compiled code does not know; or of a
// window that a begin whose result is not looked at did not open. Evidence of g is
// evidence of f then.
func (f *Finding) Covers(g *Finding) bool {
	follows := f.Rule == "unchecked-begin" && (g.Rule == "close-without-open" || g.Rule == "access-outside-window")
	if !follows && (f.Rule != g.Rule || f.Detail != g.Detail) {
		return false
	}
	if follows && f.File == g.File && f.Function == g.Function {
		return true
	}
	return len(g.Uses) == 0 && slices.ContainsFunc(f.Uses, func(u Use) bool { return u.Function == g.Function && u.File == g.File })
}

// Targets lists the targets that f was seen on, in order of appearance.
func (f *Finding) Targets() []string {
	var names []string
	for _, e := range f.Evidence {
		if e.Target != "" && !slices.Contains(names, e.Target) {
			names = append(names, e.Target)
		}
	}
	return names
}

// Windows counts the access windows that one source function opens on one target.
type Windows struct {
	Function string
	File     string
	Opens    int // places in the compiled code that open a window
}
