package object

import (
	"cmp"
	"slices"
	"strings"

	"uabot/checks"
	"uabot/checks/window"
)

// windows counts the places that open a window by the source function that they are
// in, the calls of get_user() and put_user() thunks among them.
func (o *object) windows(opens []loc) []checks.Windows {
	type key struct{ file, function string }
	count := map[key]int{}
	add := func(l loc) {
		l = o.origin(l)
		k := key{file: o.inTree(o.path)}
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
	if o.arch.kernel == "x86" { // arm opens the window around its thunks
		o.thunks(add)
	}
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
