package kbuild

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"uabot/checks/kbuild/sandbox"
)

// generated is a file that make made while preparing, and the files of the tree
// that went into it.
type generated struct {
	Target string   // relative to the output directory
	Deps   []string // relative to the tree
}

// preparedInputs tells what went into what is in a freshly prepared output
// directory, as its .cmd files tell. src is the tree as the commands name it.
func preparedInputs(out, src string) ([]generated, error) {
	var list []generated
	err := filepath.WalkDir(out, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && file == filepath.Join(out, "usr") {
			return filepath.SkipDir // copies of headers for user space, which no unit reads
		}
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), ".") || filepath.Ext(d.Name()) != ".cmd" {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		f, err := parseCmd(data)
		if err != nil {
			return nil // of another form, as in tools/: all of tools/ counts as an input
		}
		deps := f.inTree(src)
		for _, word := range strings.Fields(f.Command) { // sources without a dependency list
			if rel, ok := strings.CutPrefix(word, src+"/"); ok {
				deps = append(deps, path.Clean(rel))
			}
		}
		rel, err := filepath.Rel(out, file)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(rel), "."), ".cmd")
		if len(deps) > 0 {
			slices.Sort(deps)
			list = append(list, generated{path.Join(filepath.Dir(rel), name), slices.Compact(deps)})
		}
		return nil
	})
	return list, err
}

// replayable reports whether the build of a unit is the command that built it at
// the base: nothing is changed that decides about commands or configuration, and
// nothing that goes into what make prepares, unless that comes out the same.
func (p *Base) replayable(ctx context.Context, m mounts, k *kit, output string, changed []change) (bool, error) {
	if slices.ContainsFunc(changed, func(c change) bool { return decides(c.path) }) {
		return false, nil
	}
	again := map[string]bool{}
	for _, c := range changed {
		for _, target := range p.inputs[c.path] {
			// The constants of C that assembler needs are made in two steps: C to
			// assembler, and that to a header. Others are made of more.
			if !strings.HasSuffix(target, ".s") {
				return false, nil
			}
			again[target] = true
		}
	}
	for _, target := range slices.Sorted(maps.Keys(again)) {
		same, err := p.sameOffsets(ctx, m, k, output, target)
		if err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// sameOffsets makes a file like asm-offsets.s of the state and reports whether the
// header that is made from it is the base's: scripts/Makefile.lib (sed-offsets)
// takes the lines with "->" out of it and nothing else.
func (p *Base) sameOffsets(ctx context.Context, m mounts, k *kit, output, target string) (bool, error) {
	cmd, err := readCmd(p.out(), target)
	if err != nil {
		return false, err
	}
	work := output + ".offsets"
	defer os.RemoveAll(work)
	if err := os.MkdirAll(filepath.Join(work, filepath.Dir(target)), 0o755); err != nil {
		return false, err
	}
	to := p.mount("", work, k)
	to.binds[0], to.src = m.binds[0], m.src
	var shared []sandbox.Bind
	for _, name := range p.headerDirs() {
		b, err := p.shareFile(to, work, name, true)
		if err != nil {
			return false, err
		}
		shared = append(shared, b...)
	}
	if !p.b.Runner.Sandboxed() {
		cmd.Command = moved(cmd.Command, p.mount(p.tree.Dir, p.out(), k), to)
	}
	res, err := p.b.Runner.Run(ctx, sandbox.Command{
		Args: []string{"sh", "-ec", cmd.Command}, Dir: to.out, Binds: append(to.binds, shared...), Env: buildEnv, Merge: true, Limits: p.b.Limits,
	})
	if err != nil {
		return false, fmt.Errorf("making %s: %w", target, err)
	}
	if res.Exit != 0 {
		return false, nil // make will say what is wrong
	}
	before, err := offsetLines(filepath.Join(p.out(), target))
	if err != nil {
		return false, err
	}
	after, err := offsetLines(filepath.Join(work, target))
	return err == nil && bytes.Equal(before, after), err
}

func offsetLines(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []byte
	for line := range bytes.Lines(data) {
		if bytes.Contains(line, []byte(`.ascii`)) && bytes.Contains(line, []byte(`"->`)) {
			list = append(list, line...)
		}
	}
	return list, nil
}

// decides reports whether a file of the tree can change more of a build than the
// units that include it: anything but C, headers, assembler and documentation, and
// everything in scripts/ and tools/.
func decides(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	switch first {
	case "Documentation", "MAINTAINERS", "CREDITS", "README", "COPYING", "LICENSES":
		return false
	case "tools":
		// objtool and its headers are built by prepare; the tests never are.
		return !strings.HasPrefix(name, "tools/testing/")
	case "scripts", "usr":
		return true
	}
	switch path.Ext(name) {
	case ".c", ".h", ".S", ".rst", ".txt", ".yaml":
		return strings.HasSuffix(name, ".lds.S")
	}
	return true
}
