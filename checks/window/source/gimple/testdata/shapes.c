/* One of each statement that the dump prints: make with
 * gcc -O2 -w -S -o /dev/null -fdump-tree-cfg-lineno-blocks-uid=shapes-gcc12.cfg shapes.c
 */
typedef _Bool bool;
struct s { int f; bool ok; struct s *next; };
extern int global;
extern int called(int a, const char *text, struct s *p);
static inline __attribute__((always_inline)) void done(bool *open) { *open = 0; }

int shapes(struct s *p, int (*fn)(int), int a, char c)
{
	struct s local = { 1, 1, 0 };
	bool flag __attribute__((cleanup(done))) = !a;
	int arr[4], i;

	if (p == 0)
		return -14;
	local.f = called(a, "text, with \"quotes\" (and [brackets]: 1;", &local);
	p->next->f = fn(a);
	global = a & 6;
	for (i = 0; i < 4; i++)
		arr[i] = __builtin_expect(a, 1);
	switch (c) {
	case 'a':
	case 2 ... 5:
		goto out;
	case 9:
		called(1, "", p);
		break;
	default:
		a = ~a;
	}
	__asm__ volatile("nop ; \"quoted\"\n\t.pushsection __ex_table,\"a\"\n.popsection\n" : "=r"(a), "+m"(local.f) : "r"(c), [x] "i"(4) : "memory");
	__asm__ volatile goto("1: jmp %l1\n" : : "r"(a) : : out);
	__asm__ volatile("" ::: "memory");
	return arr[a & 3];
out:
	return local.f;
}
