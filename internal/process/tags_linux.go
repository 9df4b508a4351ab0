package process

import (
	"math/rand/v2"

	"golang.org/x/sys/unix"
)

// minTagRoom is the least limit of message queues that leaves enough to the
// commands and for telling them apart.
const minTagRoom = 400_000

// tags gives each command a number that all its processes inherit, and that a
// cleared environment, a new session or a lost parent does not take away: the
// soft limit for the bytes of message queues, somewhat below the real one.
type tags struct {
	old  unix.Rlimit
	top  uint64 // the highest tag; 0 when there are none
	span uint64
	at   uint64
}

// open finds the highest usable tag. Tags start at random, so that supervisors do not use the same
// ones.
func (t *tags) open() {
	if unix.Getrlimit(unix.RLIMIT_MSGQUEUE, &t.old) != nil {
		return
	}
	top := t.old.Max
	if top == unix.RLIM_INFINITY {
		top = 1 << 30
	}
	if top < minTagRoom {
		return
	}
	t.top = top - 1
	t.span = min(top/2, 1<<24)
	t.at = rand.Uint64N(t.span)
}

// openBelow finds tags that no supervisor uses.
func (t *tags) openBelow() {
	t.open()
	if t.top != 0 {
		t.top -= t.span
		t.span /= 2
		t.at %= t.span
	}
}

// next chooses a tag that is not in use; 0 for none.
func (t *tags) next(used map[uint64]*kept) uint64 {
	if t.top == 0 || uint64(len(used)) >= t.span {
		return 0
	}
	for {
		t.at = (t.at + 1) % t.span
		tag := t.top - t.at
		if used[tag] == nil && tag != t.old.Cur {
			return tag
		}
	}
}

// put makes a tag the one that a new process gets, until restore is called.
func (t *tags) put(tag uint64) (restore func()) {
	if tag == 0 {
		return func() {}
	}
	if unix.Setrlimit(unix.RLIMIT_MSGQUEUE, &unix.Rlimit{Cur: tag, Max: t.old.Max}) != nil {
		return func() {}
	}
	return func() { _ = unix.Setrlimit(unix.RLIMIT_MSGQUEUE, &t.old) }
}
