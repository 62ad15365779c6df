// Package mail holds messages, patches and series, and knows how a series is
// assembled from the messages of a list.
//
// Raw bytes come in, and are kept whatever can be made of them; what goes out is
// a Series whose patches stand in order and can be handed to `git am`.
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
	Diff     string   // from the first line of the diff on, UTF-8
	Files    []*gitdiff.File
}

// Series is one posting: the patches of one revision, with an optional cover letter.
type Series struct {
	Subject  string // title of the cover letter, else of the first patch
	Version  int
	Total    int
	Prefixes []string
	Author   Address
	Date     time.Time
	Cover    *Message // nil when there is none
	Patches  []*Patch // in order of number; those that are missing are left out
	Extras   []*Patch // 6/5, 0.5/5: kept aside
	Missing  []int    // numbers below or equal to Total that were not received
	Lineage  string   // the same for all revisions of one work
	Replies  []*Message
}
