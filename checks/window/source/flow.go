package source

import (
	"strings"

	"uabot/checks/window/source/gimple"
)

// flow is a function prepared for walking: which variables say where a path goes.
type flow struct {
	fn     *gimple.Func
	nofacc bool // reads kernel memory as if it were the user's

	vars  map[string]int // the variables that matter, numbered
	names []string
	// memory marks variables that others can change: globals, locals whose address
	// got away, what a pointer leads to.
	memory []bool
	// windowed marks variables whose value comes from opening, saving or a helper
	// that does.
	windowed []bool
	live     map[int][]bool  // by block: variables read on some way from its start
	used     map[string]bool // variables that something depends on
	outs     []int           // variables reached through parameters: theirs is the caller's
	derefs   map[string][]int
	escaped  map[string]bool
	faults   map[*gimple.Stmt]bool // branches on whether an access faulted
}

// tracked reports whether an operand is a variable or a simple path from one whose
// value may be followed: no volatile access, no array element.
func tracked(operand string) bool {
	if gimple.IsVar(operand) {
		return true
	}
	if len(operand) > 120 {
		return false
	}
	p := strings.TrimPrefix(operand, "*")
	base, path, arrow := strings.Cut(p, "->")
	if !arrow && p == operand || arrow && p != operand {
		return false
	}
	return gimple.IsVar(base) && (!arrow || gimple.IsVar(path))
}

// addresses calls yield for each variable whose own address text takes.
func addresses(text string, yield func(string)) {
	for i := strings.IndexByte(text, '&'); i >= 0; {
		j := i + 1
		for j < len(text) && (text[j] == '_' || text[j] == '.' || text[j] == '$' || text[j] >= '0' && text[j] <= '9' || text[j] >= 'A' && text[j] <= 'Z' || text[j] >= 'a' && text[j] <= 'z') {
			j++
		}
		if name := text[i+1 : j]; gimple.IsVar(name) && !strings.HasPrefix(text[j:], "->") {
			yield(name)
		}
		next := strings.IndexByte(text[i+1:], '&')
		if next < 0 {
			return
		}
		i += 1 + next
	}
}

// prepare finds the variables of fn that matter. relevant says which functions
// change windows.
func prepare(fn *gimple.Func, relevant func(string) bool) *flow {
	f := &flow{fn: fn, nofacc: nofault(fn.Name), vars: map[string]int{}, live: map[int][]bool{},
		used: map[string]bool{}, derefs: map[string][]int{}, escaped: map[string]bool{}, faults: map[*gimple.Stmt]bool{}}
	f.findEscapes()
	f.findVars(relevant)
	f.findWindowed(relevant)
	f.findUsed()
	f.findLive()
	f.findFaults()
	return f
}

func (f *flow) findFaults() {
	for _, b := range f.fn.Blocks {
		result := ""
		for _, s := range b.Stmts {
			switch {
			case s.Kind == gimple.Call && primitives[s.Callee] != nil && primitives[s.Callee].effect == accesses:
				result = s.LHS
			case s.Kind == gimple.Cond && s.A == result && result != "":
				f.faults[s] = true
			}
		}
	}
}

func (f *flow) each(do func(s *gimple.Stmt)) {
	for _, b := range f.fn.Blocks {
		for _, s := range b.Stmts {
			do(s)
		}
	}
}

// findEscapes: an address that is a call's argument is given back with the call, any
// other may be kept.
func (f *flow) findEscapes() {
	escape := func(text string) {
		addresses(text, func(v string) { f.escaped[gimple.Base(v)] = true })
	}
	f.each(func(s *gimple.Stmt) {
		switch s.Kind {
		case gimple.Assign:
			escape(s.RHS)
		case gimple.Call:
			for _, a := range s.Args {
				if _, whole := strings.CutPrefix(a, "&"); !whole || !gimple.IsVar(a[1:]) {
					escape(a)
				}
			}
		}
	})
}

// add makes v a variable that matters and reports whether it was none before.
func (f *flow) add(v string) bool {
	if _, known := f.vars[v]; known || !tracked(v) {
		return false
	}
	n := len(f.names)
	f.vars[v] = n
	f.names = append(f.names, v)
	base := gimple.Base(strings.TrimPrefix(v, "*"))
	reached := !gimple.IsVar(v)
	if reached {
		base, _, _ = strings.Cut(strings.TrimPrefix(v, "*"), "->")
		f.derefs[base] = append(f.derefs[base], n)
	}
	global := strings.Contains(base, "D.") && !strings.HasPrefix(base, "D.") && !f.fn.Locals[base]
	f.memory = append(f.memory, reached || global || f.escaped[base])
	for _, p := range f.fn.Params {
		if reached && p == base {
			f.outs = append(f.outs, n)
		}
	}
	return true
}

func (f *flow) addAll(text string) bool {
	changed := false
	if tracked(text) {
		changed = f.add(text)
	}
	gimple.Vars(text, func(v string) {
		if f.add(v) {
			changed = true
		}
	})
	return changed
}

func (f *flow) findVars(relevant func(string) bool) {
	f.each(func(s *gimple.Stmt) {
		switch s.Kind {
		case gimple.Cond:
			f.addAll(s.A)
			f.addAll(s.B)
		case gimple.Switch, gimple.Return:
			f.addAll(s.A)
		case gimple.Assign:
			for _, p := range f.fn.Params {
				if p != "" && (s.LHS == "*"+p || strings.HasPrefix(s.LHS, p+"->")) {
					f.add(s.LHS)
				}
			}
		case gimple.Call:
			p := primitives[s.Callee]
			if !relevant(s.Callee) && (p == nil || p.effect != restores) {
				return
			}
			for _, a := range s.Args {
				if v := strings.TrimPrefix(a, "&"); gimple.IsVar(v) {
					f.add(v)
				}
			}
		}
	})
	for changed := true; changed; {
		changed = false
		f.each(func(s *gimple.Stmt) {
			if _, matters := f.vars[s.LHS]; !matters {
				return
			}
			switch {
			case s.Kind == gimple.Assign && len(s.RHS) < 200 && f.addAll(s.RHS),
				s.Kind == gimple.Call && len(s.Args) > 0 && (passes[s.Callee] || s.Callee == "IS_ERR") && f.addAll(s.Args[0]):
				changed = true
			}
		})
	}
}

func (f *flow) findWindowed(relevant func(string) bool) {
	f.windowed = make([]bool, len(f.names))
	for changed := true; changed; {
		changed = false
		f.each(func(s *gimple.Stmt) {
			n, matters := f.vars[s.LHS]
			if !matters || f.windowed[n] {
				return
			}
			from := false
			text := s.RHS
			if s.Kind == gimple.Call {
				p := primitives[s.Callee]
				from = p != nil && p.windowed() || relevant(s.Callee)
				if passes[s.Callee] && len(s.Args) > 0 {
					text = s.Args[0]
				}
			}
			gimple.Vars(text, func(v string) {
				if m, ok := f.vars[v]; ok && f.windowed[m] {
					from = true
				}
			})
			if from {
				f.windowed[n] = true
				changed = true
			}
		})
	}
}

// findUsed marks variables that reach a branch, a return, a call, a store or an asm:
// a result that does not was never looked at.
func (f *flow) findUsed() {
	use := func(text string) bool {
		changed := false
		gimple.Vars(text, func(v string) {
			if !f.used[v] {
				f.used[v] = true
				changed = true
			}
		})
		return changed
	}
	for changed := true; changed; {
		changed = false
		f.each(func(s *gimple.Stmt) {
			hit := false
			switch s.Kind {
			case gimple.Cond:
				hit = use(s.A + " " + s.B)
			case gimple.Switch, gimple.Return:
				hit = use(s.A)
			case gimple.Call:
				if !passes[s.Callee] || f.used[s.LHS] {
					hit = use(strings.Join(s.Args, " "))
				}
			case gimple.AsmStmt:
				hit = use(strings.Join(s.Asm.Ins, " "))
			case gimple.Assign:
				base := gimple.Base(s.LHS)
				register := gimple.IsVar(s.LHS) && !f.escaped[base] && (f.fn.Locals[base] || !strings.Contains(base, "D."))
				if !register || f.used[s.LHS] || f.used[base] {
					hit = use(s.RHS)
				}
			}
			changed = changed || hit
		})
	}
}

// findLive is the usual backward pass. What parameters lead to is read by the caller.
func (f *flow) findLive() {
	reads, writes := map[int][]bool{}, map[int][]bool{}
	for _, b := range f.fn.Blocks {
		r, w := make([]bool, len(f.names)), make([]bool, len(f.names))
		reads[b.ID], writes[b.ID] = r, w
		read := func(text string) {
			mark := func(v string) {
				if n, ok := f.vars[v]; ok && !w[n] {
					r[n] = true
				}
			}
			mark(text)
			gimple.Vars(text, mark)
		}
		for _, s := range b.Stmts {
			read(s.A)
			read(s.B)
			read(s.RHS)
			for _, a := range s.Args {
				read(a)
			}
			if s.Asm != nil {
				for _, in := range s.Asm.Ins {
					read(in)
				}
			}
			if n, ok := f.vars[s.LHS]; ok {
				if f.memory[n] {
					r[n] = r[n] || !w[n]
				} else {
					w[n] = true
				}
			} else {
				read(s.LHS)
			}
		}
		for _, n := range f.outs {
			r[n] = true
		}
		f.live[b.ID] = append([]bool(nil), r...)
	}
	for changed := true; changed; {
		changed = false
		for i := len(f.fn.Blocks) - 1; i >= 0; i-- {
			b := f.fn.Blocks[i]
			live := f.live[b.ID]
			for _, next := range b.Succs {
				for n, is := range f.live[next] {
					if is && !live[n] && !writes[b.ID][n] {
						live[n] = true
						changed = true
					}
				}
			}
		}
	}
}

// writes says how fn changes what its parameter p leads to: not at all, only by
// assignments that are followed, or in some other way.
func (f *flow) writes(p string) (any, followed bool) {
	followed = true
	bare := func(text string) bool {
		found := false
		for i := strings.Index(text, p); i >= 0 && !found; {
			end := i + len(p)
			before := i > 0 && text[i-1] == '*'
			after := strings.HasPrefix(text[end:], "->")
			found = !before && !after && (end == len(text) || text[end] < '0' || text[end] > '9')
			next := strings.Index(text[end:], p)
			if next < 0 {
				break
			}
			i = end + next
		}
		return found
	}
	f.each(func(s *gimple.Stmt) {
		if s.LHS == "*"+p || strings.HasPrefix(s.LHS, p+"->") {
			any = true
		}
		texts := append([]string{s.RHS}, s.Args...)
		if s.Asm != nil {
			texts = append(append(texts, s.Asm.Ins...), s.Asm.Outs...)
		}
		for _, t := range texts {
			if bare(t) {
				any, followed = true, false
			}
		}
	})
	return any, followed
}
