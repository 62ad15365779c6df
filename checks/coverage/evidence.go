package coverage

import (
	"bytes"
	"context"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"uabot/checks"
	"uabot/checks/csource"
)

// evidence are the lines of the tree's files that certainly became code, or
// declarations, in one unit.
type evidence struct {
	lines map[string]map[int]bool
	// complete says that lines hold all there are: what is not in there was not
	// compiled. Debug information never is: what is unused leaves no trace.
	complete bool
}

func (e *evidence) add(file string, line int) {
	if e.lines[file] == nil {
		e.lines[file] = map[int]bool{}
	}
	e.lines[file][line] = true
}

// within reports whether any line of a branch is among the evidence.
func (e *evidence) within(f *file, b int) bool {
	c := f.Conds[b]
	for line := range e.lines[f.name] {
		if c.Line < line && line < c.End {
			return true
		}
	}
	return false
}

// branch tells what the evidence says of a branch: certainly compiled when a line
// of it shows; certainly not when a line of another branch of the same block does,
// or of a block around.
func (e *evidence) branch(f *file, u checks.Unit, b int) truth {
	if e.within(f, b) {
		return yes
	}
	if !f.once(u) {
		return unknown
	}
	if e.complete && len(e.lines[f.name]) > 0 && f.tellsItself(b) {
		return no
	}
	for at := b; at >= 0; at = f.Conds[at].Parent {
		for i, c := range f.Conds {
			if i != at && c.First == f.Conds[at].First && e.within(f, i) {
				return no
			}
		}
	}
	return unknown
}

// tellsItself reports whether a branch would leave lines in preprocessed text: code
// or a macro of its own, not only of blocks within it, and more than an #include,
// which shows in other files' lines.
func (f *file) tellsItself(b int) bool {
	return slices.ContainsFunc(f.Tokens, func(t csource.Token) bool { return t.Cond == b }) ||
		slices.ContainsFunc(f.Macros, func(m csource.Macro) bool { return m.Cond == b })
}

// once reports whether a unit reads f at most once: only then do the branches of a
// block exclude each other.
func (f *file) once(u checks.Unit) bool {
	return u.Source == f.name || slices.ContainsFunc(f.Conds, func(c csource.Cond) bool { return c.Guard })
}

// debug returns what the debug information of a unit's object shows. An object that
// cannot be read shows nothing.
func (t *target) debug(u checks.Unit) *evidence {
	if e, ok := t.evidence[u.Source]; ok {
		return e
	}
	e := &evidence{lines: map[string]map[int]bool{}}
	t.evidence[u.Source] = e
	f, err := elf.Open(filepath.Join(t.Output, u.Object))
	if err != nil {
		return e
	}
	defer f.Close()
	data, err := f.DWARF()
	if err != nil {
		return e
	}
	t.readDWARF(data, e)
	return e
}

// readDWARF collects the lines of instructions and of declarations.
func (t *target) readDWARF(data *dwarf.Data, e *evidence) {
	var files []*dwarf.LineFile
	r := data.Reader()
	for {
		entry, err := r.Next()
		if err != nil || entry == nil {
			return
		}
		if entry.Tag == dwarf.TagCompileUnit {
			files = nil
			lr, err := data.LineReader(entry)
			if err != nil || lr == nil {
				continue
			}
			var le dwarf.LineEntry
			for lr.Next(&le) == nil {
				if le.File != nil {
					e.add(t.Rel(le.File.Name), le.Line)
				}
			}
			files = lr.Files()
			continue
		}
		line, ok := entry.Val(dwarf.AttrDeclLine).(int64)
		if !ok {
			continue
		}
		if n, ok := entry.Val(dwarf.AttrDeclFile).(int64); ok && n > 0 && int(n) < len(files) && files[n] != nil {
			e.add(t.Rel(files[n].Name), int(line))
		}
	}
}

// preprocessed returns what the preprocessor kept of a unit.
func (t *target) preprocessed(ctx context.Context, c Change, u checks.Unit) (*evidence, error) {
	key := "preprocessed " + u.Source
	if e, ok := t.evidence[key]; ok {
		if e == nil {
			return nil, errors.New("it could not be preprocessed")
		}
		return e, nil
	}
	text, err := c.Preprocess(ctx, t.Built, u)
	if err == nil && len(text) == 0 {
		err = errors.New("the preprocessor printed nothing")
	}
	if err != nil {
		t.evidence[key] = nil
		return nil, fmt.Errorf("preprocessing %s for %s: %w", u.Source, t.Target.Name, err)
	}
	e := &evidence{lines: map[string]map[int]bool{}, complete: true}
	t.evidence[key] = e
	readPreprocessed(text, func(file string, line int) { e.add(t.Rel(file), line) })
	return e, nil
}

// readPreprocessed reports the file and line of each line of text that is not
// empty: code, and with -dD the definitions of macros. Line markers (`# 12 "file"`)
// say where it stands.
func readPreprocessed(text []byte, report func(file string, line int)) {
	file, line := "", 0
	for len(text) > 0 {
		l, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		if name, n, ok := marker(l); ok {
			file, line = name, n
			continue
		}
		if file != "" && len(bytes.TrimSpace(l)) > 0 {
			report(file, line)
		}
		line++
	}
}

// marker reads a line marker.
func marker(l []byte) (file string, line int, ok bool) {
	if !bytes.HasPrefix(l, []byte("# ")) {
		return "", 0, false
	}
	number, rest, found := strings.Cut(string(l[2:]), " ")
	n, err := strconv.Atoi(number)
	if !found || err != nil || !strings.HasPrefix(rest, `"`) {
		return "", 0, false
	}
	name, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return "", 0, false
	}
	name, err = strconv.Unquote(name)
	return name, n, err == nil
}

// ErrCommand says that a saved command is not one compilation.
var ErrCommand = errors.New("not a compilation")

// PreprocessCommand turns the saved command of a unit (savedcmd_ of its .cmd file,
// make's escapes undone) into one that prints the preprocessed text with its macro
// definitions to standard output and writes no file. It is a shell command for the
// same directory.
func PreprocessCommand(saved string) (string, error) {
	first, _, _ := strings.Cut(saved, ";")
	words := strings.Fields(first)
	var out []string
	compiles := false
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-c":
			compiles = true
			out = append(out, "-E", "-dD")
		case w == "-o":
			i++
		case strings.HasPrefix(w, "-Wp,-MMD,") || strings.HasPrefix(w, "-Wp,-MD,") || w == "-MMD" || w == "-MD":
		default:
			out = append(out, w)
		}
	}
	if !compiles {
		return "", fmt.Errorf("%w: %.80q", ErrCommand, saved)
	}
	return strings.Join(append(out, "-o", "-"), " "), nil
}
