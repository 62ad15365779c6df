/* arm saves and enables; its windows nest. */
#define EFAULT 14
extern unsigned int uaccess_save_and_enable(void);
extern void uaccess_restore(unsigned int flags);

int nests(int a)
{
	unsigned int outer = uaccess_save_and_enable();
	unsigned int inner = uaccess_save_and_enable();

	uaccess_restore(inner);
	uaccess_restore(outer);
	return a;
}

int early(int a)
{
	unsigned int flags = uaccess_save_and_enable();

	if (a)
		return -EFAULT; /* want: open-at-return */
	uaccess_restore(flags);
	return a;
}
