int warned(void)
{
	int x;
	return 1;
}
