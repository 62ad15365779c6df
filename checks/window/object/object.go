// Package object finds access windows in compiled code: it reads relocatable ELF
// objects of every architecture that has windows in its instructions, follows the
// control flow of each function that opens or closes one, and reports the paths that
// break a rule of checks/window. It does for all of them what the kernel's objtool does
// for x86-64.
//
// The way of an object: ELF and relocations (elf, relocs) → functions and the tables
// that change their flow (functions, tables, alternatives, jumptables) → decoded code
// (code, isa) → a control-flow graph (graph) → every state at every instruction (verify,
// step, values) → problems, which DWARF brings back to source lines (dwarf*, frames,
// place, witness).
//
// Traps:
//   - A feature that windows depend on is on or off for the whole kernel. It is forced
//     on; following both ways at each place would mix them.
//   - A fault in a window goes on at its fixup with the window still open.
//   - debug/elf and debug/dwarf ignore riscv's ADD, SUB and SET relocations, and every
//     section of an object starts at 0: places are section and offset throughout.
//   - Objects are foreign bytes: every loop here has a bound, and a function that
//     exceeds one is named in the report instead of judged.
package object

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"sync"

	"uabot/checks/window"
	"uabot/checks/window/object/isa"
)

// ErrUnsupported says that an object is of a machine that this package does not know.
var ErrUnsupported = errors.New("unsupported machine")

// Options say where an object comes from. The zero value is good for an object alone.
type Options struct {
	Source   string // root of the kernel tree, absolute: file names become relative to it, its lines are quoted
	Output   string // the kbuild output directory, absolute
	SourceAs string // Source and Output as the compiler knew them, if it ran where they lay elsewhere
	OutputAs string
	Target   string // name of the target, for the evidence
	Objtool  []byte // the tree's tools/objtool/check.c: what it lists may be called in a window; nil for linux 6.12's
}

// object is one object file while it is checked. It is not safe for concurrent use.
type object struct {
	*elfFile
	path    string
	options Options
	arch    *arch
	callees *window.Callees

	decoder, thumb isa.Decoder
	decoded        map[*function]*stretch
	loose          map[loc]*isa.Insn
	mappings       []mapping
	spent          int // nodes built and steps taken, for the bound of the whole object

	functions [][]*function // by section, in order
	entries   map[loc]*function

	faults map[loc][]exception
	labels map[loc][]label
	bugs   map[loc]bool

	alternatives map[loc][]alternative
	replacements []replacement // sorted
	resume       map[loc]loc
	kuap         []span // sorted
	pending      []pendingAlternative
	constants    map[int][]uint64

	debugRead   bool
	debugData   *debugInfo
	entriesRead int // of debug information, for the bound
	flagged     int // see hasTrueFlags
	known       map[loc][]frame
	source      map[string][]string
}

// maxSpent bounds the work on one object; a large one of linux 6.12.117 needs 20,000.
const maxSpent = 1 << 28

// open reads what data, an object, says about its code.
func open(path string, data []byte, options Options) (*object, error) {
	f, err := readELF(data)
	if err != nil {
		return nil, err
	}
	o := &object{elfFile: f, path: path, options: options, decoded: map[*function]*stretch{}, loose: map[loc]*isa.Insn{}}
	o.readMappings()
	o.readFunctions()
	if f.machine == elf.EM_PPC {
		o.readAlternatives() // the flavour shows there
	}
	if err := o.detectArch(); err != nil {
		return nil, err
	}
	o.callees = window.SafeCallees(o.arch.kernel)
	if options.Objtool != nil {
		if err := o.callees.UseObjtool(options.Objtool); err != nil {
			return nil, err
		}
	}
	if o.arch.none != "" {
		return o, nil
	}
	o.readTables()
	if f.machine != elf.EM_PPC {
		o.readAlternatives()
	}
	clear(o.decoded) // looking for a capability's number decodes a lot
	return o, nil
}

// buffers hold the contents of files that were read: objects are large, and all the
// same to the garbage collector as what is to be kept of them.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// readFile reads an object file of a sane size into a buffer of buffers.
func readFile(path string) (*bytes.Buffer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch {
	case !s.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w", path, ErrNotObject)
	case s.Size() > maxSize:
		return nil, fmt.Errorf("%s: %w", path, ErrTooLarge)
	}
	b := buffers.Get().(*bytes.Buffer)
	b.Reset()
	b.Grow(int(s.Size()) + bytes.MinRead)
	if _, err := b.ReadFrom(f); err != nil {
		buffers.Put(b)
		return nil, err
	}
	return b, nil
}

func (o *object) debugInfo() *debugInfo {
	if !o.debugRead {
		o.debugRead = true
		o.debugData = o.readDebugInfo()
	}
	return o.debugData
}
