#!/bin/sh
# Makes windows.o of windows.c and windows.txt of what objtool prints on it:
#	testdata/make.sh OBJTOOL	(in this package's directory)
# The committed files are of gcc 12.2.0 (Debian 12) and the objtool of Linux 6.12.117.
set -e
cd "$(dirname "$0")"
gcc -O2 -g -gdwarf-4 -fno-asynchronous-unwind-tables -fcf-protection=none -fno-stack-protector \
	-fno-pic -mno-red-zone -mcmodel=kernel -mpreferred-stack-boundary=3 -fno-jump-tables \
	"-fdebug-prefix-map=$PWD=/src/testdata" -c -o windows.o windows.c
cp windows.o copy.o
"$1" --hacks=jump_label --hacks=noinstr --uaccess --backtrace --sec-address --dry-run copy.o >windows.txt 2>&1
rm copy.o
