package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"uabot/checks/kbuild"
	"uabot/checks/kbuild/sandbox"
)

var doctorCommand = command{
	name:  "doctor",
	short: "what is missing on this machine, and the command that installs it",
	long: `
Looks at everything that a review needs: programs, the sandbox, compilers, a
kernel tree, room in the cache. What is missing is named with what it is for, and
at the end stands the one command that installs it all.

Exit code: 0 nothing is missing, 2 something is.`,
	run: runDoctor,
}

// need is a program or file that a review uses.
type need struct {
	name    string // a program, or an absolute path
	pkg     string // Debian package
	purpose string
	must    bool // nothing works without it
}

// needs lists what the build of a kernel and the checks use. The kernel's own list
// is Documentation/process/changes.rst.
var needs = []need{
	{"git", "git", "applies series", true},
	{"make", "make", "builds kernels", true},
	{"gcc", "gcc", "builds the kernel's own tools", true},
	{"bc", "bc", "used by the kernel's build", true},
	{"bison", "bison", "used by the kernel's build", true},
	{"flex", "flex", "used by the kernel's build", true},
	{"perl", "perl", "used by the kernel's build", true},
	{"/usr/include/libelf.h", "libelf-dev", "objtool", true},
	{"/usr/include/openssl/opensslv.h", "libssl-dev", "the kernel's signing tools", true},
	{"bwrap", "bubblewrap", "the sandbox that series are built in", true},
	{"sparse", "sparse", "its messages on address spaces", false},
	{"b4", "b4", "fetches a series by its Message-ID, as reports suggest", false},
}

func runDoctor(f *flag.FlagSet) func(context.Context, *program, []string) int {
	treeFlag := f.String("tree", "", "look at the kernel tree at `PATH`")
	return func(ctx context.Context, p *program, args []string) int {
		if len(args) > 0 {
			return p.trouble(errors.New("doctor takes no argument"))
		}
		d := &doctor{program: p}
		for _, n := range needs {
			d.look(n)
		}
		d.sandboxAndCompilers(ctx)
		d.tree(*treeFlag)
		d.cache()
		return d.verdict()
	}
}

// doctor collects what is missing.
type doctor struct {
	*program
	packages []string
	bad      bool
}

func (d *doctor) say(ok bool, what, about string) {
	mark := "ok      "
	if !ok {
		mark = "MISSING "
	}
	fmt.Fprintf(d.stdout, "%s %-24s %s\n", mark, what, about)
}

func (d *doctor) miss(pkg string) {
	if pkg != "" && !slices.Contains(d.packages, pkg) {
		d.packages = append(d.packages, pkg)
	}
}

func (d *doctor) look(n need) {
	_, err := exec.LookPath(n.name)
	if filepath.IsAbs(n.name) {
		_, err = os.Stat(n.name)
	}
	about := n.purpose
	if err != nil && !n.must {
		about += " (reviews go without it)"
	}
	d.say(err == nil, n.name, about)
	if err != nil {
		d.miss(n.pkg)
		d.bad = d.bad || n.must
	}
}

func (d *doctor) sandboxAndCompilers(ctx context.Context) {
	runner, err := sandbox.New(ctx)
	if err != nil {
		d.bad = true
		d.say(false, "sandbox", err.Error())
		if runner, err = sandbox.Unsandboxed(); err != nil {
			d.say(false, "compilers", err.Error())
			return
		}
	} else {
		d.say(true, "sandbox", runner.String())
	}
	builder := &kbuild.Builder{Runner: runner}
	there := 0
	targets, _ := d.config.Select(nil)
	for _, t := range targets {
		_, version, err := builder.Compiler(ctx, t)
		if err != nil {
			d.say(false, t.Name, err.Error())
			d.miss(t.Package)
			continue
		}
		there++
		d.say(true, t.Name, version)
	}
	d.bad = d.bad || there == 0
}

func (d *doctor) tree(flag string) {
	path, err := d.treePath(flag)
	if err != nil {
		d.say(false, "kernel tree", err.Error())
		d.bad = true
		return
	}
	d.say(true, "kernel tree", path)
}

// cache looks at the room that builds need: nine prepared targets of 6.12 take
// about 1 GB, the checkout of a base 1.7 GB.
func (d *doctor) cache() {
	dir := d.config.Cache
	for {
		if _, err := os.Stat(dir); err == nil || dir == "/" {
			break
		}
		dir = filepath.Dir(dir)
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		d.say(false, "cache", fmt.Sprintf("%s: %v", d.config.Cache, err))
		d.bad = true
		return
	}
	free := fs.Bavail * uint64(fs.Bsize) >> 30
	const need = 5
	d.say(free >= need, "cache", fmt.Sprintf("%s, %d GB free (a base and its targets take up to %d)", d.config.Cache, free, need))
	d.bad = d.bad || free < need
}

func (d *doctor) verdict() int {
	if len(d.packages) > 0 {
		sudo := ""
		if os.Getuid() != 0 {
			sudo = "sudo "
		}
		fmt.Fprintf(d.stdout, "\nThis installs what is missing:\n  %sapt-get install --no-install-recommends %s\n", sudo, strings.Join(d.packages, " "))
	}
	if d.bad {
		return exitTrouble
	}
	return exitClean
}
