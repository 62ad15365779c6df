int bad(void)
{
	return no_such_name;
}
