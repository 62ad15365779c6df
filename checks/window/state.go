// Package window is the model of user-access windows: what states there are, which
// steps between them are wrong, and how a wrong step is worded. It knows no file
// format; checks/window/object feeds it from machine code and checks/window/source
// from a compiler's control flow, and both get the same findings for the same bug.
//
// A window is the stretch of code between opening and closing the kernel's access
// to user memory. While it is open almost nothing may be called, nothing may sleep,
// and every way out has to close it exactly once. The rules are those of
// tools/objtool (Documentation "UACCESS" in tools/objtool/Documentation/objtool.txt),
// plus what objtool cannot see: the kind of a window.
//
// Trap: a finding's identity is made of rule, file, function and detail. Evidence of
// different kinds and arches must agree on them, so details are coarse on purpose:
// only a call has one (the callee as the author wrote it). See Problem.
package window

// Rule names what is wrong, as scripts and readers see it.
type Rule string

// The rules.
const (
	CloseWithoutOpen    Rule = "close-without-open"    // a window is closed on a path where none is open
	OpenAtReturn        Rule = "open-at-return"        // the function is left with a window open
	OpenTwice           Rule = "open-twice"            // a window is opened inside of another
	CallInWindow        Rule = "call-in-window"        // something not allowed there is called inside of a window
	AccessOutsideWindow Rule = "access-outside-window" // an unchecked user access runs with no window open
	KindMismatch        Rule = "kind-mismatch"         // opened for reading and closed as writing, or the like
	UncheckedBegin      Rule = "unchecked-begin"       // the result of a begin is not tested
	SaveWithoutRestore  Rule = "save-without-restore"  // a saved window state is not put back
)

// Kind is what a window allows: a set of Read and Write, or Unknown where the
// architecture or the evidence does not tell.
type Kind uint8

// The kinds.
const (
	Unknown   Kind = 0
	Read      Kind = 1
	Write     Kind = 2
	ReadWrite Kind = Read | Write
)

// String is the kind as words use it: "read", "write", "read-write", "" for Unknown.
func (k Kind) String() string {
	switch k {
	case Read:
		return "read"
	case Write:
		return "write"
	case ReadWrite:
		return "read-write"
	}
	return ""
}

// State is where a path stands: no window open, or one of a Kind.
type State struct {
	Open bool
	Kind Kind
}

// Begin opens a window. An open one is replaced: no arch nests them
// (save and restore, which do, are modelled by whoever tracks the saved value).
func (s State) Begin(k Kind) (State, Rule) {
	next := State{Open: true, Kind: k}
	if s.Open {
		return next, OpenTwice
	}
	return next, ""
}

// End closes the window as kind k.
func (s State) End(k Kind) (State, Rule) {
	switch {
	case !s.Open:
		return State{}, CloseWithoutOpen
	case s.Kind != Unknown && k != Unknown && s.Kind != k:
		return State{}, KindMismatch
	}
	return State{}, ""
}

// Call calls name, a symbol, where c says what is allowed inside of a window.
func (s State) Call(name string, c *Callees) Rule {
	switch {
	case !s.Open || c.Safe(name):
		return ""
	case OpensOwn(name):
		return OpenTwice
	}
	return CallInWindow
}

// Leave returns from the function, or jumps to another one for good.
func (s State) Leave() Rule {
	if s.Open {
		return OpenAtReturn
	}
	return ""
}
