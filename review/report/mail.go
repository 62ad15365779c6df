package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	netmail "net/mail"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	message "github.com/emersion/go-message"
	gomail "github.com/emersion/go-message/mail"

	"uabot/mail"
	"uabot/review"
)

var (
	// ErrNothingToAnswer is returned for a series that did not come by mail: there
	// is no message to answer and nobody to send to.
	ErrNothingToAnswer = errors.New("the series did not come by mail")
	// ErrNotApplied is returned for a series that does not apply. Lists are not told
	// so; whoever asked reads it in Text.
	ErrNotApplied = errors.New("the series does not apply")
	// ErrAddress is returned where the bot or the author has no usable address.
	ErrAddress = errors.New("no usable mail address")
	// ErrNoTime is returned for a verdict that does not say when it was made: a mail
	// has a date, and the same verdict the same.
	ErrNoTime = errors.New("the verdict has no time")
)

// Bounds of what is taken over from the mail that is answered.
const (
	maxSubject    = 240 // characters
	maxPerson     = 80  // characters of a name
	maxReferences = 40  // ids; a thread's first stays, then the newest
	maxHeaderIDs  = 20  // finding ids in the bot's own header
)

// Header is the header field that marks the bot's own mails: drop what carries it.
const Header = "X-Uabot"

// Mail is v as a complete mail (RFC 5322, lines end in CRLF), ready for a relay: the
// reply to the patch that brings the first problem, to its author and to all that
// the patch went to. The same verdict always gives the same Message-ID, so that a
// mail that was sent already is known. It does not ask whether a mail should be sent.
func Mail(v *review.Verdict, from Identity) ([]byte, error) {
	if !v.Applied {
		return nil, ErrNotApplied
	}
	if v.Started.IsZero() {
		return nil, ErrNoTime
	}
	findings := Numbered(v)
	parent, author := answered(v.Series, findings)
	if parent == nil || identifier(parent.ID) == "" {
		return nil, ErrNothingToAnswer
	}
	if !usable(from.Address) {
		return nil, fmt.Errorf("%w of the bot: %q", ErrAddress, from.Address)
	}
	to, cc := recipients(v.Series, parent, author, from.Address)
	if len(to) == 0 {
		return nil, fmt.Errorf("%w of the author of %q", ErrAddress, parent.Subject)
	}
	body := Text(v, Options{From: from})

	var h gomail.Header
	// go-message puts a field in front of those that are there: the last comes first.
	h.Set("Content-Transfer-Encoding", encoding(body))
	h.SetContentType("text/plain", map[string]string{"charset": "utf-8"})
	addFolded(&h, "MIME-Version", []string{"1.0"}, "") // Set would write Mime-Version
	own := []string{"review"}
	for i := range findings[:min(len(findings), maxHeaderIDs)] {
		own = append(own, findings[i].Identity())
	}
	h.Set(Header, strings.Join(own, " "))
	h.Set("X-Patchwork-Hint", "ignore")
	h.Set("Auto-Submitted", "auto-generated") // RFC 3834, section 5
	addFolded(&h, "References", references(parent), " ")
	h.SetMsgIDList("In-Reply-To", []string{identifier(parent.ID)})
	addFolded(&h, "Message-ID", []string{"<" + replyID(v, findings, from.Address) + ">"}, "")
	h.SetDate(v.Started.Add(time.Duration(v.Seconds * float64(time.Second))).UTC())
	h.Set("Subject", subject(parent.Subject))
	addFolded(&h, "Cc", cc, ", ")
	addFolded(&h, "To", to, ", ")
	addFolded(&h, "From", []string{mailbox(from.Name, from.Address)}, ", ")

	var b bytes.Buffer
	w, err := message.CreateWriter(&b, h.Header)
	if err != nil {
		return nil, fmt.Errorf("writing the header of the reply to <%s>: %w", parent.ID, err)
	}
	if _, err := io.WriteString(w, body); err != nil {
		return nil, fmt.Errorf("writing the reply to <%s>: %w", parent.ID, err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("writing the reply to <%s>: %w", parent.ID, err)
	}
	return b.Bytes(), nil
}

// answered is the mail to reply to and the true author of what is in it: the patch
// that brings the first problem; where no patch is known the cover letter, or the
// only patch.
func answered(s *mail.Series, findings []review.Finding) (*mail.Message, mail.Address) {
	if s == nil {
		return nil, mail.Address{}
	}
	if len(findings) > 0 {
		if n := findings[0].Patch; n > 0 && n <= len(s.Patches) {
			p := s.Patches[n-1]
			return p.Message, p.Author
		}
	}
	if s.Cover != nil {
		return s.Cover, s.Author
	}
	if len(s.Patches) > 0 {
		return s.Patches[0].Message, s.Patches[0].Author
	}
	return nil, mail.Address{}
}

// recipients are whom a reply to all goes to. The author of the series is asked; the
// author of the patch, the sender and all that got the patch read along. Nobody
// twice, and never the bot, whatever extension its address was given.
func recipients(s *mail.Series, parent *mail.Message, author mail.Address, bot string) (to, cc []string) {
	seen := map[string]bool{}
	add := func(list *[]string, a mail.Address) {
		key := strings.ToLower(a.Addr)
		if !usable(a.Addr) || seen[key] || withoutExtension(key) == withoutExtension(strings.ToLower(bot)) {
			return
		}
		seen[key] = true
		*list = append(*list, mailbox(a.Name, a.Addr))
	}
	for _, a := range []mail.Address{s.Author, parent.From, author} {
		if len(to) == 0 {
			add(&to, a)
		} else {
			add(&cc, a)
		}
	}
	for _, a := range slices.Concat(parent.To, parent.Cc) {
		add(&cc, a)
	}
	return to, cc
}

// withoutExtension takes "+anything" off the local part.
func withoutExtension(addr string) string {
	local, domain, _ := strings.Cut(addr, "@")
	local, _, _ = strings.Cut(local, "+")
	return local + "@" + domain
}

var address = regexp.MustCompile(`^[A-Za-z0-9.!#$%&'*+/=?^_{|}~` + "`" + `-]{1,128}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$`)

// usable reports whether addr can stand in a header as it is and be delivered to:
// RFC 5322's dot-atom at a host name. Quoted local parts and domain literals, which
// no list has, are not worth the risk of what else they can carry.
func usable(addr string) bool {
	return address.MatchString(addr) && !strings.Contains(addr, "..")
}

var atoms = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+/=?^_`{|}~ -]+$")

// mailbox is "Name <addr>" for a header or a trailer: the name bare where it is made
// of atoms, quoted once where it is ASCII with specials, an encoded word otherwise.
func mailbox(name, addr string) string {
	name = visible(name)
	if n := len(name); n > 1 && name[0] == '"' && name[n-1] == '"' {
		name = visible(name[1 : n-1]) // a parser left the quotes on
	}
	if runes := []rune(name); len(runes) > maxPerson {
		name = strings.TrimSpace(string(runes[:maxPerson]))
	}
	switch {
	case name == "":
		return addr
	case atoms.MatchString(name) && !strings.Contains(name, "=?"):
		return name + " <" + addr + ">"
	}
	for i := range len(name) {
		if name[i] >= 0x80 {
			return encodedWords(name) + " <" + addr + ">"
		}
	}
	return (&netmail.Address{Name: name, Address: addr}).String()
}

// encodedWords is name as RFC 2047 wants it in a phrase: what its section 5, (3)
// allows there bare makes "Q" readable, all else takes "B". net/mail lets a backslash
// through.
func encodedWords(name string) string {
	for _, r := range name {
		if r < 0x80 && !strings.ContainsRune(" !*+-/ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", r) {
			return mime.BEncoding.Encode("utf-8", name)
		}
	}
	return mime.QEncoding.Encode("utf-8", name)
}

// visible makes text fit for a header: control and format characters, line ends among
// them, become blanks, white space one blank.
func visible(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

func subject(of string) string {
	// What was decoded once must not look encoded again.
	of = strings.ReplaceAll(visible(of), "=?", "= ?")
	if len(of) < 3 || !strings.EqualFold(of[:3], "re:") {
		of = strings.TrimSpace("Re: " + of)
	}
	return mime.QEncoding.Encode("utf-8", bounded(of, maxSubject))
}

// identifier is id where it can stand between angle brackets in a header, else "".
func identifier(id string) string {
	id = strings.Trim(strings.TrimSpace(id), "<>")
	for _, r := range id {
		if r <= ' ' || r > '~' || r == '<' || r == '>' {
			return ""
		}
	}
	if len(id) > 900 { // RFC 5322, 2.1.1: a line ends before 998
		return ""
	}
	return id
}

// references is the thread: that of the parent, then the parent (RFC 5322, 3.6.4).
func references(parent *mail.Message) []string {
	ids := parent.References
	if len(ids) == 0 && len(parent.InReplyTo) == 1 {
		ids = parent.InReplyTo
	}
	var list []string
	for _, id := range append(slices.Clone(ids), parent.ID) {
		if id = identifier(id); id != "" && !slices.Contains(list, "<"+id+">") {
			list = append(list, "<"+id+">")
		}
	}
	if n := len(list); n > maxReferences {
		list = append(list[:1:1], list[n-maxReferences+1:]...)
	}
	return list
}

// replyID is made from what was reviewed and what was found.
func replyID(v *review.Verdict, findings []review.Finding, bot string) string {
	var ids []string
	for i := range findings {
		ids = append(ids, findings[i].Identity())
	}
	slices.Sort(ids)
	sum := sha256.Sum256([]byte(revisionID(v.Series) + "\x00" + strings.Join(ids, "\x00")))
	_, domain, _ := strings.Cut(bot, "@")
	return "uabot." + hex.EncodeToString(sum[:10]) + "@" + domain
}

// addFolded adds a field with one item per line, which is what people expect to see
// and keeps every line short. The items hold no line ends.
func addFolded(h *gomail.Header, key string, items []string, separator string) {
	if len(items) == 0 {
		return
	}
	value := strings.Join(items, strings.TrimRight(separator, " ")+"\r\n ")
	value = strings.ReplaceAll(value, "?= =?", "?=\r\n =?") // a long name is several encoded words
	h.AddRaw([]byte(key + ": " + value + "\r\n"))
}

// encoding is the lightest one that carries body (RFC 2045, section 6).
func encoding(body string) string {
	enc := "7bit"
	for line := range strings.Lines(body) {
		if len(line) > 990 {
			return "quoted-printable"
		}
		for i := range len(line) {
			if line[i] >= 0x80 {
				enc = "8bit"
			}
		}
	}
	return enc
}
