package coverage

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"uabot/checks"
	"uabot/checks/csource"
)

// maxUnits bounds the units that are looked into for one branch on one target.
const maxUnits = 8

// branch finds out whether any unit of any target compiled a branch of f.
func (f *file) branch(ctx context.Context, c Change, targets []*target, b int) (truth, error) {
	result := no
	var open []*target // those where the configuration does not decide
	for _, t := range targets {
		if len(t.deps[f.name]) == 0 {
			continue
		}
		switch f.live(b, t.lookup(f.assembly(t))) {
		case yes:
			return yes, nil
		case unknown:
			open = append(open, t)
		case no:
			if slices.ContainsFunc(t.deps[f.name], ownConfiguration) {
				open = append(open, t)
			}
		}
	}
	for _, t := range open {
		// A condition may differ between the units that are not asked.
		decided := len(t.deps[f.name]) <= maxUnits
		for _, u := range t.deps[f.name][:min(len(t.deps[f.name]), maxUnits)] {
			switch t.debug(u).branch(f, u, b) {
			case yes:
				return yes, nil
			case unknown:
				decided = false
			}
		}
		if !decided {
			result = unknown
		}
	}
	if result == no || c.Preprocess == nil {
		return result, nil
	}
	result = no
	for _, t := range open {
		units := t.deps[f.name]
		for _, u := range units[:min(len(units), maxUnits)] {
			seen, err := t.preprocessed(ctx, c, u)
			if ctx.Err() != nil {
				return unknown, ctx.Err()
			}
			if err != nil { // the unit stays as unknown as it was
				result = unknown
				continue
			}
			switch seen.branch(f, u, b) {
			case yes:
				return yes, nil
			case unknown:
				result = unknown
			}
		}
		if len(units) > maxUnits {
			result = unknown
		}
	}
	return result, nil
}

// ownConfiguration reports whether a unit may undo parts of the configuration, as the
// 32-bit vdso of a 64-bit kernel (arch/x86/entry/vdso/vdso32/fake_32bit_build.h) and
// boot code do.
func ownConfiguration(u checks.Unit) bool {
	for _, dir := range []string{"/vdso", "/boot/", "/purgatory/", "/realmode/"} {
		if strings.Contains("/"+u.Source, dir) {
			return true
		}
	}
	return false
}

// assembly reports whether f is read by assembler sources alone on t.
func (f *file) assembly(t *target) bool {
	return !slices.ContainsFunc(t.deps[f.name], func(u checks.Unit) bool { return path.Ext(u.Source) != ".S" })
}

// live tells whether a branch is compiled: it and all around it are true, and no
// earlier branch of the same block is.
func (f *file) live(b int, lookup func(string) macro) truth {
	result := yes
	for ; b >= 0; b = f.Conds[b].Parent {
		c := f.Conds[b]
		if c.Guard {
			continue
		}
		result = min(result, evaluate(c, lookup))
		for i := c.First; i < b; i++ {
			if f.Conds[i].First == c.First {
				result = min(result, not(evaluate(f.Conds[i], lookup)))
			}
		}
	}
	return result
}

// text writes a branch as its directive does, without the #; an #else with the
// condition that it belongs to.
func (f *file) text(b int) string {
	c := f.Conds[b]
	if c.Word == "else" {
		return "else of #" + f.text(c.First)
	}
	return strings.TrimSpace(c.Word + " " + csource.Text(c.Expr))
}

// why says why a branch is compiled nowhere, and what would change that.
func (f *file) why(targets []*target, b int) (reason, needs string) {
	var wants []string
	for at := b; at >= 0; at = f.Conds[at].Parent {
		c := f.Conds[at]
		if c.Guard {
			continue
		}
		holds := slices.ContainsFunc(targets, func(t *target) bool {
			return len(t.deps[f.name]) > 0 && f.alone(at, t.lookup(f.assembly(t))) == yes
		})
		if holds { // on some target: not what keeps the lines out everywhere
			continue
		}
		if reason == "" {
			reason = fmt.Sprintf("#%s (line %d) is false on every target that compiles the file", f.text(at), c.Line)
		}
		wants = append(wants, f.wants(at)...)
	}
	if reason == "" { // only together are the conditions false
		reason = fmt.Sprintf("#%s (line %d) and the conditions around it are never true together", f.text(b), f.Conds[b].Line)
	}
	slices.Sort(wants)
	return reason, strings.Join(slices.Compact(wants), ", ")
}

// alone evaluates one branch without what is around it.
func (f *file) alone(b int, lookup func(string) macro) truth {
	c := f.Conds[b]
	result := evaluate(c, lookup)
	for i := c.First; i < b; i++ {
		if f.Conds[i].First == c.First {
			result = min(result, not(evaluate(f.Conds[i], lookup)))
		}
	}
	return result
}

// wants names settings that make a branch true, where its conditions are simple:
// single symbols, negated or not, joined by &&.
func (f *file) wants(b int) []string {
	c := f.Conds[b]
	var out []string
	for i := c.First; i <= b; i++ {
		if f.Conds[i].First != c.First {
			continue
		}
		out = append(out, settings(f.Conds[i], i == b)...)
	}
	return out
}

func settings(c csource.Cond, wanted bool) []string {
	set := func(name string, on bool) []string {
		if !strings.HasPrefix(name, "CONFIG_") {
			return nil
		}
		name = strings.TrimSuffix(name, "_MODULE")
		if on == wanted && strings.HasPrefix(name, "CONFIG_CC_") { // found out, not chosen
			return []string{"a compiler with " + strings.TrimPrefix(name, "CONFIG_")}
		}
		if on == wanted {
			return []string{name + "=y"}
		}
		return []string{name + "=n"}
	}
	switch c.Word {
	case "ifdef", "elifdef", "ifndef", "elifndef":
		if len(c.Expr) == 1 {
			return set(c.Expr[0].Text, !strings.HasSuffix(c.Word, "ndef"))
		}
		return nil
	case "else":
		return nil
	}
	var out []string
	negated := false
	for i, t := range c.Expr {
		switch {
		case t.Is("||") && wanted, t.Is("&&") && !wanted, t.Is("=="), t.Is("!="), t.Is("<"), t.Is(">"), t.Is(">="), t.Is("<="):
			return nil // more than one way, or numbers
		case t.Is("!"):
			if i+1 < len(c.Expr) && c.Expr[i+1].Is("(") {
				return nil
			}
			negated = true
		case strings.HasPrefix(t.Text, "CONFIG_"):
			out = append(out, set(t.Text, !negated)...)
			negated = false
		}
	}
	return out
}
