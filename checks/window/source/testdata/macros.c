/* Windows in macros: the place is the macro's own line, and one finding for all uses. */
#include <linux/uaccess.h>

#define store(v, ptr) ({					\
	__label__ failed;					\
	int __err = -EFAULT;					\
								\
	if (!user_write_access_begin(ptr, sizeof(*(ptr))))	\
		goto failed;					\
	unsafe_put_user(v, ptr, failed);			\
	__err = 0;						\
failed:								\
	user_write_access_end(); /* want: close-without-open in store */ \
	__err;							\
})

int uses_store(int __user *p) { return store(1, p); }
int uses_store_again(int __user *p) { return store(2, p) + store(3, p + 1); }

#define load(v, ptr) ({						\
	__label__ failed;					\
	int __err = -EFAULT;					\
								\
	if (user_read_access_begin(ptr, sizeof(*(ptr)))) {	\
		unsafe_get_user(v, ptr, failed);		\
		__err = 0;					\
failed:								\
		user_read_access_end();				\
	}							\
	__err;							\
})

int uses_load(int __user *p) { int v = 0; return load(v, p) ?: v; }

/* Macros that do a part: their user is to blame. */
#define open_or(ptr, label) do { if (unlikely(!user_access_begin(ptr, 4))) goto label; } while (0)
#define finish() user_access_end()

int parts(int __user *p)
{
	open_or(p, failed);
	unsafe_put_user(1, p, fault);
	finish();
	return 0;
fault:
	finish();
failed:
	return -EFAULT;
}

int parts_leave_open(int __user *p)
{
	open_or(p, failed);
	unsafe_put_user(1, p, failed);
	finish();
	return 0;
failed:
	return -EFAULT; /* want: open-at-return */
}

int parts_end_twice(int __user *p)
{
	open_or(p, failed);
	unsafe_put_user(1, p, failed);
failed:
	finish(); /* want: close-without-open */
	return 0;
}

#define store_both(a, b, ptr) (store_one(a, ptr) ?: store_one(b, (ptr) + 1))
#define store_one(v, ptr) ({					\
	__label__ failed, out;					\
	int __err = -EFAULT;					\
								\
	if (!user_write_access_begin(ptr, sizeof(*(ptr))))	\
		goto out;					\
	unsafe_put_user(v, ptr, failed);			\
	__err = 0;						\
failed:								\
	user_read_access_end(); /* want: kind-mismatch in store_one */ \
out:	__err;							\
})

int nested(int __user *p) { return store_both(1, 2, p); }
