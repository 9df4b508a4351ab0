package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Handlers take part in a call that [Client.Do] makes. All are optional. They
// may be called from other goroutines, but each one at a time.
type Handlers struct {
	// Permission answers what the call wants to be allowed. Without it the call
	// waits until somebody else does, in the console, say. The context ends with
	// the call, and the handler has to return then. An error ends the call.
	Permission func(ctx context.Context, r PermissionRequest) (PermissionReply, error)
	// Question answers questions: for each, the labels picked or words of one's
	// own. Nil dismisses them.
	Question func(ctx context.Context, r QuestionRequest) ([][]string, error)
	// Progress sees what the tool reports while it works. Each report replaces
	// the one before.
	Progress func(CallProgressEvent)
}

// cancelTime is how long telling the server that a call is to end may take.
const cancelTime = 5 * time.Second

// Do makes a call from beginning to end: it starts it, shows its progress, has
// its requests answered, and returns its result. A call that fails is a
// [*Problem]. The call outlives lost connections, and ends when ctx does.
func (c *Client) Do(ctx context.Context, r CallRequest, h Handlers) (ToolResult, error) {
	r.Wait = new(bool) // false: events tell how it goes on
	d := &doing{c: c, r: r, h: h, mine: map[callKey]bool{}, family: map[string]bool{}, met: map[string]bool{}}
	life, end := context.WithCancelCause(ctx)
	d.end = end
	res, err := d.followCall(life)
	end(nil)
	d.handlers.Wait()
	if err == nil {
		return *res, nil
	}
	if cause := context.Cause(life); ctx.Err() == nil && errors.Is(err, cause) {
		err = cause // of a handler
	}
	if d.id != "" && !d.over {
		d.cancel(ctx)
	}
	return ToolResult{}, err
}

// A callKey is a call: its id is its own only within its session.
type callKey struct{ session, id string }

// doing is a call that is made.
type doing struct {
	c        *Client
	r        CallRequest
	h        Handlers
	end      context.CancelCauseFunc
	id       string // "" before it has started
	session  string
	over     bool
	mine     map[callKey]bool // it, and the calls that it makes
	family   map[string]bool  // the sessions of agents that it has started
	met      map[string]bool  // the requests that were handed on
	handlers sync.WaitGroup
	turn     [2]sync.Mutex // of permissions and questions: one at a time each
}

// followCall reads events until the call is over.
func (d *doing) followCall(ctx context.Context) (*ToolResult, error) {
	kinds := []string{"call.started", "call.progress", "call.finished", "permission.asked", "question.asked"}
	for e, err := range d.c.Events(ctx, EventQuery{Types: kinds}) {
		if err != nil {
			return nil, err
		}
		res, err := d.take(ctx, e)
		if res != nil || err != nil {
			return res, err
		}
	}
	return nil, errors.New("client: the stream of events ended") // it ends with an error, so never
}

// take sees whether an event is about the call. A result, or an error, is the
// end.
func (d *doing) take(ctx context.Context, e Event) (*ToolResult, error) {
	if e.Type == EventReload {
		return d.reload(ctx)
	}
	body, err := e.Body()
	if err != nil {
		return nil, err
	}
	switch b := body.(type) {
	case CallStartedEvent:
		if d.family[b.Call.Session] || d.mine[callKey{b.Call.Session, b.Call.Parent}] {
			d.mine[callKey{b.Call.Session, b.Call.ID}] = true
		}
	case CallProgressEvent:
		return nil, d.progress(ctx, b)
	case PermissionRequest:
		d.permission(ctx, b)
	case QuestionRequest:
		d.question(ctx, b)
	case CallFinishedEvent:
		if b.ID == d.id && b.Session == d.session {
			d.over = true
			return finished(b.ID, b.Session, b.Result, b.Error)
		}
	}
	return nil, nil
}

// progress shows a report, and notes the session of an agent that it tells of:
// what that one asks is asked for the call.
func (d *doing) progress(ctx context.Context, p CallProgressEvent) error {
	if p.ID == d.id && p.Session == d.session && d.h.Progress != nil {
		d.h.Progress(p)
	}
	child, _ := p.Metadata["sessionId"].(string)
	if child == "" || d.family[child] || !d.mine[callKey{p.Session, p.ID}] {
		return nil
	}
	d.family[child] = true
	return d.waiting(ctx) // it may have asked before we knew it
}

// reload starts the call when the stream stands, and looks what has become of
// it where events were lost.
func (d *doing) reload(ctx context.Context) (*ToolResult, error) {
	if d.id == "" {
		started, err := d.c.Call(ctx, d.r)
		if err != nil {
			return nil, err
		}
		d.id, d.session = started.ID, started.Session
		d.mine[callKey{d.session, d.id}] = true
		return nil, nil
	}
	rec, err := d.c.GetCall(ctx, d.session, d.id)
	if err != nil {
		return nil, fmt.Errorf("client: looking what has become of the call %s: %w", d.id, err)
	}
	if rec.Result != nil || rec.Error != nil || rec.Ended != 0 {
		d.over = true
		return finished(d.id, d.session, rec.Result, rec.Error)
	}
	return nil, d.waiting(ctx)
}

// waiting looks at all that waits for an answer.
func (d *doing) waiting(ctx context.Context) error {
	all, err := d.c.ListRequests(ctx)
	if err != nil {
		return err
	}
	for _, p := range all.Permissions {
		d.permission(ctx, p)
	}
	for _, q := range all.Questions {
		d.question(ctx, q)
	}
	return nil
}

// finished is the result of a call that is over, or what it failed with.
func finished(call, session string, res *ToolResult, failed *CallError) (*ToolResult, error) {
	if res != nil {
		return res, nil
	}
	p := &Problem{Call: call, Session: session, Kind: "internal", Detail: "The call has ended without a result."}
	if failed != nil {
		p.Kind, p.Code, p.Detail, p.Hint = failed.Kind, failed.Code, failed.Message, failed.Hint
	}
	p.Status = statusOf(p.Kind)
	p.Title = http.StatusText(p.Status)
	return nil, p
}

// ours tells whether a request is one of the call, or of what it has started.
func (d *doing) ours(session string, of *PermissionCallRef) bool {
	return d.family[session] || of != nil && d.mine[callKey{session, of.CallID}]
}

// permission has a request answered that the call waits for.
func (d *doing) permission(ctx context.Context, r PermissionRequest) {
	if d.h.Permission == nil || d.met[r.ID] || !d.ours(r.SessionID, r.Tool) {
		return
	}
	d.handleRequest(ctx, r.ID, 0, func() error {
		reply, err := d.h.Permission(ctx, r)
		if err != nil {
			return err
		}
		return d.c.retry(ctx, func() error { return d.c.ReplyPermission(ctx, r.ID, reply) })
	})
}

// question has questions answered that the call waits for.
func (d *doing) question(ctx context.Context, r QuestionRequest) {
	if d.h.Question == nil || d.met[r.ID] || !d.ours(r.SessionID, r.Tool) {
		return
	}
	d.handleRequest(ctx, r.ID, 1, func() error {
		answers, err := d.h.Question(ctx, r)
		if err != nil {
			return err
		}
		if answers == nil {
			return d.c.retry(ctx, func() error { return d.c.DismissQuestion(ctx, r.ID) })
		}
		return d.c.retry(ctx, func() error { return d.c.AnswerQuestion(ctx, r.ID, QuestionAnswer{Answers: answers}) })
	})
}

// handleRequest runs a handler while events go on. A person may take their time. What
// waits can be answered only once, so that to say it again is harmless.
func (d *doing) handleRequest(ctx context.Context, id string, turn int, handle func() error) {
	d.met[id] = true
	d.handlers.Go(func() {
		d.turn[turn].Lock()
		defer d.turn[turn].Unlock()
		if ctx.Err() != nil {
			return
		}
		err := handle()
		var p *Problem
		if err == nil || errors.As(err, &p) && p.Code == "not-found" { // somebody was faster
			return
		}
		d.end(err)
	})
}

// cancel tells the server that nobody waits for the call any more.
func (d *doing) cancel(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	_ = d.c.CancelCall(ctx, d.session, d.id) // it may be over, or the server gone
}
