/*
 * The kernel's window primitives as each arch has them, cut down to what an object
 * shows: the instructions, the alternatives and feature sections around them, and the
 * exception table. The Makefile picks the kind of powerpc.
 */
#define __user
#define __always_inline inline __attribute__((always_inline))
#define noinline __attribute__((noinline))
#define unlikely(x) __builtin_expect(!!(x), 0)

typedef unsigned int u32;
extern unsigned long user_limit;

#if defined(__x86_64__) || defined(__i386__)
#define SMAP(code)							\
	"771: .skip 3, 0x90\n772:\n"					\
	".pushsection .altinstructions,\"a\"\n"				\
	".long 771b - .\n.long 774f - .\n.word 9*32+20\n.word 0\n"	\
	".byte 772b - 771b\n.byte 775f - 774f\n.popsection\n"		\
	".pushsection .altinstr_replacement,\"ax\"\n"			\
	"774: " code "\n775:\n.popsection\n"
static __always_inline void stac(void) { asm volatile(SMAP(".byte 0x0f,0x01,0xcb") ::: "memory"); }
static __always_inline void clac(void) { asm volatile(SMAP(".byte 0x0f,0x01,0xca") ::: "memory"); }
#define open_read() stac()
#define open_write() stac()
#define close_window() clac()
#define EX_TABLE(label) ".pushsection __ex_table,\"a\"\n.long 1b - .\n.long %l[" label "] - .\n.long 3\n.popsection\n"
#define STORE "1: movl %0, %1\n"
#define LOAD "1: movl %1, %0\n"
#define MEM "m"
#define BUG_INSN "1: ud2\n"
#define JUMP_NOP "1: .byte 0x0f,0x1f,0x44,0x00,0x00\n"

#elif defined(__powerpc__)
#ifdef __powerpc64__
#define LONG ".8byte"
#else
#define LONG ".long"
#endif
#define KUAP(code)							\
	"661: " code "\n662:\n"						\
	".pushsection __mmu_ftr_fixup,\"a\"\n663:\n"			\
	LONG " 0x200\n" LONG " 0x200\n" LONG " 661b - 663b\n"		\
	LONG " 662b - 663b\n" LONG " 0\n" LONG " 0\n.popsection\n"
#if defined(__powerpc64__)
static __always_inline void set_kuap(unsigned long v) { asm volatile("isync\nmtspr 29, %0\nisync" :: "r"(v) : "memory"); }
extern unsigned long thread_amr;
#define open_read() set_kuap(thread_amr | 0xa8aaaaaaaaaaaaaaUL)
#define open_write() set_kuap(thread_amr | 0x5455555555555555UL)
#define close_window() set_kuap(0xfcffffffffffffffUL)
#elif defined(PPC_8XX)
static __always_inline void uaccess_begin_8xx(unsigned long v) { asm volatile(KUAP("mtspr 794, %0") :: "r"(v) : "memory"); }
#define open_read() uaccess_begin_8xx(0xdc000000)
#define open_write() uaccess_begin_8xx(0xdc000000)
#define close_window() uaccess_begin_8xx(0xde000000)
#elif defined(PPC_BOOKE)
extern unsigned long thread_pid;
static __always_inline void uaccess_begin_booke(unsigned long v) { asm volatile(KUAP("mtspr 48, %0\nisync") :: "r"(v) : "memory"); }
#define open_read() uaccess_begin_booke(thread_pid)
#define open_write() uaccess_begin_booke(thread_pid)
#define close_window() uaccess_begin_booke(0)
#else
static __always_inline void uaccess_begin_32s(unsigned long addr)
{
	unsigned long tmp;

	asm volatile(KUAP("mfsrin %0, %1\nrlwinm %0, %0, 0, 0xbfffffff\nmtsrin %0, %1\nisync") : "=&r"(tmp) : "r"(addr) : "memory");
}
static __always_inline void uaccess_end_32s(unsigned long addr)
{
	unsigned long tmp;

	asm volatile(KUAP("mfsrin %0, %1\noris %0, %0, 0x4000\nmtsrin %0, %1\nisync") : "=&r"(tmp) : "r"(addr) : "memory");
}
extern unsigned long window_at;
#define open_read() uaccess_begin_32s(window_at)
#define open_write() uaccess_begin_32s(window_at)
#define close_window() uaccess_end_32s(window_at)
#endif
#define EX_TABLE(label) ".pushsection __ex_table,\"a\"\n.long 1b - .\n.long %l[" label "] - .\n.popsection\n"
#define STORE "1: stw%U1%X1 %0, %1\n"
#define LOAD "1: lwz%U1%X1 %0, %1\n"
#define MEM "m<>"
#define BUG_INSN "1: twi 31, 0, 0\n"
#define JUMP_NOP "1: nop\n"

#elif defined(__aarch64__)
static __always_inline int has_pan(void)
{
	asm goto("661: nop\n662:\n"
		 ".pushsection .altinstructions,\"a\"\n"
		 ".word 661b - .\n.word 663f - .\n.hword 40\n.byte 662b - 661b\n.byte 664f - 663f\n.popsection\n"
		 ".subsection 1\n663: b %l[yes]\n664:\n.previous\n" :::: yes);
	return 0;
yes:
	return 1;
}
extern unsigned long task_ttbr0;
static __always_inline void uaccess_ttbr0_enable(void)
{
	unsigned long ttbr1;

	if (has_pan())
		return;
	asm volatile("mrs %0, ttbr1_el1" : "=r"(ttbr1));
	ttbr1 = (ttbr1 & 0xffffffffffffUL) | (task_ttbr0 & ~0xffffffffffffUL);
	asm volatile("msr ttbr1_el1, %0" :: "r"(ttbr1));
	asm volatile("msr ttbr0_el1, %0\nisb" :: "r"(task_ttbr0) : "memory");
}
static __always_inline void uaccess_ttbr0_disable(void)
{
	unsigned long ttbr1;

	if (has_pan())
		return;
	asm volatile("mrs %0, ttbr1_el1" : "=r"(ttbr1));
	ttbr1 &= 0xffffffffffffUL;
	asm volatile("msr ttbr0_el1, %0" :: "r"(ttbr1 - 4096));
	asm volatile("msr ttbr1_el1, %0\nisb" :: "r"(ttbr1) : "memory");
}
#define open_read() uaccess_ttbr0_enable()
#define open_write() uaccess_ttbr0_enable()
#define close_window() uaccess_ttbr0_disable()
#define EX_TABLE(label) ".pushsection __ex_table,\"a\"\n.long 1b - .\n.long %l[" label "] - .\n.short 2\n.short 0\n.popsection\n"
#define STORE "1: sttr %w0, %1\n"
#define LOAD "1: ldtr %w0, %1\n"
#define MEM "Q"
#define BUG_INSN "1: brk #0x800\n"
#define JUMP_NOP "1: nop\n"

#elif defined(__arm__)
static __always_inline u32 uaccess_save_and_enable(void)
{
	u32 old, new;

	asm volatile("mrc p15, 0, %0, c3, c0, 0" : "=r"(old));
	new = (old & ~0xc) | 4;
	asm volatile("mcr p15, 0, %0, c3, c0, 0" :: "r"(new) : "memory");
	return old;
}
static __always_inline void uaccess_restore(u32 flags)
{
	asm volatile("mcr p15, 0, %0, c3, c0, 0" :: "r"(flags) : "memory");
}
static __always_inline void uaccess_disable(void)
{
	u32 old;

	asm volatile("mrc p15, 0, %0, c3, c0, 0" : "=r"(old));
	asm volatile("mcr p15, 0, %0, c3, c0, 0" :: "r"(old & ~0xc) : "memory");
}
#define open_read() uaccess_save_and_enable()
#define open_write() uaccess_save_and_enable()
#define close_window() uaccess_disable()
#define EX_TABLE(label) ".pushsection __ex_table,\"a\"\n.long 1b\n.long %l[" label "]\n.popsection\n"
#define STORE "1: str %0, %1\n"
#define LOAD "1: ldr %0, %1\n"
#define MEM "Q"
#define BUG_INSN "1: udf #0x12\n"
#ifdef __thumb__
#define JUMP_NOP "1: nop.w\n"
#else
#define JUMP_NOP "1: nop\n"
#endif

#elif defined(__riscv)
static __always_inline void __enable_user_access(void) { asm volatile("csrs sstatus, %0" :: "r"(0x40000) : "memory"); }
static __always_inline void __disable_user_access(void) { asm volatile("csrc sstatus, %0" :: "r"(0x40000) : "memory"); }
#define open_read() __enable_user_access()
#define open_write() __enable_user_access()
#define close_window() __disable_user_access()
#define EX_TABLE(label) ".pushsection __ex_table,\"a\"\n.long 1b - .\n.long %l[" label "] - .\n.short 3\n.short 0\n.popsection\n"
#define STORE "1: sw %0, %1\n"
#define LOAD "1: lw %0, %1\n"
#define MEM "m"
#define BUG_INSN "1: ebreak\n"
#define JUMP_NOP "1: .option push\n.option norvc\nnop\n.option pop\n"
#endif

static __always_inline int access_ok(const void *p, unsigned long n)
{
	return (unsigned long)p < user_limit - n;
}

static __always_inline int user_write_access_begin(void *p, unsigned long n)
{
	if (unlikely(!access_ok(p, n)))
		return 0;
	open_write();
	return 1;
}

static __always_inline int user_read_access_begin(const void *p, unsigned long n)
{
	if (unlikely(!access_ok(p, n)))
		return 0;
	open_read();
	return 1;
}

static __always_inline void user_write_access_end(void) { close_window(); }
static __always_inline void user_read_access_end(void) { close_window(); }

#define unsafe_put_user(x, p, label) \
	asm goto(STORE EX_TABLE("fault") :: "r"(x), MEM(*(p)) : "memory" : fault)

#define PUT(x, p, label) do {						\
	__label__ fault, out;						\
	unsafe_put_user((x), (p), fault);				\
	goto out;							\
fault:	goto label;							\
out:	;								\
} while (0)

/* a static branch: include/linux/jump_label.h */
#ifdef __arm__
#define JUMP_ENTRY ".pushsection __jump_table,\"aw\"\n.long 1b, %l[yes], static_key\n.popsection\n"
#elif __SIZEOF_LONG__ == 8
#define JUMP_ENTRY ".pushsection __jump_table,\"aw\"\n.long 1b - .\n.long %l[yes] - .\n.quad static_key - .\n.popsection\n"
#else
#define JUMP_ENTRY ".pushsection __jump_table,\"aw\"\n.long 1b - .\n.long %l[yes] - .\n.long static_key - .\n.popsection\n"
#endif
static __always_inline int static_branch(void)
{
	asm goto(JUMP_NOP JUMP_ENTRY :::: yes);
	return 0;
yes:
	return 1;
}

/* WARN() goes on, BUG() does not: include/asm-generic/bug.h */
#define BUG_ENTRY(flags) ".pushsection __bug_table,\"aw\"\n.long 1b - ., 1b - .\n.short 0, " #flags "\n.popsection\n"
#ifdef __arm__
#undef BUG_ENTRY
#define BUG_ENTRY(flags) ".pushsection __bug_table,\"aw\"\n.long 1b, 1b\n.short 0, " #flags "\n.popsection\n"
#endif
#define BUG() do { asm volatile(BUG_INSN BUG_ENTRY(0)); __builtin_unreachable(); } while (0)
#define WARN() asm volatile(BUG_INSN BUG_ENTRY(1))
