// Package gimple reads the control-flow dump that gcc writes with
// -fdump-tree-cfg-lineno-blocks-uid: every function of a translation unit as basic
// blocks of simple statements, before anything is inlined or optimised.
//
// The format is meant for compiler writers and has no specification; what is known
// of it is held by golden files per gcc version. Statements that are not understood
// are kept as Other, never an error. Operands stay text, as the dump prints them.
//
// Traps: asm templates are printed raw, with their newlines and quotes. A location
// is that of the outermost macro use. The null pointer is 0B. Some statements carry
// no location.
package gimple

import "strings"

// Kind says what a statement is.
type Kind uint8

// The kinds.
const (
	Other   Kind = iota // nothing that matters here: clobbers, predictions
	Assign              // LHS = RHS
	Call                // [LHS =] Callee (Args)
	Cond                // if (A Op B) goto Then else goto Else; ends its block
	Switch              // on A, with Cases; ends its block
	Return              // A, which may be empty; ends its block
	AsmStmt             // Asm; goes to each of the block's Succs
	Label               // Name of a label that the author wrote, at Pos
)

// Pos is a place in a source file as gcc was given its name; the zero Pos is unknown.
type Pos struct {
	File string
	Line int // 1-based
	Col  int // 1-based, bytes
}

// Known reports whether p is a place.
func (p Pos) Known() bool { return p.Line > 0 }

// Stmt is one statement.
type Stmt struct {
	Kind Kind
	Pos  Pos

	LHS, RHS string
	Callee   string // a function's name without its uid; the variable for a call through a pointer
	Indirect bool   // Callee is a pointer: a temporary or an automatic variable

	Args []string

	A, Op, B   string
	Then, Else int // block numbers
	Cases      []Case

	Asm  *Asm
	Name string
}

// Case is one target of a Switch.
type Case struct {
	Lo, Hi string // constants as printed; Lo is empty for default, Hi unless a range
	Target int    // a block number; -1 when the label was not found
	label  string
}

// Asm is an asm statement, asm goto included.
type Asm struct {
	Template string   // as the author wrote it, between the quotes
	Outs     []string // "constraint" lvalue
	Ins      []string // "constraint" value
}

// Block is a basic block.
type Block struct {
	ID    int
	Stmts []*Stmt
	Succs []int // explicit successors, without EXIT
}

// Func is one function of the translation unit.
type Func struct {
	Name   string
	Inline bool            // may be copied into its callers: gnu_inline or always_inline
	Params []string        // variables, "" for one without a name
	Locals map[string]bool // automatic variables, parameters among them
	Blocks []*Block        // in the order of the dump; the first is the entry
	Pos    Pos             // of the first statement that has one
	byID   map[int]*Block
}

// Block is the block with number id, nil if there is none.
func (f *Func) Block(id int) *Block { return f.byID[id] }

// uidAt is where a name's "D.123" begins, -1 if it has none.
func uidAt(name string) int {
	i := strings.LastIndex(name, "D.")
	if i < 0 || i+2 == len(name) {
		return -1
	}
	for _, c := range name[i+2:] {
		if c < '0' || c > '9' {
			return -1
		}
	}
	return i
}

// Plain is a name without its uid: "err" for "errD.123".
func Plain(name string) string {
	if i := uidAt(name); i > 0 {
		return name[:i]
	}
	return name
}

func identChar(c byte) bool {
	return c == '_' || c == '$' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// IsVar reports whether operand is a variable, a temporary or a field of one, by
// name alone: "errD.12", "_3", "err.0_4", "D.17", "sD.3.okD.5".
func IsVar(operand string) bool {
	if operand == "" || operand[0] >= '0' && operand[0] <= '9' {
		return false
	}
	for i := 0; i < len(operand); i++ {
		if !identChar(operand[i]) {
			return false
		}
	}
	if uidAt(operand) >= 0 {
		return true
	}
	i := strings.LastIndexByte(operand, '_')
	return i >= 0 && digits(operand[i+1:])
}

func digits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// Base is the variable that a field belongs to: "sD.3" for "sD.3.okD.5".
func Base(v string) string {
	for i := 0; i+2 < len(v); i++ {
		if v[i] != 'D' || v[i+1] != '.' {
			continue
		}
		j := i + 2
		for j < len(v) && v[j] >= '0' && v[j] <= '9' {
			j++
		}
		if j > i+2 && (j == len(v) || v[j] == '.') {
			return v[:j]
		}
	}
	return v
}

// Vars calls yield for each variable named in an operand or an expression.
func Vars(text string, yield func(string)) {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			i++
		case identChar(c):
			j := i
			for j < len(text) && identChar(text[j]) {
				j++
			}
			if IsVar(text[i:j]) {
				yield(text[i:j])
			}
			i = j
		default:
			i++
		}
	}
}
