/* A tree's header in small, where begin and end vanish: what 6.12 has on s390. */
#ifndef _LINUX_UACCESS_H
#define _LINUX_UACCESS_H
#define __user
#define EFAULT 14
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)
extern int copy_out(void *to, const void *from, unsigned long n);
#define access_ok(p, n) ((unsigned long)(p) < (1UL << 40) - (n))
#define __put_user(x, p) ({ __typeof__(*(p)) __v = (x); copy_out((p), &__v, sizeof(__v)); })
#define __get_user(x, p) ({ copy_out(&(x), (p), sizeof(*(p))); })
#define put_user(x, p) __put_user(x, p)
#define get_user(x, p) __get_user(x, p)
#define user_access_begin(p, n) access_ok(p, n)
#define user_access_end() do { } while (0)
#define user_read_access_begin user_access_begin
#define user_read_access_end user_access_end
#define user_write_access_begin user_access_begin
#define user_write_access_end user_access_end
#define unsafe_put_user(x, p, l) do { if (__put_user(x, p)) goto l; } while (0)
#define unsafe_get_user(x, p, l) do { if (__get_user(x, p)) goto l; } while (0)
#define unsafe_copy_to_user(d, s, n, l) do { if (copy_out(d, s, n)) goto l; } while (0)
#define can_do_masked_user_access() 0
#define masked_user_access_begin(p) (p)
static inline unsigned long user_access_save(void) { return 0; }
static inline void user_access_restore(unsigned long flags) { }
extern unsigned long copy_from_user(void *to, const void *from, unsigned long n);
extern void printk(const char *fmt, ...);
extern void kfree(const void *p);
extern int compute(int);
extern int condition(void);
#define IS_ERR_VALUE(x) ((unsigned long)(x) >= (unsigned long)-4095)
static inline void *ERR_PTR(long error) { return (void *)error; }
static inline bool IS_ERR(const void *ptr) { return unlikely(IS_ERR_VALUE((unsigned long)ptr)); }
#endif
