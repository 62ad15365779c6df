# Sourced by a kbuild CHECK script, POSIX sh.
#
#	uabot_dump OUT C_FLAGS... SOURCE.c
#
# makes the control-flow dumps of one translation unit with $CC, from the flags that
# kbuild compiles it with, in kbuild's own working directory:
#
#	OUT.cfg           the file as it is
#	OUT.cfg.log       what gcc said, and every header that it read
#	OUT.overlay.cfg   the file with marker calls for access primitives; only where
#	                  it, or a header that is not the API itself, uses one, or it
#	                  has get_user() or put_user(), which count as windows
#	OUT.overlay.log   what gcc said: the place of each marker (see places.go)
#
# UABOT_OVERLAY names the directory of this script. Returns 1 without OUT.cfg where
# the file does not compile, 0 otherwise; prints nothing.

uabot_primitives='user_(read_|write_|rw_)?access_(begin|end|save|restore)|unsafe_(get|put|copy)_|scoped_user_|masked_user_'

# gcc must have stopped at stop.h's error and found no other. Without a function in
# the file it writes no dump: an empty one then.
uabot_compiled() {
	[ "$(grep -c ': \(fatal \)\{0,1\}error:' "$1")" = 1 ] && : >>"$2"
}

uabot_dump() {
	uabot_out=$1
	shift
	# What writes files or asks for debug information, and what turns warnings
	# into errors, is dropped: the arguments go round once.
	uabot_n=$#
	while [ "$uabot_n" -gt 0 ]; do
		uabot_src=$1
		shift
		case $uabot_src in
		-Wp,-MMD,* | -Wp,-MD,* | -g | -g[0-9s]* | -gdwarf* | -Werror | -Werror=*) ;;
		*) set -- "$@" "$uabot_src" ;;
		esac
		uabot_n=$((uabot_n - 1))
	done
	rm -f "$uabot_out.cfg" "$uabot_out.overlay.cfg" "$uabot_out.overlay.log"

	LC_ALL=C $CC -include "$UABOT_OVERLAY/stop.h" "$@" -w -H -S -o /dev/null -fno-diagnostics-show-caret \
		"-fdump-tree-cfg-lineno-blocks-uid=$uabot_out.cfg" 2>"$uabot_out.cfg.log"
	if ! uabot_compiled "$uabot_out.cfg.log" "$uabot_out.cfg"; then
		rm -f "$uabot_out.cfg"
		return 1
	fi

	# Headers that only define the API match always.
	if ! grep -q -E '(get|put)_user' "$uabot_src" && ! { printf '%s\n' "$uabot_src"; sed -n 's/^\.\.* //p' "$uabot_out.cfg.log" |
		grep -v -e '/uaccess[_0-9]*\.h$' -e /futex.h -e /smap.h -e /linux/compat.h -e /linux/signal.h \
			-e /checksum_32.h -e '/kup.*\.h$' | sort -u; } |
		xargs grep -q -E "$uabot_primitives"; then
		return 0
	fi

	LC_ALL=C $CC "-I$UABOT_OVERLAY" -include "$UABOT_OVERLAY/stop.h" "$@" -Wnonnull -S -o /dev/null \
		-fno-diagnostics-show-caret -fdiagnostics-color=never \
		"-fdump-tree-cfg-lineno-blocks-uid=$uabot_out.overlay.cfg" 2>"$uabot_out.overlay.log"
	uabot_compiled "$uabot_out.overlay.log" "$uabot_out.overlay.cfg" || rm -f "$uabot_out.overlay.cfg"
	return 0
}
