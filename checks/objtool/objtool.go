// Package objtool is the check that the kernel's own objtool makes on x86-64: its
// rules for user-access windows, on each object by itself.
//
// The kernel's build of one object does not run it there: with IBT it is put off to
// the link of the module or of vmlinux. Here it runs on a copy of every object that
// was compiled, with the window rules on, and what it prints, a section offset and
// the branches back to the start of the function, is brought to source lines
// through .altinstructions and DWARF.
//
// The objtool is that of the base tree: a patch may not change its own judge.
//
// Traps: stac and clac are not in .text but in .altinstr_replacement, where no
// function is; objtool reports one problem per function and then stops with it, so
// that after a fix it may show the next one; with --verbose it runs objdump on each
// function that it warned about.
package objtool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"uabot/checks"
	"uabot/checks/kbuild/sandbox"
	"uabot/config"
)

// Rule is the rule of a finding that is no matter of windows.
const Rule = "objtool"

// LimitNote is told with every finding about windows.
const LimitNote = "objtool reports one problem per function: after a fix it may show the next one"

// Check runs objtool. Its fields are set before the first use; it is safe for
// concurrent use.
type Check struct {
	Runner *sandbox.Runner
	Cache  string // directory for built objtools
	Source string // the base tree's root
	Commit string // the base's commit
	Limits sandbox.Limits

	mu    sync.Mutex
	tool  string   // path of the objtool
	flags []string // what it is called with
}

// Name is what evidence is signed with.
func (*Check) Name() string { return "objtool" }

// Applies says that objtool knows windows on x86-64 only.
func (*Check) Applies(t config.Target) (bool, string) {
	if t.Arch != "x86" && t.Arch != "x86_64" {
		return false, "objtool checks user access on x86-64 only"
	}
	for _, line := range t.Config {
		if line == "64BIT=n" {
			return false, "objtool does not know 32-bit x86"
		}
	}
	return true, ""
}

// Run runs objtool on every compiled unit of b.
func (c *Check) Run(ctx context.Context, b *checks.Built) (*checks.Result, error) {
	tool, flags, err := c.objtool(ctx, b)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "uabot-objtool-")
	if err != nil {
		return nil, fmt.Errorf("running objtool: %w", err)
	}
	defer os.RemoveAll(dir)
	res := &checks.Result{}
	seen := map[string]bool{}
	for _, u := range b.Units {
		if u.Err != "" || u.Object == "" {
			continue
		}
		object := filepath.Join(b.Output, u.Object)
		text, trouble, err := c.inspect(ctx, tool, flags, object, dir)
		if err != nil {
			return nil, fmt.Errorf("running objtool on %s: %w", u.Object, err)
		}
		warnings := Parse(text)
		if trouble != "" && len(warnings) == 0 {
			res.Notes = append(res.Notes, fmt.Sprintf("objtool failed on %s: %s", u.Object, trouble))
			continue
		}
		if len(warnings) == 0 {
			continue
		}
		o, err := openObject(object)
		if err != nil {
			res.Notes = append(res.Notes, fmt.Sprintf("objtool's warnings on %s have no lines: %v", u.Object, err))
			o = &object0
		} else if o.lines == nil || len(o.lines.units) == 0 {
			res.Notes = append(res.Notes, fmt.Sprintf("objtool's warnings on %s have no lines: it was built without debug information", u.Object))
		}
		for _, w := range warnings {
			f := newPlacer(b, u, o).finding(w)
			if id := f.Identity(); !seen[id] {
				seen[id] = true
				res.Findings = append(res.Findings, f)
				if f.Rule != Rule && !slices.Contains(res.Notes, LimitNote) {
					res.Notes = append(res.Notes, LimitNote)
				}
			}
		}
		o.close()
	}
	return res, nil
}

// inspect runs objtool on a copy of object, since it writes to what it is given.
// trouble says how it failed, in a line.
func (c *Check) inspect(ctx context.Context, tool string, flags []string, object, dir string) (text, trouble string, err error) {
	data, err := os.ReadFile(object)
	if err != nil {
		return "", "", err
	}
	copied := filepath.Join(dir, "object.o")
	if err := os.WriteFile(copied, data, 0o644); err != nil {
		return "", "", err
	}
	work := sandbox.Bind{Host: dir, At: "/work", Writable: true}
	program := sandbox.Bind{Host: tool, At: "/objtool"}
	res, err := c.Runner.Run(ctx, sandbox.Command{
		Args:   append(append([]string{c.Runner.Inside(program)}, flags...), "object.o"),
		Dir:    c.Runner.Inside(work),
		Binds:  []sandbox.Bind{work, program},
		Merge:  true,
		Limits: c.Limits,
	})
	if err != nil {
		return "", "", err
	}
	if res.Exit != 0 {
		trouble = lastLine(string(res.Stdout))
		if trouble == "" {
			trouble = fmt.Sprintf("exit status %d", res.Exit)
		}
	}
	return string(res.Stdout), trouble, nil
}

func lastLine(text string) string {
	text = strings.TrimRight(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// wanted are the options that it is called with, as far as its version has them:
// the rules for windows, and what makes it follow the code as the kernel's build
// lets it (scripts/Makefile.lib). Rules that depend on the configuration
// (retpolines, IBT) are left to that build.
var wanted = []string{"--hacks=jump_label", "--hacks=noinstr", "--orc", "--uaccess", "--backtrace", "--sec-address", "--dry-run"}

// oldWanted are the options of objtools before 5.19, which have a subcommand.
var oldWanted = []string{"check", "--uaccess", "--backtrace", "--no-unreachable"}

var optionName = regexp.MustCompile(`--[a-z][a-z-]*`)

// chooseFlags picks the options out of what --help prints.
func chooseFlags(help string) ([]string, error) {
	has := map[string]bool{}
	for _, name := range optionName.FindAllString(help, -1) {
		has[name] = true
	}
	if !has["--uaccess"] {
		if strings.Contains(help, "COMMAND") {
			return oldWanted, nil
		}
		return nil, fmt.Errorf("it has no --uaccess:\n%s", help)
	}
	var flags []string
	for _, flag := range wanted {
		name, _, _ := strings.Cut(flag, "=")
		if has[name] {
			flags = append(flags, flag)
		}
	}
	return flags, nil
}
