package coverage

import (
	"testing"

	"uabot/checks/csource"
)

func known(name string) macro {
	switch name {
	case "CONFIG_Y", "CONFIG_M_MODULE", "__KERNEL__":
		return macro{defined: yes, value: 1, valued: true}
	case "CONFIG_N", "CONFIG_N_MODULE", "CONFIG_M", "CONFIG_Y_MODULE":
		return macro{defined: no}
	case "CONFIG_COUNT":
		return macro{defined: yes, value: 12, valued: true}
	case "CONFIG_TEXT":
		return macro{defined: yes}
	}
	return macro{defined: unknown}
}

func TestEvaluate(t *testing.T) {
	for _, test := range []struct {
		line string
		want truth
	}{
		{"ifdef CONFIG_Y", yes}, {"ifdef CONFIG_N", no}, {"ifndef CONFIG_N", yes}, {"ifdef something", unknown}, {"ifndef something", unknown},
		{"if 0", no}, {"if 1", yes}, {"if 0x10UL == 16", yes}, {"if defined(CONFIG_Y) && !defined CONFIG_N", yes},
		{"if IS_ENABLED(CONFIG_M)", yes}, {"if IS_BUILTIN(CONFIG_M)", no}, {"if IS_MODULE(CONFIG_M)", yes}, {"if IS_REACHABLE(CONFIG_M)", unknown}, {"if IS_REACHABLE(CONFIG_Y)", yes},
		{"if CONFIG_COUNT > 10", yes}, {"if CONFIG_COUNT > 12", no}, {"if CONFIG_N > 0", no}, {"if CONFIG_TEXT", unknown},
		{"if defined(something) || CONFIG_Y", yes}, {"if defined(something) && CONFIG_N", no}, {"if defined(something) && CONFIG_Y", unknown},
		{"if something == 1", unknown}, {"if !something", unknown}, {"if GCC_VERSION >= 50000", unknown}, {"if LINUX_VERSION_CODE < KERNEL_VERSION(5, 1, 0)", unknown},
		{"if KERNEL_VERSION(5, 1, 0) && CONFIG_N", no}, {"if (CONFIG_COUNT & 4) == 4 ? 1 : 0", yes}, {"if -1 < 0", yes}, {"if 1 / 0", unknown}, {"if 1 << 99", unknown},
		{"if (1", unknown}, {"if 1)", unknown}, {"if", unknown}, {"if \"text\"", unknown}, {"if defined(", unknown},
		{"if !!CONFIG_Y", yes}, {"if ~0 == -1", yes}, {"if 7 % 4 == 3 && 7 - 4 == 3 && 7 / 4 == 1 && 2 * 3 == 6 && (1 | 2) == 3 && (1 ^ 3) == 2", yes},
	} {
		f := csource.Parse([]byte("#" + test.line + "\n#endif\n"))
		if len(f.Conds) != 1 {
			t.Fatalf("%s: %d branches", test.line, len(f.Conds))
		}
		if got := evaluate(f.Conds[0], known); got != test.want {
			t.Errorf("#%s: %d, want %d", test.line, got, test.want)
		}
	}
}

// Conditions come from strangers: any of them gets an answer.
func FuzzEvaluate(f *testing.F) {
	for _, s := range []string{"defined(A) && B || !C", "((((", "1 ? 2 : 3", "F(1,2) + 3", "!!!!!!!-~+1", "1 << 70 / 0 % 0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range csource.Parse([]byte("#if " + s + "\nint x;\n#endif\n")).Conds {
			if got := evaluate(c, known); got < no || got > yes {
				t.Errorf("%q: %d", s, got)
			}
			settings(c, true)
			settings(c, false)
		}
	})
}
