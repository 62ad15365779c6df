package usercopy

import (
	"fmt"
	"slices"

	"uabot/checks/csource"
)

// annotationLost finds parameters and variables of a function that were `__user`
// pointers, are plain pointers now, and still go to a helper that takes user
// pointers. Members of structures are compared as well.
func annotationLost(_ *view, p *pair) []hit {
	var hits []hit
	for _, t := range p.twins() {
		if t.patched.fn == nil {
			continue
		}
		was := userPointers(t.base.params, t.base.body)
		now := userPointers(t.patched.params, t.patched.body)
		for _, name := range was {
			if slices.Contains(now, name) {
				continue
			}
			line, ok := plainPointer(t.patched, name)
			if !ok || !p.added[line] || !passedToAccess(t.patched, name) {
				continue
			}
			hits = append(hits, annotationHit(p.patched, t.patched.name, name, line))
		}
	}
	for _, b := range p.base.Structs {
		for _, a := range p.patched.Structs {
			if a.Name != b.Name {
				continue
			}
			now := userPointers(nil, a.Body)
			for _, name := range userPointers(nil, b.Body) {
				line, ok := declared(a.Body, name)
				if ok && !slices.Contains(now, name) && p.added[line] {
					hits = append(hits, annotationHit(p.patched, "struct "+a.Name, name, line))
				}
			}
		}
	}
	return hits
}

func annotationHit(s *source, fn, name string, line int) hit {
	return hit{rule: "annotation-lost", src: s, fn: fn, line: line, detail: name,
		title: fmt.Sprintf("%s is no longer a __user pointer", name),
		note:  "Without the annotation sparse cannot see a direct access to user memory. Build with C=1."}
}

// userPointers lists the names declared with __user and an asterisk.
func userPointers(lists ...[]csource.Token) []string {
	var names []string
	for _, tokens := range lists {
		for i, t := range tokens {
			if !t.Is("__user") {
				continue
			}
			j := i + 1
			for at(tokens, j).Is("*") || at(tokens, j).Is("const") {
				j++
			}
			if j > i+1 && at(tokens, j).Kind == csource.Ident && !slices.Contains(names, at(tokens, j).Text) && at(tokens, j).Text != "" {
				names = append(names, tokens[j].Text)
			}
		}
	}
	return names
}

// plainPointer reports where r declares name as a pointer.
func plainPointer(r region, name string) (line int, ok bool) {
	if line, ok := declared(r.params, name); ok {
		return line, true
	}
	return declared(r.body, name)
}

// declared finds `type *name` followed by `,`, `;`, `=`, `)` or the end.
func declared(tokens []csource.Token, name string) (line int, ok bool) {
	for i, t := range tokens {
		if !t.Is(name) || !prev(tokens, i).Is("*") {
			continue
		}
		j := i - 1
		for j >= 0 && tokens[j].Is("*") {
			j--
		}
		if j < 0 || tokens[j].Kind != csource.Ident {
			continue
		}
		// `a * b;` is no declaration: the statement has to start with the type
		for j >= 0 && tokens[j].Kind == csource.Ident {
			if tokens[j].Is("return") {
				return 0, false
			}
			j--
		}
		start := j < 0 || tokens[j].Is(";") || tokens[j].Is("{") || tokens[j].Is("}") || tokens[j].Is(",")
		switch next := at(tokens, i+1); {
		case start && (next.Text == "" || next.Is(",") || next.Is(";") || next.Is("=") || next.Is("[")):
			return t.Line, true
		}
	}
	return 0, false
}

// passedToAccess reports whether name is the user pointer of an access in r.
func passedToAccess(r region, name string) bool {
	for _, c := range r.calls {
		if !anyAccess.MatchString(c.Name) && c.Name != "access_ok" {
			continue
		}
		pointer := arg(c, 1)
		if c.Name == "access_ok" || userFirst(c.Name) {
			pointer = arg(c, 0)
		}
		if csource.Root(pointer) == name {
			return true
		}
	}
	return false
}

// userFirst reports whether the user pointer is the first argument of an access.
func userFirst(name string) bool {
	return copyOut.MatchString(name) || name == "clear_user" || name == "__clear_user" || name == "strnlen_user"
}
