package lore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"uabot/mail"
)

// separator stands between the mails of an mbox that public-inbox makes. It is
// always this very line, which is worth more than "any line that starts with
// From": a mail whose broken header has such a line stays whole.
var separator = []byte("From mboxrd@z Thu Jan  1 00:00:00 1970")

// readMboxrd splits what public-inbox sends: each mail after a separator, its lines
// of the form >*From quoted by one more >, and an empty line behind it.
func readMboxrd(r io.Reader) ([]mail.Raw, error) {
	lines := bufio.NewReaderSize(r, 1<<16)
	var mails []mail.Raw
	var raw []byte
	inMail := false
	end := func() {
		if inMail {
			mails = append(mails, mail.Raw{Bytes: mail.Canonical(bytes.TrimSuffix(raw, []byte("\n")))})
		}
		raw = nil
	}
	begun := true // at the start of a line
	for {
		line, err := lines.ReadSlice('\n')
		whole := begun
		begun = !errors.Is(err, bufio.ErrBufferFull)
		if err != nil && begun && !errors.Is(err, io.EOF) {
			return nil, err
		}
		switch {
		case whole && bytes.Equal(bytes.TrimRight(line, "\r\n"), separator):
			end()
			inMail = true
		case !inMail && len(bytes.TrimSpace(line)) > 0:
			return nil, fmt.Errorf("not an mbox of public-inbox: it begins with %.40q", line)
		case whole && quotedFrom(line):
			line = line[1:]
			fallthrough
		default:
			raw = append(raw, line...)
		}
		if errors.Is(err, io.EOF) {
			end()
			return mails, nil
		}
	}
}

// quotedFrom reports whether line is of the form >>*From, with one > too many.
func quotedFrom(line []byte) bool {
	return len(line) > 0 && line[0] == '>' && bytes.HasPrefix(bytes.TrimLeft(line, ">"), []byte("From "))
}
