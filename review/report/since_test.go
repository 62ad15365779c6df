package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"uabot/checks"
	"uabot/mail"
	"uabot/review"
)

// The second revision mends one of two findings of the first.
func TestSince(t *testing.T) {
	finding := func(function string) review.Finding {
		return review.Finding{Status: review.New, Patch: 1, Finding: checks.Finding{
			Rule: "open-at-return", File: "fs/a.c", Line: 7, Function: function, Class: checks.Object, Title: "a window stays open in " + function,
			Evidence: []checks.Evidence{{Check: "object code", Target: "ppc8xx"}},
		}}
	}
	verdict := func(version int, findings ...review.Finding) *review.Verdict {
		return &review.Verdict{
			Series: &mail.Series{Subject: "fs: a", Version: version, Patches: []*mail.Patch{{Number: 1, Total: 1, Title: "fs: a", Message: &mail.Message{ID: "a@example.org"}}}},
			Base:   review.Base{Commit: "0123456789abcdef", Name: "v6.12"}, Applied: true, Findings: findings,
			Targets: []review.Target{{Name: "ppc8xx", Status: review.OK, Compiler: "gcc 12.2", Objects: []string{"fs/a.o"}}},
		}
	}
	second := verdict(2, finding("f"))
	second.Compare(verdict(1, finding("f"), finding("g")))
	if got := Text(second, Options{}); !strings.Contains(got, "Of what was new in v1, one finding is fixed and one is still there.\n  fs/a.c:7: a window stays open in g\n") {
		t.Errorf("got\n%s", got)
	}
	third := verdict(3)
	third.Compare(second)
	if got := Text(third, Options{}); !strings.Contains(got, "Fixed since v2:\n  fs/a.c:7: a window stays open in f\n") {
		t.Errorf("got\n%s", got)
	}
	text, err := JSON(third)
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Since struct {
			Version      int
			Fixed, Still []string
		}
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&out); err != nil || out.Since.Version != 2 || len(out.Since.Fixed) != 1 || len(out.Since.Still) != 0 {
		t.Errorf("got %+v, %v", out.Since, err)
	}
}
