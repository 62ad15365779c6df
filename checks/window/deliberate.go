package window

// deliberate are the calls that an arch makes inside of a window on purpose, on memory
// that the window is for: arch, function, callee ("a function pointer" is one, too).
var deliberate = map[[3]string]string{
	{"arm", "__do_cache_op", "a function pointer"}:     "arch/arm/kernel/traps.c: flush_icache_user_range() touches user addresses",
	{"arm", "__do_cache_op", "v7_coherent_user_range"}: "the same where one CPU type is built in",
	{"arm", "__copy_to_user_memcpy", "memcpy"}:         "arch/arm/lib/uaccess_with_memcpy.c: memcpy() to pinned user pages",
	{"arm", "__clear_user_memset", "memset"}:           "the same with memset()",
}

// Deliberate is why p is right on the kernel architecture arch, empty if it is not.
func (p *Problem) Deliberate(arch string) string {
	if p.Rule != CallInWindow {
		return ""
	}
	return deliberate[[3]string{arch, p.Function, p.Detail()}]
}
