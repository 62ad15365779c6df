package object

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"uabot/checks"
	"uabot/checks/window"
)

// sighting is a problem of a function, brought to the source.
type sighting struct {
	spot
	v *verdict
}

// findings words the problems of all functions, one finding for each identity.
func (o *object) findings(verdicts []*verdict) []checks.Finding {
	var all []sighting
	for _, v := range verdicts {
		for _, p := range v.problems {
			if s := v.locate(p); s.Deliberate(o.arch.kernel) == "" && !o.savedAround(&s) {
				all = append(all, sighting{s, v})
			}
		}
	}
	var list []checks.Finding
	index := map[string]int{}
	lines := map[string][]int{}
	for _, f := range withoutEchoes(all) {
		x := f.Finding(checks.Object)
		id := x.Identity()
		lines[id] = append(lines[id], f.Line)
		if _, ok := index[id]; ok {
			continue
		}
		index[id] = len(list)
		x.Inlined = f.inlined
		x.Witness = f.v.witness(&f.spot)
		x.Evidence = []checks.Evidence{{Check: CheckName, Target: o.options.Target, Text: o.evidence(&f.spot)}}
		if f.noDWARF {
			x.Note = "no debug information: at " + o.symbolic(f.leak)
		}
		list = append(list, x)
	}
	for id, i := range index {
		at := lines[id]
		slices.Sort(at)
		if at = slices.Compact(at); len(at) > 1 {
			list[i].Evidence[0].Text += fmt.Sprintf("; %d places: lines %s", len(at), strings.Trim(strings.ReplaceAll(fmt.Sprint(at), " ", ", "), "[]"))
		}
	}
	slices.SortFunc(list, func(a, b checks.Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Detail, b.Detail))
	})
	return list
}

// withoutEchoes leaves out what says the same again: on one line of one function a second
// opening says what a call there says, too, and one call is enough.
func withoutEchoes(all []sighting) []sighting {
	type line struct {
		file, function string
		line           int
	}
	first := map[line]int{}
	echo := make([]bool, len(all))
	for i, f := range all {
		if f.Rule != window.CallInWindow && f.Rule != window.OpenTwice || f.noDWARF {
			continue
		}
		at := line{f.File, f.Function, f.Line}
		j, seen := first[at]
		switch {
		case !seen:
			first[at] = i
		case all[j].Rule == window.CallInWindow && f.Rule == window.OpenTwice:
			echo[j] = true
			first[at] = i
		default:
			echo[i] = true
		}
	}
	var list []sighting
	for i, f := range all {
		if !echo[i] {
			list = append(list, f)
		}
	}
	return list
}

// evidence says what was seen in the object, in a line.
func (o *object) evidence(s *spot) string {
	what := map[window.Rule]string{
		window.CloseWithoutOpen:    "closes a window that is not open",
		window.OpenAtReturn:        "returns with the window open",
		window.OpenTwice:           "opens a window inside of an open one",
		window.CallInWindow:        "calls out with the window open",
		window.AccessOutsideWindow: "accesses user memory with no window open",
		window.KindMismatch:        "accesses user memory in a way that the open window does not allow",
	}[s.Rule]
	if s.symbol != "" {
		what = fmt.Sprintf("calls %s() with the window open", s.symbol)
	}
	return fmt.Sprintf("%s: %s %s", filepath.Base(o.path), o.symbolic(s.leak), what)
}

// symbolic is a place as function+offset.
func (o *object) symbolic(l loc) string {
	l = o.origin(l)
	if f := o.functionAt(l); f != nil {
		return fmt.Sprintf("%s+%#x", f.name, uint64(l-f.code.from))
	}
	return fmt.Sprintf("%s+%#x", o.sections[l.sec()].name, l.off())
}
