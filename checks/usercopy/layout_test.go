package usercopy

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"uabot/checks"
	"uabot/checks/csource"
	"uabot/config"
	"uabot/internal/testenv"
)

const layouts = `
struct even { int fd; short events, revents; };
struct holed { char kind; int len; char tail; };
struct nested { struct holed in; unsigned char a : 3, b : 5; union { int i; long l; }; struct { int x; int y[2]; }; int (*call)(int); };
struct open { int n; char rest[]; };
struct even e; struct open o; struct holed h; struct nested n;
`

// What the compiler laid out is what a reader is told.
func TestLayoutFromObject(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")[0]
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.c"), []byte(layouts), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(gcc, "-g", "-gdwarf-4", "-c", "a.c", "-o", "a.o")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := &source{path: "a.c", File: &csource.File{}}
	v := &view{layouts: map[string]*layout{}, Change: Change{Built: []*checks.Built{
		{Target: config.Target{Name: "here"}, Output: dir, Units: []checks.Unit{{Source: "b.c", Err: "no"}, {Source: "a.c", Object: "a.o"}}},
	}}}
	for tag, want := range map[string]string{
		"even":  "struct even has 8 bytes and no holes (debug information: here).",
		"holed": "struct holed has 12 bytes and holes: 3 bytes after kind, 3 bytes at the end (debug information: here).",
	} {
		l := v.layout(s, tag)
		if l == nil {
			t.Errorf("no layout of %s", tag)
			continue
		}
		if got := l.sentence(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if l := v.layout(s, "open"); l == nil || !slices.Equal(l.members, []string{"n"}) {
		t.Errorf("open: %+v", l)
	}
	l := v.layout(s, "nested")
	if l == nil {
		t.Fatal("no layout of nested")
	}
	if want := []string{"in", "a", "b", "i|l", "x", "y", "call"}; !slices.Equal(l.members, want) {
		t.Errorf("members %q, want %q", l.members, want)
	}
	if got := strings.Join(l.holes, ", "); !strings.Contains(got, "3 bytes after kind in in") || !strings.Contains(got, "after b") {
		t.Errorf("holes %q", got)
	}
}

// The same members are read from the text where no object tells.
func TestMembersFromText(t *testing.T) {
	f := csource.Parse([]byte(layouts + "struct odd { int a __aligned(8); struct list_head *next, **prev; u8 pad[3]; void *buf __counted_by(n); } __packed;"))
	want := map[string]string{
		"even": "fd events revents", "holed": "kind len tail", "nested": "in a b i|l x y call", "odd": "a next prev pad buf", "open": "n",
	}
	for _, s := range f.Structs {
		if got := strings.Join(memberNames(s.Body), " "); got != want[s.Name] {
			t.Errorf("%s: %q, want %q", s.Name, got, want[s.Name])
		}
	}
}
