package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The types of events that the client or the stream itself makes.
const (
	// EventReload says: what you know may be out of date, load it anew. It is
	// the first event, unless EventQuery.After could be resumed from; nothing
	// that happens after it is lost. It comes again where a connection was lost
	// and the server no longer knows what came after it, or is another one, and
	// where the loop was too slow.
	EventReload = "reload"
	// EventMissed says that events were dropped before they could be told; its
	// body is a MissedEvent. An EventReload stands before or after it.
	EventMissed = "events.missed"
)

// An Event is something that happened at the server.
type Event struct {
	ID         string    // to go on from by EventQuery.After
	Instance   string    // which run of the server it is of
	Seq        uint64    // the server counts them from 1
	Time       time.Time // when
	Type       string    // what, such as "call.finished"
	Session    string    // whose, where it is of one
	Properties json.RawMessage
}

// Decode reads the properties into a struct of yours. [Event.Body] does it for
// the common types.
func (e Event) Decode(into any) error {
	if err := json.Unmarshal(e.Properties, into); err != nil {
		return fmt.Errorf("client: event %s: %w", e.Type, err)
	}
	return nil
}

// An EventQuery says which events to follow, and how patiently.
type EventQuery struct {
	Sessions []string // only those of these sessions; all when empty
	Types    []string // only these; all when empty
	After    string   // the ID of the last event that is known; from now on when empty

	// Patience is how long a server that is lost is tried for, each time anew.
	// Zero: two minutes. Negative: until the context ends.
	Patience time.Duration
	// Lost is told why a connection ended, and how long the next try waits.
	Lost func(err error, next time.Duration)
}

// Events follows what happens at the server. A connection that is lost is made
// again, and nothing is told twice or left out, as far as the server remembers;
// an [EventReload] says where it does not.
//
// The stream ends when the loop over it does. Otherwise its last word is an
// error: the context's, the server's refusal (a [*Problem]), or that the server
// could not be reached, at first or for too long.
func (c *Client) Events(ctx context.Context, q EventQuery) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if q.Patience == 0 {
			q.Patience = 2 * time.Minute
		}
		f := &follower{c: c, q: q, last: q.After, yield: yield}
		if err := f.run(ctx); err != nil {
			yield(Event{}, err)
		}
	}
}

// A follower reads events over as many connections as it takes.
type follower struct {
	c       *Client
	q       EventQuery
	yield   func(Event, error) bool
	last    string // the ID to go on from
	met     bool   // a connection has been made once
	greeted bool   // on the connection of now
	told    bool   // the last event was that state has to be loaded
	done    bool   // nobody listens any more
}

const (
	firstPause = 200 * time.Millisecond
	mostPause  = 10 * time.Second
)

// run goes on until nobody listens, which is no error, or something is
// wrong that another try does not mend.
func (f *follower) run(ctx context.Context) error {
	pause, lost := firstPause, time.Now()
	for {
		f.greeted = false
		err := f.connection(ctx)
		switch {
		case f.done:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !f.met || final(err):
			return err
		}
		if f.greeted {
			pause, lost = firstPause, time.Now()
		}
		if f.q.Patience > 0 && time.Since(lost) > f.q.Patience {
			return fmt.Errorf("client: the server was lost, and %s of trying did not bring it back: %w", f.q.Patience, err)
		}
		next := pause/2 + rand.N(pause/2)
		if p := (*Problem)(nil); errors.As(err, &p) {
			next = max(next, p.RetryAfter)
		}
		if f.q.Lost != nil {
			f.q.Lost(err, next)
		}
		if err := wait(ctx, next); err != nil {
			return err
		}
		pause = min(2*pause, mostPause)
	}
}

// final tells whether a further try would be answered the same.
func final(err error) bool {
	var p *Problem
	if !errors.As(err, &p) {
		return errors.Is(err, errTooLong) || errors.Is(err, errForeign)
	}
	switch p.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false
	}
	return true
}

// connection makes a connection and reads it to its end, which always is an
// error.
func (f *follower) connection(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	query := url.Values{}
	for _, s := range f.q.Sessions {
		query.Add("session", s)
	}
	setList(query, "types", f.q.Types)
	header := http.Header{"Accept": {"text/event-stream"}}
	if f.last != "" {
		header.Set("Last-Event-ID", f.last)
	}
	// Who does not answer at all is as dead as who falls silent.
	watch := time.AfterFunc(f.c.quiet, func() { cancel(errSilent) })
	defer watch.Stop()
	res, err := f.c.open(ctx, newRequest(http.MethodGet, "/v1/events").withQuery(query), header)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind != "text/event-stream" {
		return fmt.Errorf("%w (it sends %q instead of events)", errForeign, kind)
	}
	f.met = true
	lines := newLines(res.Body, f.c.maxBody)
	lines.before = func() { watch.Reset(f.c.quiet) }
	lines.after = func() { watch.Stop() }
	for {
		m, err := lines.next()
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return err
		}
		if err := f.take(m); err != nil || f.done {
			return err
		}
	}
}

// take hands on what has arrived.
func (f *follower) take(m frame) error {
	switch m.event {
	case "hello":
		return f.hello(m)
	case "at": // how far the numbers have got, where the query leaves most out
		f.last = m.id
		return nil
	}
	e, err := eventOf(m)
	if err != nil {
		return err
	}
	if e.ID != "" {
		f.last = e.ID
	}
	f.done = !f.yield(e, nil)
	if e.Type == EventMissed && !f.told && !f.done {
		f.done = !f.yield(Event{ID: e.ID, Instance: e.Instance, Seq: e.Seq, Time: e.Time, Type: EventReload, Properties: e.Properties}, nil)
	}
	f.told = e.Type == EventMissed
	return nil
}

// hello is the server's first word on a connection.
func (f *follower) hello(m frame) error {
	var h struct {
		Instance string `json:"instance"`
		Seq      uint64 `json:"seq"`
		Resumed  bool   `json:"resumed"`
	}
	if err := json.Unmarshal(m.data, &h); err != nil {
		return fmt.Errorf("%w (its greeting: %v)", errForeign, err)
	}
	f.greeted = true
	if h.Resumed {
		return nil
	}
	// Without an ID the stream begins after what the greeting counts, so that
	// is where to go on from even if nothing comes. After an ID that the server
	// does not know, older events follow, and only they say where we are.
	id := h.Instance + "-" + strconv.FormatUint(h.Seq, 10)
	if f.last == "" {
		f.last = id
	} else {
		f.last = ""
	}
	f.told = true
	f.done = !f.yield(Event{ID: f.last, Instance: h.Instance, Seq: h.Seq, Type: EventReload, Properties: m.data}, nil)
	return nil
}

// eventOf reads an event.
func eventOf(m frame) (Event, error) {
	var body struct {
		Seq        uint64          `json:"seq"`
		Time       time.Time       `json:"time"`
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(m.data, &body); err != nil {
		return Event{}, fmt.Errorf("%w (an event: %v)", errForeign, err)
	}
	e := Event{ID: m.id, Seq: body.Seq, Time: body.Time, Type: body.Type, Properties: body.Properties}
	if e.Type == "" {
		e.Type = m.event
	}
	if i := strings.LastIndexByte(m.id, '-'); i > 0 {
		e.Instance = m.id[:i]
	}
	e.Session = sessionOf(e.Type, e.Properties)
	return e, nil
}

// sessionOf finds whose event it is: the kinds of events say it in different
// places.
func sessionOf(kind string, properties json.RawMessage) string {
	type id struct {
		ID        string `json:"id"`
		Session   string `json:"session"`
		SessionID string `json:"sessionID"`
	}
	var p struct {
		SessionID string `json:"sessionID"`
		Session   string `json:"session"`
		Call      id     `json:"call"`
		Info      id     `json:"info"`
		Part      id     `json:"part"`
	}
	// What does not fit stays empty; the rest is read all the same.
	_ = json.Unmarshal(properties, &p)
	candidates := []string{p.SessionID, p.Session, p.Call.Session, p.Info.SessionID}
	if strings.HasPrefix(kind, "session.") {
		candidates = append(candidates, p.Info.ID)
	}
	for _, s := range append(candidates, p.Part.SessionID) {
		if s != "" {
			return s
		}
	}
	return ""
}
