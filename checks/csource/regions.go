package csource

import "strings"

// regions finds function and structure definitions: what stands before an opening
// brace at depth 0 decides. Every branch of an #if starts at the brace depth of
// the #if, so `#ifdef A … { #else … { #endif` does not unbalance the rest.
func (f *File) regions(directives []directive) {
	depths := f.depths(directives)
	start := 0 // first token of the current top-level declaration
	for i := 0; i < len(f.Tokens); i++ {
		t := f.Tokens[i]
		if depths[i] != 0 {
			continue
		}
		switch {
		case t.Is(";"):
			start = i + 1
		case t.Is("{"):
			end := i + 1
			for end < len(f.Tokens) && !(depths[end] == 0 && f.Tokens[end].Is("}")) {
				end++
			}
			head, body := f.Tokens[start:i], f.Tokens[i+1:min(end, len(f.Tokens))]
			last := f.Lines
			if end < len(f.Tokens) {
				last = f.Tokens[end].Line
			}
			if fn, ok := function(head); ok {
				fn.Body, fn.End = body, last
				f.Funcs = append(f.Funcs, fn)
				start = end + 1
			}
			i = end
		}
	}
	f.structures()
}

// depths gives each token its brace depth; an opening brace and its closing one
// both have the depth outside of them.
func (f *File) depths(directives []directive) []int {
	depths := make([]int, len(f.Tokens))
	depth, next := 0, 0
	type block struct{ start, first int }
	var open []block // depth at the #if, and at the end of its first branch (-1: still in it)
	walk := func(to int) {
		for ; next < to; next++ {
			switch t := f.Tokens[next]; {
			case t.Is("{"):
				depths[next] = depth
				depth++
			case t.Is("}"):
				depth = max(depth-1, 0)
				depths[next] = depth
			default:
				depths[next] = depth
			}
		}
	}
	for _, d := range directives {
		walk(d.at)
		if len(d.tokens) == 0 {
			continue
		}
		switch word := d.tokens[0].Text; {
		case strings.HasPrefix(word, "if"):
			open = append(open, block{depth, -1})
		case len(open) == 0:
		case strings.HasPrefix(word, "el"):
			b := &open[len(open)-1]
			if b.first < 0 {
				b.first = depth
			}
			depth = b.start
		case word == "endif":
			if b := open[len(open)-1]; b.first >= 0 {
				depth = b.first
			}
			open = open[:len(open)-1]
		}
	}
	walk(len(f.Tokens))
	return depths
}

// notFunctions are words that may stand before a parenthesis without being the
// name of what is being defined.
var notFunctions = map[string]bool{
	"__attribute__": true, "__attribute": true, "__declspec": true, "asm": true, "__asm__": true,
	"typeof": true, "__typeof__": true, "sizeof": true, "if": true, "while": true, "for": true,
	"switch": true, "return": true, "__section": true, "__aligned": true, "__acquires": true,
	"__releases": true, "__must_hold": true, "__printf": true, "__scanf": true, "__cond_acquires": true,
	"__alloc_size": true, "__malloc": true, "__assume_aligned": true, "__alias": true,
	"__no_sanitize": true, "__diag_ignore": true, "__bpf_kfunc_start_defs": true, "_Alignas": true,
}

// function reads the head of a definition: the name is the first word before a
// parenthesis that is no attribute.
func function(head []Token) (Func, bool) {
	for i := 0; i+1 < len(head); i++ {
		t := head[i]
		if t.Is("=") || t.Is("enum") && i+2 >= len(head) {
			return Func{}, false
		}
		if t.Kind != Ident || !head[i+1].Is("(") {
			continue
		}
		end := Match(head, i+1)
		if end < 0 {
			return Func{}, false
		}
		if notFunctions[t.Text] {
			i = end
			continue
		}
		for _, a := range head[end+1:] {
			if a.Is("=") {
				return Func{}, false
			}
		}
		name, written := t.Text, t.Text
		params := head[i+2 : end]
		if made, ok := syscall(t.Text, params); ok {
			written = t.Text + "(" + params[0].Text
			name = made
		}
		return Func{Name: name, Written: written, Line: t.Line, Start: head[0].Line, Head: head, Params: params}, true
	}
	return Func{}, false
}

// syscall names the function that a SYSCALL_DEFINEn(name, …) makes, as
// include/linux/syscalls.h and include/linux/compat.h do.
func syscall(macro string, params []Token) (string, bool) {
	if len(params) == 0 || params[0].Kind != Ident {
		return "", false
	}
	switch {
	case strings.HasPrefix(macro, "COMPAT_SYSCALL_DEFINE"):
		return "__do_compat_sys_" + params[0].Text, true
	case strings.HasPrefix(macro, "SYSCALL_DEFINE"):
		return "__do_sys_" + params[0].Text, true
	}
	return "", false
}

// structures collects every `struct tag {` and `union tag {`, nested ones too.
func (f *File) structures() {
	closing := partners(f.Tokens)
	for i := 0; i+1 < len(f.Tokens); i++ {
		t := f.Tokens[i]
		if !t.Is("struct") && !t.Is("union") {
			continue
		}
		j := i + 1
		for j < len(f.Tokens) && f.Tokens[j].Kind == Ident && j-i < 4 && !(j+1 < len(f.Tokens) && f.Tokens[j+1].Is("{")) {
			j++ // attributes between the word and the tag
		}
		if j+1 >= len(f.Tokens) || f.Tokens[j].Kind != Ident || !f.Tokens[j+1].Is("{") {
			continue
		}
		end := closing[j+1]
		if end < 0 {
			continue
		}
		f.Structs = append(f.Structs, Struct{Union: t.Is("union"), Name: f.Tokens[j].Text, Line: f.Tokens[j].Line, Body: f.Tokens[j+2 : end]})
	}
}
