package kbuild

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"uabot/checks/kbuild/sandbox"
	"uabot/config"
)

// format is raised when what the cache holds changes its meaning.
const format = 2

// Base is a base commit prepared for one target: an output directory in the cache,
// which other processes may use at the same time. Close it.
type Base struct {
	// Notes are limits worth telling a reader: configuration lines that the tree
	// did not honour.
	Notes []string

	b      *Builder
	target config.Target
	tree   Tree
	cc     compiler
	dir    string              // of the cache entry
	use    *lock               // shared, held until Close
	inputs map[string][]string // file of the tree -> what was made of it by preparing

	mu     sync.Mutex
	states map[string]madeState // units built with patches, by source and what they are made of
}

// prepared is the file "complete" of a cache entry. An entry without it is
// half-made and counts for nothing.
type prepared struct {
	Target  config.Target
	Commit  string
	Banner  string // of the compiler
	Notes   []string
	Inputs  []generated // what was made, and of what
	Seconds float64
}

// ConfigError says that a base cannot be configured as a target wants it.
type ConfigError struct {
	Lines []string // of the target's config that the tree's Kconfig did not honour
}

func (e *ConfigError) Error() string {
	return "the tree's Kconfig does not honour " + strings.Join(e.Lines, ", ")
}

// Open prepares base for t, or finds it prepared. The error is a *[MissingError]
// when the compiler is not installed and a *[ConfigError] when what picks t's
// machine does not exist in that tree. A canceled ctx leaves no half-made entry.
func (b *Builder) Open(ctx context.Context, base Tree, t config.Target) (*Base, error) {
	if !filepath.IsAbs(base.Dir) || !filepath.IsAbs(b.Cache) {
		return nil, fmt.Errorf("preparing %s: %q and %q have to be absolute", t.Name, base.Dir, b.Cache)
	}
	cc := b.compiler(ctx, t)
	if cc.err != nil {
		return nil, cc.err
	}
	if err := os.MkdirAll(b.Cache, 0o755); err != nil {
		return nil, fmt.Errorf("making the cache: %w", err)
	}
	base0 := &Base{b: b, target: t, tree: base, cc: cc, dir: filepath.Join(b.Cache, b.entryName(base, t, cc))}
	waiting := func() { b.progress(t, "waiting for another uabot that uses %s", filepath.Base(base0.dir)) }
	use, err := lockFile(ctx, base0.dir+".lock", false, waiting)
	if err != nil {
		return nil, fmt.Errorf("preparing %s: %w", t.Name, err)
	}
	base0.use = use
	for {
		if err := base0.load(); err == nil {
			return base0, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			use.release()
			return nil, fmt.Errorf("preparing %s: %w", t.Name, err)
		}
		if err := use.take(ctx, true, waiting); err != nil {
			use.release()
			return nil, fmt.Errorf("preparing %s: %w", t.Name, err)
		}
		if err := base0.load(); errors.Is(err, fs.ErrNotExist) {
			if err := base0.prepare(ctx); err != nil {
				os.RemoveAll(base0.dir)
				use.release()
				return nil, err
			}
		}
		if err := use.take(ctx, false, waiting); err != nil {
			use.release()
			return nil, fmt.Errorf("preparing %s: %w", t.Name, err)
		}
	}
}

// Close lets the cache entry go; it stays in the cache.
func (p *Base) Close() { p.use.release() }

// Compiler is the compiler in short: "gcc 12.2.0".
func (p *Base) Compiler() string { return shortVersion(p.cc.banner) }

// entryName names the cache entry by all that decides what is in it.
func (b *Builder) entryName(base Tree, t config.Target, cc compiler) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "format %d\ncommit %s\narch %s\ncross %s\nllvm %s\ncc %s %s\n", format, base.Commit, t.Arch, t.Cross, t.LLVM, cc.path, cc.banner)
	fmt.Fprintf(sum, "common %q\nconfig %q\n", t.Common, t.Config)
	if !b.Runner.Sandboxed() {
		// Then the paths of tree and cache are in the commands.
		fmt.Fprintf(sum, "tree %s\n", base.Dir)
	}
	commit := base.Commit
	if len(commit) > 12 {
		commit = commit[:12]
	}
	return t.Name + "-" + commit + "-" + hex.EncodeToString(sum.Sum(nil)[:6])
}

// load reads a complete entry; fs.ErrNotExist when there is none.
func (p *Base) load() error {
	data, err := os.ReadFile(filepath.Join(p.dir, "complete"))
	if err != nil {
		return err
	}
	var made prepared
	if err := json.Unmarshal(data, &made); err != nil {
		return fmt.Errorf("reading %s: %w", filepath.Join(p.dir, "complete"), err)
	}
	p.Notes = made.Notes
	p.inputs = map[string][]string{}
	for _, g := range made.Inputs {
		for _, name := range g.Deps {
			p.inputs[name] = append(p.inputs[name], g.Target)
		}
	}
	return nil
}

// out is the output directory of the base.
func (p *Base) out() string { return filepath.Join(p.dir, "out") }

// mounts are the places of a build: the source, the output and our own tools.
type mounts struct {
	binds         []sandbox.Bind
	src, out, kit string // as the command sees them
}

func (p *Base) mount(source, output string, k *kit) mounts {
	binds := []sandbox.Bind{
		{Host: source, At: "/src"},
		{Host: output, At: "/out", Writable: true},
		{Host: k.dir, At: "/uabot"},
	}
	r := p.b.Runner
	return mounts{binds, r.Inside(binds[0]), r.Inside(binds[1]), r.Inside(binds[2])}
}

// buildEnv keeps out of the build what differs from day to day, and the
// version-control system, of which a sandbox shows nothing.
var buildEnv = []string{"KBUILD_BUILD_TIMESTAMP=1970-01-01", "KBUILD_BUILD_USER=uabot", "KBUILD_BUILD_HOST=uabot", "LOCALVERSION="}

// make runs make in the tree for the output directory.
func (p *Base) make(ctx context.Context, m mounts, k *kit, args ...string) sandbox.Command {
	argv := append([]string{"make", "-C", m.src, "O=" + m.out, "--no-print-directory", "-j" + strconv.Itoa(p.b.jobs())}, p.target.MakeArgs()...)
	return sandbox.Command{
		Args:  append(argv, args...),
		Dir:   m.out,
		Binds: m.binds,
		Env:   append(k.env(m.kit, p.cc.path), buildEnv...),
		Merge: true,
	}
}

func (p *Base) prepare(ctx context.Context) error {
	b, t, start := p.b, p.target, time.Now()
	fail := func(err error) error { return fmt.Errorf("preparing %s: %w", t.Name, err) }
	if err := os.RemoveAll(p.dir); err != nil {
		return fail(err)
	}
	if err := os.MkdirAll(p.out(), 0o755); err != nil {
		return fail(err)
	}
	k, err := b.tools(ctx)
	if err != nil {
		return fail(err)
	}
	m := p.mount(p.tree.Dir, p.out(), k)
	notes, err := p.configure(ctx, m, k, p.out())
	if err != nil {
		return fail(err)
	}
	b.progress(t, "preparing: generated files and tools")
	if _, err := b.run(ctx, "make prepare", p.make(ctx, m, k, "-s", "prepare", "modules_prepare")); err != nil {
		return fail(err)
	}
	inputs, err := preparedInputs(p.out(), m.src)
	if err != nil {
		return fail(err)
	}
	made := prepared{Target: t, Commit: p.tree.Commit, Banner: p.cc.banner, Notes: notes, Inputs: inputs, Seconds: time.Since(start).Seconds()}
	data, err := json.MarshalIndent(made, "", "\t")
	if err != nil {
		return fail(err)
	}
	if err := writeAtomic(filepath.Join(p.dir, "complete"), data); err != nil {
		return fail(err)
	}
	return nil
}

// configure makes .config in output, and returns notes on lines that were not
// honoured and are not what picks the machine.
func (p *Base) configure(ctx context.Context, m mounts, k *kit, output string) (notes []string, err error) {
	p.b.progress(p.target, "preparing: configuration")
	const name = ".uabot-allconfig"
	if err := os.WriteFile(filepath.Join(output, name), []byte(p.target.Fragment()), 0o644); err != nil {
		return nil, err
	}
	if _, err := p.b.run(ctx, "make allmodconfig", p.make(ctx, m, k, "-s", "KCONFIG_ALLCONFIG="+m.out+"/"+name, "allmodconfig")); err != nil {
		return nil, err
	}
	// Kconfig files of a series may run commands: .config may be a link out of here.
	inside, err := os.OpenRoot(output)
	if err != nil {
		return nil, err
	}
	defer inside.Close()
	dotconfig, err := inside.ReadFile(".config")
	if err != nil {
		return nil, err
	}
	if bad := notHonoured(p.target.Config, dotconfig); len(bad) > 0 {
		return nil, &ConfigError{bad}
	}
	if bad := notHonoured(p.target.Common, dotconfig); len(bad) > 0 {
		notes = append(notes, "the tree's Kconfig does not honour "+strings.Join(bad, ", "))
	}
	return notes, nil
}

// refresh gives everything in an output directory the same time, now. Make decides
// by time, and a fresh worktree of the same commit has new files; without it make
// would prepare everything again. What was built is what the commit makes, so
// nothing is lost; what has to be rebuilt is seen by kbuild from its commands.
func refresh(dir string, at time.Time) error {
	ts := unix.NsecToTimespec(at.UnixNano())
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
	})
	if err != nil {
		return fmt.Errorf("setting the times of %s: %w", dir, err)
	}
	return nil
}

// writeAtomic writes a file that is there whole or not at all.
func writeAtomic(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err1 := tmp.Sync(); err == nil {
		err = err1
	}
	if err1 := tmp.Close(); err == nil {
		err = err1
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
