package object

// noReturns do not come back to their caller: tools/objtool/noreturns.h of linux
// 6.12.117, and below what other arches have instead.
var noReturns = map[string]bool{
	"__fortify_panic": true, "__ia32_sys_exit": true, "__ia32_sys_exit_group": true, "__kunit_abort": true,
	"__module_put_and_kthread_exit": true, "__reiserfs_panic": true, "__stack_chk_fail": true,
	"__tdx_hypercall_failed": true, "__ubsan_handle_builtin_unreachable": true, "__x64_sys_exit": true,
	"__x64_sys_exit_group": true, "arch_cpu_idle_dead": true, "bch2_trans_in_restart_error": true,
	"bch2_trans_restart_error": true, "bch2_trans_unlocked_error": true, "cpu_bringup_and_idle": true,
	"cpu_startup_entry": true, "do_exit": true, "do_group_exit": true, "do_task_dead": true,
	"ex_handler_msr_mce": true, "hlt_play_dead": true, "hv_ghcb_terminate": true,
	"kthread_complete_and_exit": true, "kthread_exit": true, "kunit_try_catch_throw": true,
	"machine_real_restart": true, "make_task_dead": true, "mpt_halt_firmware": true,
	"nmi_panic_self_stop": true, "panic": true, "panic_smp_self_stop": true, "rest_init": true,
	"rewind_stack_and_make_dead": true, "rust_begin_unwind": true, "rust_helper_BUG": true,
	"sev_es_terminate": true, "snp_abort": true, "start_kernel": true, "stop_this_cpu": true,
	"usercopy_abort": true, "x86_64_start_kernel": true, "x86_64_start_reservations": true,
	"xen_cpu_bringup_again": true, "xen_start_kernel": true,

	"__bug": true, // arch/arm/kernel/traps.c
}

func noReturn(name string) bool { return noReturns[name] }
