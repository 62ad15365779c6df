package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"uabot/internal/testenv"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"uabot": func() { os.Exit(Main()) }})
}

// TestCommandLine runs the scripts that need nothing but the program.
func TestCommandLine(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/short", RequireExplicitExec: true, UpdateScripts: os.Getenv("UPDATE") != "", Setup: func(e *testscript.Env) error {
		e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
		return nil
	}})
}

// TestKernel runs the scripts that review series on a real kernel. They share a
// cache, and each has one for the tree's bases only in name: builds are kept there.
func TestKernel(t *testing.T) {
	tree := testenv.Kernel(t)
	testenv.Tool(t, "git", "make", "bwrap", "sparse", "powerpc-linux-gnu-gcc", "riscv64-linux-gnu-gcc")
	examples, err := filepath.Abs("../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: "testdata/kernel", RequireExplicitExec: true, UpdateScripts: os.Getenv("UPDATE") != "", Setup: func(e *testscript.Env) error {
		e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
		e.Setenv("UABOT_CACHE", testenv.Cache(t))
		e.Setenv("TREE", tree)
		e.Setenv("EXAMPLES", examples)
		return nil
	}})
}
