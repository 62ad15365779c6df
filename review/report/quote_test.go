package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"uabot/checks"
	"uabot/mail"
	"uabot/review"
)

// One file, three patches: 1 adds a function, 2 (the home of the findings) changes
// another below it, 3 adds a line above both.
var quoted = []string{`diff --git a/drivers/a.c b/drivers/a.c
--- a/drivers/a.c
+++ b/drivers/a.c
@@ -10,2 +10,5 @@ static int top;
 
+static int first(void)
+{
+}
 static int second(void)
`, `diff --git a/drivers/a.c b/drivers/a.c
--- a/drivers/a.c
+++ b/drivers/a.c
@@ -14,5 +14,6 @@ static int first(void)
 static int second(void)
 {
-	old();
+	begin();
+	use();
 	end();
 	return 0;
@@ -60,2 +61,3 @@ static int last(void)
 {
+	begin();
 	return 0;
`, `diff --git a/drivers/a.c b/drivers/a.c
--- a/drivers/a.c
+++ b/drivers/a.c
@@ -1,1 +1,3 @@
 /* top */
+#include <linux/one.h>
+#include <linux/two.h>
`}

func TestQuotes(t *testing.T) {
	step := func(line int, text string) checks.Step {
		return checks.Step{File: "drivers/a.c", Line: line, Text: text}
	}
	for _, c := range []struct {
		what          string
		patch, healed int
		witness       []checks.Step
		want          string // per step: the patch and the sign, "-" when it stands in no diff
	}{
		{"lines of the home patch, moved by a later one", 2, 0,
			[]checks.Step{step(18, "\tbegin();"), step(19, "\tuse();"), step(20, "\tend();"), step(21, "\treturn 0;")}, "2+ 2+ 2  2 "},
		{"taken before the later patch", 2, 3,
			[]checks.Step{step(16, "\tbegin();"), step(17, "\tuse();")}, "2+ 2+"},
		{"the base is another: all lines are off by 40", 2, 0,
			[]checks.Step{step(58, "\tbegin();"), step(59, "\tuse();")}, "2+ 2+"},
		{"a line of an earlier patch", 2, 0,
			[]checks.Step{step(13, "static int first(void)"), step(18, "\tbegin();")}, "1+ 2+"},
		{"context of another patch is no quote", 3, 0,
			[]checks.Step{step(20, "\tend();")}, "-"},
		{"the same text elsewhere is not the patch's line", 2, 0,
			[]checks.Step{step(18, "\tbegin();"), step(19, "\tuse();"), step(300, "\treturn 0;")}, "2+ 2+ -"},
		{"two places with the same text", 2, 0,
			[]checks.Step{step(64, "\tbegin();"), step(18, "\tbegin();")}, "2+ 2+"},
		{"a common line far from the patch's", 2, 0,
			[]checks.Step{step(300, "\treturn 0;")}, "-"},
		{"another file", 2, 0,
			[]checks.Step{{File: "drivers/b.c", Line: 18, Text: "\tbegin();"}}, "-"},
		{"no text, no line", 2, 0,
			[]checks.Step{step(18, ""), step(0, "\tother();")}, "- -"},
		{"a macro's backslash is no text", 2, 0,
			[]checks.Step{step(18, "\tbegin();\t\t\\")}, "2+"},
		{"white space at the end is none", 2, 0,
			[]checks.Step{step(18, "\tbegin();  \t")}, "2+"},
		{"the patch is not known", 0, 0,
			[]checks.Step{step(18, "\tbegin();"), step(1, "/* top */")}, "2+ -"},
	} {
		var patches []*mail.Patch
		for _, diff := range quoted {
			patches = append(patches, &mail.Patch{Diff: diff})
		}
		f := &review.Finding{Patch: c.patch, HealedBy: c.healed, Finding: checks.Finding{Witness: c.witness}}
		var got []string
		for _, q := range newQuoter(patches).quotes(f) {
			if q.patch == 0 {
				got = append(got, "-")
			} else {
				got = append(got, fmt.Sprintf("%d%s", q.patch, q.op))
			}
		}
		if g := strings.Join(got, " "); strings.TrimSpace(g) != strings.TrimSpace(c.want) {
			t.Errorf("%s: %q, want %q", c.what, g, c.want)
		}
	}
}

// A diff that nobody can read is no reason to fail: there is nothing to quote, then.
func TestQuotesUnreadable(t *testing.T) {
	f := &review.Finding{Patch: 1, Finding: checks.Finding{Witness: checks.Witness{{File: "a.c", Line: 1, Text: "x"}}}}
	for _, diff := range []string{"", "no diff", "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1,9 +1,9 @@\n+x\n"} {
		q := newQuoter([]*mail.Patch{{Diff: diff}}).quotes(f)
		if len(q) != 1 || q[0].patch != 0 {
			t.Errorf("%q: %+v", diff, q)
		}
	}
}

// The base has 16 lines more above than the author's, and a later patch changes the
// lines that stand, by the author's count, where the witness is by ours: each line of
// the witness is the patch's all the same.
func TestQuoteOnAnotherBase(t *testing.T) {
	const first = `diff --git a/f.c b/f.c
--- a/f.c
+++ b/f.c
@@ -10,2 +10,6 @@
 int before;
+	if (!user_write_access_begin(p, n))
+		goto out;
+out:
+	user_write_access_end();
 int after;
`
	const second = `diff --git a/f.c b/f.c
--- a/f.c
+++ b/f.c
@@ -26,3 +26,3 @@
 int x;
-int y;
+long y;
 int z;
`
	var patches []*mail.Patch
	for _, diff := range []string{first, second} {
		files, _, err := gitdiff.Parse(strings.NewReader(diff))
		if err != nil {
			t.Fatal(err)
		}
		patches = append(patches, &mail.Patch{Files: files})
	}
	f := &review.Finding{Patch: 1, Finding: checks.Finding{Witness: checks.Witness{
		{File: "f.c", Line: 27, Text: "\tif (!user_write_access_begin(p, n))"},
		{File: "f.c", Line: 28, Text: "\t\tgoto out;"},
		{File: "f.c", Line: 29, Text: "out:"},
		{File: "f.c", Line: 30, Text: "\tuser_write_access_end();"},
	}}}
	for i, got := range newQuoter(patches).quotes(f) {
		if got.patch != 1 || got.op != gitdiff.OpAdd {
			t.Errorf("step %d (%s) is not quoted as the patch's", i+1, strings.TrimSpace(got.Text))
		}
	}
}
