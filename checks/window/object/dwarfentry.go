package object

import "bytes"

// abbrev is a line of an abbreviation table: what an entry of a code looks like.
type abbrev struct {
	tag      uint64
	children bool
	hasCode  bool // it may have an address range
	attrs    []attr
	fixed    int // the size of all attributes where that does not vary
}

// What abbrev.fixed is besides a size.
const (
	varies  = -1
	unsized = -2 // not computed yet
)

type attr struct {
	name, form uint64
	implicit   int64
}

// abbrevs is a table of them. Compilers number from 1 without gaps.
type abbrevs struct {
	list   []abbrev // by code - 1
	sparse map[uint64]*abbrev
}

// abbrevs reads the table at off of a section (DWARF 5, section 7.5.3), once.
func (f *elfFile) abbrevs(o *object, section string, off uint64) *abbrevs {
	if t, ok := f.abbrevTables[off]; ok {
		return t
	}
	t := &abbrevs{}
	if f.abbrevTables == nil {
		f.abbrevTables = map[uint64]*abbrevs{}
	}
	f.abbrevTables[off] = t
	data, _ := f.debug(section)
	if off > uint64(len(data)) {
		return t
	}
	b := data[off:]
	uleb := func() uint64 {
		v, n := uleb128(b)
		b = b[n:]
		return v
	}
	for len(b) > 0 && o.entriesRead < maxEntries {
		o.entriesRead++
		code := uleb()
		if code == 0 {
			break
		}
		a := abbrev{tag: uleb(), fixed: unsized}
		if len(b) > 0 {
			a.children = b[0] != 0
			b = b[1:]
		}
		for len(b) > 0 {
			t := attr{name: uleb(), form: uleb()}
			if t.form == formImplicitConst {
				v, n := sleb128(b)
				t.implicit, b = v, b[n:]
			}
			if t.name == 0 && t.form == 0 {
				break
			}
			a.attrs = append(a.attrs, t)
			if t.name == atLowPC || t.name == atRanges {
				a.hasCode = true
			}
		}
		if code == uint64(len(t.list))+1 {
			t.list = append(t.list, a)
			continue
		}
		if t.sparse == nil {
			t.sparse = map[uint64]*abbrev{}
		}
		t.sparse[code] = &a
	}
	return t
}

// abbrev is the abbreviation of a code, nil for 0 and unknown ones.
func (u *unit) abbrev(code uint64) *abbrev {
	if code-1 < uint64(len(u.abbrevs.list)) {
		return &u.abbrevs.list[code-1]
	}
	return u.abbrevs.sparse[code]
}

// reader reads the entries of a unit. Behind the end it gives zeros and sets bad.
type reader struct {
	u   *unit
	off uint64
	bad bool
}

// fixed reads size bytes, with their relocations.
func (r *reader) fixed(size int) uint64 {
	if r.off > uint64(len(r.u.info.data)) || uint64(size) > uint64(len(r.u.info.data))-r.off {
		r.bad = true
		return 0
	}
	var v uint64
	if size >= 4 && r.u.info.relocs.len() > 0 {
		v = r.u.f.relocated(r.u.info, r.off, size)
	} else {
		v, _ = r.u.f.word(r.u.info.data, r.off, size)
	}
	r.off += uint64(size)
	return v
}

// offset reads an offset in another debug section.
func (r *reader) offset() uint64 {
	if r.u.wide {
		return r.fixed(8)
	}
	return r.fixed(4)
}

func (r *reader) uleb() uint64 {
	if r.off >= uint64(len(r.u.info.data)) {
		r.bad = true
		return 0
	}
	v, n := uleb128(r.u.info.data[r.off:])
	r.off += uint64(n)
	return v
}

func (r *reader) move(n uint64) {
	if n > uint64(len(r.u.info.data)) || r.off > uint64(len(r.u.info.data))-n {
		r.bad = true
		r.off = uint64(len(r.u.info.data))
		return
	}
	r.off += n
}

func uleb128(b []byte) (v uint64, n int) {
	for shift := uint(0); n < len(b); shift += 7 {
		c := b[n]
		n++
		if shift < 64 {
			v |= uint64(c&0x7f) << shift
		}
		if c&0x80 == 0 {
			break
		}
	}
	return v, n
}

func sleb128(b []byte) (v int64, n int) {
	shift := uint(0)
	for n < len(b) {
		c := b[n]
		n++
		if shift < 64 {
			v |= int64(c&0x7f) << shift
		}
		shift += 7
		if c&0x80 == 0 {
			if c&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			break
		}
	}
	return v, n
}

// The forms of DWARF 5, section 7.5.6, and of the GNU extensions.
const (
	formAddr          = 0x01
	formBlock2        = 0x03
	formBlock4        = 0x04
	formData2         = 0x05
	formData4         = 0x06
	formData8         = 0x07
	formString        = 0x08
	formBlock         = 0x09
	formBlock1        = 0x0a
	formData1         = 0x0b
	formFlag          = 0x0c
	formSdata         = 0x0d
	formStrp          = 0x0e
	formUdata         = 0x0f
	formRefAddr       = 0x10
	formRef1          = 0x11
	formRef2          = 0x12
	formRef4          = 0x13
	formRef8          = 0x14
	formRefUdata      = 0x15
	formIndirect      = 0x16
	formSecOffset     = 0x17
	formExprloc       = 0x18
	formFlagPresent   = 0x19
	formStrx          = 0x1a
	formAddrx         = 0x1b
	formRefSup4       = 0x1c
	formStrpSup       = 0x1d
	formData16        = 0x1e
	formLineStrp      = 0x1f
	formRefSig8       = 0x20
	formImplicitConst = 0x21
	formLoclistx      = 0x22
	formRnglistx      = 0x23
	formRefSup8       = 0x24
	formStrx1         = 0x25
	formStrx2         = 0x26
	formStrx3         = 0x27
	formStrx4         = 0x28
	formAddrx1        = 0x29
	formAddrx2        = 0x2a
	formAddrx3        = 0x2b
	formAddrx4        = 0x2c
	formGNUAddrIndex  = 0x1f01
	formGNUStrIndex   = 0x1f02
	formGNURefAlt     = 0x1f20
	formGNUStrpAlt    = 0x1f21
)

// size is how long a form always is, -1 where that varies.
func (u *unit) size(form uint64) int {
	switch form {
	case formFlagPresent, formImplicitConst:
		return 0
	case formData1, formFlag, formRef1, formStrx1, formAddrx1:
		return 1
	case formData2, formRef2, formStrx2, formAddrx2:
		return 2
	case formStrx3, formAddrx3:
		return 3
	case formData4, formRef4, formStrx4, formAddrx4, formRefSup4:
		return 4
	case formData8, formRef8, formRefSig8, formRefSup8:
		return 8
	case formData16:
		return 16
	case formAddr:
		return u.address
	case formRefAddr:
		if u.version == 2 {
			return u.address
		}
		fallthrough
	case formStrp, formSecOffset, formLineStrp, formStrpSup, formGNURefAlt, formGNUStrpAlt:
		if u.wide {
			return 8
		}
		return 4
	}
	return -1
}

// skipForm moves behind a value.
func (r *reader) skipForm(form uint64) {
	if n := r.u.size(form); n >= 0 {
		r.move(uint64(n))
		return
	}
	switch form {
	case formBlock1:
		r.move(r.fixed(1))
	case formBlock2:
		r.move(r.fixed(2))
	case formBlock4:
		r.move(r.fixed(4))
	case formBlock, formExprloc:
		r.move(r.uleb())
	case formString:
		r.text()
	case formSdata, formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
		r.uleb()
	case formIndirect:
		if f := r.uleb(); f != formIndirect {
			r.skipForm(f)
			return
		}
		r.bad = true
	default:
		r.bad = true
	}
}

// text reads a string that stands in the entry.
func (r *reader) text() []byte {
	if r.off >= uint64(len(r.u.info.data)) {
		r.bad = true
		return nil
	}
	b := r.u.info.data[r.off:]
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		r.bad = true
		return nil
	}
	r.off += uint64(n) + 1
	return b[:n]
}

// skip moves behind all attributes of an entry and returns its sibling, 0 if the entry
// does not say.
func (r *reader) skip(a *abbrev) (sibling uint64) {
	if a.fixed == unsized {
		a.fixed = 0
		for _, t := range a.attrs {
			n := r.u.size(t.form)
			if n < 0 || t.name == atSibling {
				a.fixed = varies
				break
			}
			a.fixed += n
		}
	}
	if a.fixed >= 0 {
		r.move(uint64(a.fixed))
		return 0
	}
	for _, t := range a.attrs {
		if t.name == atSibling {
			sibling = r.reference(t.form)
			continue
		}
		r.skipForm(t.form)
		if r.bad {
			return 0
		}
	}
	return sibling
}

// reference reads a reference to another entry: its offset in the section.
func (r *reader) reference(form uint64) uint64 {
	switch form {
	case formRef1:
		return r.u.off + r.fixed(1)
	case formRef2:
		return r.u.off + r.fixed(2)
	case formRef4:
		v, _ := r.u.f.word(r.u.info.data, r.off, 4) // never relocated
		r.move(4)
		return r.u.off + v
	case formRef8:
		return r.u.off + r.fixed(8)
	case formRefUdata:
		return r.u.off + r.uleb()
	case formRefAddr:
		if r.u.version == 2 {
			return r.fixed(r.u.address)
		}
		return r.offset()
	}
	r.skipForm(form)
	return 0
}
