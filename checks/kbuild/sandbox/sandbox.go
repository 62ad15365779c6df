// Package sandbox runs foreign commands: the build of a kernel tree that a mail
// has changed is somebody else's program, and so is everything it starts.
//
// A [Runner] runs one command at a time with what it may see ([Bind]), how much it
// may use ([Limits]) and a clean environment; what comes back is its output, cut
// at a cap, and how it ended. With bubblewrap the command has no network, a file
// system of the system's own programs (read-only) and its binds, a private /tmp,
// and namespaces of its own, so that the end of the command is the end of all its
// children. Without bubblewrap nothing hides the file system or the network: that
// mode has to be asked for ([Unsandboxed]); limits and the killing of the whole
// group stay.
//
// Traps: paths differ inside and outside in a sandbox and are the same without
// one, so that callers ask [Runner.Inside] for the path to put into a command.
// RLIMIT_NPROC does not bind root, and a memory limit by rlimit is one per process:
// therefore a watch adds up processes and memory of the whole command.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ErrUnavailable is returned by [New] when bubblewrap cannot run here; the error
// around it says why and what helps.
var ErrUnavailable = errors.New("no sandbox")

// Bind is a file or directory that a command sees.
type Bind struct {
	Host     string // absolute path outside
	At       string // absolute path inside; empty for the same as Host
	Writable bool
}

// Limits bound one command with all its children. A zero field means the default
// of [DefaultLimits].
type Limits struct {
	Wall      time.Duration // from start to end
	CPU       time.Duration // processor time of each process, whole seconds
	Memory    int64         // bytes of address space of each process
	Resident  int64         // bytes of resident memory of all processes together
	Processes int           // processes alive at once
	File      int64         // bytes of the largest file that may be written
	Output    int64         // bytes kept of each output stream; what is over is dropped
	Free      int64         // bytes that must stay free on the file systems of writable binds
}

// DefaultLimits suit compiling a handful of kernel objects: the largest of an
// allmodconfig takes below 1 GiB and a minute.
var DefaultLimits = Limits{
	Wall:      20 * time.Minute,
	CPU:       10 * time.Minute,
	Memory:    8 << 30,
	Resident:  16 << 30,
	Processes: 512,
	File:      2 << 30,
	Output:    8 << 20,
	Free:      256 << 20,
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits
	if l.Wall == 0 {
		l.Wall = d.Wall
	}
	if l.CPU == 0 {
		l.CPU = d.CPU
	}
	if l.Memory == 0 {
		l.Memory = d.Memory
	}
	if l.Resident == 0 {
		l.Resident = d.Resident
	}
	if l.Processes == 0 {
		l.Processes = d.Processes
	}
	if l.File == 0 {
		l.File = d.File
	}
	if l.Output == 0 {
		l.Output = d.Output
	}
	if l.Free == 0 {
		l.Free = d.Free
	}
	return l
}

// Command is a foreign program to run.
type Command struct {
	Args   []string  // program and arguments; the program is looked up in the runner's PATH
	Dir    string    // working directory as the command sees it; empty for the private /tmp
	Env    []string  // "NAME=value" added to the clean environment
	Binds  []Bind    // in order: a bind inside another one comes after it
	Stdin  io.Reader // nil for none
	Merge  bool      // standard error goes into Stdout, in the order of writing
	Limits Limits
}

// Result is how a command ended.
type Result struct {
	Stdout, Stderr []byte
	Truncated      bool          // a stream was longer than Limits.Output
	Exit           int           // exit status; -1 when a signal or a limit ended it
	Wall           time.Duration // time it took
}

// LimitError is the error of a command that was killed because it went over a limit.
type LimitError struct {
	Command string // its program
	Limit   string // "wall time of 20m0s"
}

func (e *LimitError) Error() string {
	return e.Command + " was killed: it went over its limit, " + e.Limit
}

// Runner runs commands. It is safe for concurrent use.
type Runner struct {
	bwrap       string // path of bubblewrap; empty: unsandboxed
	prlimit     string // path of prlimit (util-linux)
	flags       []string
	system      []string // bwrap arguments that show the system
	path        string   // PATH inside
	userProcs   bool     // RLIMIT_NPROC counts by user namespace here
	description string
}

// systemDirs are the directories with the system's programs: shown read-only.
// Nothing of /root, /home, /var, /run, and of /etc only what programs need to
// start: secrets of the host live there.
var systemDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu"}

var systemFiles = []string{
	"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
	"/etc/localtime", "/etc/python3", "/etc/perl",
}

// New returns a runner that uses bubblewrap, after proving with a first command
// that it works here. tools are further directories to show read-only, for
// compilers outside of the system's directories. When it does not work the error
// wraps [ErrUnavailable].
func New(ctx context.Context, tools ...string) (*Runner, error) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, fmt.Errorf("%w: bubblewrap is not installed (apt install bubblewrap)", ErrUnavailable)
	}
	r, err := newRunner(tools)
	if err != nil {
		return nil, err
	}
	r.bwrap = bwrap
	help, err := exec.CommandContext(ctx, bwrap, "--help").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s --help: %w", ErrUnavailable, bwrap, err)
	}
	r.flags = []string{"--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv", "--hostname", "uabot"}
	// Without it the command may make namespaces of its own, where it is root
	// over more of the kernel's interfaces. New in bubblewrap 0.8.
	if strings.Contains(string(help), "--disable-userns") {
		r.flags = append(r.flags, "--disable-userns")
	}
	for _, dir := range append(append([]string{}, systemDirs...), systemFiles...) {
		r.show(dir)
	}
	for _, dir := range tools {
		r.system = append(r.system, "--ro-bind", dir, dir)
	}
	res, err := r.Run(ctx, Command{Args: []string{"true"}, Limits: Limits{Wall: 20 * time.Second}})
	if err == nil && res.Exit != 0 {
		err = errors.New(strings.TrimSpace(string(res.Stderr)))
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: bubblewrap cannot run here: %w (it needs user namespaces: in a container run that with --privileged "+
			"or --security-opt seccomp=unconfined, on Ubuntu see kernel.apparmor_restrict_unprivileged_userns)", ErrUnavailable, err)
	}
	r.description = "bubblewrap"
	return r, nil
}

// Unsandboxed returns a runner without a sandbox: commands see the whole file
// system and the network with the rights of the caller. Limits, the clean
// environment and the killing of the whole group stay.
func Unsandboxed(tools ...string) (*Runner, error) {
	r, err := newRunner(tools)
	if err != nil {
		return nil, err
	}
	r.description = "no sandbox"
	return r, nil
}

func newRunner(tools []string) (*Runner, error) {
	prlimit, err := exec.LookPath("prlimit")
	if err != nil {
		return nil, errors.New("prlimit is not installed (apt install util-linux): commands cannot be limited without it")
	}
	return &Runner{prlimit: prlimit, path: visiblePath(os.Getenv("PATH"), tools), userProcs: kernelAtLeast(5, 14)}, nil
}

// Sandboxed reports whether commands run in a sandbox.
func (r *Runner) Sandboxed() bool { return r.bwrap != "" }

// String says what the commands run in: "bubblewrap" or "no sandbox".
func (r *Runner) String() string { return r.description }

// Inside returns the path at which a command finds b.
func (r *Runner) Inside(b Bind) string {
	if r.Sandboxed() && b.At != "" {
		return b.At
	}
	return b.Host
}

// Path is the PATH that commands get.
func (r *Runner) Path() string { return r.path }

// LookPath finds a program the way that a command would.
func (r *Runner) LookPath(name string) (string, error) {
	for _, dir := range filepath.SplitList(r.path) {
		path := filepath.Join(dir, name)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w in %s", name, exec.ErrNotFound, r.path)
}

// show adds a path of the system as it is: a symbolic link stays one.
func (r *Runner) show(path string) {
	st, err := os.Lstat(path)
	if err != nil {
		return
	}
	if st.Mode()&os.ModeSymlink != 0 {
		if to, err := os.Readlink(path); err == nil && !strings.HasPrefix(path, "/etc/") {
			r.system = append(r.system, "--symlink", to, path)
			return
		}
	}
	r.system = append(r.system, "--ro-bind", path, path)
}

// visiblePath keeps the directories of a PATH that commands can see.
func visiblePath(path string, tools []string) string {
	var keep []string
	for _, dir := range append(append([]string{}, tools...), filepath.SplitList(path)...) {
		for _, root := range append(append([]string{}, systemDirs...), tools...) {
			if dir == root || strings.HasPrefix(dir, strings.TrimSuffix(root, "/")+"/") {
				keep = append(keep, dir)
				break
			}
		}
	}
	keep = append(keep, "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")
	seen := map[string]bool{}
	var list []string
	for _, dir := range keep {
		if !seen[dir] {
			seen[dir] = true
			list = append(list, dir)
		}
	}
	return strings.Join(list, ":")
}
