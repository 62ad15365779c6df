package kbuild

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"uabot/checks"
	"uabot/config"
)

// Rules of the messages check.
const (
	CompilerError   = "compiler-error"
	CompilerWarning = "compiler-warning"
	Sparse          = "sparse"
)

// Messages is the check of what compilers and sparse print. Its findings' identity
// is file, function and message without line numbers, so that a set comparison of
// before and after tells what is new.
type Messages struct{}

// Name is what evidence is signed with.
func (Messages) Name() string { return "build" }

// Applies is true everywhere.
func (Messages) Applies(config.Target) (bool, string) { return true, "" }

// Run turns the logs of all units into findings, each identity once.
func (Messages) Run(ctx context.Context, b *checks.Built) (*checks.Result, error) {
	sources := &sourceFiles{root: b.Source}
	res := &checks.Result{}
	seen := map[string]bool{}
	for _, u := range b.Units {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		messages := ParseMessages(u.Log)
		if len(messages) > maxMessages {
			res.Notes = append(res.Notes, fmt.Sprintf("%s: only the first %d of %d messages are compared", u.Source, maxMessages, len(messages)))
			messages = messages[:maxMessages]
		}
		reason := strings.TrimPrefix(u.Err, atBase)
		if reason != "" && reason != removed && reason != notThere && !hasError(messages) {
			messages = append(messages, Message{Error: true, File: u.Source, Text: reason, Raw: reason + "\n"})
		}
		for _, m := range messages {
			f := finding(b, u, m, sources)
			if id := f.Identity(); !seen[id] {
				seen[id] = true
				res.Findings = append(res.Findings, f)
			}
		}
	}
	return res, nil
}

func hasError(messages []Message) bool {
	for _, m := range messages {
		if m.Error && m.Tool != "sparse" {
			return true
		}
	}
	return false
}

func finding(b *checks.Built, u checks.Unit, m Message, sources *sourceFiles) checks.Finding {
	f := checks.Finding{
		Rule: CompilerWarning, File: b.Rel(m.File), Line: m.Line, Function: m.Function,
		Detail: clean(m.Identity(), maxTitle), Class: checks.Build, Title: clean(m.Text, maxTitle),
		Evidence: []checks.Evidence{{Check: "build", Target: b.Target.Name, Text: clean(m.evidence(), maxRaw)}},
	}
	if m.File == "" || strings.HasPrefix(m.File, "{") || strings.HasPrefix(m.File, "<") {
		f.File, f.Line = u.Source, 0
	}
	switch {
	case m.Tool == "sparse":
		f.Rule = Sparse
	case m.Error:
		f.Rule = CompilerError
	}
	if f.Function == "" {
		f.Function = sources.functionAt(f.File, f.Line)
	}
	if text := sources.line(f.File, f.Line); text != "" {
		f.Witness = checks.Witness{{File: f.File, Line: f.Line, Text: text}}
	}
	return f
}

// What is kept of a message for readers, in bytes.
const (
	maxTitle = 300
	maxRaw   = 4000

	maxMessages = 1000 // of one unit
)

// clean makes foreign text fit to be shown: at most max bytes of valid UTF-8, and
// no control characters but newline and tab.
func clean(text string, max int) string {
	var out strings.Builder
	for _, r := range text {
		if r == utf8.RuneError || r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			r = '?'
		}
		if out.Len()+utf8.RuneLen(r) > max {
			out.WriteString(" ...")
			break
		}
		out.WriteRune(r)
	}
	return out.String()
}

// sourceFiles reads lines of a tree, each file once.
type sourceFiles struct {
	root  string
	files map[string][][]byte
}

func (s *sourceFiles) lines(name string) [][]byte {
	if lines, ok := s.files[name]; ok {
		return lines
	}
	var lines [][]byte
	if filepath.IsLocal(name) {
		if data, err := os.ReadFile(filepath.Join(s.root, name)); err == nil {
			lines = bytes.Split(data, []byte("\n"))
		}
	}
	if s.files == nil {
		s.files = map[string][][]byte{}
	}
	s.files[name] = lines
	return lines
}

// line returns a line of a file, 1-based; "" when there is none.
func (s *sourceFiles) line(name string, n int) string {
	if lines := s.lines(name); n > 0 && n <= len(lines) {
		return clean(string(lines[n-1]), maxTitle)
	}
	return ""
}

var (
	openingLine = regexp.MustCompile(`^(?:[A-Za-z_][^(]*\b)?([A-Za-z_]\w*)\s*\(`)
	syscallLine = regexp.MustCompile(`^(?:COMPAT_)?SYSCALL_DEFINE[0-9]\((\w+)`)
)

// functionAt guesses the function around a line of kernel C, where a tool does not
// say it: from the last line above that starts in the first column with a name and
// a parenthesis, if no body was closed in between.
func (s *sourceFiles) functionAt(name string, n int) string {
	lines := s.lines(name)
	if n <= 0 || n > len(lines) {
		return ""
	}
	for i := n - 1; i >= 0; i-- {
		line := string(lines[i])
		if strings.HasPrefix(line, "}") && i < n-1 {
			return ""
		}
		if m := syscallLine.FindStringSubmatch(line); m != nil {
			return "__do_sys_" + m[1]
		}
		if strings.HasSuffix(strings.TrimSpace(line), ";") || strings.HasPrefix(line, "#") {
			continue
		}
		if m := openingLine.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return ""
}
