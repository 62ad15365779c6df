package usercopy

import (
	"fmt"
	"slices"
	"strings"

	"uabot/checks/csource"
)

// uncheckedOpener finds new helpers that open a window and do not look at the
// range, or whose result may be ignored. The versions of one helper, for each
// architecture, are one finding.
func uncheckedOpener(v *view) []hit {
	found := map[string]*hit{}
	var order []string
	for _, p := range v.pairs {
		for _, r := range p.patched.regions() {
			// powerpc's kup*.h hold the primitives themselves
			if rawOpeners[r.name] || isAlias(r) || strings.Contains(p.patched.path, "kup") {
				continue
			}
			what := openerFault(r)
			if what == "" || p.base.region(r.name) != nil {
				continue
			}
			h := found[r.name]
			if h == nil {
				h = &hit{rule: "unchecked-opener", src: p.patched, fn: r.name, line: r.line}
				found[r.name] = h
				order = append(order, r.name)
			}
			h.witness = append(h.witness, p.patched.step(r.line, what))
		}
	}
	var hits []hit
	for _, name := range order {
		h := found[name]
		var faults []string
		for _, s := range h.witness {
			if !slices.Contains(faults, s.Note) {
				faults = append(faults, s.Note)
			}
		}
		slices.Sort(faults)
		h.detail = name
		h.title = fmt.Sprintf("the new helper %s() opens a window: %s", name, strings.Join(faults, "; "))
		h.note = "Every other begin checks the range and must be checked itself, so that no access can come without. A helper that trusts its callers makes each of them part of the check, also where the window itself is a no-op."
		hits = append(hits, *h)
	}
	return hits
}

// isAlias reports whether a macro only names itself, as `#define f f` and
// `#define f(a, b) f(a, b)` do to say that f exists.
func isAlias(r region) bool {
	return r.macro != nil && len(r.body) > 0 && r.body[0].Is(r.name)
}

// openerFault says what an opener lacks; empty when r is no opener or lacks nothing.
func openerFault(r region) string {
	named := begins.MatchString(r.name)
	opensRaw := hasCall(r.calls, func(n string) bool {
		return rawOpeners[n] || n != r.name && strings.HasPrefix(n, "__") && begins.MatchString(n)
	})
	if !named && !opensRaw || hasCall(r.calls, closes) {
		return ""
	}
	// An access that opens for itself closes by another way: a label, a cleanup.
	if !named && aboutAccessOnly(r) {
		return ""
	}
	if r.macro != nil && !r.macro.FunctionLike {
		// `#define user_write_access_begin user_access_begin`: as good as what it names
		for _, t := range r.body {
			if t.Kind == csource.Ident && !strings.HasPrefix(t.Text, "__") && opens(t.Text) {
				return ""
			}
		}
	}
	delegates := hasCall(r.calls, func(n string) bool {
		return n != r.name && !strings.HasPrefix(n, "__") && (begins.MatchString(n) || maskedBegin.MatchString(n))
	})
	switch {
	case !checksRange(r.body) && !delegates:
		return "no range check, no result that must be checked"
	case r.fn != nil && !mentions(r.fn.Head, "__must_check") && mentions(r.fn.Head, "bool"):
		return "no __must_check"
	}
	return ""
}

// aboutAccessOnly reports whether a region accesses user memory after opening.
func aboutAccessOnly(r region) bool {
	return hasCall(r.calls, func(n string) bool { return anyAccess.MatchString(n) || anyGet.MatchString(n) || anyPut.MatchString(n) })
}

// isGeneric reports whether a header serves every architecture.
func isGeneric(path string) bool {
	return path == "include/linux/uaccess.h" || path == "include/asm-generic/uaccess.h"
}

// fallbackGuard finds generic fallbacks that stand under the #ifndef of another
// symbol, for helpers that architectures define one by one.
func fallbackGuard(v *view) []hit {
	var hits []hit
	for _, p := range v.pairs {
		if !isGeneric(p.patched.path) {
			continue
		}
		for _, r := range p.patched.regions() {
			guard := guardOf(p.patched, r)
			if guard == "" || guard == r.name || sameFamily(guard, r.name) || p.base.region(r.name) != nil {
				continue
			}
			var with, without []string
			for _, arch := range arches {
				switch defines := v.archSymbols(arch); {
				case !defines[guard]:
				case defines[r.name]:
					with = append(with, arch)
				default:
					without = append(without, arch)
				}
			}
			if len(with) == 0 {
				continue
			}
			note := fmt.Sprintf("An architecture that defines %s and not %s gets neither. Defined by %s", guard, r.name, strings.Join(with, ", "))
			if len(without) > 0 {
				note += "; missing on " + strings.Join(without, ", ")
			}
			hits = append(hits, hit{rule: "fallback-guard", src: p.patched, fn: r.name, line: r.line, detail: guard,
				title: fmt.Sprintf("the fallback of %s() is only there without %s", r.name, guard),
				note:  note + ". An #ifndef of its own holds for every architecture, those to come included."})
		}
	}
	return hits
}

// sameFamily reports whether one guard may stand for two names: a begin for its end,
// a get for its put.
func sameFamily(guard, name string) bool {
	swap := strings.NewReplacer("_begin", "_end", "get_", "put_", "_save", "_restore")
	return swap.Replace(guard) == swap.Replace(name)
}

// guardOf returns the symbol whose absence makes a definition visible: the X of the
// nearest `#ifndef X` around it. A block that asks for the name itself anywhere
// around is the right guard.
func guardOf(s *source, r region) string {
	cond := -1
	if r.macro != nil {
		cond = r.macro.Cond
	} else if len(r.fn.Head) > 0 {
		cond = r.fn.Head[0].Cond
	}
	guard := ""
	for ; cond >= 0; cond = s.Conds[cond].Parent {
		c := s.Conds[cond]
		first := s.Conds[c.First]
		if mentions(c.Expr, r.name) || mentions(first.Expr, r.name) {
			return r.name
		}
		if c.Word == "ifndef" && !c.Guard && guard == "" && len(c.Expr) > 0 && !strings.HasPrefix(c.Expr[0].Text, "CONFIG_") {
			guard = c.Expr[0].Text
		}
	}
	return guard
}
