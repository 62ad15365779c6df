package object

import (
	"errors"
	"path/filepath"
	"sort"
)

// errDWARF says that debug information ends early or makes no sense. It is met with
// what could be read until then.
var errDWARF = errors.New("broken DWARF")

// debugInfo reads DWARF 2 to 5, in the object or split off into .dwo files, as far as
// places in code need it. debug/dwarf would need every section relocated first, and
// does not know riscv's relocations; and most of an object is never asked about.
type debugInfo struct {
	units []*unit // by offset
	spans []unitSpan
}

// The bounds of debug information: units, of which an object that was linked has one
// for each file, and entries and abbreviations read in all.
const (
	maxUnits   = 1 << 17
	maxEntries = 1 << 26
)

// unitSpan is code of a unit.
type unitSpan struct {
	span
	u *unit
}

// unit is one compilation unit: the skeleton in the object, and where the rest is.
type unit struct {
	o        *object
	f        *elfFile // where the entries are: the object, or its .dwo file
	info     *section // .debug_info or .debug_info.dwo there
	off, end uint64   // of the unit in info, header included
	first    uint64   // the root entry
	version  int
	address  int // bytes
	wide     bool
	abbrevs  *abbrevs // nil: a type unit
	split    bool     // gone over to the .dwo file

	name, dir  string
	asm        bool
	line       uint64 // offset in the object's .debug_line
	hasLine    bool
	base       uint64 // for ranges
	strOffsets uint64
	addrBase   uint64
	rnglists   uint64
	rangesBase uint64
	dwoName    string
	id         uint64         // the same in the object and in its .dwo file
	functions  []functionSpan // sorted
	indexed    bool
	names      map[uint64]named
	lines      *lineTable
}

// functionSpan is code of a function of a unit; entry is its debugging information.
type functionSpan struct {
	span
	entry uint64
}

// The numbers of DWARF 5, section 7.5, and of the GNU split DWARF extension.
const (
	tagLexicalBlock      = 0x0b
	tagCompileUnit       = 0x11
	tagInlinedSubroutine = 0x1d
	tagSubprogram        = 0x2e
	tagSkeletonUnit      = 0x4a

	atSibling        = 0x01
	atName           = 0x03
	atStmtList       = 0x10
	atLowPC          = 0x11
	atHighPC         = 0x12
	atLanguage       = 0x13
	atCompDir        = 0x1b
	atAbstractOrigin = 0x31
	atDeclFile       = 0x3a
	atSpecification  = 0x47
	atRanges         = 0x55
	atCallFile       = 0x58
	atCallLine       = 0x59
	atStrOffsetsBase = 0x72
	atAddrBase       = 0x73
	atRnglistsBase   = 0x74
	atDwoName        = 0x76
	atGNUDwoName     = 0x2130
	atGNUDwoID       = 0x2131
	atGNURangesBase  = 0x2132
	atGNUAddrBase    = 0x2133

	langAssembler = 0x8001
)

// readDebugInfo finds the units of the object. It returns nil if there are none.
func (o *object) readDebugInfo() *debugInfo {
	_, info := o.debug(".debug_info")
	if info == nil || len(info.data) == 0 {
		return nil
	}
	d := &debugInfo{}
	for off := uint64(0); off < uint64(len(info.data)) && len(d.units) < maxUnits; {
		u, err := o.unitAt(info, off)
		if err != nil {
			break
		}
		off = u.end
		if u.abbrevs != nil {
			d.units = append(d.units, u)
		}
	}
	for _, u := range d.units {
		u.open(d)
	}
	sort.SliceStable(d.spans, func(i, j int) bool { return d.spans[i].from < d.spans[j].from })
	return d
}

// unitAt reads the header of the unit at off (DWARF 5, section 7.5.1). A type unit has
// no abbrevs.
func (o *object) unitAt(info *section, off uint64) (*unit, error) {
	return newUnit(o, o.elfFile, info, off, ".debug_abbrev")
}

func newUnit(o *object, f *elfFile, info *section, off uint64, abbrevs string) (*unit, error) {
	u := &unit{o: o, f: f, info: info, off: off}
	r := reader{u: u, off: off}
	length := r.fixed(4)
	if length == 0xffffffff {
		u.wide = true
		length = r.fixed(8)
	}
	if r.bad || length > uint64(len(info.data))-r.off || length == 0 {
		return nil, errDWARF
	}
	u.end = r.off + length
	u.version = int(r.fixed(2))
	kind := uint64(1) // DW_UT_compile
	var table uint64
	if u.version >= 5 {
		kind = r.fixed(1)
		u.address = int(r.fixed(1))
		table = r.offset()
		if kind == 4 || kind == 5 { // skeleton and split compile
			u.id = r.fixed(8)
		}
	} else {
		table = r.offset()
		u.address = int(r.fixed(1))
	}
	if r.bad || u.version < 2 || u.version > 5 || u.address != 4 && u.address != 8 {
		return nil, errDWARF
	}
	u.first = r.off
	if kind != 1 && kind != 4 && kind != 5 {
		return u, nil // a type unit
	}
	u.abbrevs = f.abbrevs(o, abbrevs, table)
	return u, nil
}

// open reads the root entry of u, follows it to its .dwo file, and adds its code to d.
func (u *unit) open(d *debugInfo) {
	u.strOffsets, u.addrBase, u.rnglists = noBase, noBase, noBase
	e := u.root()
	u.name, u.dir, u.asm = e.name, e.dir, e.language == langAssembler
	u.line, u.hasLine = e.line, e.hasLine
	u.dwoName = e.dwo
	if e.id != 0 {
		u.id = e.id
	}
	u.base = uint64(e.low)
	ranges := u.rangesOf(&e)
	if len(ranges) == 0 { // then its functions tell
		u.index()
		for _, s := range u.functions {
			ranges = append(ranges, s.span)
		}
	}
	for _, r := range ranges {
		d.spans = append(d.spans, unitSpan{r, u})
	}
}

// noBase: the attribute that gives a base is missing.
const noBase = ^uint64(0)

// root reads the first entry. The bases that its own attributes need may come
// behind them, so it is read twice.
func (u *unit) root() entry {
	var e entry
	for range 2 {
		e = u.entry(u.first)
		if e.strOffsets != noBase {
			u.strOffsets = e.strOffsets
		}
		if e.addrBase != noBase {
			u.addrBase = e.addrBase
		}
		if e.rnglists != noBase {
			u.rnglists = e.rnglists
		}
		if e.rangesBase != noBase {
			u.rangesBase = e.rangesBase
		}
	}
	return e
}

// openSplit goes over to the .dwo file that holds the entries of u.
func (u *unit) openSplit() {
	for _, p := range []string{
		filepath.Join(filepath.Dir(u.o.path), filepath.Base(u.dwoName)),
		filepath.Join(u.o.options.Output, u.o.inTree(join(u.dir, u.dwoName))),
		join(u.dir, u.dwoName),
	} {
		b, err := readFile(p)
		if err != nil {
			continue
		}
		if f, err := readELF(b.Bytes()); err == nil && f.machine == u.o.machine && u.goOverTo(f) {
			return // b is in use as long as the object
		}
		buffers.Put(b)
	}
}

// goOverTo makes u the unit of a .dwo file that belongs to it. A file of another build
// has another id.
func (u *unit) goOverTo(f *elfFile) bool {
	_, info := f.debug(".debug_info.dwo")
	if info == nil {
		return false
	}
	for off := uint64(0); off < uint64(len(info.data)); {
		s, err := newUnit(u.o, f, info, off, ".debug_abbrev.dwo")
		if err != nil {
			return false
		}
		off = s.end
		if s.abbrevs == nil {
			continue
		}
		s.split, s.strOffsets, s.addrBase, s.rnglists = true, noBase, u.addrBase, noBase
		e := s.root()
		if e.id != 0 {
			s.id = e.id
		}
		if s.id != u.id {
			continue
		}
		u.f, u.info, u.off, u.end, u.first = f, s.info, s.off, s.end, s.first
		u.version, u.address, u.wide, u.abbrevs, u.split = s.version, s.address, s.wide, s.abbrevs, true
		u.strOffsets, u.rnglists = s.strOffsets, s.rnglists
		u.name, u.asm = e.name, e.language == langAssembler
		return true
	}
	return false
}

// index lists the functions of u that have code, in the .dwo file if there is one.
func (u *unit) index() {
	if u.indexed {
		return
	}
	u.indexed = true
	if u.dwoName != "" {
		u.openSplit()
	}
	u.children(u.first, func(off uint64, a *abbrev) {
		if a.tag != tagSubprogram || !a.hasCode {
			return
		}
		e := u.entry(off)
		for _, r := range u.rangesOf(&e) {
			u.functions = append(u.functions, functionSpan{r, off})
		}
	})
	sort.SliceStable(u.functions, func(i, j int) bool { return u.functions[i].from < u.functions[j].from })
}

// function is the entry of the function that holds l.
func (u *unit) function(l loc) (entry uint64, ok bool) {
	u.index()
	i := sort.Search(len(u.functions), func(i int) bool { return u.functions[i].from > l })
	if i == 0 || !l.within(u.functions[i-1].span) {
		return 0, false
	}
	return u.functions[i-1].entry, true
}

// children calls f for each child of the entry at off, not for theirs.
func (u *unit) children(off uint64, f func(off uint64, a *abbrev)) {
	r := reader{u: u, off: off}
	a := u.abbrev(r.uleb())
	if a == nil || !a.children {
		return
	}
	r.skip(a)
	for !r.bad && r.off < u.end && u.o.entriesRead < maxEntries {
		u.o.entriesRead++
		at := r.off
		a := u.abbrev(r.uleb())
		if a == nil {
			return // the end of the list, or nonsense
		}
		f(at, a)
		r.over(a)
	}
}

// over moves behind the attributes of an entry and its children.
func (r *reader) over(a *abbrev) {
	sibling := r.skip(a)
	if !a.children {
		return
	}
	if sibling > r.off && sibling <= r.u.end {
		r.off = sibling
		return
	}
	for depth := 1; depth > 0 && !r.bad && r.off < r.u.end; {
		r.u.o.entriesRead++
		a := r.u.abbrev(r.uleb())
		if a == nil {
			depth--
			continue
		}
		sibling := r.skip(a)
		switch {
		case !a.children:
		case sibling > r.off && sibling <= r.u.end:
			r.off = sibling
		default:
			depth++
		}
	}
}

// unitOf is the unit that holds the code at l, nil if none does.
func (d *debugInfo) unitOf(l loc) *unit {
	if d == nil {
		return nil
	}
	i := sort.Search(len(d.spans), func(i int) bool { return d.spans[i].from > l })
	for n := 0; n < 64 && i > 0; n++ { // units do not overlap, but may surround each other
		i--
		if l.within(d.spans[i].span) {
			return d.spans[i].u
		}
	}
	return nil
}
