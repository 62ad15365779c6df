// Package isa decodes just enough of each instruction set to follow access
// windows: lengths, branches, calls, the constants that reach the control
// registers of user access, and the instructions that write those registers.
//
// It is not a disassembler. An instruction that cannot matter to a window is
// reported with its length, its flow and the registers it writes, no more. Every
// decoder is a table of bit patterns that can be read against the manual named
// beside it.
package isa

// Reg is a register, or a stack slot of the current frame, in a decoder's own
// numbering. Registers are 0..63 (so that a set of them is one word); NoReg is none.
type Reg int16

// NoReg stands for "no register".
const NoReg Reg = -1

// Flow says where control goes after an instruction.
type Flow uint8

// The flows.
const (
	Next           Flow = iota // to the next instruction
	Jump                       // to Target
	Branch                     // to Target or to the next
	Call                       // calls Target, then the next
	CallIndirect               // calls through a register or memory
	JumpIndirect               // jumps through a register or memory
	BranchIndirect             // the same under a condition, else the next
	Return                     // leaves the function
	BranchReturn               // leaves it under a condition, else the next
	Trap                       // raises an exception on purpose (BUG, WARN)
	Stop                       // execution does not come back here: rfi, eret, hlt loops
)

// Window says what an instruction does to user access by itself.
type Window uint8

// The window operations.
const (
	NoWindow  Window = iota
	Open             // stac
	Close            // clac
	Write            // the control register is written with the value of Insn.Source: the verifier classifies it
	SetBits          // the bits in Insn.Source are set in the control register (riscv csrs sstatus)
	ClearBits        // the bits in Insn.Source are cleared (riscv csrc sstatus)
	Save             // the state is pushed (x86 pushf)
	Restore          // the state is popped (x86 popf)
)

// Control names the control register that a Window Write or a ReadControl effect
// is about, where an instruction set has several (powerpc: SPR 794, SPR 29, a
// segment register; arm64: ttbr0, ttbr1, PAN).
type Control uint8

// Op is the arithmetic of an Effect.
type Op uint8

// The operations. Those with an immediate use Imm, and A as the first operand.
const (
	NoOp         Op = iota
	Const           // Dst = Imm
	Move            // Dst = A
	AddImm          // Dst = A + Imm
	OrImm           // Dst = A | Imm
	XorImm          // Dst = A ^ Imm
	AndImm          // Dst = A & Imm
	ShiftLeft       // Dst = A << Imm
	ShiftRight      // Dst = A >> Imm (logical)
	RotateMask      // powerpc rlwinm: Dst = rotl32(A, Imm&31) & mask, the mask in Imm>>32
	RotateMask64    // powerpc rldic*: Dst = rotl64(A, B as a number) & Imm
	Or              // Dst = A | B
	And             // Dst = A & B
	Xor             // Dst = A ^ B
	Add             // Dst = A + B
	Sub             // Dst = A - B
	Insert16        // arm movt, arm64 movk: 16 bits of Imm at bit B (as a number), the rest of A
	ReadControl     // Dst = the control register Insn.Control
	Load            // Dst = the stack slot Imm (offset from the stack pointer)
	Store           // the stack slot Imm = A
	LoadConst       // Dst = memory at A + Imm: a constant if that address is known and read-only
	Address         // Dst = the address of this instruction + Imm (adr, auipc), before relocation
)

// Effect is what an instruction does to one register or stack slot.
type Effect struct {
	Op   Op
	Dst  Reg
	A, B Reg
	Imm  int64
}

// Memory says how an instruction touches memory, for accesses listed in the
// exception table.
type Memory uint8

// The memory accesses.
const (
	NoMemory Memory = 0
	Reads    Memory = 1
	Writes   Memory = 2
)

// Insn is one decoded instruction.
type Insn struct {
	Len         uint8
	Flow        Flow
	Window      Window
	Control     Control
	Memory      Memory
	Conditional bool   // executed only under a condition (arm): its effects may not happen
	HasTarget   bool   // Target is known before relocation
	Target      int64  // displacement in bytes from the first byte of the instruction
	Source      Reg    // for Write, SetBits, ClearBits and indirect jumps
	SourceImm   uint64 // for SetBits/ClearBits by immediate (riscv csrsi), where Source is NoReg
	Written     uint64 // set of registers 0..63 whose value is lost or changed
	Effects     [2]Effect
	NumEffects  uint8
}

// Decoder decodes one instruction set.
type Decoder interface {
	// Decode reads the instruction at the start of code into in, which it
	// overwrites. Code that is not a valid instruction gives false, with Len set
	// to the smallest step by which decoding may go on.
	Decode(code []byte, in *Insn) bool
}
