package usercopy

import (
	"fmt"
	"slices"
	"strings"

	"uabot/checks"
	"uabot/checks/csource"
)

// callInArgument finds calls in the arguments of unsafe_*(): they run while the
// window is open.
func callInArgument(v *view, s *source) []hit {
	var hits []hit
	for _, r := range s.regions() {
		for _, c := range r.calls {
			if !unsafeAccess.MatchString(c.Name) || len(c.Args) < 3 {
				continue
			}
			for _, inner := range csource.Calls(r.body[c.At+2 : c.End]) {
				if !realCall(s, r, inner.Name) || v.inlined(s, inner.Name) {
					continue
				}
				hits = append(hits, hit{rule: "call-in-argument", src: s, fn: r.name, line: inner.Line,
					detail: inner.Name + " in " + c.Name,
					title:  fmt.Sprintf("%s() is called in an argument of %s(), with the window open", inner.Name, c.Name),
					note:   fmt.Sprintf("Whether it is a real call is for the compiler to say. A variable set before the window opens does not depend on that: `v = %s(...);`.", inner.Name),
					lines:  span(r.body, c)})
			}
		}
	}
	return hits
}

// quiet are names that look like calls and are none, or that every build inlines:
// conversions, attributes, checks of types.
var quiet = map[string]bool{
	"likely": true, "unlikely": true, "offsetof": true, "container_of": true, "ARRAY_SIZE": true,
	"compat_ptr": true, "ptr_to_compat": true, "ptr_to_u64": true, "u64_to_user_ptr": true, "lower_32_bits": true, "upper_32_bits": true,
	"READ_ONCE": true, "WRITE_ONCE": true, "min": true, "max": true, "min_t": true, "max_t": true, "clamp": true,
	"mangle_poll": true, "BIT": true, "GENMASK": true, "CMSG_USER_DATA": true, "u64_to_ptr": true, "round_up": true, "ALIGN": true,
	"__builtin_constant_p": true, "__builtin_choose_expr": true, "sizeof_field": true, "__force": true, "abs": true, "swab32": true, "swab16": true, "swab64": true,
}

// realCall reports whether name, used in r, is worth calling a call: not a macro of
// the file, not a type conversion, not a parameter.
func realCall(s *source, r region, name string) bool {
	if quiet[name] || strings.ToUpper(name) == name || strings.HasPrefix(name, "cpu_to_") || strings.Contains(name, "_to_cpu") || strings.HasPrefix(name, "__builtin_") ||
		anyAccess.MatchString(name) {
		return false
	}
	if r.macro != nil && slices.Contains(r.macro.Params, name) {
		return false
	}
	for _, m := range s.Macros {
		if m.Name == name {
			return false
		}
	}
	return true
}

// inlined reports whether name, used in s, is a macro or a small inline function of
// s or of a header that s includes: nothing is called then.
func (v *view) inlined(s *source, name string) bool {
	found := false
	v.walkIncludes(s, func(f *source) bool {
		r := f.region(name)
		if r == nil {
			return false
		}
		found = r.macro != nil || mentions(r.fn.Head, "__always_inline") || mentions(r.fn.Head, "inline") && len(r.calls) == 0
		return true
	})
	return found
}

// beginEndKinds finds functions that close a window of another kind than they open.
func beginEndKinds(v *view, s *source) []hit {
	var hits []hit
	for _, r := range s.regions() {
		opened, closed := map[windowKind]csource.Call{}, map[windowKind]csource.Call{}
		first := func(m map[windowKind]csource.Call, k windowKind, c csource.Call) {
			if _, ok := m[k]; !ok {
				m[k] = c
			}
		}
		any := false // something opens that any end may close
		for _, c := range r.calls {
			if k, ok := beginKind(c.Name); ok {
				first(opened, k, c)
			} else if k, ok := endKind(c.Name); ok && r.name != c.Name {
				first(closed, k, c)
			} else if maskedBegin.MatchString(c.Name) {
				if v.maskedKinds() {
					first(opened, kindOf(maskedBegin.FindStringSubmatch(c.Name)[1]), c)
				} else {
					any = true
				}
			}
			any = any || scopedBegin.MatchString(c.Name)
		}
		if len(opened) == 0 || len(closed) == 0 || any {
			continue
		}
		for _, k := range []windowKind{readWindow, writeWindow, rwWindow} {
			_, o := opened[k]
			_, c := closed[k]
			if o == c {
				continue
			}
			// The other side: what has no partner either, else the first there is.
			begin, end := partner(opened, closed, k), partner(closed, opened, k)
			hits = append(hits, hit{rule: "begin-end-kinds", src: s, fn: r.name, line: end.Line,
				detail:  begin.Name + " closed by " + end.Name,
				title:   fmt.Sprintf("%s() closes what %s() opened: a %s end for a %s window", end.Name, begin.Name, kindByName(end.Name), kindByName(begin.Name)),
				note:    "The same on x86, 8xx and wherever one key opens both directions. On 64-bit book3s powerpc the directions are separate bits, on 32-bit book3s only writes have a window at all.",
				witness: checks.Witness{s.step(begin.Line, "opens"), s.step(end.Line, "closes")},
				lines:   []int{begin.Line}})
			break
		}
	}
	return hits
}

// maskedKinds reports whether the tree tells masked windows by their kind, as it
// does since masked_user_read_access_begin() exists; before, one begin served all.
func (v *view) maskedKinds() bool {
	s := v.file("include/linux/uaccess.h")
	return s != nil && s.region("masked_user_read_access_begin") != nil
}

// partner chooses, of the calls in m, the one of kind k, else one that other has no
// call of the same kind for, else the first.
func partner(m, other map[windowKind]csource.Call, k windowKind) csource.Call {
	if c, ok := m[k]; ok {
		return c
	}
	var some csource.Call
	for _, kind := range []windowKind{rwWindow, writeWindow, readWindow} {
		c, ok := m[kind]
		if !ok {
			continue
		}
		if _, paired := other[kind]; !paired {
			return c
		}
		some = c
	}
	return some
}

// kindByName is the kind of a begin or end.
func kindByName(name string) windowKind {
	if k, ok := beginKind(name); ok {
		return k
	}
	if k, ok := endKind(name); ok {
		return k
	}
	return kindOf(maskedBegin.FindStringSubmatch(name)[1])
}

// unsafeWithoutBegin finds functions that use unsafe_*() where neither they nor a
// caller in the same file opens a window. Where begin is a no-op nothing else shows it.
func unsafeWithoutBegin(_ *view, s *source) []hit {
	var hits []hit
	for _, r := range s.regions() {
		if r.fn == nil || strings.Contains(r.name, "unsafe") || isArchUaccess(s.path) || !hasCall(r.calls, unsafeAccess.MatchString) || s.opensWindow(r.calls) {
			continue
		}
		if s.callerOpens(r.name) {
			continue
		}
		for _, c := range r.calls {
			if !unsafeAccess.MatchString(c.Name) {
				continue
			}
			hits = append(hits, hit{rule: "unsafe-without-begin", src: s, fn: r.name, line: c.Line, detail: c.Name,
				title: fmt.Sprintf("%s() in %s(), and no window is opened for it", c.Name, r.name),
				note:  "Begin is also where the range is checked: without it any address passes. Where user access needs no window (most architectures) nothing fails at run time.",
				lines: span(r.body, c)})
		}
	}
	return hits
}

// maxLevels bounds how far calls are followed within a file.
const maxLevels = 4

// opensWindow reports whether one of calls opens a window, directly or in a
// function or macro of the same file.
func (s *source) opensWindow(calls []csource.Call) bool {
	seen := map[string]bool{}
	for range maxLevels {
		var next []csource.Call
		for _, c := range calls {
			if opens(c.Name) || c.Name == "user_access_restore" {
				return true
			}
			if r := s.region(c.Name); r != nil && !seen[c.Name] {
				seen[c.Name] = true
				next = append(next, r.calls...)
			}
		}
		calls = next
	}
	return false
}

// callerOpens reports whether a function or macro of the file that calls name, or
// one that calls that, opens a window.
func (s *source) callerOpens(name string) bool {
	seen := map[string]bool{name: true}
	level := map[string]bool{name: true}
	for range maxLevels {
		next := map[string]bool{}
		for _, r := range s.regions() {
			if seen[r.name] || !hasCall(r.calls, func(n string) bool { return level[n] }) {
				continue
			}
			if strings.Contains(r.name, "unsafe") || s.opensWindow(r.calls) {
				return true
			}
			seen[r.name], next[r.name] = true, true
		}
		level = next
	}
	return false
}

// beginRange finds accesses to another object than the one that begin() checked,
// where begin checked exactly one object: begin(p, sizeof(*p)), access to q.
func beginRange(_ *view, s *source) []hit {
	var hits []hit
	for _, r := range s.regions() {
		if r.fn == nil {
			continue
		}
		checked := map[string]csource.Call{}
		other := false // a begin whose range is not understood
		for _, c := range r.calls {
			if !opens(c.Name) {
				continue
			}
			p := csource.Root(arg(c, 0))
			size := csource.Key(arg(c, 1))
			if len(c.Args) == 2 && p != "" && csource.Key(c.Args[0]) == p && strings.HasPrefix(size, "sizeof(") {
				checked[p] = c
			} else {
				other = true
			}
		}
		if len(checked) == 0 || other {
			continue
		}
		for _, c := range r.calls {
			place := arg(c, 1)
			switch {
			case unsafeAccess.MatchString(c.Name) && strings.Contains(c.Name, "copy_to"):
				place = arg(c, 0)
			case !unsafeAccess.MatchString(c.Name):
				continue
			}
			q := csource.Root(place)
			if q == "" {
				continue
			}
			if begin, ok := checked[q]; ok && changedInWindow(r, begin, c, q) {
				hits = append(hits, hit{rule: "begin-range", src: s, fn: r.name, line: c.Line, detail: q + " set again after begin",
					title:   fmt.Sprintf("%s() goes to %s, which was set to another address after the window's range check", c.Name, q),
					note:    "Begin checks the range that it is given; an access outside of it is unchecked.",
					witness: checks.Witness{s.step(begin.Line, "the range that is checked"), s.step(c.Line, "an access elsewhere")},
					lines:   []int{begin.Line}})
				continue
			}
			if _, ok := checked[q]; ok || !origin(r, q) || within(r.body, q, checked) {
				continue
			}
			for p, begin := range checked {
				hits = append(hits, hit{rule: "begin-range", src: s, fn: r.name, line: c.Line, detail: q + " under *" + p,
					title:   fmt.Sprintf("%s() goes to %s, but the window's range check covers *%s only", c.Name, q, p),
					note:    "Begin checks the range that it is given; an access outside of it is unchecked.",
					witness: checks.Witness{s.step(begin.Line, "the range that is checked"), s.step(c.Line, "an access elsewhere")},
					lines:   []int{begin.Line}})
				break
			}
		}
	}
	return hits
}

// origin reports whether r shows where a pointer comes from: it is a parameter, or
// something is assigned to it.
func origin(r region, name string) bool {
	if mentions(r.params, name) {
		return true
	}
	for i, t := range r.body {
		if t.Is(name) && at(r.body, i+1).Is("=") && !prev(r.body, i).Is("->") && !prev(r.body, i).Is(".") {
			return true
		}
	}
	return false
}

// changedInWindow reports whether a pointer gets a value that has nothing to do with
// its old one between a begin and an access in the same window.
func changedInWindow(r region, begin, access csource.Call, name string) bool {
	for _, c := range r.calls {
		if begin.At < c.At && c.At < access.At && (closes(c.Name) || opens(c.Name)) {
			return false
		}
	}
	for i := begin.End; i < access.At; i++ {
		if !r.body[i].Is(name) || !at(r.body, i+1).Is("=") || prev(r.body, i).Is("->") || prev(r.body, i).Is(".") {
			continue
		}
		end := i + 2
		for end < len(r.body) && !r.body[end].Is(";") && !r.body[end].Is(",") {
			end++
		}
		value := r.body[i+2 : end]
		if !mentions(value, name) && len(csource.Calls(value)) == 0 {
			return true
		}
	}
	return false
}

// within reports whether q is set to an address inside of a checked object: q = p,
// q = &p->x, q = p->array.
func within(body []csource.Token, q string, checked map[string]csource.Call) bool {
	for i, t := range body {
		if !t.Is(q) || !at(body, i+1).Is("=") || prev(body, i).Is("->") || prev(body, i).Is(".") {
			continue
		}
		end := i + 2
		for end < len(body) && !body[end].Is(";") && !body[end].Is(",") {
			end++
		}
		value := body[i+2 : end]
		if _, ok := checked[csource.Root(value)]; ok && !slices.ContainsFunc(value, func(t csource.Token) bool { return t.Is("-") }) {
			return true
		}
		if len(csource.Calls(value)) > 0 { // container_of() and the like
			return true
		}
	}
	return false
}

// windowSaved finds user_access_save(): it hides an open window from objtool.
func windowSaved(_ *view, s *source) []hit {
	if isArchUaccess(s.path) || slices.ContainsFunc(runsInWindows, func(dir string) bool { return strings.HasPrefix(s.path, dir) }) {
		return nil
	}
	var hits []hit
	for _, r := range s.regions() {
		for _, c := range r.calls {
			if c.Name != "user_access_save" && c.Name != "smap_save" {
				continue
			}
			hits = append(hits, hit{rule: "window-saved", src: s, fn: r.name, line: c.Line, detail: c.Name,
				title: fmt.Sprintf("%s() in %s(): an open window is set aside and opened again", c.Name, r.name),
				note:  "Meant for code that has to run inside a window (sanitizers, tracing). Around an ordinary call it only silences objtool, and it does nothing outside of x86 and powerpc: the call belongs before the window."})
		}
	}
	return hits
}

// runsInWindows is the code that compilers call from anywhere, windows included:
// setting the window aside is what it has to do (all 13 uses of 6.12.117).
var runsInWindows = []string{"kernel/kcsan/", "mm/kasan/", "mm/kmsan/", "lib/ubsan.c", "kernel/trace/trace_branch.c", "kernel/panic.c"}

// uncheckedOpenerUse finds functions that open a window by a primitive without a
// range check and check nothing themselves: they rely on their callers.
func uncheckedOpenerUse(v *view, s *source) []hit {
	// lkdtm provokes faults on purpose
	if isArchUaccess(s.path) || strings.HasPrefix(s.path, "arch/") || strings.HasPrefix(s.path, "drivers/misc/lkdtm/") {
		return nil
	}
	var hits []hit
	for _, r := range s.regions() {
		if checksRange(r.body) {
			continue
		}
		for _, c := range r.calls {
			if !rawOpeners[c.Name] && !(begins.MatchString(c.Name) && strings.HasPrefix(c.Name, "__")) || c.Name == r.name {
				continue
			}
			h := hit{rule: "opener-trusts-caller", src: s, fn: r.name, line: c.Line, detail: c.Name,
				title:   fmt.Sprintf("%s() opens a window by %s(), which checks no range: its callers have to", r.name, c.Name),
				witness: checks.Witness{s.step(c.Line, "opens, unchecked")},
				lines:   span(r.body, c)}
			paths, steps := v.paths(r.name, s)
			h.note = "How it is reached: " + strings.Join(paths, "; ") + "."
			h.witness = append(h.witness, steps...)
			hits = append(hits, h)
		}
	}
	return hits
}
