package objtool

import (
	"regexp"
	"strconv"
	"strings"
)

// Warning is one warning of objtool with the way back to the start of the function.
type Warning struct {
	At   Location
	Text string // "redundant UACCESS disable"
	Path []Step // as printed: from the warning back to the function
	Raw  string // the lines as printed, without the object's name
}

// Step is a line of a backtrace.
type Step struct {
	At   Location
	Kind string // "alt": the replacement of an alternative was taken, "branch": a jump, "sym": the function starts, or as printed
}

// Location is a place in an object, as objtool names it. The zero Location is none.
type Location struct {
	Symbol  string // empty where no symbol is
	Offset  uint64 // from Symbol
	Section string // empty when it was not printed
	Address uint64 // from the start of Section
}

var (
	// "obj.o: warning: objtool: …"; newer ones say "error:" for what stops a build.
	warningLine = regexp.MustCompile(`^[^:\n]*: (?:warning|error): objtool: (.*)$`)
	// "sym+0x12 (.text+0x9278): …" or ".altinstr_replacement+0x12: …"
	locatedText = regexp.MustCompile(`^([^\s:]+)\+0x([0-9a-f]+)(?: \(([^\s()]+)\+0x([0-9a-f]+)\))?: (.*)$`)
	stepKind    = regexp.MustCompile(`\(([a-z-]+)\)$`)
)

// Parse reads what objtool prints with --backtrace and --sec-address. Lines that
// are no warnings are passed over.
func Parse(text string) []Warning {
	var list []Warning
	for line := range strings.Lines(text) {
		m := warningLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		said := m[1]
		if step, ok := strings.CutPrefix(said, "  "); ok && len(list) > 0 {
			w := &list[len(list)-1]
			w.Raw += "\n" + said
			if at, kind := parseLocation(step); at != (Location{}) {
				if k := stepKind.FindStringSubmatch(kind); k != nil {
					kind = k[1]
				}
				w.Path = append(w.Path, Step{at, kind})
			}
			continue
		}
		at, what := parseLocation(said)
		list = append(list, Warning{At: at, Text: what, Raw: said})
	}
	return list
}

// parseLocation splits "LOCATION: text"; text is all of it where there is none.
func parseLocation(said string) (Location, string) {
	m := locatedText.FindStringSubmatch(said)
	if m == nil {
		return Location{}, said
	}
	offset, err := strconv.ParseUint(m[2], 16, 64)
	if err != nil {
		return Location{}, said
	}
	if m[3] != "" {
		address, err := strconv.ParseUint(m[4], 16, 64)
		if err != nil {
			return Location{}, said
		}
		return Location{Symbol: m[1], Offset: offset, Section: m[3], Address: address}, m[5]
	}
	if strings.HasPrefix(m[1], ".") {
		return Location{Section: m[1], Address: offset}, m[5]
	}
	return Location{Symbol: m[1], Offset: offset}, m[5]
}
