package modeltest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"
)

// An event is one of a stream. Name is empty in a protocol that gives them
// none.
type event struct {
	name string
	data string
}

// A stream is an answer on its way.
type stream struct {
	w        http.ResponseWriter
	ctx      context.Context
	gone     <-chan struct{}
	protocol protocol
}

// wait waits for hold, then for so many milliseconds; false: nobody listens
// any more.
func (s *stream) wait(hold <-chan struct{}, ms int) bool {
	if hold != nil {
		select {
		case <-hold:
		case <-s.ctx.Done():
			return false
		case <-s.gone:
			return false
		}
	}
	if ms <= 0 {
		return true
	}
	timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.ctx.Done():
	case <-s.gone:
	}
	return false
}

// play says a reply, or does what is wrong with it.
func (s *stream) play(req Request, said Reply) {
	fault := Fault{}
	if said.Fault != nil {
		fault = *said.Fault
	}
	if s.refused(fault) {
		return
	}
	if fault.Refuse {
		said.Calls, said.Stop = nil, "content-filter"
	}
	events := s.protocol.events(req, said)
	if fault.Garbage {
		for i := range events[1:] {
			events[i+1].data = "{\"type\": \x00<html>oops"
		}
	}
	for i, e := range events {
		if s.interrupted(fault, i, len(events)) {
			return
		}
		s.send(e)
		if said.Pace > 0 && !s.wait(nil, said.Pace) {
			return
		}
	}
	if fault.DropAfter > 0 {
		panic(http.ErrAbortHandler)
	}
}

// interrupted plays the faults that come before event i of n.
func (s *stream) interrupted(f Fault, i, n int) bool {
	switch {
	case f.DropAfter > 0 && i == f.DropAfter:
		panic(http.ErrAbortHandler)
	case f.StallAfter > 0 && i == f.StallAfter:
		s.wait(make(chan struct{}), 0)
		return true
	case f.MidError != "" && i == n/2:
		s.send(s.protocol.broken(f.MidError))
		return true
	}
	return false
}

// refused plays the faults where there is no stream at all.
func (s *stream) refused(f Fault) bool {
	status, message := f.Status, http.StatusText(f.Status)
	if f.DropAfter < 0 {
		panic(http.ErrAbortHandler)
	}
	if f.Overflow {
		status, message = http.StatusBadRequest, tooLong
	}
	if status == 0 {
		s.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		s.w.Header().Set("Cache-Control", "no-cache")
		return false
	}
	if ms, ok := strings.CutSuffix(f.RetryAfter, "ms"); ok {
		s.w.Header().Set("Retry-After-Ms", ms)
	} else if f.RetryAfter != "" {
		s.w.Header().Set("Retry-After", f.RetryAfter)
	}
	if f.Body != "" {
		answer(s.w, status, f.Body)
	} else {
		answer(s.w, status, s.protocol.failure(status, message))
	}
	return true
}

// send writes an event at once. That nobody listens any more is noticed by
// the waits.
func (s *stream) send(e event) {
	if e.name != "" {
		_, _ = io.WriteString(s.w, "event: "+e.name+"\n")
	}
	_, _ = io.WriteString(s.w, "data: "+e.data+"\n\n")
	_ = http.NewResponseController(s.w).Flush()
}

// pieces cuts a text after every n characters. A text that is empty is no
// piece.
func pieces(text string, n int) (out []string) {
	if text == "" {
		return nil
	}
	if n <= 0 {
		return []string{text}
	}
	runes := []rune(text)
	for len(runes) > 0 {
		k := min(n, len(runes))
		out = append(out, string(runes[:k]))
		runes = runes[k:]
	}
	return out
}

func joined(texts []string) string { return strings.Join(texts, "\n") }
