package checks

import "testing"

func TestRel(t *testing.T) {
	b := &Built{Source: "/home/u/tree", Output: "/cache/out", SourceAs: "/src", OutputAs: "/out"}
	for name, want := range map[string]string{
		"/src/fs/select.c":                  "fs/select.c",
		"/src/./fs/../fs/select.c":          "fs/select.c",
		"/home/u/tree/fs/select.c":          "fs/select.c",
		"/out/include/generated/autoconf.h": "include/generated/autoconf.h",
		"./include/generated/autoconf.h":    "include/generated/autoconf.h",
		"/srcs/fs/select.c":                 "/srcs/fs/select.c",
		"/usr/include/stdio.h":              "/usr/include/stdio.h",
		"<built-in>":                        "<built-in>",
		"":                                  "",
	} {
		if got := b.Rel(name); got != want {
			t.Errorf("Rel(%q) = %q, want %q", name, got, want)
		}
	}
}
