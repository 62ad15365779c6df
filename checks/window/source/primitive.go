package source

import (
	"maps"
	"strings"

	"uabot/checks/window"
)

// effect is what a primitive does to the window of its caller.
type effect uint8

const (
	opens     effect = iota + 1
	begins           // opens where it returns true, changes nothing where false
	closes           //
	saves            // returns a token of the state, then closes
	saveOpens        // returns a token of the state, then opens
	restores         // brings back the state of its argument, a token
	accesses         // touches user memory: needs a window of the kind
	whole            // opens, accesses and closes by itself
)

// primitive is one row of the table of names.
type primitive struct {
	name   string
	effect effect
	kind   window.Kind // of the window or the access; Unknown fits any
	last   bool        // the last argument, a constant, is the kind: powerpc's KUAP_READ 1, KUAP_WRITE 2
	from   string      // where it is defined
}

const (
	read      = window.Read
	write     = window.Write
	readWrite = window.ReadWrite
	unknown   = window.Unknown
)

// primitives are the functions that a control-flow dump shows by name. They are
// leaves: their bodies are not looked into. A tree that lacks one never calls it, and
// none changed its meaning from 6.12 to 6.19, so one table serves all trees.
// What is no function (riscv's and x86's asm) is in asm.go.
var primitives = table([]primitive{
	// The API where an architecture defines it as functions.
	{"user_access_begin", begins, readWrite, false, "arch/{x86,arm64,powerpc,riscv}/include/asm/uaccess.h"},
	{"user_read_access_begin", begins, read, false, "arch/powerpc/include/asm/uaccess.h"},
	{"user_write_access_begin", begins, write, false, "arch/powerpc/include/asm/uaccess.h"},
	{"user_access_save", saves, unknown, false, "include/linux/uaccess.h, arch/arm64/include/asm/uaccess.h"},
	{"user_access_restore", restores, unknown, false, "include/linux/uaccess.h, arch/arm64/include/asm/uaccess.h"},

	{"stac", opens, readWrite, false, "arch/x86/include/asm/smap.h"},
	{"clac", closes, readWrite, false, "arch/x86/include/asm/smap.h"},
	{"lass_stac", opens, readWrite, false, "arch/x86/include/asm/smap.h (6.18)"},
	{"lass_clac", closes, readWrite, false, "arch/x86/include/asm/smap.h (6.18)"},
	{"smap_save", saves, unknown, false, "arch/x86/include/asm/smap.h"},
	{"smap_restore", restores, unknown, false, "arch/x86/include/asm/smap.h"},

	{"uaccess_ttbr0_enable", opens, readWrite, false, "arch/arm64/include/asm/uaccess.h"},
	{"uaccess_ttbr0_disable", closes, readWrite, false, "arch/arm64/include/asm/uaccess.h"},
	{"uaccess_enable_privileged", opens, readWrite, false, "arch/arm64/include/asm/uaccess.h"},
	{"uaccess_disable_privileged", closes, readWrite, false, "arch/arm64/include/asm/uaccess.h"},

	{"uaccess_save_and_enable", saveOpens, readWrite, false, "arch/arm/include/asm/uaccess.h"},
	{"uaccess_restore", restores, unknown, false, "arch/arm/include/asm/uaccess.h"},

	{"allow_user_access", opens, unknown, true, "arch/powerpc/include/asm/{book3s/32,book3s/64,nohash/*}/kup*.h"},
	{"prevent_user_access", closes, unknown, true, "arch/powerpc/include/asm/{book3s/32,book3s/64,nohash/*}/kup*.h"},
	{"allow_read_from_user", opens, read, false, "arch/powerpc/include/asm/kup.h"},
	{"allow_write_to_user", opens, write, false, "arch/powerpc/include/asm/kup.h"},
	{"allow_read_write_user", opens, readWrite, false, "arch/powerpc/include/asm/kup.h"},
	{"prevent_read_from_user", closes, read, false, "arch/powerpc/include/asm/kup.h"},
	{"prevent_write_to_user", closes, write, false, "arch/powerpc/include/asm/kup.h"},
	{"prevent_read_write_user", closes, readWrite, false, "arch/powerpc/include/asm/kup.h"},
	{"prevent_current_access_user", closes, readWrite, false, "arch/powerpc/include/asm/kup.h"},
	{"prevent_current_read_from_user", closes, read, false, "arch/powerpc/include/asm/kup.h"},
	{"prevent_current_write_to_user", closes, write, false, "arch/powerpc/include/asm/kup.h"},
	{"prevent_user_access_return", saves, unknown, false, "arch/powerpc/include/asm/{book3s/32,book3s/64,nohash/*}/kup*.h"},
	{"restore_user_access", restores, unknown, false, "arch/powerpc/include/asm/{book3s/32,book3s/64,nohash/*}/kup*.h"},

	// The ends of scoped_user_{read,write,rw}_access(), which gcc calls on every way
	// out of the scope (6.19; the second spelling is of a series of 2026).
	{"class_user_read_access_destructor", closes, read, false, "include/linux/uaccess.h (6.19), DEFINE_CLASS"},
	{"class_user_write_access_destructor", closes, write, false, "include/linux/uaccess.h (6.19), DEFINE_CLASS"},
	{"class_user_rw_access_destructor", closes, readWrite, false, "include/linux/uaccess.h (6.19), DEFINE_CLASS"},
	{"class_user_read_end", closes, read, false, "include/linux/uaccess.h (6.19)"},
	{"class_user_write_end", closes, write, false, "include/linux/uaccess.h (6.19)"},
	{"class_user_rw_end", closes, readWrite, false, "include/linux/uaccess.h (6.19)"},
	{"__scoped_user_read_access_end", closes, read, false, "include/linux/uaccess.h"},
	{"__scoped_user_write_access_end", closes, write, false, "include/linux/uaccess.h"},
	{"__scoped_user_rw_access_end", closes, readWrite, false, "include/linux/uaccess.h"},

	// The markers of overlay/linux/uaccess.h.
	{marker + "user_access_begin", begins, readWrite, false, "overlay"},
	{marker + "user_read_access_begin", begins, read, false, "overlay"},
	{marker + "user_write_access_begin", begins, write, false, "overlay"},
	{marker + "masked_user_access_begin", opens, unknown, false, "overlay"},
	{marker + "masked_user_rw_access_begin", opens, readWrite, false, "overlay"},
	{marker + "masked_user_read_access_begin", opens, read, false, "overlay"},
	{marker + "masked_user_write_access_begin", opens, write, false, "overlay"},
	{marker + "user_access_end", closes, readWrite, false, "overlay"},
	{marker + "user_read_access_end", closes, read, false, "overlay"},
	{marker + "user_write_access_end", closes, write, false, "overlay"},
	{marker + "user_access_save", saves, unknown, false, "overlay"},
	{marker + "user_access_restore", restores, unknown, false, "overlay"},
	{marker + "unsafe_get_user", accesses, read, false, "overlay"},
	{marker + "unsafe_put_user", accesses, write, false, "overlay"},
	{marker + "unsafe_copy_from_user", accesses, read, false, "overlay"},
	{marker + "unsafe_copy_to_user", accesses, write, false, "overlay"},
	{marker + "get_user", whole, read, false, "overlay"},
	{marker + "put_user", whole, write, false, "overlay"},
})

// plainPrimitives are those of a dump without the overlay. There the ends of scopes
// are not leaves: they end what their bodies end, and begin may have vanished.
var plainPrimitives = func() map[string]*primitive {
	m := maps.Clone(primitives)
	maps.DeleteFunc(m, func(_ string, p *primitive) bool { return p.scope() })
	return m
}()

// marker begins the names of the overlay's functions.
const marker = "__uabot_"

func table(rows []primitive) map[string]*primitive {
	m := make(map[string]*primitive, len(rows))
	for i := range rows {
		m[rows[i].name] = &rows[i]
	}
	return m
}

// scope reports whether p is what gcc calls at the end of a scope.
func (p *primitive) scope() bool {
	return strings.HasPrefix(p.name, "class_user_") || strings.HasPrefix(p.name, "__scoped_user_")
}

// api is the primitive's name as the author wrote it, "" where it was not written.
func (p *primitive) api() string {
	if p.scope() {
		return ""
	}
	name := strings.TrimPrefix(p.name, marker)
	if name == "masked_user_rw_access_begin" {
		return "masked_user_access_begin"
	}
	return name
}

// windowed reports whether p can leave the caller's window in another state.
func (p *primitive) windowed() bool { return p.effect != accesses && p.effect != whole }

// passes are functions whose result is their first argument, as far as windows care.
// include/linux/err.h
var passes = map[string]bool{
	"__builtin_expect": true, "__builtin_expect_with_probability": true,
	"ERR_PTR": true, "PTR_ERR": true, "ERR_CAST": true,
}

// stub reports whether name is called only by code that the compiler removes or
// refuses: the dump is older than that.
func stub(name string) bool {
	for _, prefix := range []string{"__compiletime_assert_", "__bad_", "__get_user_bad", "__put_user_bad",
		"__field_overflow", "__read_overflow", "__write_overflow", "__xchg_wrong_size", "__cmpxchg_wrong_size",
		"__xadd_wrong_size", "__add_wrong_size", "__try_cmpxchg_user_wrong_size", "__bad_size_call_parameter"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	// include/linux/fortify-string.h checks sizes that are constants once it is optimised
	if strings.HasPrefix(name, "fortify_") {
		return true
	}
	return strings.HasSuffix(name, "_wrong_size") || strings.HasSuffix(name, "_bad_size")
}

// builtin reports whether gcc makes code of name in place. mem* may become calls.
func builtin(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "__builtin_") && memory(name) == "" ||
		strings.HasPrefix(name, "__atomic_") || strings.HasPrefix(name, "__sync_")
}

// memory is the library function that gcc calls for name where it does not make
// code in place, "" for any other name.
func memory(name string) string {
	name = strings.TrimPrefix(name, "__builtin_")
	name = strings.TrimSuffix(strings.TrimPrefix(name, "__"), "_chk")
	switch name {
	case "memcpy", "memset", "memmove", "memcmp", "strlen", "strcmp", "strncmp", "strcpy", "strncpy", "strchr":
		return name
	}
	return ""
}

// inPlace is the largest size in bytes of a mem* that is taken to become code in
// place on every architecture.
const inPlace = 64

// nofault reports whether the function name reads kernel memory with the code that
// reads user memory: mm/maccess.c, include/linux/uaccess.h, word-at-a-time.h.
func nofault(name string) bool {
	return strings.Contains(name, "nofault") || strings.Contains(name, "load_unaligned_zeropad")
}

// startsOpen reports whether name is called with its caller's window open by
// convention: arch/powerpc/kernel/signal_{32,64}.c, fs/compat helpers.
func startsOpen(name string) bool {
	return strings.HasPrefix(strings.TrimLeft(name, "_"), "unsafe_")
}
