package objtool

import (
	"debug/dwarf"
	"path"
)

// Frame is one level of the inlining at a place, innermost first in a chain.
type frame struct {
	function string
	file     string // as DWARF names it, with the directory of the compilation
	line     int
	instance dwarf.Offset // of this copy of the function: equal for places in the same copy
}

// lineTable finds functions and lines for fake addresses.
type lineTable struct {
	data  *dwarf.Data
	units []*dwarf.Entry
}

func newLineTable(data *dwarf.Data) *lineTable {
	t := &lineTable{data: data}
	for r := data.Reader(); ; r.SkipChildren() {
		e, err := r.Next()
		if err != nil || e == nil {
			return t
		}
		if e.Tag == dwarf.TagCompileUnit {
			t.units = append(t.units, e)
		}
	}
}

// frames returns the chain of functions at pc; nil when DWARF does not tell.
func (t *lineTable) frames(pc uint64) []frame {
	if t == nil {
		return nil
	}
	for _, unit := range t.units {
		if !t.covers(unit, pc) {
			continue
		}
		lines, err := t.data.LineReader(unit)
		if err != nil || lines == nil {
			continue
		}
		var at dwarf.LineEntry
		if lines.SeekPC(pc, &at) != nil {
			continue
		}
		file, line := "", at.Line
		if at.File != nil {
			file = at.File.Name
		}
		chain := t.chain(unit, pc)
		if len(chain) == 0 {
			return []frame{{file: file, line: line}}
		}
		files := lines.Files()
		var frames []frame
		for i := len(chain) - 1; i >= 0; i-- {
			e := chain[i]
			frames = append(frames, frame{t.name(e), clean(file), line, e.Offset})
			file, line = "", 0
			if n, ok := e.Val(dwarf.AttrCallFile).(int64); ok && n >= 0 && n < int64(len(files)) && files[n] != nil {
				file = files[n].Name
			}
			if n, ok := e.Val(dwarf.AttrCallLine).(int64); ok {
				line = int(n)
			}
		}
		return frames
	}
	return nil
}

func clean(name string) string {
	if name == "" {
		return ""
	}
	return path.Clean(name)
}

func (t *lineTable) covers(e *dwarf.Entry, pc uint64) bool {
	ranges, err := t.data.Ranges(e)
	if err != nil {
		return false
	}
	for _, r := range ranges {
		if pc >= r[0] && pc < r[1] {
			return true
		}
	}
	return false
}

// chain lists the functions around pc, outermost first: a subprogram and the
// inlined ones in it. Lexical blocks are looked through.
func (t *lineTable) chain(unit *dwarf.Entry, pc uint64) []*dwarf.Entry {
	var chain []*dwarf.Entry
	r := t.data.Reader()
	r.Seek(unit.Offset)
	if _, err := r.Next(); err != nil {
		return nil
	}
	for depth := 1; depth > 0; {
		e, err := r.Next()
		if err != nil || e == nil {
			return chain
		}
		if e.Tag == 0 {
			if depth--; len(chain) > 0 && depth <= 1 {
				return chain
			}
			continue
		}
		in := false
		switch e.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			if in = t.covers(e, pc); in {
				chain = append(chain, e)
			}
		case dwarf.TagLexDwarfBlock:
			// One whose code was put elsewhere may have no range of its own.
			in = len(chain) > 0
		}
		if e.Children {
			if in {
				depth++
			} else {
				r.SkipChildren()
			}
		}
	}
	return chain
}

// name follows a copy of a function to its declaration.
func (t *lineTable) name(e *dwarf.Entry) string {
	for range 8 { // origin, specification: a handful at most
		if name, ok := e.Val(dwarf.AttrName).(string); ok {
			return name
		}
		to, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if to, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				return ""
			}
		}
		r := t.data.Reader()
		r.Seek(to)
		next, err := r.Next()
		if err != nil || next == nil {
			return ""
		}
		e = next
	}
	return ""
}
