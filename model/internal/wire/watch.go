package wire

import (
	"io"
	"time"
)

const (
	// maxQuiet is how long comments keep a stream alive without an event.
	maxQuiet = 10 * time.Minute
	// maxLinger is how long to wait for the end of a stream after the answer is complete.
	maxLinger = 5 * time.Second
)

// An idleTimer ends a request when no byte has arrived for too long, or no event for still longer.
type idleTimer struct {
	idle  time.Duration
	timer *time.Timer
	left  time.Duration // time left for the next event to arrive
	ended bool
}

// happened says that an event has arrived. Events after the last one that matters do not extend the
// time.
func (w *idleTimer) happened() {
	if !w.ended {
		w.left = max(maxQuiet, w.idle)
	}
}

// Ends says that the answer is complete with this event. The stream may last five more seconds;
// then it ends with an error of kind Broken.
func (e Event) Ends() {
	if e.watch != nil {
		e.watch.ended, e.watch.left = true, maxLinger
	}
}

// sent is a request body: while it is read, the timer does not run out.
type sent struct {
	r     io.Reader
	watch *idleTimer
}

func (s *sent) Read(p []byte) (int, error) {
	s.watch.timer.Reset(s.watch.idle)
	return s.r.Read(p)
}

// watched is a response body. The time that the reader takes between two reads does not count.
type watched struct {
	r     io.Reader
	watch *idleTimer
}

func (w *watched) Read(p []byte) (int, error) {
	start := time.Now()
	w.watch.timer.Reset(max(0, min(w.watch.idle, w.watch.left)))
	defer func() {
		w.watch.timer.Stop()
		w.watch.left -= time.Since(start)
	}()
	return w.r.Read(p)
}
