struct thing {
	int a;
};
