/* A user access on an arch, or with an option, that needs no window instructions. */
int get(const int *p)
{
	int x = -1;

#ifdef __aarch64__
	asm goto("1: ldtr %w0, [%1]\n"
		 ".pushsection __ex_table,\"a\"\n.long 1b - .\n.long %l[fault] - .\n.short 2\n.short 0\n.popsection\n"
		 : "=r"(x) : "r"(p) : "memory" : fault);
#else
	x = *p;
#endif
	return x;
fault: __attribute__((unused))
	return -14;
}
