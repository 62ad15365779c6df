package mail

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"time"
)

// Raw is one mail as a source gave it, before anything was parsed.
type Raw struct {
	// Bytes is the mail without an mbox "From " line, its lines ended by \n. What
	// a transport adds (the CRLF of NNTP and IMAP, the Path header of NNTP) is
	// taken off again, so that one mail is the same bytes whatever source it
	// came through.
	Bytes []byte
	// Received is when the source got the mail: a hint, zero when it does not say.
	Received time.Time
	// Origin says for a log where in the source the mail is: "0.git 3f2a…", "article 206".
	Origin string
}

// Sum is what a mail's content is known by: the SHA-256 of its raw bytes.
type Sum [sha256.Size]byte

// SumOf returns the sum of a mail's raw bytes.
func SumOf(raw []byte) Sum { return sha256.Sum256(raw) }

// Deletion says that a source took one content back. Another mail with the same
// Message-ID is not meant by it.
type Deletion struct {
	Content Sum
	Purged  bool // gone from the archive's history, not only from its newest state
}

// Batch is what a source delivers at once: mails in the order of the source,
// then what it took back, and the place to go on from.
type Batch struct {
	Messages []Raw
	Deleted  []Deletion
	Cursor   string
}

// Source is somewhere that mails come from.
//
// The cursor is the source's own business: an opaque text, empty at the very
// beginning. Whoever pulls keeps it with the mails, in one transaction; so a crash
// at any moment neither loses a mail nor takes one twice.
type Source interface {
	// Name is what the cursor is stored under: unique among the sources of a
	// bot, and the same after a restart.
	Name() string

	// Pull hands everything that came after cursor to deliver, in batches of
	// bounded size, and returns when there is nothing more at present. deliver
	// returns nil only once mails, deletions and cursor are stored; its error
	// ends the Pull and is returned. An error of the source (see ErrTemporary)
	// leaves what was delivered before it valid: the next Pull goes on from the
	// last stored cursor.
	//
	// A Source is used by one goroutine at a time.
	Pull(ctx context.Context, cursor string, deliver func(context.Context, Batch) error) error
}

// Waiter is a Source that is told of new mail by its server (IMAP IDLE). Those
// that are not are polled.
type Waiter interface {
	Source
	// Wait returns nil when a Pull is worth while: something came after cursor,
	// or so much time has passed that the server's silence is not to be trusted.
	Wait(ctx context.Context, cursor string) error
}

// ErrTemporary is wrapped by errors of a Source that a later Pull may not meet
// again: a connection that broke, a server that was too busy. Any other error
// wants a person: a wrong address, a refused password.
var ErrTemporary = errors.New("temporary")

// Canonical returns a mail's bytes as all sources give them: no mbox "From " line
// in front, every line ended by \n (gateways make even \r\r\n of it), the last one
// too, and an empty line behind a header that has no body. Sources differ in just
// these, for the same mail.
func Canonical(raw []byte) []byte {
	raw = bytes.TrimLeft(raw, "\r\n")
	for bytes.HasPrefix(raw, []byte("From ")) {
		_, raw, _ = bytes.Cut(raw, []byte("\n"))
		raw = bytes.TrimLeft(raw, "\r\n")
	}
	if bytes.Contains(raw, []byte("\r\n")) || bytes.HasSuffix(raw, []byte("\r")) {
		plain := make([]byte, 0, len(raw)+1)
		for line := range bytes.Lines(raw) {
			plain = append(append(plain, bytes.TrimRight(line, "\r\n")...), '\n')
		}
		raw = plain
	}
	header, body, ok := bytes.Cut(raw, []byte("\n\n"))
	switch {
	case !ok:
		header = bytes.TrimRight(raw, "\n")
		fallthrough
	case len(bytes.TrimLeft(body, "\n")) == 0:
		if len(header) == 0 {
			return nil
		}
		return append(bytes.Clone(header), "\n\n"...)
	case !bytes.HasSuffix(raw, []byte("\n")):
		return append(bytes.Clone(raw), '\n')
	}
	return raw
}
