/*
 * uabot: <linux/uaccess.h> for reading, not for running.
 *
 * This directory comes first on the include path, so that the tree's own header
 * is read through it. After that, each access primitive is a call to an extern
 * marker that is named __uabot_ and then the primitive. Code that is compiled so
 * shows the same windows on every architecture, also where begin and end expand to
 * nothing or are one and the same for reading and writing. It is never linked: only
 * its control flow matters.
 *
 * The last argument of every marker is a null pointer that is declared nonnull. So
 * gcc warns about each use, and tells in which macros, and where in their bodies,
 * it was written; the dump itself knows only the outermost macro use.
 */
#ifdef __UABOT_INSIDE
#include_next <linux/uaccess.h>
#else
#define __UABOT_INSIDE
#include_next <linux/uaccess.h>
#undef __UABOT_INSIDE

#ifndef __UABOT_UACCESS_H
#define __UABOT_UACCESS_H

#define __UABOT_SITE		((const void *)0)
#define __UABOT_MARK(n)		__attribute__((nonnull(n)))

extern _Bool __uabot_user_access_begin(const volatile void *p, unsigned long n, const void *site) __UABOT_MARK(3);
extern _Bool __uabot_user_read_access_begin(const volatile void *p, unsigned long n, const void *site) __UABOT_MARK(3);
extern _Bool __uabot_user_write_access_begin(const volatile void *p, unsigned long n, const void *site) __UABOT_MARK(3);
extern void *__uabot_masked_user_access_begin(const volatile void *p, const void *site) __UABOT_MARK(2);
extern void *__uabot_masked_user_rw_access_begin(const volatile void *p, const void *site) __UABOT_MARK(2);
extern void *__uabot_masked_user_read_access_begin(const volatile void *p, const void *site) __UABOT_MARK(2);
extern void *__uabot_masked_user_write_access_begin(const volatile void *p, const void *site) __UABOT_MARK(2);
extern void __uabot_user_access_end(const void *site) __UABOT_MARK(1);
extern void __uabot_user_read_access_end(const void *site) __UABOT_MARK(1);
extern void __uabot_user_write_access_end(const void *site) __UABOT_MARK(1);
extern unsigned long __uabot_user_access_save(const void *site) __UABOT_MARK(1);
extern void __uabot_user_access_restore(unsigned long flags, const void *site) __UABOT_MARK(2);
extern int __uabot_unsafe_get_user(void *v, const volatile void *p, unsigned long n, const void *site) __UABOT_MARK(4);
extern int __uabot_unsafe_put_user(const void *v, volatile void *p, unsigned long n, const void *site) __UABOT_MARK(4);
extern int __uabot_unsafe_copy_from_user(void *to, const volatile void *p, unsigned long n, const void *site) __UABOT_MARK(4);
extern int __uabot_unsafe_copy_to_user(volatile void *p, const void *from, unsigned long n, const void *site) __UABOT_MARK(4);
extern int __uabot_get_user(void *v, const volatile void *p, unsigned long n, const void *site) __UABOT_MARK(4);
extern int __uabot_put_user(const void *v, volatile void *p, unsigned long n, const void *site) __UABOT_MARK(4);

#undef user_access_begin
#undef user_read_access_begin
#undef user_write_access_begin
#undef user_access_end
#undef user_read_access_end
#undef user_write_access_end
#undef user_access_save
#undef user_access_restore
#define user_access_begin(p, n)		__uabot_user_access_begin((p), (n), __UABOT_SITE)
#define user_read_access_begin(p, n)	__uabot_user_read_access_begin((p), (n), __UABOT_SITE)
#define user_write_access_begin(p, n)	__uabot_user_write_access_begin((p), (n), __UABOT_SITE)
#define user_access_end()		__uabot_user_access_end(__UABOT_SITE)
#define user_read_access_end()		__uabot_user_read_access_end(__UABOT_SITE)
#define user_write_access_end()		__uabot_user_write_access_end(__UABOT_SITE)
#define user_access_save()		__uabot_user_access_save(__UABOT_SITE)
#define user_access_restore(flags)	__uabot_user_access_restore((flags), __UABOT_SITE)

/* Newer than 6.12: the read-write names, and masked begins by direction. */
#undef user_rw_access_begin
#undef user_rw_access_end
#define user_rw_access_begin(p, n)	user_access_begin(p, n)
#define user_rw_access_end()		user_access_end()

/*
 * Where the arch has none, can_do_masked_user_access() is 0 and these are dead. A
 * tree without the directed ones ends a masked window as it likes: lib/strnlen_user.c
 * of 6.12.
 */
#ifdef masked_user_read_access_begin
#undef masked_user_access_begin
#define masked_user_access_begin(p) \
	((__typeof__(p))__uabot_masked_user_rw_access_begin((p), __UABOT_SITE))
#else
#undef masked_user_access_begin
#define masked_user_access_begin(p) \
	((__typeof__(p))__uabot_masked_user_access_begin((p), __UABOT_SITE))
#endif
#undef masked_user_read_access_begin
#undef masked_user_write_access_begin
#undef masked_user_rw_access_begin
#define masked_user_read_access_begin(p) \
	((__typeof__(p))__uabot_masked_user_read_access_begin((p), __UABOT_SITE))
#define masked_user_write_access_begin(p) \
	((__typeof__(p))__uabot_masked_user_write_access_begin((p), __UABOT_SITE))
#define masked_user_rw_access_begin(p)	masked_user_access_begin(p)

#undef unsafe_get_user
#undef unsafe_put_user
#undef unsafe_copy_from_user
#undef unsafe_copy_to_user
#define unsafe_get_user(x, p, label) do {					\
	__typeof__(*(p)) __uabot_v;						\
	if (__uabot_unsafe_get_user((void *)&__uabot_v, (p), sizeof(*(p)), __UABOT_SITE)) \
		goto label;							\
	(x) = (__typeof__(*(p)))__uabot_v;					\
} while (0)
#define unsafe_put_user(x, p, label) do {					\
	__typeof__(*(p)) __uabot_v = (__typeof__(*(p)))(x);			\
	if (__uabot_unsafe_put_user((const void *)&__uabot_v, (p), sizeof(*(p)), __UABOT_SITE)) \
		goto label;							\
} while (0)
#define unsafe_copy_from_user(to, p, n, label) do {				\
	if (__uabot_unsafe_copy_from_user((to), (p), (n), __UABOT_SITE))	\
		goto label;							\
} while (0)
#define unsafe_copy_to_user(p, from, n, label) do {				\
	if (__uabot_unsafe_copy_to_user((p), (from), (n), __UABOT_SITE))	\
		goto label;							\
} while (0)

/* Whole accesses: they open and close a window of their own. */
#undef get_user
#undef put_user
#undef __get_user
#undef __put_user
#define get_user(x, p) ({							\
	__typeof__(*(p)) __uabot_v;						\
	int __uabot_e = __uabot_get_user((void *)&__uabot_v, (p), sizeof(*(p)), __UABOT_SITE); \
	(x) = (__typeof__(*(p)))__uabot_v;					\
	__uabot_e;								\
})
#define put_user(x, p) ({							\
	__typeof__(*(p)) __uabot_v = (__typeof__(*(p)))(x);			\
	__uabot_put_user((const void *)&__uabot_v, (p), sizeof(*(p)), __UABOT_SITE); \
})
#define __get_user(x, p)	get_user(x, p)
#define __put_user(x, p)	put_user(x, p)
#ifdef get_user_inline
#undef get_user_inline
#undef put_user_inline
#define get_user_inline(x, p)	get_user(x, p)
#define put_user_inline(x, p)	put_user(x, p)
#endif

#endif
#endif
