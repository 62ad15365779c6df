/*
 * Each function shows one thing, right or wrong. What is to be found is in
 * ../windows.want; the objects beside it were made from this by `make -C src`.
 */
#include "arch.h"

int helper(int);
void *memset(void *, int, __SIZE_TYPE__);
void consume(void *);
extern int (*pointer)(int);
extern int static_key;
extern void panic(void) __attribute__((noreturn));

/* right */
int good_simple(int *p, int x)
{
	if (!user_write_access_begin(p, 8))
		return -14;
	PUT(x, p, efault);
	PUT(x + 1, p + 1, efault);
	user_write_access_end();
	return 0;
efault:
	user_write_access_end();
	return -14;
}

int good_one_exit(int *p, int x)
{
	int err = -14;

	if (!user_write_access_begin(p, 4))
		goto out;
	PUT(x, p, end);
	err = 0;
end:
	user_write_access_end();
out:
	return err ? helper(err) : 0;
}

int good_loop(int *p, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (!user_write_access_begin(p, 4))
			return -14;
		PUT(i, p + i, efault);
		user_write_access_end();
		helper(i);
	}
	return 0;
efault:
	user_write_access_end();
	return -14;
}

int good_bug_inside(int *p, int x)
{
	if (!user_write_access_begin(p, 4))
		return -14;
	if (x == 3)
		BUG();
	PUT(x, p, efault);
efault:
	user_write_access_end();
	return 0;
}

int good_switch(int *p, int x)
{
	if (!user_write_access_begin(p, 4))
		return -14;
	switch (x) {
	case 0: PUT(31, p, efault); break;
	case 1: PUT(7, p + 1, efault); break;
	case 2: PUT(x * 5, p, efault); break;
	case 3: PUT(x + 77, p + 2, efault); break;
	case 4: PUT(11, p + 1, efault); break;
	case 5: PUT(x << 7, p, efault); break;
	case 6: PUT(12, p + 3, efault); break;
	}
efault:
	user_write_access_end();
	return 0;
}

/* wrong */
int fault_leaves_open(int *p, int x)
{
	if (!user_write_access_begin(p, 4))
		return -14;
	PUT(x, p, efault);
	user_write_access_end();
	return 0;
efault:
	return -14;
}

int begin_failed_ends(int *p, int x)
{
	int err = -14;

	if (!user_write_access_begin(p, 4))
		goto end;
	PUT(x, p, end);
	err = 0;
end:
	user_write_access_end();
	return err;
}

int case_returns(int *p, int x)
{
	if (!user_write_access_begin(p, 4))
		return -14;
	switch (x) {
	case 0: PUT(31, p, efault); break;
	case 1: PUT(7, p + 1, efault); break;
	case 2: PUT(x * 5, p, efault); break;
	case 3: PUT(x + 77, p + 2, efault); break;
	case 4: return -22;
	case 5: PUT(x << 7, p, efault); break;
	case 6: PUT(12, p + 3, efault); break;
	}
efault:
	user_write_access_end();
	return 0;
}

int ends_twice(int *p, int x)
{
	if (!user_write_access_begin(p, 4))
		return -14;
	PUT(x, p, efault);
	user_write_access_end();
	return 0;
efault:
	user_write_access_end();
	if (x == 4)
		user_write_access_end();
	return -14;
}

int begins_twice(int *p, int x)
{
	if (!user_write_access_begin(p, 4))
		return -14;
	if (!user_write_access_begin(p + 1, 4))
		goto efault;
	PUT(x, p, efault);
efault:
	user_write_access_end();
	return 0;
}

int calls_inside(int *p, int x)
{
	if (!user_write_access_begin(p, 4))
		return -14;
	PUT(helper(x), p, efault);
efault:
	user_write_access_end();
	return 0;
}

int calls_pointer_inside(int *p, int x)
{
	if (!user_write_access_begin(p, 4))
		return -14;
	PUT(pointer(x), p, efault);
efault:
	user_write_access_end();
	return 0;
}

static __always_inline int from_header(int x)
{
	return helper(x + 1);
}

int calls_inlined_inside(int *p, int x)
{
	if (!user_write_access_begin(p, 4))
		return -14;
	PUT(from_header(x), p, efault);
efault:
	user_write_access_end();
	return 0;
}

int static_branch_inside(int *p, int x)
{
	if (!user_write_access_begin(p, 4))
		return -14;
	if (static_branch())
		helper(x);
	PUT(x, p, efault);
efault:
	user_write_access_end();
	return 0;
}

int warns_and_leaves(int *p, int x)
{
	if (!user_write_access_begin(p, 4))
		return -14;
	if (x == 3) {
		WARN();
		return -5;
	}
	PUT(x, p, efault);
efault:
	user_write_access_end();
	return 0;
}

int tail_call_inside(int *p, int x)
{
	if (!user_write_access_begin(p, 4))
		return -14;
	PUT(x, p, efault);
	return helper(x);
efault:
	user_write_access_end();
	return 0;
}

int break_leaves_open(int *p, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (!user_write_access_begin(p, 4))
			return -14;
		PUT(i, p + i, efault);
		if (p[i] == 7)
			break;
		user_write_access_end();
	}
	return 0;
efault:
	user_write_access_end();
	return -14;
}

/* the compiler makes a call of it, but on x86 */
int zeroes_inside(int *p, int x)
{
	if (!user_write_access_begin(p, 4))
		return -14;
	{
		char pad[600] = { 0 };

		asm volatile("" :: "r"(pad) : "memory");
		PUT(x + pad[3], p, efault);
	}
efault:
	user_write_access_end();
	return 0;
}

int writes_in_read_window(int *p, int x)
{
	if (!user_read_access_begin(p, 4))
		return -14;
	PUT(x, p, efault);
efault:
	user_read_access_end();
	return 0;
}

int begin_is_lost(int *p, int x)
{
	if (!access_ok(p, 4))
		return -14;
	PUT(x, p, efault);
	return 0;
efault:
	return -14;
}

static noinline void put_locked(int *p, int x)
{
	PUT(x, p, efault);
efault:
	helper(x);
}

/* the window is opened in an inlined function, and left in its caller */
static __always_inline int open_it(int *p)
{
	return user_write_access_begin(p, 4);
}

int opened_in_callee(int *p, int x)
{
	if (!open_it(p))
		return -14;
	helper(x);
	user_write_access_end();
	return 0;
}

/* two copies of one macro, both wrong: one finding, two places */
int two_places(int *p, int x)
{
	int err = 0;

	if (x > 3 && (!user_write_access_begin(p, 4)))
		err = -14;
	user_write_access_end();
	helper(x);
	if (x > 7 && (!user_write_access_begin(p, 4)))
		err = -14;
	user_write_access_end();
	return err;
}

int uses_put_locked(int *p, int x)
{
	put_locked(p, x);
	put_locked(p, x + 1);
	return 0;
}

#if defined(__x86_64__) || defined(__i386__)
/* arch/x86/include/asm/smap.h of linux 6.19: not about user memory */
#define LASS(code)							\
	"771: .skip 3, 0x90\n772:\n"					\
	".pushsection .altinstructions,\"a\"\n"				\
	".long 771b - .\n.long 774f - .\n.word 12*32+6\n.word 0\n"	\
	".byte 772b - 771b\n.byte 775f - 774f\n.popsection\n"		\
	".pushsection .altinstr_replacement,\"ax\"\n"			\
	"774: " code "\n775:\n.popsection\n"

int good_lass(int x)
{
	asm volatile(LASS(".byte 0x0f,0x01,0xcb") ::: "memory");
	x = helper(x);
	asm volatile(LASS(".byte 0x0f,0x01,0xca") ::: "memory");
	return x + 1;
}
#endif

#ifdef __aarch64__
/* what -Os leaves out of line: whether there are windows is asked twice */
static noinline int system_uses_hw_pan(void)
{
	return has_pan();
}

int good_asks_twice(int *p, int x)
{
	int err = 0;

	if (!system_uses_hw_pan())
		asm volatile("msr ttbr0_el1, %0" :: "r"(task_ttbr0) : "memory");
	PUT(x, p, efault);
out:
	if (!system_uses_hw_pan()) {
		unsigned long ttbr1;

		asm volatile("mrs %0, ttbr1_el1" : "=r"(ttbr1));
		asm volatile("msr ttbr0_el1, %0" :: "r"(ttbr1 - 4096) : "memory");
	}
	return err;
efault:
	err = -14;
	goto out;
}
#endif

#ifdef __powerpc__
/* arch/powerpc/include/asm/mmu.h with JUMP_LABEL_FEATURE_CHECK_DEBUG */
extern _Bool static_key_feature_checks_initialized;
extern int early_features;
static __always_inline int mmu_has_feature(void)
{
	if (!static_key_feature_checks_initialized) {
		helper(1);
		return early_features & 0x200;
	}
	return 1;
}

int good_feature_checks(int *p, int x)
{
	int err = 0;

	if (!access_ok(p, 4))
		return -14;
	if (mmu_has_feature())
		open_write();
	PUT(x, p, efault);
out:
	if (mmu_has_feature())
		close_window();
	return err;
efault:
	err = -14;
	goto out;
}
#endif

#ifdef __aarch64__
/* arch/arm64/include/asm/uaccess.h: the window stays open, and that is meant */
static inline unsigned long user_access_save(void) { return 0; }
static inline void user_access_restore(unsigned long enabled) { }

int good_saved_around(int *p, int x)
{
	if (!user_write_access_begin(p, 4))
		return -14;
	if (x > 3) {
		unsigned long ua = user_access_save();

		x = helper(x);
		user_access_restore(ua);
	}
	PUT(x, p, efault);
efault:
	user_write_access_end();
	return 0;
}

int calls_behind_restore(int *p, int x)
{
	unsigned long ua;

	if (!user_write_access_begin(p, 4))
		return -14;
	ua = user_access_save();
	user_access_restore(ua);
	x = helper(x);
	PUT(x, p, efault);
efault:
	user_write_access_end();
	return 0;
}
#endif
