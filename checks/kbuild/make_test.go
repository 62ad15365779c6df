package kbuild

import (
	"slices"
	"strings"
	"testing"
)

// What make -k --output-sync=target prints for the kernel: recipes come in one
// piece each, in any order.
const makeOutput = `  GEN     Makefile
  DESCEND objtool
  CALL    /src/scripts/checksyscalls.sh
  CC      fs/select.o
fs/select.c:884:12: warning: 'unused_one' defined but not used [-Wunused-variable]
  884 | static int unused_one;
      |            ^~~~~~~~~~
  CHECK   fs/select.c
  CC [M]  sound/core/pcm_native.o
  CC      drivers/firmware/ti_sci.o
drivers/firmware/ti_sci.c:2873:29: error: redefinition of 'ti_sci_get_handle'
make[5]: *** [scripts/Makefile.build:234: drivers/firmware/ti_sci.o] Error 1
make[4]: *** [scripts/Makefile.build:471: drivers/firmware] Error 2
make[4]: Target 'drivers/nvdimm/pmem.o' not remade because of errors.
make[4]: *** No rule to make target 'sound/nonexist.o'.
make: *** [Makefile:236: __sub-make] Error 2
`

func TestSplitMake(t *testing.T) {
	logs, failed := splitMake(makeOutput)
	if len(logs) != 2 || !strings.HasPrefix(logs["fs/select.o"], "fs/select.c:884:12: warning") || strings.Count(logs["fs/select.o"], "\n") != 3 ||
		logs["drivers/firmware/ti_sci.o"] != "drivers/firmware/ti_sci.c:2873:29: error: redefinition of 'ti_sci_get_handle'\n" {
		t.Errorf("%q", logs)
	}
	if len(failed) != 2 || failed["drivers/firmware/ti_sci.o"] != "make: Error 1" || failed["sound/nonexist.o"] != "No rule to make target 'sound/nonexist.o'" {
		t.Errorf("%q", failed)
	}
}

func FuzzSplitMake(f *testing.F) {
	f.Add(makeOutput)
	f.Fuzz(func(t *testing.T, text string) {
		logs, _ := splitMake(text)
		n := 0
		for object, log := range logs {
			if !strings.HasSuffix(object, ".o") {
				t.Errorf("object %q", object)
			}
			n += len(log)
		}
		if n > len(text) {
			t.Errorf("%d bytes of logs from %d", n, len(text))
		}
	})
}

const cmdText = `savedcmd_a/b.o := gcc -Wp,-MMD,a/.b.o.d -I/src/include -DX='"a$$b$(pound)"' -c -o a/b.o /src/a/b.c

source_a/b.o := /src/a/b.c

deps_a/b.o := \
  /src/include/linux/compiler-version.h \
    $(wildcard include/config/CC_VERSION_TEXT) \
  /src/include/../include/linux/kconfig.h \
    $(wildcard include/config/BOOGER) \
    $(wildcard include/config/FOO) \
  include/generated/autoconf.h \

a/b.o: $(deps_a/b.o)

$(deps_a/b.o):
`

func TestParseCmd(t *testing.T) {
	f, err := parseCmd([]byte(cmdText))
	if err != nil {
		t.Fatal(err)
	}
	if f.Command != `gcc -Wp,-MMD,a/.b.o.d -I/src/include -DX='"a$b#"' -c -o a/b.o /src/a/b.c` {
		t.Errorf("command %s", f.Command)
	}
	if want := []string{"/src/a/b.c", "/src/include/linux/compiler-version.h", "/src/include/../include/linux/kconfig.h", "include/generated/autoconf.h"}; !slices.Equal(f.Deps, want) {
		t.Errorf("dependencies %q", f.Deps)
	}
	if want := []string{"a/b.c", "include/linux/compiler-version.h", "include/linux/kconfig.h"}; !slices.Equal(f.inTree("/src"), want) {
		t.Errorf("in the tree %q", f.inTree("/src"))
	}
	if _, err := parseCmd([]byte("deps_a/b.o := x\n")); err == nil {
		t.Error("a file without a command was accepted")
	}
}

func FuzzParseCmd(f *testing.F) {
	f.Add([]byte(cmdText))
	f.Add([]byte("cmd_x := a\ndeps_x := $(wildcard "))
	f.Fuzz(func(t *testing.T, data []byte) {
		if cmd, err := parseCmd(data); err == nil && cmd.Command == "" {
			t.Error("no command and no error")
		}
	})
}

func TestNotHonoured(t *testing.T) {
	const dotconfig = "# CONFIG_A is not set\nCONFIG_B=y\nCONFIG_C=m\nCONFIG_D=\"x=y\"\n"
	got := notHonoured([]string{"A=n", "A=y", "B=y", "B=n", "C=y", "ABSENT=n", "ABSENT=y", `D="x=y"`}, []byte(dotconfig))
	if want := []string{"A=y", "B=n", "C=y", "ABSENT=y"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestShortVersion(t *testing.T) {
	for banner, want := range map[string]string{
		"gcc (Debian 12.2.0-14+deb12u1) 12.2.0":           "gcc 12.2.0",
		"powerpc-linux-gnu-gcc (Debian 12.2.0-14) 12.2.0": "gcc 12.2.0",
		"Ubuntu clang version 18.1.3 (1ubuntu1)":          "clang 18.1.3",
		"gcc":                                             "gcc",
		"":                                                "",
	} {
		if got := shortVersion(banner); got != want {
			t.Errorf("%q is %q, want %q", banner, got, want)
		}
	}
}
