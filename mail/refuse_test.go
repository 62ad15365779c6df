package mail

import (
	"errors"
	"strings"
	"testing"
)

func TestRefuse(t *testing.T) {
	git := func(name, more string) string {
		return "diff --git a/" + name + " b/" + name + "\n" + more + "--- a/" + name + "\n+++ b/" + name + "\n@@ -1 +1 @@\n-a\n+b\n"
	}
	for _, test := range []struct{ name, diff, want string }{
		{"a file", git("lib/x.c", ""), ""},
		{"dots in a name", git("lib/..x..c", ""), ""},
		{"a new file", "diff --git a/x b/x\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", ""},
		{"NUL", git("lib/x.c", "") + "\x00", "NUL"},
		{"symbolic link", "diff --git a/x b/x\nnew file mode 120000\nindex 0..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n", "symbolic link"},
		{"a link that was one before", "diff --git a/x b/x\nindex 1111111..2222222 120000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-/a\n\\ No newline at end of file\n+/b\n\\ No newline at end of file\n", "symbolic link"},
		{"submodule", "diff --git a/x b/x\nnew file mode 160000\nindex 0..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+Subproject commit 1\n", "submodule"},
		{"a device", "diff --git a/x b/x\nold mode 100644\nnew mode 060000\n", "mode 60000"},
		{"out of the tree", git("../x", ""), "leaves the tree"},
		{"out of the tree in the middle", git("lib/../../x", ""), "leaves the tree"},
		{"absolute", "--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n", "absolute"},
		{"rename to an absolute path", "diff --git a/x b/x\nsimilarity index 100%\nrename from x\nrename to /etc/x\n", "absolute"},
		{"two names, of which git may take either", "--- a/../x\n+++ b/lib/x\n@@ -1 +1 @@\n-a\n+b\n", "leaves the tree"},
		{"a removed line that looks like a name", "diff --git a/x.lua b/x.lua\n--- a/x.lua\n+++ b/x.lua\n@@ -1,2 +1 @@\n a\n--- ../y\n", ""},
		{"quoted", "diff --git \"a/\\056\\056/x\" \"b/\\056\\056/x\"\n--- \"a/\\056\\056/x\"\n+++ \"b/\\056\\056/x\"\n@@ -1 +1 @@\n-a\n+b\n", "quoted"},
		{"git's own", git(".git/hooks/post-applypatch", ""), "git's own"},
		{"git's own in other letters", git("x/.GiT/config", ""), "git's own"},
		{"git's own as DOS names it", git("git~1/config", ""), "git's own"},
		{"modules", git(".gitmodules", ""), "submodules"},
		{"rename into git", "diff --git a/x b/x\nsimilarity index 100%\nrename from x\nrename to .git/x\n", "git's own"},
		{"combined", "diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n", "combined"},
		{"too large", git("x", "") + strings.Repeat("#\n", MaxDiff/2), "bytes, more than"},
	} {
		m, err := Parse([]byte("From: a@x\nSubject: [PATCH] x\nMessage-ID: <a@x>\n\nlog\n---\n" + test.diff))
		if err != nil {
			t.Fatal(err)
		}
		p, ok := PatchOf(m)
		if !ok {
			t.Errorf("%s: no patch", test.name)
			continue
		}
		err = p.Refuse()
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.want != "" && (!errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// TestRefuseNoFile refuses what holds a diff but names no file.
func TestRefuseNoFile(t *testing.T) {
	if err := (&Patch{Number: 1, Diff: "---\n"}).Refuse(); !errors.Is(err, ErrRefused) {
		t.Errorf("got %v", err)
	}
}

func TestHints(t *testing.T) {
	text := `Subject: [PATCH 0/1] x
Message-ID: <c@x>

Text.

> base-commit: 1111111111111111111111111111111111111111
base-commit: 0123456789ABCDEF0123456789abcdef01234567
prerequisite-patch-id: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
prerequisite-patch-id: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
prerequisite-patch-id: nonsense
change-id: 20251101-x-0123456789ab
Depends-on: <first@x>
Based-on: second@x
`
	m, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s := &Series{Cover: m}
	if got, want := s.BaseCommit(), "0123456789abcdef0123456789abcdef01234567"; got != want {
		t.Errorf("base %q, want %q", got, want)
	}
	if got := s.Prerequisites(); len(got) != 2 || got[0][0] != 'a' || got[1][0] != 'b' {
		t.Errorf("prerequisites %q", got)
	}
	if got, want := s.ChangeID(), "20251101-x-0123456789ab"; got != want {
		t.Errorf("change-id %q, want %q", got, want)
	}
	if got := strings.Join(s.DependsOn(), " "); got != "second@x first@x" {
		t.Errorf("depends on %q", got)
	}
	if (&Series{}).BaseCommit() != "" {
		t.Error("a base of nothing")
	}
}

func TestEarlier(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"- Link to v1: https://lore.kernel.org/r/20251101-x-v1-0-0123@x\n", "20251101-x-v1-0-0123@x"},
		{"v2: https://lore.kernel.org/all/b@x/\n", "b@x"},
		{"* v1:\n  https://lore.kernel.org/linux-mm/c@x/T/#t\n", "c@x"},
		{"RFC: <https://lore.kernel.org/r/d@x>\n", "d@x"},
		{"Reported in https://lore.kernel.org/r/e@x\n", ""},
		{"v2: see https://example.org/\n", ""},
	} {
		if got := strings.Join(earlier(test.text), " "); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}
