package kbuild

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// remake compiles units of a state with make, in a copy of the base's prepared
// output directory: what cannot be replayed, because the patches change what the
// base's commands and generated files are made from, or a unit is new.
func (p *Base) remake(ctx context.Context, k *kit, output string, state Tree, changed []change, units []string) (map[string]record, error) {
	p.b.progress(p.target, "preparing again for %s: the commands of the base do not do", count(len(units), "object"))
	// Make works in a directory of its own: in output the generated files are the
	// base's. What it made is moved there afterwards.
	work := output + ".make"
	if err := os.RemoveAll(work); err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	if err := copyTree(ctx, p.out(), work); err != nil {
		return nil, err
	}
	m := p.mount(state.Dir, work, k)
	// Older than every changed file and, where the tree was checked out before
	// the patches were applied to it, not older than the others: then make does
	// again what the changes ask for and no more.
	if err := refresh(work, oldest(state.Dir, changed).Add(-time.Millisecond)); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(changed, func(c change) bool { return strings.HasPrefix(filepath.Base(c.path), "Kconfig") }) {
		if _, err := p.configure(ctx, m, k, work); err != nil {
			return nil, err
		}
	}
	for _, source := range units {
		// What stands for the base must not pass for the state.
		object := ObjectOf(source)
		for _, name := range append(filesOf(work, object), beside(object, ".cmd")) {
			if err := os.Remove(filepath.Join(work, name)); err != nil && !os.IsNotExist(err) {
				return nil, err
			}
		}
	}
	made, err := p.makeUnits(ctx, m, k, work, units)
	if err != nil {
		return nil, err
	}
	for _, source := range units {
		object := ObjectOf(source)
		if err := os.MkdirAll(filepath.Join(output, filepath.Dir(object)), 0o755); err != nil {
			return nil, err
		}
		for _, name := range filesOf(work, object) {
			if err := os.Rename(filepath.Join(work, name), filepath.Join(output, name)); err != nil {
				return nil, err
			}
		}
	}
	return made, nil
}

// filesOf lists an object and what the wrapper made for it, as far as they exist.
func filesOf(output, object string) (names []string) {
	if exists(filepath.Join(output, object)) {
		names = append(names, object)
	}
	// Glob patterns have no use for the names of a tree: compare prefixes.
	prefix := filepath.Base(beside(object, ".uabot"))
	entries, _ := os.ReadDir(filepath.Join(output, filepath.Dir(object)))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			names = append(names, filepath.Join(filepath.Dir(object), e.Name()))
		}
	}
	return names
}

// removeLinks removes from a directory all that is neither a directory nor a plain
// file: a symbolic link made inside of a sandbox points to our files outside of it.
func removeLinks(dir string) error {
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Type().IsRegular() {
			return err
		}
		return os.Remove(file)
	})
	if err != nil {
		return fmt.Errorf("clearing %s of links: %w", dir, err)
	}
	return nil
}

// copyTree copies a directory, sharing blocks where the file system can.
func copyTree(ctx context.Context, from, to string) error {
	out, err := exec.CommandContext(ctx, "cp", "-a", "--reflink=auto", "--", from, to).CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("copying %s: %w: %s", from, err, tail(out, 3))
	}
	return nil
}

// oldest returns the earliest time of the changed files.
func oldest(dir string, changed []change) time.Time {
	first := time.Now()
	for _, c := range changed {
		st, err := os.Lstat(filepath.Join(dir, c.path))
		if err == nil && st.Mode().Type() != fs.ModeDir && st.ModTime().Before(first) {
			first = st.ModTime()
		}
	}
	return first
}
