package object

import (
	"debug/elf"
	"sort"
	"strings"
)

// function is one function symbol's code. A cold part belongs to its parent and is
// never looked at by itself.
type function struct {
	name   string
	code   span
	local  int64 // ppc64: offset of the local entry point
	cold   bool
	parent *function // of a cold part
	parts  []*function
}

// functions lists the functions of an object by place. Aliases of one place are one
// function, under the name that comes first in the symbol table.
func (o *object) readFunctions() {
	o.entries = map[loc]*function{}
	o.functions = make([][]*function, len(o.sections))
	byName := map[string]*function{}
	var cold []*function
	for i := range o.symbols {
		s := &o.symbols[i]
		if s.kind != elf.STT_FUNC || s.sec == 0 || s.size == 0 {
			continue
		}
		from := at(s.sec, s.value)
		if o.machine == elf.EM_ARM {
			from &^= 1 // the lowest bit says Thumb
		}
		if o.machine == elf.EM_PPC64 && o.sections[s.sec].name == ".opd" {
			to, ok := o.descriptor(from)
			if !ok {
				continue
			}
			from = to
		}
		sec := &o.sections[from.sec()]
		if !sec.code() || from.off() >= uint64(len(sec.data)) {
			continue
		}
		size := min(s.size, uint64(len(sec.data))-from.off())
		if f := o.entries[from]; f != nil {
			f.code.to = max(f.code.to, from.add(int64(size)))
			continue
		}
		f := &function{name: s.name, code: span{from, from.add(int64(size))}}
		if o.machine == elf.EM_PPC64 {
			// st_other bits 5..7, ELFv2 ABI section 3.4.1: 2..6 are 4..64 bytes.
			if n := s.other >> 5; n >= 2 && n <= 6 {
				f.local = 1 << n
			}
		}
		o.entries[from] = f
		o.functions[from.sec()] = append(o.functions[from.sec()], f)
		byName[f.name] = f
		if i := strings.Index(f.name, ".cold"); i > 0 {
			f.cold = true
			cold = append(cold, f)
		}
	}
	for _, f := range cold {
		if p := byName[f.name[:strings.Index(f.name, ".cold")]]; p != nil {
			f.parent = p
			p.parts = append(p.parts, f)
		}
	}
	for _, list := range o.functions {
		sort.Slice(list, func(i, j int) bool { return list[i].code.from < list[j].code.from })
	}
}

// descriptor is the code that a big-endian ppc64 function descriptor in .opd names
// (ELFv1 ABI, section 3.2.1: the first of three doublewords).
func (o *object) descriptor(l loc) (loc, bool) {
	to, _, ok := o.pointer(l.sec(), l.off())
	return to, ok
}

// functionAt is the function that holds l, nil if none.
func (o *object) functionAt(l loc) *function {
	if l.sec() >= len(o.functions) {
		return nil
	}
	list := o.functions[l.sec()]
	i := sort.Search(len(list), func(i int) bool { return list[i].code.from > l })
	if i == 0 || !l.within(list[i-1].code) {
		return nil
	}
	return list[i-1]
}

// entry is the function that starts at l, by its global or its local entry point.
func (o *object) entry(l loc) *function {
	if f := o.entries[l]; f != nil {
		return f
	}
	if f := o.functionAt(l); f != nil && f.local != 0 && l == f.code.from.add(f.local) {
		return f
	}
	return nil
}

// whole is f, or the function that f is a cold part of.
func (f *function) whole() *function {
	if f.parent != nil {
		return f.parent
	}
	return f
}

// owns reports whether g is f or a part of it.
func (f *function) owns(g *function) bool { return g != nil && g.whole() == f }

// spans are the pieces of code that f consists of.
func (f *function) spans() []span {
	s := []span{f.code}
	for _, p := range f.parts {
		s = append(s, p.code)
	}
	return s
}
