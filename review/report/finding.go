package report

import (
	"fmt"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"uabot/checks"
	"uabot/review"
)

const (
	indent     = "    "
	noteIndent = "      "
)

// tellFindings tells each new finding: in full, or where the text must be short in a
// line.
func (t *text) tellFindings(p *page) {
	told := min(len(t.findings), t.cut.full)
	for i := range t.findings[:told] {
		block := &page{}
		t.tell(block, i+1, &t.findings[i])
		if n := len(block.lines) - t.cut.block; t.cut.block > 0 && n > 0 {
			t.left = true
			block.lines = block.lines[:t.cut.block]
			block.line("%s(%s on this left out)", indent, counted(n, "more line", "more lines"))
		}
		p.blank()
		p.lines = append(p.lines, block.lines...)
	}
	rest := t.findings[told:]
	if len(rest) == 0 {
		return
	}
	p.blank()
	for i := range rest[:min(len(rest), t.cut.listed)] {
		p.line("[%d] %s", told+i+1, t.inALine(&rest[i]))
	}
	t.left = true
	if n := len(rest) - t.cut.listed; n > 0 {
		first := told + t.cut.listed + 1
		if n == 1 {
			p.line("and one more, [%d].", first)
		} else {
			p.line("and %d more, [%d] to [%d].", n, first, len(t.findings))
		}
	}
}

func (t *text) inALine(f *review.Finding) string {
	line := wording(f)
	if place := place(f); place != "" {
		line = place + ": " + line
	}
	switch {
	case f.HealedBy > 0 && f.Patch > 0:
		line += fmt.Sprintf(" (%s, healed by %s)", t.patchName(f.Patch), t.patchName(f.HealedBy))
	case f.Patch > 0 && len(t.series().Patches) > 1:
		line += " (" + t.patchName(f.Patch) + ")"
	}
	return line
}

func (t *text) tell(p *page, number int, f *review.Finding) {
	tag := fmt.Sprintf("[%d] ", number)
	p.paragraph(tag, strings.Repeat(" ", len(tag)), title(f))
	t.where(p, f)
	t.tellWitness(p, f, t.quotes[number-1])
	p.blank()
	t.tellEvidence(p, f)
	if f.Class == checks.Heuristic {
		p.paragraph(indent, indent, "This rule can be wrong: please look before you change anything.")
	}
	p.paragraph(indent, indent, stopped(prose(f.Note)))
	t.tellFix(p, f.Fix)
}

// wording is the problem in one line, as its check words it.
func wording(f *review.Finding) string {
	if s := phrase(f.Title); s != "" {
		return s
	}
	return phrase(f.Rule)
}

// title begins with a capital where it begins with an article: what else stands there
// may be a name.
func title(f *review.Finding) string {
	s := wording(f)
	for _, article := range []string{"a ", "an ", "the "} {
		if strings.HasPrefix(s, article) {
			return capital(s)
		}
	}
	return s
}

// where says the place, what it was inlined into, and which patch brings it.
func (t *text) where(p *page, f *review.Finding) {
	place, in := place(f), ""
	if f.Function != "" {
		in = "in " + name(f.Function) + "()"
	}
	switch {
	case place == "" || in == "":
		if place+in != "" {
			p.line("%s%s", indent, place+in)
		}
	case len(indent)+len(place)+2+len(in) <= Width:
		p.line("%s%s, %s", indent, place, in)
	default:
		p.line("%s%s,", indent, place)
		p.line("%s%s", indent, in)
	}
	if n := len(f.Inlined); n > 0 {
		shown := min(n, 2)
		var chain []string
		for _, into := range f.Inlined[:shown] {
			chain = append(chain, name(into))
		}
		line := "inlined into " + strings.Join(chain, ", that into ")
		if n > shown {
			line += fmt.Sprintf(" and %d more", n-shown)
		}
		p.paragraph(indent, indent, line)
	}
	if when := t.when(f); when != "" {
		p.line("%s%s", indent, when)
	}
}

func place(f *review.Finding) string {
	if f.File == "" || f.Line <= 0 {
		return name(f.File)
	}
	return fmt.Sprintf("%s:%d", name(f.File), f.Line)
}

// when says what the patches have to do with f; nothing where there is only one.
func (t *text) when(f *review.Finding) string {
	n := len(t.series().Patches)
	switch {
	case f.HealedBy > 0 && f.Patch == 0:
		return fmt.Sprintf("healed by %s: bisection breaks before", t.patchName(f.HealedBy))
	case f.HealedBy > 0:
		return fmt.Sprintf("new with %s, healed by %s: bisection breaks between", t.patchName(f.Patch), t.patchName(f.HealedBy))
	case n < 2:
		return ""
	case f.Patch == 0:
		return "by which patch is not known"
	case f.Patch < n:
		return fmt.Sprintf("since patch %s, still there after %s", t.patchName(f.Patch), t.patchName(n))
	}
	return "since patch " + t.patchName(f.Patch)
}

// patchName is "2/4" for the patch at a position, by the numbers in the subjects.
func (t *text) patchName(position int) string {
	s := t.series()
	number, total := position, max(s.Total, len(s.Patches))
	if position >= 1 && position <= len(s.Patches) && s.Patches[position-1].Number > 0 {
		number = s.Patches[position-1].Number
	}
	return fmt.Sprintf("%d/%d", number, total)
}

// tellWitness weaves the path into the patch's own lines. Lines that the patch has in
// its diff are quoted as in a reply; all others stand with their place in the source.
func (t *text) tellWitness(p *page, f *review.Finding, steps []quote) {
	shown, skipped := chosen(steps, t.cut.witness)
	for i, step := range shown {
		var before *quote
		if i > 0 {
			before = &shown[i-1]
		}
		if n := skipped[i]; n > 0 {
			t.left = true
			if before.Note != "" {
				p.blank()
			}
			p.line("%s(%s left out)", noteIndent, counted(n, "line", "lines"))
		} else if before == nil || before.Note != "" || !step.follows(before, f) {
			p.blank()
		}
		t.tellStep(p, f, &step)
		if step.Note != "" {
			p.blank()
			p.paragraph(noteIndent, noteIndent, step.Note)
		}
	}
}

// chosen picks at most max steps: the first and the last, those with a note, then
// from the start on. The second result counts the steps left out before each.
func chosen(steps []quote, max int) ([]quote, map[int]int) {
	skipped := map[int]int{}
	if len(steps) <= max {
		return steps, skipped
	}
	keep := make([]bool, len(steps))
	kept := 0
	pick := func(i int) {
		if kept < max && !keep[i] {
			keep[i] = true
			kept++
		}
	}
	pick(0)
	pick(len(steps) - 1)
	for i := range steps {
		if steps[i].Note != "" {
			pick(i)
		}
	}
	for i := range steps {
		pick(i)
	}
	var list []quote
	gap := 0
	for i := range steps {
		if !keep[i] {
			gap++
			continue
		}
		if gap > 0 {
			skipped[len(list)] = gap
		}
		gap = 0
		list = append(list, steps[i])
	}
	return list, skipped
}

// quotedFrom reports whether the step is quoted as in a reply to the patch of f.
func (q *quote) quotedFrom(f *review.Finding) bool {
	return q.patch > 0 && (f.Patch == q.patch || f.Patch == 0)
}

// follows reports whether q can stand right below a. Quoted lines that are no
// neighbours are set apart; the others carry their places.
func (q *quote) follows(a *quote, f *review.Finding) bool {
	if q.quotedFrom(f) != a.quotedFrom(f) {
		return false
	}
	return !q.quotedFrom(f) || q.File == a.File && q.Line == a.Line+1
}

func (t *text) tellStep(p *page, f *review.Finding, step *quote) {
	text := codeLine(step.Text)
	if step.quotedFrom(f) {
		sign := "+"
		if step.op == gitdiff.OpContext {
			sign = " "
		}
		p.line("> %s%s", sign, text)
		return
	}
	place := name(step.File)
	if step.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, step.Line)
	}
	if step.patch > 0 {
		place += " (patch " + t.patchName(step.patch) + ")"
	}
	p.line("  %s: %s", place, strings.TrimLeft(text, " \t"))
}

func (t *text) tellFix(p *page, fix *checks.Fix) {
	if fix == nil {
		return
	}
	p.paragraph(indent, indent, stopped(prose(fix.Text)))
	diff := strings.TrimRight(fix.Diff, "\n")
	if strings.TrimSpace(diff) == "" {
		return
	}
	lines := strings.Split(diff, "\n")
	if len(lines) > t.cut.fix {
		t.left = true
		p.line("%s(The diff of a fix, %s, is left out.)", indent, counted(len(lines), "line", "lines"))
		return
	}
	p.blank()
	// Indented: at the left edge, tools would take it for a patch of this thread.
	for _, line := range lines {
		p.line("%s%s", indent, bounded(escaped(strings.TrimRight(line, "\r")), maxCode))
	}
}
