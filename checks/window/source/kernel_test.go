package source

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"uabot/internal/testenv"
)

// kernelOutput makes an output directory of the kernel tree that compiles little.
func kernelOutput(t *testing.T) (tree, out string) {
	t.Helper()
	testenv.Tool(t, "gcc", "make", "flex", "bison", "bc")
	tree = testenv.Kernel(t)
	out = t.TempDir()
	config := filepath.Join(out, "more")
	if err := os.WriteFile(config, []byte("CONFIG_64BIT=y\nCONFIG_COMPAT=y\nCONFIG_IA32_EMULATION=y\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"tinyconfig", "prepare"} {
		if output, err := exec.Command("make", "-s", "-j2", "-C", tree, "O="+out, "ARCH=x86", "KCONFIG_ALLCONFIG="+config, target).CombinedOutput(); err != nil {
			t.Fatalf("make %s: %v: %s", target, err, tail(output))
		}
	}
	return tree, out
}

// Files that use windows, in a tree that was only configured: nothing to find, and
// the windows are counted.
func TestCheckFilesOfKernel(t *testing.T) {
	tree, out := kernelOutput(t)
	in := Tree{Source: tree, Output: out, Make: []string{"ARCH=x86"}}
	res, err := CheckFiles(context.Background(), in, []string{"fs/readdir.c", "lib/strnlen_user.c"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Findings {
		t.Errorf("%s:%d: %s", f.File, f.Line, f.Title)
	}
	opens := map[string]int{}
	for _, w := range res.Windows {
		if w.File == "fs/readdir.c" || w.File == "lib/strnlen_user.c" {
			opens[w.Function] = w.Opens
		}
	}
	// by their lines in 6.12.117; x86-64 compiles the masked half of strnlen_user()
	for function, want := range map[string]int{"filldir": 1, "filldir64": 1, "compat_filldir": 1, "strnlen_user": 1} {
		if opens[function] != want {
			t.Errorf("%s opens %d windows, want %d", function, opens[function], want)
		}
	}

	if _, err := CheckFiles(context.Background(), in, []string{"arch/arm/kernel/swp_emulate.c"}); !errors.Is(err, ErrNotCompiled) {
		t.Errorf("a file of another architecture: %v", err)
	}
	if _, err := CheckFiles(context.Background(), in, []string{"fs/none.c"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if entries, _ := filepath.Glob(filepath.Join(out, "fs", "*.cfg*")); len(entries) > 0 {
		t.Errorf("dumps were left: %v", entries)
	}
}
