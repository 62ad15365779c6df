package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxSize bounds the objects that are read.
const maxSize = 2 << 30

// The ways in which a file is no object that can be checked.
var (
	ErrNotObject = errors.New("not a relocatable ELF object")
	ErrBroken    = errors.New("broken ELF object")
	ErrTooLarge  = errors.New("object too large")
)

// loc is a place in a section: section index << 32 | offset.
type loc uint64

const nowhere = ^loc(0)

func at(sec int, off uint64) loc { return loc(sec)<<32 | loc(off&0xffffffff) }

func (l loc) sec() int           { return int(l >> 32) }
func (l loc) off() uint64        { return uint64(l & 0xffffffff) }
func (l loc) add(n int64) loc    { return at(l.sec(), uint64(int64(l.off())+n)) }
func (l loc) within(r span) bool { return l >= r.from && l < r.to }

// span is the code from..to of one section, to excluded.
type span struct{ from, to loc }

type section struct {
	name   string
	kind   elf.SectionType
	flags  elf.SectionFlag
	data   []byte // nil for NOBITS and for what needs decompressing (see elfFile.debug)
	relocs relocs
	head   *elf.Section
}

func (s *section) code() bool { return s.flags&elf.SHF_EXECINSTR != 0 && s.kind == elf.SHT_PROGBITS }

type symbol struct {
	name  string
	sec   int // 0 when undefined, common or absolute
	value uint64
	size  uint64
	kind  elf.SymType
	other byte
}

// elfFile is a relocatable object as read: sections by index, symbols by index.
// Section data is not copied; it points into the bytes that were given.
type elfFile struct {
	machine  elf.Machine
	class    elf.Class
	order    binary.ByteOrder
	flags    uint32 // e_flags
	sections []section
	symbols  []symbol // [0] is the null symbol
	byName   map[string]int

	abbrevTables map[uint64]*abbrevs // of DWARF, by offset
}

// readELF parses the tables of an object. It never panics, whatever the bytes are.
func readELF(data []byte) (f *elfFile, err error) {
	if int64(len(data)) > maxSize {
		return nil, ErrTooLarge
	}
	if !bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
		return nil, ErrNotObject
	}
	e, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	if e.Type != elf.ET_REL {
		return nil, fmt.Errorf("%w but %v", ErrNotObject, e.Type)
	}
	f = &elfFile{machine: e.Machine, class: e.Class, order: e.ByteOrder, byName: map[string]int{}}
	if e.Class == elf.ELFCLASS64 {
		f.flags = e.ByteOrder.Uint32(data[48:])
	} else {
		f.flags = e.ByteOrder.Uint32(data[36:])
	}
	f.sections = make([]section, len(e.Sections))
	for i, s := range e.Sections {
		t := &f.sections[i]
		*t = section{name: s.Name, kind: s.Type, flags: s.Flags, head: s}
		if _, ok := f.byName[s.Name]; !ok {
			f.byName[s.Name] = i
		}
		if s.Type == elf.SHT_NOBITS || s.Type == elf.SHT_NULL || s.Flags&elf.SHF_COMPRESSED != 0 {
			continue
		}
		if s.Offset > uint64(len(data)) || s.FileSize > uint64(len(data))-s.Offset {
			return nil, fmt.Errorf("%w: section %d (%s) lies outside of the file", ErrBroken, i, s.Name)
		}
		t.data = data[s.Offset : s.Offset+s.FileSize : s.Offset+s.FileSize]
	}
	symbols, err := e.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, fmt.Errorf("%w: symbols: %w", ErrBroken, err)
	}
	f.symbols = make([]symbol, 1, len(symbols)+1)
	for _, s := range symbols {
		sec := int(s.Section)
		if s.Section >= elf.SHN_LORESERVE || sec >= len(f.sections) {
			sec = 0
		}
		name := s.Name
		kind := elf.ST_TYPE(s.Info)
		if kind == elf.STT_SECTION && name == "" && sec != 0 {
			name = f.sections[sec].name
		}
		f.symbols = append(f.symbols, symbol{name, sec, s.Value, s.Size, kind, s.Other})
	}
	for i, s := range e.Sections {
		if s.Type != elf.SHT_REL && s.Type != elf.SHT_RELA {
			continue
		}
		if int(s.Info) >= len(f.sections) || s.Info == 0 {
			return nil, fmt.Errorf("%w: relocations of section %d, which is none", ErrBroken, s.Info)
		}
		f.sections[s.Info].relocs = newRelocs(f, f.sections[i].data, s.Type == elf.SHT_RELA)
	}
	return f, nil
}

// debug returns the contents of a debug section by name, decompressed.
func (f *elfFile) debug(name string) ([]byte, *section) {
	i, ok := f.byName[name]
	if !ok {
		return nil, nil
	}
	s := &f.sections[i]
	if s.data == nil && s.flags&elf.SHF_COMPRESSED != 0 && s.head.Size <= maxSize {
		// The size that a header claims is no reason to allocate it.
		if data, err := io.ReadAll(io.LimitReader(s.head.Open(), maxSize)); err == nil {
			s.data = data
		}
	}
	return s.data, s
}

// word reads size bytes (1, 2, 4 or 8) of a section as an unsigned number.
func (f *elfFile) word(data []byte, off uint64, size int) (uint64, bool) {
	if off > uint64(len(data)) || uint64(size) > uint64(len(data))-off {
		return 0, false
	}
	switch size {
	case 1:
		return uint64(data[off]), true
	case 2:
		return uint64(f.order.Uint16(data[off:])), true
	case 4:
		return uint64(f.order.Uint32(data[off:])), true
	}
	return f.order.Uint64(data[off:]), true
}

// long is the size of a long of the object's class.
func (f *elfFile) long() uint64 {
	if f.class == elf.ELFCLASS64 {
		return 8
	}
	return 4
}

// constant reports whether a section holds constants that compiled code reads: jump
// tables and numbers too large for an instruction.
func (s *section) constant() bool {
	return s.data != nil && s.flags&elf.SHF_ALLOC != 0 && strings.HasPrefix(s.name, ".rodata")
}
