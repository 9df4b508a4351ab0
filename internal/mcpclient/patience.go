package mcpclient

import "time"

// A patience is how long a call may go on without a sign of life. It stands
// still while the person is being asked.
type patience struct {
	timer *time.Timer
	idle  time.Duration
	left  time.Duration // at since
	since time.Time
	held  bool
}

func newPatience(idle time.Duration) *patience {
	return &patience{timer: time.NewTimer(idle), idle: idle, left: idle, since: time.Now()}
}

// renew gives the call all its time again.
func (p *patience) renew() {
	p.left, p.since = p.idle, time.Now()
	if !p.held {
		p.timer.Reset(p.idle)
	}
}

// hold lets the time stand still, and with false go on where it stood.
func (p *patience) hold(still bool) {
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
