package epoch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// repository is a bare git repository: one epoch.
type repository struct {
	dir    string
	number int
	lock   *os.File // inherited by every git, so that it is held as long as one runs; may be nil
}

// command is git in the repository, killed with all it started when ctx ends.
func (r repository) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{
		"-c", "gc.auto=0", // only when nothing unreachable is wanted any more: collect
		"-c", "safe.directory=*",
		"-c", "core.logAllRefUpdates=false", // a reflog would keep what was purged
	}, args...)...)
	// GIT_DIR: nothing is searched for, no hook or config of another repository runs.
	cmd.Env = append(os.Environ(), "GIT_DIR="+r.dir, "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	if r.lock != nil {
		cmd.ExtraFiles = []*os.File{r.lock}
	}
	return cmd
}

// run runs git to its end and returns what it printed.
func (r repository) run(ctx context.Context, args ...string) (string, error) {
	cmd := r.command(ctx, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return "", failed(ctx, args, r.dir, stderr.Bytes(), err)
	}
	return strings.TrimSpace(string(output)), nil
}

// failed says which git failed and what it said last.
func failed(ctx context.Context, args []string, dir string, stderr []byte, err error) error {
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	what := args[0]
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	said := strings.TrimSpace(string(stderr))
	if i := strings.LastIndexByte(said, '\n'); i >= 0 {
		said = said[i+1:]
	}
	if said != "" {
		return fmt.Errorf("git %s in %s: %w: %s", what, dir, err, said)
	}
	return fmt.Errorf("git %s in %s: %w", what, dir, err)
}

// errEmpty: a repository without a commit is what git makes of a wrong address.
var errEmpty = errors.New("the repository is empty")

// tip returns the commit that the epoch has come to.
func (r repository) tip(ctx context.Context) (string, error) {
	refs, err := r.run(ctx, "for-each-ref", "--format=%(HEAD) %(objectname)", "refs/heads")
	if err != nil {
		return "", err
	}
	lines := strings.Split(refs, "\n")
	if refs == "" {
		return "", fmt.Errorf("%s: %w", r.dir, errEmpty)
	}
	for _, line := range lines {
		if commit, ok := strings.CutPrefix(line, "* "); ok || len(lines) == 1 {
			return strings.TrimSpace(commit), nil
		}
	}
	return "", fmt.Errorf("%s has %d branches and HEAD is none of them", r.dir, len(lines))
}

// has reports whether a commit is in the repository, reachable or not.
func (r repository) has(ctx context.Context, commit string) bool {
	_, err := r.run(ctx, "cat-file", "-e", commit+"^{commit}")
	return err == nil
}

// isAncestor reports whether tip was made on top of commit.
func (r repository) isAncestor(ctx context.Context, commit, tip string) (bool, error) {
	_, err := r.run(ctx, "merge-base", "--is-ancestor", commit, tip)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && ctx.Err() == nil {
		return false, nil
	}
	return err == nil, err
}

// stream runs git and hands its output to read while it comes.
func (r repository) stream(ctx context.Context, read func(io.Reader) error, args ...string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := r.command(ctx, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("git %s: %w", args[0], err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git %s: %w", args[0], err)
	}
	readErr := read(stdout)
	if readErr != nil {
		cancel()
	}
	if err := cmd.Wait(); err != nil && readErr == nil {
		return failed(ctx, args, r.dir, stderr.Bytes(), err)
	}
	return readErr
}
