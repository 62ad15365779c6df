package mail

import (
	"errors"
	"iter"
	"sync"
)

// ParseAhead parses mails on several goroutines and gives them in their order. What
// PatchOf says of each is worked out there as well. It is for archives; not more
// than a few mails for each worker are in memory.
//
// raws is read by another goroutine than the caller's. An error of the source is
// passed on in its place. ErrNoMail is not an error here:
// the message is given, since no mail may get lost.
func ParseAhead(raws iter.Seq2[[]byte, error], workers int) iter.Seq2[*Message, error] {
	type job struct {
		raw  []byte
		m    *Message
		err  error
		done chan struct{}
	}
	return func(yield func(*Message, error) bool) {
		workers = max(workers, 1)
		work := make(chan *job)                // to whoever is idle
		inOrder := make(chan *job, 16*workers) // to the consumer, as they were read
		stop := make(chan struct{})
		var running sync.WaitGroup
		for range workers {
			running.Go(func() {
				for j := range work {
					if j.err == nil {
						j.m, j.err = Parse(j.raw)
						PatchOf(j.m)
						if errors.Is(j.err, ErrNoMail) {
							j.err = nil
						}
					}
					close(j.done)
				}
			})
		}
		running.Go(func() {
			defer close(inOrder)
			defer close(work)
			for raw, err := range raws {
				j := &job{raw: raw, err: err, done: make(chan struct{})}
				select {
				case inOrder <- j:
				case <-stop:
					return
				}
				work <- j
			}
		})
		defer running.Wait()
		defer close(stop)
		for j := range inOrder {
			<-j.done
			if !yield(j.m, j.err) {
				return
			}
		}
	}
}
