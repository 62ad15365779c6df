package isa

import "encoding/binary"

// x86 decodes the instructions of Intel's SDM volume 2, 64 or 32 bit mode.
//
// Registers: none are reported, Written is 0 and there are no effects: windows are
// opened and closed without a value. The bytes of an indirect jump through a table
// hold a relocation to the table.
//
// Windows: stac Open, clac Close (Control NoControl); pushf Save, popf Restore, which
// matter in the replacement of smap_save() and smap_restore() only.
//
// Flow: ret is Return (also far ret); jmp to a thunk is an ordinary Jump with a
// relocation at offset 1 (e9) or 2 (0f 8x) of the instruction; ud2, ud1, ud0, int3 and int1
// are Trap; iret, sysret, sysexit, uiret, erets, eretu and rsm are Stop; int n, syscall and hlt
// (which an interrupt ends) are Next; xbegin is a Branch.
type x86 struct{ long bool }

// X86 returns the decoder for 64 or 32 bit code.
func X86(bits int) Decoder { return &x86{long: bits == 64} }

// x86State is what has been read of one instruction.
type x86State struct {
	code      []byte
	at        int
	long      bool
	w         bool // REX.W, VEX.W: 64-bit operands
	size16    bool // 66
	address   bool // 67
	repeat    byte // f2 or f3, the last one
	immediate int  // where the immediate starts
}

func (d *x86) Decode(code []byte, in *Insn) bool {
	in.reset()
	in.Len = uint8(min(len(code), 1))
	s := x86State{code: code[:min(len(code), 15)], long: d.long}
	if !s.decode(in) || s.at > len(s.code) {
		*in = Insn{Source: NoReg, Len: uint8(min(len(code), 1))}
		return false
	}
	in.Len = uint8(s.at)
	if in.HasTarget {
		in.Target += int64(s.at)
	}
	return true
}

// peek is the byte i after the current one, 0 beyond the end, which s.at then shows.
func (s *x86State) peek(i int) byte {
	if s.at+i < len(s.code) {
		return s.code[s.at+i]
	}
	return 0
}

// decode reads prefixes and the opcode: SDM volume 2, section 2.1.
func (s *x86State) decode(in *Insn) bool {
	for {
		op := s.peek(0)
		s.at++
		if s.at > len(s.code) {
			return false
		}
		switch {
		case op == 0x66:
			s.size16, s.w = true, false
		case op == 0x67:
			s.address, s.w = true, false
		case op == 0xf2 || op == 0xf3:
			s.repeat, s.w = op, false
		case op == 0xf0, op == 0x2e, op == 0x36, op == 0x3e, op == 0x26, op == 0x64, op == 0x65:
			s.w = false
		case s.long && op&0xf0 == 0x40: // REX, if nothing but the opcode follows
			s.w = op&8 != 0
		case op == 0x0f:
			return s.twoBytes(in)
		case (op == 0xc5 || op == 0xc4 || op == 0x62) && (s.long || s.peek(0) >= 0xc0):
			return s.vex(in, op)
		case op == 0x8f && s.peek(0)&0x1f >= 8:
			return s.xop(in)
		default:
			return s.oneByte(in, op)
		}
	}
}

// oneByte is table A-2 of SDM volume 2.
func (s *x86State) oneByte(in *Insn, op byte) bool {
	if s.long && x86Invalid64[op>>5]>>(op&31)&1 != 0 {
		return false
	}
	modrm := s.peek(0)
	reg := modrm >> 3 & 7
	if !s.operands(in, x86Forms[op], x86Memory[op]) {
		return false
	}
	switch {
	case op&0xf0 == 0x70:
		s.branch(in, Branch)
		in.When = x86When[op&15]
	case op >= 0xe0 && op <= 0xe3:
		s.branch(in, Branch)
	case op == 0xe8:
		s.branch(in, Call)
	case op == 0xe9, op == 0xeb:
		s.branch(in, Jump)
	case op == 0xc2, op == 0xc3, op == 0xca, op == 0xcb:
		in.Flow = Return
	case op == 0xcc, op == 0xf1:
		in.Flow = Trap
	case op == 0xcf:
		in.Flow = Stop
	case op == 0x9a:
		in.Flow = Call
	case op == 0xea:
		in.Flow = Jump
	case op == 0x9c:
		in.Window = Save
	case op == 0x9d:
		in.Window = Restore
	case op == 0xc7 && modrm == 0xf8: // xbegin
		s.branch(in, Branch)
	case op == 0xff: // group 5
		switch reg {
		case 2, 3:
			in.Flow = CallIndirect
		case 4, 5:
			in.Flow = JumpIndirect
		case 7:
			return false
		}
		if reg >= 2 {
			in.Memory &= Reads
		}
	case op&0xfe == 0xf6 && reg&6 != 2, op&0xfc == 0x80 && reg == 7:
		in.Memory &= Reads // test, mul, div; cmp
	}
	return true
}

// twoBytes is table A-3, and the maps 0f 38 and 0f 3a.
func (s *x86State) twoBytes(in *Insn) bool {
	op := s.peek(0)
	s.at++
	switch op {
	case 0x38:
		op = s.peek(0)
		s.at++
		access := byte('r')
		if op == 0xf1 && s.repeat != 0xf2 || op == 0xf5 || op == 0xf6 && s.repeat == 0 || op == 0xf9 { // movbe, wruss, wrss, movdiri
			access = 'w'
		}
		return s.operands(in, 'M', access)
	case 0x3a:
		s.at++
		return s.operands(in, 'B', 'r')
	}
	modrm := s.peek(0)
	form := x86Forms0F[op]
	if op == 0x78 && (s.size16 || s.repeat == 0xf2) { // extrq, insertq of SSE4a
		form = 'E'
	}
	if !s.operands(in, form, x86Memory0F[op]) {
		return false
	}
	switch {
	case op == 0x01 && s.repeat == 0 && !s.size16 && modrm == 0xca:
		in.Window = Close // clac
	case op == 0x01 && s.repeat == 0 && !s.size16 && modrm == 0xcb:
		in.Window = Open // stac
	case op == 0x01 && s.repeat != 0 && modrm == 0xca, op == 0x01 && s.repeat == 0xf3 && modrm == 0xec:
		in.Flow = Stop // erets, eretu; uiret
	case op&0xf0 == 0x80:
		s.branch(in, Branch)
		in.When = x86When[op&15]
	case op == 0x0b, op == 0xb9, op == 0xff:
		in.Flow = Trap
	case op == 0x07, op == 0x35, op == 0xaa:
		in.Flow = Stop
	case op == 0x7e && s.repeat == 0xf3: // movq to a vector register
		in.Memory &^= Writes
		if modrm < 0xc0 {
			in.Memory = Reads
		}
	}
	return true
}

// vex reads VEX (SDM volume 2, 2.3.5) and EVEX (2.7) prefixes. What follows has the
// operands of the legacy maps, a ModRM byte always but for vzeroupper.
func (s *x86State) vex(in *Insn, op byte) bool {
	space := byte(1)
	switch op {
	case 0xc5:
		s.at++
	case 0xc4:
		space = s.peek(0) & 0x1f
		s.at += 2
	case 0x62:
		space = s.peek(0) & 7
		s.at += 3
	}
	op = s.peek(0)
	s.at++
	switch {
	case space == 1 && op == 0x77: // vzeroupper, vzeroall
		return s.operands(in, '.', '.')
	case space == 1 && x86Forms0F[op] == 'B' && op != 0xa4 && op != 0xac && op != 0xba && op != 0x0f:
		return s.operands(in, 'B', x86Memory0F[op])
	case space == 1:
		return s.operands(in, 'M', x86Memory0F[op])
	case space == 3:
		return s.operands(in, 'B', 'r')
	case space == 2, space == 5, space == 6:
		return s.operands(in, 'M', 'r')
	}
	return false
}

// xop reads AMD's XOP prefix (AMD64 manual volume 4, 1.2.3): maps 8, 9 and 10.
func (s *x86State) xop(in *Insn) bool {
	space := s.peek(0) & 0x1f
	s.at += 3
	switch space {
	case 8:
		return s.operands(in, 'B', 'r')
	case 9:
		return s.operands(in, 'M', 'r')
	case 10:
		return s.operands(in, 'Q', 'r')
	}
	return false
}

// operands steps over what a form of the tables says.
func (s *x86State) operands(in *Insn, form, access byte) bool {
	wide := 4 // immz
	if s.size16 && !s.w {
		wide = 2
	}
	group3 := 0
	switch form {
	case 'M', 'B', 'Z', 'G', 'H', 'Q', 'E':
		if s.peek(0)>>4&3 == 0 && s.peek(0)>>3&7 < 2 {
			group3 = 1
		}
		if s.modRM() {
			access = '.'
		}
	case 'R':
		s.at++ // always registers
	case '!':
		return false
	}
	switch access {
	case 'r':
		in.Memory = Reads
	case 'w':
		in.Memory = Writes
	case 'm':
		in.Memory = Reads | Writes
	}
	s.immediate = s.at
	switch form {
	case 'b', 'B', 'd':
		s.at++
	case 'w', 'E':
		s.at += 2
	case 'A':
		s.at += 3
	case 'z', 'Z':
		s.at += wide
	case 'Q':
		s.at += 4
	case 'D': // Intel ignores 66 in 64-bit mode
		if s.long {
			wide = 4
		}
		s.at += wide
	case 'v':
		if s.w {
			wide = 8
		}
		s.at += wide
	case 'f':
		s.at += wide + 2
	case 'o':
		switch {
		case s.long && !s.address:
			s.at += 8
		case s.long || !s.address:
			s.at += 4
		default:
			s.at += 2
		}
	case 'G':
		s.at += group3
	case 'H':
		s.at += group3 * wide
	}
	return true
}

// modRM steps over ModRM, SIB and displacement (tables 2-1 to 2-3), and says whether
// the operand is a register.
func (s *x86State) modRM() bool {
	b := s.peek(0)
	s.at++
	mod, rm := b>>6, b&7
	if mod == 3 {
		return true
	}
	if s.address && !s.long { // 16-bit addresses
		switch {
		case mod == 2, mod == 0 && rm == 6:
			s.at += 2
		case mod == 1:
			s.at++
		}
		return false
	}
	if rm == 4 {
		if mod == 0 && s.peek(0)&7 == 5 {
			s.at += 4
		}
		s.at++
	}
	switch {
	case mod == 1:
		s.at++
	case mod == 2, mod == 0 && rm == 5:
		s.at += 4
	}
	return false
}

// branch sets the flow to the signed immediate, counted from the end of the instruction.
func (s *x86State) branch(in *Insn, f Flow) {
	if s.at > len(s.code) {
		return
	}
	var v int64
	switch b := s.code[s.immediate:s.at]; len(b) {
	case 1:
		v = int64(int8(b[0]))
	case 2:
		v = int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		v = int64(int32(binary.LittleEndian.Uint32(b)))
	}
	in.jump(f, v)
}
