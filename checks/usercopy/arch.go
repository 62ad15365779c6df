package usercopy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"uabot/checks"
)

// arches are the directories of arch/ in 6.12 that compile C for Linux; one that a
// tree does not have is skipped.
var arches = []string{"alpha", "arc", "arm", "arm64", "csky", "hexagon", "loongarch", "m68k", "microblaze",
	"mips", "nios2", "openrisc", "parisc", "powerpc", "riscv", "s390", "sh", "sparc", "um", "x86", "xtensa"}

// perArch are the helpers that an architecture may or may not have.
var perArch = regexp.MustCompile(`^(?:_{0,2}user_(?:read_|write_|rw_)?access_(?:begin|end|save|restore)\w*|masked_user_\w+|(?:arch_)?unsafe_(?:get|put)_user|unsafe_copy_(?:to|from)_user|unsafe_(?:get|put)_compat_sigset|unsafe_try_cmpxchg_user|unsafe_atomic_store_release_user|raw_copy_(?:to|from|in)_user|raw_copy_\w+_user)$`)

// archHeader are the headers that asm/uaccess.h is put together from.
var archHeader = regexp.MustCompile(`^asm/(?:uaccess\w*|kup|futex|smap|\w*kup\w*)\.h$`)

// archSymbols returns what the user-access headers of an architecture define in
// the patched tree, in whatever configuration; nil when the tree lacks it.
func (v *view) archSymbols(arch string) map[string]bool {
	root := "arch/" + arch + "/include/"
	names := map[string]bool{}
	seen := map[string]bool{}
	var visit func(header string)
	visit = func(header string) {
		if seen[header] {
			return
		}
		seen[header] = true
		s := v.file(root + header)
		if s == nil {
			return
		}
		for _, r := range s.regions() {
			names[r.name] = true
		}
		for _, inc := range s.Includes {
			if archHeader.MatchString(inc) {
				visit(inc)
			}
		}
	}
	visit("asm/uaccess.h")
	return names
}

// generic says for each symbol of include/linux/uaccess.h what it needs to be
// visible: "" nothing, else the symbol that an architecture must not define.
func (v *view) generic() map[string]string {
	out := map[string]string{}
	for _, name := range []string{"include/linux/uaccess.h", "include/asm-generic/uaccess.h"} {
		s := v.file(name)
		if s == nil {
			continue
		}
		for _, r := range s.regions() {
			guard := guardOf(s, r)
			if guard == r.name {
				guard = ""
			}
			if was, ok := out[r.name]; !ok || was != "" {
				out[r.name] = guard
			}
		}
	}
	return out
}

// missingOnArch finds helpers that the change starts to use in code for every
// architecture, although some of them have neither a version nor the fallback.
func missingOnArch(v *view) []hit {
	var hits []hit
	var generic map[string]string
	for _, p := range v.pairs {
		if strings.HasPrefix(p.patched.path, "arch/") || isArchUaccess(p.patched.path) || isMakefile(p.patched.path) {
			continue
		}
		for _, r := range p.patched.regions() {
			was := p.base.region(r.name)
			for _, c := range r.calls {
				if !perArch.MatchString(c.Name) || was != nil && hasCall(was.calls, func(n string) bool { return n == c.Name }) || !p.added[c.Line] {
					continue
				}
				if underGuard(p.patched, r.body[c.At].Cond) || p.patched.region(c.Name) != nil {
					continue
				}
				if generic == nil {
					generic = v.generic()
				}
				missing := v.archesWithout(c.Name, generic)
				if len(missing) == 0 {
					continue
				}
				hits = append(hits, hit{rule: "missing-on-arch", src: p.patched, fn: r.name, line: c.Line, detail: c.Name,
					title:   fmt.Sprintf("%s() does not exist on %s", c.Name, strings.Join(missing, ", ")),
					note:    "The architecture defines the family it belongs to, which hides the generic fallback, and not this one. Where this file is compiled for it, the build fails.",
					witness: checks.Witness{p.patched.step(c.Line, "")}})
			}
		}
	}
	return hits
}

// underGuard reports whether a branch asks for an architecture or a symbol of the
// family: then the author knows.
func underGuard(s *source, cond int) bool {
	for ; cond >= 0; cond = s.Conds[cond].Parent {
		for _, expr := range [2]int{cond, s.Conds[cond].First} {
			for _, t := range s.Conds[expr].Expr {
				if perArch.MatchString(t.Text) || slices.ContainsFunc(arches, func(a string) bool { return t.Text == "CONFIG_"+strings.ToUpper(a) }) ||
					t.Text == "CONFIG_PPC" || t.Text == "CONFIG_X86_64" || strings.HasPrefix(t.Text, "CONFIG_PPC") {
					return true
				}
			}
		}
	}
	return false
}

// archesWithout lists the architectures of the patched tree on which name is
// neither defined by the architecture nor by a visible fallback.
func (v *view) archesWithout(name string, generic map[string]string) []string {
	guard, fallback := generic[name]
	var missing []string
	has := false
	for _, arch := range arches {
		defines := v.archSymbols(arch)
		switch {
		case len(defines) == 0:
		case defines[name] || fallback && (guard == "" || !defines[guard]):
			has = true
		default:
			missing = append(missing, arch)
		}
	}
	if !has { // no such helper anywhere in this tree: the compiler says that
		return nil
	}
	return missing
}
