package mail

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// errCombined is why the diff of a merge cannot be reviewed: it is relative to
// several bases at once, and git apply does not take it.
var errCombined = errors.New("a combined diff (of a merge) cannot be applied")

// noticePattern matches the subjects of mails that tell, with the diff, what became of
// a patch: of the tip bot, of the stable, the mm and the sound trees.
var noticePattern = regexp.MustCompile(`(?i)^(?:\[tip: ?|FAILED: patch "|patch ".*" has been added to the |\+ \S+\.patch added to |\[(?:merged|obsolete|folded-merged|alternative-merged|to-be-updated|withdrawn|failures|nacked)\b|\[git:|Applied ")`)

// PatchOf returns the patch that a message is, or false when it is none: a reply in
// any language, a mail without a diff, a cover letter. A mail that is meant as a
// patch but whose diff cannot be read is a patch with a DiffError.
//
// A diff in quotes is never a patch, and neither is one that answers somebody
// ("something like this?") without saying [PATCH] or being signed off.
//
// What a message made by Parse says is found out once and remembered.
func PatchOf(m *Message) (*Patch, bool) {
	if m.memo == nil {
		return patchOf(m)
	}
	m.memo.once.Do(func() { m.memo.patch, m.memo.ok = patchOf(m) })
	return m.memo.patch, m.memo.ok
}

// memo keeps what PatchOf found, so that it can be found out by another goroutine
// than the one that needs it.
type memo struct {
	once  sync.Once
	patch *Patch
	ok    bool
}

func patchOf(m *Message) (*Patch, bool) {
	s := ParseSubject(m.Subject)
	if s.Reply || s.Number == 0 && s.Numbered || noticePattern.MatchString(m.Subject) {
		return nil, false
	}
	if !hasDiffMark(m) {
		return nil, false
	}
	in := mailinfo(m)
	if len(in.patch) == 0 {
		return nil, false
	}
	if in.inSubject && !s.Tagged {
		if inner := ParseSubject(in.subject); inner.Tagged {
			s = inner
		}
	}
	if !s.Tagged && (len(m.InReplyTo) > 0 || len(m.References) > 0) && !isFormal(m, in) {
		return nil, false
	}
	p := &Patch{
		Message: m, Number: s.Number, Total: s.Total, Version: s.Version, Prefixes: s.Prefixes,
		Title: s.Title, Author: author(in.from), Log: in.log, date: in.date,
	}
	if in.inSubject {
		p.Title = ParseSubject(in.subject).Title
	}
	if !in.inFrom && m.rewritten {
		p.Author = m.sender
		m.warn("the From was rewritten by a list: the author is taken from the mail's other fields")
	}
	diff, stripped := withoutQuotedCR(in.patch)
	if stripped {
		m.warn("every line of the diff ended in a carriage return: they were taken off")
		p.Log = strings.ReplaceAll(p.Log, "\r\n", "\n")
	}
	p.Diff = string(diff)
	p.Files, p.DiffError = readDiff(p.Diff)
	if len(p.Files) == 0 && !s.Tagged {
		return nil, false
	}
	if len(p.Files) == 0 && p.DiffError == nil {
		return nil, false
	}
	return p, true
}

// isFormal tells a patch that lacks its tag from a suggestion in a discussion.
func isFormal(m *Message, in info) bool {
	return (strings.Contains("\n"+in.log, "\nSigned-off-by:") || bytes.HasPrefix(in.patch, []byte("---\n"))) &&
		!strings.Contains("\n"+m.Body, "\n>")
}

// hasDiffMark is a cheap look for what every diff has, so that most mails need not
// be taken apart.
func hasDiffMark(m *Message) bool {
	for _, t := range m.texts() {
		for _, mark := range [...]string{"diff -", "--- ", "Index: "} {
			if bytes.HasPrefix(t.bytes, []byte(mark)) || bytes.Contains(t.bytes, []byte("\n"+mark)) {
				return true
			}
		}
	}
	return false
}

// readDiff finds the files of a diff. No file and no error means that there is no
// diff.
func readDiff(diff string) ([]*gitdiff.File, error) {
	if len(diff) > MaxDiff {
		return nil, fmt.Errorf("the diff has %d bytes, more than %d", len(diff), MaxDiff)
	}
	if strings.Contains("\n"+diff, "\ndiff --cc ") || strings.Contains("\n"+diff, "\ndiff --combined ") {
		return nil, errCombined
	}
	files, _, err := gitdiff.Parse(strings.NewReader(diff))
	if !strings.Contains("\n"+diff, "\ndiff --git ") {
		for _, f := range files {
			f.OldName, f.NewName = withoutFirst(f.OldName), withoutFirst(f.NewName)
		}
	}
	if err != nil {
		return files, fmt.Errorf("reading the diff: %w", err)
	}
	if len(files) == 0 && looksLikeDiff(diff) {
		return nil, errors.New("reading the diff: it names no file that can be changed")
	}
	return files, nil
}

// withoutFirst takes the first directory off a path of a diff that git did not make,
// as `git am` does (-p1). An absolute path stays what it is, for Refuse to see.
func withoutFirst(name string) string {
	if _, rest, ok := strings.Cut(name, "/"); ok && !strings.HasPrefix(name, "/") {
		return rest
	}
	return name
}

// looksLikeDiff reports whether a text that has no file in it was meant as a diff.
func looksLikeDiff(diff string) bool {
	text := "\n" + diff
	return strings.Contains(text, "\ndiff -") ||
		strings.Contains(text, "\n--- ") && strings.Contains(text, "\n+++ ") ||
		strings.Contains(text, "\n@@ -")
}

// withoutQuotedCR takes off carriage returns that the mail's transport brought, not
// the file: those that even the diff's own header lines have.
func withoutQuotedCR(diff []byte) ([]byte, bool) {
	if bytes.IndexByte(diff, '\r') < 0 {
		return diff, false
	}
	for rest := diff; len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		if (bytes.HasPrefix(line, []byte("diff --git ")) || bytes.HasPrefix(line, []byte("+++ ")) ||
			bytes.HasPrefix(line, []byte("--- ")) || bytes.HasPrefix(line, []byte("@@ -"))) && !bytes.HasSuffix(line, []byte("\r")) {
			return diff, false
		}
		rest = after
	}
	return bytes.ReplaceAll(diff, []byte("\r\n"), []byte("\n")), true
}
