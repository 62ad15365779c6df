package mail

import (
	"strings"
)

// ParseAddresses reads a list of addresses as leniently as mails need it: an
// unquoted comma in a name, comments, missing brackets. What has no @ is left out.
func ParseAddresses(value string) []Address {
	var list []Address
	var piece strings.Builder
	add := func() bool {
		a, ok := parseAddress(piece.String())
		if ok {
			list = append(list, a)
			piece.Reset()
		}
		return ok
	}
	var quoted, angle bool
	depth := 0
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case c == '\\' && i+1 < len(value):
			piece.WriteByte(c)
			i++
			c = value[i]
		case c == '"' && depth == 0:
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth > 0:
		case c == '<':
			angle = true
		case c == '>':
			angle = false
		case c == ':' && !angle && !strings.Contains(piece.String(), "@"): // a group: its name is no address
			piece.Reset()
			continue
		case (c == ',' || c == ';') && !angle:
			if add() {
				continue
			}
			// "Doe, Jane <jane@x>": the comma belongs to the name.
		}
		piece.WriteByte(c)
	}
	add()
	return list
}

// parseAddress reads one address by the rules of git mailinfo.
func parseAddress(s string) (Address, bool) {
	if !strings.Contains(s, "@") {
		return Address{}, false
	}
	// Decoding comes after the list was cut, so that an encoded comma does not cut it.
	text, _ := decodeWords(s)
	name, addr := splitAddress(text)
	return Address{Name: name, Addr: lowerHost(addr)}, addr != ""
}

func lowerHost(addr string) string {
	if at := strings.LastIndexByte(addr, '@'); at >= 0 {
		return addr[:at] + strings.ToLower(addr[at:])
	}
	return addr
}

// splitAddress takes out what surrounds the first @ and calls the rest the name,
// as git mailinfo does.
func splitAddress(s string) (name, addr string) {
	s = unquote(s)
	at := strings.IndexByte(s, '@')
	if at < 0 {
		return strings.TrimSpace(s), ""
	}
	start := at
	for start > 0 && !isSpace(s[start-1]) && s[start-1] != '<' {
		start--
	}
	end := start
	for end < len(s) && !isSpace(s[end]) && s[end] != '>' {
		end++
	}
	addr = s[start:end]
	before := s[:start]
	before = strings.TrimSuffix(before, "<")
	if len(before) < start { // the bracket becomes a space
		before += " "
	}
	after := ""
	if end < len(s) {
		after = s[end+1:]
	}
	name = strings.Trim(collapseSpace(before+after), spaces)
	if strings.HasPrefix(name, "(") && strings.HasSuffix(name, ")") {
		name = name[1 : len(name)-1]
	}
	return name, addr
}

// author is what git am would name as the author: mailinfo distrusts names that
// are very long or hold an address, and takes the address instead.
func author(value string) Address {
	value = collapseSpace(value)
	name, addr := splitAddress(value)
	if addr == "" {
		// "John Doe <johndoe>"
		before, after, ok := strings.Cut(value, "<")
		inner, _, closed := strings.Cut(after, ">")
		if !ok || !closed {
			return Address{}
		}
		name, addr = strings.Trim(before, spaces), inner
	}
	if name == "" || len(name) > 60 || strings.ContainsAny(name, "@<>") {
		name = addr
	}
	return Address{Name: name, Addr: addr}
}

// unquote undoes quoted strings and quoted pairs, and keeps comments.
func unquote(s string) string {
	if !strings.ContainsAny(s, "\"(") {
		return s
	}
	var out strings.Builder
	quoted, depth := false, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && (quoted || depth > 0):
			if i++; i < len(s) {
				out.WriteByte(s[i])
			}
			continue
		case c == '"' && depth == 0:
			quoted = !quoted
			continue
		case c == '(' && !quoted:
			depth++
		case c == ')' && !quoted && depth > 0:
			depth--
		}
		out.WriteByte(c)
	}
	return out.String()
}

const spaces = " \t\n\v\f\r"

func isSpace(c byte) bool { return strings.IndexByte(spaces, c) >= 0 }

// collapseSpace makes one blank of every run of white space.
func collapseSpace(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if !isSpace(s[i]) {
			out.WriteByte(s[i])
		} else if i+1 == len(s) || !isSpace(s[i+1]) {
			out.WriteByte(' ')
		}
	}
	return out.String()
}

// viaList returns who is behind a sender that a mailing list has rewritten ("X via
// List <list@host>", because of DMARC), from the fields that lists keep the true
// sender in. found is false when From was not rewritten, or nothing but the name
// is left of the sender.
func viaList(from Address, fields []field) (sender Address, found bool) {
	name, _, via := cutLast(from.Name, " via ")
	var replyTo, original []Address
	lists := map[string]bool{}
	for _, f := range fields {
		switch f.name {
		case "x-original-from", "x-mailman-original-from":
			original = ParseAddresses(f.value)
		case "reply-to":
			if via {
				replyTo = ParseAddresses(f.value)
			}
		case "list-post", "list-id", "x-original-to", "to", "cc":
			if !via {
				continue
			}
			for _, part := range strings.FieldsFunc(f.value, func(r rune) bool { return strings.ContainsRune("<>:, ", r) }) {
				lists[strings.ToLower(part)] = true
			}
		}
	}
	if len(original) > 0 {
		a := original[0]
		if a.Name == "" {
			a.Name = strings.Trim(name, "'\"")
		}
		return a, true
	}
	if !via || !isListAddress(from.Addr, lists) {
		return from, false
	}
	for _, a := range replyTo {
		if !isListAddress(a.Addr, lists) {
			if a.Name == "" || a.Name == a.Addr {
				a.Name = strings.Trim(name, "'\"")
			}
			return a, true
		}
	}
	return Address{Name: strings.Trim(name, "'\""), Addr: from.Addr}, false
}

// isListAddress reports whether addr is where the list's mails go: one of the
// addresses in its fields, or the like of it by name.
func isListAddress(addr string, lists map[string]bool) bool {
	addr = strings.ToLower(addr)
	return lists[addr] || lists[strings.Replace(addr, "@", ".", 1)]
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
