package mail

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Subject is what a subject line says about a posting.
type Subject struct {
	Reply    bool     // Re:, AW:, 回复: …, or a forwarded mail
	Tagged   bool     // it says that it is a patch: PATCH, RFC or a counter in brackets
	Numbered bool     // it has a counter
	Number   int      // 1 when there is no counter
	Total    int      // 1 when there is no counter
	Between  bool     // an odd number, 0.5/5: Number is what stands before the point
	Version  int      // 1 when not given
	Explicit bool     // the version was given
	Resend   bool     // one of the prefixes is RESEND
	Prefixes []string // the other words in the brackets, as they were written
	Title    string   // without reply marks and brackets; brackets behind those of the patch are kept
}

// replyMarks are the words that mailers put before the subject of an answer or of
// a forwarded mail, lower case.
var replyMarks = map[string]bool{
	"re": true, "fw": true, "fwd": true, // English, and most
	"aw": true, "antw": true, "antwort": true, "wg": true, // German, Dutch
	"sv": true, "vs": true, "vb": true, "vl": true, // Nordic
	"res": true, "enc": true, // Portuguese
	"rv": true, "reenv": true, // Spanish
	"ref": true, "réf": true, "rif": true, "r": true, "i": true, "tr": true, "rép": true, "rep": true, // Italian, French
	"odp": true, "pd": true, "ha": true, // Polish, Russian typed in Latin
	"ynt": true, "ilt": true, // Turkish
	"vá": true, "atb": true, "bls": true, "ats": true, "hl": true, "doorst": true,
	"ответ": true, "отв": true, "на": true, "пер": true, "απ": true, "σχετ": true,
	"回复": true, "回覆": true, "答复": true, "答覆": true, "转发": true, "轉寄": true,
	"返信": true, "転送": true, "답장": true, "회신": true, "전달": true,
	"رد": true, "השב": true, "תשובה": true, "הועבר": true,
	"accepted": true, "declined": true, "automatic reply": true, "undeliverable": true, "recall": true,
}

var (
	// Re:, Re[2]:, Re^2:, Re(2):, RE：
	markPattern = regexp.MustCompile(`^([\pL][\pL ]{0,14}?)\.?(?:\[\d+\]|\^\d+|\(\d+\)|\*\d+)?[ \x{a0}]?[:：]`)
	// 2/4, 02/11, 0.5/5
	counterPattern = regexp.MustCompile(`^(\d{1,4})(\.\d+)?/(\d{1,4})$`)
	// v2, V2, v2.1, PATCHv3, RFC-v2, ver2
	versionPattern  = regexp.MustCompile(`^(.*?)[-_.]?[vV](?:er|er\.|\.)?[-_]?(\d{1,3})(?:\.\d+)*$`)
	revisionPattern = regexp.MustCompile(`(?i)^(?:rev|revision|take|version|ver|try|round)[-_.#]?(\d{1,2})?$`)
	// the counter outside of the brackets: "[PATCH] 1/2: title"
	outerCounter = regexp.MustCompile(`^\(?(\d{1,4})/(\d{1,4})\)?(?:[:\-]| -)?\s+`)
	gluedCounter = regexp.MustCompile(`^(.*?[[:alpha:]]|.*[-_])(\d{1,4}/\d{1,4})$`)
	// "Part 1 of 2" of Mercurial's patchbomb: "[PATCH 1 of 2]"
	ofCounter = regexp.MustCompile(`(?i)(\d{1,4}) +of +(\d{1,4})`)
)

// ParseSubject reads a decoded subject line.
func ParseSubject(subject string) Subject {
	s := Subject{Number: 1, Total: 1, Version: 1}
	rest := strings.TrimSpace(subject)
	var outside []string // words of brackets that come before those of the patch: list tags
	sawPatch := false
	for {
		if m := markPattern.FindStringSubmatchIndex(rest); m != nil && isReplyMark(rest[m[2]:m[3]]) && !sawPatch {
			s.Reply = true
			rest = strings.TrimSpace(rest[m[1]:])
			continue
		}
		if !strings.HasPrefix(rest, "[") {
			break
		}
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			break
		}
		read := s
		words, found := read.takeBrackets(rest[1:end])
		if sawPatch && !found && (len(words) > 1 || len(words) == 1 && !isResend(words[0])) {
			break // "[PATCH] [other] title": the author's own
		}
		s = read
		if found {
			sawPatch = true
			s.Prefixes = append(s.Prefixes, outside...)
			outside = nil
		}
		outside = append(outside, words...)
		if found {
			s.Prefixes = append(s.Prefixes, outside...)
			outside = nil
		}
		rest = strings.TrimLeft(rest[end+1:], " \t:")
	}
	if !sawPatch {
		// "powerpc: [PATCH] title": lists and people put words before it.
		if i := indexPatchBracket(rest); i >= 0 {
			if end := strings.IndexByte(rest[i:], ']'); end > 0 {
				words, _ := s.takeBrackets(rest[i+1 : i+end])
				s.Prefixes = append(append(s.Prefixes, outside...), words...)
				before := strings.TrimRight(rest[:i], " \t")
				rest = strings.TrimSpace(before + " " + strings.TrimLeft(rest[i+end+1:], " \t:"))
				outside = nil
				sawPatch = true
				if m := markPattern.FindStringSubmatch(before); m != nil && isReplyMark(m[1]) {
					s.Reply = true
				}
			}
		}
	}
	s.Tagged = sawPatch
	s.Prefixes = append(s.Prefixes, outside...)
	if sawPatch && !s.Numbered {
		if m := outerCounter.FindStringSubmatch(rest); m != nil && s.count(m[1], "", m[2]) {
			rest = rest[len(m[0]):]
		}
	}
	s.Title = strings.TrimSpace(collapseSpace(rest))
	return s
}

func isReplyMark(word string) bool {
	if word == "r" || word == "i" || word == "ha" { // "r: x" may be a subsystem
		return false
	}
	return replyMarks[strings.ToLower(word)]
}

// indexPatchBracket finds a "[" that is followed by the word PATCH before its "]".
func indexPatchBracket(s string) int {
	lower := strings.ToLower(s)
	if len(lower) != len(s) {
		return -1
	}
	i := strings.Index(lower, "patch")
	if i < 0 {
		return -1
	}
	open := strings.LastIndexByte(s[:i], '[')
	if open < 0 || strings.IndexByte(s[open:i], ']') >= 0 {
		return -1
	}
	return open
}

// takeBrackets reads the text of one pair of brackets. found reports whether it
// makes the subject that of a patch; words are what it does not know.
func (s *Subject) takeBrackets(inner string) (words []string, found bool) {
	inner = ofCounter.ReplaceAllString(inner, "$1/$2")
	tokens := strings.FieldsFunc(inner, func(r rune) bool {
		return r == ',' || r == ';' || r == '|' || unicode.IsSpace(r) || r == '(' || r == ')'
	})
	for i := 0; i < len(tokens); i++ {
		t := strings.Trim(tokens[i], ":?!.")
		if t == "" {
			continue
		}
		if m := counterPattern.FindStringSubmatch(t); m != nil && s.count(m[1], m[2], m[3]) {
			found = true
			continue
		}
		if m := gluedCounter.FindStringSubmatch(t); m != nil {
			// "PATCH1/8", "PATCHv2-1/8" are split before the counter.
			word := strings.TrimRight(m[1], "-_")
			if v := versionPattern.FindStringSubmatch(word); isPatchWord(word) || v != nil && isPatchWord(v[1]) {
				tokens = slices.Insert(tokens, i+1, m[2])
				t = word
			}
		}
		if m := versionPattern.FindStringSubmatch(t); m != nil && (m[1] == "" || isPatchWord(m[1])) {
			s.version(m[2])
			if m[1] == "" {
				continue
			}
			t = m[1]
		} else if m := revisionPattern.FindStringSubmatch(t); m != nil {
			digits := m[1]
			if digits == "" && i+1 < len(tokens) && isDigits(strings.TrimLeft(tokens[i+1], "#")) {
				i++
				digits = strings.TrimLeft(tokens[i], "#")
			}
			if digits != "" {
				s.version(digits)
				continue
			}
		}
		if isPatchWord(t) {
			found = true
			for _, part := range strings.FieldsFunc(t, func(r rune) bool { return r == '/' || r == '-' || r == '_' || r == '+' }) {
				if isResend(part) {
					s.Resend = true
				}
				if !strings.EqualFold(part, "PATCH") && !strings.EqualFold(part, "PATCHES") {
					words = append(words, part)
				}
			}
			continue
		}
		if isResend(t) {
			s.Resend = true
		}
		words = append(words, t)
	}
	return words, found
}

func isResend(word string) bool {
	return strings.EqualFold(word, "RESEND") || strings.EqualFold(word, "REPOST") || strings.EqualFold(word, "RESENT")
}

// isTag reports whether a word says that the mail is meant as a patch.
func isTag(word string) bool {
	switch strings.ToUpper(word) {
	case "PATCH", "PATCHES", "RFC", "RFT", "PULL", "RFC/PATCH", "RFCPATCH":
		return true
	}
	return false
}

// isPatchWord reports whether a word is made of tags alone: PATCH, RFC/PATCH, PATCH-RFC.
func isPatchWord(word string) bool {
	parts := strings.FieldsFunc(word, func(r rune) bool { return r == '/' || r == '-' || r == '_' || r == '+' })
	tag := false
	for _, p := range parts {
		if !isTag(p) && !isResend(p) {
			return false
		}
		tag = tag || isTag(p)
	}
	return tag
}

// count takes a counter, unless it cannot be one: 1/0.
func (s *Subject) count(number, fraction, total string) bool {
	n, err1 := strconv.Atoi(number)
	t, err2 := strconv.Atoi(total)
	if err1 != nil || err2 != nil || t == 0 || s.Numbered {
		return false
	}
	s.Numbered, s.Number, s.Total = true, n, t
	s.Between = fraction != ""
	return true
}

func (s *Subject) version(digits string) {
	if v, err := strconv.Atoi(digits); err == nil && v > 0 {
		s.Version, s.Explicit = v, true
	}
}

func isDigits(s string) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != "" && utf8.RuneCountInString(s) <= 2
}
