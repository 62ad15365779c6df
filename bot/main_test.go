package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"uabot/internal/testenv"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"uabot": func() { os.Exit(Main()) }})
}

// exits is a command of the scripts: "exits CODE PROGRAM ARG…" runs the program and
// holds its exit code, which is a contract, to CODE.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG…")
	}
	code := 0
	var failed *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &failed) {
		code = failed.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if want := args[0]; strconv.Itoa(code) != want {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
}

var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){"exits": exits}

func examplesDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../examples")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestCommandLine runs the scripts that need nothing but the program.
func TestCommandLine(t *testing.T) {
	examples := examplesDir(t)
	testscript.Run(t, testscript.Params{Dir: "testdata/short", RequireExplicitExec: true, Cmds: scriptCommands, UpdateScripts: os.Getenv("UPDATE") != "", Setup: func(e *testscript.Env) error {
		e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
		e.Setenv("EXAMPLES", examples)
		return nil
	}})
}

// TestKernel runs the scripts that review series on a real kernel. They share a
// cache, and each has one for the tree's bases only in name: builds are kept there.
func TestKernel(t *testing.T) {
	tree := testenv.Kernel(t)
	testenv.Tool(t, "git", "make", "bwrap", "sparse", "powerpc-linux-gnu-gcc", "riscv64-linux-gnu-gcc")
	examples := examplesDir(t)
	testscript.Run(t, testscript.Params{Dir: "testdata/kernel", RequireExplicitExec: true, Cmds: scriptCommands, UpdateScripts: os.Getenv("UPDATE") != "", Setup: func(e *testscript.Env) error {
		e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
		e.Setenv("UABOT_CACHE", testenv.Cache(t))
		e.Setenv("TREE", tree)
		e.Setenv("EXAMPLES", examples)
		return nil
	}})
}
