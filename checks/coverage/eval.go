package coverage

import (
	"strconv"
	"strings"

	"uabot/checks/csource"
)

// truth is the value of a condition.
type truth int8

const (
	no truth = iota
	unknown
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

func not(t truth) truth { return yes - t }

// macro is what is known of a preprocessor symbol.
type macro struct {
	defined truth
	value   int64
	valued  bool // value is known; an undefined symbol has the value 0
}

// value of an expression; certain says whether it is known.
type value struct {
	n       int64
	certain bool
}

func (v value) truth() truth {
	if !v.certain {
		return unknown
	}
	return truthOf(v.n != 0)
}

// evaluate computes the condition of a branch, its siblings aside: lookup tells
// what is known of each symbol.
func evaluate(c csource.Cond, lookup func(string) macro) truth {
	switch c.Word {
	case "ifdef", "elifdef", "ifndef", "elifndef":
		if len(c.Expr) == 0 {
			return unknown
		}
		t := lookup(c.Expr[0].Text).defined
		if strings.HasSuffix(c.Word, "ndef") {
			t = not(t)
		}
		return t
	case "else":
		return yes
	}
	p := &parser{tokens: c.Expr, lookup: lookup}
	v := p.ternary()
	if p.pos != len(p.tokens) {
		return unknown
	}
	return v.truth()
}

// parser evaluates an #if expression (C11 6.10.1). What it does not understand is
// not certain.
type parser struct {
	tokens []csource.Token
	pos    int
	depth  int
	lookup func(string) macro
}

func (p *parser) peek() string {
	if p.pos < len(p.tokens) {
		return p.tokens[p.pos].Text
	}
	return ""
}

func (p *parser) accept(s string) bool {
	if p.pos < len(p.tokens) && p.tokens[p.pos].Is(s) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) ternary() value {
	c := p.binary(0)
	if !p.accept("?") {
		return c
	}
	a := p.ternary()
	if !p.accept(":") {
		return value{}
	}
	b := p.ternary()
	switch c.truth() {
	case yes:
		return a
	case no:
		return b
	}
	return value{}
}

// levels are the binary operators, loosest first.
var levels = [][]string{{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", ">", "<=", ">="}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

func (p *parser) binary(level int) value {
	if level == len(levels) {
		return p.unary()
	}
	left := p.binary(level + 1)
	for {
		op := ""
		for _, o := range levels[level] {
			if p.accept(o) {
				op = o
				break
			}
		}
		if op == "" {
			return left
		}
		left = apply(op, left, p.binary(level+1))
	}
}

func apply(op string, a, b value) value {
	switch op { // one side may decide
	case "&&":
		if a.truth() == no || b.truth() == no {
			return value{0, true}
		}
	case "||":
		if a.truth() == yes || b.truth() == yes {
			return value{1, true}
		}
	}
	if !a.certain || !b.certain {
		return value{}
	}
	flag := func(t bool) value {
		if t {
			return value{1, true}
		}
		return value{0, true}
	}
	switch op {
	case "&&":
		return flag(a.n != 0 && b.n != 0)
	case "||":
		return flag(a.n != 0 || b.n != 0)
	case "|":
		return value{a.n | b.n, true}
	case "^":
		return value{a.n ^ b.n, true}
	case "&":
		return value{a.n & b.n, true}
	case "==":
		return flag(a.n == b.n)
	case "!=":
		return flag(a.n != b.n)
	case "<":
		return flag(a.n < b.n)
	case ">":
		return flag(a.n > b.n)
	case "<=":
		return flag(a.n <= b.n)
	case ">=":
		return flag(a.n >= b.n)
	case "+":
		return value{a.n + b.n, true}
	case "-":
		return value{a.n - b.n, true}
	case "*":
		return value{a.n * b.n, true}
	case "<<", ">>":
		if b.n < 0 || b.n > 62 {
			return value{}
		}
		if op == "<<" {
			return value{a.n << b.n, true}
		}
		return value{a.n >> b.n, true}
	case "/", "%":
		if b.n == 0 {
			return value{}
		}
		if op == "/" {
			return value{a.n / b.n, true}
		}
		return value{a.n % b.n, true}
	}
	return value{}
}

// maxNesting bounds the parser's recursion: the text comes from strangers.
const maxNesting = 200

func (p *parser) unary() value {
	if p.depth++; p.depth > maxNesting {
		p.pos = len(p.tokens) + 1
		return value{}
	}
	defer func() { p.depth-- }()
	if p.pos >= len(p.tokens) {
		return value{}
	}
	t := p.tokens[p.pos]
	switch {
	case p.accept("!"):
		v := p.unary()
		if v.certain {
			return value{int64(not(v.truth()) / 2), true}
		}
		return v
	case p.accept("-"):
		v := p.unary()
		v.n = -v.n
		return v
	case p.accept("+"):
		return p.unary()
	case p.accept("~"):
		v := p.unary()
		v.n = ^v.n
		return v
	case p.accept("("):
		v := p.ternary()
		if !p.accept(")") {
			p.pos = len(p.tokens) + 1
		}
		return v
	case t.Kind == csource.Number:
		p.pos++
		n, err := strconv.ParseInt(strings.TrimRight(t.Text, "uUlL"), 0, 64)
		return value{n, err == nil}
	case t.Kind == csource.Ident:
		p.pos++
		return p.ident(t.Text)
	}
	p.pos++
	return value{}
}

// ident evaluates defined(X), the macros of include/linux/kconfig.h, and symbols.
func (p *parser) ident(name string) value {
	switch name {
	case "defined", "IS_ENABLED", "IS_BUILTIN", "IS_MODULE", "IS_REACHABLE":
		parens := p.accept("(")
		arg := p.peek()
		p.pos++
		if parens && !p.accept(")") {
			p.pos = len(p.tokens) + 1
			return value{}
		}
		var t truth
		built, module := p.lookup(arg).defined, p.lookup(arg+"_MODULE").defined
		switch name {
		case "defined", "IS_BUILTIN":
			t = built
		case "IS_MODULE":
			t = module
		case "IS_ENABLED":
			t = max(built, module)
		case "IS_REACHABLE": // a module sees modules, built-in code does not
			t = max(built, min(module, p.lookup("MODULE").defined))
		}
		return value{int64(t / 2), t != unknown}
	}
	m := p.lookup(name)
	if p.accept("(") { // a function-like macro: step over its arguments
		for depth := 1; depth > 0 && p.pos < len(p.tokens); p.pos++ {
			switch p.peek() {
			case "(":
				depth++
			case ")":
				depth--
			}
		}
		return value{}
	}
	if m.defined == no {
		return value{0, true}
	}
	return value{m.value, m.defined == yes && m.valued}
}
