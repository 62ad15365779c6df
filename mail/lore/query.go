package lore

import (
	"fmt"
	"strings"
	"time"
)

// Query returns the search for mails that are about any of symbols, or whose diff
// touches a file named like any of files. Both may end in * for "begins with"; a
// file is matched by any part of its path.
//
// nq: is all text of a mail but what it quotes: added, removed and context lines,
// hunk headers and the commit message (seen so with public-inbox 1.9; it finds what
// dfa:, dfb:, dfctx: and dfhh: find together, in a query of a quarter the length).
func Query(symbols, files []string) string {
	var terms []string
	for _, term := range []struct {
		prefix string
		words  []string
	}{{"nq", symbols}, {"dfn", files}} {
		if len(term.words) > 0 {
			terms = append(terms, term.prefix+":("+strings.Join(term.words, " OR ")+")")
		}
	}
	return strings.Join(terms, " OR ")
}

// received restricts a query to mails that the archive got between two times, from
// and to included; to may be zero. Seconds since the epoch on both sides are the
// only form that is safe: rt:20260701.. is the second 20,260,701, which is
// everything, rt:2026-07-01.. means "at the present time of that day", and rt:0..
// finds nothing.
func received(query string, from, to time.Time) string {
	last := int64(4102444800) // 2100: mails are dated in the future
	if !to.IsZero() {
		last = to.Unix()
	}
	return fmt.Sprintf("(%s) AND rt:%d..%d", query, max(beginning, from.Unix()), last)
}

// beginning, in 1990, is before the oldest mail of any Linux list.
const beginning = 631152000
