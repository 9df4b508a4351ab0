package server

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unique"

	"github.com/helve-dev/helve/event"
)

// What the stream of events keeps, and how it is sent.
const (
	streamFrames  = 65_536
	streamBytes   = 64 << 20
	streamGather  = 20 * time.Millisecond // between two wake-ups of the subscribers
	streamPing    = 15 * time.Second
	streamPlace   = 5 * time.Second // how long a filtered subscriber may go without a number
	streamWrite   = 64 << 10        // at once, so that a slow peer is seen to take some of it
	streamRead    = 128             // taken from the ring at once
	streamGoodbye = 50 * time.Millisecond
)

// A hub hands the runtime's events on to everybody who reads GET /v1/events.
// One goroutine reads them from the runtime and encodes each once; subscribers
// write the same bytes. It never waits for a subscriber: who falls behind what
// is kept is told so, and its stream ends.
type hub struct {
	instance string
	log      *slog.Logger
	cancel   context.CancelFunc
	pumped   chan struct{} // closed when no more events come

	mu      sync.RWMutex
	ring    ring
	wake    chan struct{} // closed when subscribers are to look again
	woken   time.Time     // when that was last
	gather  *time.Timer   // wakes them up later
	waiting bool          // gather will
	streams map[*stream]struct{}
	left    chan struct{} // a stream has ended
	ended   bool          // the runtime has
	closed  bool
}

// newHub begins to read the events of a runtime, which end with the context.
// instance names this process in the ids of events.
func newHub(events func(context.Context) iter.Seq[event.Event], instance string, log *slog.Logger) *hub {
	ctx, cancel := context.WithCancel(context.Background())
	h := &hub{
		instance: instance,
		log:      log,
		cancel:   cancel,
		pumped:   make(chan struct{}),
		ring:     ring{maxFrames: streamFrames, maxBytes: streamBytes, first: 1},
		wake:     make(chan struct{}),
		streams:  map[*stream]struct{}{},
		left:     make(chan struct{}, 1),
	}
	h.gather = time.AfterFunc(time.Hour, h.gathered)
	h.gather.Stop()
	go h.pump(events(ctx))
	return h
}

// pump is the one who reads from the runtime.
func (h *hub) pump(events iter.Seq[event.Event]) {
	defer close(h.pumped)
	for e := range events {
		f, text, err := encodeEvent(h.instance, e)
		if err != nil {
			h.log.Warn("an event can not be encoded", slog.String("type", e.Type), slog.Any("error", err))
		}
		h.add(f, text)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	h.rouse()
}

// add keeps a frame and sees to it that subscribers hear of it: at once after a
// pause, otherwise together with what comes in the next moment. One clock for
// all of them costs less than one each.
func (h *hub) add(f encodedEvent, text []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ring.add(f, text)
	if h.waiting || h.closed {
		return
	}
	if rest := streamGather - time.Since(h.woken); rest > 0 {
		h.waiting = true
		h.gather.Reset(rest)
		return
	}
	h.rouse()
}

// gathered ends a moment of gathering.
func (h *hub) gathered() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiting {
		h.rouse()
	}
}

// rouse lets every subscriber look. The caller holds the lock.
func (h *hub) rouse() {
	h.waiting = false
	h.woken = time.Now()
	close(h.wake)
	h.wake = make(chan struct{})
}

// close ends all streams and waits for them.
func (h *hub) close() {
	h.cancel()
	h.mu.Lock()
	h.closed = true
	h.gather.Stop()
	h.rouse()
	h.mu.Unlock()
	<-h.pumped
	again := time.NewTicker(streamGoodbye)
	defer again.Stop()
	for h.dismiss() > 0 {
		select {
		case <-h.left:
		case <-again.C: // whoever set another deadline in the meantime
		}
	}
}

// dismiss ends the writes that are under way, and tells how many streams are
// left.
func (h *hub) dismiss() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.streams {
		_ = s.control.SetWriteDeadline(time.Now()) // not every writer has one
	}
	return len(h.streams)
}

// ServeHTTP is GET /v1/events.
func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	s := &stream{hub: h, out: w, control: http.NewResponseController(w), filter: eventFilterOf(query)}
	id := r.Header.Get("Last-Event-ID") // newer than the address, where a browser connects again
	if id == "" {
		id = query.Get("after")
	}
	start, ok := h.join(s, id)
	if !ok {
		closedProblem().write(w)
		return
	}
	defer h.unsubscribe(s)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy is not to gather it
	if r.Method == http.MethodHead || !s.greet(start) {
		return
	}
	s.run(r.Context())
}

// eventFilterOf reads what a subscriber wants to hear of.
func eventFilterOf(query url.Values) (w eventFilter) {
	for _, id := range query["session"] {
		if id != "" {
			w.sessions = append(w.sessions, unique.Make(id))
		}
	}
	for _, list := range query["types"] {
		for name := range strings.SplitSeq(list, ",") {
			if name = strings.TrimSpace(name); name != "" {
				w.kinds = append(w.kinds, name)
			}
		}
	}
	return w
}

// A streamStart is where a stream begins.
type streamStart struct {
	Instance string `json:"instance"`
	Seq      uint64 `json:"seq"`     // what follows has greater numbers
	Resumed  bool   `json:"resumed"` // nothing lies between the id that was given and what follows

	missed *missed
}

// missed tells that events are gone; how many is not known where the id is not
// one of ours.
type missed struct {
	Count uint64 `json:"count,omitempty" doc:"how many, where that is known"`
}

// join takes a stream in, at the place that id means.
func (h *hub) join(s *stream, id string) (streamStart, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.ended {
		return streamStart{}, false
	}
	h.streams[s] = struct{}{}
	k := &h.ring
	begin := streamStart{Instance: h.instance, Seq: k.last}
	seq, known := h.readID(id)
	switch {
	case id == "":
		s.next = k.end()
	case known && seq >= k.gone && seq <= k.last:
		begin.Seq, begin.Resumed = seq, true
		s.next = k.find(seq)
	default:
		begin.Seq, begin.missed = k.gone, new(missed)
		if known && seq < k.gone {
			begin.missed.Count = k.gone - seq
		}
		s.next = k.first
	}
	s.passed, s.told = begin.Seq, begin.Seq
	return begin, true
}

// readID reads the number of an event of ours.
func (h *hub) readID(id string) (seq uint64, ok bool) {
	number, ok := strings.CutPrefix(id, h.instance+"-")
	if !ok {
		return 0, false
	}
	seq, err := strconv.ParseUint(number, 10, 64)
	return seq, err == nil
}

func (h *hub) unsubscribe(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, s)
	select {
	case h.left <- struct{}{}:
	default:
	}
}

// A streamState is how a stream goes on.
type streamState int

const (
	streamLive streamState = iota
	streamLost             // it fell out of what is kept
	streamOver             // there will be nothing more
)

// take reads frames from a position on. Without any, wake closes when there
// are some.
func (h *hub) take(pos uint64, into []encodedEvent) (n int, wake <-chan struct{}, st streamState) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	switch {
	case h.closed:
		return 0, nil, streamOver
	case pos < h.ring.first:
		return 0, nil, streamLost
	}
	n = h.ring.read(pos, into)
	if n == 0 && h.ended {
		return 0, nil, streamOver
	}
	return n, h.wake, streamLive
}

// A stream is one subscriber.
type stream struct {
	hub     *hub
	out     http.ResponseWriter
	control *http.ResponseController
	filter  eventFilter

	next   uint64 // position
	passed uint64 // number of the newest event that it went over
	told   uint64 // number that the peer knows of
	toldAt time.Time
	buffer [streamRead]encodedEvent
}

// greet says where the stream begins, and reports whether the peer took it.
func (s *stream) greet(begin streamStart) bool {
	s.toldAt = time.Now()
	data, err := json.Marshal(begin)
	if err != nil { // strings, a number: can not fail
		return false
	}
	text := eventBlock("", "hello", data)
	if begin.missed != nil {
		text = append(text, s.missedEvent(begin.Seq, *begin.missed)...)
	}
	return s.write(text) && s.control.Flush() == nil
}

// missedEvent is the event that tells of others that are gone, up to seq.
func (s *stream) missedEvent(seq uint64, m missed) []byte {
	data, _ := json.Marshal(struct { // numbers, a time, a string: can not fail
		Seq        uint64    `json:"seq"`
		Time       time.Time `json:"time"`
		Type       string    `json:"type"`
		Properties missed    `json:"properties"`
	}{seq, time.Now().UTC(), "events.missed", m})
	return eventBlock(s.id(seq), "events.missed", data)
}

func (s *stream) id(seq uint64) string { return s.hub.instance + "-" + strconv.FormatUint(seq, 10) }

// run writes until the peer, the hub or the runtime ends.
func (s *stream) run(ctx context.Context) {
	ping := time.NewTicker(streamPing)
	defer ping.Stop()
	for {
		wake, ok := s.catchUp()
		if !ok {
			return
		}
		select {
		case <-wake:
		case <-ping.C:
			if !s.write([]byte(": ping\n\n")) || !s.sendPosition(0) || s.control.Flush() != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// catchUp writes all that there is, and returns what to wait for then. It
// reports false at the end of the stream.
func (s *stream) catchUp() (wake <-chan struct{}, ok bool) {
	wrote := false
	for {
		n, wake, st := s.hub.take(s.next, s.buffer[:])
		if st == streamLost {
			s.hub.mu.RLock()
			gone := s.hub.ring.gone
			s.hub.mu.RUnlock()
			_ = s.write(s.missedEvent(gone, missed{gone - s.passed})) // it ends either way
			return nil, false
		}
		if n == 0 {
			if wrote && s.control.Flush() != nil {
				return nil, false
			}
			return wake, st == streamLive
		}
		any, ok := s.send(s.buffer[:n])
		clear(s.buffer[:n]) // one that waits holds on to nothing
		if !ok {
			return nil, false
		}
		wrote = wrote || any
		s.next += uint64(n)
	}
}

// send writes the frames that the filter lets through, those that lie side by
// side at once. It reports whether there was something, and whether all is well.
func (s *stream) send(frames []encodedEvent) (wrote, ok bool) {
	s.passed = frames[len(frames)-1].seq
	var before *encodedEvent
	var run []byte
	for i := range frames {
		f := &frames[i]
		if !s.filter.wants(f) {
			continue
		}
		if longer, ok := f.appendRun(run); ok {
			run = longer
		} else {
			if !s.write(run) {
				return true, false
			}
			run = f.text
		}
		before = f
	}
	if before != nil {
		if !s.write(run) {
			return true, false
		}
		s.told = before.seq
	}
	if s.filter.sessions == nil && s.filter.kinds == nil {
		return before != nil, true
	}
	if before != nil {
		s.toldAt = time.Now()
	}
	told := s.told
	ok = s.sendPosition(streamPlace)
	return before != nil || s.told != told, ok
}

// sendPosition tells a filtered subscriber how far the numbers have got, where it has
// not heard one for a while: otherwise what it resumes from could be gone,
// though it has missed nothing.
func (s *stream) sendPosition(after time.Duration) bool {
	if s.told == s.passed || time.Since(s.toldAt) < after {
		return true
	}
	s.told, s.toldAt = s.passed, time.Now()
	return s.write(eventBlock(s.id(s.passed), "at", []byte(`{"seq":`+strconv.FormatUint(s.passed, 10)+`}`)))
}

// write sends text in pieces, and reports whether the peer is still there.
func (s *stream) write(text []byte) bool {
	for piece := range slices.Chunk(text, streamWrite) {
		if _, err := s.out.Write(piece); err != nil {
			return false
		}
	}
	return true
}
