package object

import "bytes"

// entry holds the attributes of a debugging information entry that matter here.
type entry struct {
	tag        uint64
	name       string
	dir        string
	dwo        string
	id         uint64
	language   uint64
	line       uint64 // of the root: the line table
	hasLine    bool
	low        loc
	hasLow     bool
	high       uint64
	highIsAddr bool
	hasHigh    bool
	ranges     uint64
	rangesForm uint64
	hasRanges  bool
	origin     uint64 // abstract origin or specification
	declFile   uint64
	callFile   uint64
	callLine   uint64
	strOffsets uint64
	addrBase   uint64
	rnglists   uint64
	rangesBase uint64
}

// entry reads the entry at off.
func (u *unit) entry(off uint64) entry {
	e := entry{strOffsets: noBase, addrBase: noBase, rnglists: noBase, rangesBase: noBase}
	if off < u.off || off >= u.end {
		return e
	}
	r := reader{u: u, off: off}
	a := u.abbrev(r.uleb())
	if a == nil {
		return e
	}
	e.tag = a.tag
	for _, t := range a.attrs {
		if r.bad {
			break
		}
		switch t.name {
		case atName:
			e.name = r.str(t.form)
		case atCompDir:
			e.dir = r.str(t.form)
		case atDwoName, atGNUDwoName:
			e.dwo = r.str(t.form)
		case atGNUDwoID:
			e.id = r.number(t)
		case atLanguage:
			e.language = r.number(t)
		case atStmtList:
			e.line, e.hasLine = r.number(t), true
		case atLowPC:
			e.low, e.hasLow = loc(r.addr(t.form)), true
		case atHighPC:
			e.hasHigh = true
			switch t.form {
			case formAddr, formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formGNUAddrIndex:
				e.high, e.highIsAddr = r.addr(t.form), true
			default:
				e.high = r.number(t)
			}
		case atRanges:
			e.ranges, e.rangesForm, e.hasRanges = r.number(t), t.form, true
		case atAbstractOrigin, atSpecification:
			e.origin = r.reference(t.form)
		case atDeclFile:
			e.declFile = r.number(t)
		case atCallFile:
			e.callFile = r.number(t)
		case atCallLine:
			e.callLine = r.number(t)
		case atStrOffsetsBase:
			e.strOffsets = r.number(t)
		case atAddrBase, atGNUAddrBase:
			e.addrBase = r.number(t)
		case atRnglistsBase:
			e.rnglists = r.number(t)
		case atGNURangesBase:
			e.rangesBase = r.number(t)
		default:
			r.skipForm(t.form)
		}
	}
	return e
}

// number reads a constant, an offset or an index.
func (r *reader) number(t attr) uint64 {
	switch t.form {
	case formImplicitConst:
		return uint64(t.implicit)
	case formData1, formData2, formData4, formData8:
		return r.fixed(r.u.size(t.form))
	case formSecOffset:
		return r.offset()
	case formUdata, formRnglistx, formLoclistx:
		return r.uleb()
	case formSdata:
		if r.off >= uint64(len(r.u.info.data)) {
			r.bad = true
			return 0
		}
		v, n := sleb128(r.u.info.data[r.off:])
		r.off += uint64(n)
		return uint64(v)
	}
	r.skipForm(t.form)
	return 0
}

// addr reads an address as a loc.
func (r *reader) addr(form uint64) uint64 {
	var i uint64
	switch form {
	case formAddr:
		return r.fixed(r.u.address)
	case formAddrx, formGNUAddrIndex:
		i = r.uleb()
	case formAddrx1, formAddrx2, formAddrx3, formAddrx4:
		i = r.fixed(r.u.size(form))
	default:
		r.skipForm(form)
		return 0
	}
	return r.u.indexedAddr(i)
}

// indexedAddr is entry i of the object's .debug_addr.
func (u *unit) indexedAddr(i uint64) uint64 {
	data, s := u.o.debug(".debug_addr")
	base := u.addrBase
	if base == noBase {
		base = 0
	}
	if s == nil || i > uint64(len(data)) || base > uint64(len(data)) {
		return 0
	}
	return u.o.relocated(s, base+i*uint64(u.address), u.address)
}

// str reads a string, wherever it is kept.
func (r *reader) str(form uint64) string {
	u := r.u
	switch form {
	case formString:
		return string(r.text())
	case formStrp:
		return u.stringAt(".debug_str", r.offset())
	case formLineStrp:
		return u.stringAt(".debug_line_str", r.offset())
	case formStrx, formGNUStrIndex:
		return u.indexedString(r.uleb())
	case formStrx1, formStrx2, formStrx3, formStrx4:
		if form == formStrx3 {
			b := r.fixed(1)
			return u.indexedString(b | r.fixed(2)<<8)
		}
		return u.indexedString(r.fixed(u.size(form)))
	}
	r.skipForm(form)
	return ""
}

func (u *unit) dwoSection(name string) string {
	if u.split {
		return name + ".dwo"
	}
	return name
}

func (u *unit) stringAt(section string, off uint64) string {
	data, _ := u.f.debug(u.dwoSection(section))
	return cstring(data, off)
}

func cstring(data []byte, off uint64) string {
	if off >= uint64(len(data)) {
		return ""
	}
	b := data[off:]
	if n := bytes.IndexByte(b, 0); n >= 0 {
		return string(b[:n])
	}
	return ""
}

// indexedString is string i of the unit's table of offsets (DWARF 5, section 7.26). In
// a .dwo file the base is behind the header, in GNU's version 4 there is none.
func (u *unit) indexedString(i uint64) string {
	data, s := u.f.debug(u.dwoSection(".debug_str_offsets"))
	size := uint64(4)
	if u.wide {
		size = 8
	}
	base := u.strOffsets
	if base == noBase {
		base = 0
		if u.version >= 5 {
			base = size + 4
		}
	}
	if s == nil || i > uint64(len(data)) || base > uint64(len(data)) {
		return ""
	}
	return u.stringAt(".debug_str", u.f.relocated(s, base+i*size, int(size)))
}

// rangesOf is the code of an entry.
func (u *unit) rangesOf(e *entry) []span {
	switch {
	case e.hasRanges && u.version >= 5:
		return u.rangeList(e)
	case e.hasRanges:
		return u.oldRanges(e.ranges)
	case e.hasLow && e.hasHigh && e.highIsAddr && loc(e.high) > e.low:
		return []span{{e.low, loc(e.high)}}
	case e.hasLow && e.hasHigh && !e.highIsAddr && e.high > 0:
		return []span{{e.low, e.low.add(int64(e.high))}}
	}
	return nil
}

// maxRanges bounds the pieces of one function.
const maxRanges = 1 << 16

// oldRanges reads .debug_ranges (DWARF 4, section 2.17.3), in the object even when the
// entries are not.
func (u *unit) oldRanges(off uint64) []span {
	_, s := u.o.debug(".debug_ranges")
	if s == nil {
		return nil
	}
	if u.split {
		off += u.rangesBase
	}
	var list []span
	base := u.base
	mask := uint64(1)<<(8*u.address-1)<<1 - 1
	for n := uint64(u.address); off+2*n <= uint64(len(s.data)) && len(list) < maxRanges; off += 2 * n {
		from, to := u.o.relocated(s, off, u.address), u.o.relocated(s, off+n, u.address)
		switch {
		case from == 0 && to == 0:
			return list
		case from == mask:
			base = to
			continue
		}
		if from>>32 == 0 { // an offset
			from, to = from+base, to+base
		}
		if from < to {
			list = append(list, span{loc(from), loc(to)})
		}
	}
	return list
}

// rangeList reads .debug_rnglists (DWARF 5, section 7.25).
func (u *unit) rangeList(e *entry) []span {
	f, name := u.o.elfFile, ".debug_rnglists"
	if u.split {
		f, name = u.f, ".debug_rnglists.dwo"
	}
	_, s := f.debug(name)
	if s == nil {
		return nil
	}
	size := 4
	if u.wide {
		size = 8
	}
	off := e.ranges
	if e.rangesForm == formRnglistx {
		base := u.rnglists
		if base == noBase {
			base = uint64(size) + 8 // behind the header
		}
		if base > uint64(len(s.data)) || e.ranges > uint64(len(s.data)) {
			return nil
		}
		off = base + f.relocated(s, base+e.ranges*uint64(size), size)
	}
	r := reader{u: &unit{o: u.o, f: f, info: s, address: u.address}, off: off}
	var list []span
	base := u.base
	for !r.bad && len(list) < maxRanges {
		var from, to uint64
		switch r.fixed(1) {
		case 0: // end of list
			return list
		case 1: // base addressx
			base = u.indexedAddr(r.uleb())
			continue
		case 2: // startx endx
			from, to = u.indexedAddr(r.uleb()), u.indexedAddr(r.uleb())
		case 3: // startx length
			from = u.indexedAddr(r.uleb())
			to = from + r.uleb()
		case 4: // offset pair
			from, to = base+r.uleb(), base+r.uleb()
		case 5: // base address
			base = r.fixed(u.address)
			continue
		case 6: // start end
			from, to = r.fixed(u.address), r.fixed(u.address)
		case 7: // start length
			from = r.fixed(u.address)
			to = from + r.uleb()
		default:
			return list
		}
		if from < to {
			list = append(list, span{loc(from), loc(to)})
		}
	}
	return list
}
