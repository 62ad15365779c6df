#!/bin/sh
# Called by kbuild as $(CHECK) $(CHECKFLAGS) $(c_flags) $<, in the output
# directory, for each C unit, and once more by us for the patched unit.
#
# Beside the object OBJ it leaves .OBJ.uabot-args, its own arguments, each ended by
# a NUL; .OBJ.uabot-sparse, what sparse printed; and what the dump script makes,
# .OBJ.uabot.*. It never fails: a message is no reason to stop a build, and a dump
# that is missing is seen to be missing.

# $(c_flags) begin with the option that names the dependency file DIR/.OBJ.d; what
# is before are $(CHECKFLAGS), which only sparse knows.
dep=
for arg; do
	case $arg in
	-Wp,-MMD,*) dep=${arg#-Wp,-MMD,}; break ;;
	esac
done
case $dep in
'' | scripts/*) exit 0 ;; # kbuild checks an empty file of its own in every run
esac
out=${dep%.d}.uabot

rm -f "$out-sparse" "$out".*
printf '%s\0' "$@" >"$out-args"

if [ -n "$UABOT_SPARSE" ]; then
	"$UABOT_SPARSE" "$@" >"$out-sparse" 2>&1
fi

if [ -e "$UABOT_KIT/dump.sh" ]; then
	while [ "$1" != "-Wp,-MMD,$dep" ]; do
		shift
	done
	shift
	CC=$UABOT_CC UABOT_OVERLAY=$UABOT_KIT
	export CC UABOT_OVERLAY
	. "$UABOT_KIT/dump.sh"
	uabot_dump "$out" "$@"
fi
exit 0
