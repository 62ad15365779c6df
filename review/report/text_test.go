package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"uabot/checks"
	"uabot/mail"
	"uabot/review"
)

// long is a series that breaks much on many targets: more than a mail can hold.
func long() *review.Verdict {
	v := one()
	v.Series.Subject, v.Series.Total, v.Series.Version = "tree: windows everywhere", 12, 4
	first := v.Series.Patches[0]
	first.Total, first.Message.Subject = 12, "[PATCH v4 01/12] tree: windows in the first place"
	for n := 2; n <= 12; n++ {
		v.Series.Patches = append(v.Series.Patches, &mail.Patch{Number: n, Total: 12, Message: &mail.Message{ID: fmt.Sprintf("p%d@mail.example.com", n)}})
	}
	v.Targets = nil
	for i, name := range []string{"x86-64", "i386", "arm64-swpan", "arm", "ppc64le", "ppc32", "ppc8xx", "riscv64", "s390x", "mips64", "parisc", "loongarch64"} {
		target := review.Target{Name: name, Status: review.OK, Compiler: "gcc 12.2"}
		if i > 9 {
			target.Status, target.Reason = review.Skipped, "no compiler"
		}
		target.Notes = []string{fmt.Sprintf("a note that only %s has.", name)}
		v.Targets = append(v.Targets, target)
	}
	v.Findings = nil
	for i := range 30 {
		f := review.Finding{Status: review.New, Patch: i%12 + 1, Finding: checks.Finding{
			Rule: "open-at-return", File: fmt.Sprintf("drivers/long/part%02d.c", i), Line: 100 + i, Function: fmt.Sprintf("part%02d_read", i),
			Class: checks.Object, Title: "a user access window can still be open when the function returns",
			Note: "An interrupt in between would find it open.",
		}}
		for l := range 40 {
			step := checks.Step{File: f.File, Line: 60 + l, Text: fmt.Sprintf("\tunsafe_get_user(word[%d], &from->word[%d], fault);", l, l)}
			if l == 20 {
				step.Note = "A fault here jumps past the end."
			}
			f.Witness = append(f.Witness, step)
		}
		for j, t := range v.Targets[:10] {
			check := "object code"
			if j == 0 {
				check = "objtool"
			}
			f.Evidence = append(f.Evidence, checks.Evidence{Check: check, Target: t.Name, Text: fmt.Sprintf("part%02d.o: warning: objtool: part+0x1: return with UACCESS enabled", i)})
		}
		v.Findings = append(v.Findings, f)
		v.Uncompiled = append(v.Uncompiled, review.Uncompiled{File: f.File, First: 7, Last: 9, Reason: "#ifdef CONFIG_LONG"})
		for _, t := range v.Targets[:10] {
			v.Windows = append(v.Windows, review.WindowChange{Function: f.Function, File: f.File, Target: t.Name, Before: 5, After: 1})
		}
	}
	for i := range 9 {
		f := v.Findings[i]
		f.Status, f.File = review.Gone, "drivers/long/old.c"
		v.Findings = append(v.Findings, f)
	}
	v.Reproduce = []string{"uabot review p0@mail.example.com"}
	return v
}

// hostile has in every field what a sender or a compiler can be made to say.
func hostile() *review.Verdict {
	const evil = "\x1b[2J\r\nFrom: x\n\n#uabot release\n\u202egnp.exe\x00\xff\u2028-- \n"
	wide := strings.Repeat("wide", 2500)
	v := one()
	v.Series.Patches[0].Message.Subject = "[PATCH] " + evil
	v.Series.Patches[0].Message.To = []mail.Address{{Name: "Núñez, Ana (TI)", Addr: "ana@example.com"}, {Name: evil, Addr: "b@example.com"}}
	v.Series.Patches[0].Diff = "diff --git a/x b/x\n@@ -1 +1 @@ nonsense\n" + evil
	v.Base.Name, v.Base.Reason = "", evil
	v.Base.Commit = evil
	v.Targets = []review.Target{
		{Name: "x86-64", Status: review.OK, Compiler: evil, Notes: []string{evil, wide}},
		{Name: evil, Status: review.Failed, Reason: wide},
		{Name: "arm", Status: review.Skipped, Reason: evil},
	}
	f := &v.Findings[0]
	f.Title, f.File, f.Function, f.Note = evil+wide, evil, evil, evil
	f.Inlined = []string{evil, wide, evil}
	f.Witness = checks.Witness{
		{File: evil, Line: -1, Text: evil, Note: evil},
		{File: "drivers/box.c", Line: 3, Text: "\t" + wide, Note: wide},
		{File: "drivers/box.c", Line: 4, Text: "\tstruct größe *größe; /* Größe */\\"},
	}
	f.Evidence = []checks.Evidence{{Check: "objtool", Target: "x86-64", Text: evil}, {Check: evil, Target: "arm", Text: wide}, {Check: "gcc", Target: evil, Text: ""}}
	f.Fix = &checks.Fix{Text: evil, Diff: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+" + evil + wide + "\n"}
	gone, before := *f, *f
	gone.Status, before.Status = review.Gone, review.Before
	v.Findings = append(v.Findings, gone, before)
	v.Windows = []review.WindowChange{{Function: evil, File: evil, Target: "x86-64", Before: 1, After: 2}, {Function: wide, Target: "x86-64", Before: 2, After: 3}}
	v.Uncompiled = []review.Uncompiled{{File: evil, First: 5, Last: 2, Reason: wide}}
	v.Notes = []string{evil}
	v.Reproduce = []string{"true \x1b[2J\n#uabot release"}
	return v
}

// The first paragraph has to be right for one and for many, and must never claim more
// than was done.
func TestOpening(t *testing.T) {
	finding := func(class checks.Class, healed int) review.Finding {
		return review.Finding{Status: review.New, Patch: 1, HealedBy: healed, Finding: checks.Finding{Class: class}}
	}
	object, healed := finding(checks.Object, 0), finding(checks.Object, 2)
	doubt, ack := finding(checks.Heuristic, 0), finding(checks.Policy, 0)
	for _, c := range []struct {
		findings []review.Finding
		change   func(v *review.Verdict)
		want     string
	}{
		{nil, nil, "uabot applied this patch to v6.12 (--base) and built it for x86-64. No new problem."},
		{[]review.Finding{object}, nil, "uabot applied this patch to v6.12 (--base) and built it for x86-64. One new problem:"},
		{[]review.Finding{object, object, healed, doubt, ack}, nil, "… Two new problems, one more in the middle of the series, one thing to look at and one change that needs an ack:"},
		{[]review.Finding{healed}, nil, "… No new problem at the end of the series, but one in its middle:"},
		{[]review.Finding{healed, healed, ack}, nil, "… No new problem at the end of the series, but two in its middle and one change that needs an ack:"},
		{[]review.Finding{ack, ack}, nil, "… No new problem, but two changes that need an ack:"},
		{[]review.Finding{doubt, doubt}, nil, "… No new problem, but two things to look at:"},
		{slices.Repeat([]review.Finding{object}, 11), nil, "… 11 new problems:"},
		{nil, func(v *review.Verdict) { v.Series.Version = 3 }, "uabot applied this patch (v3) to …"},
		{nil, func(v *review.Verdict) { v.Series.Total = 4; v.Series.Missing = []int{2, 3, 4} }, "uabot applied this series (1 of its 4 patches: 2/4, 3/4 and 4/4 are missing) to …"},
		{nil, func(v *review.Verdict) {
			v.Series.Total, v.Series.Missing = 2, []int{1}
		}, "uabot applied this series (1 of its 2 patches: 1/2 is missing) to …"},
		{nil, func(v *review.Verdict) { v.Base.Name = "" }, "… to 0123456789ab (--base) and …"},
		{nil, func(v *review.Verdict) { v.Targets[0].Status = review.Failed }, "… and could not build it for x86-64. Nothing was checked in compiled code."},
		{nil, func(v *review.Verdict) { v.Targets = nil }, "… and built nothing. Nothing was checked in compiled code."},
		{nil, func(v *review.Verdict) {
			v.Targets = append(v.Targets, review.Target{Name: "arm", Status: review.Skipped}, review.Target{Name: "i386", Status: review.OK})
		}, "… built it for 2 of 3 targets. No new problem."},
		{nil, func(v *review.Verdict) { v.Applied = false }, "uabot could not apply this patch to v6.12 (--base). Nothing was checked."},
	} {
		v := one()
		v.Findings = c.findings
		if c.change != nil {
			c.change(v)
		}
		first, _, _ := strings.Cut(Text(v, Options{}), "\n\n")
		got := strings.Join(strings.Fields(first), " ")
		start, end, cut := strings.Cut(c.want, "…")
		if !cut && got != c.want || cut && !(strings.HasPrefix(got, start) && strings.HasSuffix(got, strings.TrimSuffix(end, "…"))) && !strings.Contains(got, strings.Trim(c.want, "… ")) {
			t.Errorf("%s\nwant\n%s", got, c.want)
		}
	}
}

// Sentences that say that all is well must not stand where it was not seen.
func TestNeverClaimsTooMuch(t *testing.T) {
	every := "Every changed line"
	v := one()
	if text := Text(v, Options{}); strings.Contains(text, every) {
		t.Errorf("nobody looked at the coverage:\n%s", text)
	}
	v.Uncompiled = []review.Uncompiled{}
	if text := Text(v, Options{}); !strings.Contains(text, every) {
		t.Errorf("coverage was looked at:\n%s", text)
	}
	v.Targets[0].Status = review.Failed
	if text := Text(v, Options{}); strings.Contains(text, every) || strings.Contains(text, "no new warnings") {
		t.Errorf("nothing was built:\n%s", text)
	}
	v = one()
	v.Findings[0].Class = checks.Build
	if text := Text(v, Options{}); strings.Contains(text, "no new warnings") {
		t.Errorf("there is a new warning:\n%s", text)
	}
}

func TestTrailers(t *testing.T) {
	v := one()
	for _, c := range []struct {
		from   Identity
		class  checks.Class
		healed int
		text   string
		want   bool
	}{
		{bot, checks.Object, 0, "  Reported-by: uabot <uabot@example.org>\n  Closes: https://uabot.example.org/r/3f2a\n", true},
		{Identity{Name: "Bot, The", Address: "b@example.org"}, checks.Object, 0, "  Reported-by: \"Bot, The\" <b@example.org>\n\n-- \n", true},
		{Identity{}, checks.Object, 0, "Reported-by", false},
		{Identity{}, checks.Object, 0, "-- \n", false},
		{bot, checks.Policy, 0, "Reported-by", false},
		{bot, checks.Object, 1, "Reported-by", false},
	} {
		v.Findings[0].Class, v.Findings[0].HealedBy = c.class, c.healed
		if text := Text(v, Options{From: c.from}); strings.Contains(text, c.text) != c.want {
			t.Errorf("%+v, %s: contains %q: %v\n%s", c.from, c.class, c.text, !c.want, text)
		}
	}
}

// An unbounded text has everything, a bounded one says what it has not.
func TestLines(t *testing.T) {
	v := long()
	whole := Text(v, Options{Lines: -1})
	for _, f := range Numbered(v) {
		if !strings.Contains(whole, f.File+":") || !strings.Contains(whole, "in "+f.Function+"()") {
			t.Errorf("%s is not in the unbounded text", f.File)
		}
	}
	if n := strings.Count(whole, "5 -> 1"); n != 300 {
		t.Errorf("%d cells in the table, want 300", n)
	}
	for _, lines := range []int{0, 55, 60, 100, 200} {
		text := Text(v, Options{From: bot, Lines: lines})
		want := lines
		if want == 0 {
			want = MaxLines
		}
		if n := strings.Count(text, "\n"); n > want {
			t.Errorf("%d lines, want at most %d", n, want)
		}
		if !strings.Contains(text, "Shortened; all of it: "+bot.Page) {
			t.Errorf("within %d lines, it does not say that it was shortened:\n%s", want, text)
		}
	}
	if text := Text(one(), Options{From: bot}); strings.Contains(text, "Shortened") {
		t.Errorf("nothing was left out:\n%s", text)
	}
}

// Which patch a finding belongs to, in words.
func TestWhen(t *testing.T) {
	v := one()
	v.Series.Total = 5
	for _, n := range []int{2, 3, 5} { // 4/5 is missing
		v.Series.Patches = append(v.Series.Patches, &mail.Patch{Number: n, Total: 5})
	}
	tx := &text{v: v}
	for _, c := range []struct {
		patch, healed int
		want          string
	}{
		{1, 0, "since patch 1/5, still there after 5/5"},
		{4, 0, "since patch 5/5"},
		{2, 4, "new with 2/5, healed by 5/5: bisection breaks between"},
		{0, 3, "healed by 3/5: bisection breaks before"},
		{0, 0, "by which patch is not known"},
	} {
		if got := tx.when(&review.Finding{Patch: c.patch, HealedBy: c.healed}); got != c.want {
			t.Errorf("%d, %d: %q, want %q", c.patch, c.healed, got, c.want)
		}
	}
	v.Series.Patches = v.Series.Patches[:1]
	if got := tx.when(&review.Finding{Patch: 1}); got != "" {
		t.Errorf("of one patch: %q", got)
	}
}

// What one check said is told in few words, once.
func TestEvidence(t *testing.T) {
	for _, c := range []struct {
		title string
		e     checks.Evidence
		want  string
	}{
		{"x", checks.Evidence{Check: "objtool", Text: "sound/core/a.o: warning: objtool: f+0x12: redundant UACCESS disable\nmore"}, "objtool, a.o: redundant UACCESS disable"},
		{"x", checks.Evidence{Check: "objtool", Text: "a.o: warning: objtool: f() falls through to next function g()"}, "objtool, a.o: f() falls through to next function g()"},
		{"x", checks.Evidence{Check: "objtool", Text: "redundant UACCESS disable"}, "objtool: redundant UACCESS disable"},
		{"x", checks.Evidence{Check: "object code", Text: "at +0x30"}, "object code"},
		{"x", checks.Evidence{Check: "source", Text: "block 4"}, "source only"},
		{"x", checks.Evidence{Check: "source", Target: "s390x"}, "source only: no window instructions there"},
		{"unused variable 'n'", checks.Evidence{Check: "gcc", Text: "a.c:1:2: warning: unused variable ‘n’ [-Wunused-variable]"}, "gcc warning"},
		{"conflicting types", checks.Evidence{Check: "gcc", Text: "a.c:1:2: error: unused variable ‘n’"}, "gcc: error: unused variable 'n'"},
		{"incorrect type in argument 1 (different address spaces)", checks.Evidence{Check: "sparse", Text: "a.c:1:2: warning: incorrect type in argument 1 (different address spaces)\n   expected void"}, "sparse warning"},
		{"x", checks.Evidence{Check: "gcc"}, "gcc"},
	} {
		tx := &text{v: &review.Verdict{Targets: []review.Target{{Name: "s390x", SourceOnly: "no window instructions there"}}}}
		f := &review.Finding{Finding: checks.Finding{Title: c.title}}
		if got := tx.sawWhat(f, &c.e); got != c.want {
			t.Errorf("%+v: %q, want %q", c.e, got, c.want)
		}
	}
}

func TestWindowsTable(t *testing.T) {
	change := func(function, target string, before, after int) review.WindowChange {
		return review.WindowChange{Function: function, File: "a.c", Target: target, Before: before, After: after}
	}
	targets := []string{"x86-64", "i386", "ppc64le", "ppc32", "ppc8xx", "riscv64", "arm", "s390x"}
	for _, c := range []struct {
		what    string
		windows []review.WindowChange
		want    string
	}{
		{"nothing changes", []review.WindowChange{change("f", "x86-64", 2, 2)}, ""},
		{"columns wrap after five", []review.WindowChange{
			change("f", "x86-64", 12, 4), change("f", "i386", 12, 4), change("f", "ppc64le", 12, 4), change("f", "ppc32", 6, 2),
			change("f", "ppc8xx", 12, 4), change("f", "riscv64", 12, 0), change("f", "arm", 12, 12), change("f", "s390x", 0, 0),
		}, `     x86-64   i386     ppc64le  ppc32   ppc8xx
  f  12 -> 4  12 -> 4  12 -> 4  6 -> 2  12 -> 4
     riscv64
  f  12 -> 0
  No gain on arm.
`},
		{"more windows are no gain elsewhere", []review.WindowChange{change("f", "x86-64", 1, 2), change("f", "arm", 1, 1), change("f", "ppc32", 1, 1)}, `     x86-64
  f  1 -> 2
  No change on ppc32 and arm.
`},
		{"new, gone and not compiled", []review.WindowChange{change("f", "x86-64", -1, 2), change("g_old", "i386", 1, -1), change("same", "i386", 3, 3)}, `         x86-64  i386
  f      - -> 2
  g_old          1 -> -
  (-: there is no such function)
`},
		{"one name in two files", []review.WindowChange{change("f", "x86-64", 1, 2), {Function: "f", File: "b.c", Target: "x86-64", Before: 2, After: 1}}, `           x86-64
  f (a.c)  1 -> 2
  f (b.c)  2 -> 1
`},
	} {
		v := &review.Verdict{Windows: c.windows}
		for _, name := range targets {
			v.Targets = append(v.Targets, review.Target{Name: name})
		}
		tx := &text{v: v, cut: cuts(0)[0]}
		p := &page{}
		tx.windows(p)
		want := c.want
		if want != "" {
			want = "Windows opened in functions that you changed, before -> after:\n" + want
		} else {
			want = "\n"
		}
		if got := p.String(); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, got, want)
		}
	}
}

func TestChosen(t *testing.T) {
	var steps []quote
	for i := range 10 {
		s := quote{}
		s.Line = i + 1
		steps = append(steps, s)
	}
	steps[6].Note = "look"
	got, skipped := chosen(steps, 4)
	var lines []int
	for _, s := range got {
		lines = append(lines, s.Line)
	}
	if !slices.Equal(lines, []int{1, 2, 7, 10}) || skipped[2] != 4 || skipped[3] != 2 || len(skipped) != 2 {
		t.Errorf("%v, left out %v", lines, skipped)
	}
	if got, skipped := chosen(steps, 10); len(got) != 10 || len(skipped) != 0 {
		t.Error(got, skipped)
	}
}

func TestForeign(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                      "plain",
		"a\r\nb\tc":                  "a b c",
		"\x1b[31mred":                `\x1b[31mred`,
		"‘quoted’ – dash…":           "'quoted' - dash...",
		"größer 日本":                  "größer 日本",
		"bad\xff":                    `bad\xff`,
		"rtl\u202e":                  `rtl\u202e`,
		"\U000e0041":                 `\U000e0041`,
		strings.Repeat("ä", 161):     strings.Repeat("ä", 160) + " [... 1 more]",
		strings.Repeat("\x00", 1000): strings.Repeat(`\x00`, 40) + " [... 3840 more]",
	} {
		if got := phrase(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"\tif (x)\t\t\\":   "\tif (x)",
		"\tif (x)  \r\n":   "\tif (x)",
		"\\":               "",
		"\tputs(\"\\n\");": "\tputs(\"\\n\");",
	} {
		if got := codeLine(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
