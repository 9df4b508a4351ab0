package helve

import (
	"context"
	"github.com/helve-dev/helve/event"
	"iter"
	"maps"
	"sync"
	"time"
)

// What a feed keeps for subscribers that come late or fall behind.
const (
	feedEvents = 4096
	feedBytes  = 16 << 20
)

// hearTime is how long a turn that is over waits for a subscriber that hears
// nothing more: it may itself wait for that turn.
const hearTime = 500 * time.Millisecond

// A eventLog holds the newest events. Subscribers read from it at their own pace,
// so publishing never waits: who falls behind what is kept is told how much
// was missed.
type eventLog struct {
	now func() time.Time
	tap func(event.Payload) // sees what is published before anybody else; must not wait, nor publish

	mu     sync.Mutex
	events []keptEvent // oldest first, without gaps
	bytes  int
	seq    uint64        // of the newest event
	wake   chan struct{} // closed at the next event
	closed bool

	subscribers map[*subscriber]bool
}

// A keptEvent is an event with about how many bytes it takes.
type keptEvent struct {
	event.Event
	size int
}

// A subscriber is who follows the events.
type subscriber struct {
	seq      uint64        // the last event that it is done with
	advanced chan struct{} // closed when it is done with another; nil where nobody waits for that
}

func newEventLog(now func() time.Time) *eventLog {
	return &eventLog{now: now, wake: make(chan struct{}), subscribers: map[*subscriber]bool{}}
}

// publish appends an event and tells plugins and hook commands of it. It never
// blocks.
func (f *eventLog) publish(p event.Payload) { f.append(p, f.tap) }

// publishQuietly appends an event that only subscribers hear of.
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

// eventsAfter returns the kept events past seq, how many before them are gone, and
// a channel that closes when there are more. It is closed for good at the end.
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

// acknowledge notes that a subscriber is done with the events up to seq, or gone.
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

// flush waits until every subscriber is done with all that was published so far,
// but not for one that stands still.
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

// subscribe begins to wait for a subscriber that is done with the events up to
// seq, or with all where that is [event.Now]. It returns that number.
func (f *eventLog) subscribe(s *subscriber, seq uint64) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.seq = seq; seq == event.Now {
		s.seq = f.seq
	}
	f.subscribers[s] = true
	return s.seq
}

// each yields the events past since until ctx or the feed ends.
func (f *eventLog) each(ctx context.Context, since uint64) iter.Seq[event.Event] {
	s := &subscriber{}
	if since == event.Now {
		since = f.subscribe(s, since) // from here on, also if it is iterated later
		context.AfterFunc(ctx, func() { f.acknowledge(s, 0, true) })
	}
	return func(yield func(event.Event) bool) {
		if f.newest() < since { // numbered by a runtime that is gone
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
