/* The primitives and accesses of an architecture's own headers; asm is only text here. */
#define EFAULT 14
extern void uaccess_ttbr0_enable(void);
extern void uaccess_ttbr0_disable(void);
extern int compute(int);

#define put(x, p, label) __asm__ goto(						\
	"1:	sttr	%w0, [%1]\n"							\
	"	.pushsection __ex_table, \"a\"\n"					\
	"	.long 1b - .\n"								\
	"	.popsection\n" : : "r" (x), "r" (p) : : label)

int right(int *p)
{
	uaccess_ttbr0_enable();
	put(1, p, fault);
	uaccess_ttbr0_disable();
	return 0;
fault:
	uaccess_ttbr0_disable();
	return -EFAULT;
}

/* as arm64 had it once: the argument is evaluated in the window */
#define put_user(x, p) ({ __label__ fault; int __e = -EFAULT;		\
	uaccess_ttbr0_enable();						\
	put((x), (p), fault);						\
	__e = 0;							\
fault:									\
	uaccess_ttbr0_disable();					\
	__e; })

int argument_in_window(int *p)
{
	return put_user(compute(1), p); /* want: call-in-window compute */
}

int fault_leaves_open(int *p)
{
	uaccess_ttbr0_enable();
	put(1, p, fault);
	uaccess_ttbr0_disable();
	return 0;
fault:
	return -EFAULT; /* want: open-at-return */
}

int outside(int *p)
{
	put(1, p, fault); /* want: access-outside-window */
	return 0;
fault:
	return -EFAULT;
}

int kernel_nofault(int *p)
{
	put(1, p, fault);
	return 0;
fault:
	return -EFAULT;
}
