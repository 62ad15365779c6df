package usercopy

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"uabot/internal/testenv"
)

// A patch may add links and odd names; nothing outside of the tree is read for it.
func TestDir(t *testing.T) {
	root := t.TempDir()
	tree := filepath.Join(root, "tree")
	for name, text := range map[string]string{"secret": "s", "tree/fs/a.c": "a"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"up.c": "../secret", "abs.c": filepath.Join(root, "secret"), "in.c": "fs/a.c", "dir.c": "fs", "loop.c": "loop.c"} {
		if err := os.Symlink(to, filepath.Join(tree, name)); err != nil {
			t.Fatal(err)
		}
	}
	read := Dir(tree)
	for _, name := range []string{"fs/a.c", "in.c"} {
		if got, err := read(name); err != nil || string(got) != "a" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"up.c", "abs.c", "dir.c", "loop.c", "../secret", "none.c", "fs/none/x.c", filepath.Join(root, "secret")} {
		if got, err := read(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v; want fs.ErrNotExist", name, got, err)
		}
	}
}

func TestGrep(t *testing.T) {
	testenv.Tool(t, "git")
	dir := t.TempDir()
	for name, text := range map[string]string{"a.c": "int x = put_ev(1);", "b c.h": "put_ev", "c.c": "put_event", "d.txt": "put_ev"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Grep(dir)(context.Background(), "put_ev")
	slices.Sort(got)
	if err != nil || !slices.Equal(got, []string{"a.c", "b c.h"}) {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := Grep(dir)(context.Background(), "-none"); err != nil || len(got) > 0 {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := Grep(filepath.Join(dir, "missing"))(context.Background(), "x"); err == nil {
		t.Error("no error for a missing directory")
	}
}
