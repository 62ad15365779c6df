package mail

import (
	"fmt"
	"testing"
)

// TestHear gives what somebody writes in answer to a series, and what it makes of it.
func TestHear(t *testing.T) {
	const ada, eve = "Ada Example <ada@example.org>", "Eve <eve@example.com>"
	for _, test := range []struct {
		from, answers, body string
		want                Status
	}{
		{eve, "c@x", "On Sat, 14 Jun 2025 08:43:13 +0200,\nAda wrote:\n> text\n\nApplied now all patches.  Thanks!\n", Applied},
		{eve, "c@x", "Applied to powerpc/next.\n\n[1/2] one\n      https://git.kernel.org/powerpc/c/123\n", Applied},
		{eve, "c@x", "On Sat, 01 Nov 2025, Ada wrote:\n> text\n\nApplied, thanks!\n\n[1/2] one\n", Applied},
		{eve, "c@x", "Thanks, applied.\n", Applied},
		{eve, "c@x", "Series applied, thanks\n", Applied},
		{eve, "c@x", "Both patches applied to for-next.\n", Applied},
		{eve, "c@x", "Hello:\n\nThis series was applied to bpf/bpf-next.git (master)\nby Eve:\n", Applied},
		{eve, "c@x", "Queued for 6.19, thanks.\n", Applied},
		{eve, "1@x", "Applied the whole series, thanks.\n", Applied},
		{eve, "1@x", "Applied, thanks.\n", Open}, // one patch of two
		{eve, "c@x", "> Applied, thanks.\n\nReally?\n", Open},
		{eve, "c@x", "Applied to what? It does not apply here.\n", Open},
		{eve, "c@x", "Not applied, please rebase.\n", Open},
		{eve, "c@x", "I would have applied it, but it conflicts.\n", Open},
		{eve, "c@x", "Once this is applied we can go on.\n", Open},
		{eve, "c@x", "This has been applied in the wrong order before.\n", Open},
		{eve, "c@x", "Looks good to me.\n\n-- \nApplied Sciences Ltd.\n", Open},
		{eve, "c@x", "Please ignore this series.\n", Open},
		{eve, "c@x", "This is superseded by my own.\n", Open},
		{ada, "c@x", "Please ignore this series, I sent the wrong branch.\n", Withdrawn},
		{ada, "2@x", "Please ignore this patch.\n", Open}, // one of two
		{ada, "c@x", "I withdraw this.\n", Withdrawn},
		{ada, "c@x", "Pls drop this patchset.\n", Withdrawn},
		{ada, "c@x", "Please drop me a line.\n", Open},
		{ada, "c@x", "Superseded by v3.\n", Superseded},
		{ada, "r@x", "Please ignore this patch, I mean yours.\n", Open}, // not said to the series
	} {
		a := &Assembler{}
		add := func(from, id, subject, answers, body string) {
			m, err := Parse(fmt.Appendf(nil, "From: %s\nMessage-ID: <%s>\nSubject: %s\nIn-Reply-To: <%s>\n\n%s", from, id, subject, answers, body))
			if err != nil {
				t.Fatal(err)
			}
			a.Add(m, m.Arrived())
		}
		const diff = "text\n---\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
		add(ada, "c@x", "[PATCH 0/2] x", "", "text\n")
		add(ada, "1@x", "[PATCH 1/2] one", "c@x", diff)
		add(ada, "2@x", "[PATCH 2/2] two", "c@x", diff)
		add(eve, "r@x", "Re: [PATCH 0/2] x", "c@x", "Hm.\n")
		add(test.from, "s@x", "Re: [PATCH 0/2] x", test.answers, test.body)
		series, err := a.Flush()
		if err != nil || len(series) != 1 {
			t.Fatalf("%d series, %v", len(series), err)
		}
		if got := series[0].Status; got != test.want {
			t.Errorf("%s answers %s: %q: %q, want %q", test.from, test.answers, test.body, got, test.want)
		}
		if (series[0].By != nil) != (test.want != Open) {
			t.Errorf("%q: said by %v", test.body, series[0].By)
		}
	}
}
