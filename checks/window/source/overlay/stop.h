/*
 * An error on purpose: gcc still parses the file and dumps the control flow of
 * every function, but ends before it optimises and writes code. That halves the
 * time, and the dump is the same (compared on fs/select.c, gcc 12).
 */
_Static_assert(0, "uabot: the dump is all that is wanted");
