package kbuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"uabot/checks"
	"uabot/checks/kbuild/sandbox"
)

// What Unit.Err says of a unit of a state that was not compiled for a reason that is
// no problem of the patches.
const (
	atBase  = "it does not build at the base: " // and why
	removed = "the patches remove it"
)

// BuildState compiles units in another state of the tree: with all patches
// applied, or the first few of them. output is an empty or missing directory for
// it, which becomes the state's Built.Output; the caller removes it. A unit that
// cannot be compiled at the base is not tried: its Err says so.
func (p *Base) BuildState(ctx context.Context, state Tree, units []string, output string) (*checks.Built, error) {
	fail := func(err error) (*checks.Built, error) {
		return nil, fmt.Errorf("building %.12s for %s: %w", state.Commit, p.target.Name, err)
	}
	k, err := p.b.tools(ctx)
	if err != nil {
		return fail(err)
	}
	changed, err := changedFiles(ctx, state.git(), p.tree.Commit, state.Commit)
	if err != nil {
		return fail(err)
	}
	if err := os.MkdirAll(output, 0o755); err != nil {
		return fail(err)
	}
	m := p.mount(state.Dir, output, k)
	records := map[string]record{}
	var replay, remake []string
	plain, err := p.replayable(ctx, m, k, output, changed)
	if err != nil {
		return fail(err)
	}
	for _, source := range units {
		base, built := p.record(source, k)
		switch {
		case built && base.Err != "":
			base.Err = atBase + base.Err
			records[source] = base
		case !exists(filepath.Join(state.Dir, source)):
			records[source] = record{Err: removed}
		case plain && built:
			if rec, ok := p.alreadyBuilt(m, output, changed, source, base); ok {
				records[source] = rec
				continue
			}
			replay = append(replay, source)
		default:
			remake = append(remake, source)
		}
	}
	if len(replay)+len(remake) > 0 {
		p.b.progress(p.target, "compiling %s with the patches", count(len(replay)+len(remake), "object"))
	}
	made, err := p.replayAll(ctx, m, k, output, replay)
	if err != nil {
		return fail(err)
	}
	for source, rec := range made {
		records[source] = rec
		p.keepState(m, output, changed, source, rec)
	}
	if len(remake) > 0 {
		made, err := p.remake(ctx, k, output, state, changed, remake)
		if err != nil {
			return fail(err)
		}
		for source, rec := range made {
			records[source] = rec
		}
	}
	built := &checks.Built{Target: p.target, Source: state.Dir, Output: output, SourceAs: m.src, OutputAs: m.out}
	for _, source := range units {
		rec := records[source]
		if base, ok := p.record(source, k); ok && base.Err == "" && rec.Err != "" && rec.Err != removed {
			// What sparse says of it is not known now, nor all that the compiler
			// would. Without the base's messages those would seem to be mended.
			rec.Log += base.Log
		}
		built.Units = append(built.Units, unitOf(output, source, rec.Err, rec.Log))
	}
	return built, nil
}

// replayAll compiles units with the commands of the base, Jobs at a time.
func (p *Base) replayAll(ctx context.Context, m mounts, k *kit, output string, units []string) (map[string]record, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		first error
		made  = map[string]record{}
		slots = make(chan struct{}, p.b.jobs())
	)
	// What is shared between the units is laid out before they run at once.
	shared, err := p.shareOutput(m, output)
	if err != nil {
		return nil, err
	}
	for _, source := range units {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			rec, err := p.replay(ctx, m, k, shared, output, source)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && first == nil {
				first = fmt.Errorf("compiling %s: %w", source, err)
				cancel()
			}
			made[source] = rec
		})
	}
	wait.Wait()
	return made, first
}

// generatedDirs are what of an output directory compilers read: configuration,
// generated headers and the tools that commands call.
func (p *Base) generatedDirs() []string {
	return append(p.headerDirs(), "scripts", "tools", ".config")
}

func (p *Base) headerDirs() []string {
	return []string{"include", "arch/" + sourceArch(p.target) + "/include"}
}

// shareOutput shows the base's generated files in a state's output directory: by
// binds in a sandbox, by symbolic links without one.
func (p *Base) shareOutput(m mounts, output string) ([]sandbox.Bind, error) {
	var binds []sandbox.Bind
	for _, name := range p.generatedDirs() {
		host := filepath.Join(p.out(), name)
		st, err := os.Stat(host)
		if err != nil {
			continue
		}
		b, err := p.shareFile(m, output, name, st.IsDir())
		if err != nil {
			return nil, err
		}
		binds = append(binds, b...)
	}
	return binds, nil
}

func (p *Base) shareFile(m mounts, output, name string, dir bool) ([]sandbox.Bind, error) {
	host, at := filepath.Join(p.out(), name), filepath.Join(output, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return nil, err
	}
	if !p.b.Runner.Sandboxed() {
		err := os.Symlink(host, at)
		if errors.Is(err, os.ErrExist) {
			err = nil
		}
		return nil, err
	}
	if dir { // the place to mount on
		if err := os.MkdirAll(at, 0o755); err != nil {
			return nil, err
		}
	} else if f, err := os.OpenFile(at, os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return nil, err
	} else {
		f.Close()
	}
	return []sandbox.Bind{{Host: host, At: m.out + "/" + name}}, nil
}

// replayScript runs a saved command the way kbuild does and then, when it
// succeeded, the wrapper with its saved arguments.
const replayScript = `sh -ec "$0"; status=$?
if [ $status = 0 ] && [ $# != 0 ]; then
	sh "$UABOT_KIT/check.sh" "$@" >/dev/null 2>&1
fi
exit $status`

// replay compiles one unit with the command that compiled it at the base.
func (p *Base) replay(ctx context.Context, m mounts, k *kit, shared []sandbox.Bind, output, source string) (record, error) {
	if err := ctx.Err(); err != nil {
		return record{}, err
	}
	object := ObjectOf(source)
	cmd, err := readCmd(p.out(), object)
	if err != nil {
		return record{}, err
	}
	var args []string
	if data, err := os.ReadFile(filepath.Join(p.out(), beside(object, ".uabot-args"))); err == nil {
		args = strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
	}
	base := p.mount(p.tree.Dir, p.out(), k)
	if !p.b.Runner.Sandboxed() {
		// There the paths of tree and output differ from the base's.
		cmd.Command = moved(cmd.Command, base, m)
		for i := range args {
			args[i] = moved(args[i], base, m)
		}
	}
	if err := os.MkdirAll(filepath.Join(output, filepath.Dir(object)), 0o755); err != nil {
		return record{}, err
	}
	binds := append(append([]sandbox.Bind{}, m.binds...), shared...)
	for _, dep := range cmd.Deps {
		// A generated file beside the unit: not in the shared directories.
		if path.IsAbs(dep) || slices.ContainsFunc(p.generatedDirs(), func(dir string) bool { return dep == dir || strings.HasPrefix(dep, dir+"/") }) {
			continue
		}
		if st, err := os.Stat(filepath.Join(p.out(), dep)); err == nil && st.Mode().IsRegular() {
			more, err := p.shareFile(m, output, path.Clean(dep), false)
			if err != nil {
				return record{}, err
			}
			binds = append(binds, more...)
		}
	}
	c := sandbox.Command{
		Args:   append([]string{"sh", "-c", replayScript, cmd.Command}, args...),
		Dir:    m.out,
		Binds:  binds,
		Env:    append(k.env(m.kit, p.cc.path), buildEnv...),
		Merge:  true,
		Limits: p.b.Limits,
	}
	res, err := p.b.Runner.Run(ctx, c)
	var over *sandbox.LimitError
	if errors.As(err, &over) {
		return record{Err: over.Error()}, nil
	}
	if err != nil {
		return record{}, err
	}
	rec := record{Log: bounded(strings.ReplaceAll(string(res.Stdout), m.src+"/", ""))}
	if res.Exit != 0 {
		rec.Err = firstError(rec.Log)
		if rec.Err == "" {
			rec.Err = fmt.Sprintf("the compiler failed with exit status %d", res.Exit)
		}
		return rec, nil
	}
	rec.Log += sparseLog(output, object, m.src)
	return rec, nil
}

// moved rewrites paths of the base's build to those of another one.
func moved(text string, from, to mounts) string {
	return strings.NewReplacer(from.src+"/", to.src+"/", from.out+"/", to.out+"/").Replace(text)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
