package kbuild

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"

	"uabot/checks/kbuild/sandbox"
	"uabot/config"
)

// MissingError says that the compiler of a target is not installed.
type MissingError struct {
	Compiler string // "powerpc-linux-gnu-gcc"
	Package  string // Debian package that brings it; empty when unknown
}

func (e *MissingError) Error() string {
	if e.Package == "" {
		return e.Compiler + " is not installed"
	}
	return fmt.Sprintf("%s is not installed (apt install %s)", e.Compiler, e.Package)
}

// Unwrap makes it an [exec.ErrNotFound].
func (e *MissingError) Unwrap() error { return exec.ErrNotFound }

type compiler struct {
	path, banner string
	err          error
}

// Compiler returns the path of the compiler of t and its version in short, "gcc
// 12.2.0". The error is a *[MissingError] when it is not installed.
func (b *Builder) Compiler(ctx context.Context, t config.Target) (path, version string, err error) {
	c := b.compiler(ctx, t)
	return c.path, shortVersion(c.banner), c.err
}

func (b *Builder) compiler(ctx context.Context, t config.Target) compiler {
	name := t.CC()
	b.mu.Lock()
	defer b.mu.Unlock()
	if c, ok := b.compilers[name]; ok {
		return c
	}
	c := b.askCompiler(ctx, name, t)
	// What the context ended, or a machine too busy to answer, is no answer.
	if c.err == nil || errors.Is(c.err, exec.ErrNotFound) {
		if b.compilers == nil {
			b.compilers = map[string]compiler{}
		}
		b.compilers[name] = c
	}
	return c
}

func (b *Builder) askCompiler(ctx context.Context, name string, t config.Target) compiler {
	path, err := b.Runner.LookPath(name)
	if err != nil {
		return compiler{err: &MissingError{Compiler: name, Package: t.Package}}
	}
	res, err := b.run(ctx, "asking "+path+" for its version", sandbox.Command{Args: []string{path, "--version"}})
	if err != nil {
		return compiler{err: err}
	}
	banner, _, _ := strings.Cut(string(res.Stdout), "\n")
	return compiler{path: path, banner: banner}
}

var versionNumber = regexp.MustCompile(`\b[0-9]+\.[0-9]+(\.[0-9]+)?\b`)

// shortVersion makes "gcc 12.2.0" of "powerpc-linux-gnu-gcc (Debian 12.2.0-14) 12.2.0".
func shortVersion(banner string) string {
	if banner == "" {
		return ""
	}
	kind := "gcc"
	if strings.Contains(banner, "clang") {
		kind = "clang"
	}
	all := versionNumber.FindAllString(banner, -1)
	if len(all) == 0 {
		return kind
	}
	return kind + " " + all[len(all)-1]
}

// sourceArch is the directory below arch/ that t is built from, as the kernel's
// Makefile derives SRCARCH from ARCH.
func sourceArch(t config.Target) string {
	switch t.Arch {
	case "i386", "x86_64":
		return "x86"
	case "sparc32", "sparc64":
		return "sparc"
	case "parisc64":
		return "parisc"
	}
	return t.Arch
}
