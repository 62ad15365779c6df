package window

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"sync"
)

// Callees says what may be called inside of a window on one architecture.
type Callees struct {
	objtool map[string]bool
	arch    []string
}

// objtoolSafe is uaccess_safe_builtin of tools/objtool/check.c, linux 6.12.117,
// where it is on every arch the compiler's or a sanitizer's own call. {a,b} stands
// for each of a and b.
var objtoolSafe = []string{
	// KASAN
	"kasan_report", "kasan_check_range",
	"__asan_{load,store}{1,2,4,8,16,N}_noabort", "__kasan_check_{read,write}",
	"__asan_report_{load,store}{1,2,4,8,16,_n}_noabort",
	// KCSAN
	"__kcsan_{check_access,mb,wmb,rmb,release}",
	"kcsan_{found_watchpoint,setup_watchpoint,check_scoped_accesses,disable_current,enable_current_nowarn}",
	"__tsan_func_{entry,exit}", "__tsan_{read,write}_range",
	"__tsan_{,volatile_}{read,write}{1,2,4,8,16}", "__tsan_read_write{1,2,4,8,16}",
	"__tsan_atomic{8,16,32,64}_{load,store,exchange}",
	"__tsan_atomic{8,16,32,64}_fetch_{add,sub,and,or,xor,nand}",
	"__tsan_atomic{8,16,32,64}_compare_exchange_{strong,weak,val}",
	"__tsan_atomic_{thread,signal}_fence", "__tsan_unaligned_{read,write}16",
	// KCOV
	"write_comp_data", "check_kcov_mode", "__sanitizer_cov_trace_{pc,switch}",
	"__sanitizer_cov_trace_{const_,}cmp{1,2,4,8}",
	// KMSAN
	"kmsan_{copy_to_user,disable_current,enable_current,report,unpoison_entry_regs,unpoison_memory}",
	"__msan_{chain_origin,get_context_state,instrument_asm_store,poison_alloca,warning}",
	"__msan_metadata_ptr_for_{load,store}_{1,2,4,8,n}",
	// UBSAN
	"ubsan_type_mismatch_common",
	"__ubsan_handle_{type_mismatch,type_mismatch_v1,shift_out_of_bounds,load_invalid_value}",
	// the rest
	"stackleak_track_stack", "ftrace_likely_update", "__stack_chk_fail",
	"csum_partial_copy_generic", "copy_mc_{fragile,fragile_handle_tail,enhanced_fast_string}",
	"rep_{stos,movs}_alternative", "copy_to_nontemporal",
}

// archSafe adds what an architecture's own headers call with the window open. A
// trailing * matches any ending.
var archSafe = map[string][]string{
	// arch/powerpc/include/asm/uaccess.h: raw_copy_{from,to}_user, __clear_user and
	// arch/powerpc/lib/checksum_wrappers.c; the GPR save and restore routines of the
	// ABI (arch/powerpc/lib/crtsavres.S) only store and load registers.
	"powerpc": {"__copy_tofrom_user*", "__arch_clear_user", "csum_partial_copy_generic", "copy_mc_generic",
		"_savegpr*", "_restgpr*", "_savegpr0_*", "_restgpr0_*", "_save32gpr*", "_rest32gpr*"},
	// arch/arm64/include/asm/uaccess.h and mte.h, arch/arm64/lib/mte.S
	"arm64": {"__arch_copy_from_user", "__arch_copy_to_user", "__arch_clear_user",
		"mte_copy_tags_from_user", "mte_copy_tags_to_user",
		// local_irq_save() and local_irq_restore() in uaccess_ttbr0_enable() and _disable(),
		// where TRACE_IRQFLAGS or the compiler's choice makes calls of them
		"trace_hardirqs_on", "trace_hardirqs_off", "warn_bogus_irq_restore",
		"arch_local_irq_*", "arch_irqs_disabled*", "arch_local_save_flags",
		// small functions of headers that only compute, which -Os leaves out of line
		"system_uses_hw_pan", "system_uses_ttbr0_pan", "access_ok", "__access_ok"},
	// arch/arm/include/asm/uaccess.h: save_and_enable and restore nest, so the
	// thunks and the copies, which do both, are allowed
	"arm": {"arm_copy_from_user", "arm_copy_to_user", "arm_clear_user",
		"__copy_from_user_std", "__copy_to_user_std", "__clear_user_std",
		"__get_user_*", "__put_user_*", "csum_partial_copy_from_user"},
	// arch/riscv/lib/uaccess.S, arch/riscv/lib/riscv_v_helpers.c
	"riscv": {"fallback_scalar_usercopy_sum_enabled", "__asm_copy_*_sum_enabled",
		"__asm_vector_usercopy_sum_enabled"},
}

// SafeCallees is the built-in table for the kernel architecture arch (its directory
// under arch/: "x86", "powerpc" …).
func SafeCallees(arch string) *Callees {
	return &Callees{objtool: builtinSafe(), arch: archSafe[arch]}
}

// builtinSafe is objtoolSafe spelled out. It is shared: not to be changed.
var builtinSafe = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, pattern := range objtoolSafe {
		for _, name := range braces(pattern) {
			names[name] = true
		}
	}
	return names
})

// ErrNoSafeList says that a check.c does not hold the list that objtool reads.
var ErrNoSafeList = errors.New("no uaccess_safe_builtin in objtool's check.c")

var (
	safeBuiltin = regexp.MustCompile(`(?s)\buaccess_safe_builtin\[\]\s*=\s*\{(.*?)\n\s*\};`)
	cString     = regexp.MustCompile(`"(\w+)"`)
	cComment    = regexp.MustCompile(`(?s)/\*.*?\*/`)
)

// UseObjtool replaces objtool's part of the table by the list in a tree's
// tools/objtool/check.c. Use the base tree's: a patch may not declare itself safe.
func (c *Callees) UseObjtool(checkC []byte) error {
	m := safeBuiltin.FindSubmatch(checkC)
	if m == nil {
		return ErrNoSafeList
	}
	list := map[string]bool{}
	for _, s := range cString.FindAllSubmatch(cComment.ReplaceAll(m[1], nil), -1) {
		list[string(bytes.Clone(s[1]))] = true
	}
	if len(list) == 0 {
		return ErrNoSafeList
	}
	c.objtool = list
	return nil
}

// Safe reports whether name, a symbol or a function as DWARF has it, may be called
// inside of a window.
func (c *Callees) Safe(name string) bool {
	if i := strings.IndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	if c.objtool[name] {
		return true
	}
	for _, pattern := range c.arch {
		if match(pattern, name) {
			return true
		}
	}
	return false
}

// match compares name with a pattern that may hold one *.
func match(pattern, name string) bool {
	before, after, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	return len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
}

// braces expands {a,b} as a shell does.
func braces(pattern string) []string {
	before, rest, ok := strings.Cut(pattern, "{")
	if !ok {
		return []string{pattern}
	}
	choices, after, _ := strings.Cut(rest, "}")
	var names []string
	for _, choice := range strings.Split(choices, ",") {
		for _, tail := range braces(after) {
			names = append(names, before+choice+tail)
		}
	}
	return names
}
