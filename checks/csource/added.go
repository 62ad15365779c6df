package csource

// maxEdits bounds the work on two files that have little in common; beyond it
// everything between the first and the last difference counts as added.
const maxEdits = 1500

// AddedLines returns the lines of after, 1-based, that a shortest edit script from
// before inserts (Myers, "An O(ND) Difference Algorithm", 1986).
func AddedLines(before, after []string) map[int]bool {
	added := map[int]bool{}
	start := 0
	for start < len(before) && start < len(after) && before[start] == after[start] {
		start++
	}
	a, b := before[start:], after[start:]
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	// frontier[k+offset] is how far into a diagonal k (x-y) got; one copy a step,
	// to walk back along.
	n, m := len(a), len(b)
	limit := min(n+m, maxEdits)
	if n == 0 { // all of it is new, no search needed
		limit = -1
	}
	offset := limit + 1
	frontier := make([]int, 2*max(limit, 0)+3)
	var trace [][]int
	found := -1
search:
	for d := 0; d <= limit; d++ {
		trace = append(trace, append([]int(nil), frontier[offset-d:offset+d+1]...))
		for k := -d; k <= d; k += 2 {
			var x int
			if k == -d || k != d && frontier[offset+k-1] < frontier[offset+k+1] {
				x = frontier[offset+k+1]
			} else {
				x = frontier[offset+k-1] + 1
			}
			y := x - k
			for x < n && y < m && a[x] == b[y] {
				x++
				y++
			}
			frontier[offset+k] = x
			if x >= n && y >= m {
				found = d
				break search
			}
		}
	}
	if found < 0 {
		for i := range b {
			added[start+i+1] = true
		}
		return added
	}
	x, y := n, m
	for d := found; d > 0; d-- {
		k := x - y
		prev := trace[d] // covers diagonals -d … d as they were before step d
		at := func(k int) int {
			if k < -d || k > d {
				return -1
			}
			return prev[k+d]
		}
		down := k == -d || k != d && at(k-1) < at(k+1)
		if down {
			k++
		} else {
			k--
		}
		px := at(k)
		py := px - k
		if down {
			added[start+py+1] = true
		}
		x, y = px, py
	}
	return added
}
