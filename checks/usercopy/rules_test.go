package usercopy

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"golang.org/x/tools/txtar"

	"uabot/checks"
)

// tree is a state of a tree in memory.
type tree map[string]string

func (t tree) read(path string) ([]byte, error) {
	if text, ok := t[path]; ok {
		return []byte(text), nil
	}
	return nil, fmt.Errorf("open %s: %w", path, fs.ErrNotExist)
}

// search is a Change.Search over t.
func (t tree) search(_ context.Context, word string) ([]string, error) {
	var files []string
	for name, text := range t {
		if strings.Contains(text, word) {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return files, nil
}

// change makes the Change between two trees; a file that is in one alone or differs
// is touched.
func change(base, patched tree) Change {
	c := Change{Base: base.read, Patched: patched.read, Search: patched.search}
	for _, name := range slices.Sorted(maps.Keys(patched)) {
		text := patched[name]
		if was, ok := base[name]; !ok || was != text {
			c.Files = append(c.Files, &gitdiff.File{OldName: name, NewName: name})
		}
	}
	return c
}

// Every file of testdata/rules is one rule: cases with a tree before (base/), a tree
// after (patched/, over base/) and the findings that are wanted, all rules running.
// A case called clean… wants none.
func TestRules(t *testing.T) {
	names, err := filepath.Glob("testdata/rules/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rule := strings.TrimSuffix(filepath.Base(name), ".txtar")
		tested[rule] = true
		cases := map[string][3]tree{}
		wants := map[string]string{}
		for _, f := range archive.Files {
			parts := strings.SplitN(f.Name, "/", 3)
			c := cases[parts[0]]
			if c[0] == nil {
				c = [3]tree{{}, {}}
				cases[parts[0]] = c
			}
			switch {
			case len(parts) == 2 && parts[1] == "want":
				wants[parts[0]] = string(f.Data)
			case len(parts) == 3 && parts[1] == "base":
				c[0][parts[2]] = string(f.Data)
			case len(parts) == 3 && parts[1] == "patched":
				c[1][parts[2]] = string(f.Data)
			default:
				t.Fatalf("%s: %s is neither base/, patched/ nor want", name, f.Name)
			}
		}
		fired, clean := false, false
		for _, id := range slices.Sorted(maps.Keys(cases)) {
			t.Run(rule+"/"+id, func(t *testing.T) {
				base, patched := cases[id][0], tree{}
				for n, text := range base {
					patched[n] = text
				}
				for n, text := range cases[id][1] {
					patched[n] = text
				}
				found, err := Check(context.Background(), change(base, patched))
				if err != nil {
					t.Fatal(err)
				}
				got := describe(found)
				if got != wants[id] {
					t.Errorf("got:\n%swant:\n%s", got, wants[id])
				}
				fired = fired || slices.ContainsFunc(found, func(f checks.Finding) bool { return f.Rule == rule })
				clean = clean || len(found) == 0
				// What is reported must not be when it was there before.
				again, err := Check(context.Background(), change(patched, patched))
				if err != nil || len(again) > 0 {
					t.Errorf("an empty change gives %v, %v", describe(again), err)
				}
			})
		}
		if !fired || !clean {
			t.Errorf("%s: fired %v, silent %v; both forms are needed", name, fired, clean)
		}
	}
	for _, r := range Rules {
		if !tested[r.Name] {
			t.Errorf("rule %s has no cases", r.Name)
		}
		if r.Means == "" || r.Example == "" || r.Source == "" || r.Limits == "" || r.Class == checks.Object || r.Class == checks.Build {
			t.Errorf("rule %s is not told in full: %+v", r.Name, r)
		}
	}
}

// describe writes findings one a line.
func describe(found []checks.Finding) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%s %s:%d %s | %s\n", f.Rule, f.File, f.Line, f.Function, f.Title)
	}
	return b.String()
}

// A finding keeps its identity from patch to patch of a series, whatever later
// patches add to it: it is neither healed nor new because it grew.
func TestIdentityAcrossPatches(t *testing.T) {
	const opener = "#define __user_read_access_begin(a, b) stac()\n"
	copies := func(in, out string) string {
		return "int get(void *k, void __user *u, long n)\n{\n\treturn " + in + "(k, u, n);\n}\n\nint put(void __user *u, void *k, long n)\n{\n\treturn " + out + "(u, k, n);\n}\n"
	}
	base := tree{"lib/x.c": copies("copy_from_user", "copy_to_user"), "arch/x86/include/asm/uaccess.h": "", "arch/arm64/include/asm/uaccess.h": ""}
	first := tree{"lib/x.c": copies("_copy_from_user", "copy_to_user"), "arch/x86/include/asm/uaccess.h": opener, "arch/arm64/include/asm/uaccess.h": ""}
	second := tree{"lib/x.c": copies("_copy_from_user", "_copy_to_user"), "arch/x86/include/asm/uaccess.h": opener, "arch/arm64/include/asm/uaccess.h": opener}
	ids := func(patched tree, files ...[]*gitdiff.File) (list []string) {
		found, err := Check(context.Background(), Change{Base: base.read, Patched: patched.read, Files: slices.Concat(files...)})
		if err != nil {
			t.Fatal(err)
		}
		for i := range found {
			list = append(list, found[i].Identity())
		}
		slices.Sort(list)
		return list
	}
	one, two := change(base, first).Files, change(first, second).Files
	a, b := ids(first, one), ids(second, one, two)
	if len(a) != 2 || !slices.Equal(a, b) {
		t.Errorf("after one patch %v, after two %v", a, b)
	}
}
