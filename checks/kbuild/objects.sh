# Called with directories of the tree as arguments, in an output directory; srctree,
# SRCARCH, ARCH and CROSS_COMPILE are set. Prints for each directory
#   on DIR OBJECT|SUBDIR/...
#   off DIR OBJECT|SUBDIR/...
# Objects of a composite (foo-y, foo-objs for foo.o) count where they are linked in.
# What obj-$(CONFIG_X) lists with X off is in the variable "obj-".
for dir; do
	if [ -e "$srctree/$dir/Kbuild" ]; then
		file=$srctree/$dir/Kbuild
	elif [ -e "$srctree/$dir/Makefile" ] && [ "$dir" != . ]; then
		file=$srctree/$dir/Makefile
	else
		continue
	fi
	make -s -f - none 2>/dev/null <<EOF || true
include include/config/auto.conf
srctree := $srctree
objtree := .
srcroot := $srctree
obj := $dir
src := $srctree/$dir
CC := ${CROSS_COMPILE}gcc
-include \$(srctree)/scripts/Kbuild.include
-include \$(srctree)/scripts/Makefile.compiler
include $file
parts = \$(foreach m,\$(1),\$(\$(m:.o=-objs)) \$(\$(m:.o=-y)) \$(\$(m:.o=-m)))
less = \$(foreach m,\$(1),\$(\$(m:.o=-)))
on := \$(obj-y) \$(obj-m) \$(lib-y) \$(lib-m) \$(extra-y) \$(always-y)
\$(info on $dir \$(on) \$(call parts,\$(on)) \$(core-y) \$(drivers-y) \$(libs-y))
\$(info off $dir \$(obj-) \$(lib-) \$(call less,\$(on)) \$(call parts,\$(obj-)) \$(call less,\$(obj-)))
.PHONY: none
none: ;
EOF
done
