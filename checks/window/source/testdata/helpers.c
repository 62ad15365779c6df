/* Windows that helpers open and close, judged in their callers. */
#include <linux/uaccess.h>

static bool begin(int __user *p) { return user_access_begin(p, 4); }
static void end(void) { user_access_end(); }
static int begin_errno(int __user *p) { return user_access_begin(p, 4) ? 0 : -EFAULT; }
static int begin_after(int __user *p)
{
	int ret = compute(1);

	if (ret)
		return ret;
	if (!user_access_begin(p, 4))
		return -EFAULT;
	return 0;
}
static int begin_flag(int __user *p, bool *open)
{
	if (!user_access_begin(p, 4))
		return -EFAULT;
	*open = true;
	return 0;
}
static void *begin_pointer(int __user *p) { return user_access_begin(p, 4) ? p : NULL; }
static void *begin_err_ptr(int __user *p) { return user_access_begin(p, 4) ? p : ERR_PTR(-EFAULT); }
static int begin_code(int __user *p, int mode)
{
	switch (mode) {
	case 0:
		return user_access_begin(p, 4);
	case 1:
		return 0;
	default:
		return 2;
	}
}
static int write_maybe(int __user *p, bool locked)
{
	if (!locked && !user_access_begin(p, 4))
		return -EFAULT;
	unsafe_put_user(1, p, fault);
	if (!locked)
		user_access_end();
	return 0;
fault:
	if (!locked)
		user_access_end();
	return -EFAULT;
}
struct ctx { bool open; int v; };
static int begin_ctx(struct ctx *c, int __user *p)
{
	c->open = user_access_begin(p, 4);
	return c->open ? 0 : -EFAULT;
}

int boolean(int __user *p)
{
	if (!begin(p))
		return -EFAULT;
	unsafe_put_user(1, p, out);
out:
	end();
	return 0;
}

int errno(int __user *p)
{
	int ret = begin_errno(p);

	if (ret)
		return ret;
	unsafe_put_user(1, p, out);
out:
	end();
	return 0;
}

int after(int __user *p)
{
	int ret = begin_after(p);

	if (ret < 0)
		return ret;
	if (ret)
		return -5;
	unsafe_put_user(1, p, out);
out:
	end();
	return 0;
}

int after_positive(int __user *p)
{
	int ret = begin_after(p);

	if (ret < 0)
		return ret;
	unsafe_put_user(1, p, out); /* want: access-outside-window */
out:
	user_access_end(); /* want: close-without-open */
	return 0;
}

int flag(int __user *p)
{
	bool open = false;
	int ret = begin_flag(p, &open);

	if (!ret)
		unsafe_put_user(1, p, out);
out:
	if (open)
		end();
	return ret;
}

int pointer(int __user *p)
{
	int __user *q = begin_pointer(p);

	if (!q)
		return -EFAULT;
	unsafe_put_user(1, q, out);
out:
	end();
	return 0;
}

int err_ptr(int __user *p)
{
	int __user *q = begin_err_ptr(p);

	if (IS_ERR(q))
		return -EFAULT;
	unsafe_put_user(1, q, out);
out:
	end();
	return 0;
}

int code(int __user *p, int mode)
{
	switch (begin_code(p, mode)) {
	case 0:
		return -EFAULT;
	case 2:
		return 5;
	default:
		break;
	}
	unsafe_put_user(1, p, out);
out:
	end();
	return 0;
}

int locked(int __user *p)
{
	int ret = write_maybe(p, false);

	if (ret)
		return ret;
	if (!user_access_begin(p, 8))
		return -EFAULT;
	ret = write_maybe(p, true);
	end();
	return ret;
}

int context(int __user *p)
{
	struct ctx c = { false, 0 };
	int ret = begin_ctx(&c, p);

	if (c.open) {
		unsafe_put_user(1, p, out);
out:
		end();
	}
	return ret;
}

static int leaks_on_error(int __user *p)
{
	if (!user_access_begin(p, 4))
		return -EFAULT;
	if (condition())		/* want: call-in-window condition */
		return -5; /* want: open-at-return */
	return 0;
}

int uses_leaky(int __user *p)
{
	int ret = leaks_on_error(p);

	if (ret)
		return ret;
	end();
	return 0;
}

static void end_again(void)
{
	user_access_end(); /* want: close-without-open */
}

int ended_by_helper(int __user *p)
{
	if (!user_access_begin(p, 4))
		return -EFAULT;
	unsafe_put_user(1, p, out);
out:
	user_access_end();
	end_again();
	return 0;
}

int helper_opens_twice(int __user *p)
{
	if (!user_access_begin(p, 4))
		return -EFAULT;
	if (!begin(p)) /* want: open-twice */
		goto out;
out:
	user_access_end();
	return 0;
}

static void finish_write(void) { user_write_access_end(); }

int helper_ends_other_kind(int __user *p)
{
	int v = 0;

	if (!user_read_access_begin(p, 4))
		return -EFAULT;
	unsafe_get_user(v, p, out);
out:
	finish_write(); /* want: kind-mismatch */
	return v;
}
