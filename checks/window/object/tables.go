package object

import "debug/elf"

// exception is a row of __ex_table: a fault at an instruction goes on at fixup.
type exception struct {
	fixup loc
	kind  int // the arch's EX_TYPE_*; 0 where entries have none
}

// label is a row of __jump_table: a static branch.
type label struct {
	target loc
	key    string // the symbol of its static key
}

// readTables reads the sections that change the flow of control behind the
// instructions' back. All their fields are addresses with relocations.
func (o *object) readTables() {
	o.faults = map[loc][]exception{}
	o.labels = map[loc][]label{}
	o.bugs = map[loc]bool{}
	for i := range o.sections {
		switch o.sections[i].name {
		case "__ex_table":
			o.readExceptions(i)
		case "__jump_table":
			o.readLabels(i)
		case "__bug_table":
			o.readBugs(i)
		}
	}
}

// readExceptions: struct exception_table_entry is {insn, fixup}, with a third word
// {short type, data} or {int data} on arm64, riscv, s390 and x86
// (arch/*/include/asm/extable.h).
func (o *object) readExceptions(sec int) {
	d := o.sections[sec].data
	size := uint64(12)
	switch o.machine {
	case elf.EM_PPC, elf.EM_PPC64, elf.EM_ARM:
		size = 8
	}
	for off := uint64(0); off+size <= uint64(len(d)); off += size {
		insn, _, ok := o.pointer(sec, off)
		fixup, _, ok2 := o.pointer(sec, off+4)
		if !ok || !ok2 {
			continue
		}
		e := exception{fixup: fixup}
		if size == 12 {
			switch o.machine {
			case elf.EM_386, elf.EM_X86_64:
				e.kind = int(o.order.Uint32(d[off+8:])) // type, register, flags, immediate
			default:
				e.kind = int(o.order.Uint16(d[off+8:]))
			}
		}
		o.faults[insn] = append(o.faults[insn], e)
	}
}

// readLabels: struct jump_entry of include/linux/jump_label.h is {s32 code, s32 target,
// long key}, and {u32 code, u32 target, u32 key} on arm.
func (o *object) readLabels(sec int) {
	size := 8 + o.long()
	for off := uint64(0); off+size <= uint64(len(o.sections[sec].data)); off += size {
		code, _, ok := o.pointer(sec, off)
		target, _, ok2 := o.pointer(sec, off+4)
		if !ok || !ok2 {
			continue
		}
		l := label{target: target}
		if _, key, _ := o.pointer(sec, off+8); key != nil {
			l.key = key.name
		}
		o.labels[code] = append(o.labels[code], l)
	}
}

// readBugs: struct bug_entry of include/asm-generic/bug.h is {addr, file, u16 line,
// u16 flags}, without file and line if !DEBUG_BUGVERBOSE. bugs is true for a WARN, after
// which execution goes on: BUGFLAG_WARNING, bit 0 of the flags.
func (o *object) readBugs(sec int) {
	s := &o.sections[sec]
	step, flags := uint64(12), uint64(10)
	if x, ok := o.within(sec, 1, 5); !ok || x.off != 4 {
		step, flags = 8, 4
	}
	for off := uint64(0); off+flags+2 <= uint64(len(s.data)); off += step {
		if insn, _, ok := o.pointer(sec, off); ok {
			o.bugs[insn] = o.order.Uint16(s.data[off+flags:])&1 != 0
		}
	}
}
