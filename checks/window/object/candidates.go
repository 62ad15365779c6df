package object

import (
	"bytes"
	"slices"
	"strings"

	"uabot/checks/window/object/isa"
)

// candidates lists the functions that need to be followed: those with an instruction
// that may open or close a window, with a user access that needs one, with a call of an
// outlined helper, and those that are only called inside of a window.
func (o *object) candidates() []*function {
	set := map[*function]bool{}
	add := func(l loc) {
		if f := o.functionAt(o.origin(l)); f != nil {
			set[f.whole()] = true
		}
	}
	if o.arch.step == 1 {
		o.findStac(add)
	} else {
		o.findMarks(add)
	}
	if o.arch == &archARM64 && len(set) == 0 {
		return nil // built for PAN in hardware: accesses need no window
	}
	if o.arch.access != nil {
		for l, rows := range o.faults {
			for _, e := range rows {
				if o.arch.access(e.kind) {
					add(l)
				}
			}
		}
	}
	o.findHelperCalls(add)
	var list []*function
	for f := range set {
		list = append(list, f)
	}
	if len(o.arch.startsOpen) > 0 {
		for _, f := range o.entries {
			if o.callsInside(f.name) && !set[f] {
				list = append(list, f)
			}
		}
	}
	list = slices.DeleteFunc(list, func(f *function) bool {
		name, _, _ := strings.Cut(f.name, ".")
		return slices.Contains(o.arch.skip, name) || o.helper(f).what != nothing || o.arch.cOnly && o.assembly(f)
	})
	slices.SortFunc(list, func(a, b *function) int {
		switch {
		case a.code.from < b.code.from:
			return -1
		case a.code.from > b.code.from:
			return 1
		}
		return 0
	})
	return list
}

// findStac finds x86's window instructions (SDM volume 2, STAC: 0F 01 CB, CLAC: 0F 01
// CA), in the code or in what replaces it.
func (o *object) findStac(add func(loc)) {
	for i := range o.sections {
		s := &o.sections[i]
		if !s.code() {
			continue
		}
		for off := 0; ; {
			n := bytes.Index(s.data[off:], []byte{0x0f, 0x01})
			if n < 0 || off+n+2 >= len(s.data) {
				break
			}
			off += n
			if c := s.data[off+2]; c == 0xca || c == 0xcb {
				add(at(i, uint64(off)))
			}
			off++
		}
	}
}

// findMarks finds the words that may be window instructions.
func (o *object) findMarks(add func(loc)) {
	step := int(o.arch.step)
	for i := range o.sections {
		s := &o.sections[i]
		if !s.code() {
			continue
		}
		for off := 0; off+4 <= len(s.data); off += step {
			if w := o.order.Uint32(s.data[off:]); o.arch.marked(w) {
				add(at(i, uint64(off)))
			}
		}
	}
}

// findHelperCalls finds the calls of outlined parts of the window API. There are none in
// nearly all objects, and then no code is decoded for it.
func (o *object) findHelperCalls(add func(loc)) {
	any := false
	for _, f := range o.entries {
		any = any || o.helper(f).what != nothing
	}
	if !any {
		return
	}
	for _, f := range o.entries {
		clear(o.decoded)
		s := o.stretch(f)
		for i := range s.insns {
			switch s.insns[i].Flow {
			case isa.Call, isa.Jump, isa.Branch:
			default:
				continue
			}
			to, external, ok := o.target(s.locs[i], &s.insns[i])
			if !ok || external != "" {
				continue
			}
			if g := o.entry(to); g != nil && o.helper(g).what != nothing {
				add(s.locs[i])
			}
		}
	}
}

// assembly reports whether f was written in assembly: its unit says so, or without
// debug information the object has no compiler's signature.
func (o *object) assembly(f *function) bool {
	if u := o.debugInfo().unitOf(f.code.from); u != nil {
		return u.asm
	}
	_, ok := o.byName[".comment"]
	return !ok
}
