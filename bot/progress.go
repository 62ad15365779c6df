package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-isatty"

	"uabot/review"
)

// progress shows where a review stands: on a terminal in one line that is written
// over, elsewhere (a log) in one line per step.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	live  bool
	width int // columns of the line that stands there now
	now   map[string]string
	order []string
	last  review.Event
	since time.Time // when last came
}

// newProgress returns nil when quiet.
func newProgress(w io.Writer, quiet bool) *progress {
	if quiet {
		return nil
	}
	f, isFile := w.(*os.File)
	return &progress{w: w, live: isFile && isatty.IsTerminal(f.Fd()), now: map[string]string{}}
}

// event is a review.Progress.
func (p *progress) event(e review.Event) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show(e)
}

// step is a kbuild.Progress: what the builder does for a target, which knows nothing
// of the whole.
func (p *progress) step(target, what string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.last
	e.Target, e.What = target, what
	e.After += time.Since(p.since)
	p.show(e)
}

func (p *progress) show(e review.Event) {
	p.last, p.since = e, time.Now()
	head := fmt.Sprintf("[%s %d/%d]", clock(e.After), e.Done, e.Total)
	if e.Total == 0 {
		head = fmt.Sprintf("[%s]", clock(e.After))
	}
	if !p.live {
		if e.What == "" {
			return
		}
		fmt.Fprintln(p.w, strings.TrimSpace(head+" "+e.Target+" "+e.What))
		return
	}
	if _, known := p.now[e.Target]; !known {
		p.order = append(p.order, e.Target)
	}
	p.now[e.Target] = e.What
	if e.What == "" {
		delete(p.now, e.Target)
	}
	line := head
	for _, target := range p.order {
		if what := p.now[target]; what != "" {
			line += " " + strings.TrimSpace(target+" "+what) + ";"
		}
	}
	p.overwrite(strings.TrimSuffix(line, ";"))
}

// overwrite replaces the line that stands on the terminal.
func (p *progress) overwrite(line string) {
	const columns = 100 // wide enough to be of use, narrow enough for most terminals
	if len(line) > columns {
		line = line[:columns-1] + "…"
	}
	pad := max(0, p.width-len(line))
	fmt.Fprint(p.w, "\r", line, strings.Repeat(" ", pad))
	p.width = len(line)
}

// done takes the line away, so that what follows starts on a clean one.
func (p *progress) done() {
	if p == nil || !p.live {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprint(p.w, "\r", strings.Repeat(" ", p.width), "\r")
	p.width, p.now, p.order = 0, map[string]string{}, nil
}

// clock is a duration as minutes and seconds.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
