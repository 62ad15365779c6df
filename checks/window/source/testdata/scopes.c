/* scoped_user_{read,write}_access() of 6.19: every way out closes. */
#include <linux/uaccess.h>

int scoped(int __user *p)
{
	scoped_user_write_access(p, fault)
		unsafe_put_user(1, p, fault);
	return 0;
fault:
	return -EFAULT;
}

int leaves_by_return(int __user *p, int a)
{
	scoped_user_write_access(p, fault) {
		if (a)
			return a;
		unsafe_put_user(1, p, fault);
	}
	return 0;
fault:
	return -EFAULT;
}

int calls_inside(int __user *p)
{
	scoped_user_write_access(p, fault)
		unsafe_put_user(compute(1), p, fault); /* want: call-in-window compute */
	return 0;
fault:
	return -EFAULT;
}

int ends_itself(int __user *p)
{
	scoped_user_write_access(p, fault) { /* want: close-without-open */
		unsafe_put_user(1, p, fault);
		user_write_access_end();
	}
	return 0;
fault:
	return -EFAULT;
}

int break_is_the_scopes(int __user *p, int n)
{
	for (int i = 0; i < n; i++) {
		scoped_user_read_access(p, fault) {
			int v;

			unsafe_get_user(v, p, fault);
			if (v)
				break;
		}
	}
	return 0;
fault:
	return -EFAULT;
}

int writes_in_read_scope(int __user *p)
{
	scoped_user_read_access(p, fault)
		unsafe_put_user(1, p, fault); /* want: kind-mismatch */
	return 0;
fault:
	return -EFAULT;
}
