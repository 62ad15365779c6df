package mail

import (
	"crypto/sha256"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Ref names one mail among those that an Assembler has seen: a Message-ID alone
// does not, since authors use one twice.
type Ref struct {
	ID  string
	Sum Sum
}

// part is what an Assembler remembers of a patch or a cover letter. Its message is
// let go once the series was handed out and Load can bring it back.
type part struct {
	ref     Ref
	cover   bool
	subject Subject
	sender  Address
	at      time.Time
	parents []string // Message-IDs that it answers: the nearest first
	stem    string   // what all ids of one `git send-email` or format-patch run share
	content Sum      // of the diff
	size    int

	message *Message // nil when it was let go
	patch   *Patch   // nil for a cover letter, and when it was let go
}

func newPart(m *Message, s Subject, p *Patch, at time.Time) *part {
	t := &part{
		ref: Ref{m.ID, SumOf(m.Raw)}, cover: p == nil, subject: s, sender: m.sender, at: at,
		parents: m.parents(), stem: idStem(m.ID), size: len(m.Raw) + len(m.Body),
		message: m, patch: p,
	}
	if p != nil {
		t.subject.Title, t.subject.Prefixes = p.Title, p.Prefixes
		t.subject.Number, t.subject.Total, t.subject.Version = p.Number, p.Total, p.Version
		if !m.rewritten && m.sender.Name != m.From.Name {
			t.sender = p.Author // a list took the sender's address away; the patch has it
		}
		t.content = sha256.Sum256([]byte(hunksOnly(p.Diff)))
		t.size += 3 * len(p.Diff)
	}
	return t
}

// hunksOnly leaves out what is not the change: the diffstat before it and the
// signature after it.
func hunksOnly(diff string) string {
	for _, mark := range []string{"\ndiff -", "\n--- a/"} {
		if i := strings.Index(diff, mark); i >= 0 {
			diff = diff[i+1:]
			break
		}
	}
	if i := strings.LastIndex(diff, "\n-- \n"); i >= 0 {
		diff = diff[:i+1]
	}
	return diff
}

func (t *part) release() {
	t.message, t.patch = nil, nil
}

// parents returns what a message answers, the nearest first.
func (m *Message) parents() []string {
	ids := slices.Clone(m.InReplyTo)
	for _, id := range slices.Backward(m.References) {
		if !slices.Contains(ids, id) && id != m.ID {
			ids = append(ids, id)
		}
	}
	return ids
}

var idStems = []*regexp.Regexp{
	// git send-email: 20201105123456.1234-3-a@b, 1473632524-8585-1-git-send-email-a@b
	regexp.MustCompile(`^(\d{8,14}\.\d+)-\d+-(.*)$`),
	regexp.MustCompile(`^(\d{9,10}-\d+)-\d+-(.*)$`),
	// git format-patch --thread: cover.1749828169.git.a@b, <40 hex>.1749828169.git.a@b
	regexp.MustCompile(`^(?:cover|[0-9a-f]{40})\.(\d+\.git\..*)$`),
	// b4: 20250513-topic-v5-2-22bb9c6c767f@b
	regexp.MustCompile(`^(\d{8}-.*-v\d+)-\d+-([0-9a-f]+@.*)$`),
	// StGit: 155805321833.867447.3864104616303535270.stgit@host
	regexp.MustCompile(`^\d+(\.\d+\.)\d+(\.stgit@.*)$`),
}

// idStem is what the Message-IDs of mails that one tool sent in one run have in
// common; "" when the tool is not known.
func idStem(id string) string {
	for _, p := range idStems {
		if m := p.FindStringSubmatch(id); m != nil {
			return strings.Join(m[1:], "|")
		}
	}
	return ""
}

var attribution = regexp.MustCompile(`(?i)(wrote|writes|schrieb|a écrit|escribió|написал\pL*|skrev|写道|scrisse|ha scritto)[^\n]{0,40}[:：]\s*$|^\s*-+ ?original message`)

// isAttribution recognizes the line that says who wrote the quote below it.
func isAttribution(line string) bool {
	return (strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：") || strings.HasPrefix(line, "-")) && attribution.MatchString(line)
}

// quotes reports whether a message answers another in its text: it begins with a
// quote, or says who wrote what it quotes.
func quotes(m *Message) bool {
	lines := 0
	for line := range strings.Lines(m.Body) {
		line = strings.TrimRight(line, "\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		if lines == 0 && strings.HasPrefix(line, ">") || isAttribution(strings.TrimRight(line, spaces)) {
			return true
		}
		if lines++; lines > 40 {
			break
		}
	}
	return false
}

// isCover reports whether a message without a diff is a cover letter by its own words.
func isCover(m *Message, s Subject) bool {
	return !s.Reply && s.Tagged && s.Numbered && s.Number == 0 && !s.Between && (len(m.InReplyTo)+len(m.References) == 0 || !quotes(m))
}
