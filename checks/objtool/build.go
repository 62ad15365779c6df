package objtool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"uabot/checks"
	"uabot/checks/kbuild/sandbox"
)

// objtool returns the path of the base's objtool and how it is called. Where b is
// the base itself, its output directory has one, made by the preparation of the
// build; else it is built from the base's source.
func (c *Check) objtool(ctx context.Context, b *checks.Built) (tool string, flags []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tool != "" {
		return c.tool, c.flags, nil
	}
	tool = filepath.Join(b.Output, "tools/objtool/objtool")
	if st, err := os.Stat(tool); b.Source != c.Source || err != nil || !st.Mode().IsRegular() {
		if tool, err = c.build(ctx); err != nil {
			return "", nil, err
		}
	}
	program := sandbox.Bind{Host: tool, At: "/objtool"}
	res, err := c.Runner.Run(ctx, sandbox.Command{
		Args: []string{c.Runner.Inside(program), "--help"}, Binds: []sandbox.Bind{program}, Merge: true, Limits: c.Limits,
	})
	if err != nil {
		return "", nil, fmt.Errorf("asking objtool for its options: %w", err)
	}
	if flags, err = chooseFlags(string(res.Stdout)); err != nil {
		return "", nil, fmt.Errorf("asking objtool for its options: %w", err)
	}
	c.tool, c.flags = tool, flags
	return tool, flags, nil
}

// build builds objtool from the base tree into the cache.
func (c *Check) build(ctx context.Context) (string, error) {
	name := "objtool-" + c.Commit
	tool := filepath.Join(c.Cache, name)
	if _, err := os.Stat(tool); err == nil {
		return tool, nil
	}
	fail := func(err error) (string, error) { return "", fmt.Errorf("building objtool from %s: %w", c.Source, err) }
	if err := os.MkdirAll(c.Cache, 0o755); err != nil {
		return fail(err)
	}
	tmp, err := os.MkdirTemp(c.Cache, name+".*.tmp")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(tmp)
	if err := os.Mkdir(filepath.Join(tmp, "tools"), 0o755); err != nil {
		return fail(err)
	}
	src, out := sandbox.Bind{Host: c.Source, At: "/src"}, sandbox.Bind{Host: tmp, At: "/out", Writable: true}
	// As the kernel's Makefile does it; ARCH picks the instruction decoder.
	res, err := c.Runner.Run(ctx, sandbox.Command{
		Args: []string{"make", "-s", "--no-print-directory", "-C", c.Runner.Inside(src) + "/tools", "O=" + c.Runner.Inside(out),
			"subdir=tools", "ARCH=x86", "objtool"},
		Dir:    c.Runner.Inside(out),
		Binds:  []sandbox.Bind{src, out},
		Merge:  true,
		Limits: c.Limits,
	})
	if err != nil {
		return fail(err)
	}
	made := filepath.Join(tmp, "tools/objtool/objtool")
	if _, err := os.Stat(made); res.Exit != 0 || err != nil {
		text := string(res.Stdout)
		if strings.Contains(text, "elf.h: No such file") {
			return fail(fmt.Errorf("libelf is missing (apt install libelf-dev)"))
		}
		return fail(fmt.Errorf("make: exit status %d: %s", res.Exit, lastLine(text)))
	}
	if err := os.Rename(made, tool); err != nil {
		return fail(err)
	}
	return tool, nil
}
