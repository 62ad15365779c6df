#include <linux/api.h>
#include "included.c"
int one(int x)
{
	return api_call(x);
}
