package kbuild

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// cmdFile is what kbuild keeps beside an object OBJ in .OBJ.cmd: the command that
// made it and what that read (scripts/Kbuild.include, scripts/basic/fixdep.c).
type cmdFile struct {
	Command string   // a shell command, for the output directory
	Deps    []string // files as the compiler named them, the source first
}

// parseCmd reads a .cmd file. A line is a make assignment: in the command $ is
// written $$ and # is $(pound); dependencies are continued over lines, and
// $(wildcard …) stands for configuration symbols.
func parseCmd(data []byte) (cmdFile, error) {
	var f cmdFile
	text := strings.ReplaceAll(string(data), "\\\n", " ")
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " := ")
		if !ok {
			continue
		}
		switch {
		// Before 6.0 it was cmd_.
		case strings.HasPrefix(name, "savedcmd_"), strings.HasPrefix(name, "cmd_"):
			f.Command = strings.ReplaceAll(strings.ReplaceAll(value, "$(pound)", "#"), "$$", "$")
		case strings.HasPrefix(name, "source_"):
			f.Deps = append(f.Deps, strings.TrimSpace(value))
		case strings.HasPrefix(name, "deps_"):
			for rest := value; ; {
				before, after, found := strings.Cut(rest, "$(wildcard ")
				f.Deps = append(f.Deps, strings.Fields(before)...)
				if !found {
					break
				}
				_, rest, _ = strings.Cut(after, ")")
			}
		}
	}
	if f.Command == "" {
		return f, errors.New("no command in it")
	}
	return f, nil
}

func readCmd(out, object string) (cmdFile, error) {
	path := filepath.Join(out, beside(object, ".cmd"))
	data, err := os.ReadFile(path)
	if err != nil {
		return cmdFile{}, err
	}
	f, err := parseCmd(data)
	if err != nil {
		return f, fmt.Errorf("reading %s: %w", path, err)
	}
	return f, nil
}

// beside names a file that belongs to object: "a/.b.o.cmd" for "a/b.o".
func beside(object, suffix string) string {
	dir, name := filepath.Split(object)
	return dir + "." + name + suffix
}

// inTree returns the dependencies below src, relative to it.
func (f cmdFile) inTree(src string) []string {
	var list []string
	for _, dep := range f.Deps {
		if rel, ok := strings.CutPrefix(dep, src+"/"); ok {
			list = append(list, filepath.Clean(rel))
		}
	}
	return list
}
