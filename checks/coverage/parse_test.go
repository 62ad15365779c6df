package coverage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestPreprocessCommand(t *testing.T) {
	saved := `gcc -Wp,-MMD,fs/.select.o.d -nostdinc -I./include -D__KERNEL__ -DKBUILD_MODNAME='"select"' -c -o fs/select.o ../fs/select.c  ; ./tools/objtool/objtool --uaccess fs/select.o`
	want := `gcc -nostdinc -I./include -D__KERNEL__ -DKBUILD_MODNAME='"select"' -E -dD ../fs/select.c -o -`
	if got, err := PreprocessCommand(saved); err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
	for _, bad := range []string{"", "ld -r -o a.o b.o", ":"} {
		if got, err := PreprocessCommand(bad); !errors.Is(err, ErrCommand) {
			t.Errorf("PreprocessCommand(%q) = %q, %v", bad, got, err)
		}
	}
}

// The lines between markers count on; the marker's flags and escapes are understood,
// and a directive that is none of a marker is text.
func TestReadPreprocessed(t *testing.T) {
	text := "# 0 \"a.c\"\n# 1 \"/src/a \\\"b\\\".h\" 1\n#define X 1\n\n  \nint x;\n# 7 \"a.c\" 2\nint y;\n#pragma GCC unroll\n# not a marker\n# 99999999999999999999 \"z\"\nint z;"
	var got []string
	readPreprocessed([]byte(text), func(file string, line int) { got = append(got, fmt.Sprintf("%s:%d", file, line)) })
	want := []string{`/src/a "b".h:1`, `/src/a "b".h:4`, "a.c:7", "a.c:8", "a.c:9", "a.c:10", "a.c:11"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestParseDeps(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"savedcmd_fs/a.o := gcc -include ../include/x.h -c -o fs/a.o ../fs/a.c\n\nsource_fs/a.o := ../fs/a.c\n\ndeps_fs/a.o := \\\n    $(wildcard include/config/A) \\\n  ../include/linux/a.h \\\n  include/generated/b.h \\\n\nfs/a.o: $(deps_fs/a.o)\n", "../fs/a.c ../include/linux/a.h include/generated/b.h"},
		{"a.o: /src/fs/a.c \\\n /src/include/a.h\n", "/src/fs/a.c /src/include/a.h"},
		{"", ""},
	} {
		if got := strings.Join(parseDeps(test.text), " "); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// Composite objects, options one over the other, comments and continuation.
func TestListed(t *testing.T) {
	makefile := "# obj-y += ghost.o\nobj-$(CONFIG_NET) += net.o\nnet-y := one.o \\\n  two.o\nnet-$(CONFIG_V6) += six.o\nobj-y += plain.o sub/\nobj-$(CONFIG_LOOP) += loop.o\nloop-y += loop.o\nbig-objs := deep.o\nnet-y += big.o\n"
	for _, test := range []struct {
		name, want string
		ok         bool
	}{
		{"two.o", "CONFIG_NET", true}, {"six.o", "CONFIG_V6 CONFIG_NET", true}, {"plain.o", "", true}, {"sub/", "", true},
		{"ghost.o", "", false}, {"deep.o", "CONFIG_NET", true}, {"loop.o", "CONFIG_LOOP", true}, {"none.o", "", false},
	} {
		got, ok := listed(makefile, test.name)
		if strings.Join(got, " ") != test.want || ok != test.ok {
			t.Errorf("%s: %v, %v; want %q, %v", test.name, got, ok, test.want, test.ok)
		}
	}
}
