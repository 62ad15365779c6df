#ifndef API_H
#define API_H
#include <generated/gen.h>
int one(int x);
int use(int x);
static inline int api_call(int x)
{
	return x + GENERATED;
}
#endif
