package usercopy

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"uabot/checks"
	"uabot/checks/csource"
)

// source is one file of one side.
type source struct {
	*csource.File
	path  string
	lines []string
	named []region // filled by regions
	first map[string]int
}

// text returns a line as it stands; empty when there is none.
func (s *source) text(line int) string {
	if line < 1 || line > len(s.lines) {
		return ""
	}
	return s.lines[line-1]
}

func (s *source) step(line int, note string) checks.Step {
	return checks.Step{File: s.path, Line: line, Text: s.text(line), Note: note}
}

// region is a stretch of code with a name: a function or a macro.
type region struct {
	name   string
	fn     *csource.Func  // nil for a macro
	macro  *csource.Macro // nil for a function
	params []csource.Token
	body   []csource.Token
	line   int
	end    int
	calls  []csource.Call
}

// regions lists the functions, then the macros of s.
func (s *source) regions() []region {
	if s.first != nil {
		return s.named
	}
	s.first = map[string]int{}
	add := func(r region) {
		r.calls = csource.Calls(r.body)
		if _, ok := s.first[r.name]; !ok {
			s.first[r.name] = len(s.named)
		}
		s.named = append(s.named, r)
	}
	for i := range s.Funcs {
		f := &s.Funcs[i]
		add(region{name: f.Name, fn: f, params: f.Params, body: f.Body, line: f.Line, end: f.End})
	}
	for i := range s.Macros {
		m := &s.Macros[i]
		add(region{name: m.Name, macro: m, body: m.Body, line: m.Line, end: m.End})
	}
	return s.named
}

// region returns the first region of that name, or nil.
func (s *source) region(name string) *region {
	regions := s.regions()
	if i, ok := s.first[name]; ok {
		return &regions[i]
	}
	return nil
}

// pair is one touched file before and after; a side that does not exist is empty.
type pair struct {
	base, patched *source
	added         map[int]bool // lines of patched that base does not have
}

// view is a Change as the rules see it.
type view struct {
	Change
	ctx     context.Context
	pairs   []*pair
	layouts map[string]*layout
	read    map[string]*source // of the patched tree, by path; nil for a missing one
	err     error              // the first failure to read that a rule met
}

func newView(ctx context.Context, c Change) (*view, error) {
	v := &view{Change: c, ctx: ctx, layouts: map[string]*layout{}, read: map[string]*source{}}
	// In order of appearance: a finding that spans files stands in the file that a
	// series touches first, whatever its later patches add.
	var names []string
	renamed := map[string]string{} // new name → the name in the base
	for _, f := range c.Files {
		if f.IsRename {
			from := f.OldName
			if was, ok := renamed[from]; ok {
				from = was
			}
			renamed[f.NewName] = from
		}
		name := cmp.Or(f.NewName, f.OldName)
		if name == "" || f.IsBinary || !judged(name) || slices.Contains(names, name) {
			continue
		}
		names = append(names, name)
	}
	for _, name := range names {
		base, err := load(c.Base, cmp.Or(renamed[name], name))
		if err != nil {
			return nil, fmt.Errorf("reading %s of the base: %w", name, err)
		}
		patched, err := load(c.Patched, name)
		if err != nil {
			return nil, fmt.Errorf("reading %s of the patched tree: %w", name, err)
		}
		patched.path = name
		v.pairs = append(v.pairs, &pair{base: base, patched: patched, added: csource.AddedLines(base.lines, patched.lines)})
		v.read[name] = patched
	}
	return v, nil
}

// judged reports whether the rules have anything to say about a file of that name.
func judged(name string) bool {
	if strings.HasPrefix(name, "Documentation/") || strings.HasPrefix(name, "scripts/") || strings.HasPrefix(name, "tools/") && name != objtoolCheck {
		return false
	}
	switch path.Ext(name) {
	case ".c", ".h", ".S":
		return true
	}
	return isMakefile(name)
}

func isMakefile(name string) bool {
	base := path.Base(name)
	return base == "Makefile" || base == "Kbuild" || strings.HasPrefix(base, "Makefile.")
}

// load parses a file; one that does not exist is an empty one.
func load(read Reader, name string) (*source, error) {
	data, err := read(name)
	if err != nil && !notThere(err) {
		return nil, err
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	s := &source{path: name, File: &csource.File{}}
	if len(data) > 0 {
		s.lines = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		if !isMakefile(name) {
			s.File = csource.Parse(data)
		}
	}
	return s, nil
}

// file returns a file of the patched tree, touched or not; nil when there is none.
func (v *view) file(name string) *source {
	if s, ok := v.read[name]; ok {
		return s
	}
	s, err := load(v.Patched, name)
	if err != nil {
		if v.err == nil {
			v.err = fmt.Errorf("reading %s of the patched tree: %w", name, err)
		}
		return nil
	}
	if len(s.lines) == 0 {
		s = nil
	}
	v.read[name] = s
	return s
}

// hit is what a rule found in one place.
type hit struct {
	rule    string
	src     *source
	fn      string
	line    int
	detail  string
	title   string
	note    string
	witness checks.Witness
	lines   []int // where it stands, besides line: one of them must have been added
}

// added runs the state rules over both sides and keeps what is new.
func (v *view) added() []hit {
	type key struct{ rule, file, fn, detail string }
	type moved struct{ rule, detail string }
	before := map[key]int{}
	var after []hit
	lines := map[*source]map[int]bool{}
	for _, p := range v.pairs {
		lines[p.patched] = p.added
		for _, rule := range stateRules {
			for _, h := range rule(v, p.base) {
				before[key{h.rule, p.patched.path, h.fn, h.detail}]++
			}
			after = append(after, rule(v, p.patched)...)
		}
	}
	var fresh []hit
	for _, h := range after {
		k := key{h.rule, h.src.path, h.fn, h.detail}
		if before[k] > 0 {
			before[k]--
			continue
		}
		fresh = append(fresh, h)
	}
	// What is left of the base has gone from its place: the same thing in another
	// place was moved there, or its function was renamed.
	gone := map[moved]int{}
	for k, n := range before {
		gone[moved{k.rule, k.detail}] += n
	}
	var hits []hit
	for _, h := range fresh {
		m := moved{h.rule, h.detail}
		if gone[m] > 0 {
			gone[m]--
			continue
		}
		isNew := lines[h.src][h.line]
		for _, l := range h.lines {
			isNew = isNew || lines[h.src][l]
		}
		if isNew {
			hits = append(hits, h)
		}
	}
	return hits
}

// findings turns hits into findings, one for each identity, ordered by rule and place.
func (v *view) findings(hits []hit) []checks.Finding {
	var out []checks.Finding
	at := map[string]int{}
	for _, h := range hits {
		f := checks.Finding{
			Rule: h.rule, File: h.src.path, Line: h.line, Function: h.fn, Detail: h.detail,
			Class: classOf(h.rule), Title: h.title, Note: h.note, Witness: h.witness,
			Evidence: []checks.Evidence{{Check: Name, Text: h.title}},
		}
		if len(f.Witness) == 0 {
			f.Witness = checks.Witness{h.src.step(h.line, "")}
		}
		id := f.Identity()
		if i, ok := at[id]; ok { // the same in several places of one function
			if len(out[i].Witness) < checks.MaxWitness {
				out[i].Witness = append(out[i].Witness, f.Witness...)
			}
			continue
		}
		at[id] = len(out)
		out = append(out, f)
	}
	for i := range out {
		out[i].Witness = out[i].Witness[:min(len(out[i].Witness), checks.MaxWitness)]
	}
	slices.SortStableFunc(out, func(a, b checks.Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule))
	})
	return out
}

// Name is what evidence of this check is signed with.
const Name = "change"
