package coverage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"uabot/checks"
)

// target is one Built with what its configuration says.
type target struct {
	*checks.Built
	config   map[string]string // CONFIG_X → y, m, a number or a text
	arch     string            // the directory below arch/
	deps     map[string][]checks.Unit
	evidence map[string]*evidence // by unit source
	unread   map[string]bool      // units whose dependencies are not known
}

func open(c Change) ([]*target, error) {
	var targets []*target
	for _, b := range c.Built {
		dir := b.Output
		if c.Config != nil {
			if other := c.Config(b); other != "" {
				dir = other
			}
		}
		data, err := os.ReadFile(filepath.Join(dir, ".config"))
		if err != nil {
			return nil, fmt.Errorf("reading the configuration of %s: %w", b.Target.Name, err)
		}
		t := &target{Built: b, config: parseConfig(data), arch: archDir(b.Target.Arch), evidence: map[string]*evidence{}, unread: map[string]bool{}}
		if len(t.config) == 0 {
			return nil, fmt.Errorf("%s has no configuration symbol", filepath.Join(dir, ".config"))
		}
		t.deps = t.readers(dir)
		targets = append(targets, t)
	}
	return targets, nil
}

// archDir is the directory below arch/ for make's ARCH, as the top Makefile's SRCARCH.
func archDir(arch string) string {
	switch arch {
	case "i386", "x86_64":
		return "x86"
	case "sparc32", "sparc64":
		return "sparc"
	case "parisc64":
		return "parisc"
	}
	return arch
}

// parseConfig reads a .config file.
func parseConfig(data []byte) map[string]string {
	config := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, val, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && strings.HasPrefix(name, "CONFIG_") {
			config[name] = val
		}
	}
	return config
}

// archMacros are what compilers define by themselves, with the configuration that
// decides where one architecture has two forms.
var archMacros = map[string]struct{ arch, config string }{
	"__x86_64__": {"x86", "CONFIG_X86_64"}, "__i386__": {"x86", "CONFIG_X86_32"},
	"__aarch64__": {"arm64", ""}, "__arm__": {"arm", ""}, "__riscv": {"riscv", ""},
	"__s390__": {"s390", ""}, "__s390x__": {"s390", ""}, "__powerpc__": {"powerpc", ""},
	"__powerpc64__": {"powerpc", "CONFIG_PPC64"}, "__mips__": {"mips", ""}, "__sparc__": {"sparc", ""},
	"__alpha__": {"alpha", ""}, "__hppa__": {"parisc", ""}, "__sh__": {"sh", ""}, "__xtensa__": {"xtensa", ""},
}

// lookup tells what is known of a symbol in the units of t. assembly says whether
// they are assembler sources.
func (t *target) lookup(assembly bool) func(string) macro {
	return func(name string) macro {
		if strings.HasPrefix(name, "CONFIG_") {
			return t.symbol(name)
		}
		if a, ok := archMacros[name]; ok {
			return macro{defined: truthOf(a.arch == t.arch && (a.config == "" || t.config[a.config] == "y")), value: 1, valued: true}
		}
		switch name {
		case "__KERNEL__":
			return macro{defined: yes, value: 1, valued: true}
		case "__ASSEMBLY__", "__ASSEMBLER__":
			return macro{defined: truthOf(assembly), value: 1, valued: true}
		case "__CHECKER__", "__cplusplus", "__GENKSYMS__":
			return macro{defined: no}
		case "BITS_PER_LONG", "__BITS_PER_LONG":
			if t.config["CONFIG_64BIT"] == "y" {
				return macro{defined: yes, value: 64, valued: true}
			}
			return macro{defined: yes, value: 32, valued: true}
		}
		return macro{defined: unknown}
	}
}

// symbol is what include/generated/autoconf.h says of a configuration symbol.
func (t *target) symbol(name string) macro {
	switch val, ok := t.config[name]; {
	case ok && val == "y":
		return macro{defined: yes, value: 1, valued: true}
	case ok && val != "m":
		n, err := strconv.ParseInt(val, 0, 64)
		return macro{defined: yes, value: n, valued: err == nil}
	case !ok && strings.HasSuffix(name, "_MODULE"):
		if t.config[strings.TrimSuffix(name, "_MODULE")] == "m" {
			return macro{defined: yes, value: 1, valued: true}
		}
	}
	return macro{defined: no}
}

// readers maps each file of the tree to the units that were compiled from it. The
// compiler's own list is read from what lies beside the object: kbuild's .x.o.cmd,
// or the .x.o.d that a bare command leaves, or the .cmd of the base in dir.
func (t *target) readers(dir string) map[string][]checks.Unit {
	deps := map[string][]checks.Unit{}
	for _, u := range t.Units {
		if u.Err != "" {
			continue
		}
		deps[u.Source] = append(deps[u.Source], u)
		names, err := t.depends(dir, u)
		if err != nil {
			t.unread[u.Source] = true
			continue
		}
		for _, name := range names {
			if name = t.Rel(name); name != u.Source && !filepath.IsAbs(name) {
				deps[name] = append(deps[name], u)
			}
		}
	}
	return deps
}

func (t *target) depends(dir string, u checks.Unit) ([]string, error) {
	base, name := filepath.Split(u.Object)
	for _, at := range []string{
		filepath.Join(t.Output, base, "."+name+".cmd"),
		filepath.Join(t.Output, base, "."+name+".d"),
		filepath.Join(dir, base, "."+name+".cmd"),
	} {
		data, err := os.ReadFile(at)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if names := parseDeps(string(data)); len(names) > 0 {
			return names, nil
		}
	}
	return nil, fmt.Errorf("no list of what %s was compiled from", u.Source)
}

// parseDeps reads the names in a .cmd or .d file: words that end in a source's
// suffix. Everything else in those files (commands, $(wildcard …)) has none, but
// for the command itself, whose line is left out.
func parseDeps(text string) []string {
	var names []string
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "savedcmd_") || strings.HasPrefix(line, "cmd_") {
			continue
		}
		for _, word := range strings.Fields(line) {
			switch filepath.Ext(word) {
			case ".c", ".h", ".S":
				names = append(names, word)
			}
		}
	}
	return names
}
