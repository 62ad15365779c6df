package source

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"uabot/checks/window/source/gimple"
)

// use is one use of a primitive, as gcc's warning on the overlay's marker shows it:
// the dump itself knows only the outermost macro use.
type use struct {
	marker string
	// chain holds where the primitive was written, innermost first: chain[0] is the
	// use itself, chain[1] the use of the macro whose body holds that, and so on.
	chain []written
}

// written is a use of macro.
type written struct {
	macro string
	pos   gimple.Pos
}

// outermost is what the dump has for the place.
func (u *use) outermost() gimple.Pos { return u.chain[len(u.chain)-1].pos }

var (
	warned   = regexp.MustCompile(`^(.+):(\d+):(\d+): warning: argument \d+ null where non-null expected`)
	expanded = regexp.MustCompile(`^(.+):(\d+):(\d+): note: in expansion of macro .(\w+).$`)
	inCallTo = regexp.MustCompile(`note: in a call to function .(__uabot_\w+). declared`)
)

// parseUses reads what gcc said while it compiled through the overlay. It is made of
// groups
//
//	overlay/linux/uaccess.h:66:39: warning: argument 1 null where non-null expected [-Wnonnull]
//	file.c:18:9: note: in expansion of macro 'user_access_end'
//	file.c:22:16: note: in expansion of macro 'M'
//	overlay/linux/uaccess.h:36:13: note: in a call to function '__uabot_user_access_end' declared 'nonnull'
//
// among others ("in definition of macro": an argument of it; the chain goes on).
func parseUses(r io.Reader) ([]*use, error) {
	var all []*use
	var now *use
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 1<<16), 1<<20)
	for in.Scan() {
		line := in.Text()
		if m := warned.FindStringSubmatch(line); m != nil {
			now = &use{}
			continue
		}
		if now == nil {
			continue
		}
		if m := expanded.FindStringSubmatch(line); m != nil {
			now.chain = append(now.chain, written{macro: m[4], pos: gimple.Pos{File: m[1], Line: atoi(m[2]), Col: atoi(m[3])}})
		} else if m := inCallTo.FindStringSubmatch(line); m != nil {
			if now.marker = m[1]; len(now.chain) > 0 {
				all = append(all, now)
			}
			now = nil
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("reading what gcc said of the overlay: %w", err)
	}
	return all, nil
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// apiMacro matches macros that are access primitives themselves, composed ones too:
// what is wrong with their use is wrong where they are used.
var apiMacro = regexp.MustCompile(`^_*(?:unsafe_|scoped_user|scoped_masked_user|user_(?:read_|write_|rw_)?access_|masked_user|get_user|put_user|get_compat|put_compat)`)

// author is the innermost place that is not within the API's own macros, and the
// macro whose body it is in, "" where it is no macro's.
func (u *use) author() (pos gimple.Pos, macro string) {
	for i := range u.chain {
		if i+1 == len(u.chain) {
			return u.chain[i].pos, ""
		}
		if next := u.chain[i+1].macro; !apiMacro.MatchString(next) && !wrapper[next] {
			return u.chain[i].pos, next
		}
	}
	return u.outermost(), ""
}

// wrapper names macros that only pass an expression on.
var wrapper = map[string]bool{
	"likely": true, "unlikely": true, "WARN_ON": true, "WARN_ON_ONCE": true, "if": true,
	"__trace_if_var": true, "__trace_if_value": true,
}

// locate joins the marker calls of a dump with the uses in the compiler's messages:
// both come in source order within a function, so the nth call of a marker at a line
// is its nth use there.
func locate(funcs []*gimple.Func, uses []*use) map[*gimple.Stmt]*use {
	type key struct {
		marker, file string
		line         int
	}
	at := map[key][]*use{}
	for _, u := range uses {
		p := u.outermost()
		k := key{u.marker, p.File, p.Line}
		at[k] = append(at[k], u)
	}
	places := map[*gimple.Stmt]*use{}
	taken := map[key]int{}
	for _, f := range funcs {
		for _, b := range f.Blocks {
			for _, s := range b.Stmts {
				if s.Kind != gimple.Call || !strings.HasPrefix(s.Callee, marker) {
					continue
				}
				k := key{s.Callee, s.Pos.File, s.Pos.Line}
				// an argument on a later line has its own place, the dump the macro's
				for n := 0; len(at[k]) == 0 && n < 8; n++ {
					k.line++
				}
				if list := at[k]; len(list) > 0 {
					places[s] = list[min(taken[k], len(list)-1)]
					taken[k]++
				}
			}
		}
	}
	return places
}
