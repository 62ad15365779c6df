package config

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Target is one architecture, configuration and compiler that series are built for.
type Target struct {
	Name    string   `toml:"name"`
	Arch    string   `toml:"arch"`    // make's ARCH=
	Cross   string   `toml:"cross"`   // make's CROSS_COMPILE=; empty for the native compiler
	LLVM    string   `toml:"llvm"`    // make's LLVM=, e.g. "-19" or "1"; empty for gcc
	Config  []string `toml:"config"`  // lines of the config fragment, without CONFIG_: "PPC_8xx=y", "SMP=n"
	Package string   `toml:"package"` // Debian package that brings the compiler
	Why     string   `toml:"why"`     // what this target adds to the others

	// Common is what every target fixes besides its own Config: instrumentation
	// off, DWARF on. It is the same for all targets of a Config.
	Common []string `toml:"-"`
}

// Fragment is the target's configuration as a kbuild fragment (KCONFIG_ALLCONFIG).
func (t Target) Fragment() string {
	var b strings.Builder
	for _, line := range slices.Concat(t.Common, t.Config) {
		key, value, _ := strings.Cut(line, "=")
		if value == "n" {
			fmt.Fprintf(&b, "# CONFIG_%s is not set\n", key)
		} else {
			fmt.Fprintf(&b, "CONFIG_%s=%s\n", key, value)
		}
	}
	return b.String()
}

// MakeArgs are the variables that pick the target on make's command line.
func (t Target) MakeArgs() []string {
	args := []string{"ARCH=" + t.Arch}
	if t.Cross != "" {
		args = append(args, "CROSS_COMPILE="+t.Cross)
	}
	if t.LLVM != "" {
		args = append(args, "LLVM="+t.LLVM)
	}
	return args
}

// CC is the compiler that make would run for the target.
func (t Target) CC() string {
	switch {
	case t.LLVM == "":
		return t.Cross + "gcc"
	case strings.HasPrefix(t.LLVM, "-"):
		return "clang" + t.LLVM
	case strings.HasSuffix(t.LLVM, "/"):
		return t.LLVM + "clang"
	}
	return "clang"
}

var (
	targetName = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,31}$`)
	configLine = regexp.MustCompile(`^[A-Z0-9][A-Za-z0-9_]*=.+$`)
	archName   = regexp.MustCompile(`^[a-z0-9]+$`)
	toolPrefix = regexp.MustCompile(`^[A-Za-z0-9_./+-]*$`) // it ends up in a shell that make starts
)

// check says what is wrong with t, naming the key.
func (t Target) check() (key string, err error) {
	switch {
	case !targetName.MatchString(t.Name):
		return "name", fmt.Errorf("a target's name is lower-case letters, digits, '-', '_' and '.', not %q", t.Name)
	case !archName.MatchString(t.Arch):
		return "arch", fmt.Errorf("target %s: arch is a directory of arch/ in the kernel, not %q", t.Name, t.Arch)
	case !toolPrefix.MatchString(t.Cross):
		return "cross", fmt.Errorf("target %s: %q is no prefix of a compiler", t.Name, t.Cross)
	case !toolPrefix.MatchString(t.LLVM):
		return "llvm", fmt.Errorf("target %s: %q is no value for make's LLVM=", t.Name, t.LLVM)
	}
	for _, line := range t.Config {
		if !configLine.MatchString(line) || strings.HasPrefix(line, "CONFIG_") || strings.ContainsAny(line, "\n\r") {
			return "config", fmt.Errorf(`target %s: a config line reads "OPTION=value", without CONFIG_, not %q`, t.Name, line)
		}
	}
	return "", nil
}

//go:embed targets.toml
var builtinTargets []byte

// table is the form of targets.toml.
type table struct {
	Common []string `toml:"common"`
	Target []Target `toml:"target"`
}

// builtin returns the built-in targets and the configuration common to all.
func builtin() table {
	var t table
	if err := decodeStrict("targets.toml", builtinTargets, &t); err != nil {
		panic(err) // it is part of the program and read by every test
	}
	return t
}

// ErrUnknownTarget is returned where a target's name is in no table.
var ErrUnknownTarget = errors.New("unknown target")

// Select returns the targets with the given names in the order of the names; all
// that the configuration enables when there are none.
func (c *Config) Select(names []string) ([]Target, error) {
	if len(names) == 0 {
		names = c.Enabled
	}
	if len(names) == 0 {
		return c.Targets, nil
	}
	var list []Target
	for _, name := range names {
		i := slices.IndexFunc(c.Targets, func(t Target) bool { return t.Name == name })
		if i < 0 {
			var known []string
			for _, t := range c.Targets {
				known = append(known, t.Name)
			}
			return nil, fmt.Errorf("%w %q; there are %s", ErrUnknownTarget, name, strings.Join(known, ", "))
		}
		if !slices.ContainsFunc(list, func(t Target) bool { return t.Name == name }) {
			list = append(list, c.Targets[i])
		}
	}
	return list, nil
}
