// Package isa decodes just enough of each instruction set to follow access
// windows: lengths, branches, calls, the constants that reach the control
// registers of user access, and the instructions that write those registers.
//
// It is not a disassembler. An instruction that cannot matter to a window is
// reported with its length, its flow and the registers it writes, no more. Every
// decoder is a table of bit patterns that can be read against the manual named
// beside it.
//
// What each instruction set's registers, stack slots and window writes look like is
// said at its decoder: x86, powerpc, arm64, a32, thumb, riscv. In short:
//
//	            registers                        slots              window
//	x86         none                             none               Open, Close, Save, Restore
//	powerpc     0..31, LR 32, CTR 33             of r1: 4 or 8      Write MDAP, AMR, PID, Segment
//	arm64       x0..x30 0..30, SP 31             of sp: 8           Write TTBR0, TTBR1, PAN
//	A32, Thumb  0..15                            of sp: 4           Write DACR, TTBCR
//	riscv       1..31                            of sp: 8           SetBits, ClearBits, Write SSTATUS
//
// Traps: no decoder sees relocations, so a target, an address or an immediate that has
// one is not the final value; a written register of a call is only the link register, what
// else a callee may change is the ABI's matter.
package isa

// Reg is a register in its instruction set's own numbering (the file of each decoder
// says which). Registers are 0..63, so that a set of them is one word; NoReg is none.
// A register that always reads zero (riscv x0, arm64 xzr) is never named: the decoder
// turns it into a Const or a Move, and drops a write to it.
type Reg int16

// NoReg stands for "no register".
const NoReg Reg = -1

// The registers that a verifier has to know by name.
const (
	ARM64SP    Reg = 31
	ARM64LR    Reg = 30
	ARMSP      Reg = 13 // A32 and Thumb alike
	ARMLR      Reg = 14
	ARMPC      Reg = 15
	PowerPCSP  Reg = 1
	PowerPCTOC Reg = 2  // 64 bit only
	PowerPCLR  Reg = 32 // after the 32 general registers
	PowerPCCTR Reg = 33
	RISCVRA    Reg = 1
	RISCVSP    Reg = 2
)

// Flow says where control goes after an instruction.
type Flow uint8

// The flows.
const (
	Next           Flow = iota // to the next instruction
	Jump                       // to Target
	Branch                     // to Target or to the next
	Call                       // calls Target, then the next
	CallIndirect               // calls through a register or memory, then the next
	JumpIndirect               // jumps through a register or memory
	BranchIndirect             // the same under a condition, else the next
	Return                     // leaves the function
	BranchReturn               // leaves it under a condition, else the next
	Trap                       // raises an exception on purpose (BUG, WARN)
	Stop                       // execution does not come back here: rfi, eret, iret (arm: where Conditional, it may not happen)
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

// Condition says when a Branch is taken, or a Conditional instruction executed, in
// terms of the comparison before it (riscv: of its own Compare): A above B and so on,
// unsigned, as the bound of a table jump is tested.
type Condition uint8

// The conditions.
const (
	Other Condition = iota // a condition that is none of these
	Equal
	NotEqual
	Above
	AboveEqual
	Below
	BelowEqual
)

// Control names the control register that a Window Write or a ReadControl effect
// is about, where an instruction set has several (powerpc: SPR 794, SPR 29, a
// segment register; arm64: ttbr0, ttbr1, PAN).
type Control uint8

// The control registers. An instruction names at most one of them.
const (
	NoControl Control = iota
	MDAP              // powerpc 8xx: SPR 794, MD_AP
	AMR               // powerpc book3s64: SPR 29, the Authority Mask Register
	PID               // powerpc booke: SPR 48
	Segment           // powerpc book3s32: any segment register (mtsr, mtsrin, mfsr, mfsrin)
	TTBR0             // arm64: TTBR0_EL1
	TTBR1             // arm64: TTBR1_EL1
	PAN               // arm64: PSTATE.PAN; SourceImm is the bit where Source is NoReg
	DACR              // arm: the Domain Access Control Register, p15 0 c3 c0 0
	TTBCR             // arm with LPAE: the Translation Table Base Control Register, p15 0 c2 c0 2
	SSTATUS           // riscv: CSR 0x100; SUM is bit 18
)

// Op is the arithmetic of an Effect.
type Op uint8

// The operations. Those with an immediate use Imm, and A as the first operand. A
// 32-bit operation of a 64-bit machine is only given where its result is that of the
// 64-bit one for the values that a window register can hold; else the register is in
// Written without an Effect.
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
	Load            // Dst = the stack slot Imm (offset from the stack pointer before the instruction), a word
	Store           // the stack slot Imm = A, a word; A is NoReg for a zero
	LoadConst       // Dst = memory at A + Imm: a constant if that address is known and read-only. B as a number is the width in bytes, negative: sign-extended. A is NoReg: at the address of this instruction + Imm
	Address         // Dst = the address of this instruction + Imm (adr, auipc), before relocation
	Page            // Dst = the 4 KiB page of this instruction + Imm (arm64 adrp), before relocation
	Lost            // the stack slots from Imm on, B (as a number) bytes of whole slots, hold something else now
	StoreAt         // memory at B + Imm = A, a word, B no stack pointer: a slot if B is a frame pointer
	Insert          // powerpc rlwimi, rldimi; arm, arm64 bfi: Dst = A &^ Imm | (B << Shift) & Imm
	AddShifted      // Dst = A + B << Imm, as table jumps use it (arm64: B may be extended from fewer bits)
	LoadIndexed     // Dst = memory at A + B << (Imm>>8), |int8(Imm)| bytes, negative: sign-extended; A is NoReg: as for LoadConst
	CompareImm      // no Dst: A is compared with Imm by the condition that follows (the bound of a table jump)
	Compare         // no Dst: A is compared with B
	AndNot          // Dst = A &^ B
	InsertRight     // arm64 bfxil: Dst = A &^ Imm | (B >> Shift) & Imm
)

// Effect is what an instruction does to one register or stack slot. All effects of
// an instruction read the state from before it; a verifier first forgets what Written
// names, then sets each Dst (every Dst is in Written too). An AddImm of the stack
// pointer to itself moves the frame: slots are to be renumbered by -Imm, after the
// other effects. Any other change of the stack pointer loses all slots.
//
// Immediates are those of the bytes: where a relocation lies on the instruction, Imm
// (and the Const 0 of an "li r,0" or "lui r,0") is not the value yet. A register that is
// moved through an addition of 0 is an AddImm, so that this can be told from a Move.
type Effect struct {
	Op    Op
	Shift uint8 // Insert and InsertRight only
	Dst   Reg
	A, B  Reg
	Imm   int64
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

// Insn is one decoded instruction. Len is 1 to 15, and never beyond the code.
type Insn struct {
	Len         uint8
	Flow        Flow
	Window      Window
	Control     Control
	Memory      Memory
	Conditional bool      // executed only under a condition (arm): window, effects and calls may not happen
	When        Condition // of Branch, BranchReturn, BranchIndirect and Conditional
	HasTarget   bool      // Target is known before relocation
	Target      int64     // displacement in bytes from the first byte of the instruction
	Source      Reg       // for Write, SetBits, ClearBits and indirect jumps and calls through a register
	SourceImm   uint64    // for Write, SetBits, ClearBits by immediate (riscv csrsi, arm64 msr pan), where Source is NoReg
	Written     uint64    // set of registers 0..63 whose value is lost or changed
	Effects     [3]Effect
	NumEffects  uint8
}

// Decoder decodes one instruction set.
type Decoder interface {
	// Decode reads the instruction at the start of code into in, which it
	// overwrites. Code that is not a valid instruction gives false, with Len set
	// to the smallest step by which decoding may go on (never beyond the end of
	// code, 0 only if code is empty). It never allocates and never fails otherwise.
	Decode(code []byte, in *Insn) bool
}
