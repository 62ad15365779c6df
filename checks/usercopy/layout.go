package usercopy

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"uabot/checks"
	"uabot/checks/csource"
)

// layout is what is known of a structure.
type layout struct {
	tag string
	// members as declared, those of unnamed structures in place; those of an unnamed
	// union, of which one stands for all, are one: "a|b".
	members []string
	size    int64    // 0 when no compiled code told
	holes   []string // "4 bytes after x"
	where   []string // the targets whose DWARF told
	differ  bool     // the targets do not agree on the holes
}

// sentence says what a reader has to know of the holes.
func (l *layout) sentence() string {
	if len(l.where) == 0 {
		return fmt.Sprintf("The holes of struct %s are not known: no object with debug information has it.", l.tag)
	}
	on := strings.Join(l.where, " ")
	switch {
	case len(l.holes) == 0:
		return fmt.Sprintf("struct %s has %d bytes and no holes (debug information: %s).", l.tag, l.size, on)
	case l.differ:
		return fmt.Sprintf("struct %s has holes on some targets: %s (debug information: %s).", l.tag, strings.Join(l.holes, ", "), on)
	}
	return fmt.Sprintf("struct %s has %d bytes and holes: %s (debug information: %s).", l.tag, l.size, strings.Join(l.holes, ", "), on)
}

// layout finds a structure by its tag: its members in the source that s includes,
// its holes in the objects. Nil when neither has it.
func (v *view) layout(s *source, tag string) *layout {
	key := s.path + "\x00" + tag
	if l, ok := v.layouts[key]; ok {
		return l
	}
	l := &layout{tag: tag}
	v.fromObjects(l, s.path)
	if len(l.members) == 0 {
		if d := v.definition(s, tag); d != nil {
			l.members = memberNames(d.Body)
		}
	}
	if len(l.members) == 0 {
		l = nil
	}
	v.layouts[key] = l
	return l
}

// maxHeaders bounds the headers that are looked for, for one definition.
const maxHeaders = 2000

// definition searches s and what it includes for a structure.
func (v *view) definition(s *source, tag string) (found *csource.Struct) {
	v.walkIncludes(s, func(f *source) bool {
		for i := range f.Structs {
			if f.Structs[i].Name == tag && !f.Structs[i].Union {
				found = &f.Structs[i]
				return true
			}
		}
		return false
	})
	return found
}

// walkIncludes shows s and what it includes to visit, nearest first, until visit
// says that it is enough.
func (v *view) walkIncludes(s *source, visit func(*source) (enough bool)) {
	queue := []*source{s}
	seen := map[string]bool{s.path: true}
	for len(queue) > 0 && len(seen) < maxHeaders {
		f := queue[0]
		queue = queue[1:]
		if visit(f) {
			return
		}
		for _, inc := range f.Includes {
			for _, name := range headerPaths(f.path, inc) {
				if seen[name] {
					continue
				}
				seen[name] = true
				if h := v.file(name); h != nil {
					queue = append(queue, h)
				}
			}
		}
	}
}

// headerPaths lists where an #include may be found: besides the file, in include/,
// the user-space headers, and for asm/ the file's own architecture or the generic ones.
func headerPaths(from, inc string) []string {
	paths := []string{path.Join(path.Dir(from), inc), "include/" + inc, "include/uapi/" + inc}
	if rest, ok := strings.CutPrefix(inc, "asm/"); ok {
		if parts := strings.Split(from, "/"); parts[0] == "arch" && len(parts) > 1 {
			paths = append(paths, "arch/"+parts[1]+"/include/asm/"+rest, "arch/"+parts[1]+"/include/uapi/asm/"+rest)
		}
		paths = append(paths, "include/asm-generic/"+rest, "include/uapi/asm-generic/"+rest)
	}
	return paths
}

// knows reports whether the structure has a member of that name.
func (l *layout) knows(name string) bool {
	return slices.ContainsFunc(l.members, func(m string) bool { return slices.Contains(strings.Split(m, "|"), name) })
}

// has reports whether a member, or one that shares its place, is among names.
func has(names []string, member string) bool {
	return slices.ContainsFunc(strings.Split(member, "|"), func(m string) bool { return slices.Contains(names, m) })
}

// memberNames lists the members that a structure's body declares. The members of
// an unnamed structure count as its own, those of an unnamed union as one.
func memberNames(body []csource.Token) []string {
	var names []string
	for len(body) > 0 {
		end, brace := 0, -1
		for end < len(body) && !body[end].Is(";") {
			if body[end].Is("{") {
				close := csource.Match(body, end)
				if close < 0 {
					return names
				}
				brace, end = end, close
			}
			end++
		}
		decl := body[:end]
		body = body[min(end+1, len(body)):]
		if brace >= 0 {
			close := csource.Match(decl, brace)
			if rest := decl[close+1:]; !slices.ContainsFunc(rest, func(t csource.Token) bool { return t.Kind == csource.Ident && !strings.HasPrefix(t.Text, "__") }) {
				inner := memberNames(decl[brace+1 : close])
				if slices.ContainsFunc(decl[:brace], func(t csource.Token) bool { return t.Is("union") }) {
					inner = []string{strings.Join(inner, "|")}
				}
				names = append(names, inner...)
				continue
			}
			decl = decl[close+1:]
		}
		names = append(names, declarators(decl)...)
	}
	return names
}

// declarators reads the names of one declaration: the last word before each comma,
// array bound, bit width or the end.
func declarators(decl []csource.Token) []string {
	var names []string
	last, before := "", ""
	depth := 0
	done := false
	flush := func() {
		if last != "" {
			names = append(names, last)
		}
		last, done = "", false
	}
	for i, t := range decl {
		switch {
		case t.Is("[") && at(decl, i+1).Is("]"): // takes no room in the structure
			last, done = "", true
			depth++
		case t.Is("[") || t.Is("("):
			// int (*f)(…): the name stands inside the first parentheses
			// and an attribute with arguments is not the name
			if t.Is("(") && i > 0 && decl[i-1].Text == last && strings.HasPrefix(last, "__") {
				last, done = before, true
			} else if t.Is("(") && at(decl, i+1).Is("*") && at(decl, i+2).Kind == csource.Ident && last != "" && !done {
				last, done = at(decl, i+2).Text, true
			} else if t.Is("[") {
				done = true
			}
			depth++
		case t.Is("]") || t.Is(")"):
			depth--
		case depth > 0:
		case t.Is(","):
			flush()
		case t.Is(":"):
			done = true
		case t.Kind == csource.Ident && !done && !strings.HasPrefix(t.Text, "__attribute") && t.Text != "__packed" && t.Text != "__aligned":
			before, last = last, t.Text
		}
	}
	flush()
	return names
}

// fromObjects reads the layout from the debug information of every target, from the
// object of the file itself where there is one.
func (v *view) fromObjects(l *layout, file string) {
	seen := map[string]int{}
	for _, b := range v.Built {
		for _, u := range slices.SortedFunc(slices.Values(b.Units), func(x, y checks.Unit) int {
			return boolOrder(x.Source == file, y.Source == file)
		}) {
			if u.Err != "" || u.Object == "" {
				continue
			}
			members, holes, size, ok := dwarfLayout(filepath.Join(b.Output, u.Object), l.tag)
			if !ok {
				continue
			}
			if len(l.members) == 0 {
				l.members = members
			}
			l.size = max(l.size, size)
			l.where = append(l.where, b.Target.Name)
			for _, h := range holes {
				if seen[h]++; seen[h] == 1 {
					l.holes = append(l.holes, h)
				}
			}
			break
		}
	}
	for _, n := range seen {
		l.differ = l.differ || n != len(l.where)
	}
}

// boolOrder sorts true first.
func boolOrder(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

// dwarfLayout reads one structure out of an object. An object that cannot be read
// tells nothing; that is no error here, the object checks report it.
func dwarfLayout(object, tag string) (members, holes []string, size int64, ok bool) {
	f, err := elf.Open(object)
	if err != nil {
		return nil, nil, 0, false
	}
	defer f.Close()
	data, err := f.DWARF()
	if err != nil {
		return nil, nil, 0, false
	}
	r := data.Reader()
	for {
		e, err := r.Next()
		if err != nil || e == nil {
			return nil, nil, 0, false
		}
		switch e.Tag {
		case dwarf.TagCompileUnit:
			continue
		case dwarf.TagStructType:
		default:
			r.SkipChildren()
			continue
		}
		if name, _ := e.Val(dwarf.AttrName).(string); name != tag || !e.Children {
			r.SkipChildren()
			continue
		}
		t, err := data.Type(e.Offset)
		if err != nil {
			return nil, nil, 0, false
		}
		st, isStruct := t.(*dwarf.StructType)
		if !isStruct {
			return nil, nil, 0, false
		}
		members, holes = fieldsOf(st)
		return members, holes, st.ByteSize, true
	}
}

// fieldsOf lists the members of a structure and the bytes that none of them covers,
// nested structures included.
func fieldsOf(st *dwarf.StructType) (members, holes []string) {
	var end int64
	last := "the start"
	for _, f := range st.Field {
		if f.BitSize == 0 && f.ByteOffset > end {
			holes = append(holes, fmt.Sprintf("%d bytes after %s", f.ByteOffset-end, last))
		}
		size := max(f.Type.Size(), 0)
		if f.BitSize > 0 {
			size = (f.BitSize + f.DataBitOffset%8 + 7) / 8
		}
		if inner, ok := underlying(f.Type).(*dwarf.StructType); ok && inner.Kind == "struct" {
			names, gaps := fieldsOf(inner)
			if f.Name == "" {
				members = append(members, names...)
			}
			for _, g := range gaps {
				holes = append(holes, g+" in "+f.Name)
			}
		} else if ok && f.Name == "" {
			names, _ := fieldsOf(inner)
			members = append(members, strings.Join(names, "|"))
		}
		if f.Name != "" && (size > 0 || f.BitSize > 0) { // no flexible array
			members = append(members, f.Name)
			last = f.Name
		}
		end = max(end, f.ByteOffset+size)
	}
	if st.Kind == "struct" && st.ByteSize > end {
		holes = append(holes, fmt.Sprintf("%d bytes at the end", st.ByteSize-end))
	}
	return members, holes
}

func underlying(t dwarf.Type) dwarf.Type {
	for {
		switch u := t.(type) {
		case *dwarf.TypedefType:
			t = u.Type
		case *dwarf.QualType:
			t = u.Type
		default:
			return t
		}
	}
}
