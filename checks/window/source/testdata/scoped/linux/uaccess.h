/* The scoped and masked API as of 6.19, in small: for loops and a cleanup. */
#include_next <linux/uaccess.h>
#ifndef _SCOPED_H
#define _SCOPED_H
#undef can_do_masked_user_access
extern bool arch_has_mask(void);
#define can_do_masked_user_access() arch_has_mask()
#define masked_user_read_access_begin(p) masked_user_access_begin(p)
#define masked_user_write_access_begin(p) masked_user_access_begin(p)
static inline __attribute__((always_inline)) void class_user_write_end(void *p) { user_write_access_end(); }
static inline __attribute__((always_inline)) void class_user_read_end(void *p) { user_read_access_end(); }
static inline __attribute__((always_inline)) void class_user_write_access_destructor(void **p) { class_user_write_end(*p); }
static inline __attribute__((always_inline)) void class_user_read_access_destructor(void **p) { class_user_read_end(*p); }
#define __scoped_user_access_begin(mode, uptr, size, elbl) ({				\
	__typeof__(uptr) __ret;							\
	if (can_do_masked_user_access()) {					\
		__ret = masked_user_##mode##_access_begin(uptr);		\
	} else {								\
		__ret = uptr;							\
		if (!user_##mode##_access_begin(uptr, size))			\
			goto elbl;						\
	}									\
	__ret;									\
})
#define __scoped_user_access(mode, uptr, size, elbl)					\
	for (bool done = false; !done; done = true)				\
		for (void *tmp = __scoped_user_access_begin(mode, uptr, size, elbl); !done; done = true) \
			for (void *scope __attribute__((cleanup(class_user_##mode##_access_destructor))) = tmp; !done; done = true) \
				for (const __typeof__(uptr) uptr = tmp; !done; done = true)
#define scoped_user_write_access(uptr, elbl) __scoped_user_access(write, uptr, sizeof(*(uptr)), elbl)
#define scoped_user_read_access(uptr, elbl) __scoped_user_access(read, uptr, sizeof(*(uptr)), elbl)
#endif
