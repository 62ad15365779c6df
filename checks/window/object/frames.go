package object

import (
	"slices"

	"uabot/checks"
)

// frame is one function around a place in code, as the source has it: the function
// whose code it is or one that was inlined there.
type frame struct {
	function string
	file     string // where in the function the place is; relative to the tree if it lies there
	line     int
	instance instance
}

// instance tells two inlined copies of a function apart.
type instance struct {
	u     *unit
	entry uint64
}

// frames lists the functions around l, the innermost first. nil: there is no debug
// information.
func (o *object) frames(l loc) []frame {
	l = o.origin(l)
	if list, ok := o.known[l]; ok {
		return list
	}
	u := o.debugInfo().unitOf(l)
	if u == nil {
		return nil
	}
	list := u.frames(l)
	innermost := &list[0]
	if innermost.file, innermost.line = u.lineTable().at(l); innermost.line != 0 {
		innermost.file = o.inTree(innermost.file)
	}
	if o.known == nil {
		o.known = map[loc][]frame{}
	}
	o.known[l] = list
	return list
}

// frames are those around l, without a line in the innermost, whose file is the one
// that it is declared in.
func (u *unit) frames(l loc) []frame {
	var outer []frame // outermost first
	if entry, ok := u.function(l); ok {
		outer = append(outer, u.frameOf(entry))
		u.inlined(entry, l, &outer, 0)
	} else {
		f := frame{file: u.name}
		if g := u.o.functionAt(l); g != nil {
			f.function = g.name
		}
		outer = append(outer, f)
	}
	slices.Reverse(outer)
	for i := range outer {
		outer[i].file = u.o.inTree(outer[i].file)
	}
	return outer
}

func (u *unit) frameOf(entry uint64) frame {
	n := u.nameAt(entry)
	return frame{function: n.name, file: u.lineTable().file(n.file), instance: instance{u, entry}}
}

func contains(ranges []span, l loc) bool {
	for _, r := range ranges {
		if l.within(r) {
			return true
		}
	}
	return false
}

// maxInlined bounds the depth of inlined functions and lexical blocks.
const maxInlined = 200

// inlined adds the inlined functions below the entry at off whose code holds l, and
// says in each frame where it goes on.
func (u *unit) inlined(off uint64, l loc, outer *[]frame, depth int) {
	if depth > maxInlined {
		return
	}
	found := false
	u.children(off, func(child uint64, a *abbrev) {
		if found || a.tag != tagInlinedSubroutine && a.tag != tagLexicalBlock {
			return
		}
		if a.tag == tagLexicalBlock && !a.hasCode { // what it holds may have code
			n := len(*outer)
			u.inlined(child, l, outer, depth+1)
			found = len(*outer) > n
			return
		}
		e := u.entry(child)
		if !contains(u.rangesOf(&e), l) {
			return
		}
		found = true
		if a.tag == tagInlinedSubroutine {
			caller := &(*outer)[len(*outer)-1]
			caller.file, caller.line = u.lineTable().file(e.callFile), int(e.callLine)
			*outer = append(*outer, u.frameOf(child))
		}
		u.inlined(child, l, outer, depth+1)
	})
}

// named is what a function is called and the file that declares it.
type named struct {
	name string
	file uint64
}

// nameAt names the function that the entry at off is, or is a copy of.
func (u *unit) nameAt(off uint64) named {
	if n, ok := u.names[off]; ok {
		return n
	}
	var n named
	at := off
	for range 8 { // inlined copy → abstract instance → declaration
		e := u.entry(at)
		n = named{e.name, e.declFile}
		if e.name != "" || e.origin == 0 {
			break
		}
		at = e.origin
	}
	if u.names == nil {
		u.names = map[uint64]named{}
	}
	u.names[off] = n
	return n
}

// inTree makes a file name relative to the source tree or the output directory, where
// it lies in one of them.
func (o *object) inTree(file string) string {
	b := checks.Built{Source: o.options.Source, Output: o.options.Output, SourceAs: o.options.SourceAs, OutputAs: o.options.OutputAs}
	return b.Rel(file)
}
