package source

import (
	"fmt"
	"strings"
	"testing"

	"uabot/checks"
)

// The compiler's words on a use in a macro in a macro, and on one in an argument.
func TestParseUses(t *testing.T) {
	const log = `In file included from t.c:1:
o/linux/uaccess.h:99: warning: something else
t.c: In function 'f':
o/linux/uaccess.h:66:39: warning: argument 1 null where non-null expected [-Wnonnull]
o/linux/uaccess.h:77:21: note: in expansion of macro '__UABOT_SITE'
t.c:18:9: note: in expansion of macro 'user_access_end'
t.c:22:16: note: in expansion of macro 'M'
o/linux/uaccess.h:36:13: note: in a call to function '__uabot_user_access_end' declared 'nonnull'
o/linux/uaccess.h:60:39: warning: argument 3 null where non-null expected [-Wnonnull]
t.c:8:39: note: in definition of macro 'likely'
t.c:27:17: note: in expansion of macro 'user_access_begin'
o/linux/uaccess.h:30:13: note: in a call to function '__uabot_user_access_begin' declared 'nonnull'
`
	uses, err := parseUses(strings.NewReader(log))
	if err != nil || len(uses) != 2 {
		t.Fatalf("%d uses, %v", len(uses), err)
	}
	for i, want := range []struct {
		marker     string
		line       int
		macro      string
		outer, col int
	}{
		{"__uabot_user_access_end", 18, "M", 22, 16},
		{"__uabot_user_access_begin", 27, "", 27, 17},
	} {
		u := uses[i]
		pos, macro := u.author()
		if u.marker != want.marker || pos.Line != want.line || macro != want.macro || u.outermost().Line != want.outer || u.outermost().Col != want.col {
			t.Errorf("%d: %s at %v in %q, used at %v", i, u.marker, pos, macro, u.outermost())
		}
	}
}

func FuzzParseUses(f *testing.F) {
	f.Add("a.h:1:2: warning: argument 1 null where non-null expected\na.c:3:4: note: in expansion of macro 'm'\na.h:1:1: note: in a call to function '__uabot_x' declared 'nonnull'\n")
	f.Fuzz(func(t *testing.T, log string) {
		uses, err := parseUses(strings.NewReader(log))
		if err != nil {
			return
		}
		for _, u := range uses {
			u.author()
			u.outermost()
		}
	})
}

// What compiled code says of the functions that use a macro is evidence for what was
// found in the macro.
func TestCovers(t *testing.T) {
	find := func(toy, function string) *checks.Finding {
		for _, f := range checkToy(t, "testdata/gcc12", toy, "s390").Findings {
			if f.Function == function {
				return &f
			}
		}
		t.Fatalf("nothing found in %s", function)
		return nil
	}
	macro := find("macros", "store")
	object := checks.Finding{Rule: "close-without-open", File: "macros.c", Function: "uses_store_again", Class: checks.Object}
	if !macro.Covers(&object) {
		t.Errorf("a use of %+v is not covered", macro)
	}
	object.Function = "parts_end_twice"
	if macro.Covers(&object) {
		t.Error("a function is covered that does not use the macro")
	}
	unchecked := find("rules", "unchecked")
	if !unchecked.Covers(&checks.Finding{Rule: "close-without-open", File: "rules.c", Function: "unchecked"}) {
		t.Error("what follows from an unchecked begin is not covered")
	}
}

// The steps of a witness are the author's lines, in a macro too.
func TestWitness(t *testing.T) {
	for _, tt := range []struct {
		toy, function string
		want          string
	}{
		{"macros", "store", `8 when this fails: no window is open
9
12
13 and this closes one`},
		{"rules", "fault_leaves_open", `45 the window opens
48 when this faults
52 and here the function is left`},
		{"calls", "in_argument", `22 the window opens
24 and this is called inside of it`},
	} {
		var got []string
		for _, f := range checkToy(t, "testdata/gcc12", tt.toy, "s390").Findings {
			if f.Function == tt.function {
				for _, s := range f.Witness {
					got = append(got, strings.TrimSpace(fmt.Sprint(s.Line, " ", s.Note)))
				}
			}
		}
		if strings.Join(got, "\n") != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.function, strings.Join(got, "\n"), tt.want)
		}
	}
}
