package usercopy

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"uabot/checks"
)

// maxCallers bounds the callers that are listed, maxSearch the files that are read
// for them.
const (
	maxCallers = 8
	maxSearch  = 60
)

// place is one use of a function.
type place struct {
	file, fn, text string
	line           int
	address        bool // not a call: its address is taken, as for a table of operations
	rangeCheck     bool // the function around it has access_ok() or the like
}

func (p place) checked() string {
	switch {
	case p.address:
		return "reached through a pointer"
	case p.rangeCheck:
		return "calls it; has a range check"
	}
	return "calls it; has no range check of its own"
}

// Grep searches the tree below root, whether or not git knows it, for the C files
// that contain a word. Symbolic links are not followed.
func Grep(root string) func(ctx context.Context, word string) ([]string, error) {
	return func(ctx context.Context, word string) ([]string, error) {
		cmd := exec.CommandContext(ctx, "git", "-C", root, "grep", "--no-index", "-lzwF", "-e", word, "--", "*.c", "*.h")
		out, err := cmd.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 1 { // nothing found
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("searching %s for %q: %w", root, word, err)
		}
		return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
	}
}

// callers lists the uses of a function of s in the patched tree, the nearest first.
func (v *view) callers(name string, s *source) []place {
	files := []string{s.path}
	if v.Search != nil && !isStatic(s, name) {
		more, err := v.Search(v.ctx, name)
		if err != nil && v.err == nil {
			v.err = err
		}
		files = append(files, more...)
	} else {
		for _, p := range v.pairs {
			files = append(files, p.patched.path)
		}
	}
	slices.Sort(files[1:])
	var places []place
	seen := map[string]bool{}
	for _, path := range files {
		if seen[path] || len(seen) >= maxSearch || !judged(path) || isMakefile(path) {
			continue
		}
		seen[path] = true
		f := v.file(path)
		if f == nil {
			continue
		}
		places = append(places, uses(f, name)...)
	}
	return places[:min(len(places), maxCallers)]
}

// maxDepth bounds how far up a range check is looked for, maxClimbs the functions
// that are looked at for one finding.
const (
	maxDepth  = 6
	maxClimbs = 40
)

// paths lists how a function of s is reached, upwards to the first function that
// checks a range, itself or in a function of its file that it calls.
func (v *view) paths(name string, s *source) (paths []string, witness checks.Witness) {
	climbs := 0
	var climb func(name string, s *source, path string, depth int, seen []string)
	climb = func(name string, s *source, path string, depth int, seen []string) {
		if climbs++; climbs > maxClimbs || len(paths) >= maxCallers {
			return
		}
		callers := v.callers(name, s)
		if len(callers) == 0 {
			paths = append(paths, path+" (no caller found, no range check on the way)")
			return
		}
		for _, c := range callers {
			if slices.Contains(seen, c.fn) || len(paths) >= maxCallers {
				continue
			}
			if len(seen) == 1 {
				witness = append(witness, checks.Step{File: c.file, Line: c.line, Text: c.text, Note: c.checked()})
			}
			f := v.file(c.file)
			switch {
			case c.address:
				paths = append(paths, fmt.Sprintf("%s <- %s:%d, through a pointer", path, c.file, c.line))
			case f != nil && v.checksSomewhere(f, c.fn):
				paths = append(paths, fmt.Sprintf("%s <- %s(), which has a range check (%s:%d)", path, c.fn, c.file, c.line))
			case f == nil || depth == maxDepth:
				paths = append(paths, fmt.Sprintf("%s <- %s() <- ...", path, c.fn))
			default:
				climb(c.fn, f, path+" <- "+c.fn+"()", depth+1, append(slices.Clone(seen), c.fn))
			}
		}
	}
	climb(name, s, name+"()", 1, []string{name})
	return paths, witness
}

// checksSomewhere reports whether a function of f tests a range, or calls a
// function of the file that does.
func (v *view) checksSomewhere(f *source, name string) bool {
	r := f.region(name)
	if r == nil {
		return false
	}
	if checksRange(r.body) {
		return true
	}
	for _, c := range r.calls {
		if inner := f.region(c.Name); inner != nil && inner.fn != nil && checksRange(inner.body) && !hasCall(inner.calls, anyAccess.MatchString) {
			return true
		}
	}
	return false
}

// isStatic reports whether a function is private to its .c file.
func isStatic(s *source, name string) bool {
	for _, f := range s.Funcs {
		if f.Name == name {
			return strings.HasSuffix(s.path, ".c") && mentions(f.Head, "static")
		}
	}
	return false
}

// uses lists calls of name in f and places where its address is taken.
func uses(f *source, name string) []place {
	var places []place
	for _, r := range f.regions() {
		if r.name == name {
			continue
		}
		for i, t := range r.body {
			if t.Is(name) && !prev(r.body, i).Is("->") && !prev(r.body, i).Is(".") {
				places = append(places, place{file: f.path, fn: r.name, line: t.Line, text: f.text(t.Line),
					address: !at(r.body, i+1).Is("("), rangeCheck: checksRange(r.body)})
			}
		}
	}
	// Outside of functions only an initialiser counts; declarations do not.
	for i, t := range f.Tokens {
		if !t.Is(name) || f.FuncAt(t.Line) != nil {
			continue
		}
		before := prev(f.Tokens, i)
		if before.Is("=") || before.Is("&") || before.Is("{") || before.Is(",") && !at(f.Tokens, i+1).Is("(") {
			places = append(places, place{file: f.path, line: t.Line, text: f.text(t.Line), address: true})
		}
	}
	return places
}

// listPlaces writes places for a sentence.
func listPlaces(places []place) string {
	var out []string
	for _, p := range places {
		switch {
		case p.address && p.fn == "":
			out = append(out, fmt.Sprintf("%s:%d (%s)", p.file, p.line, strings.TrimSuffix(strings.Join(strings.Fields(p.text), " "), ",")))
		default:
			out = append(out, fmt.Sprintf("%s() (%s:%d)", p.fn, p.file, p.line))
		}
	}
	return strings.Join(out, ", ")
}
