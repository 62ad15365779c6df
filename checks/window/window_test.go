package window

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"uabot/checks"
	"uabot/internal/testenv"
)

func TestSteps(t *testing.T) {
	closed, open := State{}, State{Open: true, Kind: Write}
	c := SafeCallees("x86")
	begin := func(s State, k Kind) Rule { _, r := s.Begin(k); return r }
	end := func(s State, k Kind) Rule { _, r := s.End(k); return r }
	for _, tt := range []struct {
		what      string
		got, want Rule
	}{
		{"begin", begin(closed, Write), ""},
		{"begin inside", begin(open, Write), OpenTwice},
		{"end", end(open, Write), ""},
		{"end of unknown kind", end(open, Unknown), ""},
		{"end of another kind", end(open, Read), KindMismatch},
		{"end of masked begin", end(State{Open: true}, Read), ""},
		{"end without begin", end(closed, Write), CloseWithoutOpen},
		{"call outside", closed.Call("printk", c), ""},
		{"call inside", open.Call("printk", c), CallInWindow},
		{"sanitizer inside", open.Call("__asan_load8_noabort", c), ""},
		{"thunk inside", open.Call("__put_user_nocheck_4", c), OpenTwice},
		{"copy inside", open.Call("_copy_from_user", c), OpenTwice},
		{"arm's thunks nest", open.Call("__put_user_4", SafeCallees("arm")), ""},
		{"return", closed.Leave(), ""},
		{"return inside", open.Leave(), OpenAtReturn},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, tt.got, tt.want)
		}
	}
}

// One bug seen by different evidence on different arches is one finding.
func TestIdentity(t *testing.T) {
	same := func(p, q Problem) {
		t.Helper()
		f, g := p.Finding(checks.Object), q.Finding(checks.Source)
		if f.Identity() != g.Identity() {
			t.Errorf("%+v and %+v are two findings", f, g)
		}
	}
	at := Problem{Rule: CallInWindow, File: "kernel/exit.c", Line: 1812, Function: "__do_sys_waitid"}
	with := func(change func(*Problem)) Problem { p := at; change(&p); return p }

	same(with(func(p *Problem) { p.Callee = "__memset" }), with(func(p *Problem) { p.Callee = "memset"; p.Line = 7 }))
	same(with(func(p *Problem) { p.Callee = "__might_resched" }), with(func(p *Problem) { p.Callee = "__SCT__cond_resched" }))
	same(with(func(p *Problem) { p.Callee = "report.isra.0" }), with(func(p *Problem) { p.Callee = "report"; p.Kind = Write }))
	at.Rule = CloseWithoutOpen
	same(with(func(p *Problem) { p.API = "user_write_access_end" }), at)
	at.Rule = OpenTwice
	same(with(func(p *Problem) { p.Callee = "__put_user_4" }), at)

	f, g := with(func(p *Problem) { p.Function = "waitid" }), at
	ff, gf := f.Finding(checks.Object), g.Finding(checks.Object)
	if ff.Identity() == gf.Identity() {
		t.Error("the function is not part of the identity")
	}
}

func TestTitle(t *testing.T) {
	for _, tt := range []struct {
		p    Problem
		want string
	}{
		{Problem{Rule: CloseWithoutOpen, API: "user_write_access_end"}, "user_write_access_end() can run when no window is open"},
		{Problem{Rule: CloseWithoutOpen}, "a user access window can be closed when none is open"},
		{Problem{Rule: OpenAtReturn, Kind: Read}, "a user read access window can still be open when the function returns"},
		{Problem{Rule: OpenTwice, Callee: "__put_user_nocheck_4"}, "put_user() opens a user access window inside of an open one"},
		{Problem{Rule: CallInWindow, Callee: "__might_resched"}, "cond_resched() is called while a user access window is open"},
		{Problem{Rule: CallInWindow}, "a call through a function pointer while a user access window is open"},
		{Problem{Rule: KindMismatch, Kind: Read, Accessed: Write}, "user memory is written while only a user read access window is open"},
		{Problem{Rule: KindMismatch, Kind: Read, ClosedAs: Write}, "a user read access window is closed as a write one"},
	} {
		if got := tt.p.Title(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"user_write_access_end", "masked_user_access_begin", "__uaccess_begin_nospec", "stac",
		"uaccess_ttbr0_enable.isra.0", "uaccess_save_and_enable", "prevent_read_from_user", "__enable_user_access", "mtsrin"} {
		if !Primitive(name) {
			t.Errorf("%s is no primitive", name)
		}
	}
	for _, name := range []string{"access_ok", "copy_from_user", "filldir64", "user_access_beginning", "begin"} {
		if Primitive(name) {
			t.Errorf("%s is a primitive", name)
		}
	}
	for _, name := range []string{"__put_user_nocheck_8", "_copy_to_user", "raw_copy_from_user", "_inline_copy_from_user",
		"__get_user_4", "strncpy_from_user", "copy_struct_from_user", "clear_user", "__clear_user"} {
		if !Accessor(name) {
			t.Errorf("%s is no accessor", name)
		}
	}
	for _, name := range []string{"memcpy", "get_user_pages", "put_user_ns", "copy_siginfo"} {
		if Accessor(name) {
			t.Errorf("%s is an accessor", name)
		}
	}
}

// The built-in list is the tree's own.
func TestSafeListIsObjtools(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(testenv.Kernel(t), "tools/objtool/check.c"))
	if err != nil {
		t.Fatal(err)
	}
	builtin, tree := SafeCallees("x86"), SafeCallees("x86")
	if err := tree.UseObjtool(data); err != nil {
		t.Fatal(err)
	}
	if b, s := sorted(builtin.objtool), sorted(tree.objtool); !slices.Equal(b, s) {
		for _, name := range b {
			if !slices.Contains(s, name) {
				t.Errorf("%s is not in the tree's list", name)
			}
		}
		for _, name := range s {
			if !slices.Contains(b, name) {
				t.Errorf("the tree's %s is not built in", name)
			}
		}
	}
}

func sorted(set map[string]bool) []string {
	var names []string
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func TestUseObjtoolWithoutList(t *testing.T) {
	if err := SafeCallees("x86").UseObjtool([]byte("int main(void) { return 0; }")); err != ErrNoSafeList {
		t.Errorf("got %v", err)
	}
}

func TestDeliberate(t *testing.T) {
	p := Problem{Rule: CallInWindow, Function: "__copy_to_user_memcpy", Callee: "__memcpy"}
	if p.Deliberate("arm") == "" {
		t.Error("arm's memcpy() to pinned user pages is not known")
	}
	if p.Deliberate("arm64") != "" {
		t.Error("it is known on arm64, which has no such function")
	}
	p.Rule, p.Callee = OpenTwice, ""
	if p.Deliberate("arm") != "" {
		t.Error("another rule is excused")
	}
}

func TestConsequence(t *testing.T) {
	for _, rule := range []Rule{CloseWithoutOpen, OpenAtReturn, OpenTwice, CallInWindow, AccessOutsideWindow, KindMismatch, UncheckedBegin, SaveWithoutRestore} {
		if Consequence(&checks.Finding{Rule: string(rule)}) == "" {
			t.Errorf("%s: no word on what comes of it", rule)
		}
	}
	write := Consequence(&checks.Finding{Rule: string(CloseWithoutOpen), Title: "user_write_access_end() can run when no window is open"})
	read := Consequence(&checks.Finding{Rule: string(CloseWithoutOpen), Title: "user_read_access_end() can run when no window is open"})
	if write == read {
		t.Errorf("32-bit book3s has no read windows; both say %q", read)
	}
	if other := Consequence(&checks.Finding{Rule: "compiler-warning"}); other != "" {
		t.Errorf("a compiler's message has the consequence %q", other)
	}
}
