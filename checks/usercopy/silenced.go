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

const objtoolCheck = "tools/objtool/check.c"

// objtoolSafeList finds names added to the functions that objtool lets be called
// inside a window.
func objtoolSafeList(_ *view, p *pair) []hit {
	if p.patched.path != objtoolCheck {
		return nil
	}
	was, now := safeList(p.base), safeList(p.patched)
	var names []string
	var witness checks.Witness
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, ok := was[name]; !ok {
			names = append(names, name)
			witness = append(witness, p.patched.step(now[name], ""))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []hit{{rule: "objtool-safe-list", src: p.patched, fn: "uaccess_safe_builtin", line: now[names[0]], detail: "accepted",
		title:   fmt.Sprintf("objtool will accept calls to %s inside of windows", strings.Join(names, ", ")),
		note:    "Right only for functions that never sleep, never fault and call nothing but their like. A review runs the objtool of the base.",
		witness: witness}}
}

// safeList returns the strings of uaccess_safe_builtin[] with their lines.
func safeList(s *source) map[string]int {
	names := map[string]int{}
	for i, t := range s.Tokens {
		if !t.Is("uaccess_safe_builtin") {
			continue
		}
		for j := i + 1; j < len(s.Tokens) && !s.Tokens[j].Is(";"); j++ {
			if s.Tokens[j].Kind == csource.String {
				names[strings.Trim(s.Tokens[j].Text, `"`)] = s.Tokens[j].Line
			}
		}
		break // the uses come after the table
	}
	return names
}

// nonStandard are the words that take an object or a function out of objtool's sight.
var nonStandard = regexp.MustCompile(`^\s*OBJECT_FILES_NON_STANDARD(?:_[\w.$()/-]+)?\s*[:+?]?=`)

// objtoolSkipped finds objects and functions that objtool is told not to look at.
func objtoolSkipped(_ *view, s *source) []hit {
	var hits []hit
	add := func(line int, detail string) {
		hits = append(hits, hit{rule: "objtool-skipped", src: s, line: line, detail: detail,
			title: fmt.Sprintf("%s: objtool will not look there", detail),
			note:  "Windows, stack frames and everything else that objtool checks go unchecked there on x86-64."})
	}
	if isMakefile(s.path) {
		for i, l := range s.lines {
			if text, _, _ := strings.Cut(l, "#"); nonStandard.MatchString(text) {
				add(i+1, strings.Join(strings.Fields(text), " "))
			}
		}
		return hits
	}
	if strings.HasPrefix(s.path, "tools/") || s.path == "include/linux/objtool.h" {
		return nil
	}
	for _, c := range csource.Calls(s.Tokens) {
		if c.Name == "STACK_FRAME_NON_STANDARD" {
			add(c.Line, csource.Text(s.Tokens[c.At:c.End+1]))
		}
	}
	return hits
}
