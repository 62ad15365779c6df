package usercopy

import (
	"fmt"
	"slices"
	"strings"

	"uabot/checks/csource"
)

// bytesReturned finds functions that hand on the number of bytes that were not
// copied where their callers expect -EFAULT: `return copy_to_user(…);`, and
// `ret = copy_to_user(…); if (ret) return ret;`.
func bytesReturned(v *view, s *source) []hit {
	var hits []hit
	for _, r := range s.regions() {
		if r.fn == nil || !returnsErrno(r.fn) || isArchUaccess(s.path) {
			continue
		}
		for _, c := range r.calls {
			if !bytesLeft.MatchString(c.Name) || !handedOn(r.body, c) {
				continue
			}
			if v.onlyTested(s, r.name) {
				continue
			}
			hits = append(hits, hit{rule: "bytes-returned", src: s, fn: r.name, line: c.Line,
				detail: strings.TrimPrefix(strings.TrimLeft(c.Name, "_"), "raw_") + csource.Text(r.body[c.At+1:c.End+1]),
				title:  fmt.Sprintf("%s() returns how many bytes %s() left, not an error", r.name, c.Name),
				note:   fmt.Sprintf("%s() returns how many bytes were not copied: a caller that expects 0 or a negative error takes that for success. Usual: `if (%s(...)) return -EFAULT;`.", c.Name, c.Name),
				lines:  span(r.body, c)})
		}
	}
	return hits
}

// returnsErrno reports whether f returns a signed integer and is no copy routine
// itself: those return bytes by contract.
func returnsErrno(f *csource.Func) bool {
	name := strings.ToLower(f.Name)
	if strings.Contains(name, "copy") || strings.Contains(name, "clear") || strings.Contains(name, "usercopy") {
		return false
	}
	if f.Written != f.Name { // a system call
		return true
	}
	signed := false
	for _, t := range f.Head {
		switch t.Text {
		case f.Name:
			return signed
		case "unsigned", "size_t", "*", "void", "bool", "u32", "u64", "notrace":
			return false
		case "int", "long", "ssize_t":
			signed = true
		}
	}
	return false
}

// handedOn reports whether the value of c, a call in body, is returned as it is.
func handedOn(body []csource.Token, c csource.Call) bool {
	next := c.End + 1
	if next >= len(body) || !body[next].Is(";") || c.At == 0 {
		return false
	}
	if body[c.At-1].Is("return") {
		return true
	}
	if c.At < 2 || !body[c.At-1].Is("=") || body[c.At-2].Kind != csource.Ident {
		return false
	}
	v := body[c.At-2].Text
	rest := body[next+1:]
	return starts(rest, "if", "(", v, ")", "return", v, ";") || starts(rest, "return", v, ";")
}

func starts(tokens []csource.Token, words ...string) bool {
	if len(tokens) < len(words) {
		return false
	}
	for i, w := range words {
		if tokens[i].Text != w {
			return false
		}
	}
	return true
}

// onlyTested reports whether every call of a function is a mere test, `if (f(…))`,
// `f(…) ? …`, or is or-ed into an error flag as signal code does: then any non-zero
// value will do. It needs one call at least.
func (v *view) onlyTested(s *source, name string) bool {
	files := []string{}
	if v.Search != nil && !isStatic(s, name) {
		more, err := v.Search(v.ctx, name)
		if err != nil && v.err == nil {
			v.err = err
		}
		files = more[:min(len(more), maxSearch)]
	}
	tested, other := tests(s, name)
	for _, path := range files {
		if f := v.file(path); f != nil && path != s.path && judged(path) {
			t, o := tests(f, name)
			tested, other = tested+t, other+o
		}
	}
	return tested > 0 && other == 0
}

// tests counts the calls of name in s that are mere tests, and the others.
func tests(s *source, name string) (tested, other int) {
	for _, r := range s.regions() {
		for _, c := range r.calls {
			if c.Name != name {
				continue
			}
			before, after := prev(r.body, c.At), at(r.body, c.End+1)
			inIf := (before.Is("(") || before.Is("||") || before.Is("&&") || before.Is("!")) && (after.Is(")") || after.Is("||") || after.Is("&&"))
			if inIf || after.Is("?") || before.Is("|=") || before.Is("|") {
				tested++
			} else {
				other++
			}
		}
	}
	return tested, other
}

func prev(tokens []csource.Token, i int) csource.Token { return at(tokens, i-1) }

// at returns the i-th token, or one that is nothing.
func at(tokens []csource.Token, i int) csource.Token {
	if i < 0 || i >= len(tokens) {
		return csource.Token{}
	}
	return tokens[i]
}

// span lists the lines that a call stands on.
func span(body []csource.Token, c csource.Call) []int {
	var lines []int
	for _, t := range body[c.At : c.End+1] {
		if !slices.Contains(lines, t.Line) {
			lines = append(lines, t.Line)
		}
	}
	return lines
}

// accessOKArithmetic finds sizes given to access_ok() that are a sum or product of
// something that nothing in the function has bounded yet.
func accessOKArithmetic(_ *view, s *source) []hit {
	if isArchUaccess(s.path) {
		return wrappingRangeCheck(s)
	}
	var hits []hit
	for _, r := range s.regions() {
		if r.fn == nil {
			continue
		}
		for _, c := range r.calls {
			if c.Name != "access_ok" || len(c.Args) != 2 {
				continue
			}
			for _, name := range unboundedOperands(r, c) {
				hits = append(hits, hit{rule: "access-ok-arithmetic", src: s, fn: r.name, line: c.Line,
					detail: csource.Text(r.body[c.At:c.End+1]) + " with " + name,
					title:  fmt.Sprintf("the size given to access_ok() can overflow: nothing bounds %s before", name),
					note:   "A size that wraps round is small, passes, and the accesses go beyond what was checked. array_size() and size_mul() saturate instead.",
					lines:  span(r.body, c)})
			}
		}
	}
	return hits
}

// unboundedOperands lists the variables in the size of an access_ok() call that are
// multiplied or added to and that no earlier comparison, min() or check_*_overflow()
// of the function mentions.
func unboundedOperands(r region, c csource.Call) []string {
	size := csource.Bare(c.Args[1])
	depth, arithmetic := 0, false
	for i, t := range size {
		switch {
		case t.Is("(") || t.Is("["):
			depth++
		case t.Is(")") || t.Is("]"):
			depth--
		case depth == 0 && i > 0 && (t.Is("*") || t.Is("+") || t.Is("<<")): // not a unary one
			arithmetic = true
		}
	}
	if !arithmetic {
		return nil
	}
	var names []string
	for i := 0; i < len(size); i++ {
		t := size[i]
		if t.Is("sizeof") && i+1 < len(size) && size[i+1].Is("(") {
			if end := csource.Match(size, i+1); end > 0 {
				i = end
			}
			continue
		}
		if t.Kind != csource.Ident || i > 0 && (size[i-1].Is("->") || size[i-1].Is(".")) || i+1 < len(size) && size[i+1].Is("(") {
			continue
		}
		if i+1 < len(size) && (size[i+1].Is(".") || size[i+1].Is("->")) && !filledByUser(r.body[:c.At], t.Text) {
			continue // a member of what the kernel computed
		}
		if strings.ToUpper(t.Text) == t.Text || bounded(r.body[:c.At], t.Text) || slices.Contains(names, t.Text) || narrow(r, t.Text) {
			continue
		}
		names = append(names, t.Text)
	}
	return names
}

// filledByUser reports whether tokens copy name from user space as a whole.
func filledByUser(tokens []csource.Token, name string) bool {
	for _, c := range csource.Calls(tokens) {
		if copyIn.MatchString(c.Name) && csource.Root(arg(c, 0)) == name {
			return true
		}
	}
	return false
}

// narrow reports whether a variable is declared with a type too small to overflow a
// size when multiplied by the size of anything.
func narrow(r region, name string) bool {
	for _, tokens := range [][]csource.Token{r.params, r.body} {
		for i, t := range tokens {
			if t.Is(name) && i > 0 {
				switch tokens[i-1].Text {
				case "u8", "u16", "__u8", "__u16", "char", "short", "bool":
					return true
				}
			}
		}
	}
	return false
}

// bounded reports whether tokens compare name with something or clamp it. Only the
// place right before or after the operator counts, members included: `n > MAX`,
// `MAX < q->n`.
func bounded(tokens []csource.Token, name string) bool {
	for i, t := range tokens {
		switch t.Text {
		case "<", ">", "<=", ">=", "==":
			for j := max(0, i-4); j < min(len(tokens), i+5); j++ {
				if tokens[j].Is(name) {
					return true
				}
			}
		case "min", "min_t", "clamp", "clamp_t", "clamp_val", "check_mul_overflow", "check_add_overflow", "array_size", "size_mul", "struct_size":
			if i+1 < len(tokens) && tokens[i+1].Is("(") {
				if end := csource.Match(tokens, i+1); end > 0 && mentions(tokens[i:end], name) {
					return true
				}
			}
		}
	}
	return false
}

// wrappingRangeCheck finds implementations of access_ok() that compare the end of
// the range, addr + size, with a limit: the sum wraps.
func wrappingRangeCheck(s *source) []hit {
	var hits []hit
	for _, r := range s.regions() {
		if !strings.HasSuffix(r.name, "access_ok") && r.name != "__range_ok" {
			continue
		}
		var params []string
		if r.macro != nil {
			params = r.macro.Params
		} else {
			params = csource.Idents(r.params)
		}
		for i, t := range r.body {
			if !t.Is("+") || i == 0 || i+1 >= len(r.body) {
				continue
			}
			left, right := leftOperand(r.body[:i]), rightOperand(r.body[i+1:])
			if left == right || !slices.Contains(params, left) || !slices.Contains(params, right) || overflowGuard(r.body) {
				continue
			}
			hits = append(hits, hit{rule: "access-ok-arithmetic", src: s, fn: r.name, line: t.Line, detail: left + " + " + right,
				title: fmt.Sprintf("%s() compares %s + %s with the limit: the sum can wrap round", r.name, left, right),
				note:  "A range that ends beyond the address space wraps to a low address and passes. `size <= limit && addr <= limit - size` does not."})
		}
	}
	return hits
}

// leftOperand and rightOperand name the variable next to an operator, through
// parentheses and casts.
func leftOperand(tokens []csource.Token) string {
	for i := len(tokens) - 1; i >= 0; i-- {
		if tokens[i].Kind == csource.Ident {
			return tokens[i].Text
		}
		if !tokens[i].Is(")") {
			break
		}
	}
	return ""
}

func rightOperand(tokens []csource.Token) string { return csource.Root(tokens[:min(len(tokens), 12)]) }

// overflowGuard reports whether an implementation compares a sum with one of its
// parts (`addr + size >= addr`), or lets a builtin do it.
func overflowGuard(tokens []csource.Token) bool {
	for i, t := range tokens {
		if strings.Contains(t.Text, "overflow") {
			return true
		}
		// sum = a + b; … sum >= a
		if t.Is("+") && i > 2 && tokens[i-2].Is("=") && i+1 < len(tokens) {
			sum := tokens[i-3].Text
			for j := i; j+2 < len(tokens); j++ {
				if tokens[j].Is(sum) && (tokens[j+1].Is(">=") || tokens[j+1].Is("<")) &&
					(tokens[j+2].Text == tokens[i-1].Text || mentions(tokens[j+2:min(j+10, len(tokens))], rightOperand(tokens[i+1:]))) {
					return true
				}
			}
		}
		if (t.Is("<") || t.Is(">=")) && i > 2 && i+1 < len(tokens) && tokens[i-2].Is("+") && tokens[i-3].Text == tokens[i+1].Text {
			return true
		}
	}
	return false
}
