package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"uabot/internal/testenv"
)

// TestReproduce does what a report tells its reader to do, in a fresh clone, and sees
// what the report says. Only b4 is a stand-in: it would fetch the series from lore.
func TestReproduce(t *testing.T) {
	tree := testenv.Kernel(t)
	git := testenv.Tool(t, "git", "make", "bwrap")[0]
	series := filepath.Join(examplesDir(t), "fat-readdir-v1.mbox")

	t.Setenv("UABOT_CACHE", testenv.Cache(t))
	t.Setenv("HOME", t.TempDir())
	var out, words bytes.Buffer
	p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &words}
	if code := p.main(t.Context(), []string{"review", "--quiet", "--json", "--tree", tree, "--target", "x86-64", series}); code != exitFound {
		t.Fatalf("exit code %d: %s", code, words.Bytes())
	}
	var verdict struct{ Reproduce []string }
	if err := json.Unmarshal(out.Bytes(), &verdict); err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	clone := filepath.Join(dir, "linux")
	if words, err := exec.Command(git, "clone", "-q", "--shared", "--no-checkout", tree, clone).CombinedOutput(); err != nil {
		t.Fatalf("cloning: %v\n%s", err, words)
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	b4 := "#!/bin/sh\n[ \"$1 $2\" = 'shazam 202610050920.fat-v1-0-ada@dev.example.org' ] || exit 1\n" +
		"exec git -c user.name=r -c user.email=r@localhost am -q --empty=drop " + series + "\n"
	if err := os.WriteFile(filepath.Join(bin, "b4"), []byte(b4), 0o755); err != nil {
		t.Fatal(err)
	}
	script := strings.ReplaceAll("set -e\n"+strings.Join(verdict.Reproduce, "\n")+"\n", "/tmp/u", filepath.Join(dir, "out"))
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = clone
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "MAKEFLAGS=-j2")
	shown, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("these lines fail: %v\n%s\n%s", err, script, tailOf(shown))
	}
	if !bytes.Contains(shown, []byte("redundant UACCESS disable")) {
		t.Errorf("these lines do not show what the report says:\n%s\n%s", script, tailOf(shown))
	}
}

func tailOf(b []byte) []byte { return b[max(0, len(b)-3000):] }
