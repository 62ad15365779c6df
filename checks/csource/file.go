package csource

import (
	"slices"
	"strings"
)

// File is one source text.
type File struct {
	Tokens  []Token // all outside of directives
	Funcs   []Func
	Macros  []Macro
	Structs []Struct
	Conds   []Cond
	// Includes are the files that #include names, as written without brackets or
	// quotes: "linux/uaccess.h".
	Includes []string
	Lines    int
	code     []bool // by line: a token or a directive is on it
}

// Func is one function definition. A syscall has the name of the function that
// the compiler makes of it: SYSCALL_DEFINE3(poll, …) is __do_sys_poll.
type Func struct {
	Name    string
	Line    int // of the name
	Start   int // of the first token of the definition
	End     int // of the closing brace
	Head    []Token
	Params  []Token // between the parentheses
	Body    []Token // between the braces
	Written string  // how the source names it: "SYSCALL_DEFINE3(poll"; else Name
}

// Macro is one #define.
type Macro struct {
	Name         string
	Params       []string // nil for an object-like macro
	FunctionLike bool
	Body         []Token
	Line, End    int
	Cond         int
}

// Struct is one definition of a structure or union with a tag.
type Struct struct {
	Union bool
	Name  string
	Line  int
	Body  []Token // between the braces
}

// Cond is one branch of a conditional block: #if, each #elif, #else.
type Cond struct {
	Parent int     // index of the branch around the block; -1 at the top
	First  int     // index of the block's first branch (itself for #if)
	Word   string  // if, ifdef, ifndef, elif, elifdef, elifndef, else
	Expr   []Token // the condition; empty for else
	Line   int     // of the directive
	End    int     // of the directive that ends the branch; the last line when none does
	Guard  bool    // an include guard: #ifndef X, #define X
}

// Parse reads src.
func Parse(src []byte) *File {
	text := string(src)
	tokens, directives := lex(text)
	f := &File{Tokens: tokens, Lines: strings.Count(text, "\n")}
	if text != "" && !strings.HasSuffix(text, "\n") {
		f.Lines++
	}
	f.conditionals(directives)
	f.mark(directives)
	f.regions(directives)
	return f
}

// HasCode reports whether a token or a directive stands on the line.
func (f *File) HasCode(line int) bool { return line > 0 && line < len(f.code) && f.code[line] }

func (f *File) mark(directives []directive) {
	f.code = make([]bool, f.Lines+2)
	set := func(line int) {
		if line < len(f.code) {
			f.code[line] = true
		}
	}
	for _, t := range f.Tokens {
		set(t.Line)
	}
	for _, d := range directives {
		set(d.line)
		for _, t := range d.tokens {
			set(t.Line)
		}
	}
}

// conditionals builds Conds, marks every token with its branch and collects the
// macros, which need the branch too.
func (f *File) conditionals(directives []directive) {
	var open []int // the branches we are in, outermost first
	current := func() int {
		if len(open) == 0 {
			return -1
		}
		return open[len(open)-1]
	}
	next := 0 // first token that has no branch yet
	for i, d := range directives {
		for ; next < d.at; next++ {
			f.Tokens[next].Cond = current()
		}
		if len(d.tokens) == 0 {
			continue
		}
		switch word, rest := d.tokens[0].Text, d.tokens[1:]; word {
		case "if", "ifdef", "ifndef":
			n := len(f.Conds)
			f.Conds = append(f.Conds, Cond{Parent: current(), First: n, Word: word, Expr: rest, Line: d.line, End: f.Lines,
				Guard: len(open) == 0 && isGuard(directives, i)})
			open = append(open, n)
		case "elif", "elifdef", "elifndef", "else":
			if len(open) == 0 {
				continue
			}
			was := current()
			f.Conds[was].End = d.line
			n := len(f.Conds)
			f.Conds = append(f.Conds, Cond{Parent: f.Conds[was].Parent, First: f.Conds[was].First, Word: word, Expr: rest, Line: d.line, End: f.Lines})
			open[len(open)-1] = n
		case "endif":
			if len(open) > 0 {
				f.Conds[current()].End = d.line
				open = open[:len(open)-1]
			}
		case "include":
			if name := included(rest); name != "" {
				f.Includes = append(f.Includes, name)
			}
		case "define":
			if m, ok := define(d); ok {
				m.Cond = current()
				f.Macros = append(f.Macros, m)
			}
		}
	}
	for ; next < len(f.Tokens); next++ {
		f.Tokens[next].Cond = current()
	}
}

// isGuard reports whether the i-th directive is the #ifndef of an include guard:
// the next directive defines the name that it asks for.
func isGuard(directives []directive, i int) bool {
	d := directives[i].tokens
	if len(d) < 2 || i+1 >= len(directives) {
		return false
	}
	var name string
	switch {
	case d[0].Text == "ifndef":
		name = d[1].Text
	case d[0].Text == "if" && len(d) > 3 && d[1].Is("!") && d[2].Is("defined"):
		for _, t := range d[3:] {
			if t.Kind == Ident {
				name = t.Text
				break
			}
		}
	}
	n := directives[i+1].tokens
	return name != "" && len(n) == 2 && n[0].Text == "define" && n[1].Text == name
}

// included reads the name of an #include; empty for a computed one.
func included(t []Token) string {
	switch {
	case len(t) == 1 && t[0].Kind == String:
		return strings.Trim(t[0].Text, `"`)
	case len(t) > 2 && t[0].Is("<"):
		var b strings.Builder
		for _, t := range t[1:] {
			if t.Is(">") {
				return b.String()
			}
			b.WriteString(t.Text)
		}
	}
	return ""
}

// define reads the macro of a #define line.
func define(d directive) (Macro, bool) {
	t := d.tokens[1:]
	if len(t) == 0 || t[0].Kind != Ident {
		return Macro{}, false
	}
	m := Macro{Name: t[0].Text, Line: d.line, End: d.endLine}
	t = t[1:]
	if len(t) > 0 && t[0].Is("(") && !t[0].Space {
		m.FunctionLike = true
		m.Params = []string{}
		end := slices.IndexFunc(t, func(t Token) bool { return t.Is(")") })
		if end < 0 {
			return Macro{}, false
		}
		for _, p := range t[1:end] {
			if p.Kind == Ident || p.Is("...") {
				m.Params = append(m.Params, p.Text)
			}
		}
		t = t[end+1:]
	}
	m.Body = t
	return m, true
}

// Branch returns the innermost branch that the line is in, or -1. The lines of the
// directives themselves belong to the branch around.
func (f *File) Branch(line int) int {
	best := -1
	for i, c := range f.Conds {
		if c.Line < line && line < c.End && (best < 0 || c.Line > f.Conds[best].Line) {
			best = i
		}
	}
	return best
}

// FuncAt returns the function whose definition spans the line, or nil.
func (f *File) FuncAt(line int) *Func {
	for i := range f.Funcs {
		if f.Funcs[i].Start <= line && line <= f.Funcs[i].End {
			return &f.Funcs[i]
		}
	}
	return nil
}

// MacroAt returns the macro whose definition spans the line, or nil.
func (f *File) MacroAt(line int) *Macro {
	for i := range f.Macros {
		if f.Macros[i].Line <= line && line <= f.Macros[i].End {
			return &f.Macros[i]
		}
	}
	return nil
}
