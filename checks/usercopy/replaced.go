package usercopy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"uabot/checks"
	"uabot/checks/csource"
)

// twin is a region that both sides have.
type twin struct{ base, patched region }

// twins pairs the regions of both sides by name. A file may define one name in
// several branches of an #if: they are paired in order.
func (p *pair) twins() []twin {
	before := map[string][]region{}
	for _, r := range p.base.regions() {
		before[r.name] = append(before[r.name], r)
	}
	var out []twin
	for _, r := range p.patched.regions() {
		if was := before[r.name]; len(was) > 0 {
			before[r.name] = was[1:]
			if csource.Key(was[0].body) != csource.Key(r.body) || csource.Key(was[0].params) != csource.Key(r.params) {
				out = append(out, twin{was[0], r})
			}
		}
	}
	return out
}

// callDiff lists the calls that one side has and the other has not, compared as
// text: a call that only moved is in neither.
func callDiff(t twin, match *regexp.Regexp) (removed, added []csource.Call) {
	count := map[string]int{}
	text := func(r region, c csource.Call) string { return csource.Key(r.body[c.At : c.End+1]) }
	for _, c := range t.base.calls {
		if match.MatchString(c.Name) {
			count[text(t.base, c)]++
		}
	}
	for _, c := range t.patched.calls {
		if !match.MatchString(c.Name) {
			continue
		}
		if k := text(t.patched, c); count[k] > 0 {
			count[k]--
		} else {
			added = append(added, c)
		}
	}
	for i := len(t.base.calls) - 1; i >= 0; i-- {
		c := t.base.calls[i]
		if !match.MatchString(c.Name) {
			continue
		}
		if k := text(t.base, c); count[k] > 0 {
			count[k]--
			removed = append(removed, c)
		}
	}
	slices.Reverse(removed)
	return removed, added
}

// anyCopy is every copy that has versions with and without check_copy_size().
var anyCopy = regexp.MustCompile(`^(?:__|_|raw_|unsafe_|_inline_)?copy_(?:(?:to|from)_user(?:_inatomic)?|(?:to|from)_iter\w*|mc_to_iter)$`)

// unhardened says of a copy without check_copy_size() and check_object_size() what
// it is the bypass of; include/linux/uaccess.h and include/linux/uio.h, 6.12.117.
func unhardened(name string) (hardened []string, ok bool) {
	for _, prefix := range []string{"_inline_", "raw_", "unsafe_", "_"} {
		if base, found := strings.CutPrefix(name, prefix); found && strings.HasPrefix(base, "copy_") {
			if prefix == "_" || strings.HasSuffix(base, "_user") {
				return []string{base, "__" + base}, true
			}
		}
	}
	return nil, false
}

// hardenedBypass finds checked copies that became unchecked ones: one note for a
// file, whatever the number of places.
func hardenedBypass(v *view, p *pair) []hit {
	if isArchUaccess(p.patched.path) {
		return nil
	}
	var details, callers []string
	var witness checks.Witness
	var first *hit
	for _, t := range p.twins() {
		removed, added := callDiff(t, anyCopy)
		for _, c := range added {
			of, ok := unhardened(c.Name)
			if !ok {
				continue
			}
			was := ""
			for i, r := range removed {
				if slices.Contains(of, r.Name) {
					was = r.Name
					removed = slices.Delete(removed, i, i+1)
					break
				}
			}
			if was == "" {
				continue
			}
			witness = append(witness, p.patched.step(c.Line, "was "+was+"()"))
			if d := was + " -> " + c.Name; !slices.Contains(details, d) {
				details = append(details, d)
			}
			who := listPlaces(v.callers(t.patched.name, p.patched))
			if who == "" {
				who = "no caller found"
			}
			if line := t.patched.name + "(): " + who; !slices.Contains(callers, line) {
				callers = append(callers, line)
			}
			if first == nil {
				first = &hit{fn: t.patched.name, line: c.Line}
			}
		}
	}
	if first == nil {
		return nil
	}
	slices.Sort(details)
	return []hit{{rule: "hardened-usercopy-bypass", src: p.patched, fn: "", line: first.line, detail: "check_copy_size",
		title:   "no longer checked by hardened usercopy: " + strings.Join(details, ", "),
		note:    "The versions without check_copy_size() skip the check of the kernel object's bounds (CONFIG_HARDENED_USERCOPY) and of its compile-time size, for every caller. Allowed where the caller is known to stay in bounds, but the usercopy maintainers want to agree. Used by " + strings.Join(callers, "; ") + ".",
		witness: witness}}
}

// checkedAccess are the helpers that test the range themselves.
var checkedAccess = regexp.MustCompile(`^(?:__)?(?:get_user|put_user|copy_to_user|copy_from_user|clear_user)$`)

// rangeCheckLost finds accesses that no longer check their range: put_user() that
// became __put_user(), and a function that lost access_ok() but not its unchecked
// accesses.
func rangeCheckLost(v *view, p *pair) []hit {
	if isArchUaccess(p.patched.path) {
		return nil
	}
	var hits []hit
	for _, t := range p.twins() {
		if checksRange(t.patched.body) || p.patched.opensWindow(t.patched.calls) {
			continue
		}
		removed, added := callDiff(t, checkedAccess)
		for _, c := range added {
			name, unchecked := strings.CutPrefix(c.Name, "__")
			i := slices.IndexFunc(removed, func(r csource.Call) bool {
				return unchecked && r.Name == name && userPointer(r) == userPointer(c)
			})
			if i < 0 {
				continue
			}
			removed = slices.Delete(removed, i, i+1)
			hits = append(hits, v.lostCheck(p, t, c, name+" -> "+c.Name,
				fmt.Sprintf("%s() became %s(): nothing in %s() checks the range any more", name, c.Name, t.patched.name)))
		}
		if !checksRange(t.base.body) {
			continue
		}
		for _, c := range t.patched.calls {
			if strings.HasPrefix(c.Name, "__") && checkedAccess.MatchString(c.Name) {
				hits = append(hits, v.lostCheck(p, t, c, "access_ok",
					fmt.Sprintf("%s() lost its range check and still uses %s()", t.patched.name, c.Name)))
				break
			}
		}
	}
	return hits
}

func (v *view) lostCheck(p *pair, t twin, c csource.Call, detail, title string) hit {
	h := hit{rule: "range-check-lost", src: p.patched, fn: t.patched.name, line: c.Line, detail: detail, title: title,
		witness: checks.Witness{p.patched.step(c.Line, "")}}
	paths, steps := v.paths(t.patched.name, p.patched)
	h.note = "Right only where every caller has checked the range: " + strings.Join(paths, "; ") + "."
	h.witness = append(h.witness, steps...)
	return h
}

// userPointer returns the user-space operand of an access, as a key.
func userPointer(c csource.Call) string {
	switch {
	case strings.Contains(c.Name, "copy_to") || strings.Contains(c.Name, "clear"):
		return csource.Key(arg(c, 0))
	default:
		return csource.Key(arg(c, 1))
	}
}

// protections keep a speculated or masked pointer from reaching beyond user space.
var protections = map[string]bool{
	"barrier_nospec": true, "array_index_nospec": true, "mask_user_address": true,
	"uaccess_mask_ptr": true, "__uaccess_mask_ptr": true, "masked_user_access_begin": true,
	"__uaccess_begin_nospec": true, "BARRIER_NOSPEC": true, "__arch_barrier_nospec": true,
}

func protection(tokens []csource.Token) string {
	for _, t := range tokens {
		if t.Kind == csource.Ident && protections[t.Text] {
			return t.Text
		}
	}
	return ""
}

// maskLost finds functions and macros that had a speculation barrier or a pointer
// mask and have none left, while they still access user memory.
func maskLost(_ *view, p *pair) []hit {
	var hits []hit
	for _, t := range p.twins() {
		had := protection(t.base.body)
		if had == "" || protection(t.patched.body) != "" || !aboutAccess(t.patched) {
			continue
		}
		// It may have moved into something that is called instead.
		moved := false
		for _, r := range p.patched.regions() {
			moved = moved || protection(r.body) != "" && mentions(t.patched.body, r.name) && !mentions(t.base.body, r.name)
		}
		// Windows opened by the API bring their own.
		if moved || hasCall(t.patched.calls, func(n string) bool {
			return begins.MatchString(n) || maskedBegin.MatchString(n) || scopedBegin.MatchString(n)
		}) {
			continue
		}
		hits = append(hits, hit{rule: "mask-lost", src: p.patched, fn: t.patched.name, line: t.patched.line, detail: had,
			title: fmt.Sprintf("%s() lost %s and still accesses user memory", t.patched.name, had),
			note:  "The processor may run ahead of the range check with any address; the barrier or the mask is what keeps that harmless."})
	}
	return hits
}
