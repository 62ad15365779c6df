// Package mail holds messages, patches and series, and knows how a series is
// assembled from the messages of a list.
//
// Raw bytes come in, and are kept whatever can be made of them; what goes out is
// a Series whose patches stand in order and can be handed to `git am`.
//
// What a patch mail says (author, title, log, diff) is what `git mailinfo` says:
// its rules are followed here line by line, since its child process for each mail
// of an archive is too slow. Where this package knows better (HTML alternatives,
// signatures, list-rewritten senders) the code says so.
package mail

import (
	"time"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// Address is a mailbox: "Name <Addr>".
type Address struct {
	Name string
	Addr string // user@host, lower case in the host only
}

// Message is one mail.
type Message struct {
	Raw        []byte // as it was received, without an mbox "From " line
	ID         string // Message-ID without angle brackets; made from the content when the mail has none
	Subject    string // decoded, unfolded
	From       Address
	ReplyTo    []Address
	To, Cc     []Address
	Date       time.Time // from the Date header; zero when it cannot be read
	Received   time.Time // from the topmost Received header; zero when there is none
	InReplyTo  []string
	References []string // oldest first
	ListID     string
	Body       string   // the text, decoded to UTF-8, lines end in \n
	Warnings   []string // what was odd and how it was read all the same

	sender    Address // From, or who is behind a From that a list has rewritten
	rewritten bool    // sender is not From
	from      string  // the From header, decoded as a whole, for git's way to read it
	date      string  // the Date header as it stands, for git
	text      []text  // what Body was made of
	memo      *memo   // what PatchOf found
}

// Patch is a message with a diff.
type Patch struct {
	Message  *Message
	Number   int      // 2 in [PATCH v3 2/4]; 1 when not numbered
	Total    int      // 4 in [PATCH v3 2/4]; 1 when not numbered
	Version  int      // 3 in [PATCH v3 2/4]; 1 when not given
	Prefixes []string // the other words in the brackets: "RFC", "net-next", "RESEND"
	Title    string   // the subject without the brackets
	Author   Address  // the true author, as git mailinfo would say
	Log      string   // the commit message below the title
	Diff     string   // from the line that ends the log on, in the bytes of the mail: git does not convert a diff
	Files    []*gitdiff.File
	// DiffError says why Files are not all that the diff holds; nil when they are.
	// Refuse returns it.
	DiffError error

	date string // as git mailinfo gives it
}

// Series is one posting: the patches of one revision, with an optional cover letter.
type Series struct {
	ID       string // Message-ID of the cover letter, else of the first patch; kept when a cover letter comes late
	Subject  string // title of the cover letter, else of the first patch
	Version  int
	Total    int
	Prefixes []string
	Author   Address // who sent it
	Date     time.Time
	Cover    *Message // nil when there is none
	Patches  []*Patch // in order of number; those that are missing are left out
	Extras   []*Patch // 6/5, 0.5/5: kept aside
	Missing  []int    // numbers below or equal to Total that were not received
	Reused   []int    // of Missing, those that Patches has from the revision before: only some patches were sent anew
	Lineage  string   // the same for all revisions of one work
	Replies  []*Message

	Event  Event    // why an Assembler gave it
	Status Status   // what the thread says became of it
	By     *Message // the message that says so; nil when it is a newer revision
}

// Event is why an Assembler hands out a series.
type Event string

// The events.
const (
	Whole  Event = "complete" // every patch is there
	Waited Event = "waited"   // patches are missing, and none came for the quiet time
	Late   Event = "late"     // it was handed out before, and something came since
)

// Change says that a series which was handed out before has another status.
type Change struct {
	ID      string // Series.ID
	Lineage string
	Status  Status
	By      *Message // the message that says so; nil when it is a newer revision
}

// Status is what a thread says became of a series.
type Status string

// The statuses.
const (
	Open       Status = ""
	Applied    Status = "applied"    // somebody else than its author says so
	Superseded Status = "superseded" // there is a newer revision, or its author says so
	Withdrawn  Status = "withdrawn"  // its author asks to ignore it
)

// Complete reports whether every patch of the posting was received.
func (s *Series) Complete() bool { return len(s.Missing) == 0 && len(s.Patches) > 0 }

// Received is the number of patches that came with the posting itself.
func (s *Series) Received() int { return len(s.Patches) - len(s.Reused) }
