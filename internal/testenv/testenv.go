// Package testenv finds what a test needs outside of Go: tools, servers, a kernel
// tree. What is missing skips the test, or fails it where UABOT_TEST_REQUIRE=all
// says that everything has to be there (CI).
package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// NotShort skips t under `go test -short`, where only Go itself may be assumed.
func NotShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs more than Go: not under -short")
	}
}

// Missing skips t because what is not there, or fails it where everything is required.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("UABOT_TEST_REQUIRE") == "all" {
		t.Fatalf("%s is missing, and UABOT_TEST_REQUIRE=all", what)
	}
	t.Skipf("%s is missing", what)
}

// Tool returns the path of each named program. Debian's servers live in sbin,
// which is not on every user's PATH: it is searched too.
func Tool(t testing.TB, names ...string) []string {
	t.Helper()
	NotShort(t)
	var paths []string
	for _, name := range names {
		path, err := exec.LookPath(name)
		for _, dir := range []string{"/usr/sbin", "/sbin", "/usr/lib/dovecot"} {
			if err == nil {
				break
			}
			path, err = exec.LookPath(filepath.Join(dir, name))
		}
		if err != nil {
			Missing(t, name)
		}
		paths = append(paths, path)
	}
	return paths
}

// Cache is the directory that kernel trees and builds are kept in: UABOT_CACHE,
// else ~/.cache/uabot.
func Cache(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("UABOT_CACHE"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatalf("no home directory: %v", err)
	}
	return filepath.Join(home, ".cache", "uabot")
}

// Kernel returns the root of a kernel git tree, 6.12: UABOT_KERNEL, else
// linux-6.12 in the cache. The tree is never to be changed.
func Kernel(t testing.TB) string {
	t.Helper()
	NotShort(t)
	dir := os.Getenv("UABOT_KERNEL")
	if dir == "" {
		dir = filepath.Join(Cache(t), "linux-6.12")
	}
	if _, err := os.Stat(filepath.Join(dir, "Kbuild")); err != nil {
		Missing(t, "a kernel tree in "+dir)
	}
	return dir
}
