package usercopy

import (
	"regexp"
	"slices"
	"strings"

	"uabot/checks/csource"
)

// windowKind is the access that a window allows.
type windowKind string

const (
	readWindow  windowKind = "read"
	writeWindow windowKind = "write"
	rwWindow    windowKind = "read-write"
)

// begins and ends are the window API, include/linux/uaccess.h. A name that a
// change invents in the same style (__user_write_access_begin) counts too.
var begins = regexp.MustCompile(`^_{0,2}user_(?:(read|write|rw)_)?access_begin(?:_\w+)?$`)
var ends = regexp.MustCompile(`^_{0,2}user_(?:(read|write|rw)_)?access_end$`)

// maskedBegin opens without a way to fail; its end may be of any kind in trees
// that have only one masked begin.
var maskedBegin = regexp.MustCompile(`^masked_user_(?:(read|write|rw)_)?access_begin$`)

// scopedBegin opens for the block that follows.
var scopedBegin = regexp.MustCompile(`^_{0,2}scoped(?:_masked)?_user_(?:read|write|rw)_access(?:_size)?$`)

func kindOf(word string) windowKind {
	switch word {
	case "read":
		return readWindow
	case "write":
		return writeWindow
	}
	return rwWindow
}

// beginKind returns the kind of window that a call to name opens.
func beginKind(name string) (windowKind, bool) {
	if m := begins.FindStringSubmatch(name); m != nil {
		return kindOf(m[1]), true
	}
	return "", false
}

func endKind(name string) (windowKind, bool) {
	if m := ends.FindStringSubmatch(name); m != nil {
		return kindOf(m[1]), true
	}
	return "", false
}

// rawOpeners open a window and check nothing: what the arches build their begin
// from (arch/*/include/asm, 6.12.117), plus what newer trees add.
var rawOpeners = map[string]bool{
	"__uaccess_begin": true, "__uaccess_begin_nospec": true, "stac": true, "lass_stac": true, // x86
	"uaccess_ttbr0_enable": true, "uaccess_enable_privileged": true, // arm64
	"uaccess_save_and_enable": true,                                                            // arm
	"allow_user_access":       true, "allow_read_from_user": true, "allow_write_to_user": true, // powerpc
	"allow_read_write_user": true,
	"__enable_user_access":  true, // riscv
}

// rawClosers are their counterparts.
var rawClosers = map[string]bool{
	"__uaccess_end": true, "clac": true, "lass_clac": true,
	"uaccess_ttbr0_disable": true, "uaccess_disable_privileged": true, "uaccess_restore": true,
	"prevent_user_access": true, "prevent_read_from_user": true, "prevent_write_to_user": true,
	"prevent_read_write_user": true, "prevent_current_access_user": true,
	"prevent_current_read_from_user": true, "prevent_current_write_to_user": true,
	"__disable_user_access": true,
}

// opens reports whether a call to name opens a window.
func opens(name string) bool {
	return begins.MatchString(name) || maskedBegin.MatchString(name) || scopedBegin.MatchString(name) || rawOpeners[name]
}

func closes(name string) bool { return ends.MatchString(name) || rawClosers[name] }

// rangeChecks say that a pointer is the user's, or make it so.
var rangeChecks = map[string]bool{
	"access_ok": true, "__access_ok": true, "__access_ok_noextent": true, "__range_ok": true, "user_addr_max": true,
	"mask_user_address": true, "can_do_masked_user_access": true, "masked_user_access_begin": true,
	"uaccess_mask_ptr": true, "__uaccess_mask_ptr": true, "likely_access_ok": true,
}

// checksRange reports whether tokens test or mask a user address.
func checksRange(tokens []csource.Token) bool {
	return slices.ContainsFunc(tokens, func(t csource.Token) bool {
		return t.Kind == csource.Ident && (rangeChecks[t.Text] || strings.HasSuffix(t.Text, "access_ok"))
	})
}

// unsafeAccess are the accesses that belong inside a window.
var unsafeAccess = regexp.MustCompile(`^(?:arch_)?unsafe_(?:(?:get|put)_user|copy_(?:to|from)_user|(?:get|put)_compat_sigset|try_cmpxchg_user|atomic_store_release_user)$`)

// putCall writes one value.
var putCall = regexp.MustCompile(`^(?:__|unsafe_|arch_unsafe_)?put_user(?:_inline)?$`)

// anyAccess is any helper that reads or writes user memory.
var anyAccess = regexp.MustCompile(`^(?:__|_|raw_|unsafe_|arch_unsafe_)*(?:get_user|put_user|copy_(?:to|from|in)_user\w*|copy_struct_from_user|copy_(?:to|from)_iter\w*|clear_user|strncpy_from_user|strnlen_user|(?:get|put)_compat_sigset|try_cmpxchg_user|atomic_store_release_user)$`)

// copyOut and copyIn take (to, from, n); the second group of names returns the
// bytes that were not copied.
var copyOut = regexp.MustCompile(`^(?:__|_|raw_|unsafe_)?copy_to_user(?:_inatomic)?$`)
var copyIn = regexp.MustCompile(`^(?:__|_|raw_|unsafe_)?copy_from_user(?:_inatomic|_nocache|_inatomic_nocache)?$`)
var bytesLeft = regexp.MustCompile(`^(?:__|_|raw_)?(?:copy_(?:to|from|in)_user(?:_inatomic|_nocache)?|clear_user)$`)

// isArchUaccess reports whether a file is one of those where an architecture
// builds user access: there, what others must not do is the job.
func isArchUaccess(path string) bool {
	return path == "include/linux/uaccess.h" || path == "include/asm-generic/uaccess.h" || path == "lib/usercopy.c" || path == "lib/iov_iter.c" || path == "include/linux/uio.h" ||
		strings.HasPrefix(path, "arch/") && (strings.Contains(path, "/include/asm/uaccess") || strings.Contains(path, "kup") || strings.Contains(path, "/include/asm/futex") || strings.Contains(path, "/include/asm/smap.h") ||
			strings.Contains(path, "/include/asm/asm-uaccess") || strings.Contains(path, "/lib/"))
}

// calls reports whether any of calls has a name that matches.
func hasCall(calls []csource.Call, match func(string) bool) bool {
	return slices.ContainsFunc(calls, func(c csource.Call) bool { return match(c.Name) })
}

// arg returns the i-th argument of c, nil when there are fewer.
func arg(c csource.Call, i int) []csource.Token {
	if i < len(c.Args) {
		return c.Args[i]
	}
	return nil
}

// mentions reports whether name is among tokens.
func mentions(tokens []csource.Token, name string) bool {
	return slices.ContainsFunc(tokens, func(t csource.Token) bool { return t.Kind == csource.Ident && t.Text == name })
}
