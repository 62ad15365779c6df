/* Saved states, cleanups and scopes. */
#include <linux/uaccess.h>

int saved(int __user *p)
{
	unsigned long flags;

	if (!user_access_begin(p, 8))
		return -EFAULT;
	unsafe_put_user(1, p, out);
	flags = user_access_save();
	printk("outside");
	user_access_restore(flags);
	unsafe_put_user(2, p + 1, out);
out:
	user_access_end();
	return 0;
}

int not_restored(int __user *p, int a)
{
	unsigned long flags;

	if (!user_access_begin(p, 8))
		return -EFAULT;
	flags = user_access_save();
	printk("outside");
	if (a)
		return 0; /* want: save-without-restore */
	user_access_restore(flags);
	user_access_end();
	return 0;
}

static unsigned long suspend(void) { return user_access_save(); }
static void resume(unsigned long flags) { user_access_restore(flags); }

int by_helpers(int __user *p)
{
	unsigned long flags;

	if (!user_access_begin(p, 8))
		return -EFAULT;
	flags = suspend();
	printk("outside");
	resume(flags);
	unsafe_put_user(2, p + 1, out);
out:
	user_access_end();
	return 0;
}

static inline void end_if(bool *open) { if (*open) user_access_end(); }

int flagged_cleanup(int __user *p, int n)
{
	for (int i = 0; i < n; i++) {
		bool open __attribute__((cleanup(end_if))) = user_access_begin(p, 4);

		if (!open)
			continue;
		if (i == 7)
			break;
		if (i == 11)
			return 3;
		unsafe_put_user(1, p, out);
out:;
	}
	return 0;
}

static inline void end_always(int *unused)
{
	user_access_end(); /* want: close-without-open */
}

int unflagged_cleanup(int __user *p)
{
	int scope __attribute__((cleanup(end_always))) = 0;

	if (!user_access_begin(p, 4))
		return -EFAULT;
	unsafe_put_user(1, p, out);
out:
	return 0;
}
