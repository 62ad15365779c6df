package csource

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Whatever was edited, the lines that were not added must be a subsequence of the
// old text, and no longer one may exist than the shortest script leaves.
func TestAddedLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		a := make([]string, rng.IntN(14))
		b := make([]string, rng.IntN(14))
		for i := range a {
			a[i] = string(rune('a' + rng.IntN(4)))
		}
		for i := range b {
			b[i] = string(rune('a' + rng.IntN(4)))
		}
		added := AddedLines(a, b)
		var kept []string
		for i, l := range b {
			if !added[i+1] {
				kept = append(kept, l)
			}
		}
		at := 0
		for _, l := range kept {
			i := slices.Index(a[at:], l)
			if i < 0 {
				t.Fatalf("%v -> %v: kept %v is not in the old text", a, b, kept)
			}
			at += i + 1
		}
		if want := lcs(a, b); len(kept) != want {
			t.Fatalf("%v -> %v: %d lines kept, want %d", a, b, len(kept), want)
		}
	}
}

// lcs is the length of the longest common subsequence, by the textbook recurrence.
func lcs(a, b []string) int {
	best := make([][]int, len(a)+1)
	for i := range best {
		best[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			if a[i] == b[j] {
				best[i+1][j+1] = best[i][j] + 1
			} else {
				best[i+1][j+1] = max(best[i][j+1], best[i+1][j])
			}
		}
	}
	return best[len(a)][len(b)]
}
