package source

import (
	"slices"
	"strings"
	"testing"
)

// A macro with two begins that fail to a label above the end, and one more label
// below: both jumps go there, and the backslashes stay where they are.
func TestFailedBegins(t *testing.T) {
	text := []string{
		"}",
		"#define PUT2(p)						\\",
		"	if (!user_write_access_begin(p, 8))			\\",
		"		goto fault_end;					\\",
		"	if (x)							\\",
		"		goto fault_end;					\\",
		"	if (!user_access_begin(p, 8))				\\",
		"		goto fault_end;					\\",
		"fault_end:							\\",
		"	user_write_access_end();				\\",
		"fault:								\\",
		"	err = -EFAULT;",
	}
	e := &editor{file: "a.c", lines: text, changed: map[int][]string{}}
	if got := e.labelBelow(10); got != "fault" {
		t.Errorf("the label below the end is %q", got)
	}
	if got := e.labelBelow(9); got != "" {
		t.Errorf("an end is the label %q", got)
	}
	jumps := e.failedBegins(9, "fault_end")
	slices.Sort(jumps)
	if !slices.Equal(jumps, []int{4, 8}) {
		t.Errorf("failed begins jump in lines %v, want 4 and 8", jumps)
	}
	for _, l := range jumps {
		e.replace(l, "goto fault_end", "goto fault")
		if got := e.now(l)[0]; width(strings.TrimSuffix(got, `\`)) != width(strings.TrimSuffix(text[l-1], `\`)) {
			t.Errorf("the backslash of line %d moved: %q", l, got)
		}
	}
}
