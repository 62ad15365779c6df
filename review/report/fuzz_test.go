package report

import (
	"strings"
	"testing"

	"uabot/checks"
	"uabot/mail"
	"uabot/review"
)

// Whatever stands in a mail or comes from a tool: the text keeps its form, the mail
// stays one mail to the people it was for, and JSON stays JSON.
func FuzzForeign(f *testing.F) {
	f.Add("a title", "drivers/a.c", "\tbegin();", "[PATCH] x", "Ada, (TI)", "a@example.com", quoted[0], 3)
	f.Add("\x1b[0m\r\n", "\u202e", "--- a/x", "=?utf-8?q?=0A?=", "\"\\", "a@b\r\nBcc: c@d", "@@ -1 +1 @@", -1)
	f.Fuzz(func(t *testing.T, title, file, code, subject, person, addr, diff string, n int) {
		v := one()
		p := v.Series.Patches[0]
		p.Diff = diff
		p.Message.Subject = subject
		p.Message.Cc = []mail.Address{{Name: person, Addr: "cc@example.com"}, {Name: title, Addr: addr}}
		p.Message.References = []string{person, addr}
		v.Series.Patches = append(v.Series.Patches, &mail.Patch{Number: n, Diff: diff})
		v.Series.Total, v.Series.Version = n, n
		finding := &v.Findings[0]
		finding.Title, finding.File, finding.Line, finding.Function = title, file, n, person
		finding.HealedBy = n
		finding.Note, finding.Fix = code, &checks.Fix{Text: title, Diff: diff}
		finding.Inlined = []string{file}
		for i := range 20 {
			finding.Witness = append(finding.Witness, checks.Step{File: file, Line: n + i, Text: code, Note: strings.Repeat(title, i%2)})
		}
		finding.Evidence = append(finding.Evidence, checks.Evidence{Check: "objtool", Target: title, Text: code}, checks.Evidence{Check: title, Target: person, Text: diff})
		v.Targets = append(v.Targets, review.Target{Name: person, Status: review.Failed, Reason: title, Notes: []string{code}}, review.Target{Name: file, Status: review.OK, Compiler: code})
		v.Windows = []review.WindowChange{{Function: person, File: file, Target: "x86-64", Before: n, After: 1}, {Function: title, File: file, Target: file, Before: -1, After: n}}
		v.Uncompiled = []review.Uncompiled{{File: file, First: 1, Last: 2, Reason: code}}
		v.Notes, v.Base.Reason, v.Base.Name = []string{title}, code, ""
		v.Base.Commit = person
		v.Findings = append(v.Findings, v.Findings[0])
		v.Findings[1].Patch, v.Findings[1].HealedBy = n, 0

		checkForm(t, v, Options{})
		checkForm(t, v, Options{From: bot})
		if _, err := JSON(v); err != nil {
			t.Error(err)
		}
		raw, err := Mail(v, bot)
		if err != nil {
			return // the second patch may be the first problem, and came by no mail
		}
		m, h, _ := parsed(t, raw)
		for key := range m.Header {
			if !strings.Contains(" "+strings.Join(fields, " ")+" ", " "+key+" ") {
				t.Errorf("field %s:\n%s", key, raw)
			}
		}
		list, err := h.AddressList("Cc")
		if err != nil || len(list) > 3 {
			t.Errorf("Cc %v, %v:\n%s", list, err, raw)
		}
	})
}
