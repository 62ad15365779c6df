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
	line int // in the file after the patch, by the patch's own count
	text string
}

// patchDiff is one patch of a series, ready to be quoted from.
type patchDiff struct {
	files []*gitdiff.File
	lines map[string][]diffLine // by the file's name after the patch
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
		d := patchDiff{files: files, lines: map[string][]diffLine{}}
		for _, f := range files {
			for _, frag := range f.TextFragments {
				line := int(frag.NewPosition)
				for _, l := range frag.Lines {
					if !l.New() {
						continue
					}
					d.lines[f.NewName] = append(d.lines[f.NewName], diffLine{l.Op, line, bare(l.Line)})
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
// tree it was made for. Lines are carried back through the later patches first; the
// shift that is left (git am allows one) has to be the same for all lines of a file.
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
	for i, step := range f.Witness {
		list[i].Step = step
		list[i].Note = prose(step.Note)
	}
	for k := last; k > 0; k-- {
		q.matchPatch(list, k, last, k == home)
	}
	return list
}

// matchPatch marks the steps of list that patch k brings (when it is the home of the
// finding, those in its context too). The home patch has the last word.
func (q *quoter) matchPatch(list []quote, k, last int, home bool) {
	type candidate struct {
		step  int
		shift int
		op    gitdiff.LineOp
	}
	byFile := map[string][]candidate{}
	for i := range list {
		step := &list[i].Step
		if list[i].patch > 0 && !home {
			continue
		}
		file, line := q.before(step.File, step.Line, last, k)
		if file == "" || bare(step.Text) == "" {
			continue
		}
		for _, l := range q.patches[k-1].lines[file] {
			shift := l.line - line
			if l.text != bare(step.Text) || abs(shift) > maxShift {
				continue
			}
			if !home && (l.op != gitdiff.OpAdd || shift != 0) {
				continue
			}
			byFile[file] = append(byFile[file], candidate{i, shift, l.op})
		}
	}
	for _, candidates := range byFile {
		votes := map[int]int{}
		for _, c := range candidates {
			votes[c.shift]++
		}
		best := candidates[0].shift
		for shift, n := range votes {
			if n > votes[best] || n == votes[best] && (abs(shift) < abs(best) || abs(shift) == abs(best) && shift < best) {
				best = shift
			}
		}
		for _, c := range candidates {
			if best != 0 && votes[best] < 2 && len(strings.TrimSpace(list[c.step].Text)) < telling {
				continue // a lone "return 0;" that stands elsewhere, too
			}
			if c.shift == best {
				list[c.step].patch, list[c.step].op = k, c.op
			}
		}
	}
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

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
