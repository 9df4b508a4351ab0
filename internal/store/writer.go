package store

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// lockWait is how long a write waits for other processes.
const lockWait = 15 * time.Second

// A writer serialises the writes of a process on one connection. There is no
// goroutine behind it: the caller who finds it idle leads, and takes along in
// one transaction whatever the others have queued in the meantime. So a lone
// caller pays for no hand-over, and many callers share a commit.
type writer struct {
	c    *conn
	sync bool          // every commit is synced already
	wait time.Duration // for other processes

	ckpt  *checkpointer // nil in memory
	pages int           // about how many were written since it was last woken; the leader's

	mu     sync.Mutex
	queue  []*op
	spare  []*op
	busy   bool
	closed bool
	idle   chan struct{} // made by close; closed when no goroutine leads
}

// An op is one caller's write.
type op struct {
	run     func(*conn) error
	single  bool // run is one statement, which is a transaction by itself
	apart   bool // shares no transaction
	durable bool // must survive a power loss
	size    int  // about how many bytes it writes, beyond a few hundred

	turn    chan bool // true: lead; false: done, see err
	leading bool
	idle    bool // nothing waits for it: the next write includes it
	err     error
}

// later queues o for the next write. Its outcome is not reported, and it is lost when the process
// dies first.
func (w *writer) later(o *op) {
	o.idle, o.turn = true, make(chan bool, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.queue = append(w.queue, o)
	}
}

// do queues o and returns when it is committed or has failed. When ctx ends
// before the write has started it is withdrawn; once started it is waited for.
func (w *writer) do(ctx context.Context, o *op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return ErrClosed
	}
	w.queue = append(w.queue, o)
	if w.busy {
		o.turn = make(chan bool, 1)
		w.mu.Unlock()
		if lead, err := w.awaitTurn(ctx, o); !lead {
			return err
		}
		w.mu.Lock()
	}
	w.busy = true
	batch := w.queue
	w.queue, w.spare = w.spare[:0], nil
	w.mu.Unlock()

	w.commit(batch)
	w.grow(batch)

	w.mu.Lock()
	w.passLead()
	for _, other := range batch {
		if other != o {
			other.turn <- false
		}
	}
	clear(batch)
	w.spare = batch[:0]
	w.mu.Unlock()
	return o.err
}

// awaitTurn waits for o's turn. It reports whether o is to lead, and otherwise
// how o ended.
func (w *writer) awaitTurn(ctx context.Context, o *op) (lead bool, err error) {
	select {
	case lead = <-o.turn:
	case <-ctx.Done():
		if w.withdraw(o) {
			return false, ctx.Err()
		}
		lead = <-o.turn
	}
	if lead {
		return true, nil
	}
	return false, o.err
}

// withdraw takes o out of the queue; it fails when o has been taken or is
// about to lead.
func (w *writer) withdraw(o *op) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o.leading {
		return false
	}
	for i, q := range w.queue {
		if q == o {
			w.queue = append(w.queue[:i], w.queue[i+1:]...)
			return true
		}
	}
	return false
}

// passLead hands the lead to the first in the queue who waits. The caller holds
// w.mu.
func (w *writer) passLead() {
	for _, o := range w.queue {
		if !o.idle {
			o.leading = true
			o.turn <- true
			return
		}
	}
	w.busy = false
	if w.idle != nil {
		close(w.idle)
	}
}

// close lets no new write in, waits for those under way, and returns the
// connection.
func (w *writer) close() *conn {
	w.mu.Lock()
	w.closed = true
	if w.busy {
		w.idle = make(chan struct{})
		w.mu.Unlock()
		<-w.idle
		w.mu.Lock()
	}
	rest := w.queue
	w.queue = nil
	w.mu.Unlock()
	if len(rest) > 0 {
		w.commit(rest)
	}
	return w.c
}

// commit runs a batch and sets every op's error. Where another process keeps
// the lock, all of it fails after one wait.
func (w *writer) commit(batch []*op) {
	if len(batch) == 1 {
		batch[0].err = w.alone(batch[0])
		return
	}
	var stuck error // the lock was waited for in vain, which a batch does once
	alone := func(o *op) {
		if o.err = stuck; stuck != nil {
			return
		}
		if o.err = w.alone(o); locked(o.err) {
			stuck = o.err
		}
	}
	rest := make([]*op, 0, len(batch))
	for _, o := range batch {
		if o.apart || o.durable && !w.sync {
			alone(o)
		} else {
			rest = append(rest, o)
		}
	}
	if stuck == nil {
		err := w.together(rest)
		if err == nil {
			return
		}
		if locked(err) {
			stuck = err
		}
	}
	// One by one, so that a write that cannot be made fails alone.
	for _, o := range rest {
		alone(o)
	}
}

// together runs a batch in one transaction. After an error nothing is
// changed. An op that returns an error which is not SQLite's has changed
// nothing and does not disturb the others.
func (w *writer) together(batch []*op) error {
	if err := w.retry(func() error { return w.exec("BEGIN IMMEDIATE") }); err != nil {
		return err
	}
	for _, o := range batch {
		if o.err = o.run(w.c); resultCode(o.err) != 0 {
			w.rollback()
			return o.err
		}
	}
	err := w.exec("COMMIT")
	if err != nil {
		w.rollback()
	}
	return err
}

// grow reckons how much a batch has added to the log.
func (w *writer) grow(batch []*op) {
	if w.ckpt == nil {
		return
	}
	w.pages += 3
	for _, o := range batch {
		w.pages += 1 + o.size/pageSize
	}
	if w.pages >= pagesPerCheckpoint {
		w.pages = 0
		w.ckpt.wake()
	}
}

func (w *writer) alone(o *op) error {
	if o.durable && !w.sync {
		if err := w.exec("PRAGMA synchronous=FULL"); err != nil {
			return err
		}
		defer w.exec("PRAGMA synchronous=NORMAL")
	}
	if o.single {
		return w.retry(func() error { return o.run(w.c) })
	}
	if err := w.retry(func() error { return w.exec("BEGIN IMMEDIATE") }); err != nil {
		return err
	}
	err := o.run(w.c)
	if err == nil {
		err = w.exec("COMMIT")
	}
	if err != nil {
		w.rollback()
	}
	return err
}

func (w *writer) exec(query string) error {
	_, err := w.c.exec(query)
	return err
}

// rollback ends the open transaction, if the failure has not done so.
func (w *writer) rollback() {
	_ = w.exec("ROLLBACK")
}

// retry runs fn again while another process has the lock. SQLite's own wait
// sleeps in steps of up to 100 ms, far longer than our writes take.
func (w *writer) retry(fn func() error) error {
	err := fn()
	if !locked(err) {
		return err
	}
	deadline := time.Now().Add(w.wait)
	for pause := 50 * time.Microsecond; locked(err) && time.Now().Before(deadline); pause = min(2*pause, 2*time.Millisecond) {
		time.Sleep(pause/2 + rand.N(pause))
		err = fn()
	}
	return err
}
