package loop

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
)

const (
	// maxAnswer bounds an answer, in tokens.
	maxAnswer = 32000
	// maxSize and maxCalls bound the bytes and calls of an answer.
	maxSize, maxCalls = 64 << 20, 1000
	// maxTries is how often the same is asked.
	maxTries = 8
	// fewTries is how often a server is tried that is unreachable or breaks off its answers.
	fewTries = 3
	// longestWait is how long a provider may let us wait. One that wants more
	// has failed.
	longestWait = 2 * time.Minute
	// firstWait and maxWait bound the wait before a retry, unless the provider gives one.
	firstWait, maxWait = time.Second, 30 * time.Second
)

// grown is a text while it grows.
type grown = strings.Builder

// requestAnswer asks the model until it has answered, or a retry is pointless.
func (s *step) requestAnswer(ctx context.Context) error {
	s.t.r.deps.Keeper.Tell(News{Info: &s.info})
	for try := 1; ; try++ {
		err := s.once(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e, ok := errors.AsType[*model.Error](err)
		if !ok || !e.Again() || try >= maxTries || few(e.Kind) && try >= fewTries {
			return err
		}
		if e.RetryAfter > longestWait {
			return &model.Error{Kind: e.Kind, Status: e.Status, RequestID: e.RequestID, RetryAfter: e.RetryAfter, Err: e, Message: fmt.Sprintf(
				"%s (the provider asks to wait longer than %s)", strings.TrimSuffix(e.Message, "."), longestWait)}
		}
		s.dropAttempt(try, err)
		if err := s.wait(ctx, try, e); err != nil {
			return err
		}
	}
}

// few reports whether an error is tried again only a few times.
func few(k model.ErrorKind) bool { return k == model.Network || k == model.Broken }

// reset discards the result of a failed attempt. None of its calls was made.
func (s *step) reset() {
	s.close()
	for i := range s.parts {
		s.t.r.deps.Keeper.Tell(News{Part: &s.parts[i], Removed: true})
	}
	s.parts, s.pending, s.coming, s.size, s.usage, s.reason = nil, nil, nil, 0, model.Usage{}, ""
}

// dropAttempt drops an attempt that failed, and notes it.
func (s *step) dropAttempt(try int, err error) {
	s.reset()
	s.tries = append(s.tries, message.Part{
		ID: s.t.r.deps.NewID("prt"), Session: s.info.Session, Message: s.info.ID, Type: message.Retry,
		Attempt: try, Error: failureOf(err), Time: &message.Span{Start: s.t.r.deps.Now().UnixMilli()},
	})
}

// wait waits before the next attempt, as long as the provider wants.
func (s *step) wait(ctx context.Context, try int, e *model.Error) error {
	d := e.RetryAfter
	if d <= 0 {
		d = min(firstWait<<(try-1), maxWait)
		d += rand.N(d / 4)
	}
	s.t.r.deps.Watch(s.info.Session, Status{Type: "retry", Attempt: try, Message: e.Message, Next: s.t.r.deps.Now().Add(d)})
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		s.t.r.deps.Watch(s.info.Session, Status{Type: "busy"})
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

type streamItem struct {
	event model.Event
	err   error
}

// once asks the model one time. A provider that does not stop when cancelled is abandoned.
func (s *step) once(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pieces := make(chan streamItem, 16)
	go func() {
		defer close(pieces)
		defer func() {
			if p := recover(); p != nil {
				send(ctx, pieces, streamItem{err: fmt.Errorf("the model's client broke: %v", p)})
			}
		}()
		for e, err := range s.model.Provider.Stream(ctx, s.req) {
			if !send(ctx, pieces, streamItem{e, err}) || err != nil {
				return
			}
		}
	}()
	idle := s.t.work.Purse.idle()
	timer := time.NewTimer(max(idle, time.Second))
	defer timer.Stop()
	for {
		select {
		case p, ok := <-pieces:
			if done, err := s.piece(ctx, p, ok); done || err != nil {
				return err
			}
			timer.Reset(max(idle, time.Second))
		case <-timer.C:
			if idle > 0 {
				return &OverError{fmt.Sprintf("the model said nothing for %s", idle)}
			}
			timer.Reset(time.Hour)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// piece handles the next event of the stream.
func (s *step) piece(ctx context.Context, p streamItem, ok bool) (done bool, err error) {
	switch {
	case !ok && ctx.Err() != nil:
		return true, context.Cause(ctx)
	case !ok:
		return true, &model.Error{Kind: model.Broken, Message: errNoEnd.Error(), Err: errNoEnd}
	case p.err != nil:
		return true, p.err
	}
	if err := s.take(p.event); err != nil {
		return true, err
	}
	return p.event.Kind == model.Done, nil
}

func send(ctx context.Context, to chan<- streamItem, p streamItem) bool {
	select {
	case to <- p:
		return true
	case <-ctx.Done():
		return false
	}
}
