package object

import (
	"path"
	"sort"
)

// lineTable is the line number program of one unit (DWARF 5, section 6.2).
type lineTable struct {
	files []string // by the numbers that entries use; a missing one is ""
	rows  []lineRow
	ran   bool
	// where the program is
	r        reader
	end      uint64
	minInst  uint64
	maxOps   uint64
	stmt     bool
	lineBase int64
	lineRange,
	opcodeBase uint64
	lengths []byte
}

type lineRow struct {
	at   loc
	file int32
	line int32
	end  bool // of a sequence: the row belongs to nothing
}

// lineTable reads the header of the unit's table: the names of its files.
func (u *unit) lineTable() *lineTable {
	if u.lines != nil {
		return u.lines
	}
	t := &lineTable{}
	u.lines = t
	data, s := u.o.debug(".debug_line")
	if s == nil || !u.hasLine || u.line >= uint64(len(data)) {
		return t
	}
	v := &unit{o: u.o, f: u.o.elfFile, info: s, address: u.address}
	r := reader{u: v, off: u.line}
	length := r.fixed(4)
	if length == 0xffffffff {
		v.wide = true
		length = r.fixed(8)
	}
	if r.bad || length > uint64(len(data))-r.off {
		return t
	}
	t.end = r.off + length
	v.version = int(r.fixed(2))
	if v.version < 2 || v.version > 5 {
		return t
	}
	if v.version >= 5 {
		v.address = int(r.fixed(1))
		r.fixed(1)
	}
	header := r.offset()
	program := r.off + header
	t.minInst, t.maxOps = r.fixed(1), 1
	if v.version >= 4 {
		t.maxOps = r.fixed(1)
	}
	t.stmt = r.fixed(1) != 0
	t.lineBase = int64(int8(r.fixed(1)))
	t.lineRange, t.opcodeBase = r.fixed(1), r.fixed(1)
	if r.bad || t.opcodeBase == 0 || r.off+t.opcodeBase-1 > uint64(len(data)) || program > uint64(len(data)) {
		return t
	}
	t.lengths = data[r.off : r.off+t.opcodeBase-1]
	r.move(t.opcodeBase - 1)
	if v.version >= 5 {
		t.readNames5(&r, u.dir)
	} else {
		t.readNames(&r, u.dir)
	}
	if !r.bad {
		t.r = reader{u: v, off: program}
	}
	return t
}

// readNames reads the lists of directories and files before version 5: numbers start
// at 1, directory 0 is the unit's.
func (t *lineTable) readNames(r *reader, dir string) {
	dirs := []string{dir}
	for !r.bad {
		name := r.text()
		if len(name) == 0 {
			break
		}
		dirs = append(dirs, join(dir, string(name)))
	}
	t.files = []string{""}
	for !r.bad {
		name := r.text()
		if len(name) == 0 {
			break
		}
		t.files = append(t.files, inDir(dirs, r.uleb(), string(name)))
		r.uleb()
		r.uleb()
	}
}

// readNames5 reads the lists of version 5, whose columns are described; numbers start at 0.
func (t *lineTable) readNames5(r *reader, dir string) {
	list := func(dirs []string) (names []string) {
		var columns []attr
		for n := r.fixed(1); n > 0 && !r.bad; n-- {
			columns = append(columns, attr{name: r.uleb(), form: r.uleb()})
		}
		for n := r.uleb(); n > 0 && !r.bad && r.off < t.end; n-- {
			var name string
			var in uint64
			for _, c := range columns {
				switch c.name {
				case 1: // DW_LNCT_path
					name = r.str(c.form)
				case 2: // DW_LNCT_directory_index
					in = r.number(c)
				default:
					r.skipForm(c.form)
				}
			}
			if len(columns) == 0 {
				break
			}
			if dirs == nil {
				names = append(names, join(dir, name))
			} else {
				names = append(names, inDir(dirs, in, name))
			}
		}
		return names
	}
	dirs := list(nil)
	if dirs == nil {
		dirs = []string{dir}
	}
	t.files = list(dirs)
}

func inDir(dirs []string, i uint64, name string) string {
	if i < uint64(len(dirs)) {
		return join(dirs[i], name)
	}
	return name
}

func join(dir, name string) string {
	if path.IsAbs(name) || dir == "" {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}

func (t *lineTable) file(i uint64) string {
	if i < uint64(len(t.files)) {
		return t.files[i]
	}
	return ""
}

// maxRows bounds a table; each takes a byte of the object or more, and 24 of memory.
const maxRows = 1 << 22

// run executes the program once (DWARF 5, section 6.2.5).
func (t *lineTable) run() {
	if t.ran || t.r.u == nil {
		t.ran = true
		return
	}
	t.ran = true
	r := &t.r
	var at uint64
	file, line := int64(1), int64(1)
	emit := func(end bool) {
		t.rows = append(t.rows, lineRow{loc(at), int32(file), int32(line), end})
	}
	advance := func(n uint64) { at += n * t.minInst }
	for !r.bad && r.off < t.end && len(t.rows) < maxRows {
		op := r.fixed(1)
		switch {
		case op >= t.opcodeBase:
			if t.lineRange == 0 {
				return
			}
			op -= t.opcodeBase
			advance(op / t.lineRange)
			line += t.lineBase + int64(op%t.lineRange)
			emit(false)
		case op == 0:
			length := r.uleb()
			next := r.off + length
			if length == 0 || next > t.end {
				return
			}
			switch r.fixed(1) {
			case 1: // end_sequence
				emit(true)
				at, file, line = 0, 1, 1
			case 2: // set_address
				at = r.fixed(int(length - 1))
			}
			r.off = next
		case op == 1: // copy
			emit(false)
		case op == 2: // advance_pc
			advance(r.uleb())
		case op == 3: // advance_line
			if r.off >= t.end {
				return
			}
			v, n := sleb128(r.u.info.data[r.off:])
			r.off += uint64(n)
			line += v
		case op == 4: // set_file
			file = int64(r.uleb())
		case op == 8: // const_add_pc
			if t.lineRange != 0 {
				advance((255 - t.opcodeBase) / t.lineRange)
			}
		case op == 9: // fixed_advance_pc: riscv relocates it
			at += r.u.f.relocated(r.u.info, r.off, 2) & 0xffff
			r.move(2)
		default:
			for n := t.lengths[op-1]; n > 0; n-- {
				r.uleb()
			}
		}
	}
	sort.SliceStable(t.rows, func(i, j int) bool {
		if t.rows[i].at != t.rows[j].at {
			return t.rows[i].at < t.rows[j].at
		}
		return t.rows[i].end && !t.rows[j].end // one sequence ends where the next begins
	})
}

// at is the file and line of the code at l.
func (t *lineTable) at(l loc) (file string, line int) {
	t.run()
	i := sort.Search(len(t.rows), func(i int) bool { return t.rows[i].at > l })
	if i == 0 || t.rows[i-1].end || t.rows[i-1].at.sec() != l.sec() {
		return "", 0
	}
	return t.file(uint64(t.rows[i-1].file)), int(t.rows[i-1].line)
}
