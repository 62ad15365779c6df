package object

import (
	"strings"

	"uabot/checks/window"
	"uabot/checks/window/object/isa"
)

// node is one instruction of a function's control-flow graph.
type node struct {
	loc    loc
	in     *isa.Insn // nil where flow runs out of the code
	succ   []edge
	calls  bool   // calls something and comes back, or not (see succ)
	tail   bool   // jumps to another function for good
	callee string // of calls and tail; empty where it goes through a pointer
	leaves bool   // returns to the caller, always or under a condition
	helper step   // what an outlined part of the window API that is called here does
	needs  demand // what matters from here on to a write of the window register
	truths demand // what matters from here on to a branch on a flag known to be true
	states []state
}

type edge struct {
	to   int32
	kind edgeKind
}

type edgeKind uint8

const (
	falls   edgeKind = iota // to the next instruction
	jumps                   // a branch taken
	faults                  // the access faults: the state before the instruction
	patched                 // replacement code or a static branch: the state before the instruction
	selects                 // a row of a jump table
)

// graph is the control flow of one function with its cold parts.
type graph struct {
	o     *object
	f     *function
	nodes []*node
	index map[loc]int32
	todo  []int32
	jumps []int32 // indirect ones
	edges int
}

// The bounds of a graph. The largest one that linux 6.12.117 needs has 3,600 nodes.
const (
	maxNodes = 1 << 18
	maxEdges = 4 * maxNodes
)

// tooLarge reports whether the graph exceeds them, and is not whole.
func (g *graph) tooLarge() bool { return len(g.nodes) >= maxNodes || g.edges >= maxEdges }

// build follows the control flow of f from its entry.
func (o *object) build(f *function) *graph {
	g := &graph{o: o, f: f, index: map[loc]int32{}}
	g.node(f.code.from)
	g.follow()
	for i := 0; i < len(g.jumps); i++ { // a table may lead to code with further ones
		n := g.nodes[g.jumps[i]]
		for _, to := range g.table(n) {
			g.link(n, to, selects)
		}
		g.follow()
	}
	g.guessTables()
	return g
}

func (g *graph) node(l loc) int32 {
	if i, ok := g.index[l]; ok {
		return i
	}
	i := int32(len(g.nodes))
	n := &node{loc: l, in: g.o.insn(l)}
	g.o.spent++
	g.nodes = append(g.nodes, n)
	g.index[l] = i
	if n.in != nil {
		g.todo = append(g.todo, i)
	}
	return i
}

func (g *graph) link(n *node, to loc, kind edgeKind) {
	if g.tooLarge() {
		return
	}
	g.edges++
	n.succ = append(n.succ, edge{g.node(to), kind})
}

// fall links n to the instruction behind it, unless that is another function: then
// what n calls does not come back.
func (g *graph) fall(n *node) {
	next := n.loc.add(int64(n.in.Len))
	if to, ok := g.o.resume[next]; ok && g.o.replaced(n.loc) {
		next = to
	}
	if f := g.o.entries[next]; f != nil && !g.f.owns(f) {
		return
	}
	g.link(n, next, falls)
}

func (g *graph) follow() {
	for len(g.todo) > 0 {
		n := g.nodes[g.todo[len(g.todo)-1]]
		at := g.todo[len(g.todo)-1]
		g.todo = g.todo[:len(g.todo)-1]
		if g.alternatives(n) {
			continue
		}
		for _, e := range g.o.faults[n.loc] {
			g.link(n, e.fixup, faults)
		}
		g.labels(n)
		switch n.in.Flow {
		case isa.Next:
			g.fall(n)
		case isa.Trap:
			if g.o.bugs[n.loc] {
				g.fall(n)
			}
		case isa.Stop:
		case isa.Return:
			n.leaves = true
		case isa.BranchReturn:
			n.leaves = true
			g.fall(n)
		case isa.JumpIndirect:
			g.jumps = append(g.jumps, at)
		case isa.BranchIndirect:
			g.jumps = append(g.jumps, at)
			g.fall(n)
		case isa.CallIndirect:
			n.calls = true
			g.fall(n)
		case isa.Call:
			g.call(n)
		case isa.Branch:
			taken, known := g.o.decided(n)
			if !known || !taken {
				g.fall(n)
			}
			if !known || taken {
				g.jump(n)
			}
		case isa.Jump:
			g.jump(n)
		}
	}
}

// alternatives links replacement code. It reports true where the original is never
// executed.
func (g *graph) alternatives(n *node) (gone bool) {
	for _, a := range g.o.alternatives[n.loc] {
		switch {
		case a.replacement.from < a.replacement.to:
			g.link(n, a.replacement.from, patched)
		case a.end != n.loc:
			g.link(n, a.end, patched)
		default:
			continue // nothing replaces nothing
		}
		gone = gone || a.only
	}
	return gone
}

// labels links static branches, which go either way.
func (g *graph) labels(n *node) {
	for _, l := range g.o.labels[n.loc] {
		if l.key != "" && l.key == g.o.arch.kept {
			continue
		}
		g.link(n, l.target, patched)
		if n.in.Flow == isa.Jump {
			g.fall(n)
		}
	}
}

func (g *graph) call(n *node) {
	to, external, ok := g.o.target(n.loc, n.in)
	n.calls, n.callee = true, external
	if ok && external == "" {
		if to == n.loc.add(int64(n.in.Len)) { // reads its own address
			n.calls = false
			g.fall(n)
			return
		}
		f := g.o.entry(to)
		switch {
		case f != nil:
			n.callee = f.name
			n.helper = g.o.helper(f)
		default:
			n.callee = g.o.symbolAt(to)
		}
	}
	if strings.HasPrefix(n.callee, "__x86_indirect_thunk") {
		n.callee = ""
	}
	if !noReturn(n.callee) {
		g.fall(n)
	}
}

// jump links a direct branch. To another function it is a call that does not come back
// here, to a thunk what the thunk does.
func (g *graph) jump(n *node) {
	to, external, ok := g.o.target(n.loc, n.in)
	switch {
	case !ok:
		n.tail = true
	case external == "__x86_return_thunk", strings.HasPrefix(external, "_restgpr"), strings.HasPrefix(external, "_rest32gpr"):
		n.leaves = true
	case strings.HasPrefix(external, "__x86_indirect_thunk"):
		g.jumps = append(g.jumps, g.index[n.loc])
	case external != "":
		n.tail, n.callee = true, external
	default:
		f := g.o.entry(to)
		if f == nil {
			f = g.o.functionAt(to)
			if here := g.o.functionAt(n.loc); f == nil || g.f.owns(f) || !g.f.owns(here) {
				g.link(n, to, jumps)
				return
			}
		} else if g.f.owns(f) {
			g.link(n, to, jumps)
			return
		}
		n.tail, n.callee, n.helper = true, f.name, g.o.helper(f)
		if n.helper.what != nothing {
			n.leaves = true
		}
	}
}

// symbolAt is the name for a call into code that is no function symbol's.
func (o *object) symbolAt(l loc) string {
	if f := o.functionAt(l); f != nil {
		return f.name
	}
	for i := range o.symbols {
		if s := &o.symbols[i]; s.sec == l.sec() && s.value == l.off() && s.name != "" && s.name[0] != '.' && s.name[0] != '$' {
			return s.name
		}
	}
	return ""
}

// helpers are the parts of the window API that a compiler may leave out of line, by
// their names before it adds a suffix. Sources: the uaccess.h and kup.h of each arch.
var helpers = map[string]action{
	"uaccess_ttbr0_enable": opens, "__uaccess_ttbr0_enable": opens, "uaccess_enable_privileged": opens,
	"uaccess_ttbr0_disable": closes, "__uaccess_ttbr0_disable": closes, "uaccess_disable_privileged": closes,
	"allow_user_access": opens, "allow_read_from_user": opens, "allow_write_to_user": opens, "allow_read_write_user": opens,
	"prevent_user_access": closes, "prevent_read_from_user": closes, "prevent_write_to_user": closes, "prevent_read_write_user": closes,
	"__enable_user_access": opens, "__disable_user_access": closes,
	"uaccess_begin_32s": opens, "uaccess_end_32s": closes, "uaccess_begin_8xx": opens, "uaccess_end_8xx": closes,
	"user_access_end": closes, "user_read_access_end": closes, "user_write_access_end": closes,
	"stac": opens, "clac": closes, "__uaccess_begin": opens, "__uaccess_begin_nospec": opens, "__uaccess_end": closes,
}

// helper is what a call of f does to the window, if f is a helper left out of line.
func (o *object) helper(f *function) step {
	name, _, _ := strings.Cut(f.name, ".")
	s := step{what: helpers[name]}
	if s.what == opens {
		switch {
		case strings.Contains(name, "read_write"):
			s.kind = window.ReadWrite
		case strings.Contains(name, "read_from"):
			s.kind = window.Read
		case strings.Contains(name, "write_to"):
			s.kind = window.Write
		}
	}
	return s
}
