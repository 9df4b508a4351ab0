package mcpclient

import "time"

// An idleTimer limits how long a call may go on without a sign of life. It is paused while the
// person is being asked.
type idleTimer struct {
	timer *time.Timer
	idle  time.Duration
	left  time.Duration // at since
	since time.Time
	held  bool
}

func newIdleTimer(idle time.Duration) *idleTimer {
	return &idleTimer{timer: time.NewTimer(idle), idle: idle, left: idle, since: time.Now()}
}

// renew gives the call all its time again.
func (p *idleTimer) renew() {
	p.left, p.since = p.idle, time.Now()
	if !p.held {
		p.timer.Reset(p.idle)
	}
}

// setPaused pauses or continues the timer.
func (p *idleTimer) setPaused(still bool) {
	switch {
	case still && !p.held:
		p.left -= time.Since(p.since)
		p.timer.Stop()
	case !still && p.held:
		p.since = time.Now()
		p.timer.Reset(max(p.left, 0))
	}
	p.held = still
}
