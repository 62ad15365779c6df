/* powerpc: the direction is the last argument, where it is not in the name. */
#define EFAULT 14
#define KUAP_READ 1
#define KUAP_WRITE 2
extern void allow_user_access(void *to, const void *from, unsigned long size, unsigned long dir);
extern void prevent_user_access(unsigned long dir);
extern void prevent_current_write_to_user(void);

int right(int *p)
{
	allow_user_access((void *)0, p, 4, KUAP_READ);
	prevent_user_access(KUAP_READ);
	return 0;
}

static inline void allow(int *p, unsigned long dir) { allow_user_access(p, p, 4, dir); }

int other_direction(int *p)
{
	allow(p, KUAP_READ);
	prevent_user_access(KUAP_WRITE); /* want: kind-mismatch */
	return 0;
}

int by_name(int *p)
{
	allow(p, KUAP_WRITE);
	prevent_current_write_to_user();
	return 0;
}
