/* Windows whose end depends on a variable or a loop: what naive reading calls a bug. */
#include <linux/uaccess.h>

extern int shared;
struct holder { bool ok; int x; };

int in_struct(int __user *p)
{
	struct holder h;

	h.ok = user_access_begin(p, 4);
	if (!h.ok)
		return -EFAULT;
	unsafe_put_user(1, p, out);
out:
	user_access_end();
	return 0;
}

int through_pointer(struct holder *h, int __user *p)
{
	h->ok = user_access_begin(p, 4);
	if (!h->ok)
		return -EFAULT;
	unsafe_put_user(1, p, out);
out:
	user_access_end();
	return 0;
}

int global_twice(int __user *p)
{
	if (shared) {
		if (!user_access_begin(p, 4))
			return -EFAULT;
	}
	if (shared) {
		unsafe_put_user(1, p, out);
out:
		user_access_end();
	}
	return 0;
}

int two_guards(int __user *p, int a)
{
	if (a & 4)
		if (!user_access_begin(p, 4))
			return -EFAULT;
	if (a & 4) {
		unsafe_put_user(1, p, out);
out:
		user_access_end();
	}
	return 0;
}

int other_guard(int __user *p, int a)
{
	if (a & 4)
		if (!user_access_begin(p, 4))
			return -EFAULT;
	if (a & 2)
		user_access_end(); /* want: close-without-open */
	return 0; /* want: open-at-return */
}

int first_turn(int __user *p, int n)
{
	int i;

	if (n <= 0)
		return 0;
	for (i = 0; i < n; i++) {
		if (i == 0)
			if (!user_access_begin(p, n))
				return -EFAULT;
		unsafe_put_user(i, p + i, out);
	}
out:
	user_access_end();
	return 0;
}

int opened_once(int __user *p, int n)
{
	bool open = false;
	int i;

	for (i = 0; i < n; i++) {
		if (!open) {
			if (!user_access_begin(p, n))
				return -EFAULT;
			open = true;
		}
		unsafe_put_user(i, p + i, out);
	}
out:
	if (open)
		user_access_end();
	return 0;
}

int each_turn(int __user *p, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (!user_access_begin(p + i, 4))
			return -EFAULT;
		unsafe_put_user(i, p + i, fault);
		user_access_end();
	}
	return 0;
fault:
	user_access_end();
	return -EFAULT;
}

int ends_in_loop(int __user *p, int n)
{
	int i;

	if (!user_access_begin(p, n))
		return -EFAULT;
	for (i = 0; i < n; i++) {
		unsafe_put_user(i, p + i, out); /* want: access-outside-window */
		user_access_end(); /* want: close-without-open */
	}
	return 0; /* want: open-at-return */
out:
	user_access_end();
	return -EFAULT;
}

int break_keeps_open(int __user *p, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (!user_access_begin(p, n))
			return -EFAULT;
		unsafe_put_user(i, p + i, out);
		if (i == 7)
			break;
		user_access_end();
	}
	return 0; /* want: open-at-return */
out:
	user_access_end();
	return -EFAULT;
}

int flag_bits(int __user *p)
{
	int flags = 0;

	if (user_access_begin(p, 4))
		flags |= 2;
	if (flags & 2) {
		unsafe_put_user(1, p, out);
out:
		user_access_end();
	}
	return flags;
}

int retries(int __user *p)
{
	int n = 3;

	while (!user_access_begin(p, 4)) {
		if (!n--)
			return -EFAULT;
		compute(n);
	}
	unsafe_put_user(1, p, out);
out:
	user_access_end();
	return 0;
}

int result_decides(int __user *p)
{
	int ret = -EFAULT;

	if (user_access_begin(p, 4)) {
		ret = 0;
		unsafe_put_user(1, p, fault);
	}
	if (ret == 0)
		user_access_end();
	return ret;
fault:
	user_access_end();
	return -EFAULT;
}

int chained(int __user *p, int a)
{
	if (!p || a < 3 || !user_access_begin(p, 4))
		return -EFAULT;
	unsafe_put_user(1, p, out);
out:
	user_access_end();
	return 0;
}

int wrong_guard(int __user *p, int force)
{
	bool ok = user_access_begin(p, 4);

	if (ok)
		unsafe_put_user(1, p, out);
out:
	if (ok || force)
		user_access_end(); /* want: close-without-open */
	return 0;
}
