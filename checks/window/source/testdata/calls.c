/* What is called while a window is open. */
#include <linux/uaccess.h>

struct big { char c[256]; };

static int plain(int a) { return a + 1; }
static int noisy(int a) { if (a > 3) printk("noisy"); return a; }
static inline int only_when_told(int a, bool tell) { if (tell) printk("told"); return a; }

int leaf_is_fine(int __user *p, int a)
{
	if (!user_write_access_begin(p, 4))
		return -EFAULT;
	unsafe_put_user(plain(a), p, out);
out:
	user_write_access_end();
	return 0;
}

int in_argument(int __user *p, int a)
{
	if (!user_write_access_begin(p, 4))
		return -EFAULT;
	unsafe_put_user(compute(a), p, out); /* want: call-in-window compute */
out:
	user_write_access_end();
	return 0;
}

int through_helper(int __user *p, int a)
{
	if (!user_write_access_begin(p, 4))
		return -EFAULT;
	unsafe_put_user(noisy(a), p, out); /* want: call-in-window noisy */
out:
	user_write_access_end();
	return 0;
}

int constant_argument(int __user *p, int a)
{
	if (!user_write_access_begin(p, 4))
		return -EFAULT;
	unsafe_put_user(only_when_told(a, false), p, out);
out:
	user_write_access_end();
	return 0;
}

int pointer(int __user *p, int (*f)(void))
{
	if (!user_write_access_begin(p, 4))
		return -EFAULT;
	unsafe_put_user(f(), p, out); /* want: call-in-window a function pointer */
out:
	user_write_access_end();
	return 0;
}

int sanitizer(int __user *p)
{
	extern void __asan_load4_noabort(unsigned long);

	if (!user_write_access_begin(p, 4))
		return -EFAULT;
	__asan_load4_noabort(1);
	unsafe_put_user(1, p, out);
out:
	user_write_access_end();
	return 0;
}

int small_memset(int __user *p)
{
	char c[8];

	if (!user_write_access_begin(p, 4))
		return -EFAULT;
	__builtin_memset(c, 0, sizeof(c));
	unsafe_copy_to_user(p, c, 4, out);
out:
	user_write_access_end();
	return 0;
}

int large_memset(int __user *p, struct big *b)
{
	if (!user_write_access_begin(p, 4))
		return -EFAULT;
	__builtin_memset(b, 0, sizeof(*b)); /* want: call-in-window memset */
	unsafe_copy_to_user(p, b->c, 4, out);
out:
	user_write_access_end();
	return 0;
}

int after_the_end(int __user *p)
{
	if (!user_write_access_begin(p, 4))
		return -EFAULT;
	unsafe_put_user(1, p, out);
out:
	user_write_access_end();
	printk("done");
	return 0;
}
