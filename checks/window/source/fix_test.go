package source

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"uabot/checks"
	"uabot/internal/testenv"
)

// Each suggested diff applies, and what it was suggested for is gone then.
func TestSuggestedDiffs(t *testing.T) {
	tools := testenv.Tool(t, "gcc", "patch")
	mended := map[string]int{}
	for _, toy := range toys {
		for _, f := range checkToy(t, "testdata/gcc12", toy.name, toy.arch).Findings {
			if f.Fix == nil || f.Fix.Diff == "" {
				continue
			}
			t.Run(toy.name+"/"+f.Function+"/"+f.Rule, func(t *testing.T) {
				dir := t.TempDir()
				copyTree(t, "testdata", dir)
				copyTree(t, "overlay", filepath.Join(dir, "overlay"))
				cmd := exec.Command(tools[1], "-p1", "-s", "-F0")
				cmd.Dir, cmd.Stdin = dir, strings.NewReader(f.Fix.Diff)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s\n%s", err, out, f.Fix.Diff)
				}
				args := append([]string{"-c", `. overlay/dump.sh; uabot_dump "$@"`, "sh", toy.name, "-O2", "-Wall"}, toy.flags...)
				cmd = exec.Command("sh", append(args, "-Iinclude", toy.name+".c")...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "CC="+tools[0], "UABOT_OVERLAY=overlay")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				for _, g := range checkToy(t, dir, toy.name, toy.arch).Findings {
					if g.Function == f.Function && g.Rule == f.Rule && g.Detail == f.Detail {
						t.Errorf("still there with\n%s", f.Fix.Diff)
					}
				}
				mended[f.Rule]++
			})
		}
	}
	for _, rule := range []string{"close-without-open", "open-at-return", "kind-mismatch", "call-in-window"} {
		if mended[rule] == 0 {
			t.Errorf("no diff was suggested for a %s", rule)
		}
	}
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// The diff for a bug in a macro keeps the backslashes where they were.
func TestSuggestedMacroDiff(t *testing.T) {
	var fix *checks.Fix
	for _, f := range checkToy(t, "testdata/gcc12", "macros", "s390").Findings {
		if f.Function == "store" {
			fix = f.Fix
		}
	}
	want := `--- a/macros.c
+++ b/macros.c
@@ -2,15 +2,16 @@
 #include <linux/uaccess.h>
 
 #define store(v, ptr) ({					\
-	__label__ failed;					\
+	__label__ failed, failed_closed;			\
 	int __err = -EFAULT;					\
 								\
 	if (!user_write_access_begin(ptr, sizeof(*(ptr))))	\
-		goto failed;					\
+		goto failed_closed;				\
 	unsafe_put_user(v, ptr, failed);			\
 	__err = 0;						\
 failed:								\
 	user_write_access_end(); /* want: close-without-open in store */ \
+failed_closed:							\
 	__err;							\
 })
 
`
	if fix == nil || fix.Diff != want {
		t.Errorf("got %+v", fix)
	}
}
