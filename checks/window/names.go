package window

import (
	"regexp"
	"strings"
)

// primitive matches the functions that open, close, save or restore a window for
// their caller: they are never to blame themselves. Names of linux 6.12 to 6.19, from
// include/linux/uaccess.h, arch/x86/include/asm/{uaccess,smap}.h,
// arch/arm64/include/asm/{uaccess,asm-uaccess}.h, arch/arm/include/asm/{uaccess,domain}.h,
// arch/powerpc/include/asm/{uaccess,kup,*/kup*,mmu-hash,reg}.h, arch/riscv/include/asm/uaccess.h.
var primitive = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`(?:__|masked_)?user_(?:read_|write_|rw_)?access_(?:begin|end|save|restore)`,
	`masked_user_(?:read|write|rw)_access_begin`,
	`__uaccess_(?:begin|begin_nospec|end)`,
	`(?:lass_)?(?:stac|clac)`, `smap_(?:save|restore)`,
	`(?:__)?uaccess_ttbr0_(?:enable|disable)`, `(?:__)?uaccess_(?:enable|disable)_(?:privileged|tco_async)`,
	`__uaccess_(?:enable|disable)_hw_pan`,
	`uaccess_(?:save_and_enable|save|restore|enable|disable|begin_32s|end_32s|begin_8xx|end_8xx|begin_booke|end_booke)`,
	`(?:get|set)_domain`,
	`(?:allow|prevent)_(?:user_access|read_from_user|write_to_user|read_write_user|current_(?:access|read_from|write_to)_user|user_access_return)`,
	`prevent_current_access_user`, `prevent_current_read_from_user`, `prevent_current_write_to_user`,
	`prevent_user_access_return`, `restore_user_access`, `(?:get|set)_kuap`,
	`(?:__)?kuap_\w+`, `m[tf]sr(?:in)?`, `isync`,
	`__(?:enable|disable)_user_access`,
}, "|") + `)$`)

// Primitive reports whether the function name is part of the window API itself.
func Primitive(name string) bool { return primitive.MatchString(BaseName(name)) }

// accessor matches functions that open and close a window of their own, whether the
// kernel's headers inline them or not. It is the API of include/linux/uaccess.h,
// include/asm-generic/uaccess.h, lib/usercopy.c and lib/str*_user.c, and the thunks of
// arch/x86/lib/{get,put}user.S and arch/arm/lib/{get,put}user.S.
var accessor = regexp.MustCompile(`^_*(?:` + strings.Join([]string{
	`(?:get|put)_user(?:_inline|(?:_nocheck)?_(?:[1248]|32t_8|64t_[124]))?`,
	`(?:inline_)?copy_(?:from|to|in)_user(?:_\w+)?`, `raw_copy_(?:from|to|in)_user`,
	`copy_struct_(?:from|to)_user`, `copy_mc_to_user`,
	`clear_user`, `strncpy_from_user(?:_\w+)?`, `strnlen_user(?:_\w+)?`,
	`copy_(?:from|to)_user_nofault`, `copy_page_(?:from|to)_iter\w*`, `copy_(?:from|to)_iter\w*`,
	`v?memdup_user(?:_nul)?`, `fault_in_(?:readable|writeable|safe_writeable)`, `fault_in_subpage_writeable`,
	`futex_atomic_\w+_inatomic`,
}, "|") + `)$`)

// Accessor reports whether name is a complete user access: it opens its own window
// and closes it again, on the arches that have windows.
func Accessor(name string) bool {
	return accessor.MatchString(BaseName(name))
}

// OpensOwn reports whether a call to name opens a second window when one is open.
func OpensOwn(name string) bool { return Accessor(name) }

// written maps what a compiler or a header makes of a call to the name that the
// author wrote. Sources: include/linux/kernel.h and sched.h (cond_resched,
// might_sleep), arch/*/lib (mem*), mm/kasan/shadow.c.
var written = map[string]string{
	"__memcpy": "memcpy", "__memmove": "memmove", "__memset": "memset",
	"__pi_memcpy": "memcpy", "__pi_memmove": "memmove", "__pi_memset": "memset",
	"__asan_memcpy": "memcpy", "__asan_memmove": "memmove", "__asan_memset": "memset",
	"__msan_memcpy": "memcpy", "__msan_memmove": "memmove", "__msan_memset": "memset",
	"memset16": "memset", "__memset16": "memset", "__memset32": "memset", "__memset64": "memset",
	"fortify_memcpy_chk": "memcpy", "fortify_memset_chk": "memset",
	"__cond_resched": "cond_resched", "_cond_resched": "cond_resched",
	"dynamic_cond_resched": "cond_resched", "__SCT__cond_resched": "cond_resched",
	"__might_resched": "cond_resched", "__might_sleep": "might_sleep",
	"__SCT__might_resched": "might_sleep", "dynamic_might_resched": "might_sleep",
	"__might_fault":   "might_fault",
	"_printk":         "printk",
	"_copy_from_user": "copy_from_user", "_copy_to_user": "copy_to_user",
	"_inline_copy_from_user": "copy_from_user", "_inline_copy_to_user": "copy_to_user",
}

// putget matches the thunks of get_user() and put_user().
var putget = regexp.MustCompile(`^__(get|put)_user_(?:nocheck_)?(?:[1248]|32t_8|64t_[124])$`)

// BaseName is a symbol as the author wrote the call: without the compiler's suffixes
// (.isra.0, .part.1, .constprop.2, .cold, .llvm.1234) and without what headers put
// between.
func BaseName(symbol string) string {
	if i := strings.IndexByte(symbol, '.'); i > 0 {
		symbol = symbol[:i]
	}
	if w, ok := written[symbol]; ok {
		return w
	}
	if m := putget.FindStringSubmatch(symbol); m != nil {
		return m[1] + "_user"
	}
	return symbol
}

// Thunk reports whether a symbol is one of the out-of-line halves of get_user() and
// put_user(): a call of it counts as a window of its caller.
func Thunk(symbol string) bool { return putget.MatchString(symbol) }

// FunctionName is a function's symbol without the compiler's suffixes.
func FunctionName(symbol string) string {
	if i := strings.IndexByte(symbol, '.'); i > 0 {
		return symbol[:i]
	}
	return symbol
}
