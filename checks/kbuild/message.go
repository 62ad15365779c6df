package kbuild

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Message is one thing that a compiler or sparse says about a unit.
type Message struct {
	Tool     string // "gcc" (or another compiler), "sparse"
	Error    bool   // else a warning
	File     string // as printed, without ./
	Line     int    // 0 when there is none
	Function string // of gcc's "In function 'x':"; empty when not known
	Text     string // "unused variable 'x' [-Wunused-variable]"
	Raw      string // the message with all that belongs to it, as printed

	head string // Text as the message's own line has it
}

// Identity is the text of m without what changes when other code moves: line
// numbers and sizes of stack frames, numbers of the compiler's own variables.
func (m *Message) Identity() string {
	text := positions.ReplaceAllString(m.Text, "$1")
	text = lineNumber.ReplaceAllString(text, "line N")
	text = frameSize.ReplaceAllString(text, "frame size of N bytes")
	return temporary.ReplaceAllString(text, "$1.N")
}

// evidence is the message with its own line first: what a reader wants to see when
// there is room for one line.
func (m *Message) evidence() string {
	raw := strings.TrimRight(m.Raw, "\n")
	for lead, rest := "", raw; rest != ""; {
		line, after, _ := strings.Cut(rest, "\n")
		if strings.Contains(line, ": ") && strings.HasSuffix(line, m.head) {
			return strings.TrimRight(line+"\n"+lead+after, "\n")
		}
		lead, rest = lead+line+"\n", after
	}
	return raw
}

var (
	positions  = regexp.MustCompile(`(\.[chS]):\d+(?::\d+)?`)
	lineNumber = regexp.MustCompile(`\bline \d+`)
	frameSize  = regexp.MustCompile(`frame size (?:of )?\(?\d+\)?(?: bytes)?`)
	temporary  = regexp.MustCompile(`\b([A-Za-z_]\w*)\.\d+\b`)

	// "fs/select.c:884:12: warning: text"; column, and for the assembler the
	// severity's capital, vary.
	located = regexp.MustCompile(`^([^\s:][^:\n]*):(\d+):(?:(\d+):)? (fatal error|error|warning|note|Error|Warning|Info): (.*)$`)
	// "cc1: error: …", "gcc: fatal error: …", "objdump: …", of no place.
	placeless = regexp.MustCompile(`^([\w.+/-]*(?:cc1|gcc|clang|as|ld|collect2|objtool)(?:-[\d.]+)?): (fatal error|error|warning|Error|Warning): (.*)$`)
	// gcc: "fs/select.c: In function 'do_poll':", "In function 'a',", "At top level:"
	inFunction = regexp.MustCompile(`^(?:\S+: )?In (?:member )?function ['‘]([^'’]+)['’][,:]`)
	inlined    = regexp.MustCompile(`^ {4}inlined from ['‘]([^'’]+)['’] at ([^:]+):(\d+)(?::\d+)?[:,]$`)
	topLevel   = regexp.MustCompile(`^(?:\S+: )?At top level:$`)
	included   = regexp.MustCompile(`^(?:In file included from | +from )\S+:\d+`)
	expansion  = regexp.MustCompile(`^in (?:definition|expansion) of macro ['‘]([^'’]+)['’]`)
	// sparse: "fs/a.c: note: in included file (through include/b.h):"
	throughFile = regexp.MustCompile(`^\S+: note: in included file\b`)
	// sparse explains a type mismatch on lines of the same place without a severity.
	sparseMore = regexp.MustCompile(`^[^\s:][^:\n]*:\d+:\d+: {4,}\S`)
)

// ParseMessages reads the Log of a unit: what a compiler printed, and behind a line
// "  CHECK   …" what sparse printed. Notes belong to the message before them. A
// message about code that a macro or an inlined function brings is placed where
// the source uses it, outermost.
func ParseMessages(log string) []Message {
	var list []Message
	tool, function := "gcc", ""
	var from []place // where the next message's code is inlined, outermost last
	pending := ""    // lines that lead in the next message
	lead := func(raw string) {
		if len(pending) < maxRaw {
			pending += raw
		}
	}
	for raw := range strings.Lines(log) {
		line := strings.TrimSuffix(raw, "\n")
		if strings.HasPrefix(line, checkHeader) {
			tool, function, from, pending = "sparse", "", nil, ""
			continue
		}
		var last *Message
		if len(list) > 0 {
			last = &list[len(list)-1]
		}
		if m := inFunction.FindStringSubmatch(line); m != nil {
			function, from = m[1], nil
			lead(raw)
			continue
		}
		if m := inlined.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[3])
			from = append(from, place{path.Clean(m[2]), n, m[1]})
			lead(raw)
			continue
		}
		if topLevel.MatchString(line) {
			function, from = "", nil
			lead(raw)
			continue
		}
		if included.MatchString(line) || throughFile.MatchString(line) {
			lead(raw)
			continue
		}
		if tool == "sparse" && last != nil && sparseMore.MatchString(line) {
			last.more(raw)
			last.Text = clean(last.Text, maxTitle) + " " + strings.TrimSpace(line[strings.Index(line, ":    ")+1:])
			continue
		}
		if m := located.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[2])
			severity, text := strings.ToLower(m[4]), m[5]
			if severity == "note" || severity == "info" {
				if last != nil {
					last.more(pending + raw)
					// The outermost use comes last.
					if expansion.MatchString(text) && strings.HasPrefix(text, "in expansion") {
						last.File, last.Line = path.Clean(m[1]), n
					}
				}
				pending = ""
				continue
			}
			msg := Message{Tool: tool, Error: severity != "warning", File: path.Clean(m[1]), Line: n, Function: function, Text: text, Raw: pending + raw, head: text}
			if len(from) > 0 {
				outer := from[len(from)-1]
				msg.File, msg.Line, msg.Function = outer.file, outer.line, outer.function
			}
			list = append(list, msg)
			from, pending = nil, ""
			continue
		}
		if m := placeless.FindStringSubmatch(line); m != nil {
			if !strings.Contains(m[3], "warnings being treated as errors") {
				list = append(list, Message{Tool: tool, Error: strings.ToLower(m[2]) != "warning", Text: m[3], Raw: pending + raw})
			}
			pending = ""
			continue
		}
		// Source lines, carets, fix-it hints.
		if last != nil && pending == "" {
			last.more(raw)
		}
	}
	return list
}

// more adds lines that belong to m, as long as somebody may read them.
func (m *Message) more(raw string) {
	if len(m.Raw) < maxRaw {
		m.Raw += raw
	}
}

type place struct {
	file     string
	line     int
	function string
}
