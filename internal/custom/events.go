package custom

import (
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// maxEvents is how many events may wait.
const maxEvents = 512

// A mailbox keeps events until plugins take them. It never makes who publishes wait: when it is
// full, the oldest are lost.
type mailbox struct {
	set *Set

	mu     sync.Mutex
	queue  []json.RawMessage
	opened bool // plugins are loaded
	busy   bool // a goroutine delivers
	lost   int
	idle   chan struct{} // closed when there is nothing to deliver; nil while nothing waits for that
}

// flushTime is how long events may take that wait when the set is closed.
const flushTime = 500 * time.Millisecond

func newMailbox(s *Set) *mailbox { return &mailbox{set: s} }

// Event sends an event to plugins. It never waits: events are queued until plugins are loaded, and
// delivered one after the other. No plugin is loaded for an event.
func (s *Set) Event(kind string, properties json.RawMessage) {
	if len(s.units) == 0 {
		return
	}
	if len(properties) == 0 {
		properties = json.RawMessage("{}")
	}
	text, err := json.Marshal(struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
	}{kind, properties})
	if err != nil {
		s.log.Warn("an event is not JSON", "type", kind, "error", err)
		return
	}
	s.events.put(text)
}

func (m *mailbox) put(event json.RawMessage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.opened && !m.set.Has("event") {
		m.queue = nil
		return
	}
	if len(m.queue) == maxEvents {
		m.queue[0] = nil
		m.queue = m.queue[1:]
		if m.lost++; m.lost == 1 && m.opened {
			m.set.log.Warn("plugins are too slow for events: some are lost")
		}
	}
	m.queue = append(m.queue, event)
	m.wake()
}

// open begins delivering, once plugins are loaded.
func (m *mailbox) open() {
	for _, u := range m.set.units {
		if u.awaited() {
			return
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opened = true
	if !m.set.Has("event") {
		m.queue = nil
		return
	}
	m.wake()
}

// awaited reports whether plugins are still to be loaded.
func (u *unit) awaited() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.denied == "" && slices.ContainsFunc(u.scripts, func(e userFile) bool { return e.starts() && u.facts[e.name] == nil })
}

// wake starts the one who delivers, if there is work.
func (m *mailbox) wake() {
	if m.opened && !m.busy && len(m.queue) > 0 {
		m.busy = m.set.goes(m.deliver)
	}
}

// take gives the next event; without one the deliverer is done.
func (m *mailbox) take() (json.RawMessage, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) == 0 || m.set.life.Err() != nil {
		m.busy = false
		m.queue = nil
		if m.idle != nil {
			close(m.idle)
			m.idle = nil
		}
		return nil, false
	}
	event := m.queue[0]
	m.queue[0] = nil
	m.queue = m.queue[1:]
	return event, true
}

// flush waits until all events were delivered, but not for long.
func (m *mailbox) flush(most time.Duration) {
	m.mu.Lock()
	if !m.busy {
		m.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	m.idle = idle
	m.mu.Unlock()
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-idle:
	case <-t.C:
	}
}

func (m *mailbox) deliver() {
	for {
		event, ok := m.take()
		if !ok {
			return
		}
		for _, u := range m.set.units {
			u.event(m.set.life, event)
		}
	}
}
