package gimple

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxLine bounds what is kept of one line: a larger one holds initialisers, nothing
// that matters here.
const maxLine = 1 << 20

// ErrNoDump says that the input is not such a dump.
var ErrNoDump = errors.New("no control-flow dump of gcc")

// Parse reads a dump and calls yield with each function, in the dump's order. It
// fails for a reader's error, for yield's, and with ErrNoDump where lines are there
// but no function.
func Parse(r io.Reader, yield func(*Func) error) error {
	p := &parser{in: bufio.NewReaderSize(r, 1<<16), yield: yield}
	for {
		line, err := p.line()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("reading a control-flow dump: %w", err)
		}
		if err := p.take(line); err != nil {
			return err
		}
	}
	if p.functions == 0 && p.text {
		return ErrNoDump
	}
	return nil
}

// ParseAll reads a whole dump.
func ParseAll(r io.Reader) ([]*Func, error) {
	var all []*Func
	err := Parse(r, func(f *Func) error {
		all = append(all, f)
		return nil
	})
	return all, err
}

type parser struct {
	in        *bufio.Reader
	peeked    *string
	yield     func(*Func) error
	functions int
	text      bool

	f      *Func
	body   bool
	block  *Block
	succs  bool // lines of successors may follow
	labels map[string]int
	files  map[string]string // file names, each kept once
}

// line reads one line without its end.
func (p *parser) line() (string, error) {
	if p.peeked != nil {
		s := *p.peeked
		p.peeked = nil
		return s, nil
	}
	var long []byte
	for {
		part, err := p.in.ReadSlice('\n')
		if err == nil && long == nil {
			return strings.TrimRight(string(part), "\r\n"), nil
		}
		if len(long) < maxLine {
			long = append(long, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(long) == 0:
			return "", io.EOF
		case err != nil && err != io.EOF:
			return "", err
		}
		return strings.TrimRight(string(long), "\r\n"), nil
	}
}

func (p *parser) take(line string) error {
	if line != "" {
		p.text = true
	}
	if name, ok := strings.CutPrefix(line, ";; Function "); ok {
		name, _, _ = strings.Cut(name, " (")
		p.f = &Func{Name: name, Locals: map[string]bool{}, byID: map[int]*Block{}}
		p.body, p.block, p.succs, p.labels = false, nil, false, map[string]int{}
		p.functions++
		return nil
	}
	switch {
	case p.f == nil:
	case !p.body:
		p.head(line)
	case line == "}":
		return p.finish()
	case strings.HasPrefix(line, ";;"):
		p.comment(line)
	case strings.TrimLeft(line, " ") == "":
		p.succs = false
	case p.block == nil:
		p.declaration(line)
	default:
		p.statement(line)
	}
	return nil
}

// head takes what stands between a function's title and its body.
func (p *parser) head(line string) {
	switch {
	case line == "{":
		p.body = true
	case strings.HasPrefix(line, "__attribute__"):
		if strings.Contains(line, "gnu_inline") || strings.Contains(line, "always_inline") {
			p.f.Inline = true
		}
	case strings.HasSuffix(line, ")") && !strings.HasPrefix(line, ";;"):
		// gcc 11 leaves out the name's uid
		at := max(strings.Index(line, p.f.Name+"D."), strings.Index(line, p.f.Name+" ("))
		if at < 0 {
			return
		}
		_, params, ok := strings.Cut(line[at:], " (")
		if !ok {
			return
		}
		for _, param := range split(params[:len(params)-1]) {
			name := declared(param)
			p.f.Params = append(p.f.Params, name)
			if name != "" {
				p.f.Locals[name] = true
			}
		}
	}
}

// declared is the variable that a declaration names, its last one with a uid.
func declared(decl string) string {
	decl, _, _ = strings.Cut(decl, " __asm__ ")
	decl, _, _ = strings.Cut(decl, " = ")
	for strings.HasSuffix(decl, "]") {
		decl = decl[:strings.LastIndexByte(decl, '[')+1]
		decl = strings.TrimSuffix(decl, "[")
	}
	decl = strings.TrimRight(decl, " )")
	i := len(decl)
	for i > 0 && identChar(decl[i-1]) {
		i--
	}
	if name := decl[i:]; uidAt(name) >= 0 {
		return name
	}
	return ""
}

func (p *parser) declaration(line string) {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "static ") || strings.HasPrefix(line, "extern ") || !strings.HasSuffix(line, ";") {
		return
	}
	if name := declared(strings.TrimSuffix(line, ";")); name != "" {
		p.f.Locals[name] = true
	}
}

// comment takes a line that begins with ";;": a block's title or its successors.
func (p *parser) comment(line string) {
	if rest, ok := strings.CutPrefix(line, ";;   basic block "); ok {
		p.block = &Block{ID: leadingInt(rest)}
		p.f.Blocks = append(p.f.Blocks, p.block)
		p.f.byID[p.block.ID] = p.block
		p.succs = false
		return
	}
	rest, first := strings.CutPrefix(line, ";;    succ:")
	if first {
		p.succs = true
	} else {
		rest = line[2:]
	}
	if p.block == nil || !p.succs {
		return
	}
	field, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	if digits(field) {
		p.block.Succs = append(p.block.Succs, leadingInt(field))
	}
}

func leadingInt(s string) int {
	i := 0
	for i < len(s) && i < 9 && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	n, _ := strconv.Atoi(s[:i])
	return n
}

// finish resolves the labels of switches and hands the function on.
func (p *parser) finish() error {
	f := p.f
	for _, b := range f.Blocks {
		for _, s := range b.Stmts {
			for i := range s.Cases {
				c := &s.Cases[i]
				if to, ok := p.labels[c.label]; ok {
					c.Target = to
				}
			}
		}
	}
	p.f, p.body, p.block = nil, false, nil
	return p.yield(f)
}

// place cuts a leading "[file:line:col] " or "[file:line:col discrim n] " off.
func (p *parser) place(s string) (Pos, string) {
	end, pos := placeAt(s)
	if end == 0 {
		return Pos{}, s
	}
	if p.files == nil {
		p.files = map[string]string{}
	}
	name, ok := p.files[pos.File]
	if !ok {
		name = strings.Clone(pos.File)
		p.files[name] = name
	}
	pos.File = name
	return pos, s[end:]
}

// placeAt recognises a location at the start of s and returns its length, with the
// space after it, 0 where there is none.
func placeAt(s string) (int, Pos) {
	if s == "" || s[0] != '[' {
		return 0, Pos{}
	}
	end := strings.IndexByte(s, ']')
	if end < 0 || strings.ContainsAny(s[1:end], "\"[") {
		return 0, Pos{}
	}
	in, _, _ := strings.Cut(s[1:end], " discrim ")
	rest, col, ok := cutLast(in, ":")
	if !ok {
		return 0, Pos{}
	}
	file, line, ok := cutLast(rest, ":")
	if !ok { // unknown: "[0:0]"
		file, line = "", rest
	}
	if !digits(strings.TrimPrefix(line, "-")) || !digits(strings.TrimPrefix(col, "-")) {
		return 0, Pos{}
	}
	n := end + 1
	if n < len(s) && s[n] == ' ' {
		n++
	}
	return n, Pos{File: file, Line: leadingInt(line), Col: leadingInt(col)}
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// unplaced is s without the locations inside of expressions.
func unplaced(s string) string {
	i := strings.IndexByte(s, '[')
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i >= 0 {
		b.WriteString(s[:i])
		n, _ := placeAt(s[i:])
		if n == 0 {
			b.WriteByte('[')
			n = 1
		}
		s = s[i+n:]
		i = strings.IndexByte(s, '[')
	}
	b.WriteString(s)
	return b.String()
}
