package kbuild

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"uabot/checks/kbuild/sandbox"
)

// objectsScript reads the Makefiles of directories, as kbuild does, and prints the
// objects and directories that the configuration turns on and off in each.
//
//go:embed objects.sh
var objectsScript string

// dirObjects are the objects and directories ("sub/") that a Makefile lists.
type dirObjects struct {
	on, off []string // relative to the tree
}

// listing is what the Makefiles say about a source.
type listing struct {
	listed bool   // a Makefile compiles it, if its directory is compiled
	off    string // why the target's configuration does not compile it
}

// configured finds out which sources the target's configuration compiles: make
// compiles any file it is asked for, configured or not, and what comes of that is
// no evidence. A source that no Makefile names (there are directories with rules of
// their own) is neither listed nor off.
func (p *Base) configured(ctx context.Context, tree Tree, sources []string) (map[string]listing, error) {
	if len(sources) == 0 {
		return nil, nil
	}
	var dirs []string
	for _, source := range sources {
		for dir := path.Dir(source); ; dir = path.Dir(dir) {
			dirs = append(dirs, dir)
			if dir == "." {
				break
			}
		}
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	listed, err := p.listObjects(ctx, tree, dirs)
	if err != nil {
		return nil, err
	}
	found := map[string]listing{}
	for _, source := range sources {
		found[source] = p.lookUp(tree, listed, source)
	}
	return found, nil
}

// lookUp finds a source in what the Makefiles above it list.
func (p *Base) lookUp(tree Tree, listed map[string]dirObjects, source string) (found listing) {
	object := ObjectOf(source)
	off := ""
	for dir := path.Dir(source); ; dir = path.Dir(dir) {
		have := listed[dir]
		if slices.Contains(have.on, object) {
			off, found.listed = "", true
			break
		}
		if slices.Contains(have.off, object) {
			off = object
		}
		if dir == "." {
			break
		}
	}
	// A directory that is off takes everything below with it, unless a second
	// Makefile turns it on (drivers/ does for some).
	for dir := path.Dir(source); off == "" && dir != "."; dir = path.Dir(dir) {
		on := false
		for up := path.Dir(dir); ; up = path.Dir(up) {
			on = on || slices.Contains(listed[up].on, dir+"/")
			if slices.Contains(listed[up].off, dir+"/") {
				off = dir + "/"
			}
			if up == "." {
				break
			}
		}
		if on {
			off = ""
		}
	}
	if off == "" {
		return found
	}
	found.off = off + " is off in this target's configuration"
	if symbol := symbolFor(tree.Dir, off); symbol != "" {
		found.off = "needs " + symbol + ", which is off in this target's configuration"
	}
	return found
}

// symbolFor finds the configuration symbol that a Makefile ties an object or a
// directory to.
func symbolFor(tree, name string) string {
	dir, base := path.Dir(strings.TrimSuffix(name, "/")), path.Base(name)
	if strings.HasSuffix(name, "/") {
		base += "/"
	}
	line := regexp.MustCompile(`^[\w.-]+-\$\((CONFIG_\w+)\)\s*[:+]?=.*(?:[\s=]|^)` + regexp.QuoteMeta(base) + `(?:\s|$)`)
	for _, file := range []string{"Kbuild", "Makefile"} {
		data, err := os.ReadFile(filepath.Join(tree, dir, file))
		if err != nil {
			continue
		}
		text := strings.ReplaceAll(string(data), "\\\n", " ")
		for l := range strings.Lines(text) {
			if m := line.FindStringSubmatch(strings.TrimSpace(l)); m != nil {
				return m[1]
			}
		}
	}
	return ""
}

// listObjects runs objectsScript in the base's output directory, for the Makefiles
// of tree. A directory whose Makefile cannot be read that way is left out.
func (p *Base) listObjects(ctx context.Context, tree Tree, dirs []string) (map[string]dirObjects, error) {
	k, err := p.b.tools(ctx)
	if err != nil {
		return nil, err
	}
	m := p.mount(tree.Dir, p.out(), k)
	m.binds[1].Writable = false
	res, err := p.b.run(ctx, "reading Makefiles", sandbox.Command{
		Args:  append([]string{"sh", "-c", objectsScript, "objects"}, dirs...),
		Dir:   m.out,
		Binds: m.binds,
		Env:   append([]string{"srctree=" + m.src, "SRCARCH=" + sourceArch(p.target)}, p.target.MakeArgs()...),
	})
	if err != nil {
		return nil, err
	}
	listed := map[string]dirObjects{}
	for line := range strings.Lines(string(res.Stdout)) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "on" && f[0] != "off" {
			continue
		}
		have := listed[f[1]]
		for _, name := range f[2:] {
			clean := path.Join(f[1], name)
			if strings.HasSuffix(name, "/") {
				clean += "/"
			}
			if f[0] == "on" {
				have.on = append(have.on, clean)
			} else {
				have.off = append(have.off, clean)
			}
		}
		listed[f[1]] = have
	}
	if len(listed) == 0 {
		return nil, fmt.Errorf("reading Makefiles: no objects found in any of %s", strings.Join(dirs, ", "))
	}
	return listed, nil
}
