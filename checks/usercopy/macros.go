package usercopy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"uabot/checks/csource"
)

// unwrappedGoto finds macros about user access that expand to a bare
// `if (…) goto label`: an else after the use binds to the macro's if.
func unwrappedGoto(_ *view, s *source) []hit {
	var hits []hit
	for _, r := range s.regions() {
		if r.macro == nil || !r.macro.FunctionLike || !starts(r.body, "if", "(") || !mentions(r.body, "goto") {
			continue
		}
		end := csource.Match(r.body, 1)
		if end < 0 || !at(r.body, end+1).Is("goto") && !at(r.body, end+1).Is("{") || mentions(r.body, "else") {
			continue
		}
		if !aboutAccess(r) {
			continue
		}
		hits = append(hits, hit{rule: "unwrapped-goto", src: s, fn: r.name, line: r.line, detail: r.name,
			title: fmt.Sprintf("the macro %s() is a bare `if (...) goto`", r.name),
			note:  "`if (x) MACRO(...); else ...` takes the else for the macro's own if. `do { ... } while (0)` keeps it together.",
			lines: lineRange(r.line, r.end)})
	}
	return hits
}

// aboutAccess reports whether a region touches user memory.
func aboutAccess(r region) bool {
	return slices.ContainsFunc(r.body, func(t csource.Token) bool {
		return t.Kind == csource.Ident && (anyAccess.MatchString(t.Text) || opens(t.Text) || closes(t.Text) || strings.Contains(t.Text, "copy_siginfo") || strings.HasPrefix(t.Text, "unsafe_"))
	})
}

func lineRange(from, to int) []int {
	var lines []int
	for l := from; l <= to; l++ {
		lines = append(lines, l)
	}
	return lines
}

// The names that promise a direction; `kvm_reg_get_user` and the like mean
// something else by it.
var putName = regexp.MustCompile(`^_*(?:(?:arch|raw|unsafe|safe)_)*put_(?:user|compat_sigset|sigset)`)
var getName = regexp.MustCompile(`^_*(?:(?:arch|raw|unsafe|safe)_)*get_(?:user|compat_sigset|sigset)`)
var anyPut = regexp.MustCompile(`put_user|copy_to_user|put_mem|put_size|put_asm|put_kernel_nofault`)
var anyGet = regexp.MustCompile(`get_user|copy_from_user|get_mem|get_size|get_asm|get_kernel_nofault`)

// putMacroGets finds a put that reads and a get that writes: what is left when one
// was copied from the other.
func putMacroGets(_ *view, s *source) []hit {
	var hits []hit
	for _, r := range s.regions() {
		var wrong string
		switch puts, gets := callsLike(r, anyPut), callsLike(r, anyGet); {
		case putName.MatchString(r.name) && puts == "" && gets != "":
			wrong = gets
		case getName.MatchString(r.name) && gets == "" && puts != "":
			wrong = puts
		default:
			continue
		}
		hits = append(hits, hit{rule: "put-macro-gets", src: s, fn: r.name, line: r.line, detail: wrong,
			title: fmt.Sprintf("%s() uses %s(): the other direction", r.name, wrong),
			note:  "It moves data the other way than its name says, and into the wrong memory.",
			lines: lineRange(r.line, r.end)})
	}
	return hits
}

// callsLike returns the first name called in r that matches, r itself aside.
func callsLike(r region, match *regexp.Regexp) string {
	for _, c := range r.calls {
		if c.Name != r.name && match.MatchString(c.Name) {
			return c.Name
		}
	}
	return ""
}

// noWideCase finds accessors of an architecture that switch over the size of the
// access and know 1, 2 and 4 but not 8.
func noWideCase(_ *view, s *source) []hit {
	if !isArchUaccess(s.path) || !strings.HasPrefix(s.path, "arch/") {
		return nil
	}
	var hits []hit
	for _, r := range s.regions() {
		if !strings.Contains(r.name, "user") && !strings.Contains(r.name, "mem") || !mentions(r.body, "switch") || !mentions(r.body, "default") {
			continue
		}
		cases := map[string]bool{}
		for i, t := range r.body {
			if t.Is("case") {
				cases[at(r.body, i+1).Text] = true
			}
		}
		if cases["1"] && cases["2"] && cases["4"] && !cases["8"] {
			hits = append(hits, hit{rule: "no-64-bit-case", src: s, fn: r.name, line: r.line, detail: "1 2 4",
				title: fmt.Sprintf("%s() knows sizes 1, 2 and 4, not 8", r.name),
				note:  "Generic code reads and writes 64-bit values in user memory on every architecture; there it will not link.",
				lines: lineRange(r.line, r.end)})
		}
	}
	return hits
}

// valueNames are what macros call the value that a user gives them.
var valueNames = map[string]bool{"x": true, "_x": true, "__x": true, "val": true, "value": true, "v": true}

// writesByName are macros that take a value; to a get the same parameter is where
// the value goes.
var writesByName = regexp.MustCompile(`put|store|write|xchg`)

// argumentInWindow finds macros that open a window and then evaluate the value they
// were given: a call in it runs inside, and whatever it opens closes early.
func argumentInWindow(_ *view, s *source) []hit {
	var hits []hit
	for _, r := range s.regions() {
		if r.macro == nil || !r.macro.FunctionLike || !writesByName.MatchString(r.name) {
			continue
		}
		from := -1
		for _, c := range r.calls {
			switch {
			case opens(c.Name) && c.Name != r.name:
				from = c.End
			case closes(c.Name) && from >= 0:
				if name, line := evaluated(r.body[from:c.At], r.macro.Params); name != "" {
					hits = append(hits, hit{rule: "argument-in-window", src: s, fn: r.name, line: line, detail: name,
						title: fmt.Sprintf("%s() evaluates its argument %s while the window is open", r.name, name),
						note:  fmt.Sprintf("Users write calls there: they would run with user memory open, and a put or get inside of them would close it early. Evaluate it before: `typeof(*(ptr)) __val = (%s);`.", name),
						lines: lineRange(r.line, r.end)})
				}
				from = -1
			}
		}
	}
	return hits
}

// evaluated returns the first value parameter among tokens that is more than the
// operand of sizeof or typeof.
func evaluated(tokens []csource.Token, params []string) (name string, line int) {
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch t.Text {
		case "sizeof", "typeof", "__typeof__", "__builtin_constant_p":
			if end := csource.Match(tokens, i+1); at(tokens, i+1).Is("(") && end > 0 {
				i = end
			}
			continue
		}
		if t.Kind == csource.Ident && valueNames[t.Text] && slices.Contains(params, t.Text) && !prev(tokens, i).Is(".") && !prev(tokens, i).Is("->") && !assigned(tokens, i) {
			return t.Text, t.Line
		}
	}
	return "", 0
}

// assigned reports whether the parameter at i is stored to, as a get stores what it read.
func assigned(tokens []csource.Token, i int) bool {
	next := at(tokens, i+1)
	if next.Is(")") {
		next = at(tokens, i+2)
	}
	return next.Is("=")
}
