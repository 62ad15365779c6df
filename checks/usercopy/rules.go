package usercopy

import "uabot/checks"

// Rule is what is known of one rule.
type Rule struct {
	Name    string
	Means   string       // what a finding says
	Example string       // the smallest code that it is found in
	Source  string       // the case or the file that the rule comes from; ids are commits of Linux
	Class   checks.Class // never Object or Build: nothing was compiled
	Limits  string       // what it does not see, and when it is wrong
	Rate    Rate
}

// Rate is how a rule did on the real patches of [Measured].
type Rate struct {
	Fired int // findings
	Right int // what they say is so
	Wrong int // it is not
	Open  int // the diff alone does not tell: what the function does first is not in it
}

// Measured is the number of patches that the rates come from: those of the public
// linuxppc-dev archive, April 2019 to March 2026, that add or remove a user access,
// one for each subject. 29 apply to 6.12.117 and were checked as whole files; of the
// others the hunks alone were, where a rule that needs more of the file says less.
const Measured = 554

// Rules are the rules, in the order of documentation. None is of class Source: the
// compiler's view was not asked, so nothing here goes to a list by itself.
var Rules = []Rule{
	{
		Name:    "unchecked-opener",
		Means:   "A new helper opens a window without looking at the range, or its result can be ignored.",
		Example: "#define __user_write_access_begin(a, b)\t__uaccess_begin()",
		Source:  "594cc251fdd0 (begin does access_ok), 96ca579a1ecc (CVE-2017-5123: what a missing check costs)",
		Class:   checks.Policy,
		Limits:  "Knows the openers of the arches by name. Says nothing of helpers that existed before.",
		Rate:    Rate{Fired: 1, Right: 1, Wrong: 0, Open: 0},
	},
	{
		Name:    "opener-trusts-caller",
		Means:   "A function opens a window with such a helper and checks nothing itself; the callers are listed.",
		Example: "__user_write_access_begin(uevent, sizeof(*uevent));",
		Source:  "594cc251fdd0",
		Class:   checks.Policy,
		Limits:  "Follows callers up to the first with any range check, at most six levels; whether that check covers this pointer is for a reader.",
		Rate:    Rate{Fired: 1, Right: 1, Wrong: 0, Open: 0},
	},
	{
		Name:    "fallback-guard",
		Means:   "A generic fallback is there only where another symbol is not defined.",
		Example: "#ifndef user_access_begin\n#define __user_write_access_begin(ptr, len) do { } while (0)",
		Source:  "include/linux/uaccess.h; bc581dbab26e (a helper missing on one arch)",
		Class:   checks.Policy,
		Limits:  "Most of the family is defined so: nothing is broken until an architecture defines one and not the other.",
		Rate:    Rate{Fired: 1, Right: 1, Wrong: 0, Open: 0},
	},
	{
		Name:    "missing-on-arch",
		Means:   "Code for every architecture starts to use a helper that some architecture has no version of.",
		Example: "unsafe_copy_from_user(&v, uptr, sizeof(v), efault);\t/* kernel/: not on x86 and arm64 in 6.12 */",
		Source:  "bc581dbab26e; arch/*/include/asm/uaccess.h against include/linux/uaccess.h",
		Class:   checks.Heuristic,
		Limits:  "A definition in any configuration of an architecture counts. Does not read Kconfig: a driver may be for one architecture alone.",
	},
	{
		Name:    "hardened-usercopy-bypass",
		Means:   "Copies lose check_copy_size() or check_object_size(). One note for a file, callers listed.",
		Example: "-\treturn copy_to_iter(addr, bytes, i);\n+\treturn _copy_to_iter(addr, bytes, i);",
		Source:  "5f1eb1ff58ea; deliberate: 52f476a323f9",
		Class:   checks.Policy,
		Limits:  "Only a copy that replaces a checked one in the same function. Never says that it is a bug.",
		Rate:    Rate{Fired: 2, Right: 2, Wrong: 0, Open: 0},
	},
	{
		Name:    "range-check-lost",
		Means:   "put_user() became __put_user(), or access_ok() is gone, and nothing in the function checks the range.",
		Example: "-\tif (put_user(v, p))\n+\tif (__put_user(v, p))",
		Source:  "96ca579a1ecc (CVE-2017-5123), 594cc251fdd0",
		Class:   checks.Policy,
		Limits:  "The callers may check: they are followed up to the first with any range check; whether it covers this pointer is for a reader.",
	},
	{
		Name:    "mask-lost",
		Means:   "A function or macro lost its speculation barrier or its pointer mask and still accesses user memory.",
		Example: "-\t__uaccess_begin_nospec();\n+\t__uaccess_begin();",
		Source:  "86e6b1547b3d (CVE-2024-50102), 803abedbd540",
		Class:   checks.Heuristic,
		Limits:  "Compares definitions of the same name. A barrier that moved to another file is taken for lost.",
		Rate:    Rate{Fired: 2, Right: 2, Wrong: 0, Open: 0},
	},
	{
		Name:    "writes-more-back",
		Means:   "Single members were put before; now the whole structure is copied, other members with it.",
		Example: "-\tif (__put_user(fds[j].revents, &ufds->revents))\n+\tif (copy_to_user(ufds, walk->entries, sizeof(struct pollfd) * walk->len))",
		Source:  "fs/select.c, do_sys_poll() as posted in August 2020",
		Class:   checks.Policy,
		Limits:  "Needs the structure's definition in an included header or an object. Whether the bytes are initialised is told only where the function shows it.",
	},
	{
		Name:    "uninitialised-bytes",
		Means:   "A local structure goes to user space whole though a member is never set or holes lie between members.",
		Example: "struct stat s;\ns.dev = d;\nreturn copy_to_user(p, &s, sizeof(s)) ? -EFAULT : 0;",
		Source:  "0a0b98734479 (CVE-2018-11508), 6c85501f2fab",
		Class:   checks.Heuristic,
		Limits:  "Silent as soon as the structure is passed to anything else. Holes need an object with debug information. A member that is set on one path only counts as set.",
	},
	{
		Name:    "value-changed",
		Means:   "A place in user memory got one variable and gets another since the write was batched.",
		Example: "-\tcmhdr.cmsg_len = cmlen; … copy_to_user(cm, &cmhdr, sizeof cmhdr)\n+\tunsafe_put_user(len, &cm->cmsg_len, efault_end);",
		Source:  "38ebcf5096a8, mended by e7ad33fa7bc5",
		Class:   checks.Heuristic,
		Limits:  "Both variables must exist before and after, and the helper must have changed: a patch that only means to write another value is not reported.",
	},
	{
		Name:    "bytes-returned",
		Means:   "The number of bytes not copied is handed on where callers expect 0 or a negative error.",
		Example: "return copy_to_user(p, &v, sizeof(v));",
		Source:  "46e152186cd8, 09699e56dee9",
		Class:   checks.Heuristic,
		Limits:  "Functions that return int or long only, not those named copy or clear; silent where every call is a mere test for non-zero.",
		Rate:    Rate{Fired: 3, Right: 3, Wrong: 0, Open: 0},
	},
	{
		Name:    "access-ok-arithmetic",
		Means:   "The size in access_ok() is a sum or product that nothing bounds; or an access_ok() compares addr + size.",
		Example: "if (!access_ok(p, n * sizeof(*p)))",
		Source:  "222ca305c9fd, 9cb2feb4d21d",
		Class:   checks.Heuristic,
		Limits:  "A bound in a caller is not seen. Any comparison in the function counts as a bound, right or not.",
	},
	{
		Name:    "annotation-lost",
		Means:   "A pointer or member that was __user is a plain pointer and still goes to a user-access helper.",
		Example: "-static int put(int v, int __user *p)\n+static int put(int v, int *p)",
		Source:  "sparse's address spaces, include/linux/compiler_types.h",
		Class:   checks.Heuristic,
		Limits:  "Names must stay the same. Casts are sparse's own work.",
	},
	{
		Name:    "unwrapped-goto",
		Means:   "A macro about user access is a bare `if (…) goto`.",
		Example: "#define put(x, p, e) if (__put_user(x, p)) goto e",
		Source:  "unsafe_op_wrap() in include/linux/uaccess.h shows the form",
		Class:   checks.Policy,
		Limits:  "Only macros whose body names a user access.",
	},
	{
		Name:    "put-macro-gets",
		Means:   "A put helper reads, or a get helper writes.",
		Example: "#define unsafe_put_u(x, p, e) unsafe_get_user(x, p, e)",
		Source:  "copied definitions: arch/*/include/asm/uaccess.h",
		Class:   checks.Heuristic,
		Limits:  "By name: only helpers called (unsafe_|arch_|__)(get|put)_user… or …_sigset.",
	},
	{
		Name:    "call-in-argument",
		Means:   "A function is called in an argument of unsafe_*(): it runs with the window open.",
		Example: "unsafe_put_user(encode(st->dev), &u->st_dev, efault);",
		Source:  "2a418cf3f5f1, 6ae865615fc4, d02f6b7dab82, 285a76bb2cf5, 94902d849e85",
		Class:   checks.Heuristic,
		Limits:  "Text only; control flow and objects prove it. Macros and small inline functions of included headers are left out.",
		Rate:    Rate{Fired: 1, Right: 0, Wrong: 0, Open: 1},
	},
	{
		Name:    "argument-in-window",
		Means:   "A macro evaluates the value that it was given after it opened the window.",
		Example: "uaccess_ttbr0_enable(); __raw_put_mem(\"sttr\", x, ptr, failed, U); uaccess_ttbr0_disable();",
		Source:  "2a418cf3f5f1 (x86), 94902d849e85 (arm64)",
		Class:   checks.Heuristic,
		Limits:  "By the usual names: macros called put, store, write or xchg, parameters called x, val or value.",
		Rate:    Rate{Fired: 1, Right: 1, Wrong: 0, Open: 0},
	},
	{
		Name:    "begin-end-kinds",
		Means:   "A function closes a window of another kind than it opens.",
		Example: "user_write_access_begin(p, n) … user_access_end()",
		Source:  "344af27715dd, 4322c8f81c58 (masked); arch/x86/kernel/sys_ia32.c in 6.12.117",
		Class:   checks.Heuristic,
		Limits:  "Per function, not per path. Silent beside scoped windows, which close by themselves, and beside masked ones in trees that have one masked begin for all kinds.",
		Rate:    Rate{Fired: 2, Right: 2, Wrong: 0, Open: 0},
	},
	{
		Name:    "unsafe-without-begin",
		Means:   "unsafe_*() in a function, and neither it nor a caller in the file opens a window.",
		Example: "unsafe_get_user(v, &st->version, out);\t/* and no begin anywhere */",
		Source:  "arch/loongarch/kvm/vcpu.c, kvm_update_stolen_time(), 6.12.117",
		Class:   checks.Heuristic,
		Limits:  "Functions called unsafe… are taken to run in their caller's window. A begin in a header's macro is not seen.",
		Rate:    Rate{Fired: 5, Right: 0, Wrong: 0, Open: 5},
	},
	{
		Name:    "begin-range",
		Means:   "Begin checks one object, an unsafe_*() goes to another.",
		Example: "user_write_access_begin(p, sizeof(*p)) … unsafe_put_user(v, &q->x, efault);",
		Source:  "3c2659bd1db8",
		Class:   checks.Heuristic,
		Limits:  "Only begin(p, sizeof(…)); other sizes are not understood. Silent where q is set from p or from a call.",
	},
	{
		Name:    "no-64-bit-case",
		Means:   "An architecture's new accessor knows sizes 1, 2 and 4, not 8.",
		Example: "switch (sizeof(*(p))) { case 1: … case 2: … case 4: … default: bad(); }",
		Source:  "44c5b6768e3a, a97b693c3712",
		Class:   checks.Heuristic,
		Limits:  "By the cases of one switch; a caller that splits 64-bit accesses before is not seen.",
	},
	{
		Name:    "double-fetch",
		Means:   "The same user memory is read twice in one function.",
		Example: "get_user(n, &u->len) … copy_from_user(buf, u, n)\t/* u->len again */",
		Source:  "43761473c254",
		Class:   checks.Heuristic,
		Limits:  "A note, never more: reading twice is often meant. Only the very same expression, not in different branches.",
	},
	{
		Name:    "objtool-safe-list",
		Means:   "objtool is told to accept calls to further functions inside of windows.",
		Example: "+\t\"my_helper\",\t/* in uaccess_safe_builtin[] */",
		Source:  "tools/objtool/check.c, uaccess_safe_builtin",
		Class:   checks.Policy,
		Limits:  "Does not look at what the functions do.",
	},
	{
		Name:    "objtool-skipped",
		Means:   "An object or a function is taken out of objtool's sight.",
		Example: "OBJECT_FILES_NON_STANDARD_foo.o := y",
		Source:  "tools/objtool/Documentation/objtool.txt",
		Class:   checks.Policy,
		Limits:  "Any reason looks the same; hand-written assembly often has a good one.",
	},
	{
		Name:    "window-saved",
		Means:   "user_access_save() sets an open window aside in ordinary code.",
		Example: "flags = user_access_save(); warn(); user_access_restore(flags);",
		Source:  "all 13 uses in 6.12.117 are in sanitizers, tracing and panic code",
		Class:   checks.Policy,
		Limits:  "Sanitizers, tracing and the arches' own headers are left out.",
	},
}

func classOf(rule string) checks.Class {
	for _, r := range Rules {
		if r.Name == rule {
			return r.Class
		}
	}
	panic("usercopy: rule " + rule + " is not in Rules")
}
