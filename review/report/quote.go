package report

import (
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"uabot/checks"
	"uabot/mail"
	"uabot/review"
)

// maxShift bounds how far a patch's own line numbers may be off because it was made
// for another base.
const maxShift = 1000

// telling is the length from which a line is hardly there twice, so that it alone can
// say by how much a patch's numbers are off.
const telling = 24

// diffLine is a line that stands in a patch after it: added or context.
type diffLine struct {
	op   gitdiff.LineOp
	text string
}

// patchDiff is one patch of a series, ready to be quoted from.
type patchDiff struct {
	files []*gitdiff.File
	lines map[string]map[int]diffLine // by the file's name after the patch, and the line in it, by the patch's own count
}

// quoter finds the lines of a witness in the patches of a series.
type quoter struct {
	patches []patchDiff
}

// quote is a step of a witness as a reader meets it.
type quote struct {
	checks.Step
	op    gitdiff.LineOp // valid when Patch > 0
	patch int            // position of the patch that has the line in its diff; 0: none
}

func newQuoter(patches []*mail.Patch) *quoter {
	q := &quoter{}
	for _, p := range patches {
		files := p.Files
		if files == nil && p.Diff != "" {
			// A diff that cannot be read leaves nothing to quote from; the lines
			// are then shown as the source has them.
			files, _, _ = gitdiff.Parse(strings.NewReader(p.Diff))
		}
		d := patchDiff{files: files, lines: map[string]map[int]diffLine{}}
		for _, f := range files {
			if d.lines[f.NewName] == nil {
				d.lines[f.NewName] = map[int]diffLine{}
			}
			for _, frag := range f.TextFragments {
				line := int(frag.NewPosition)
				for _, l := range frag.Lines {
					if !l.New() {
						continue
					}
					d.lines[f.NewName][line] = diffLine{l.Op, bare(l.Line)}
					line++
				}
			}
		}
		q.patches = append(q.patches, d)
	}
	return q
}

// bare is a line without what nobody sees: white space at its end, and the backslash
// that continues a macro with the white space before it.
func bare(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	if body, ok := strings.CutSuffix(text, `\`); ok {
		text = strings.TrimRight(body, " \t")
	}
	return text
}

// quotes relates each step of f's witness to the diffs. The patch that brings the
// finding is quoted with its context; of the other patches only added lines are
// recognised.
//
// The witness counts lines in the tree that shows the finding, a patch counts in the
// tree it was made for. What the two bases differ by in a file (git am allows it) is
// one shift for the whole series; what later patches moved is carried back.
func (q *quoter) quotes(f *review.Finding) []quote {
	last := len(q.patches) // the patch after which the witness was taken
	if f.HealedBy > 0 && f.HealedBy <= last {
		last = f.HealedBy - 1
	}
	home := f.Patch
	if home == 0 && len(q.patches) == 1 {
		home = 1
	}
	list := make([]quote, len(f.Witness))
	shifts := map[string]int{}
	for i, step := range f.Witness {
		list[i].Step = step
		list[i].Note = prose(step.Note)
		if _, known := shifts[step.File]; !known && home > 0 && home <= last {
			shifts[step.File] = q.shift(f.Witness, step.File, home, last)
		}
	}
	for k := last; k > 0; k-- {
		for i := range list {
			step := list[i].Step
			if list[i].patch > 0 && k != home {
				continue
			}
			if op, ok := q.find(step, shifts[step.File], k, last); ok && (k == home || op == gitdiff.OpAdd) {
				list[i].patch, list[i].op = k, op
			}
		}
	}
	return list
}

// shift is by how much the lines of a file stand lower in the reviewed tree than in
// the author's: the value that finds the most lines of the witness in the diff of
// patch k, the smallest of those. A short line alone says nothing: "return 0;"
// stands everywhere.
func (q *quoter) shift(w checks.Witness, file string, k, last int) int {
	texts := map[string]bool{}
	for _, lines := range q.patches[k-1].lines {
		for _, l := range lines {
			texts[l.text] = true
		}
	}
	var steps checks.Witness
	for _, step := range w {
		if step.File == file && texts[bare(step.Text)] {
			steps = append(steps, step)
		}
	}
	best, most := 0, 0
	for n := 0; n <= maxShift && most < len(steps); n++ {
		for _, shift := range []int{n, -n} {
			found, told := 0, false
			for _, step := range steps {
				if _, ok := q.find(step, shift, k, last); ok {
					found++
					told = told || len(strings.TrimSpace(step.Text)) >= telling
				}
			}
			if found > most && (shift == 0 || found > 1 || told) {
				best, most = shift, found
			}
		}
	}
	return best
}

// find looks for a step among the lines of patch k, in a tree that is off by shift.
func (q *quoter) find(step checks.Step, shift, k, last int) (gitdiff.LineOp, bool) {
	text := bare(step.Text)
	if text == "" {
		return 0, false
	}
	file, line := q.before(step.File, step.Line-shift, last, k)
	l, ok := q.patches[k-1].lines[file][line]
	return l.op, ok && l.text == text
}

// before carries a line of the tree after patch last back to the tree after patch k.
// The name is empty where a patch in between added the line.
func (q *quoter) before(file string, line, last, k int) (string, int) {
	for p := last; p > k; p-- {
		for _, f := range q.patches[p-1].files {
			if f.NewName != file {
				continue
			}
			old, ok := lineBefore(f, line)
			if !ok {
				return "", 0
			}
			line = old
			if f.OldName != "" {
				file = f.OldName
			}
			break
		}
	}
	return file, line
}

// lineBefore is where a line of the file after f stood before it; false when f added it.
func lineBefore(f *gitdiff.File, line int) (int, bool) {
	shift := 0
	for _, frag := range f.TextFragments {
		old, start := int(frag.OldPosition), int(frag.NewPosition)
		// A side without lines is numbered by the line above it.
		if frag.OldLines == 0 {
			old++
		}
		if frag.NewLines == 0 {
			start++
		}
		if line < start {
			break
		}
		for _, l := range frag.Lines {
			if l.New() && start == line {
				return old, l.Op == gitdiff.OpContext
			}
			if l.New() {
				start++
			}
			if l.Old() {
				old++
			}
		}
		shift = old - start
	}
	return line + shift, true
}
