package wire

import (
	"io"
	"time"
)

const (
	// maxQuiet is how long comments are a sign of life while no event comes.
	maxQuiet = 10 * time.Minute
	// maxLinger is how long the end of an answer is waited for in which all
	// was said.
	maxLinger = 5 * time.Second
)

// A watch ends a request when nothing has moved for too long, or no event has
// come for still longer.
type idleTimer struct {
	idle  time.Duration
	timer *time.Timer
	left  time.Duration // until the next event must have come
	ended bool
}

// happened says that an event has come. Those after the end give no new time.
func (w *idleTimer) happened() {
	if !w.ended {
		w.left = max(maxQuiet, w.idle)
	}
}

// Ends says that with this event all was said. What still comes is waited for
// five seconds at the most; then the stream ends with an error of kind Broken.
func (e Event) Ends() {
	if e.watch != nil {
		e.watch.ended, e.watch.left = true, maxLinger
	}
}

// sent is a body on its way out: as long as it is read, something moves.
type sent struct {
	r     io.Reader
	watch *idleTimer
}

func (s *sent) Read(p []byte) (int, error) {
	s.watch.timer.Reset(s.watch.idle)
	return s.r.Read(p)
}

// watched is a body on its way in. The time that its reader takes between two
// reads does not count.
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
