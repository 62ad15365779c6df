#include <linux/bounds.h>
void bounds(void)
{
	asm volatile("\n.ascii \"->SIZE %0 sizeof(struct thing)\"" : : "i" (sizeof(struct thing)));
}
