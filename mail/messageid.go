package mail

import (
	"bytes"
	"strings"
)

// MessageIDs returns the Message-IDs in the header of a raw mail, without angle
// brackets, in order, each once; none when there is none. There can be several: a
// public-inbox server that has to keep two mails with one id adds a second id of
// its own to the later.
//
// It looks at nothing else, so that a mail whose other headers are broken can
// still be found.
func MessageIDs(raw []byte) []string {
	var ids []string
	var field []byte // the Message-ID field that continuation lines belong to
	end := func() {
		id := messageID(string(field))
		for _, known := range ids {
			if known == id {
				id = ""
			}
		}
		if id != "" {
			ids = append(ids, id)
		}
		field = nil
	}
	for len(raw) > 0 {
		line, rest, _ := bytes.Cut(raw, []byte("\n"))
		raw = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 {
			break
		}
		if line[0] == ' ' || line[0] == '\t' {
			if field != nil {
				field = append(append(field, ' '), line...)
			}
			continue
		}
		end()
		name, value, ok := bytes.Cut(line, []byte(":"))
		if ok && strings.EqualFold(string(bytes.TrimSpace(name)), "Message-ID") {
			field = append([]byte{}, value...)
		}
	}
	end()
	return ids
}

// messageID is lenient about what stands around an id, as mails are: comments,
// missing brackets, spaces.
func messageID(field string) string {
	if _, after, ok := strings.Cut(field, "<"); ok {
		field, _, _ = strings.Cut(after, ">")
	}
	return strings.Join(strings.Fields(field), "")
}
