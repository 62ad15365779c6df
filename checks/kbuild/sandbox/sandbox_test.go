package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"uabot/internal/testenv"
)

// runner returns a sandbox, or skips (fails in CI) where bubblewrap cannot run.
func runner(t *testing.T) *Runner {
	t.Helper()
	testenv.Tool(t, "bwrap", "prlimit")
	r, err := New(t.Context())
	if errors.Is(err, ErrUnavailable) {
		testenv.Missing(t, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func unsandboxed(t *testing.T) *Runner {
	t.Helper()
	testenv.Tool(t, "prlimit")
	r, err := Unsandboxed()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// both runs f with and without a sandbox.
func both(t *testing.T, f func(t *testing.T, r *Runner)) {
	t.Run("bubblewrap", func(t *testing.T) { f(t, runner(t)) })
	t.Run("unsandboxed", func(t *testing.T) { f(t, unsandboxed(t)) })
}

func sh(script string) Command { return Command{Args: []string{"bash", "-c", script}} }

func run(t *testing.T, r *Runner, c Command) Result {
	t.Helper()
	res, err := r.Run(t.Context(), c)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, res.Stdout, res.Stderr)
	}
	return res
}

func wantLimit(t *testing.T, r *Runner, c Command, words string) {
	t.Helper()
	start := time.Now()
	res, err := r.Run(t.Context(), c)
	var over *LimitError
	if !errors.As(err, &over) || !strings.Contains(over.Limit, words) {
		t.Fatalf("error %v, want a limit with %q\nexit %d %s%s", err, words, res.Exit, res.Stdout, res.Stderr)
	}
	if d := time.Since(start); d > 15*time.Second {
		t.Errorf("it took %v to end the command", d)
	}
}

// alive returns the processes whose command line holds word.
func alive(word string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), word) && filepath.Base(filepath.Dir(file)) != fmt.Sprint(os.Getpid()) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

func TestResult(t *testing.T) {
	both(t, func(t *testing.T, r *Runner) {
		c := sh("echo out; echo err >&2; cat; exit 3")
		c.Stdin = strings.NewReader("in\n")
		res := run(t, r, c)
		if string(res.Stdout) != "out\nin\n" || string(res.Stderr) != "err\n" || res.Exit != 3 || res.Truncated {
			t.Errorf("%+v: %s%s", res, res.Stdout, res.Stderr)
		}
		c = sh("echo 1; echo 2 >&2; echo 3")
		c.Merge = true
		if res := run(t, r, c); string(res.Stdout) != "1\n2\n3\n" || len(res.Stderr) != 0 {
			t.Errorf("merged: %q %q", res.Stdout, res.Stderr)
		}
		if _, err := r.Run(t.Context(), Command{}); err == nil {
			t.Error("an empty command ran")
		}
	})
}

func TestMissingProgram(t *testing.T) {
	both(t, func(t *testing.T, r *Runner) {
		res, err := r.Run(t.Context(), Command{Args: []string{"no-such-program-here"}})
		if err == nil && res.Exit == 0 {
			t.Errorf("exit %d, error %v", res.Exit, err)
		}
		if !strings.Contains(string(res.Stderr), "no-such-program-here") {
			t.Errorf("it does not say what is missing: %s", res.Stderr)
		}
	})
}

// A mail's patch may add "#include "/root/.ssh/id_ed25519"" or a Makefile that
// talks to the world: neither the network nor the host's files are there.
func TestNetworkUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	connect := sh("exec 3<>/dev/tcp/127.0.0.1/" + port + " && echo connected")
	if res := run(t, unsandboxed(t), connect); !strings.Contains(string(res.Stdout), "connected") {
		t.Fatalf("the test itself cannot connect: %s", res.Stderr)
	}
	if res := run(t, runner(t), connect); res.Exit == 0 {
		t.Error("the sandbox reached a server of the host")
	}
}

func TestFilesOfTheHostHidden(t *testing.T) {
	r := runner(t)
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("s3cret"), 0o644); err != nil {
		t.Fatal(err)
	}
	res := run(t, r, sh("cat "+secret+"; ls /root /home /var /run /etc/shadow /etc/hostname; ls /tmp | wc -l; true"))
	if strings.Contains(string(res.Stdout), "s3cret") || !strings.HasSuffix(string(res.Stdout), "0\n") {
		t.Errorf("visible inside:\n%s", res.Stdout)
	}
	if n := strings.Count(string(res.Stderr), "No such file"); n != 7 {
		t.Errorf("%d of 7 paths are hidden:\n%s", n, res.Stderr)
	}
}

func TestBinds(t *testing.T) {
	src, out := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(src, "a.c"), []byte("int a;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := runner(t)
	c := sh("cat a.c; echo x >/src/b.c; echo x >>/src/a.c; rm -f /src/a.c; echo y >/usr/x; cp a.c /out/")
	c.Binds = []Bind{{Host: src, At: "/src"}, {Host: out, At: "/out", Writable: true}}
	c.Dir = "/src"
	res := run(t, r, c)
	if string(res.Stdout) != "int a;\n" {
		t.Errorf("read %q", res.Stdout)
	}
	if n := strings.Count(string(res.Stderr), "Read-only file system"); n != 4 {
		t.Errorf("%d of 4 writes were refused:\n%s", n, res.Stderr)
	}
	if got, _ := os.ReadFile(filepath.Join(out, "a.c")); string(got) != "int a;\n" {
		t.Errorf("the writable directory got %q", got)
	}
	if got, _ := os.ReadDir(src); len(got) != 1 {
		t.Errorf("the source has %d files", len(got))
	}
	if got := r.Inside(c.Binds[0]); got != "/src" {
		t.Errorf("inside: %s", got)
	}
	if got := unsandboxed(t).Inside(c.Binds[0]); got != src {
		t.Errorf("unsandboxed: %s", got)
	}
	c.Binds = []Bind{{Host: "relative", At: "/src"}}
	if _, err := r.Run(t.Context(), c); err == nil {
		t.Error("a relative bind was accepted")
	}
}

func TestEnvironmentClean(t *testing.T) {
	t.Setenv("SMTP_PASSWORD", "s3cret")
	t.Setenv("MAKEFLAGS", "-n")
	both(t, func(t *testing.T, r *Runner) {
		c := sh("env; echo ====; cat /proc/$PPID/environ; cat /proc/1/environ")
		c.Env = []string{"KBUILD_BUILD_USER=uabot", "EMPTY="}
		out := string(run(t, r, c).Stdout)
		own, others, _ := strings.Cut(out, "====\n")
		if strings.Contains(own, "s3cret") || r.Sandboxed() && strings.Contains(others, "s3cret") {
			t.Errorf("a secret of the caller is visible:\n%s", out)
		}
		if strings.Contains(own, "MAKEFLAGS") || !strings.Contains(own, "KBUILD_BUILD_USER=uabot\n") || !strings.Contains(own, "EMPTY=\n") {
			t.Errorf("environment:\n%s", own)
		}
	})
}

func TestNoPrivileges(t *testing.T) {
	r := runner(t)
	out := string(run(t, r, sh("grep -E '^Cap(Eff|Prm|Bnd)|^NoNewPrivs' /proc/self/status; unshare -r true && echo namespace; mount -t tmpfs x /mnt && echo mounted; true")).Stdout)
	for _, want := range []string{"CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "NoNewPrivs:\t1"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "namespace") || strings.Contains(out, "mounted") {
		t.Errorf("privileges:\n%s", out)
	}
}

func TestWallTime(t *testing.T) {
	both(t, func(t *testing.T, r *Runner) {
		c := sh("sleep 98761 & sleep 98761")
		c.Limits.Wall = 500 * time.Millisecond
		wantLimit(t, r, c, "wall time of 500ms")
		if left := alive("98761"); len(left) > 0 {
			t.Errorf("still alive: %q", left)
		}
	})
}

func TestProcessorTime(t *testing.T) {
	both(t, func(t *testing.T, r *Runner) {
		c := sh("while :; do :; done")
		c.Limits.CPU = time.Second
		c.Limits.Wall = 60 * time.Second
		start := time.Now()
		res := run(t, r, c)
		if res.Exit == 0 || time.Since(start) > 30*time.Second {
			t.Errorf("exit %d after %v", res.Exit, time.Since(start))
		}
	})
}

func TestMemory(t *testing.T) {
	testenv.Tool(t, "dd")
	both(t, func(t *testing.T, r *Runner) {
		c := sh("dd if=/dev/zero of=/dev/null bs=400M count=1")
		c.Limits.Memory = 200 << 20
		if res := run(t, r, c); res.Exit == 0 || !strings.Contains(string(res.Stderr), "memory") {
			t.Errorf("exit %d: %s", res.Exit, res.Stderr)
		}
		// Many small processes together: each below the limit of one.
		c = sh("for i in 1 2 3 4; do (x=$(head -c 60000000 /dev/zero | tr '\\0' x); sleep 20) & done; wait")
		c.Limits.Resident = 150 << 20
		wantLimit(t, r, c, "150 MiB of memory")
	})
}

func TestForkBomb(t *testing.T) {
	both(t, func(t *testing.T, r *Runner) {
		c := sh("b() { sleep 98762 & b; }; for i in 1 2 3 4; do b & done; wait")
		c.Limits.Processes = 100
		c.Limits.Wall = 3 * time.Second
		_, err := r.Run(t.Context(), c)
		var over *LimitError
		// Where RLIMIT_NPROC binds (not root) bash gives up by itself.
		if err != nil && !errors.As(err, &over) {
			t.Error(err)
		}
		if over != nil && over.Limit != "100 processes" && os.Getuid() == 0 {
			t.Errorf("ended by %v", over)
		}
		if left := alive("98762"); len(left) > 0 {
			t.Errorf("%d processes are left", len(left))
		}
	})
}

func TestFileSize(t *testing.T) {
	both(t, func(t *testing.T, r *Runner) {
		out := t.TempDir()
		b := Bind{Host: out, At: "/out", Writable: true}
		c := sh("dd if=/dev/zero of=" + r.Inside(b) + "/f bs=1M count=10")
		c.Binds = []Bind{b}
		c.Limits.File = 1 << 20
		res := run(t, r, c)
		st, err := os.Stat(filepath.Join(out, "f"))
		if res.Exit == 0 || err != nil || st.Size() != 1<<20 {
			t.Errorf("exit %d, %v: %s", res.Exit, st, res.Stderr)
		}
	})
}

func TestFreeSpace(t *testing.T) {
	both(t, func(t *testing.T, r *Runner) {
		c := sh("sleep 98763")
		c.Binds = []Bind{{Host: t.TempDir(), At: "/out", Writable: true}}
		c.Limits.Free = 1 << 60 // no file system has that
		wantLimit(t, r, c, "stay free")
	})
}

func TestOutputCap(t *testing.T) {
	both(t, func(t *testing.T, r *Runner) {
		c := sh("yes | head -c 5000000; echo short >&2")
		c.Limits.Output = 1000
		res := run(t, r, c)
		if len(res.Stdout) != 1000 || string(res.Stderr) != "short\n" || !res.Truncated || res.Exit != 0 {
			t.Errorf("%d bytes, %q, truncated %v, exit %d", len(res.Stdout), res.Stderr, res.Truncated, res.Exit)
		}
	})
}

// Ctrl-C in the middle: nothing is left, not even what has left its process group
// and session.
func TestCancelLeavesNothing(t *testing.T) {
	both(t, func(t *testing.T, r *Runner) {
		ctx, cancel := context.WithCancel(t.Context())
		c := sh("setsid sleep 98764 & setsid bash -c 'sleep 98764; true' & trap '' TERM INT HUP; sleep 98764; sleep 98764")
		done := make(chan error, 1)
		go func() { _, err := r.Run(ctx, c); done <- err }()
		for start := time.Now(); len(alive("98764")) < 4 && time.Since(start) < 10*time.Second; {
			time.Sleep(20 * time.Millisecond)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if left := alive("98764"); len(left) > 0 {
			t.Errorf("still alive: %q", left)
		}
	})
}

// A command that ends while a child of it still runs takes the child with it.
func TestEndLeavesNothing(t *testing.T) {
	both(t, func(t *testing.T, r *Runner) {
		res := run(t, r, sh("setsid sleep 98765 >/dev/null 2>&1 & sleep 0.1; echo done"))
		if string(res.Stdout) != "done\n" {
			t.Errorf("%q", res.Stdout)
		}
		if left := alive("98765"); len(left) > 0 {
			t.Errorf("still alive: %q", left)
		}
	})
}

// The program itself killed by kill -9: the sandbox goes with it.
func TestKilledItself(t *testing.T) {
	if os.Getenv("UABOT_TEST_VICTIM") != "" {
		r, err := New(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = r.Run(t.Context(), sh("sleep 98766 & sleep 98766"))
		return
	}
	runner(t)
	victim := exec.Command(os.Args[0], "-test.run=^TestKilledItself$")
	victim.Env = append(os.Environ(), "UABOT_TEST_VICTIM=1")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); len(alive("98766")) < 3 && time.Since(start) < 10*time.Second; {
		time.Sleep(20 * time.Millisecond)
	}
	if len(alive("98766")) < 3 {
		t.Fatal("the victim started nothing")
	}
	_ = victim.Process.Signal(syscall.SIGKILL)
	_ = victim.Wait()
	for start := time.Now(); len(alive("98766")) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Since(start) > 10*time.Second {
			t.Fatalf("still alive: %q", alive("98766"))
		}
	}
}

// Started as root, the tests run a second time as a user without rights.
func TestAsUser(t *testing.T) {
	testenv.NotShort(t)
	if os.Getuid() != 0 {
		t.Skip("these tests already run as a user")
	}
	dir, err := os.MkdirTemp("", "uabot-user-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	binary, err := os.OpenFile(filepath.Join(dir, "sandbox.test"), os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(binary, self); err != nil {
		t.Fatal(err)
	}
	if err := binary.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary.Name(), "-test.v", "-test.skip=unsandboxed")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "HOME=/nonexistent", "TMPDIR=/tmp", "GOCACHE=/tmp")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: TestCancelLeavesNothing") {
		t.Errorf("they did not run:\n%s", out)
	}
}
