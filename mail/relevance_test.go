package mail

import (
	"strings"
	"testing"
)

// TestRelevance gives the diff of one patch, and which reason is expected.
func TestRelevance(t *testing.T) {
	hunk := func(file, function, lines string) string {
		return "diff --git a/" + file + " b/" + file + "\n--- a/" + file + "\n+++ b/" + file + "\n@@ -1,2 +1,2 @@ " + function + "\n" + lines
	}
	changed := " a\n-\told();\n+\t"
	for _, test := range []struct {
		name, diff string
		tier       Tier
		why        string
	}{
		{"a window in an added line", hunk("fs/x.c", "int f(void)", changed+"if (!user_write_access_begin(p, 8))\n"), Windows, "user_write_access_begin in changed lines of fs/x.c"},
		{"in a removed line", hunk("fs/x.c", "int f(void)", " a\n-\tunsafe_put_user(a, b, c);\n+\tnew();\n"), Windows, "unsafe_put_user in changed lines of fs/x.c"},
		{"in context", hunk("fs/x.c", "int f(void)", " \tuser_access_end();\n-\told();\n+\tnew();\n"), Windows, "user_access_end near changed lines of fs/x.c"},
		{"the function around", hunk("arch/powerpc/x.c", "static inline void allow_user_access(void *to)", " a\n-\told();\n+\tnew();\n"), Windows, "changes allow_user_access in arch/powerpc/x.c"},
		{"an argument in the header is not the function", hunk("fs/x.c", "int f(int get_user)", " a\n-\told();\n+\tnew();\n"), NoTier, ""},
		{"get_user in context", hunk("fs/x.c", "", " \tget_user(a, b);\n-\told();\n+\tnew();\n"), Accesses, "get_user near changed lines of fs/x.c"},
		{"a copy in a changed line", hunk("fs/x.c", "", changed+"copy_to_user(a, b, c);\n"), Copies, "copy_to_user in changed lines of fs/x.c"},
		{"a copy in context is too common", hunk("fs/x.c", "", " \tcopy_to_user(a, b, c);\n-\told();\n+\tnew();\n"), NoTier, ""},
		{"a longer name", hunk("fs/x.c", "", changed+"copy_to_user_page(a, b, c); my_get_user(); get_user_pages();\n"), NoTier, ""},
		{"stac in x86", hunk("arch/x86/entry/x.S", "", changed+"STAC\n"), Windows, "STAC in changed lines of arch/x86/entry/x.S"},
		{"STAC the codec", hunk("sound/pci/hda/x.c", "", changed+"spec->type = STAC;\n"), NoTier, ""},
		{"a header of user access", hunk("arch/riscv/include/asm/uaccess.h", "", changed+"x = 1;\n"), Windows, "changes arch/riscv/include/asm/uaccess.h"},
		{"objtool's rules", hunk("tools/objtool/check.c", "", changed+"x = 1;\n"), Windows, "changes tools/objtool/check.c"},
		{"another check.c", hunk("tools/other/check.c", "", changed+"x = 1;\n"), NoTier, ""},
		{"a member of that name", hunk("fs/x.c", "", changed+"  .get_user = get_it, }; ops->copy_to_user(a);\n"), NoTier, ""},
		{"powerpc's lock", hunk("arch/powerpc/x.c", "", changed+"kuap_assert_locked();\n"), Windows, "kuap_assert_locked in changed lines of arch/powerpc/x.c"},
		{"a driver that goes away", "diff --git a/x.c b/x.c\ndeleted file mode 100644\n--- a/x.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-\tcopy_to_user(a, b, c);\n", NoTier, ""},
		{"a comment", hunk("fs/x.c", "", " /*\n- * calls old()\n+ * calls copy_to_user()\n"), NoTier, ""},
		{"prose", hunk("Documentation/x.rst", "", changed+"Use get_user().\n"), NoTier, ""},
		{"a test program", hunk("tools/testing/selftests/x.c", "", changed+"copy_to_user(a, b, c);\n"), NoTier, ""},
		{"code behind a comment", hunk("fs/x.c", "", changed+"/* now */ put_user(a, b);\n"), Accesses, "put_user in changed lines of fs/x.c"},
	} {
		m, err := Parse([]byte("From: a@x\nSubject: [PATCH] x\nMessage-ID: <a@x>\n\nThis is about get_user() and copy_to_user().\n---\n" + test.diff))
		if err != nil {
			t.Fatal(err)
		}
		p, ok := PatchOf(m)
		if !ok || p.DiffError != nil {
			t.Errorf("%s: %v %+v", test.name, ok, p)
			continue
		}
		r, err := NewRelevance(DefaultTopics())
		if err != nil {
			t.Fatal(err)
		}
		got := r.OfPatch(p)
		if got.Relevant != (test.tier != NoTier) || got.Tier != test.tier || got.Why != test.why {
			t.Errorf("%s: %v %q, want %v %q", test.name, got.Tier, got.Why, test.tier, test.why)
		}
	}
}

func TestRelevanceOfQuotes(t *testing.T) {
	m, err := Parse([]byte("From: a@x\nSubject: [PATCH] x\nMessage-ID: <a@x>\n\nlog\n---\n> +	user_access_begin(a, b);\n\n" +
		"diff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n> +	unsafe_put_user(a);\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, ok := PatchOf(m)
	r, _ := NewRelevance(DefaultTopics())
	if got := r.OfPatch(p); !ok || got.Relevant {
		t.Errorf("%v %+v", ok, got)
	}
}

func TestTopicsAreChecked(t *testing.T) {
	for _, topics := range []Topics{{Windows: []string{"(x"}}, {X86: []string{"["}}, {Paths: []string{"[a"}}} {
		if _, err := NewRelevance(topics); err == nil || !strings.Contains(err.Error(), "pattern") {
			t.Errorf("%v: %v", topics, err)
		}
	}
	r, err := NewRelevance(Topics{Copies: []string{"my_copy"}})
	if err != nil {
		t.Fatal(err)
	}
	if m := r.meaning("my_copy"); m.tier != Copies {
		t.Errorf("an own topic is %v", m.tier)
	}
	if m := r.meaning("get_user"); m.tier != NoTier {
		t.Errorf("a topic that was taken out is %v", m.tier)
	}
}
