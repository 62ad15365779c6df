package review

import "time"

// Event tells where a review stands. Events of several targets interleave.
type Event struct {
	Target string // empty for what concerns all
	What   string // "preparing the base", "compiling 3 objects with patch 2/4"
	Done   int    // targets that are finished
	Total  int    // targets there are
	After  time.Duration
}

// Progress is told what happens; it must be quick and safe for concurrent use.
type Progress func(Event)
