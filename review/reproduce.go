package review

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"uabot/checks"
	"uabot/config"
)

// instrumentation is what a broad configuration brings along and what would hide or
// move a window; off for a reader's own build.
const instrumentation = "-d KASAN -d KCSAN -d KMSAN -d KCOV -d UBSAN -d GCC_PLUGINS -d WERROR"

// reproduce gives the shell lines that show the first new finding from nothing: a
// kernel tree, and what every kernel developer has.
func reproduce(v *Verdict, targets []config.Target) []string {
	list := v.NewFindings()
	if len(list) == 0 {
		return nil
	}
	f := list[0]
	// What is broken at the tip comes first in a report, whatever heals itself.
	if i := slices.IndexFunc(list, func(f Finding) bool { return f.HealedBy == 0 }); i >= 0 {
		f = list[i]
	}
	var target config.Target
	var object string
	for _, t := range targets {
		for _, name := range f.Targets() {
			if t.Name == name && target.Name == "" {
				target, object = t, objectFor(v, name, f.File)
			}
		}
	}
	if object == "" {
		return nil
	}
	lines := fetchLines(v)
	mk := "make O=/tmp/u " + strings.Join(target.MakeArgs(), " ")
	lines = append(lines,
		mk+" allmodconfig",
		"scripts/config --file /tmp/u/.config "+instrumentation+setOptions(target.Config),
		mk+" olddefconfig prepare "+object,
	)
	return append(lines, showLine(f, target, object)...)
}

// fetchLines bring the series onto its base.
func fetchLines(v *Verdict) []string {
	checkout := "git checkout --detach " + v.Base.Commit[:min(12, len(v.Base.Commit))]
	if id := v.Series.ID; id != "" && v.Source != "" && !strings.Contains(v.Source, "..") {
		return []string{checkout, "b4 shazam " + id}
	}
	return []string{"git checkout --detach " + v.Source[strings.LastIndex(v.Source, "..")+2:]}
}

// setOptions are the target's own options for scripts/config.
func setOptions(list []string) string {
	var b strings.Builder
	for _, line := range list {
		key, value, _ := strings.Cut(line, "=")
		switch value {
		case "y":
			fmt.Fprintf(&b, " -e %s", key)
		case "m":
			fmt.Fprintf(&b, " -m %s", key)
		case "n":
			fmt.Fprintf(&b, " -d %s", key)
		default:
			fmt.Fprintf(&b, " --set-val %s %s", key, value)
		}
	}
	return b.String()
}

// showLine is what shows the finding once the object is built. The compiler shows
// its own messages while it builds.
func showLine(f Finding, t config.Target, object string) []string {
	for _, e := range f.Evidence {
		if e.Check == "objtool" && e.Target == t.Name {
			return []string{"/tmp/u/tools/objtool/objtool --uaccess --no-unreachable /tmp/u/" + object}
		}
	}
	switch f.Class {
	case checks.Object:
		return []string{"uabot check --target " + t.Name + " /tmp/u/" + object}
	case checks.Source:
		return []string{"uabot check --source --target " + t.Name + " --output /tmp/u " + f.File}
	}
	return nil
}

// objectFor is the object of a target in which the finding shows: the one of the
// file itself, else (a header) the first.
func objectFor(v *Verdict, target, file string) string {
	want := strings.TrimSuffix(file, path.Ext(file)) + ".o"
	for _, t := range v.Targets {
		if t.Name != target || len(t.Objects) == 0 {
			continue
		}
		for _, o := range t.Objects {
			if o == want {
				return o
			}
		}
		return t.Objects[0]
	}
	return ""
}
