package source

import (
	"regexp"

	"uabot/checks/window"
)

// exemption is one row of what the kernel does on purpose and a rule would call wrong.
type exemption struct {
	rule     window.Rule
	file     string // relative to the tree
	function *regexp.Regexp
	why      string // the source of the row
}

var everywhere = regexp.MustCompile(`.`)

// exemptions were read in linux 6.12.117.
var exemptions = []exemption{
	{window.AccessOutsideWindow, "arch/powerpc/lib/sstep.c", regexp.MustCompile(`^__(?:read_mem_aligned|write_mem_aligned|copy_mem_in|copy_mem_out|emulate_dcbz)$`),
		"also called for kernel addresses, where no window is needed: read_mem_aligned() and its like test is_user_addr()"},
	{window.AccessOutsideWindow, "arch/arm/mm/alignment.c", everywhere,
		"the fault handler emulates the kernel's own accesses too: a window is taken where user_mode(regs) only"},
	{window.CallInWindow, "arch/arm/lib/uaccess_with_memcpy.c", everywhere,
		"CONFIG_UACCESS_WITH_MEMCPY: memcpy() and memset() on pinned user pages are what the file is for"},
	{window.CallInWindow, "arch/arm/kernel/traps.c", regexp.MustCompile(`^__do_cache_op$`),
		"flush_icache_user_range() is cache assembly on user addresses, which needs the window"},
	{window.CallInWindow, "arch/arm/kernel/smp_tlb.c", regexp.MustCompile(`^ipi_flush_tlb_range$`),
		"local_flush_tlb_range() is TLB assembly on user addresses, which needs the window"},
}

// allowed are functions that may be called in a window beyond the model's table.
var allowed = map[string]string{
	"cpu_has_feature": "arch/powerpc/include/asm/cpu_has_feature.h: a static branch; it prints only under JUMP_LABEL_FEATURE_CHECK_DEBUG, when called before the branches are set",
	"mmu_has_feature": "arch/powerpc/include/asm/mmu.h: as cpu_has_feature()",
}

func exempt(rule window.Rule, file, function string) bool {
	for _, e := range exemptions {
		if e.rule == rule && e.file == file && e.function.MatchString(function) {
			return true
		}
	}
	return false
}
