// Package mbox reads mails from files: an mbox of any kind, a maildir, a directory
// of mails, a single mail, standard input.
//
// One mail at a time is in memory, and none above MaxMail.
package mbox

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
)

// MaxMail is the size of a mail, in bytes, above which it is not read.
const MaxMail = 32 << 20

// ErrTooLarge is wrapped by the error that stands for a mail above MaxMail. The mails
// after it are read.
var ErrTooLarge = errors.New("mail too large")

// Read returns the mails of r in order, each without its "From " line and without
// the quoting of "From " inside of it (mboxrd and mboxo). The first line of git
// format-patch stays quoted where the mbox is not said to be mboxrd: git looks for
// it in that form, to find the author. Input that does not begin
// with a "From " line is one mail. Gzip is undone.
//
// An error that wraps ErrTooLarge stands for one mail; after any other the reading
// ends. The bytes belong to the caller.
func Read(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
			z, err := gzip.NewReader(in)
			if err != nil {
				yield(nil, fmt.Errorf("reading gzip: %w", err))
				return
			}
			in = bufio.NewReaderSize(z, 64<<10)
		}
		s := splitter{in: in}
		for {
			mail, err := s.next()
			if err == io.EOF {
				return
			}
			if !yield(mail, err) || err != nil && !errors.Is(err, ErrTooLarge) {
				return
			}
		}
	}
}

// splitter cuts a stream at its "From " lines.
type splitter struct {
	in     *bufio.Reader
	begun  bool
	split  bool // the stream has "From " lines
	mboxrd bool // and says how it quotes them
	count  int
}

// next returns the next mail, or io.EOF.
func (s *splitter) next() ([]byte, error) {
	if !s.begun {
		s.begun = true
		if err := s.skipBlank(); err != nil {
			return nil, err
		}
		first, err := s.in.Peek(5)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("reading mails: %w", err)
		}
		if string(first) == "From " {
			s.split = true
			line, _, err := s.line()
			if err != nil && err != io.EOF {
				return nil, fmt.Errorf("reading mails: %w", err)
			}
			s.mboxrd = bytes.HasPrefix(line, []byte("From mboxrd@"))
		}
	} else if !s.split {
		return nil, io.EOF
	}
	s.count++
	var mail bytes.Buffer
	size, lines := 0, 0
	whole := true  // the line before this piece was complete
	blank := false // and it was empty
	ended := false
	for {
		line, more, err := s.line()
		if err == io.EOF && len(line) == 0 {
			ended = true
			break
		}
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("reading mail %d: %w", s.count, err)
		}
		if s.split && whole && bytes.HasPrefix(line, []byte("From ")) {
			line = bytes.Clone(line) // looking ahead moves the buffer
		}
		if s.split && whole && (isFromLine(line) && s.headerFollows(1) || blank && isBareFrom(line) && s.headerFollows(2)) {
			break
		}
		if s.split && whole {
			if quoted := bytes.TrimLeft(line, ">"); len(quoted) < len(line) && bytes.HasPrefix(quoted, []byte("From ")) &&
				(s.mboxrd || !bytes.HasSuffix(quoted, []byte(" Mon Sep 17 00:00:00 2001\n"))) {
				line = line[1:]
			}
		}
		size += len(line)
		lines++
		if size <= MaxMail {
			mail.Write(line)
		}
		blank = whole && len(bytes.TrimRight(line, "\r\n")) == 0
		whole = !more
	}
	if lines == 0 && ended {
		s.split = false
		return nil, io.EOF
	}
	if ended {
		s.split = false // the next call says io.EOF
	}
	if size > MaxMail {
		return nil, fmt.Errorf("mail %d has %d bytes: %w", s.count, size, ErrTooLarge)
	}
	raw := mail.Bytes()
	if s.split || ended {
		// The empty line before a "From " line belongs to the mbox.
		if bytes.HasSuffix(raw, []byte("\n\n")) {
			raw = raw[:len(raw)-1]
		} else if bytes.HasSuffix(raw, []byte("\r\n\r\n")) {
			raw = raw[:len(raw)-2]
		}
	}
	return raw, nil
}

// line returns the next line, or a piece of it where it is longer than the buffer;
// more says that it goes on.
func (s *splitter) line() (line []byte, more bool, err error) {
	line, err = s.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return line, true, nil
	}
	return line, false, err
}

func (s *splitter) skipBlank() error {
	for {
		c, err := s.in.ReadByte()
		if err != nil {
			if err == io.EOF {
				return err
			}
			return fmt.Errorf("reading mails: %w", err)
		}
		if c != '\n' && c != '\r' && c != ' ' && c != '\t' {
			return s.in.UnreadByte()
		}
	}
}

// headerFollows looks ahead for so many lines of a header, which tell a separator
// from a line of a mail that nobody quoted.
func (s *splitter) headerFollows(lines int) bool {
	ahead, _ := s.in.Peek(1024)
	for i := range lines {
		var line []byte
		line, ahead, _ = bytes.Cut(ahead, []byte("\n"))
		if i == 0 && (bytes.HasPrefix(line, []byte(">From ")) || len(bytes.TrimSpace(line)) == 0 && lines == 1) {
			continue
		}
		if i > 0 && len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
			continue
		}
		name, _, ok := bytes.Cut(line, []byte(":"))
		if !ok || len(name) == 0 || bytes.ContainsAny(name, " \t") {
			return false
		}
	}
	return true
}

// isBareFrom recognizes "From sender" without a date, which some tools write.
func isBareFrom(line []byte) bool {
	return bytes.HasPrefix(line, []byte("From ")) && len(bytes.Fields(line)) == 2 && !bytes.HasSuffix(bytes.TrimSpace(line), []byte(":"))
}

// isFromLine recognizes "From sender date": a time of day and a year of four digits
// behind it, as git mailsplit asks for.
func isFromLine(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("From ")) || len(line) > 1024 {
		return false
	}
	colon := bytes.LastIndexByte(line, ':')
	if colon < 9 || colon+3 > len(line) || !isDigit(line[colon-1]) || !isDigit(line[colon-2]) ||
		!isDigit(line[colon+1]) || !isDigit(line[colon+2]) {
		return false
	}
	for _, word := range bytes.Fields(line[colon+3:]) {
		if len(word) == 4 && isDigit(word[0]) && isDigit(word[1]) && isDigit(word[2]) && isDigit(word[3]) {
			return true
		}
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
