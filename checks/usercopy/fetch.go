package usercopy

import (
	"fmt"
	"regexp"
	"slices"

	"uabot/checks"
	"uabot/checks/csource"
)

// fetches read user memory: the place is the second argument.
var fetches = regexp.MustCompile(`^(?:__|unsafe_)?(?:get_user|copy_from_user)$`)

// doubleFetch finds user memory that is read twice in one function: it may have
// changed in between.
func doubleFetch(_ *view, s *source) []hit {
	var hits []hit
	for _, r := range s.regions() {
		if r.fn == nil {
			continue
		}
		first := map[string]csource.Call{}
		for _, c := range r.calls {
			if !fetches.MatchString(c.Name) {
				continue
			}
			where := csource.Key(arg(c, 1))
			was, again := first[where]
			first[where] = c
			place := arg(c, 1)
			if !again || where == "" || sideEffects(place) || exclusive(r.body[was.End:c.At]) || s.otherBranch(r.body[was.At].Cond, r.body[c.At].Cond) {
				continue
			}
			if slices.ContainsFunc(csource.Idents(place), func(name string) bool { return reassigned(r.body, was.End, c.At, name) }) {
				continue
			}
			hits = append(hits, hit{rule: "double-fetch", src: s, fn: r.name, line: c.Line, detail: where,
				title:   fmt.Sprintf("%s is read from user memory a second time in %s()", where, r.name),
				note:    "User space can change it between the two reads: what was checked in the first copy does not hold for the second.",
				witness: checks.Witness{s.step(was.Line, "first"), s.step(c.Line, "again")},
				lines:   []int{was.Line, c.Line}})
		}
	}
	return hits
}

// exclusive reports whether what stands between two places makes it possible that
// only one of them runs: another branch, another case, or a way out that is not the
// mere handling of a failed read.
func exclusive(between []csource.Token) bool {
	depth := 0
	for i, t := range between {
		switch {
		case t.Is("else") || t.Is("case") || t.Is("default"):
			return true
		case t.Is("{"):
			depth++
		case t.Is("}"):
			depth--
			if depth < 0 { // left the block of the first
				return true
			}
		case depth == 0 && (t.Is("return") || t.Is("break") || t.Is("continue")) && !prev(between, i).Is(")"):
			return true
		}
	}
	return false
}

// sideEffects reports whether evaluating an expression changes something: `p++`.
func sideEffects(tokens []csource.Token) bool {
	return slices.ContainsFunc(tokens, func(t csource.Token) bool {
		return t.Is("++") || t.Is("--") || t.Is("=") || t.Is("+=")
	})
}

// otherBranch reports whether two branches of #if exclude each other.
func (s *source) otherBranch(a, b int) bool {
	for ; a >= 0; a = s.Conds[a].Parent {
		for c := b; c >= 0; c = s.Conds[c].Parent {
			if a != c && s.Conds[a].First == s.Conds[c].First {
				return true
			}
		}
	}
	return false
}

// reassigned reports whether name is changed between two places of body.
func reassigned(body []csource.Token, from, to int, name string) bool {
	for i := from; i < to; i++ {
		if !body[i].Is(name) {
			continue
		}
		switch next := at(body, i+1); next.Text {
		case "=", "+=", "-=", "++", "--":
			return true
		}
		if p := prev(body, i); p.Is("++") || p.Is("--") {
			return true
		}
	}
	return false
}
