package kbuild

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
)

// includeGraph follows #include lines in a tree for one architecture. It does not
// evaluate #if: it says what may be included.
type includeGraph struct {
	root  string
	arch  string
	known map[string][]string        // file -> the files of the tree that it includes
	reach map[string]map[string]bool // header -> file -> whether it reaches the header
}

var includeLine = regexp.MustCompile(`(?m)^\s*#\s*include\s*(?:"([^"\n]+)"|<([^>\n]+)>)`)

// includes reports whether a source includes a header, directly or through others.
func (g *includeGraph) includes(source, header string) bool {
	if g.reach == nil {
		g.reach = map[string]map[string]bool{}
	}
	seen, ok := g.reach[header]
	if !ok {
		seen = map[string]bool{}
		g.reach[header] = seen
	}
	for _, start := range append([]string{source}, forced...) {
		visited := map[string]bool{}
		if g.walk(start, header, seen, visited) {
			return true
		}
		for file := range visited {
			seen[file] = false // all of what it includes was looked at
		}
	}
	return false
}

// forced are the headers that kbuild includes in every unit (c_flags, -include).
var forced = []string{"include/linux/compiler-version.h", "include/linux/kconfig.h", "include/linux/compiler_types.h"}

// walk searches for header below file. verdicts keeps what is known for good.
func (g *includeGraph) walk(file, header string, verdicts, visited map[string]bool) bool {
	if file == header {
		return true
	}
	if verdict, ok := verdicts[file]; ok {
		return verdict
	}
	if visited[file] {
		return false
	}
	visited[file] = true
	for _, next := range g.direct(file) {
		if g.walk(next, header, verdicts, visited) {
			verdicts[file] = true
			return true
		}
	}
	return false
}

// direct lists the files of the tree that file may include, at every place where
// they may be: beside it and in the directories that all units search.
func (g *includeGraph) direct(file string) []string {
	if list, ok := g.known[file]; ok {
		return list
	}
	var list []string
	data, err := os.ReadFile(filepath.Join(g.root, file))
	if err == nil {
		for _, m := range includeLine.FindAllSubmatch(data, -1) {
			name := string(m[1]) + string(m[2])
			dirs := []string{"include", "arch/" + g.arch + "/include", "include/uapi", "arch/" + g.arch + "/include/uapi"}
			if len(m[1]) > 0 {
				dirs = append([]string{path.Dir(file)}, dirs...)
			} else {
				dirs = append(dirs, path.Dir(file)) // ccflags-y += -I$(src)
			}
			at := ""
			for _, dir := range dirs {
				if try := path.Join(dir, name); filepath.IsLocal(try) && isFile(filepath.Join(g.root, try)) {
					at = try
					break
				}
			}
			// <asm/x.h> is generated to include <asm-generic/x.h> where an
			// architecture has none of its own.
			if dir, base := path.Split(name); at == "" && dir == "asm/" {
				if try := "include/asm-generic/" + base; isFile(filepath.Join(g.root, try)) {
					at = try
				}
			}
			if at != "" {
				list = append(list, at)
			}
		}
	}
	g.known[file] = list
	return list
}

func isFile(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode().IsRegular()
}
