package objtool

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// object is an x86-64 relocatable file.
type object struct {
	elf     *elf.File
	symbols []elf.Symbol // index 0 is symbol 1, as debug/elf has it
	alts    []alternative
	lines   *lineTable // nil without DWARF
}

// object0 stands for an object that cannot be read.
var object0 object

// address is a place in an object.
type address struct {
	section int // index; 0 is none
	offset  uint64
}

// alternative is an entry of .altinstructions: a stretch of code and what takes its
// place when the processor has a feature.
type alternative struct {
	site        address
	replacement address
	length      uint64 // of the replacement
	code        []byte // the replacement
}

// opens and closes tell what the replacement does to a window: stac, clac
// (arch/x86/include/asm/smap.h).
func (a *alternative) opens() bool  { return bytes.Contains(a.code, []byte{0x0f, 0x01, 0xcb}) }
func (a *alternative) closes() bool { return bytes.Contains(a.code, []byte{0x0f, 0x01, 0xca}) }

func openObject(path string) (*object, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	o := &object{elf: f}
	if f.Class != elf.ELFCLASS64 || f.Machine != elf.EM_X86_64 || f.Type != elf.ET_REL {
		f.Close()
		return nil, fmt.Errorf("reading %s: it is no x86-64 object, but %v %v %v", path, f.Class, f.Machine, f.Type)
	}
	if o.symbols, err = f.Symbols(); err != nil {
		f.Close()
		return nil, fmt.Errorf("reading the symbols of %s: %w", path, err)
	}
	o.alts = o.alternatives()
	if data, err := o.dwarf(); err == nil {
		o.lines = newLineTable(data)
	}
	return o, nil
}

func (o *object) close() {
	if o.elf != nil {
		o.elf.Close()
	}
}

// relocation is an entry of a .rela section: the field at Offset is about Symbol
// plus Addend.
type relocation struct {
	Offset uint64
	Info   uint64
	Addend int64
}

func (r relocation) kind() elf.R_X86_64 { return elf.R_X86_64(r.Info & 0xffffffff) }

// relocations returns what applies to a section, by offset.
func (o *object) relocations(section int) []relocation {
	var list []relocation
	for _, s := range o.elf.Sections {
		if s.Type != elf.SHT_RELA || int(s.Info) != section {
			continue
		}
		data, err := s.Data()
		if err != nil {
			continue
		}
		for ; len(data) >= 24; data = data[24:] {
			list = append(list, relocation{
				binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:]), int64(binary.LittleEndian.Uint64(data[16:])),
			})
		}
	}
	slices.SortFunc(list, func(a, b relocation) int {
		if a.Offset < b.Offset {
			return -1
		}
		if a.Offset > b.Offset {
			return 1
		}
		return 0
	})
	return list
}

// target is where a relocation points; false for a symbol that is not in the object.
func (o *object) target(r relocation) (address, bool) {
	n := int(r.Info>>32) - 1
	if n < 0 || n >= len(o.symbols) {
		return address{}, false
	}
	s := o.symbols[n]
	if s.Section == elf.SHN_UNDEF || int(s.Section) >= len(o.elf.Sections) {
		return address{}, false
	}
	return address{int(s.Section), s.Value + uint64(r.Addend)}, true
}

func (o *object) section(name string) int {
	for i, s := range o.elf.Sections {
		if s.Name == name {
			return i
		}
	}
	return 0
}

// alternatives reads .altinstructions. An entry is two 32-bit offsets, original and
// replacement, each with a relocation, then features and lengths, the last byte
// being the length of the replacement (6.12: struct alt_instr, 14 bytes; it was 12
// and 13). How long entries are is seen from the distance of the relocations.
func (o *object) alternatives() []alternative {
	n := o.section(".altinstructions")
	if n == 0 {
		return nil
	}
	data, err := o.elf.Sections[n].Data()
	relocs := o.relocations(n)
	if err != nil || len(relocs) < 2 {
		return nil
	}
	size := uint64(len(data))
	if len(relocs) > 2 {
		size = relocs[2].Offset - relocs[0].Offset
	}
	if size < 10 {
		return nil
	}
	var list []alternative
	for i := 0; i+1 < len(relocs); i += 2 {
		start := relocs[i].Offset
		if start%size != 0 || relocs[i+1].Offset != start+4 || start+size > uint64(len(data)) || start+size < start {
			return list
		}
		site, ok1 := o.target(relocs[i])
		repl, ok2 := o.target(relocs[i+1])
		if !ok1 || !ok2 {
			continue
		}
		a := alternative{site: site, replacement: repl, length: uint64(data[start+size-1])}
		if code, err := o.elf.Sections[repl.section].Data(); err == nil && repl.offset <= uint64(len(code)) {
			a.code = code[repl.offset:min(repl.offset+a.length, uint64(len(code)))]
		}
		list = append(list, a)
	}
	return list
}

// site brings replacement code back to the code that it replaces.
func (o *object) site(at address) (address, *alternative) {
	for i := range o.alts {
		a := &o.alts[i]
		if a.replacement.section == at.section && at.offset >= a.replacement.offset && at.offset < a.replacement.offset+max(a.length, 1) {
			return a.site, a
		}
	}
	return at, nil
}

// alternativeAt returns the alternatives for the code at a place.
func (o *object) alternativeAt(at address) []*alternative {
	var list []*alternative
	for i := range o.alts {
		if o.alts[i].site == at {
			list = append(list, &o.alts[i])
		}
	}
	return list
}

// resolve finds the place that objtool means.
func (o *object) resolve(l Location) (address, bool) {
	if o.elf == nil {
		return address{}, false
	}
	if l.Section != "" {
		n := o.section(l.Section)
		return address{n, l.Address}, n != 0
	}
	for _, s := range o.symbols {
		if s.Name == l.Symbol && s.Name != "" && s.Section != elf.SHN_UNDEF && int(s.Section) < len(o.elf.Sections) {
			return address{int(s.Section), s.Value + l.Offset}, true
		}
	}
	return address{}, false
}

// symbolAt names the function symbol around a place.
func (o *object) symbolAt(at address) string {
	for _, s := range o.symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && int(s.Section) == at.section && at.offset >= s.Value && at.offset < s.Value+s.Size {
			return s.Name
		}
	}
	return ""
}

// fake is the address that DWARF is made to have for a place: every section of a
// relocatable file starts at 0, here each gets a 4 GiB of its own.
func (a address) fake() uint64 { return uint64(a.section)<<32 + a.offset }

// dwarf reads the debug information with relocations applied for fake addresses.
// debug/elf would resolve all sections to 0.
func (o *object) dwarf() (*dwarf.Data, error) {
	sections := map[string][]byte{}
	for i, s := range o.elf.Sections {
		name, ok := strings.CutPrefix(s.Name, ".debug_")
		if !ok || s.Type == elf.SHT_RELA || s.Type == elf.SHT_NOBITS {
			continue
		}
		data, err := s.Data()
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", s.Name, err)
		}
		data = slices.Clone(data)
		for _, r := range o.relocations(i) {
			o.apply(data, r)
		}
		if _, twice := sections[name]; !twice {
			sections[name] = data
		}
	}
	data, err := dwarf.New(sections["abbrev"], nil, nil, sections["info"], sections["line"], nil, sections["ranges"], sections["str"])
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists", "loclists"} {
		if sections[name] != nil {
			if err := data.AddSection(".debug_"+name, sections[name]); err != nil {
				return nil, err
			}
		}
	}
	return data, nil
}

// apply writes the value of a relocation into a debug section.
func (o *object) apply(data []byte, r relocation) {
	to, ok := o.target(r)
	if !ok {
		return
	}
	value := to.offset
	if o.elf.Sections[to.section].Flags&elf.SHF_ALLOC != 0 {
		value = to.fake()
	}
	switch r.kind() {
	case elf.R_X86_64_64:
		if r.Offset+8 <= uint64(len(data)) && r.Offset+8 > r.Offset {
			binary.LittleEndian.PutUint64(data[r.Offset:], value)
		}
	case elf.R_X86_64_32, elf.R_X86_64_32S:
		if r.Offset+4 <= uint64(len(data)) && r.Offset+4 > r.Offset {
			binary.LittleEndian.PutUint32(data[r.Offset:], uint32(value))
		}
	}
}
