package object

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"uabot/checks"
	"uabot/checks/window"
)

// CheckName signs the evidence of this check.
const CheckName = "object code"

// Report is what one object shows.
type Report struct {
	Object   string // the path that was given
	Arch     string // "x86-64", "powerpc 8xx" …
	None     string // why there are no windows to be seen; empty where there may be
	Findings []checks.Finding
	Windows  []checks.Windows // per source function, sorted by file and name
	Notes    []string         // limits: no debug information, functions that were not judged
}

// Check reads the object file at path and follows its windows. Errors wrap ErrNotObject,
// ErrBroken, ErrTooLarge, ErrUnsupported, or what the file system says; a finding is
// none.
func Check(path string, options Options) (*Report, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("checking an object: %w", err)
	}
	return CheckBytes(path, data, options)
}

// CheckBytes is Check for an object that was read already; path names it.
func CheckBytes(path string, data []byte, options Options) (*Report, error) {
	o, err := open(path, data, options)
	if err != nil {
		return nil, fmt.Errorf("checking the object %s: %w", path, err)
	}
	return o.check(), nil
}

func (o *object) check() *Report {
	r := &Report{Object: o.path, Arch: o.arch.name, None: o.arch.none}
	if r.None != "" {
		return r
	}
	if o.options.Source == "" {
		o.options.Source = o.findTree()
	}
	var verdicts []*verdict // with problems
	var opens []loc
	var unjudged []string
	unclear, judged := 0, 0
	for _, f := range o.candidates() {
		if o.spent > maxSpent {
			unjudged = append(unjudged, f.name)
			continue
		}
		v := o.verify(f)
		if v.gaveUp {
			unjudged = append(unjudged, f.name)
			continue
		}
		judged++
		unclear += len(v.unclear)
		opens = append(opens, v.opens...)
		if len(v.problems) > 0 {
			verdicts = append(verdicts, v)
		}
		clear(o.decoded) // a large object's code needs many times its size
	}
	r.Findings = o.findings(verdicts)
	r.Windows = o.windows(opens)
	if len(unjudged) > 0 {
		r.Notes = append(r.Notes, "too large to be followed, not judged: "+strings.Join(unjudged, ", "))
	}
	if unclear > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d writes of the window register could not be followed: the paths through them are not judged", unclear))
	}
	if o.debugInfo() == nil && judged > 0 {
		r.Notes = append(r.Notes, "no debug information: findings have no source lines, windows are counted by symbol")
	}
	if judged == 0 && len(r.Windows) == 0 && len(unjudged) == 0 {
		r.None = o.whyNone()
	}
	return r
}

// whyNone says why an object of an arch with windows shows none.
func (o *object) whyNone() string {
	if o.arch == &archARM64 {
		for _, rows := range o.faults {
			for _, e := range rows {
				if o.arch.access(e.kind) {
					return "user accesses without windows: built for PAN in hardware, which needs none in the code"
				}
			}
		}
	}
	return "no window instructions in this object"
}

// findTree is the root of the kernel tree that an object was built from, if it is
// still where the debug information says.
func (o *object) findTree() string {
	d := o.debugInfo()
	if d == nil || len(d.units) == 0 {
		return ""
	}
	d.units[0].index() // its name may be in a .dwo file
	dir := filepath.Dir(join(d.units[0].dir, d.units[0].name))
	for range 32 {
		if exists(filepath.Join(dir, "MAINTAINERS")) && exists(filepath.Join(dir, "Kbuild")) {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// findings words the problems of all functions, one finding for each identity.
func (o *object) findings(verdicts []*verdict) []checks.Finding {
	type found struct {
		spot
		v *verdict
	}
	var all []found
	for _, v := range verdicts {
		for _, p := range v.problems {
			if s := v.locate(p); s.Deliberate(o.arch.kernel) == "" {
				all = append(all, found{s, v})
			}
		}
	}
	// On one line of one function a second opening says what a call there says, too;
	// and one call is enough.
	type line struct {
		file, function string
		line           int
	}
	lines := map[line]int{}
	drop := make([]bool, len(all))
	for i, f := range all {
		if f.Rule != window.CallInWindow && f.Rule != window.OpenTwice || f.noDWARF {
			continue
		}
		at := line{f.File, f.Function, f.Line}
		j, seen := lines[at]
		switch {
		case !seen:
			lines[at] = i
		case all[j].Rule == window.CallInWindow && f.Rule == window.OpenTwice:
			drop[j] = true
			lines[at] = i
		default:
			drop[i] = true
		}
	}
	var list []checks.Finding
	index := map[string]int{}
	places := map[string][]int{}
	for i := range all {
		f := &all[i]
		if drop[i] {
			continue
		}
		x := f.Finding(checks.Object)
		id := x.Identity()
		if _, ok := index[id]; ok {
			places[id] = append(places[id], f.Line)
			continue
		}
		index[id] = len(list)
		places[id] = []int{f.Line}
		x.Inlined = f.inlined
		x.Witness = f.v.witness(&f.spot)
		x.Evidence = []checks.Evidence{{Check: CheckName, Target: o.options.Target, Text: o.evidence(&f.spot)}}
		if f.noDWARF {
			x.Note = "no debug information: at " + o.symbolic(f.leak)
		}
		if o.arch == &archPPC32 && f.Rule == window.CloseWithoutOpen {
			x.Note = "on 32-bit book3s this protects the kernel's own segment: the next access of the kernel there faults"
		}
		list = append(list, x)
	}
	for id, i := range index {
		at := places[id]
		slices.Sort(at)
		at = slices.Compact(at)
		if len(at) > 1 && at[0] != 0 {
			list[i].Evidence[0].Text += fmt.Sprintf("; %d places: lines %s", len(at), strings.Trim(strings.ReplaceAll(fmt.Sprint(at), " ", ", "), "[]"))
		}
	}
	slices.SortFunc(list, func(a, b checks.Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Detail, b.Detail))
	})
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

// windows counts the places that open a window by the source function that they are
// in, the calls of get_user() and put_user() thunks among them.
func (o *object) windows(opens []loc) []checks.Windows {
	type key struct{ file, function string }
	count := map[key]int{}
	add := func(l loc) {
		l = o.origin(l)
		k := key{file: o.path}
		if u := o.debugInfo().unitOf(l); u != nil {
			frames := u.frames(l)
			f := frames[counted(frames)]
			k = key{f.file, f.function}
		} else if f := o.functionAt(l); f != nil {
			k.function = window.FunctionName(f.name)
		}
		count[k]++
	}
	for _, l := range opens {
		add(l)
	}
	o.thunks(add)
	var list []checks.Windows
	for k, n := range count {
		list = append(list, checks.Windows{Function: k.function, File: k.file, Opens: n})
	}
	slices.SortFunc(list, func(a, b checks.Windows) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Function, b.Function))
	})
	return list
}

// counted is the index of the innermost frame that uses the API: no part of it, and no
// user access that a header inlines.
func counted(frames []frame) int {
	for i, f := range frames {
		if !window.Primitive(f.function) && !(window.Accessor(f.function) && i < len(frames)-1) {
			return i
		}
	}
	return len(frames) - 1
}

// thunks calls add for each call of a thunk that opens a window of its own.
func (o *object) thunks(add func(loc)) {
	thunk := map[int]bool{}
	for i := range o.symbols {
		s := &o.symbols[i]
		if s.sec == 0 && strings.HasPrefix(s.name, "__") && window.Thunk(s.name) {
			thunk[i] = true
		}
	}
	if len(thunk) == 0 {
		return
	}
	for i := range o.sections {
		if !o.sections[i].code() {
			continue
		}
		r := &o.sections[i].relocs
		for j := range r.len() {
			if x := r.at(j); thunk[x.sym] {
				add(at(i, x.off))
			}
		}
	}
}
