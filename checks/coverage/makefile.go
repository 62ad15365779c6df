package coverage

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// notBuilt says why no target compiled anything of f; empty when some unit did, or
// when that cannot be known.
func (f *file) notBuilt(c Change, targets []*target) (reason, needs string) {
	var failed []string
	for _, t := range targets {
		if len(t.deps[f.name]) > 0 {
			return "", ""
		}
		for _, u := range t.Units {
			if u.Source == f.name && u.Err != "" {
				failed = append(failed, t.Target.Name)
			}
		}
	}
	if len(targets) == 0 {
		return "no target was built", ""
	}
	if arch, ok := archOf(f.name); ok && !slices.ContainsFunc(targets, func(t *target) bool { return t.arch == arch || arch == "um" && t.arch == "um" }) {
		return "arch/" + arch + ": no target builds it", "ARCH=" + arch
	}
	if len(failed) > 0 {
		return "it does not compile on " + strings.Join(failed, " "), ""
	}
	if path.Ext(f.name) == ".h" {
		if slices.ContainsFunc(targets, func(t *target) bool { return len(t.unread) > 0 }) {
			return "", ""
		}
		return "no object that was compiled includes it", ""
	}
	symbols, found := f.symbols(c)
	switch {
	case !found:
		return "no Makefile names it", ""
	case len(symbols) == 0:
		return "it was not among the objects that were compiled", ""
	}
	var off []string
	for _, s := range symbols {
		if !slices.ContainsFunc(targets, func(t *target) bool { return t.symbol(s).defined == yes || t.config[s] == "m" }) {
			off = append(off, s+"=y")
		}
	}
	if len(off) == 0 {
		return "it was not among the objects that were compiled", ""
	}
	return "no target's configuration builds it", strings.Join(off, ", ")
}

func archOf(name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, "arch/")
	if !ok {
		return "", false
	}
	arch, _, ok := strings.Cut(rest, "/")
	return arch, ok
}

// assignment is one line of a kbuild Makefile that lists objects.
var assignment = regexp.MustCompile(`^\s*([\w.-]+?)-(?:\$\((CONFIG_\w+)\)|y|m|objs)(?:-\$\((CONFIG_\w+)\))?\s*[:+]?=\s*(.*)$`)

// symbols lists the configuration symbols that must be set for f to be compiled,
// from its Makefile and those above; found is false when no Makefile lists it.
func (f *file) symbols(c Change) (symbols []string, found bool) {
	name := strings.TrimSuffix(path.Base(f.name), path.Ext(f.name)) + ".o"
	dir := path.Dir(f.name)
	for {
		text := ""
		for _, m := range []string{"Kbuild", "Makefile"} {
			data, err := read(c.Patched, path.Join(dir, m))
			if err == nil && len(data) > 0 {
				text += string(data) + "\n"
			}
		}
		if text != "" {
			more, ok := listed(text, name)
			if !ok {
				return symbols, found
			}
			found = true
			symbols = append(symbols, more...)
		}
		if dir == "." {
			return symbols, found
		}
		name = path.Base(dir) + "/"
		dir = path.Dir(dir)
	}
}

// listed finds what a Makefile makes an object or directory depend on, by way of
// the composite objects that it is part of.
func listed(makefile, name string) (symbols []string, ok bool) {
	makefile = strings.ReplaceAll(makefile, "\\\n", " ")
	seen := map[string]bool{}
	for range 8 { // composites of composites
		if seen[name] {
			break
		}
		seen[name] = true
		next := ""
		for line := range strings.Lines(makefile) {
			line, _, _ = strings.Cut(strings.TrimSuffix(line, "\n"), "#")
			m := assignment.FindStringSubmatch(line)
			if m == nil || !slices.Contains(strings.Fields(m[4]), name) {
				continue
			}
			for _, s := range m[2:4] {
				if s != "" && !slices.Contains(symbols, s) {
					symbols = append(symbols, s)
				}
			}
			ok = true
			if m[1] == "obj" || m[1] == "lib" || m[1] == "core" || m[1] == "drivers" {
				return symbols, true
			}
			next = m[1] + ".o"
		}
		if next == "" {
			break
		}
		name = next
	}
	return symbols, ok
}
