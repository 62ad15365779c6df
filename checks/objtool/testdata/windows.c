/*
 * One function for each thing that objtool says about user-access windows, built
 * the way of arch/x86/include/asm/{uaccess,smap,alternative}.h: NOPs in .text,
 * stac and clac in .altinstr_replacement. testdata/make.sh compiles it.
 */
#define ALT(nops, insn, feature)					\
	"661:\n\t" nops "\n662:\n"					\
	".pushsection .altinstructions,\"a\"\n"				\
	" .long 661b - .\n .long 663f - .\n"				\
	" .4byte " #feature "\n .byte 662b-661b\n .byte 664f-663f\n"	\
	".popsection\n"							\
	".pushsection .altinstr_replacement, \"ax\"\n"			\
	"663:\n\t" insn "\n664:\n"					\
	".popsection\n"

#define NOP3 ".byte 0x0f,0x1f,0x00"
#define SMAP 308 /* 9*32+20 */

static inline __attribute__((always_inline)) void stac(void)
{
	asm volatile(ALT(NOP3, ".byte 0x0f,0x01,0xcb", 308) : : : "memory");
}

static inline __attribute__((always_inline)) void clac(void)
{
	asm volatile(ALT(NOP3, ".byte 0x0f,0x01,0xca", 308) : : : "memory");
}

extern unsigned long limit;
extern void outside(void);
extern int __put_user_4(int x);

static inline __attribute__((always_inline)) int access_ok(const void *p, unsigned long n)
{
	return (unsigned long)p + n < limit;
}

static inline __attribute__((always_inline)) int user_access_begin(const void *p, unsigned long n)
{
	if (!access_ok(p, n))
		return 0;
	stac();
	return 1;
}

#define user_write_access_begin user_access_begin
#define user_write_access_end() clac()
#define user_access_end() clac()

/* Clean: one way in, one way out. */
int clean(int *p)
{
	if (!user_access_begin(p, 4))
		return -14;
	*(volatile int *)p = 1;
	user_access_end();
	return 0;
}

/* The end is reached with a begin that failed. */
int unpaired(int *p)
{
	int err = -14;

	if (!user_write_access_begin(p, 4))
		goto failed;
	*(volatile int *)p = 1;
	err = 0;
failed:
	user_write_access_end();
	return err;
}

#define PUT(x, p) ({						\
	__label__ failed;					\
	int __err = -14;					\
								\
	if (!user_write_access_begin(p, 4))			\
		goto failed;					\
	*(volatile int *)(p) = (x);				\
	__err = 0;						\
failed:								\
	user_write_access_end();				\
	__err;							\
})

/* The same in a macro, and in a function that is inlined. */
static inline __attribute__((always_inline)) int put_one(int *p)
{
	return PUT(1, p);
}

int unpaired_macro(int *p)
{
	outside();
	return put_one(p + 1);
}

/* A way out that does not close. */
int leak(int *p, int n)
{
	if (!user_access_begin(p, 4))
		return -14;
	if (n > 3)
		return -22;
	*(volatile int *)p = n;
	user_access_end();
	return 0;
}

static inline __attribute__((always_inline)) void helper(void)
{
	outside();
}

/* Calls with the window open: plain, in an inlined function, through a pointer. */
int calls(int *p)
{
	if (!user_access_begin(p, 4))
		return -14;
	outside();
	user_access_end();
	return 0;
}

int calls_inlined(int *p)
{
	if (!user_access_begin(p, 8))
		return -14;
	helper();
	user_access_end();
	return 0;
}

int calls_pointer(int *p, void (*f)(void))
{
	if (!user_access_begin(p, 4))
		return -14;
	f();
	user_access_end();
	return 0;
}

/* A second window in an open one: inline, and by a thunk. */
int twice(int *p)
{
	if (!user_access_begin(p, 4))
		return -14;
	if (user_access_begin(p + 1, 4))
		*(volatile int *)p = 1;
	user_access_end();
	return 0;
}

int twice_thunk(int *p)
{
	if (!user_access_begin(p, 4))
		return -14;
	__put_user_4(2);
	user_access_end();
	return 0;
}
