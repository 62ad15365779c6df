package mail

import (
	"regexp"
	"strings"
)

var (
	baseCommitPattern   = regexp.MustCompile(`(?mi)^base-commit:[ \t]*([0-9a-f]{12,64})[ \t]*$`)
	prerequisitePattern = regexp.MustCompile(`(?mi)^prerequisite-patch-id:[ \t]*([0-9a-f]{40,64})[ \t]*$`)
	changeIDPattern     = regexp.MustCompile(`(?mi)^change-id:[ \t]*([[:alnum:]][[:alnum:]._/+-]{5,200})[ \t]*$`)
	dependsPattern      = regexp.MustCompile(`(?mi)^(?:based-on|depends-on|prerequisite-message-id):[ \t]*<?([^<>\s]+@[^<>\s]+)>?[ \t]*$`)
)

// hints calls look with the texts of a series that can hold the trailers of `git
// format-patch --base` and b4: the cover letter's, then each patch's; quotes have
// "> " before them and do not match.
func (s *Series) hints(look func(text string) (stop bool)) {
	if s.Cover != nil && look(s.Cover.Body) {
		return
	}
	for _, p := range s.Patches {
		if look(p.Message.Body) {
			return
		}
	}
}

func (s *Series) hint(pattern *regexp.Regexp) (value string) {
	s.hints(func(text string) bool {
		if m := pattern.FindStringSubmatch(text); m != nil {
			value = m[1]
		}
		return value != ""
	})
	return value
}

// BaseCommit is the commit id that the author names as base, as long as it was
// written (12 digits at least); "" when none is named.
func (s *Series) BaseCommit() string { return strings.ToLower(s.hint(baseCommitPattern)) }

// ChangeID is b4's change-id, the same for all revisions of a work; "" for none.
func (s *Series) ChangeID() string { return s.hint(changeIDPattern) }

// Prerequisites are the patch-ids (`git patch-id --stable`) of what has to be
// applied before the series, in order.
func (s *Series) Prerequisites() []string { return s.all(prerequisitePattern) }

// DependsOn are the Message-IDs of mails whose series have to be applied before.
func (s *Series) DependsOn() []string { return s.all(dependsPattern) }

func (s *Series) all(pattern *regexp.Regexp) (values []string) {
	seen := map[string]bool{}
	s.hints(func(text string) bool {
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			if !seen[m[1]] {
				seen[m[1]] = true
				values = append(values, m[1])
			}
		}
		return false
	})
	return values
}
