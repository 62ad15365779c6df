package object

import (
	"bytes"
	"debug/elf"
	"sort"

	"uabot/checks/window/object/isa"
)

// alternative is code that a running kernel may put in the place of the original.
type alternative struct {
	replacement span // empty: nothing is put there
	end         loc  // where execution goes on after it
	only        bool // the original is never executed with the window feature on
}

// The features that windows depend on. A checked kernel has them: with the feature
// off there are no windows, and a mixture of the two cannot happen.
const (
	x86SMAP    = 9*32 + 20 // X86_FEATURE_SMAP, arch/x86/include/asm/cpufeatures.h
	x86AltNot  = 1 << 0    // ALT_FLAG_NOT, arch/x86/include/asm/alternative.h
	powerKUAP  = 0x200     // MMU_FTR_KUAP, arch/powerpc/include/asm/mmu.h
	arm64CapCB = 0x8000    // ARM64_CB_BIT, arch/arm64/include/asm/alternative-macros.h
)

// readAlternatives fills alternatives, replacements and sites.
func (o *object) readAlternatives() {
	o.alternatives = map[loc][]alternative{}
	o.resume = map[loc]loc{}
	for i := range o.sections {
		switch name := o.sections[i].name; {
		case name == ".altinstructions" && (o.machine == elf.EM_386 || o.machine == elf.EM_X86_64):
			o.readX86Alternatives(i)
		case name == ".altinstructions" && o.machine == elf.EM_AARCH64:
			o.readARM64Alternatives(i)
		case name == ".alternative" && o.machine == elf.EM_RISCV:
			o.readRISCVAlternatives(i)
		case name == "__mmu_ftr_fixup", name == "__ftr_fixup", name == "__fw_ftr_fixup", name == "__lwsync_fixup":
			if o.machine == elf.EM_PPC || o.machine == elf.EM_PPC64 {
				o.readPowerFixups(i)
			}
		}
	}
	sort.Slice(o.replacements, func(i, j int) bool { return o.replacements[i].from < o.replacements[j].from })
	sort.Slice(o.kuap, func(i, j int) bool { return o.kuap[i].from < o.kuap[j].from })
}

func (o *object) addAlternative(site loc, a alternative) {
	o.alternatives[site] = append(o.alternatives[site], a)
	if a.replacement.from < a.replacement.to {
		o.resume[a.replacement.to] = a.end
		o.replacements = append(o.replacements, replacement{a.replacement, site})
	}
}

// replacement ties replacement code to the site that it is for.
type replacement struct {
	span
	site loc
}

// origin maps a place in replacement code to the site that it replaces, others to
// themselves: replacement code has no lines of its own.
func (o *object) origin(l loc) loc {
	i := sort.Search(len(o.replacements), func(i int) bool { return o.replacements[i].from > l })
	if i > 0 && l.within(o.replacements[i-1].span) {
		return o.replacements[i-1].site
	}
	return l
}

func (o *object) replaced(l loc) bool { return o.origin(l) != l }

// readX86Alternatives: struct alt_instr of arch/x86/include/asm/alternative.h, packed:
// {s32 instr, s32 repl, u16 cpuid, u16 flags, u8 instrlen, u8 replacementlen} since
// 6.3, before that without flags. The distance of the relocations tells.
func (o *object) readX86Alternatives(sec int) {
	s := &o.sections[sec]
	size := uint64(14)
	if len(s.data) == 12 || s.relocs.len() > 2 && s.relocs.offset(2) == 12 {
		size = 12
	}
	for off := uint64(0); off+size <= uint64(len(s.data)); off += size {
		site, _, ok := o.pointer(sec, off)
		code, _, ok2 := o.pointer(sec, off+4)
		if !ok || !ok2 {
			continue
		}
		feature, flags := o.order.Uint16(s.data[off+8:]), uint16(0)
		if size == 14 {
			flags = o.order.Uint16(s.data[off+10:])
		}
		length, with := int64(s.data[off+size-2]), int64(s.data[off+size-1])
		a := alternative{replacement: span{code, code.add(with)}, end: site.add(length)}
		switch {
		case feature == x86SMAP && flags&x86AltNot != 0, feature != x86SMAP && o.hasStac(a.replacement):
			continue // lass_stac() lets the kernel itself at low addresses: no user access
		case feature == x86SMAP:
			a.only = true
		}
		o.addAlternative(site, a)
	}
}

// hasStac reports whether code holds stac or clac.
func (o *object) hasStac(s span) bool {
	data := o.sections[s.from.sec()].data
	if s.to.off() > uint64(len(data)) {
		return false
	}
	code := data[s.from.off():s.to.off()]
	return bytes.Contains(code, []byte{0x0f, 0x01, 0xca}) || bytes.Contains(code, []byte{0x0f, 0x01, 0xcb})
}

// readARM64Alternatives: struct alt_instr of arch/arm64/include/asm/alternative.h is
// {s32 orig, s32 alt, u16 cpucap, u8 orig_len, u8 alt_len}. A callback capability has a
// function instead of code; the one that matters to flow, alt_cb_patch_nops, removes
// the original.
func (o *object) readARM64Alternatives(sec int) {
	s := &o.sections[sec]
	for off := uint64(0); off+12 <= uint64(len(s.data)); off += 12 {
		site, _, ok := o.pointer(sec, off)
		code, _, ok2 := o.pointer(sec, off+4)
		if !ok {
			continue
		}
		capability := o.order.Uint16(s.data[off+8:])
		length, with := int64(s.data[off+10]), int64(s.data[off+11])
		a := alternative{end: site.add(length)}
		switch {
		case capability&arm64CapCB != 0 && length != 4, !ok2 && capability&arm64CapCB == 0:
			continue
		case capability&arm64CapCB == 0:
			a.replacement = span{code, code.add(with)}
		}
		o.pending = append(o.pending, pendingAlternative{site, a, int(capability &^ arm64CapCB)})
	}
	// HAS_PAN on means no windows in the code: the original stays.
	pan := o.panCapability()
	for _, p := range o.pending {
		if p.capability != pan {
			o.addAlternative(p.site, p.alternative)
		}
	}
}

// pendingAlternative is one whose capability number has yet to get a name.
type pendingAlternative struct {
	site loc
	alternative
	capability int
}

// panCapability finds out which number this kernel gave ARM64_HAS_PAN: they are
// generated from arch/arm64/tools/cpucaps at build time. Every software window is
// entered through alternative_has_cap_unlikely(ARM64_HAS_PAN), a nop that becomes a
// branch around the write of TTBR0: the capability with the most such sites is it.
func (o *object) panCapability() int {
	count := map[int]int{}
	for _, p := range o.pending {
		in := o.insn(p.replacement.from)
		if p.replacement.from == p.replacement.to || in == nil {
			continue
		}
		if in.Window == isa.Write && in.Control == isa.PAN {
			count[p.capability] += 1000 // nothing else is replaced by msr pan
			continue
		}
		if in.Flow != isa.Jump {
			continue
		}
		if to, external, ok := o.target(p.replacement.from, in); ok && external == "" &&
			o.awayFromTTBR0(p.end)+aroundWrite < o.awayFromTTBR0(to) {
			count[p.capability]++
		}
	}
	best := -1
	for capability, n := range count {
		if best < 0 || n > count[best] || n == count[best] && capability < best {
			best = capability
		}
	}
	return best
}

// Another capability decides how interrupts are masked, a few instructions before the
// write: both of its ways lead there, one some instructions longer than the other.
const (
	aroundWrite = 12
	farAway     = 96
)

// awayFromTTBR0 counts the instructions from l to a write of TTBR0, to farAway.
func (o *object) awayFromTTBR0(l loc) int {
	level, seen := []loc{l}, map[loc]bool{l: true}
	for distance := 0; distance < farAway && len(level) > 0; distance++ {
		var next []loc
		add := func(l loc) {
			if !seen[l] {
				seen[l] = true
				next = append(next, l)
			}
		}
		for _, l := range level {
			in := o.insn(l)
			if in == nil {
				continue
			}
			if in.Window == isa.Write && in.Control == isa.TTBR0 {
				return distance
			}
			switch in.Flow {
			case isa.Next, isa.Call, isa.CallIndirect:
				add(l.add(int64(in.Len)))
			case isa.Branch:
				add(l.add(int64(in.Len)))
				fallthrough
			case isa.Jump:
				if to, external, ok := o.target(l, in); ok && external == "" {
					add(to)
				}
			}
		}
		level = next
	}
	return 2 * farAway
}

// readRISCVAlternatives: struct alt_entry of arch/riscv/include/asm/alternative.h is
// {s32 old, s32 alt, u16 vendor, u16 alt_len, u32 patch_id}.
func (o *object) readRISCVAlternatives(sec int) {
	s := &o.sections[sec]
	for off := uint64(0); off+16 <= uint64(len(s.data)); off += 16 {
		site, _, ok := o.pointer(sec, off)
		code, _, ok2 := o.pointer(sec, off+4)
		if !ok || !ok2 {
			continue
		}
		length := int64(o.order.Uint16(s.data[off+10:]))
		o.addAlternative(site, alternative{replacement: span{code, code.add(length)}, end: site.add(length)})
	}
}

// readPowerFixups: struct fixup_entry of arch/powerpc/include/asm/feature-fixups.h is
// {long mask, value, start, end, alt_start, alt_end}; the four are relative to the
// entry, not to their field. The original is kept where (features & mask) == value.
func (o *object) readPowerFixups(sec int) {
	s := &o.sections[sec]
	long := o.long()
	if s.name == "__lwsync_fixup" {
		return // one barrier for another
	}
	field := func(entry uint64, i uint64) (loc, bool) {
		l, _, ok := o.pointer(sec, entry+i*long)
		return l.add(-int64(i * long)), ok
	}
	for off := uint64(0); off+6*long <= uint64(len(s.data)); off += 6 * long {
		mask, _ := o.word(s.data, off, int(long))
		value, _ := o.word(s.data, off+long, int(long))
		from, ok := field(off, 2)
		to, ok2 := field(off, 3)
		if !ok || !ok2 {
			continue
		}
		a := alternative{end: to}
		if code, ok := field(off, 4); ok {
			if end, ok := field(off, 5); ok && end > code && end.sec() == code.sec() {
				a.replacement = span{code, end}
			}
		}
		if s.name == "__mmu_ftr_fixup" && mask&powerKUAP != 0 {
			o.kuap = append(o.kuap, span{from, to})
			if value&powerKUAP != 0 {
				continue
			}
			a.only = true
		}
		o.addAlternative(from, a)
	}
}

// inKUAP reports whether l is code that the kernel keeps for machines with KUAP only:
// there the user access API writes its register. Other writes of it belong to the
// switching of contexts.
func (o *object) inKUAP(l loc) bool {
	i := sort.Search(len(o.kuap), func(i int) bool { return o.kuap[i].from > l })
	return i > 0 && l.within(o.kuap[i-1])
}
