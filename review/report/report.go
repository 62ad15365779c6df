// Package report turns a verdict into what people and programs read: the body of a
// mail (Text), a complete reply (Mail), and one JSON object (JSON).
//
// What goes in is trusted for its structure and for nothing else: titles, source
// lines, tool messages and names come from mails and compilers, are shown without
// control characters and are bounded in length.
//
// The text is for a maintainer who has a minute: the finding first, the patch's own
// lines around the argument, then the evidence, then how to see it again. It fits in
// MaxLines; what has to go to make it fit is named where it would have stood.
package report

import (
	"slices"
	"strings"

	"uabot/checks"
	"uabot/mail"
	"uabot/review"
)

// MaxLines is what a text keeps to unless Options says otherwise.
const MaxLines = 60

// Identity is who reports.
type Identity struct {
	Name    string // "uabot"
	Address string // user@host
	URL     string // what the bot is: its page
	Page    string // where this very report can be read; empty when nowhere
}

// Options shape a text.
type Options struct {
	// From signs the text. Without an address there are no trailers and no
	// signature: a text for the author's own terminal.
	From Identity
	// Lines bounds the text: 0 means MaxLines, less than 0 no bound. The commands to
	// reproduce a finding, the targets and the ends of the first finding's path are
	// never cut: a bound below 55 may not be met.
	Lines int
}

// Numbered returns the new findings of v in the order in which reports number them:
// the first is [1]. What is broken at the end of the series comes before what the
// series heals itself, that before what a person has to judge; in each the strongest
// evidence first, then in the order of the patches.
func Numbered(v *review.Verdict) []review.Finding {
	list := v.NewFindings()
	slices.SortStableFunc(list, func(a, b review.Finding) int {
		switch ra, rb := rank(&a), rank(&b); {
		case ra != rb:
			return ra - rb
		case a.Class.Stronger(b.Class):
			return -1
		case b.Class.Stronger(a.Class):
			return 1
		}
		return patchOrder(&a) - patchOrder(&b)
	})
	return list
}

func rank(f *review.Finding) int {
	switch {
	case f.Class == checks.Policy:
		return 3
	case f.Class == checks.Heuristic:
		return 2
	case f.HealedBy > 0:
		return 1
	}
	return 0
}

// patchOrder puts findings of no known patch last.
func patchOrder(f *review.Finding) int {
	if f.Patch == 0 {
		return 1 << 20
	}
	return f.Patch
}

// Text is v as the body of a mail, or for a terminal. Lines end in \n.
func Text(v *review.Verdict, opt Options) string {
	limit := opt.Lines
	if limit == 0 {
		limit = MaxLines
	}
	t := &text{v: v, from: opt.From, findings: Numbered(v)}
	quoter := newQuoter(t.series().Patches)
	for i := range t.findings {
		t.quotes = append(t.quotes, quoter.quotes(&t.findings[i]))
	}
	if limit < 0 {
		t.cut = cut{witness: checks.MaxWitness, full: all, listed: all, columns: all, rows: all, uncompiled: all, gone: all, notes: all, fix: all}
		return t.render().String()
	}
	var p *page
	for _, t.cut = range cuts(len(t.findings)) {
		p = t.render()
		if len(p.lines) <= limit {
			return p.String()
		}
	}
	for t.cut.listed > 1 && len(p.lines) > limit {
		t.cut.listed--
		p = t.render()
	}
	return p.String()
}

// cut says how much of each part of a text is shown.
type cut struct {
	witness    int // lines of a witness
	full       int // findings told in full; the others get a line
	listed     int // findings that get a line
	columns    int // targets in the table of windows
	rows       int // functions in the table of windows
	uncompiled int // runs of lines that no target compiled
	gone       int // findings that are gone
	notes      int // limits of the review
	fix        int // lines of a diff that fixes a finding
	block      int // lines of all that is told of one finding; 0: no bound
}

const all = 1 << 20

// cuts are what to try for n findings until the text fits. First goes what a reader
// misses least: the breadth of tables and lists, the middle of long paths, diffs; then
// the last findings are told in a line each; then the tables.
func cuts(n int) []cut {
	list := []cut{
		{witness: checks.MaxWitness, full: n, listed: all, columns: all, rows: 20, uncompiled: 12, gone: 8, notes: all, fix: 24},
		{witness: checks.MaxWitness, full: n, listed: all, columns: maxColumns, rows: 12, uncompiled: 6, gone: 5, notes: 5, fix: 24},
		{witness: 8, full: n, listed: all, columns: maxColumns, rows: 8, uncompiled: 4, gone: 3, notes: 3, fix: 12},
	}
	short := cut{witness: 6, listed: 16, columns: maxColumns, rows: 5, uncompiled: 2, gone: 1, notes: 2}
	for short.full = min(max(n-1, 1), 8); short.full >= 1; short.full-- {
		list = append(list, short)
	}
	return append(list,
		cut{witness: 5, full: 1, listed: 16, columns: maxColumns, rows: 3},
		cut{witness: 3, full: 1, listed: 16},
		cut{witness: 3, full: 1, listed: 16, block: 20}, // nothing but odd input gets here
	)
}

// text is one text in the making.
type text struct {
	v        *review.Verdict
	from     Identity
	findings []review.Finding // new, as numbered
	quotes   [][]quote        // the witness of each
	cut      cut
	left     bool // something was left out of this rendering
}

func (t *text) series() *mail.Series {
	if t.v.Series == nil {
		return &mail.Series{}
	}
	return t.v.Series
}

func (t *text) render() *page {
	t.left = false
	p := &page{}
	t.opening(p)
	t.tellFindings(p)
	if t.v.Applied {
		t.history(p)
		t.windows(p)
		t.coverage(p)
	}
	t.notes(p)
	if t.left {
		p.blank()
		p.line("%s", t.whereAllIs())
	}
	t.reproduce(p)
	t.trailers(p)
	t.signature(p)
	return p
}

func (t *text) whereAllIs() string {
	if t.from.Page != "" {
		return "Shortened; all of it: " + phrase(t.from.Page)
	}
	return "Shortened; `uabot review --json` has all of it."
}

// reproduce prints the commands; they are never wrapped or cut, so that they can be
// copied.
func (t *text) reproduce(p *page) {
	if len(t.v.Reproduce) == 0 {
		return
	}
	p.blank()
	p.line("See for yourself:")
	for _, line := range t.v.Reproduce {
		p.line("  %s", escaped(strings.TrimRight(line, " \t\r\n")))
	}
}

// trailers asks for credit under the one condition where it is due. What needs an ack
// only, or is mended inside of the series, asks for no fix.
func (t *text) trailers(p *page) {
	broken := 0
	for i := range t.findings {
		if rank(&t.findings[i]) == 0 {
			broken++
		}
	}
	if t.from.Address == "" || broken == 0 {
		return
	}
	p.blank()
	it := "it"
	if broken > 1 {
		it = "one of them"
	}
	p.paragraph("", "", "If you fix "+it+" in a separate patch (not a new version of this one), please add")
	p.line("  Reported-by: %s", mailbox(t.from.Name, t.from.Address))
	if t.from.Page != "" {
		p.line("  Closes: %s", phrase(t.from.Page))
	}
}

func (t *text) signature(p *page) {
	if t.from.Address == "" {
		return
	}
	p.blank()
	p.lines = append(p.lines, "-- ") // the blank makes it a signature (RFC 3676, 4.3)
	who := name(t.from.Name)
	if who == "" {
		who = "uabot"
	}
	where := t.from.Page
	if where == "" {
		where = t.from.URL
	}
	about := who + " looks at user access in kernel patches"
	if where != "" {
		about += ": " + phrase(where)
	}
	p.line("%s", about)
	switch n := len(t.findings); {
	case n == 1:
		p.line(`Wrong? Answer with a line "#uabot false-positive 1 why".`)
	case n > 1:
		p.line(`Wrong? Answer with a line "#uabot false-positive N why", N as above.`)
	}
}
