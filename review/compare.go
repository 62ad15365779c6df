package review

import (
	"cmp"
	"slices"

	"uabot/checks"
	"uabot/checks/window"
)

// state is what all checks saw of one tree on all targets: for each target that was
// looked at, the findings by identity.
type state map[string]map[string]checks.Finding

// add puts the findings of one check on one target into s.
func (s state) add(target string, findings []checks.Finding) {
	if s[target] == nil {
		s[target] = map[string]checks.Finding{}
	}
	for _, f := range findings {
		id := f.Identity()
		if have, ok := s[target][id]; ok {
			f = merge(have, f)
		}
		s[target][id] = f
	}
}

// has reports whether any target shows the finding.
func (s state) has(id string) bool {
	for _, findings := range s {
		if _, ok := findings[id]; ok {
			return true
		}
	}
	return false
}

// merge makes one finding of two with the same identity: the evidence of both, told
// in the words of the stronger. The witness is the one that stays in the author's
// own lines, which is the source's.
func merge(a, b checks.Finding) checks.Finding {
	lead, other := a, b
	if b.Class.Stronger(a.Class) {
		lead, other = b, a
	}
	lead.Evidence = slices.Concat(a.Evidence, b.Evidence)
	if len(lead.Witness) == 0 || other.Class == checks.Source && len(other.Witness) > 0 && lead.Class != checks.Source {
		if other.Line > 0 {
			lead.Line = other.Line
		}
		lead.Witness = other.Witness
	}
	if lead.Line == 0 {
		lead.Line = other.Line
	}
	if lead.Fix == nil {
		lead.Fix = other.Fix
	}
	if lead.Note == "" {
		lead.Note = other.Note
	}
	if len(lead.Inlined) == 0 {
		lead.Inlined = other.Inlined
	}
	return lead
}

// carry takes over from before what target cannot show in s because something does
// not compile there: what is not seen has not gone. Messages of the compiler are
// seen all the same.
func (s state) carry(before state, target string) {
	for id, f := range before[target] {
		if _, there := s[target][id]; !there && f.Class != checks.Build {
			s.add(target, []checks.Finding{f})
		}
	}
}

// fold brings the evidence of findings that another one covers to that one: compiled
// code names a function where the source knows that its macro is wrong.
func (s state) fold() {
	var lead []checks.Finding
	for _, target := range sortedKeys(s) {
		for _, id := range sortedKeys(s[target]) {
			if f := s[target][id]; len(f.Uses) > 0 || f.Rule == "unchecked-begin" {
				f.Evidence = nil
				lead = append(lead, f)
			}
		}
	}
	for _, findings := range s {
		for _, id := range sortedKeys(findings) {
			g := findings[id]
			for _, f := range lead {
				if f.Identity() == id || !f.Covers(&g) {
					continue
				}
				if have, ok := findings[f.Identity()]; ok {
					f = have
				}
				told := merge(f, checks.Finding{Class: g.Class, Evidence: g.Evidence, Note: g.Note})
				told.Rule, told.File, told.Function, told.Detail, told.Title = f.Rule, f.File, f.Function, f.Detail, f.Title
				told.Line, told.Witness, told.Uses, told.Fix = f.Line, f.Witness, f.Uses, f.Fix
				findings[f.Identity()] = told
				delete(findings, id)
				break
			}
		}
	}
}

// compare sets base and tip against each other. The order is: new, gone, before; in
// each the strongest evidence first, then by place.
func compare(base, tip state) []Finding {
	all := map[string]Finding{}
	collect := func(s state) {
		for _, target := range sortedKeys(s) {
			for id, f := range s[target] {
				if have, ok := all[id]; ok {
					f = merge(have.Finding, f)
				}
				all[id] = Finding{Finding: f}
			}
		}
	}
	collect(tip)
	for id, f := range all {
		f.Status = New
		if base.has(id) {
			f.Status = Before
		}
		all[id] = f
	}
	gone := state{}
	for target, findings := range base {
		gone[target] = map[string]checks.Finding{}
		for id, f := range findings {
			if _, there := all[id]; !there {
				gone[target][id] = f
			}
		}
	}
	collect(gone)
	var list []Finding
	for _, f := range all {
		if f.Status == "" {
			f.Status = Gone
		}
		if f.Note == "" {
			f.Note = window.Consequence(&f.Finding)
		}
		list = append(list, f)
	}
	sortFindings(list)
	return list
}

// statusOrder is the order of a report.
var statusOrder = []Status{New, Gone, Before}

func sortFindings(list []Finding) {
	slices.SortFunc(list, func(a, b Finding) int {
		strength := 0
		if a.Class.Stronger(b.Class) {
			strength = -1
		} else if b.Class.Stronger(a.Class) {
			strength = 1
		}
		return cmp.Or(
			cmp.Compare(slices.Index(statusOrder, a.Status), slices.Index(statusOrder, b.Status)),
			strength,
			cmp.Compare(a.Patch, b.Patch),
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Identity(), b.Identity()),
		)
	})
}

// attribute brings every new finding to the patch that introduced it. states[k] is
// the tree with the first k patches applied, the base at 0 and the tip at the end;
// those between may be nil where they were not built. A finding that comes and goes
// in between breaks bisection and is added to the list.
func attribute(list []Finding, states []state) []Finding {
	last := len(states) - 1
	for i := range list {
		if list[i].Status != New {
			continue
		}
		id := list[i].Identity()
		// Walk back from the tip over the states that still show it.
		k := last
		for k > 1 && states[k-1] != nil && states[k-1].has(id) {
			k--
		}
		if k == 1 || states[k-1] != nil {
			list[i].Patch = k
		}
	}
	for k := 1; k < last; k++ {
		for _, target := range sortedKeys(states[k]) {
			for id, f := range states[k][target] {
				known := slices.ContainsFunc(list, func(l Finding) bool { return l.Identity() == id })
				if known || states[0].has(id) {
					continue
				}
				healed := k + 1
				for healed < last && (states[healed] == nil || states[healed].has(id)) {
					healed++
				}
				list = append(list, Finding{Finding: f, Status: New, Patch: k, HealedBy: healed})
			}
		}
	}
	sortFindings(list)
	return list
}

// sortedKeys returns the keys of m in order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// compareWindows sets the windows of each function at the base against those with
// the series, for the functions where the two differ or that change names.
func compareWindows(target string, base, tip []checks.Windows, changed func(file, function string) bool) []WindowChange {
	type key struct{ file, function string }
	before, after := map[key]int{}, map[key]int{}
	for _, w := range base {
		before[key{w.File, w.Function}] += w.Opens
	}
	for _, w := range tip {
		after[key{w.File, w.Function}] += w.Opens
	}
	var list []WindowChange
	for _, m := range []map[key]int{before, after} {
		for k := range m {
			if !changed(k.file, k.function) && before[k] == after[k] {
				continue
			}
			w := WindowChange{Function: k.function, File: k.file, Target: target, Before: before[k], After: after[k]}
			if !slices.Contains(list, w) {
				list = append(list, w)
			}
		}
	}
	slices.SortFunc(list, func(a, b WindowChange) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Function, b.Function))
	})
	return list
}
