package source

import (
	"slices"
	"strconv"
	"strings"
)

// value is what a variable is known to hold on a path: an index into values. Equal
// values have equal indices. 0 is none.
type value int32

type valueOp uint8

const (
	opConst  valueOp = iota + 1 // n
	opAtom                      // unknown, named s by where it came from
	opToken                     // a saved window state, n as encode() makes it
	opEq                        // a == b
	opLt                        // a < b
	opNot                       // !a
	opAnd                       // a & b, both boolean
	opOr                        // a | b, both boolean
	opMask                      // a & n
	opErrPtr                    // a, a pointer, is an error code (IS_ERR)
)

type node struct {
	op   valueOp
	a, b value
	n    int64
	s    string
}

// values holds the values of one analysis. Expressions are no deeper than maxDepth:
// loops would never end otherwise.
type values struct {
	nodes []node
	index map[node]value
	depth []uint8
}

const maxDepth = 6

func newValues() *values {
	return &values{nodes: make([]node, 1), depth: make([]uint8, 1), index: map[node]value{}}
}

func (vs *values) get(n node) value {
	if v, ok := vs.index[n]; ok {
		return v
	}
	v := value(len(vs.nodes))
	vs.nodes = append(vs.nodes, n)
	vs.depth = append(vs.depth, 1+max(vs.depth[n.a], vs.depth[n.b]))
	vs.index[n] = v
	return v
}

func (vs *values) constant(n int64) value { return vs.get(node{op: opConst, n: n}) }
func (vs *values) atom(s string) value    { return vs.get(node{op: opAtom, s: s}) }
func (vs *values) token(n int64) value    { return vs.get(node{op: opToken, n: n}) }

// isConst returns the constant that v is.
func (vs *values) isConst(v value) (int64, bool) {
	n := vs.nodes[v]
	return n.n, v != 0 && n.op == opConst
}

// boolean reports whether v is 0 or 1.
func (vs *values) boolean(v value) bool {
	switch n := vs.nodes[v]; n.op {
	case opConst:
		return n.n == 0 || n.n == 1
	case opEq, opLt, opNot, opAnd, opOr, opErrPtr:
		return true
	}
	return false
}

// not is v == 0.
func (vs *values) not(v value) value {
	switch n := vs.nodes[v]; {
	case n.op == opConst:
		return vs.truthValue(n.n == 0)
	case n.op == opNot:
		if vs.boolean(n.a) {
			return n.a
		}
	case !vs.boolean(v):
		return vs.get(node{op: opEq, a: v, b: vs.constant(0)})
	}
	return vs.get(node{op: opNot, a: v})
}

func (vs *values) truthValue(b bool) value {
	if b {
		return vs.constant(1)
	}
	return vs.constant(0)
}

var mirrored = map[string]string{"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}

// compare is a op b: a constant where that is known, an opEq or opLt with the
// constant at the right, or the negation of one; 0 where it would be too deep.
func (vs *values) compare(op string, a, b value) value {
	x, aConst := vs.isConst(a)
	y, bConst := vs.isConst(b)
	if aConst && bConst {
		switch op {
		case "==":
			return vs.truthValue(x == y)
		case "!=":
			return vs.truthValue(x != y)
		case "<":
			return vs.truthValue(x < y)
		case ">":
			return vs.truthValue(x > y)
		case "<=":
			return vs.truthValue(x <= y)
		case ">=":
			return vs.truthValue(x >= y)
		}
		return 0
	}
	if aConst {
		return vs.compare(mirrored[op], b, a)
	}
	if a == b {
		return vs.truthValue(op == "==" || op == "<=" || op == ">=")
	}
	if bConst && vs.boolean(a) {
		switch {
		case op == "==" && y == 1, op == "!=" && y == 0:
			return a
		case op == "==" && y == 0, op == "!=" && y == 1:
			return vs.not(a)
		}
	}
	if vs.depth[a]+vs.depth[b] > maxDepth {
		return 0
	}
	switch op {
	case "==":
		return vs.get(node{op: opEq, a: a, b: b})
	case "!=":
		return vs.not(vs.get(node{op: opEq, a: a, b: b}))
	case "<":
		return vs.get(node{op: opLt, a: a, b: b})
	case ">=":
		return vs.not(vs.get(node{op: opLt, a: a, b: b}))
	case ">":
		if bConst && y < 1<<62 { // a > 3 is not a < 4
			return vs.not(vs.get(node{op: opLt, a: a, b: vs.constant(y + 1)}))
		}
		return vs.get(node{op: opLt, a: b, b: a})
	case "<=":
		if bConst && y < 1<<62 {
			return vs.get(node{op: opLt, a: a, b: vs.constant(y + 1)})
		}
		return vs.not(vs.get(node{op: opLt, a: b, b: a}))
	}
	return 0
}

// combine is a & b or a | b; 0 where that says nothing.
func (vs *values) combine(op string, a, b value) value {
	x, aConst := vs.isConst(a)
	y, bConst := vs.isConst(b)
	switch {
	case aConst && bConst && op == "&":
		return vs.constant(x & y)
	case aConst && bConst:
		return vs.constant(x | y)
	case aConst:
		return vs.combine(op, b, a)
	case bConst && y == 0 && op == "&":
		return vs.constant(0)
	case bConst && y == 0:
		return a
	case bConst && y == 1 && vs.boolean(a) && op == "&":
		return a
	case bConst && y == 1 && vs.boolean(a):
		return vs.constant(1)
	case vs.depth[a]+vs.depth[b] > maxDepth:
		return 0
	case bConst && op == "&":
		return vs.get(node{op: opMask, a: a, n: y})
	case vs.boolean(a) && vs.boolean(b) && op == "&":
		return vs.get(node{op: opAnd, a: a, b: b})
	case vs.boolean(a) && vs.boolean(b):
		return vs.get(node{op: opOr, a: a, b: b})
	}
	return 0
}

// maxErrno is MAX_ERRNO of include/linux/err.h.
const maxErrno = 4095

// errPtr is IS_ERR(v).
func (vs *values) errPtr(v value) value {
	if n, ok := vs.isConst(v); ok {
		return vs.truthValue(n < 0 && n >= -maxErrno)
	}
	return vs.get(node{op: opErrPtr, a: v})
}

// mentions reports whether v is made of atom.
func (vs *values) mentions(v, atom value) bool {
	if v == 0 {
		return false
	}
	n := vs.nodes[v]
	return v == atom || n.a != 0 && vs.mentions(n.a, atom) || n.b != 0 && vs.mentions(n.b, atom)
}

// unknown reports whether v is made of any atom.
func (vs *values) unknown(v value) bool {
	n := vs.nodes[v]
	return n.op == opAtom || n.a != 0 && vs.unknown(n.a) || n.b != 0 && vs.unknown(n.b)
}

// atoms adds the atoms that v is made of.
func (vs *values) atoms(v value, into map[value]bool) {
	if v == 0 {
		return
	}
	n := vs.nodes[v]
	if n.op == opAtom {
		into[v] = true
	}
	vs.atoms(n.a, into)
	vs.atoms(n.b, into)
}

// fact is what a branch told about a comparison.
type fact struct {
	v    value
	true bool
}

// facts are sorted by value. A path only adds to a copy.
type facts []fact

func (fs facts) find(v value) (int, bool) {
	return slices.BinarySearchFunc(fs, v, func(f fact, v value) int { return int(f.v) - int(v) })
}

// truth is what is known of v as a condition: 1 true, 0 false, -1 unknown.
func (vs *values) truth(fs facts, v value) int {
	n := vs.nodes[v]
	switch n.op {
	case opConst:
		if n.n != 0 {
			return 1
		}
		return 0
	case opToken:
		return -1
	case opAtom, opMask:
		return negated(vs.truth(fs, vs.get(node{op: opEq, a: v, b: vs.constant(0)})))
	case opNot:
		return negated(vs.truth(fs, n.a))
	case opAnd, opOr:
		a, b := vs.truth(fs, n.a), vs.truth(fs, n.b)
		decides := 0 // what one side alone decides
		if n.op == opOr {
			decides = 1
		}
		switch {
		case a == decides || b == decides:
			return decides
		case a < 0 || b < 0:
			return -1
		}
		return 1 - decides
	}
	if i, ok := fs.find(v); ok {
		if fs[i].true {
			return 1
		}
		return 0
	}
	return vs.implied(fs, n)
}

func negated(t int) int {
	if t < 0 {
		return t
	}
	return 1 - t
}

// implied decides a comparison with a constant by the bounds that facts give its
// left side.
func (vs *values) implied(fs facts, n node) int {
	k, isConst := vs.isConst(n.b)
	if n.op == opErrPtr {
		for _, f := range fs {
			if fn := vs.nodes[f.v]; f.true && fn.op == opEq && fn.a == n.a {
				if c, ok := vs.isConst(fn.b); ok {
					return vs.truth(nil, vs.truthValue(c < 0 && c >= -maxErrno))
				}
			}
		}
		return -1
	}
	if !isConst {
		return -1
	}
	const far = int64(1) << 62
	low, high := -far, far
	for _, f := range fs {
		fn := vs.nodes[f.v]
		c, ok := vs.isConst(fn.b)
		if fn.a != n.a || !ok {
			continue
		}
		switch {
		case fn.op == opEq && f.true:
			low, high = c, c
		case fn.op == opLt && f.true:
			high = min(high, c-1)
		case fn.op == opLt:
			low = max(low, c)
		}
	}
	switch {
	case n.op == opEq && (k < low || k > high):
		return 0
	case n.op == opEq && low == high && low == k:
		return 1
	case n.op == opLt && high < k:
		return 1
	case n.op == opLt && low >= k:
		return 0
	}
	return -1
}

// assume adds to fs that v is true or false. It reports false where that
// contradicts what is known: the path does not exist.
func (vs *values) assume(fs facts, v value, is bool) (facts, bool) {
	switch t := vs.truth(fs, v); {
	case t == 1 && !is, t == 0 && is:
		return fs, false
	case t >= 0:
		return fs, true
	}
	n := vs.nodes[v]
	switch n.op {
	case opToken:
		return fs, true
	case opAtom, opMask:
		return vs.assume(fs, vs.get(node{op: opEq, a: v, b: vs.constant(0)}), !is)
	case opNot:
		return vs.assume(fs, n.a, !is)
	case opAnd, opOr:
		if is != (n.op == opAnd) {
			return fs, true // one of the two, not known which
		}
		fs, ok := vs.assume(fs, n.a, is)
		if !ok {
			return fs, false
		}
		return vs.assume(fs, n.b, is)
	}
	i, _ := fs.find(v)
	return slices.Insert(slices.Clone(fs), i, fact{v, is}), true
}

// number reads a constant as the dump prints it: 5, -14, 4294967295, 0B, -14B, 'a'.
// Unsigned constants beyond int64 wrap, as the kernel's error pointers do.
func number(s string) (int64, bool) {
	if len(s) == 3 && s[0] == '\'' && s[2] == '\'' {
		return int64(s[1]), true
	}
	if s == "" || s[0] != '-' && (s[0] < '0' || s[0] > '9') {
		return 0, false
	}
	s = strings.TrimSuffix(s, "B")
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	u, err := strconv.ParseUint(s, 10, 64)
	return int64(u), err == nil
}
