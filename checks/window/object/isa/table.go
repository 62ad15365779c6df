package isa

import "fmt"

// row is one line of a decoding table: an instruction, or a class of them that are
// alike for our purpose.
type row struct {
	// bits is the encoding as the manual draws it, most significant bit first: 0 and 1
	// are fixed, any other mark is a field or "don't care", spaces only group. A row
	// of 16 marks stands for a 16-bit instruction.
	bits string
	name string // the manual's mnemonic, or what the manual calls the class
	do   func(in *Insn, w uint32)
}

// match is a row made ready.
type match struct {
	mask, value uint32
	do          func(in *Insn, w uint32)
}

// table finds the first row that matches. Its buckets are chosen by the bits of
// an instruction that tell most of its rows apart.
type table struct {
	hi, hiBits uint // the key: hiBits bits from bit hi on ...
	lo, loBits uint // ... followed by loBits bits from bit lo on
	buckets    [][]match
}

// newTable prepares rows. A row that is not as long as width bits is a mistake in
// the table, and panics.
func newTable(width int, hi, hiBits, lo, loBits uint, rows []row) *table {
	t := &table{hi: hi, hiBits: hiBits, lo: lo, loBits: loBits, buckets: make([][]match, 1<<(hiBits+loBits))}
	matches := make([]match, len(rows))
	sizes := make([]int, len(t.buckets))
	total := 0
	for i, r := range rows {
		matches[i] = r.match(width)
		t.eachKey(&matches[i], func(key uint32) { sizes[key]++; total++ })
	}
	all := make([]match, total) // one array for all buckets: they lie side by side
	for key, n := range sizes {
		t.buckets[key], all = all[:0:n], all[n:]
	}
	for i := range matches {
		t.eachKey(&matches[i], func(key uint32) { t.buckets[key] = append(t.buckets[key], matches[i]) })
	}
	return t
}

// match reads the marks.
func (r *row) match(width int) match {
	m := match{do: r.do}
	n := 0
	for _, c := range r.bits {
		if c == ' ' {
			continue
		}
		m.mask, m.value = m.mask<<1, m.value<<1
		switch c {
		case '0':
			m.mask |= 1
		case '1':
			m.mask, m.value = m.mask|1, m.value|1
		}
		n++
	}
	if n != width {
		panic(fmt.Sprintf("isa: row %q (%s) has %d bits, not %d", r.bits, r.name, n, width))
	}
	return m
}

// key is the bucket of w.
func (t *table) key(w uint32) uint32 {
	return w>>t.hi&(1<<t.hiBits-1)<<t.loBits | w>>t.lo&(1<<t.loBits-1)
}

// eachKey calls f with each bucket that m has instructions in.
func (t *table) eachKey(m *match, f func(key uint32)) {
	fixed := t.key(m.value)
	free := ^t.key(m.mask) & uint32(len(t.buckets)-1)
	for sub := free; ; sub = (sub - 1) & free { // all subsets of the free bits
		f(fixed | sub)
		if sub == 0 {
			return
		}
	}
}

// decode runs the first row that matches w, and says whether there is one.
func (t *table) decode(in *Insn, w uint32) bool {
	bucket := t.buckets[t.key(w)]
	for i := range bucket {
		m := &bucket[i]
		if w&m.mask == m.value {
			if m.do != nil {
				m.do(in, w)
			}
			return true
		}
	}
	return false
}

// reset makes in ready for the next instruction.
func (in *Insn) reset() {
	*in = Insn{Source: NoReg}
}

// writes adds r to the registers that the instruction changes.
func (in *Insn) writes(r Reg) {
	if r >= 0 && r < 64 {
		in.Written |= 1 << uint(r)
	}
}

// effect adds e, and its Dst to the written registers.
func (in *Insn) effect(e Effect) {
	if int(in.NumEffects) < len(in.Effects) {
		in.Effects[in.NumEffects] = e
		in.NumEffects++
	}
	in.writes(e.Dst)
}

// set adds the effect dst = a op imm.
func (in *Insn) set(op Op, dst, a Reg, imm int64) {
	in.effect(Effect{Op: op, Dst: dst, A: a, B: NoReg, Imm: imm})
}

// set3 adds the effect dst = a op b.
func (in *Insn) set3(op Op, dst, a, b Reg) {
	in.effect(Effect{Op: op, Dst: dst, A: a, B: b})
}

// jump sets the flow to a known displacement from the instruction.
func (in *Insn) jump(f Flow, target int64) {
	in.Flow, in.HasTarget, in.Target = f, true, target
}

// signed widens the n low bits of v.
func signed(v uint32, n uint) int64 {
	return int64(int32(v<<(32-n)) >> (32 - n))
}

// wholeWords widens what is Lost to whole slots: a slot of which a part is overwritten
// is no more.
func (in *Insn) wholeWords(word int64) {
	if in.Memory&Writes == 0 {
		return
	}
	for i := range in.Effects[:in.NumEffects] {
		if e := &in.Effects[i]; e.Op == Lost {
			end := e.Imm + int64(e.B)
			e.Imm &^= word - 1
			e.B = Reg((end+word-1)&^(word-1) - e.Imm)
		}
	}
}
