package mail

import (
	"slices"
	"strings"
)

// texts returns the texts of a series that can hold the trailers of `git
// format-patch --base` and of b4: the cover letter's, then each patch's.
func (s *Series) texts() []string {
	var list []string
	if s.Cover != nil {
		list = append(list, s.Cover.Body)
	}
	for _, p := range s.Patches {
		list = append(list, p.Message.Body)
	}
	return list
}

// trailers returns the values of the lines "name: value" in a text, in order. Those
// in a quote begin with "> " and are none.
func trailers(text, name string) (values []string) {
	for line := range strings.Lines(text) {
		if len(line) > len(name) && line[len(name)] == ':' && strings.EqualFold(line[:len(name)], name) {
			values = append(values, strings.TrimSpace(line[len(name)+1:]))
		}
	}
	return values
}

// trailer returns the first value that fits, "" for none.
func (s *Series) trailer(name string, fits func(string) bool) string {
	for _, text := range s.texts() {
		for _, value := range trailers(text, name) {
			if fits(value) {
				return value
			}
		}
	}
	return ""
}

// isHash reports whether s is an abbreviated or whole id of git.
func isHash(s string, least int) bool {
	for i := range len(s) {
		if unhex(s[i]) < 0 {
			return false
		}
	}
	return least <= len(s) && len(s) <= 64
}

// BaseCommit is the commit id that the author names as base, as long as it was
// written (12 digits at least); "" when none is named.
func (s *Series) BaseCommit() string {
	return strings.ToLower(s.trailer("base-commit", func(v string) bool { return isHash(v, 12) }))
}

// ChangeID is b4's change-id, the same for all revisions of a work; "" for none.
func (s *Series) ChangeID() string {
	return s.trailer("change-id", func(v string) bool {
		return len(v) >= 6 && len(v) <= 200 && !strings.ContainsAny(v, " \t")
	})
}

// Prerequisites are the patch-ids (`git patch-id --stable`) of what has to be
// applied before the series, in order.
func (s *Series) Prerequisites() []string {
	return s.all([]string{"prerequisite-patch-id"}, func(v string) bool { return isHash(v, 40) })
}

// DependsOn are the Message-IDs of mails whose series have to be applied before.
func (s *Series) DependsOn() []string {
	return s.all([]string{"based-on", "depends-on", "prerequisite-message-id"}, func(v string) bool {
		return strings.Contains(v, "@") && !strings.ContainsAny(v, " \t/")
	})
}

func (s *Series) all(names []string, fits func(string) bool) (values []string) {
	for _, text := range s.texts() {
		for _, name := range names {
			for _, value := range trailers(text, name) {
				value = strings.Trim(value, "<>")
				if fits(value) && !slices.Contains(values, value) {
					values = append(values, value)
				}
			}
		}
	}
	return values
}
