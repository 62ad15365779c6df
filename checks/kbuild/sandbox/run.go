package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Run runs c to its end. A command that ends by itself is no error, whatever its
// exit status; a *[LimitError] says that a limit ended it, ctx's error that the
// caller did, any other error that it could not be started. Result is filled as
// far as the command came. When Run returns, nothing of the command is alive.
func (r *Runner) Run(ctx context.Context, c Command) (Result, error) {
	if len(c.Args) == 0 {
		return Result{Exit: -1}, errors.New("running a command: it is empty")
	}
	if err := ctx.Err(); err != nil {
		return Result{Exit: -1}, err
	}
	lim := c.Limits.orDefault()
	argv, env, dir, cleanup, err := r.prepare(c, lim)
	if err != nil {
		return Result{Exit: -1}, fmt.Errorf("running %s: %w", c.Args[0], err)
	}
	defer cleanup()

	run, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stdout, stderr := &capped{max: lim.Output}, &capped{max: lim.Output}
	cmd := exec.CommandContext(run, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdin = env, dir, c.Stdin
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if c.Merge {
		cmd.Stderr = stdout
	}
	// A session of its own: no terminal to read from, and one group to kill. The
	// death signal is for the case that we are killed ourselves.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	inner := &namespace{}
	if r.Sandboxed() {
		report, err := inner.open()
		if err != nil {
			return Result{Exit: -1}, fmt.Errorf("running %s: %w", c.Args[0], err)
		}
		cmd.ExtraFiles = []*os.File{report} // descriptor 3
	}
	cmd.Cancel = func() error {
		if inner.kill() {
			return nil
		}
		if !r.Sandboxed() {
			killMarked(marker(env))
		}
		return killGroup(cmd.Process.Pid)
	}
	cmd.WaitDelay = 5 * time.Second // for pipes held by processes that left the group

	start := time.Now()
	err = cmd.Start()
	inner.started()
	if err != nil {
		return Result{Exit: -1}, fmt.Errorf("running %s: %w", c.Args[0], err)
	}
	var watching sync.WaitGroup
	stop := make(chan struct{})
	watching.Go(func() {
		if over := r.watch(cmd.Process.Pid, lim, c.Binds, start, stop); over != "" {
			cancel(&LimitError{Command: c.Args[0], Limit: over})
		}
	})
	err = cmd.Wait()
	close(stop)
	watching.Wait()
	inner.wait()
	if !r.Sandboxed() {
		// A child may have stayed behind, in the group or outside of it.
		_ = killGroup(cmd.Process.Pid)
		killMarked(marker(env))
	}

	res := Result{
		Stdout: stdout.data, Stderr: stderr.data,
		Truncated: stdout.over || stderr.over,
		Exit:      cmd.ProcessState.ExitCode(),
		Wall:      time.Since(start),
	}
	var exit *exec.ExitError
	var over *LimitError
	switch {
	case errors.As(context.Cause(run), &over):
		res.Exit = -1
		return res, over
	case ctx.Err() != nil:
		res.Exit = -1
		return res, ctx.Err()
	case err == nil, errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay):
		return res, nil
	}
	return res, fmt.Errorf("running %s: %w", c.Args[0], err)
}

// prepare makes the argument vector, environment and directory of the process
// that is really started: bubblewrap or prlimit around the command.
func (r *Runner) prepare(c Command, lim Limits) (argv, env []string, dir string, cleanup func(), err error) {
	limits := []string{
		r.prlimit,
		"--as=" + strconv.FormatInt(lim.Memory, 10),
		"--fsize=" + strconv.FormatInt(lim.File, 10),
		"--cpu=" + strconv.FormatInt(max(1, int64(lim.CPU/time.Second)), 10),
		"--core=0",
	}
	for _, b := range c.Binds {
		if !filepath.IsAbs(b.Host) || b.At != "" && !filepath.IsAbs(b.At) {
			return nil, nil, "", nil, fmt.Errorf("bind of %q at %q is not absolute", b.Host, b.At)
		}
	}
	if !r.Sandboxed() {
		tmp, err := os.MkdirTemp("", "uabot-run-")
		if err != nil {
			return nil, nil, "", nil, err
		}
		dir = c.Dir
		if dir == "" {
			dir = tmp
		}
		env = append([]string{mark + "=" + filepath.Base(tmp)}, r.environment(tmp, c.Env)...)
		return append(append(limits, "--"), c.Args...), env, dir, func() { os.RemoveAll(tmp) }, nil
	}
	// The number of processes is only counted per user namespace since 5.14;
	// before, it would count everything that this user runs.
	if r.userProcs {
		limits = append(limits, "--nproc="+strconv.Itoa(lim.Processes))
	}
	argv = append([]string{r.bwrap, "--info-fd", "3"}, r.flags...)
	for _, e := range r.environment("/tmp", c.Env) {
		name, value, _ := strings.Cut(e, "=")
		argv = append(argv, "--setenv", name, value)
	}
	argv = append(argv, r.system...)
	argv = append(argv, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp")
	for _, b := range c.Binds {
		how := "--ro-bind"
		if b.Writable {
			how = "--bind"
		}
		argv = append(argv, how, b.Host, r.Inside(b))
	}
	dir = c.Dir
	if dir == "" {
		dir = "/tmp"
	}
	argv = append(argv, "--chdir", dir, "--")
	argv = append(append(append(argv, limits...), "--"), c.Args...)
	return argv, []string{}, "/", func() {}, nil
}

func (r *Runner) environment(tmp string, more []string) []string {
	env := []string{"PATH=" + r.path, "HOME=" + tmp, "TMPDIR=" + tmp, "LC_ALL=C", "LANG=C", "TZ=UTC"}
	return append(env, more...)
}

// capped keeps the first max bytes that are written to it.
type capped struct {
	data []byte
	max  int64
	over bool
}

func (w *capped) Write(p []byte) (int, error) {
	n := len(p)
	if room := w.max - int64(len(w.data)); int64(n) > room {
		p, w.over = p[:max(0, room)], true
	}
	w.data = append(w.data, p...)
	return n, nil
}

func killGroup(pid int) error {
	err := syscall.Kill(-pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// freeBytes returns what is left for this user on the file system of path.
func freeBytes(path string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * st.Bsize, nil
}

func kernelAtLeast(major, minor int) bool {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return false
	}
	var a, b int
	if n, _ := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &a, &b); n != 2 {
		return false
	}
	return a > major || a == major && b >= minor
}
