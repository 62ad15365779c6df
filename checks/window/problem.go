package window

import (
	"fmt"

	"uabot/checks"
)

// Problem is one wrong step, in the terms that its wording needs.
//
// Where a problem lies, so that all evidence agrees (call chains are read before
// inlining; primitives are the functions that Primitive names):
//   - CloseWithoutOpen, AccessOutsideWindow: the innermost function around the close
//     or the access that is no primitive.
//   - OpenAtReturn, UncheckedBegin, SaveWithoutRestore: the innermost function around
//     the opening that is no primitive.
//   - OpenTwice, CallInWindow, KindMismatch: the innermost function that holds both
//     the opening and the second step, no primitive; its line is where it takes the
//     second step.
//   - Callee is what that function calls there, inlined or not; on one line of one
//     function OpenTwice is stated before CallInWindow, and one call only.
type Problem struct {
	Rule     Rule
	File     string // relative to the tree
	Line     int    // 1-based; 0 when unknown
	Function string // as DWARF and the compiler's dump name it
	Callee   string // CallInWindow, OpenTwice: the symbol; empty for a function pointer or an inline opening
	Kind     Kind   // of the open window, where known
	ClosedAs Kind   // KindMismatch: the kind that it was closed as ...
	Accessed Kind   // ... or that of an access that it does not allow
	API      string // the primitive as the source has it, e.g. "user_write_access_end"; empty when unknown
}

// Finding words p. The witness, the evidence and the inline chain are the caller's to add.
func (p *Problem) Finding(class checks.Class) checks.Finding {
	return checks.Finding{
		Rule:     string(p.Rule),
		File:     p.File,
		Line:     p.Line,
		Function: p.Function,
		Detail:   p.Detail(),
		Class:    class,
		Title:    p.Title(),
	}
}

// Detail is the part of the identity that tells problems of one rule in one function
// apart: the callee of a CallInWindow. Windows of different kinds, several macros or
// sites in one function are one finding: compiled code cannot always tell them.
func (p *Problem) Detail() string {
	if p.Rule == CallInWindow {
		return calleeName(p.Callee)
	}
	return ""
}

func calleeName(symbol string) string {
	if symbol == "" {
		return "a function pointer"
	}
	return BaseName(symbol)
}

// Title is p in one line.
func (p *Problem) Title() string {
	window := "a user access window"
	if k := p.Kind.String(); k != "" {
		window = "a user " + k + " access window"
	}
	switch p.Rule {
	case CloseWithoutOpen:
		if p.API != "" {
			return p.API + "() can run when no window is open"
		}
		return "a user access window can be closed when none is open"
	case OpenAtReturn:
		return window + " can still be open when the function returns"
	case OpenTwice:
		if p.Callee != "" {
			return fmt.Sprintf("%s() opens a user access window inside of an open one", BaseName(p.Callee))
		}
		if p.API != "" {
			return p.API + "() can run inside of an open user access window"
		}
		return "a user access window can be opened inside of an open one"
	case CallInWindow:
		if p.Callee == "" {
			return "a call through a function pointer while " + window + " is open"
		}
		return fmt.Sprintf("%s() is called while %s is open", calleeName(p.Callee), window)
	case AccessOutsideWindow:
		return "a user access can run when no window is open"
	case KindMismatch:
		if p.Accessed == Read {
			return "user memory is read while only " + window + " is open"
		}
		if p.Accessed != Unknown {
			return "user memory is written while only " + window + " is open"
		}
		if p.API != "" {
			return fmt.Sprintf("%s is closed by %s()", window, p.API)
		}
		return fmt.Sprintf("%s is closed as a %s one", window, p.ClosedAs)
	case UncheckedBegin:
		if p.API != "" {
			return "the result of " + p.API + "() is not checked"
		}
		return "the result of opening a user access window is not checked"
	case SaveWithoutRestore:
		return "a saved user access state is not restored on every path"
	}
	return string(p.Rule)
}
