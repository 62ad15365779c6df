package kbuild

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// git runs git in a tree, with nothing of the user's configuration that could
// start other programs or change its output.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir, "-c", "core.fsmonitor=false", "--no-pager", "--literal-pathspecs"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return out, fmt.Errorf("git %s in %s: %w: %s", args[0], dir, err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

// change is a file that differs between two commits.
type change struct {
	path  string
	blob  string // id of the new content; zeros when it is removed
	added bool
}

// changedFiles lists the files that differ between two commits, renamed ones
// under both names.
func changedFiles(ctx context.Context, dir, from, to string) ([]change, error) {
	out, err := git(ctx, dir, "diff-tree", "-r", "--raw", "--no-abbrev", "--no-renames", "-z", from, to, "--")
	if err != nil {
		return nil, err
	}
	var list []change
	// ":100644 100644 OLD NEW M", then the path
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(fields[i])
		if len(f) != 5 {
			return nil, fmt.Errorf("git diff-tree in %s: it printed %q", dir, fields[i])
		}
		list = append(list, change{path: fields[i+1], blob: f[3], added: f[4] == "A"})
	}
	return list, nil
}

// touchedFiles lists the files that any commit of from..to touches: also what one
// patch changes and a later one changes back.
func touchedFiles(ctx context.Context, dir, from, to string) ([]string, error) {
	out, err := git(ctx, dir, "log", "--format=", "--name-only", "--no-renames", "--no-ext-diff", "-z", from+".."+to, "--")
	if err != nil {
		return nil, err
	}
	list := splitNUL(out)
	slices.Sort(list)
	return slices.Compact(list), nil
}

func splitNUL(data []byte) []string {
	var list []string
	for _, name := range strings.Split(string(data), "\x00") {
		if name = strings.Trim(name, "\n"); name != "" {
			list = append(list, name)
		}
	}
	return list
}
