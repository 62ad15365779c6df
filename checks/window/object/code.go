package object

import (
	"debug/elf"
	"sort"

	"uabot/checks/window/object/isa"
)

// stretch is a decoded piece of code.
type stretch struct {
	from  loc
	step  uint
	index []int32 // by (offset - from) / step: index in insns + 1, 0 inside of one
	insns []isa.Insn
	locs  []loc
}

func (s *stretch) at(l loc) *isa.Insn {
	i := uint64(l-s.from) / uint64(s.step)
	if l < s.from || i >= uint64(len(s.index)) || s.index[i] == 0 || uint64(l-s.from)%uint64(s.step) != 0 {
		return nil
	}
	return &s.insns[s.index[i]-1]
}

// insn is the instruction at l, nil where there is none. Functions are decoded as a
// whole when first looked at; code outside of any (replacements, fixups) bit by bit.
func (o *object) insn(l loc) *isa.Insn {
	if f := o.functionAt(l); f != nil {
		return o.stretch(f).at(l)
	}
	if in, ok := o.loose[l]; ok {
		return in
	}
	in := new(isa.Insn)
	if l.sec() >= len(o.sections) || l.off() >= uint64(len(o.sections[l.sec()].data)) || o.isData(l) || !o.decode(l, o.sections[l.sec()].data, in) {
		in = nil
	}
	o.loose[l] = in
	return in
}

// stretch decodes f, as far as the next function.
func (o *object) stretch(f *function) *stretch {
	if s := o.decoded[f]; s != nil {
		return s
	}
	to := f.code.to
	list := o.functions[f.code.from.sec()]
	if i := sort.Search(len(list), func(i int) bool { return list[i].code.from > f.code.from }); i < len(list) {
		to = min(to, list[i].code.from)
	}
	s := &stretch{from: f.code.from, step: o.arch.step}
	size := uint(to - f.code.from)
	s.index = make([]int32, (size+s.step-1)/s.step)
	s.insns = make([]isa.Insn, 0, size/4)
	s.locs = make([]loc, 0, size/4)
	data := o.sections[f.code.from.sec()].data[:to.off()]
	for l := f.code.from; l < to; {
		if o.isData(l) {
			l += loc(s.step)
			continue
		}
		s.insns = append(s.insns, isa.Insn{})
		in := &s.insns[len(s.insns)-1]
		if !o.decode(l, data, in) {
			s.insns = s.insns[:len(s.insns)-1]
			l += loc(max(uint(in.Len), s.step))
			continue
		}
		s.locs = append(s.locs, l)
		s.index[uint(l-s.from)/s.step] = int32(len(s.insns))
		l += loc(in.Len)
	}
	o.decoded[f] = s
	return s
}

// decode decodes the instruction at l of data, its section cut where code ends.
func (o *object) decode(l loc, data []byte, in *isa.Insn) bool {
	d := o.decoder
	if o.thumb != nil && o.isThumb(l) {
		d = o.thumb
	}
	if !d.Decode(data[l.off():], in) || in.Len == 0 {
		return false
	}
	if o.machine == elf.EM_RISCV {
		o.foldCall(l, data, in)
	}
	return true
}

// foldCall makes one instruction of auipc and the jalr behind it where their
// relocation says that they are a call (R_RISCV_CALL, R_RISCV_CALL_PLT; riscv psABI,
// "Procedure Calls"): a tail call is the same with the link register unused.
func (o *object) foldCall(l loc, data []byte, in *isa.Insn) {
	if in.NumEffects != 1 || in.Effects[0].Op != isa.Address || in.Len != 4 || l.off()+8 > uint64(len(data)) {
		return
	}
	x, ok := o.within(l.sec(), l.off(), l.off()+1)
	if !ok || x.kind != uint32(elf.R_RISCV_CALL) && x.kind != uint32(elf.R_RISCV_CALL_PLT) {
		return
	}
	var jalr isa.Insn
	if !o.decoder.Decode(data[l.off()+4:], &jalr) {
		return
	}
	switch jalr.Flow {
	case isa.CallIndirect:
		in.Flow = isa.Call
	case isa.JumpIndirect, isa.Return:
		in.Flow = isa.Jump
	default:
		return
	}
	in.Len, in.NumEffects = 8, 0
	in.Written |= jalr.Written
}

// mapping is where a mapping symbol ($a, $t, $x, $d; ELF for the Arm Architecture,
// section 5.5.5, and the same for arm64 and riscv) changes what the bytes mean.
type mapping struct {
	from loc
	what byte
}

func (o *object) readMappings() {
	switch o.machine {
	case elf.EM_ARM, elf.EM_AARCH64, elf.EM_RISCV:
	default:
		return
	}
	for i := range o.symbols {
		s := &o.symbols[i]
		if len(s.name) < 2 || s.name[0] != '$' || s.sec == 0 {
			continue
		}
		switch s.name[1] {
		case 'a', 't', 'x', 'd':
			o.mappings = append(o.mappings, mapping{at(s.sec, s.value), s.name[1]})
		}
	}
	sort.SliceStable(o.mappings, func(i, j int) bool { return o.mappings[i].from < o.mappings[j].from })
}

// meaning is the mapping symbol that governs l, 0 if none.
func (o *object) meaning(l loc) byte {
	i := sort.Search(len(o.mappings), func(i int) bool { return o.mappings[i].from > l })
	if i == 0 || o.mappings[i-1].from.sec() != l.sec() {
		return 0
	}
	return o.mappings[i-1].what
}

func (o *object) isData(l loc) bool  { return o.mappings != nil && o.meaning(l) == 'd' }
func (o *object) isThumb(l loc) bool { return o.meaning(l) == 't' }

// target is where a direct branch or call at l goes: a place in this object, or the
// name of a symbol outside of it.
func (o *object) target(l loc, in *isa.Insn) (to loc, external string, ok bool) {
	x, found := o.branchReloc(l, in)
	if !found {
		if in.HasTarget {
			return l.add(in.Target), "", true
		}
		return nowhere, "", false
	}
	s := &o.symbols[x.sym]
	if s.sec == 0 {
		return nowhere, s.name, s.name != ""
	}
	addend := x.addend
	switch o.machine {
	case elf.EM_X86_64:
		addend += int64(l.off()) + int64(in.Len) - int64(x.off)
	case elf.EM_386:
		addend = o.addend(l.sec(), x) + int64(l.off()) + int64(in.Len) - int64(x.off)
	case elf.EM_ARM: // the addend is in the instruction, relative to itself
		addend = in.Target
	}
	to, ok = o.place(s, addend)
	if ok && o.sections[to.sec()].name == ".opd" {
		to, ok = o.descriptor(to)
	}
	return to, "", ok
}

// branchReloc is the relocation on an instruction's target, if any.
func (o *object) branchReloc(l loc, in *isa.Insn) (reloc, bool) {
	r := &o.sections[l.sec()].relocs
	for i := r.find(l.off()); i < r.len(); i++ {
		x := r.at(i)
		if x.off >= l.off()+uint64(in.Len) {
			break
		}
		if x.sym != 0 && x.sym < len(o.symbols) && !(o.machine == elf.EM_RISCV && x.kind == uint32(elf.R_RISCV_RELAX)) {
			return x, true
		}
	}
	return reloc{}, false
}
