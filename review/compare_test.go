package review

import (
	"fmt"
	"strings"
	"testing"

	"uabot/checks"
)

// found is a finding of a rule in one function, seen by one check on one target.
func found(function string, class checks.Class, target string) checks.Finding {
	return checks.Finding{
		Rule: "open-at-return", File: "fs/a.c", Function: function, Class: class, Line: 10,
		Evidence: []checks.Evidence{{Check: string(class), Target: target}},
	}
}

// stateOf reads "x86:f,g ppc:f" as findings of functions on targets.
func stateOf(text string) state {
	s := state{}
	for _, part := range strings.Fields(text) {
		target, functions, _ := strings.Cut(part, ":")
		s.add(target, nil)
		for _, f := range strings.Split(functions, ",") {
			if f != "" {
				s.add(target, []checks.Finding{found(f, checks.Object, target)})
			}
		}
	}
	return s
}

func summary(list []Finding) string {
	var words []string
	for _, f := range list {
		word := fmt.Sprintf("%s:%s", f.Status, f.Function)
		if f.Patch > 0 {
			word += fmt.Sprintf("@%d", f.Patch)
		}
		if f.HealedBy > 0 {
			word += fmt.Sprintf("-%d", f.HealedBy)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestCompareAndAttribute(t *testing.T) {
	for _, test := range []struct {
		name   string
		states []string // base, after 1, after 2, … tip; "?" was not built
		want   string
	}{
		{"clean", []string{"x86:", "x86:"}, ""},
		{"a single patch", []string{"x86:", "x86:f"}, "new:f@1"},
		{"there before", []string{"x86:f", "x86:f"}, "before:f"},
		{"gone", []string{"x86:f", "x86:"}, "gone:f"},
		{"one for another, the same number", []string{"x86:f", "x86:g"}, "new:g@1 gone:f"},
		{"the second of three", []string{"x86:", "x86:", "x86:f", "x86:f"}, "new:f@2"},
		{"the last", []string{"x86:", "x86:", "x86:", "x86:f"}, "new:f@3"},
		{"healed by the last", []string{"x86:", "x86:f", "x86:f", "x86:"}, "new:f@1-3"},
		{"healed and brought back", []string{"x86:", "x86:f", "x86:", "x86:f"}, "new:f@3"},
		{"old, away in between", []string{"x86:f", "x86:", "x86:f"}, "before:f"},
		{"not stepped through", []string{"x86:", "?", "x86:f"}, "new:f"},
		{"one target before, another now", []string{"x86:f ppc:", "x86:f ppc:f"}, "before:f"},
		{"stepped through on one of two targets", []string{"x86: ppc:", "x86:", "x86:f ppc:f"}, "new:f@2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var states []state
			for _, text := range test.states {
				if text == "?" {
					states = append(states, nil)
				} else {
					states = append(states, stateOf(text))
				}
			}
			list := attribute(compare(states[0], states[len(states)-1]), states)
			if got := summary(list); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A target that does not compile shows nothing of its windows; that heals nothing.
func TestCarryOverWhatDoesNotCompile(t *testing.T) {
	states := []state{stateOf("x86:old"), stateOf("x86:old,f"), stateOf("x86:"), stateOf("x86:")}
	u := &run{states: states, broken: []map[string]bool{{}, {}, {"x86": true}, {"x86": true}}}
	broken := found("f", checks.Build, "x86")
	broken.Rule = "compiler-error"
	states[2].add("x86", []checks.Finding{broken})
	states[3].add("x86", []checks.Finding{broken})
	u.carry()
	got := summary(attribute(compare(states[0], states[3]), states))
	if want := "new:f@1 new:f@2 before:old"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The same bug seen by two checks and on two targets is one finding: told with the
// stronger class, the author's lines from the source, and all evidence.
func TestMergeKeepsAllEvidence(t *testing.T) {
	object := found("f", checks.Object, "ppc")
	source := found("f", checks.Source, "x86")
	source.Line = 7
	source.Witness = checks.Witness{{File: "fs/a.c", Line: 7, Text: "\tgoto out;"}}
	source.Fix = &checks.Fix{Text: "a second label"}
	tip := state{}
	tip.add("x86", []checks.Finding{source})
	tip.add("ppc", []checks.Finding{object})
	list := compare(state{}, tip)
	if len(list) != 1 {
		t.Fatalf("got %d findings, want one", len(list))
	}
	f := list[0]
	if f.Class != checks.Object || f.Line != 7 || len(f.Witness) != 1 || f.Fix == nil || len(f.Evidence) != 2 {
		t.Errorf("got %+v", f.Finding)
	}
	if got := strings.Join(f.Targets(), " "); got != "ppc x86" {
		t.Errorf("targets are %s", got)
	}
}

func TestCompareWindows(t *testing.T) {
	base := []checks.Windows{{Function: "f", Opens: 9}, {Function: "same", Opens: 2}, {Function: "old", Opens: 1}, {Function: "touched", Opens: 3}}
	tip := []checks.Windows{{Function: "f", Opens: 1}, {Function: "same", Opens: 2}, {Function: "fresh", Opens: 1}, {Function: "touched", Opens: 3}}
	list := compareWindows("x86", base, tip, func(_, function string) bool { return function == "touched" })
	var got []string
	for _, w := range list {
		got = append(got, fmt.Sprintf("%s %d->%d", w.Function, w.Before, w.After))
	}
	if want := "f 9->1, fresh 0->1, old 1->0, touched 3->3"; strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
