package gimple

import "strings"

// statement takes a line of a block that is no comment, and the lines that belong
// to it.
func (p *parser) statement(line string) {
	pos, text := p.place(strings.TrimLeft(line, " "))
	s := &Stmt{Pos: pos}
	if pos.Known() && !p.f.Pos.Known() {
		p.f.Pos = pos
	}
	if isAsm(text) {
		p.asm(s, text)
		p.block.Stmts = append(p.block.Stmts, s)
		return
	}
	text = unplaced(text)
	switch {
	case strings.HasPrefix(text, "// "), strings.HasPrefix(text, "goto "):
		return
	case strings.HasSuffix(text, ":") && !strings.Contains(text, " "):
		p.label(s, strings.TrimSuffix(text, ":"))
	case strings.HasSuffix(text, ": [INV]") && strings.Count(text, " ") == 1:
		p.label(s, strings.TrimSuffix(text, ": [INV]"))
	case strings.HasPrefix(text, "if ("):
		p.cond(s, text)
	case strings.HasPrefix(text, "switch ("):
		switchOn(s, text)
	case text == "return;" || strings.HasPrefix(text, "return "):
		s.Kind = Return
		s.A = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, "return"), ";"))
	default:
		p.simple(s, strings.TrimSuffix(text, ";"))
	}
	if s.Kind == Other {
		return
	}
	p.block.Stmts = append(p.block.Stmts, s)
}

// label notes where switches find a label: printed as "<L3>" or "failedL.6".
func (p *parser) label(s *Stmt, name string) {
	p.labels[name] = p.block.ID
	s.Kind = Label
	if i := strings.LastIndex(name, "L."); i > 0 && digits(name[i+2:]) {
		s.Name = name[:i]
	}
}

// cond takes "if (A op B)" and the two gotos below it.
func (p *parser) cond(s *Stmt, text string) {
	s.Kind = Cond
	in := strings.TrimSuffix(strings.TrimPrefix(text, "if ("), ")")
	for _, op := range []string{" == ", " != ", " <= ", " >= ", " < ", " > "} {
		if a, b, ok := strings.Cut(in, op); ok {
			s.A, s.Op, s.B = a, strings.TrimSpace(op), b
			break
		}
	}
	s.Then, s.Else = -1, -1
	for {
		line, err := p.line()
		if err != nil {
			return
		}
		line = strings.TrimSpace(line)
		_, to, isGoto := strings.Cut(line, "goto <bb ")
		switch {
		case isGoto && s.Then < 0:
			s.Then = leadingInt(to)
		case isGoto:
			s.Else = leadingInt(to)
			return
		case line != "else":
			p.peeked = &line
			return
		}
	}
}

// switchOn takes "switch (A) <default: <L1> [INV], case 1: <L2> [INV], case 2 ... 4: fooL.3>".
func switchOn(s *Stmt, text string) {
	s.Kind = Switch
	on, cases, ok := strings.Cut(strings.TrimPrefix(text, "switch ("), ") <")
	if !ok {
		return
	}
	s.A = on
	for _, c := range strings.Split(strings.TrimSuffix(cases, ">"), ", ") {
		value, label, ok := strings.Cut(c, ": ")
		if !ok {
			continue
		}
		label = strings.TrimSuffix(label, " [INV]")
		if strings.HasPrefix(label, "<") && !strings.HasSuffix(label, ">") {
			label += ">" // the list's own was cut
		}
		one := Case{Target: -1, label: label}
		if value != "default" {
			one.Lo, one.Hi, _ = strings.Cut(strings.TrimPrefix(value, "case "), " ... ")
		}
		s.Cases = append(s.Cases, one)
	}
}

// simple takes an assignment or a call.
func (p *parser) simple(s *Stmt, text string) {
	lhs, rhs, assigned := strings.Cut(text, " = ")
	if !assigned {
		lhs, rhs = "", text
	}
	s.LHS = lhs
	if name, args, ok := strings.Cut(rhs, " ("); ok && callee(name) {
		// what follows the arguments are flags: [return slot optimization], [tail call]
		if end := closing(args); end >= 0 {
			s.Kind, s.Args = Call, split(args[:end])
			switch {
			case strings.HasPrefix(name, "."):
				s.Callee = name
			case p.f.Locals[name] || temporary(name) || uidAt(name) < 0 && p.plainLocal(name):
				s.Callee, s.Indirect = name, true
			default:
				s.Callee = Plain(name)
			}
			return
		}
	}
	if assigned {
		s.Kind, s.RHS = Assign, rhs
	}
}

// plainLocal reports whether an automatic variable is called name.
func (p *parser) plainLocal(name string) bool {
	for v := range p.f.Locals {
		if Plain(v) == name {
			return true
		}
	}
	return false
}

// temporary reports whether name is "_3" or "fn.0_3": what holds a pointer to call.
// gcc 11 prints functions without their uids there, so the lack of one says nothing.
func temporary(name string) bool {
	i := strings.LastIndexByte(name, '_')
	return i >= 0 && digits(name[i+1:]) && (i == 0 || strings.Contains(name[:i], "."))
}

// callee reports whether text before " (" is the name of what is called.
func callee(text string) bool {
	if text == "" {
		return false
	}
	for i := 0; i < len(text); i++ {
		if !identChar(text[i]) {
			return false
		}
	}
	return true
}

// closing is where the parenthesis is that closes the one before s, -1 if nowhere.
func closing(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case '\'':
			if i+2 < len(s) && s[i+2] == '\'' {
				i += 2
			}
		case '(':
			depth++
		case ')':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// split cuts a list at its outermost commas.
func split(s string) []string {
	var parts []string
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case '\'':
			if i+2 < len(s) && s[i+2] == '\'' {
				i += 2
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, strings.TrimSpace(s[from:i]))
				from = i + 1
			}
		}
	}
	if last := strings.TrimSpace(s[min(from, len(s)):]); last != "" {
		parts = append(parts, last)
	}
	return parts
}

func isAsm(text string) bool {
	return strings.HasPrefix(text, "__asm__") || strings.HasPrefix(text, "asm ")
}

// maxAsm bounds the lines of one asm template.
const maxAsm = 4096

// asm takes an asm statement. Its template is printed raw and may hold anything, so
// lines are joined until one ends the statement.
func (p *parser) asm(s *Stmt, text string) {
	s.Kind = AsmStmt
	var b strings.Builder
	b.WriteString(text)
	for n := 0; !strings.HasSuffix(text, ");") && n < maxAsm; n++ {
		line, err := p.line()
		if err != nil {
			break
		}
		if strings.HasPrefix(line, ";;    succ:") || strings.HasPrefix(line, ";; Function ") || line == "}" {
			p.peeked = &line
			break
		}
		text = line
		b.WriteByte('\n')
		b.WriteString(line)
	}
	s.Asm = parseAsm(b.String())
}

func parseAsm(text string) *Asm {
	a := &Asm{}
	_, rest, ok := strings.Cut(text, "(\"")
	if !ok {
		a.Template = text
		return a
	}
	template, operands, ok := strings.Cut(rest, "\" : ")
	if !ok {
		a.Template = strings.TrimSuffix(rest, "\");")
		return a
	}
	a.Template = template
	// outputs : inputs : clobbers : labels
	lists := colons(strings.TrimSuffix(unplaced(operands), ");"))
	a.Outs = split(lists[0])
	if len(lists) > 1 {
		a.Ins = split(lists[1])
	}
	return a
}

// colons cuts at " : " outside of quotes and brackets.
func colons(s string) []string {
	var parts []string
	depth, from, quoted := 0, 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted:
			quoted = c != '"'
		case c == '"':
			quoted = true
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == ':' && depth == 0 && (i == 0 || s[i-1] == ' '):
			parts = append(parts, strings.TrimSpace(s[from:i]))
			from = i + 1
		}
	}
	return append(parts, strings.TrimSpace(s[min(from, len(s)):]))
}
