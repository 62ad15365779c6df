package layout

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rooms says what the packages of each top directory may import besides their own
// parents and children.
var rooms = map[string][]string{
	"config":  {},
	"mail":    {"config"},
	"checks":  {"config"},
	"review":  {"mail", "checks", "config"},
	"storage": {"review", "mail", "checks", "config"},
	"bot":     {"storage", "review", "mail", "checks", "config"},
}

// doors are the imports between siblings that are meant: each in one direction only.
var doors = map[string][]string{
	"checks/objtool":  {"checks/window", "checks/kbuild/sandbox"},
	"checks/usercopy": {"checks/csource"},
	"checks/coverage": {"checks/csource"},
}

func TestImports(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != root) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		files++
		rel, _ := filepath.Rel(root, filepath.Dir(file))
		from := filepath.ToSlash(rel)
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if to, ours := strings.CutPrefix(name, "uabot/"); ours && !allowed(from, to) {
				t.Errorf("%s imports %s: %s may not", filepath.Join(rel, filepath.Base(file)), to, from)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Errorf("only %d files were read: this test looks in the wrong place", files)
	}
}

func allowed(from, to string) bool {
	// What is internal serves tests only, and may use whatever it tests.
	if within(from, "internal") || within(to, "internal") {
		return within(from, "internal")
	}
	if within(from, to) || within(to, from) {
		return true
	}
	room, _, _ := strings.Cut(from, "/")
	target, _, _ := strings.Cut(to, "/")
	if slices.Contains(rooms[room], target) {
		return true
	}
	for dir := from; dir != "."; dir = path.Dir(dir) {
		for _, door := range doors[dir] {
			if within(to, door) || to == door {
				return true
			}
		}
	}
	return false
}

// within reports whether dir lies in parent, at any depth.
func within(dir, parent string) bool { return strings.HasPrefix(dir, parent+"/") }

func TestAllowed(t *testing.T) {
	for _, test := range []struct {
		from, to string
		want     bool
	}{
		{"mail", "checks", false}, {"checks", "mail", false}, {"config", "mail", false},
		{"mail/lore", "config", true}, {"mail/lore", "mail", true}, {"mail/imap", "mail/lore", false},
		{"review", "checks/kbuild", true}, {"review/report", "review", true}, {"review", "review/tree", true},
		{"checks/objtool", "checks/window", true}, {"checks/window", "checks/objtool", false},
		{"storage", "bot", false}, {"bot/service", "storage", true},
		{"review/report", "review/tree", false}, {"bot", "internal/testenv", false},
	} {
		if got := allowed(test.from, test.to); got != test.want {
			t.Errorf("%s → %s: %v, want %v", test.from, test.to, got, test.want)
		}
	}
}
