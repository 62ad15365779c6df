package mail

import (
	"regexp"
	"strings"
)

var (
	// appliedPattern matches what maintainers and their bots write when they took
	// a series, at the beginning of a line: "Applied now all patches",
	// "Applied to powerpc/next.", "Thanks, applied.", "Queued for 6.8, thanks",
	// "This series was applied to bpf/bpf-next.git (master)", "Both patches merged".
	appliedPattern = regexp.MustCompile(`(?i)^(?:(?:ok|okay|great|good|thanks?(?: you)?(?: very much| a lot)?|fine|looks good|all|both|entire|whole|now|i've|i have|have|i|series|patch(?:es)?(?: \d+(?:[-,/ ]+\d+)*)?|this series|this patch(?:set| series)?|the series|the patch(?:set| series)?|was|were|are|is|has been|have been|and|just|pulled and|them|it)[,.!:;]* )*(?:(applied|queued|merged|picked up|pushed)\b(?:[,.!; ]|$))`)
	// notApplied are the ways in which a line that has such a word says the contrary.
	notApplied = regexp.MustCompile(`(?i)\b(not|n't|cannot|unless|until|once|before|after|if|when|should|could|would|can|will|please|never|fail(?:ed|s)?|conflicts?|doesn't|why|who|revert(?:ed)?|dropped|already been applied\?|on top of)\b|\?`)
	// withdrawnPattern matches what authors write of their own series.
	withdrawnPattern = regexp.MustCompile(`(?i)\b(?:please|pls)[, ]+(?:just )?(?:ignore|disregard|drop|discard|skip)\b[^.\n]{0,30}\b(?:this|these|it|them|patch|series|patchset|version|v\d+)\b|\b(?:i|we) (?:hereby )?withdraw\b|^(?:ignore|disregard|scratch) (?:this|these|it)\b|^(?:self[- ])?nack(?:ed)? (?:to )?(?:this|my|self)\b|\bdropping this (?:patch|series)\b`)
	// supersededPattern matches an author's hint at a newer revision.
	supersededPattern = regexp.MustCompile(`(?i)\b(?:superseded by|replaced by|obsoleted by)\b|^(?:sent|posted|sending) (?:a )?(?:v\d+|new version)\b`)
)

// hear looks into an answer for what became of a posting. Only plain words at the
// top of it count, never a quote; a wrong "applied" would hide a finding, so what
// is not clear says nothing.
func (a *Assembler) hear(p *posting, m, by *Message) {
	own := sameSender(p.sender, m.sender, true)
	if own && !p.has(firstOf(m.InReplyTo)) {
		return // its author talks to somebody in the thread
	}
	for _, line := range opening(m.Body) {
		if !signals(line) {
			continue
		}
		switch {
		case own && withdrawnPattern.MatchString(line):
			if p.whole(m, line) {
				a.become(p, Withdrawn, by)
			}
		case own && supersededPattern.MatchString(line):
			a.become(p, Superseded, by)
		case appliedPattern.MatchString(line) && !notApplied.MatchString(line):
			if p.whole(m, line) {
				a.become(p, Applied, by)
			}
		default:
			continue
		}
		return
	}
}

// signals is a cheap look for the words that the patterns ask for.
func signals(line string) bool {
	for _, part := range [...]string{"pplied", "PPLIED", "ueued", "erged", "icked up", "ushed", "gnore", "isregard", "drop", "iscard", "skip", "ithdraw", "cratch", "nack", "NACK", "Nack", "uperseded", "eplaced", "bsoleted", "ent ", "osted", "ending"} {
		if strings.Contains(line, part) {
			return true
		}
	}
	return false
}

// whole reports whether an "applied" or "please ignore" is meant for the posting, not for one patch of
// it: it answers the cover letter or a patch that stands alone, or says so.
func (p *posting) whole(m *Message, line string) bool {
	id := firstOf(m.InReplyTo)
	if p.total == 1 || p.cover != nil && p.cover.ref.ID == id {
		return !strings.Contains(strings.ToLower(line), "patch 1") || p.total == 1
	}
	lower := strings.ToLower(line)
	for _, word := range []string{"all", "both", "series", "patches", "set", "everything", "whole", "entire"} {
		for _, w := range strings.FieldsFunc(lower, func(r rune) bool { return r < 'a' || r > 'z' }) {
			if w == word {
				return true
			}
		}
	}
	return false
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// opening returns the first lines that a person wrote in an answer, quotes and the
// line that announces them left out, up to a signature.
func opening(body string) []string {
	var lines []string
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(strings.TrimRight(line, "\n"))
		switch {
		case line == "" || strings.HasPrefix(line, ">") || isAttribution(line):
			continue
		case line == "--" || strings.HasPrefix(line, "diff -") || strings.HasPrefix(line, "-----"):
			return lines
		}
		if lines = append(lines, line); len(lines) == 40 {
			return lines
		}
	}
	return lines
}
