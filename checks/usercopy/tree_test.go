package usercopy

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"uabot/internal/testenv"
)

// As if one patch had added the whole tree: what each rule says of code that is
// long reviewed shows what kind of noise it makes.
func TestWholeTree(t *testing.T) {
	tree := testenv.Kernel(t)
	dirs := []string{"."}
	if d := os.Getenv("UABOT_TREE_DIRS"); d != "" {
		dirs = strings.Fields(d)
	}
	var files []*gitdiff.File
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(tree, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name, _ := filepath.Rel(tree, path)
			if d.IsDir() && (name == "Documentation" || name == "tools" || name == "scripts" || name == ".git") {
				return fs.SkipDir
			}
			if d.IsDir() || !judged(name) {
				return nil
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if strings.Contains(string(data), "user") || strings.Contains(string(data), "access_ok") || isMakefile(name) {
				files = append(files, &gitdiff.File{NewName: name})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	empty := func(string) ([]byte, error) { return nil, fs.ErrNotExist }
	found, err := Check(context.Background(), Change{Base: empty, Patched: Dir(tree), Files: files, Search: Grep(tree)})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	out := os.Getenv("UABOT_TREE_OUT")
	var b strings.Builder
	for _, f := range found {
		count[f.Rule]++
		fmt.Fprintf(&b, "%s\t%s:%d\t%s\t%s\t%s\n", f.Rule, f.File, f.Line, f.Function, f.Detail, strings.TrimSpace(f.Witness[0].Text))
	}
	if out != "" {
		if err := os.WriteFile(out, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d files: %v", len(files), count)
}
