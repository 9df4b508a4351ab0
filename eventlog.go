package helve

import (
	"context"
	"github.com/helve-dev/helve/event"
	"iter"
	"maps"
	"sync"
	"time"
)

// Limits of what an event log keeps for subscribers that start late or fall behind.
const (
	feedEvents = 4096
	feedBytes  = 16 << 20
)

// hearTime is how long the end of a turn waits for a subscriber that makes no progress, because it
// may itself be waiting for that turn.
const hearTime = 500 * time.Millisecond

// An eventLog holds the newest events. Subscribers read from it at their own pace, so publishing
// never blocks. A subscriber that falls too far behind is told how many events it missed.
type eventLog struct {
	now func() time.Time
	tap func(event.Payload) // sees every event first; must not block or publish

	mu     sync.Mutex
	events []keptEvent // oldest first, without gaps
	bytes  int
	seq    uint64        // of the newest event
	wake   chan struct{} // closed at the next event
	closed bool

	subscribers map[*subscriber]bool
}

// A keptEvent is an event with its approximate size in bytes.
type keptEvent struct {
	event.Event
	size int
}

// A subscriber follows the events.
type subscriber struct {
	seq      uint64        // the last event that it has handled
	advanced chan struct{} // closed when it has handled another; nil if nobody waits for that
}

func newEventLog(now func() time.Time) *eventLog {
	return &eventLog{now: now, wake: make(chan struct{}), subscribers: map[*subscriber]bool{}}
}

// publish appends an event and passes it to plugins and hook commands. It never blocks.
func (f *eventLog) publish(p event.Payload) { f.append(p, f.tap) }

// publishQuietly appends an event for subscribers only.
func (f *eventLog) publishQuietly(p event.Payload) { f.append(p, nil) }

func (f *eventLog) append(p event.Payload, tap func(event.Payload)) {
	size := eventSize(p)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	if tap != nil {
		tap(p)
	}
	f.seq++
	f.events = append(f.events, keptEvent{event.Event{Seq: f.seq, Time: f.now().UTC(), Type: p.Type(), Properties: p}, size})
	f.bytes += size
	drop := 0
	for n := len(f.events); n-drop > 1 && (n-drop > feedEvents || f.bytes > feedBytes); drop++ {
		f.bytes -= f.events[drop].size
		f.events[drop] = keptEvent{}
	}
	f.events = f.events[drop:]
	close(f.wake)
	f.wake = make(chan struct{})
}

// eventsAfter returns the kept events after seq, the number of events lost before them, and a
// channel that closes when there are more. After the log has ended, the channel stays closed.
func (f *eventLog) eventsAfter(seq uint64) (events []event.Event, missed uint64, more <-chan struct{}, end bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := f.seq - uint64(len(f.events)) + 1
	if seq+1 < first {
		missed = first - seq - 1
		seq = first - 1
	}
	if seq < f.seq {
		for _, e := range f.events[seq+1-first:] {
			events = append(events, e.Event)
		}
	}
	return events, missed, f.wake, f.closed
}

func (f *eventLog) newest() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seq
}

// acknowledge records that a subscriber has handled the events up to seq, or is gone.
func (f *eventLog) acknowledge(s *subscriber, seq uint64, gone bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.seq = seq; gone {
		delete(f.subscribers, s)
	}
	if s.advanced != nil {
		close(s.advanced)
		s.advanced = nil
	}
}

// flush waits until every subscriber has handled all events published so far, except a subscriber
// that makes no progress.
func (f *eventLog) flush() {
	f.mu.Lock()
	defer f.mu.Unlock()
	last := f.seq
	timer := time.NewTimer(hearTime)
	defer timer.Stop()
	for s := range maps.Clone(f.subscribers) {
		for f.subscribers[s] && s.seq < last {
			if s.advanced == nil {
				s.advanced = make(chan struct{})
			}
			moved := s.advanced
			f.mu.Unlock()
			select {
			case <-moved:
				timer.Reset(hearTime)
				f.mu.Lock()
			case <-timer.C:
				f.mu.Lock()
				return
			}
		}
	}
}

// subscribe registers a subscriber that has handled the events up to seq, or all of them if seq is
// [event.Now]. It returns that number.
func (f *eventLog) subscribe(s *subscriber, seq uint64) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.seq = seq; seq == event.Now {
		s.seq = f.seq
	}
	f.subscribers[s] = true
	return s.seq
}

// after yields the events after since until ctx ends or the log is closed.
func (f *eventLog) after(ctx context.Context, since uint64) iter.Seq[event.Event] {
	s := &subscriber{}
	if since == event.Now {
		since = f.subscribe(s, since) // registers now, even if it is iterated later
		context.AfterFunc(ctx, func() { f.acknowledge(s, 0, true) })
	}
	return func(yield func(event.Event) bool) {
		if f.newest() < since { // a number from an earlier runtime
			since = 0
		}
		f.subscribe(s, since)
		defer func() { f.acknowledge(s, since, true) }()
		for {
			events, missed, more, end := f.eventsAfter(since)
			if missed > 0 {
				since += missed
				if !yield(event.Event{Seq: since, Time: f.now().UTC(), Type: event.Missed{}.Type(), Properties: event.Missed{Count: missed}}) {
					return
				}
			}
			for _, e := range events {
				if ctx.Err() != nil || !yield(e) {
					return
				}
				since = e.Seq
				f.acknowledge(s, since, false)
			}
			if end && len(events) == 0 {
				return
			}
			if len(events) > 0 {
				continue
			}
			select {
			case <-more:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (f *eventLog) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.closed = true
		close(f.wake)
	}
}
