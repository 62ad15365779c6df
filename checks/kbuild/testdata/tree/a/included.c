static int helper(int x)
{
	return x;
}
int use(int x) { return helper(x); }
