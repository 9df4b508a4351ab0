package agent

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/message"
)

// Text is a piece of the model's answer as it streams in.
type Text struct {
	Part  string // id of the message part that it belongs to; see message.Part
	Delta string
}

// Reasoning is a piece of the model's visible reasoning.
type Reasoning struct {
	Part  string
	Delta string
}

// Type returns "text", the name among the events of [Agent.Run].
func (Text) Type() string { return "text" }

// Type returns "reasoning", the name among the events of [Agent.Run].
func (Reasoning) Type() string { return "reasoning" }

// stream calls work and yields what happens in its session until work returns.
func (a *Agent) stream(ctx context.Context, work func(ctx context.Context, session string, begun bool) (*Turn, error)) iter.Seq2[event.Payload, error] {
	return func(yield func(event.Payload, error) bool) {
		a.mu.Lock()
		session, begun := a.session, a.session != ""
		a.mu.Unlock()
		if !begun {
			session = a.rt.NewID("ses")
		}
		if a.opt.Model.Provider != nil {
			defer a.rt.Turns().Lend(session, a.opt.Model)()
		}
		ctx, cancel := context.WithCancel(ctx)
		listening, stop := context.WithCancel(context.Background())
		heard := &heard{sessions: map[string]bool{session: true}, root: session, kinds: map[string]message.PartType{}}
		heard.more.L = &heard.mu
		var hearing, working sync.WaitGroup
		events := a.rt.Events(listening, event.Now)
		hearing.Go(func() {
			for e := range events {
				heard.hear(e.Properties)
			}
		})
		var turn *Turn
		var err error
		working.Go(func() {
			turn, err = work(ctx, session, begun) // returns when all its events have been delivered
			stop()
			hearing.Wait()
			heard.end()
		})
		defer func() {
			cancel()
			working.Wait()
			if turn != nil {
				a.mu.Lock()
				defer a.mu.Unlock()
				a.session = session
			}
		}()
		for p := range heard.all() {
			if !yield(p, nil) {
				return
			}
		}
		if err == nil && turn != nil && turn.Error != nil {
			err = fmt.Errorf("the model could not answer: %s", turn.Error.Data.Message)
		}
		if turn != nil && !yield(turn, nil) {
			return
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// heard buffers the events of a turn until they are yielded, so that a slow consumer misses none.
type heard struct {
	root     string                      // the session of the turn
	sessions map[string]bool             // root and its subagents' sessions
	kinds    map[string]message.PartType // part id to type, for the parts of the answer

	mu    sync.Mutex
	more  sync.Cond
	queue []event.Payload
	over  bool
}

func (h *heard) put(p event.Payload) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.queue = append(h.queue, p)
	h.more.Signal()
}

func (h *heard) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	h.more.Signal()
}

// all yields the buffered events until the turn is over.
func (h *heard) all() iter.Seq[event.Payload] {
	return func(yield func(event.Payload) bool) {
		for {
			h.mu.Lock()
			for len(h.queue) == 0 && !h.over {
				h.more.Wait()
			}
			events := h.queue
			h.queue = nil
			h.mu.Unlock()
			if len(events) == 0 {
				return
			}
			for _, p := range events {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// hear buffers p if it belongs to the turn.
func (h *heard) hear(p event.Payload) {
	session := event.SessionOf(p)
	switch e := p.(type) {
	case event.SessionCreated:
		if h.sessions[e.Info.Parent] {
			h.sessions[e.Info.ID] = true
		}
	case event.PartUpdated:
		if e.Part.Session == h.root {
			h.kinds[e.Part.ID] = e.Part.Type
		}
	case event.PartDelta:
		switch {
		case e.Session != h.root:
		case h.kinds[e.Part] == message.Reasoning:
			p = Reasoning{e.Part, e.Delta}
		default:
			p = Text{e.Part, e.Delta}
		}
	case event.Missed:
		session = h.root
	}
	if h.sessions[session] {
		h.put(p)
	}
}
