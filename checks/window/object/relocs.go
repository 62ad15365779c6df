package object

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"sort"
)

// reloc is one relocation entry. addend is only valid where the section's entries
// carry one (RELA); for REL it stands in the section's data (see elfFile.addend).
type reloc struct {
	off    uint64
	kind   uint32
	sym    int
	addend int64
}

// relocs are the relocations of one section, in order of offset. They are decoded
// when looked at: most never are.
type relocs struct {
	raw    []byte
	order  binary.ByteOrder
	wide   bool // ELF64
	rela   bool
	size   int
	sorted []reloc // only when the raw ones are out of order
}

func newRelocs(f *elfFile, raw []byte, rela bool) relocs {
	r := relocs{raw: raw, order: f.order, wide: f.class == elf.ELFCLASS64, rela: rela}
	switch {
	case r.wide && rela:
		r.size = 24
	case r.wide:
		r.size = 16
	case rela:
		r.size = 12
	default:
		r.size = 8
	}
	last := uint64(0)
	for i := range r.len() {
		off := r.offset(i)
		if off < last {
			r.sorted = make([]reloc, r.len())
			for i := range r.sorted {
				r.sorted[i] = r.decode(i)
			}
			slices.SortStableFunc(r.sorted, func(a, b reloc) int {
				switch {
				case a.off < b.off:
					return -1
				case a.off > b.off:
					return 1
				}
				return 0
			})
			break
		}
		last = off
	}
	return r
}

func (r *relocs) len() int {
	if r.size == 0 {
		return 0
	}
	return len(r.raw) / r.size
}

func (r *relocs) offset(i int) uint64 {
	if r.sorted != nil {
		return r.sorted[i].off
	}
	if r.wide {
		return r.order.Uint64(r.raw[i*r.size:])
	}
	return uint64(r.order.Uint32(r.raw[i*r.size:]))
}

func (r *relocs) at(i int) reloc {
	if r.sorted != nil {
		return r.sorted[i]
	}
	return r.decode(i)
}

func (r *relocs) decode(i int) reloc {
	b := r.raw[i*r.size:]
	if r.wide {
		info := r.order.Uint64(b[8:])
		x := reloc{off: r.order.Uint64(b), kind: uint32(info), sym: int(info >> 32)}
		if r.rela {
			x.addend = int64(r.order.Uint64(b[16:]))
		}
		return x
	}
	info := r.order.Uint32(b[4:])
	x := reloc{off: uint64(r.order.Uint32(b)), kind: info & 0xff, sym: int(info >> 8)}
	if r.rela {
		x.addend = int64(int32(r.order.Uint32(b[8:])))
	}
	return x
}

// find is the index of the first relocation at or after off.
func (r *relocs) find(off uint64) int {
	return sort.Search(r.len(), func(i int) bool { return r.offset(i) >= off })
}

// within returns the first relocation of sec in off..end.
func (f *elfFile) within(sec int, off, end uint64) (reloc, bool) {
	r := &f.sections[sec].relocs
	if i := r.find(off); i < r.len() {
		if x := r.at(i); x.off < end && x.sym < len(f.symbols) {
			return x, true
		}
	}
	return reloc{}, false
}

// addend is what x adds to its symbol, for a data field.
func (f *elfFile) addend(sec int, x reloc) int64 {
	if f.sections[sec].relocs.rela {
		return x.addend
	}
	v, _ := f.word(f.sections[sec].data, x.off, 4)
	return int64(int32(v))
}

// pointer resolves the data field at off that a relocation fills with an address,
// absolute or relative to the field: what it points at, and the symbol.
func (f *elfFile) pointer(sec int, off uint64) (to loc, sym *symbol, ok bool) {
	x, ok := f.within(sec, off, off+1)
	if !ok {
		return nowhere, nil, false
	}
	s := &f.symbols[x.sym]
	if s.sec == 0 {
		return nowhere, s, false
	}
	to, ok = f.place(s, f.addend(sec, x))
	return to, s, ok
}

// place is symbol + addend, if that lies in or right behind its section.
func (f *elfFile) place(s *symbol, addend int64) (loc, bool) {
	off := int64(s.value) + addend
	if s.sec == 0 || off < 0 || uint64(off) > uint64(len(f.sections[s.sec].data)) {
		return nowhere, false
	}
	return at(s.sec, uint64(off)), true
}

// dataReloc says how a relocation type changes the bytes of a debug section.
type dataReloc struct {
	width int  // bytes
	how   byte // '=' set, '+' add, '-' subtract, '6' the low six bits set, 's' subtract from the low six bits
}

// dataRelocs are the types that DWARF sections hold, by machine: value S + A of the
// psABI supplement of each. Numbers as in include/uapi/linux/elf*.h and the psABIs.
var dataRelocs = map[elf.Machine]map[uint32]dataReloc{
	elf.EM_386:     {uint32(elf.R_386_32): {4, '='}},
	elf.EM_X86_64:  {uint32(elf.R_X86_64_64): {8, '='}, uint32(elf.R_X86_64_32): {4, '='}, uint32(elf.R_X86_64_32S): {4, '='}},
	elf.EM_ARM:     {uint32(elf.R_ARM_ABS32): {4, '='}},
	elf.EM_AARCH64: {uint32(elf.R_AARCH64_ABS64): {8, '='}, uint32(elf.R_AARCH64_ABS32): {4, '='}},
	elf.EM_PPC:     {uint32(elf.R_PPC_ADDR32): {4, '='}},
	elf.EM_PPC64:   {uint32(elf.R_PPC64_ADDR64): {8, '='}, uint32(elf.R_PPC64_ADDR32): {4, '='}},
	elf.EM_S390:    {uint32(elf.R_390_64): {8, '='}, uint32(elf.R_390_32): {4, '='}},
	elf.EM_RISCV: {
		uint32(elf.R_RISCV_32): {4, '='}, uint32(elf.R_RISCV_64): {8, '='},
		uint32(elf.R_RISCV_ADD8): {1, '+'}, uint32(elf.R_RISCV_ADD16): {2, '+'},
		uint32(elf.R_RISCV_ADD32): {4, '+'}, uint32(elf.R_RISCV_ADD64): {8, '+'},
		uint32(elf.R_RISCV_SUB8): {1, '-'}, uint32(elf.R_RISCV_SUB16): {2, '-'},
		uint32(elf.R_RISCV_SUB32): {4, '-'}, uint32(elf.R_RISCV_SUB64): {8, '-'},
		uint32(elf.R_RISCV_SET6): {1, '6'}, uint32(elf.R_RISCV_SUB6): {1, 's'},
		uint32(elf.R_RISCV_SET8): {1, '='}, uint32(elf.R_RISCV_SET16): {2, '='}, uint32(elf.R_RISCV_SET32): {4, '='},
	},
}

// relocated reads the size bytes at off of a debug section with its relocations
// applied. Addresses of code come out as loc numbers (section << 32 | offset, the
// section dropped when size is 4: see code).
func (f *elfFile) relocated(s *section, off uint64, size int) uint64 {
	v, _ := f.word(s.data, off, size)
	r := &s.relocs
	for i := r.find(off); i < r.len(); i++ {
		x := r.at(i)
		if x.off != off {
			break
		}
		how, ok := dataRelocs[f.machine][x.kind]
		if !ok || x.sym >= len(f.symbols) {
			continue
		}
		sym := &f.symbols[x.sym]
		a := uint64(x.addend)
		if !r.rela {
			a = v
		}
		value := sym.value + a
		if sym.sec != 0 && f.sections[sym.sec].flags&elf.SHF_ALLOC != 0 {
			value += uint64(at(sym.sec, 0))
		}
		switch how.how {
		case '=':
			v = value
		case '+':
			v += value
		case '-':
			v -= value
		case '6':
			v = v&0xc0 | value&0x3f
		case 's':
			v = v&0xc0 | (v-value)&0x3f
		}
		if how.how != '=' && how.width < 8 { // differences stay in their field
			v &= 1<<(8*how.width) - 1
		}
	}
	return v
}
