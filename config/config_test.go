package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBuiltinTargets(t *testing.T) {
	c := Default()
	if err := c.finish(nil); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, target := range c.Targets {
		names = append(names, target.Name)
		if target.Why == "" || target.Package == "" {
			t.Errorf("%s: no word on why it is there or what package brings its compiler", target.Name)
		}
	}
	want := "x86-64 i386 arm64-swpan arm ppc64le ppc32 ppc8xx riscv64 s390x"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("targets are %s, want %s", got, want)
	}
}

// A mistake is answered with the file, the line and what would be right.
func TestErrorsNameFileAndLine(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"unknown key", "jobs = 2\njosb = 3\n", "u.toml:2: unknown key josb"},
		{"unknown key in a table", "[limits]\nmemory = 3\n", "u.toml:2: unknown key limits.memory"},
		{"wrong kind", "\njobs = \"two\"\n", "u.toml:2: "},
		{"no TOML", "jobs = 2\n[limits\n", "u.toml:2: "},
		{"jobs", "cache = \"/x\"\njobs = 0\n", "u.toml:2: jobs is at least 1, not 0"},
		{"limit", "[limits]\n\nmemory_mb = -1\n", "u.toml:3: memory_mb is at least 1, not -1"},
		{"address", "[bot]\naddress = \"nobody\"\n", `u.toml:2: "nobody" is no mail address`},
		{"url", "[bot]\nurl = \"uabot\"\n", `u.toml:2: "uabot" is no URL`},
		{"target in the list", "targets = [\"x86-64\", \"vax\"]\n", `u.toml:1: unknown target "vax"; there are x86-64, i386,`},
		{"target without arch", "[[target]]\nname = \"a\"\narch = \"x86\"\n[[target]]\nname = \"b\"\n", `u.toml:4: target b: arch is a directory`},
		{"config line", "[[target]]\nname = \"a\"\narch = \"x86\"\nconfig = [\"CONFIG_X=y\"]\n", `u.toml:4: target a: a config line reads`},
		{"cross", "[[target]]\nname = \"a\"\narch = \"x86\"\ncross = \"x; rm -rf /\"\n", `u.toml:4: target a: "x; rm -rf /" is no prefix`},
		{"tree without path", "[[tree]]\nname = \"linux\"\n", "u.toml:1: tree linux needs a path"},
		{"two trees", "[[tree]]\nname = \"a\"\npath = \"/a\"\n[[tree]]\nname = \"a\"\npath = \"/b\"\n", `u.toml:5: there are two trees named "a"`},
		{"kind of source", "[[source]]\nkind = \"pop3\"\n", `u.toml:2: a source's kind is git, search, nntp or imap, not "pop3"`},
		{"source without url", "[[source]]\nkind = \"nntp\"\n", `u.toml:1: a source of kind nntp needs a url that begins with nntps:// or nntp://`},
		{"password in a url", "[[source]]\nkind = \"imap\"\nurl = \"imaps://me:pw@mail.example.org/INBOX\"\n", `u.toml:3: name and password`},
		{"imap without secret", "[[source]]\nkind = \"imap\"\nurl = \"imaps://mail.example.org/INBOX\"\nuser = \"me\"\n", `u.toml:1: an imap source needs a secret_file`},
		{"day", "[[source]]\nkind = \"git\"\ndir = \"/x\"\nsince = \"yesterday\"\n", `u.toml:4: "yesterday" is no day`},
		{"archive", "archive = \"lore\"\n", `u.toml:1: "lore" is no address of a public-inbox`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("u.toml", []byte(test.text))
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %s…", err, test.want)
			}
		})
	}
}

func TestOwnTargets(t *testing.T) {
	c, err := Parse("/etc/uabot.toml", []byte(`
cache = "cache"
targets = ["ppc8xx", "mips"]
[[target]]
name = "mips"
arch = "mips"
cross = "mips-linux-gnu-"
config = ["CPU_BIG_ENDIAN=y", "SMP=n"]
[[target]]
name = "ppc8xx"
arch = "powerpc"
llvm = "-19"
[[tree]]
name = "next"
path = "trees/next"
`))
	if err != nil {
		t.Fatal(err)
	}
	if c.Cache != "/etc/cache" || c.Trees[0].Path != "/etc/trees/next" {
		t.Errorf("relative paths are %s and %s", c.Cache, c.Trees[0].Path)
	}
	list, err := c.Select(nil)
	if err != nil || len(list) != 2 {
		t.Fatalf("selected %v, %v", list, err)
	}
	if list[0].CC() != "clang-19" {
		t.Errorf("the row did not replace the built-in ppc8xx: %s", list[0].CC())
	}
	mips := list[1]
	if got := mips.Fragment(); !strings.Contains(got, "CONFIG_CPU_BIG_ENDIAN=y\n# CONFIG_SMP is not set\n") ||
		!strings.Contains(got, "# CONFIG_KASAN is not set\n") {
		t.Errorf("fragment is\n%s", got)
	}
	if got := strings.Join(mips.MakeArgs(), " "); got != "ARCH=mips CROSS_COMPILE=mips-linux-gnu-" {
		t.Errorf("make arguments are %s", got)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("UABOT_CONFIG", "")
	if c, err := Load(""); err != nil || c.File != "" {
		t.Errorf("without a file: %v, %v", c, err)
	}
	if _, err := Load(filepath.Join(dir, "none.toml")); err == nil {
		t.Error("a file that was named and is not there is no error")
	}
	if err := os.WriteFile(filepath.Join(dir, "uabot.toml"), []byte("jobs = 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(""); err != nil || c.Jobs != 7 {
		t.Errorf("the file in its usual place: %v, %v", c, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("jobs = 2\n[[tree]]\nname = 'a'\npath = '/x'\n[[target]]\nname = 'b'\narch = 'x86'\n")
	f.Add("a.b = [{c = 1}]\n[x]\n[[y]]\n[[y.z]]\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := Parse("f", []byte(text))
		if err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
	})
}
