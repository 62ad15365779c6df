package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"uabot/internal/testenv"
)

// TestInterrupt presses Ctrl-C while a target is being prepared: the program ends with
// code 2, nothing of it goes on, and nothing half-made stays in the cache.
func TestInterrupt(t *testing.T) {
	tree := testenv.Kernel(t)
	testenv.Tool(t, "git", "make", "bwrap", "s390x-linux-gnu-gcc")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	uabot := filepath.Join(t.TempDir(), "uabot") // testscript.Main runs the program by its name
	if err := os.Symlink(self, uabot); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	// The checkout of the base takes half a minute and is not what is tested.
	if shared := filepath.Join(testenv.Cache(t), "trees"); exists(shared) {
		if err := os.Symlink(shared, filepath.Join(cache, "trees")); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(uabot, "review", "--tree", tree, "--cache", cache, "--target", "s390x", filepath.Join(examplesDir(t), "fat-readdir-v1.mbox"))
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	words, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	deadline := time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() })
	defer deadline.Stop()
	var seen bytes.Buffer
	for lines := bufio.NewScanner(words); lines.Scan(); {
		seen.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "preparing: generated files") {
			time.Sleep(2 * time.Second) // so that compilers run
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
	}
	var failed *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &failed) || failed.ExitCode() != exitTrouble {
		t.Errorf("ended with %v, want exit code 2\n%s", err, &seen)
	}
	if !strings.Contains(seen.String(), "interrupted; nothing is left running or half-made") {
		t.Errorf("it said\n%s", &seen)
	}
	processes, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range processes {
		if line, err := os.ReadFile(file); err == nil && bytes.Contains(line, []byte(cache)) {
			t.Errorf("still running: %s", bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
		}
	}
	for _, pattern := range []string{"bases/s390x-*/out", "work/*", "git/half-*", "git/*/worktrees/*"} {
		if left, _ := filepath.Glob(filepath.Join(cache, pattern)); left != nil {
			t.Errorf("left in the cache: %v", left)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
