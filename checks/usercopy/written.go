package usercopy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"uabot/checks"
	"uabot/checks/csource"
)

var anyCopyOut = regexp.MustCompile(`^(?:__|_|raw_|unsafe_)?copy_to_user(?:_inatomic)?$`)

// member is the object and the field of a place like &p[i].field; field is empty
// when there is none.
func member(place []csource.Token) (root, field string) {
	root = csource.Root(place)
	if root == "" {
		return "", ""
	}
	tokens := csource.Bare(place)
	depth := 0
	for i, t := range tokens {
		switch {
		case t.Is("["):
			depth++
		case t.Is("]"):
			depth--
		case depth == 0 && (t.Is("->") || t.Is(".")):
			return root, at(tokens, i+1).Text
		}
	}
	return root, ""
}

// writesMoreBack finds put_user() of single members that became copy_to_user() of
// the whole structure: members that user space did not get back before.
func writesMoreBack(v *view, p *pair) []hit {
	var hits []hit
	for _, t := range p.twins() {
		removed, _ := callDiff(t, putCall)
		_, added := callDiff(t, anyCopyOut)
		before := map[string][]string{} // object → members that were put one by one
		for _, c := range removed {
			if root, field := member(arg(c, 1)); root != "" && field != "" {
				before[root] = append(before[root], field)
			}
		}
		for _, c := range added {
			root, field := member(arg(c, 0))
			was := before[root]
			if len(was) == 0 || field != "" {
				continue
			}
			tag := structOf(t.patched, root, arg(c, 2))
			if tag == "" {
				continue
			}
			l := v.layout(p.patched, tag)
			if l == nil {
				continue
			}
			var extra []string
			for _, name := range l.members {
				if !has(was, name) {
					extra = append(extra, name)
				}
			}
			if len(extra) == 0 {
				continue
			}
			slices.Sort(was)
			was = slices.Compact(was)
			hits = append(hits, hit{rule: "writes-more-back", src: p.patched, fn: t.patched.name, line: c.Line,
				detail:  "struct " + tag,
				title:   fmt.Sprintf("%s() writes %s of struct %s back too; before only %s", c.Name, strings.Join(extra, ", "), tag, strings.Join(was, ", ")),
				note:    filledFrom(t.patched, c) + " " + l.sentence() + " Another thread of the process may have changed the other members meanwhile; they are overwritten now. A write window with unsafe_put_user() writes the same members as before.",
				witness: checks.Witness{p.patched.step(c.Line, "")},
				lines:   span(t.patched.body, c)})
		}
	}
	return hits
}

// structOf returns the tag of the structure that a copy writes: from its sizeof,
// else from the declaration of the destination.
func structOf(r region, root string, size []csource.Token) string {
	for i, t := range size {
		if t.Is("sizeof") && at(size, i+2).Is("struct") {
			return at(size, i+3).Text
		}
	}
	for _, tokens := range [][]csource.Token{r.params, r.body} {
		for i, t := range tokens {
			if !t.Is(root) {
				continue
			}
			j := i - 1
			for j > 0 && (tokens[j].Is("*") || tokens[j].Is("__user") || tokens[j].Is("const")) {
				j--
			}
			if j > 0 && j < i-1 && tokens[j-1].Is("struct") {
				return tokens[j].Text
			}
		}
	}
	return ""
}

// filledFrom says what is known of the bytes that a copy to user space reads.
func filledFrom(r region, c csource.Call) string {
	from := csource.Key(arg(c, 1))
	for _, in := range r.calls {
		if in.At < c.At && copyIn.MatchString(in.Name) && csource.Key(arg(in, 0)) == from {
			return fmt.Sprintf("The bytes came from user space themselves (%s() in line %d), so no kernel data leaks.", in.Name, in.Line)
		}
	}
	return fmt.Sprintf("Whether every byte of %s was set before does not show in %s().", csource.Text(arg(c, 1)), r.name)
}

// uninitialisedBytes finds local structures that are copied to user space whole
// though some member is never set, or though there are holes between the members.
func uninitialisedBytes(v *view, s *source) []hit {
	var hits []hit
	for _, r := range s.regions() {
		if r.fn == nil {
			continue
		}
		for _, c := range r.calls {
			if !anyCopyOut.MatchString(c.Name) {
				continue
			}
			from := arg(c, 1)
			name := csource.Root(from)
			if name == "" || csource.Key(from) != "&"+name {
				continue
			}
			tag, ok := localStruct(r.body, name)
			if size := csource.Key(arg(c, 2)); !ok || size != "sizeof("+name+")" && size != "sizeof("+"struct "+tag+")" {
				continue
			}
			set, ok := membersSet(r, name)
			if !ok {
				continue
			}
			l := v.layout(s, tag)
			if l == nil || slices.ContainsFunc(set, func(m string) bool { return !l.knows(m) }) {
				continue // also when members go by the names of macros
			}
			var unset []string
			for _, m := range l.members {
				if !has(set, m) {
					unset = append(unset, m)
				}
			}
			var what string
			switch {
			case len(unset) > 0:
				what = "nothing sets " + strings.Join(unset, ", ")
			case len(l.holes) > 0:
				what = strings.Join(l.holes, ", ") + ": holes"
			default:
				continue
			}
			hits = append(hits, hit{rule: "uninitialised-bytes", src: s, fn: r.name, line: c.Line, detail: name,
				title: fmt.Sprintf("%s() copies struct %s with what the stack held: %s", c.Name, tag, what),
				note:  l.sentence() + fmt.Sprintf(" `memset(&%s, 0, sizeof(%s))` before the members are set closes it.", name, name),
				lines: span(r.body, c)})
		}
	}
	return hits
}

// localStruct returns the tag of a structure variable that body declares without
// an initialiser.
func localStruct(body []csource.Token, name string) (tag string, ok bool) {
	for i, t := range body {
		if !t.Is("struct") || at(body, i+1).Kind != csource.Ident {
			continue
		}
		if prev(body, i).Is("static") || prev(body, i).Is("(") {
			continue
		}
		for j := i + 2; j < len(body) && !body[j].Is(";"); j++ {
			if body[j].Is("(") || body[j].Is("{") {
				break
			}
			if body[j].Is(name) && !prev(body, j).Is("*") && (at(body, j+1).Is(";") || at(body, j+1).Is(",")) {
				return body[i+1].Text, true
			}
		}
	}
	return "", false
}

// membersSet lists the members of a local structure that the function mentions; not
// ok when the structure as a whole goes anywhere but to user space, for then
// something else may fill it.
func membersSet(r region, name string) (set []string, ok bool) {
	for i, t := range r.body {
		if !t.Is(name) || prev(r.body, i).Is("->") || prev(r.body, i).Is(".") {
			continue
		}
		switch next := at(r.body, i+1); {
		case next.Is("."):
			set = append(set, at(r.body, i+2).Text)
			continue
		case next.Is(";") || next.Is(","):
			if before := prev(r.body, i); before.Kind == csource.Ident || before.Is(",") && !inCall(r, i) {
				continue // its declaration
			}
		case prev(r.body, i).Is("(") && at(r.body, i-2).Is("sizeof"):
			continue
		}
		if !copiedOut(r, i) {
			return nil, false
		}
	}
	return set, true
}

func inCall(r region, i int) bool {
	return slices.ContainsFunc(r.calls, func(c csource.Call) bool { return c.At < i && i < c.End })
}

// copiedOut reports whether the innermost call around a token is a copy to user
// space or a sizeof in one.
func copiedOut(r region, i int) bool {
	inner := csource.Call{At: -1}
	for _, c := range r.calls {
		if c.At < i && i < c.End && c.At > inner.At {
			inner = c
		}
	}
	return anyCopyOut.MatchString(inner.Name)
}

// valueChanged finds members that got one value and get another since put_user()
// became unsafe_put_user() or a copy became single puts: both values exist in both
// versions, so that none was merely renamed.
func valueChanged(_ *view, p *pair) []hit {
	var hits []hit
	for _, t := range p.twins() {
		was, now := valuesPut(t.base), valuesPut(t.patched)
		for _, where := range slices.Sorted(maps.Keys(now)) {
			old, had := was[where]
			put := now[where]
			if !had || old.twice || put.twice || csource.Key(old.value) == csource.Key(put.value) || old.by == put.by {
				continue
			}
			if !known(t, old.value) || !known(t, put.value) || constant(put.value) || constant(old.value) {
				continue
			}
			a, b := csource.Text(csource.Bare(old.value)), csource.Text(csource.Bare(put.value))
			hits = append(hits, hit{rule: "value-changed", src: p.patched, fn: t.patched.name, line: put.line, detail: where + ": " + a + " -> " + b,
				title:   fmt.Sprintf("%s got %s before and gets %s now", where, a, b),
				note:    fmt.Sprintf("The change moves the write from %s() to %s(); the value changed with it.", old.by, put.by),
				witness: checks.Witness{{File: p.patched.path, Line: 0, Text: p.base.text(old.line), Note: "before"}, p.patched.step(put.line, "now")}})
		}
	}
	return hits
}

// putValue is what one place in user memory is given.
type putValue struct {
	value []csource.Token
	by    string // the helper
	line  int
	twice bool // more than one value: nothing can be said
}

// valuesPut collects what a function writes to members in user memory: put calls,
// and members of a local structure that is copied out whole.
func valuesPut(r region) map[string]putValue {
	out := map[string]putValue{}
	add := func(where string, v putValue) {
		if w, ok := out[where]; ok && csource.Key(w.value) != csource.Key(v.value) {
			v.twice = true
		}
		out[where] = v
	}
	for _, c := range r.calls {
		switch {
		case putCall.MatchString(c.Name):
			where := strings.TrimPrefix(csource.Key(arg(c, 1)), "&")
			if _, field := member(arg(c, 1)); field != "" {
				add(where, putValue{value: arg(c, 0), by: c.Name, line: c.Line})
			}
		case anyCopyOut.MatchString(c.Name):
			to, from := csource.Key(arg(c, 0)), csource.Root(arg(c, 1))
			if to != csource.Root(arg(c, 0)) || from == "" || csource.Key(arg(c, 1)) != "&"+from {
				continue
			}
			for i := 0; i+3 < c.At; i++ {
				b := r.body
				if !b[i].Is(from) || !b[i+1].Is(".") || !b[i+3].Is("=") || prev(b, i).Is("->") || prev(b, i).Is(".") {
					continue
				}
				end := i + 4
				for end < len(b) && !b[end].Is(";") {
					end++
				}
				add(to+"->"+b[i+2].Text, putValue{value: b[i+4 : end], by: c.Name, line: b[i].Line})
			}
		}
	}
	return out
}

// known reports whether every variable in an expression exists on both sides.
func known(t twin, value []csource.Token) bool {
	for _, name := range csource.Idents(value) {
		if !(mentions(t.base.body, name) || mentions(t.base.params, name)) || !(mentions(t.patched.body, name) || mentions(t.patched.params, name)) {
			return false
		}
	}
	return true
}

func constant(value []csource.Token) bool { return len(csource.Idents(value)) == 0 }
