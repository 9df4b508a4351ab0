package disk

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Locks lets one caller at a time work on a file. Within the process, callers are served in order
// of arrival. Between processes, the file itself is locked with flock, which ends with the process
// that holds it. The lock is advisory: only helve's processes respect it. A process needs one
// Locks; the zero value is ready to use. On Windows, processes do not exclude each other.
type Locks struct {
	mu    sync.Mutex
	names map[string]*turns // of the names that are locked
}

// turns is the queue for a locked name.
type turns struct {
	waiting list.List // of chan struct{}, closed when it is the waiter's turn
	since   time.Time // when the name was last free for other processes
}

const (
	// A process that uses a file without a break leaves a gap after grabTime for other processes.
	// They poll at intervals of at most pollMost, so a gap of politeTime lets one of them in.
	grabTime   = 100 * time.Millisecond
	politeTime = 2 * pollMost
	pollLeast  = 200 * time.Microsecond
	pollMost   = 2 * time.Millisecond
)

// Lock locks the names, absolute and without links: all of them or, if ctx ends first, none. A name
// may be missing on disk: then it is only locked within this process. Names may repeat. Because the
// lock is on the file, other processes can continue after a [Commit] has replaced the file: lock,
// read, commit and release, and read again before the next commit.
func (l *Locks) Lock(ctx context.Context, names ...string) (release func(), err error) {
	names = slices.Clone(names)
	slices.Sort(names) // a fixed order prevents deadlocks
	names = slices.Compact(names)
	var mine []string
	undo := func() {
		for _, name := range slices.Backward(mine) {
			l.wakeNext(name)
		}
	}
	polite := false
	for _, name := range names {
		wait, err := l.take(ctx, name)
		if err != nil {
			undo()
			return nil, fmt.Errorf("lock %s: %w", name, err)
		}
		mine = append(mine, name)
		polite = polite || wait
	}
	if polite {
		err = sleep(ctx, politeTime)
	}
	var files held
	if err == nil {
		files, err = lockFiles(ctx, names)
	}
	if err != nil {
		undo()
		return nil, fmt.Errorf("lock: %w", err)
	}
	return sync.OnceFunc(func() {
		files.release()
		undo()
	}), nil
}

// take waits for its turn at a name. It reports whether other processes should be let in.
func (l *Locks) take(ctx context.Context, name string) (polite bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	l.mu.Lock()
	q := l.names[name]
	if q == nil {
		if l.names == nil {
			l.names = map[string]*turns{}
		}
		l.names[name] = &turns{since: time.Now()}
		l.mu.Unlock()
		return false, nil
	}
	turn := make(chan struct{})
	place := q.waiting.PushBack(turn)
	l.mu.Unlock()

	select {
	case <-turn:
	case <-ctx.Done():
		l.mu.Lock()
		select {
		case <-turn: // it came too late
			l.mu.Unlock()
			l.wakeNext(name)
		default:
			q.waiting.Remove(place)
			l.mu.Unlock()
		}
		return false, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if polite = time.Since(q.since) > grabTime; polite {
		q.since = time.Now()
	}
	return polite, nil
}

// wakeNext passes a name to the next waiter.
func (l *Locks) wakeNext(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.names[name]
	next := q.waiting.Front()
	if next == nil {
		delete(l.names, name)
		return
	}
	close(q.waiting.Remove(next).(chan struct{}))
}

// sleep waits for a while or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
