// Package testserver starts real servers for tests, on loopback addresses with
// free ports and with everything they write in the test's own directory:
// public-inbox (git over HTTP, HTTP, NNTP, IMAP), dovecot, opensmtpd, postgresql. A
// Proxy stands in front of one of them when a test needs it to stall or to break off.
//
// The servers are those of the system; a missing one skips the test (package
// testenv). On Debian: public-inbox dovecot-imapd opensmtpd libsearch-xapian-perl
// libdbd-sqlite3-perl libplack-perl liblinux-inotify2-perl.
package testserver

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// patience is how long a server may take for something it does in a moment.
const patience = 20 * time.Second

// process is a server that runs until the end of the test, or until it is stopped.
type process struct {
	cmd    *exec.Cmd
	output string // file that its stdout and stderr go to
	exited chan struct{}
}

// start starts a server in a process group of its own.
func start(t testing.TB, output string, env []string, command ...string) *process {
	t.Helper()
	return startAs(t, "", &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}, output, env, command...)
}

func startAs(t testing.TB, work string, attributes *syscall.SysProcAttr, output string, env []string, command ...string) *process {
	t.Helper()
	file, err := os.Create(output)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, file, file
	cmd.Dir, cmd.SysProcAttr = work, attributes
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", command[0], err)
	}
	p := &process{cmd: cmd, output: output, exited: make(chan struct{})}
	go func() {
		cmd.Wait() // how it ended is in its output
		close(p.exited)
	}()
	t.Cleanup(func() {
		p.stop(t)
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(command[0]), tail(p.said()))
		}
	})
	return p
}

// stop ends the server and everything it started.
func (p *process) stop(t testing.TB) {
	t.Helper()
	p.cmd.Process.Signal(syscall.SIGTERM) // an error says that it has ended
	select {
	case <-p.exited:
	case <-time.After(3 * time.Second):
	}
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	select {
	case <-p.exited:
	case <-time.After(patience):
		t.Errorf("%s cannot be killed", p.cmd.Path)
	}
}

func (p *process) said() []byte {
	text, _ := os.ReadFile(p.output)
	return text
}

func tail(text []byte) []byte {
	const keep = 4000
	return text[max(0, len(text)-keep):]
}

// until waits for something that a server does by itself.
func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, patience)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// run runs a program to its end.
func run(t testing.TB, env []string, stdin []byte, command ...string) []byte {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Stdin = env, bytes.NewReader(stdin)
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, tail(output))
	}
	return output
}

// freePort returns a port that was free a moment ago, for servers that cannot
// tell which one the system gave them.
func freePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// listens reports whether a server accepts connections there.
func listens(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

func writeFile(t testing.TB, name string, mode os.FileMode, format string, args ...any) {
	t.Helper()
	if err := os.WriteFile(name, fmt.Appendf(nil, format, args...), mode); err != nil {
		t.Fatal(err)
	}
}

// dir makes a directory for a server: t.TempDir is closed to other users, and
// its path is too long for a Unix socket when the test's name is.
func dir(t testing.TB, name string) string {
	t.Helper()
	path, err := os.MkdirTemp("", "uabot-"+name+"-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(path) })
	return path
}
