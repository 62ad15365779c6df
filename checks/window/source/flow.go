package source

import (
	"strings"

	"uabot/checks/window/source/gimple"
)

// flow is a function prepared for walking: which variables say where a path goes.
type flow struct {
	fn         *gimple.Func
	primitives map[string]*primitive
	nofacc     bool // reads kernel memory as if it were the user's

	vars  map[string]int // the variables that matter, numbered
	names []string
	// memory marks variables that others can change: globals, locals whose address
	// got away, what a pointer leads to.
	memory []bool
	// windowed marks variables whose value comes from opening, saving or a helper
	// that does.
	windowed   []bool
	live       map[int][]bool  // by block: variables read on some way from its start
	returned   map[string]bool // variables that hold what is returned
	outs       []int           // variables reached through parameters: theirs is the caller's
	derefs     map[string][]int
	escaped    map[string]bool
	usedResult map[*gimple.Stmt]bool
	faults     map[*gimple.Stmt]bool // branches on whether an access faulted
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
// besides primitives change windows.
func prepare(fn *gimple.Func, primitives map[string]*primitive, relevant func(string) bool) *flow {
	f := &flow{fn: fn, primitives: primitives, nofacc: nofault(fn.Name), vars: map[string]int{}, live: map[int][]bool{},
		returned: map[string]bool{}, usedResult: map[*gimple.Stmt]bool{}, derefs: map[string][]int{}, escaped: map[string]bool{}, faults: map[*gimple.Stmt]bool{}}
	f.findEscapes()
	f.findVars(relevant)
	f.findWindowed(relevant)
	f.findReturned()
	f.findLive()
	f.findFaults()
	return f
}

func (f *flow) findReturned() {
	f.each(func(s *gimple.Stmt) {
		if s.Kind == gimple.Return && s.A != "" {
			f.returned[s.A] = true
		}
	})
}

func (f *flow) findFaults() {
	for _, b := range f.fn.Blocks {
		result := ""
		for _, s := range b.Stmts {
			switch {
			case s.Kind == gimple.Call && f.primitives[s.Callee] != nil && f.primitives[s.Callee].effect == accesses:
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
			p := f.primitives[s.Callee]
			if !relevant(s.Callee) && (p == nil || p.effect != restores && !p.last) {
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
			if p := f.primitives[s.Callee]; s.Kind == gimple.Call && p != nil && p.effect == restores {
				for _, a := range s.Args { // a helper's parameter may hold what its caller saved
					if n, ok := f.vars[a]; ok && !f.windowed[n] {
						f.windowed[n] = true
						changed = true
					}
				}
			}
			n, matters := f.vars[s.LHS]
			if matters && f.windowed[n] && s.Kind == gimple.Assign {
				if m, ok := f.vars[s.RHS]; ok && !f.windowed[m] {
					f.windowed[m] = true
					changed = true
				}
			}
			if !matters || f.windowed[n] {
				return
			}
			from := false
			text := s.RHS
			if s.Kind == gimple.Call {
				p := f.primitives[s.Callee]
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

// used reports whether something depends on the result of call s: a branch, a return,
// a store, another call.
func (f *flow) used(s *gimple.Stmt) bool {
	if u, known := f.usedResult[s]; known {
		return u
	}
	u := s.LHS != "" && f.findUse(s)
	f.usedResult[s] = u
	return u
}

// findUse follows the variables that carry the result, over copies, until one is
// used or all are overwritten.
func (f *flow) findUse(call *gimple.Stmt) bool {
	register := func(v string) bool {
		base := gimple.Base(v)
		return gimple.IsVar(v) && !f.escaped[base] && (f.fn.Locals[base] || !strings.Contains(base, "D."))
	}
	if !register(call.LHS) {
		return true
	}
	type at struct {
		block, from int
		carriers    string // each between spaces
	}
	var queue []at
	for _, b := range f.fn.Blocks {
		for i, s := range b.Stmts {
			if s == call {
				queue = append(queue, at{b.ID, i + 1, " " + call.LHS + " "})
			}
		}
	}
	seen := map[at]bool{}
	for len(queue) > 0 && len(seen) < 2000 {
		a := queue[0]
		queue = queue[1:]
		if seen[a] || a.carriers == " " {
			continue
		}
		seen[a] = true
		b := f.fn.Block(a.block)
		if b == nil {
			continue
		}
		carried := func(text string) bool {
			found := false
			gimple.Vars(text, func(v string) {
				found = found || strings.Contains(a.carriers, " "+v+" ")
			})
			return found
		}
		for _, s := range b.Stmts[min(a.from, len(b.Stmts)):] {
			copied := carried(s.RHS)
			args := carried(strings.Join(s.Args, " "))
			if s.Kind == gimple.Call && passes[s.Callee] {
				copied, args = args, false
			}
			switch {
			case carried(s.A), carried(s.B), args, copied && !register(s.LHS),
				s.Asm != nil && carried(strings.Join(s.Asm.Ins, " ")):
				return true
			case copied && !strings.Contains(a.carriers, " "+s.LHS+" "):
				a.carriers += s.LHS + " "
			case !copied && s.LHS != "":
				a.carriers = strings.Replace(a.carriers, " "+s.LHS+" ", " ", 1)
			}
		}
		for _, next := range b.Succs {
			queue = append(queue, at{next, 0, a.carriers})
		}
	}
	return len(seen) >= 2000
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
