/* Each rule in its simplest form, and the right form beside it. */
#include <linux/uaccess.h>

struct pair { int a, b; };

int right(struct pair __user *p)
{
	if (!user_write_access_begin(p, sizeof(*p)))
		return -EFAULT;
	unsafe_put_user(1, &p->a, Efault);
	unsafe_put_user(2, &p->b, Efault);
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}

int failed_begin_ends(int __user *p)
{
	int err = -EFAULT;

	if (!user_write_access_begin(p, sizeof(*p)))
		goto failed;
	unsafe_put_user(1, p, failed);
	err = 0;
failed:
	user_write_access_end(); /* want: close-without-open */
	return err;
}

int ends_twice(int __user *p)
{
	if (!user_access_begin(p, sizeof(*p)))
		return -EFAULT;
	unsafe_put_user(1, p, Efault);
Efault:
	user_access_end();
	user_access_end(); /* want: close-without-open */
	return 0;
}

int fault_leaves_open(int __user *p)
{
	if (!user_read_access_begin(p, sizeof(*p)))
		return -EFAULT;
	int v;
	unsafe_get_user(v, p, Efault);
	user_read_access_end();
	return v;
Efault:
	return -EFAULT; /* want: open-at-return */
}

int opens_twice(int __user *p)
{
	if (!user_access_begin(p, sizeof(*p)))
		return -EFAULT;
	if (!user_access_begin(p, sizeof(*p))) /* want: open-twice */
		goto out;
	unsafe_put_user(1, p, out);
out:
	user_access_end();
	return 0;
}

int put_user_inside(int __user *p)
{
	int err = 0;

	if (!user_access_begin(p, 8))
		return -EFAULT;
	unsafe_put_user(1, p, out);
	err = put_user(2, p + 1); /* want: open-twice */
out:
	user_access_end();
	return err;
}

int copy_inside(int __user *p)
{
	int v = 0;

	if (!user_read_access_begin(p, 8))
		return -EFAULT;
	unsafe_get_user(v, p, out);
	v += copy_from_user(&v, p + 1, 4); /* want: open-twice */
out:
	user_read_access_end();
	return v;
}

int kinds_differ(int __user *p)
{
	int v = 0;

	if (!user_read_access_begin(p, sizeof(*p)))
		return -EFAULT;
	unsafe_get_user(v, p, out);
out:
	user_write_access_end(); /* want: kind-mismatch */
	return v;
}

int wrong_access(int __user *p)
{
	if (!user_read_access_begin(p, sizeof(*p)))
		return -EFAULT;
	unsafe_put_user(1, p, out); /* want: kind-mismatch */
out:
	user_read_access_end();
	return 0;
}

int no_window(int __user *p)
{
	unsafe_put_user(1, p, out); /* want: access-outside-window */
out:
	return 0;
}

int access_after_end(int __user *p)
{
	if (!user_access_begin(p, 8))
		return -EFAULT;
	unsafe_put_user(1, p, fault);
	user_access_end();
	unsafe_put_user(2, p + 1, out); /* want: access-outside-window */
out:
	return 0;
fault:
	user_access_end();
	return -EFAULT;
}

int unchecked(int __user *p)
{
	bool ok = user_access_begin(p, 4); /* want: unchecked-begin */

	unsafe_put_user(1, p, out);
out:
	user_access_end();
	ok = true;
	return ok;
}

int unchecked_at_all(int __user *p)
{
	user_access_begin(p, 4); /* want: unchecked-begin */
	unsafe_put_user(1, p, out);
out:
	user_access_end();
	return 0;
}

int late_check(int __user *p)
{
	int ret = -EFAULT;
	bool ok = user_access_begin(p, 4);

	if (likely(ok)) {
		ret = 0;
		unsafe_put_user(1, p, out);
out:
		user_access_end();
	}
	return ret;
}

int masked(int __user *p)
{
	int v = 0;

	p = masked_user_access_begin(p);
	unsafe_get_user(v, p, out);
out:
	user_read_access_end();
	return v;
}

int masked_result_dropped(int __user *p)
{
	int v = 0;

	masked_user_access_begin(p); /* want: unchecked-begin */
	unsafe_get_user(v, p, out);
out:
	user_access_end();
	return v;
}

int switch_leaves(int __user *p, int what)
{
	if (!user_access_begin(p, 4))
		return -EFAULT;
	switch (what) {
	case 1:
		unsafe_put_user(1, p, out);
		break;
	case 2:
		return 2; /* want: open-at-return */
	default:
		break;
	}
out:
	user_access_end();
	return 0;
}
