package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"time"

	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// recordTime is how long the answer to a call that goes on waits for its record.
const recordTime = 10 * time.Second

type callInput struct {
	Session string `path:"session" maxLength:"256"`
	Call    string `path:"call" maxLength:"256"`
}

type callsInput struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Before string `query:"before" maxLength:"256" doc:"what the page before gave as next"`
	State  string `query:"state" enum:"running,completed,error,interrupted"`
	Tool   string `query:"tool" maxLength:"256"`
}

type sessionCallsInput struct {
	Session string `path:"session" maxLength:"256"`
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Before  string `query:"before" maxLength:"256" doc:"what the page before gave as next"`
	State   string `query:"state" enum:"running,completed,error,interrupted"`
	Tool    string `query:"tool" maxLength:"256"`
}

type calls struct {
	Calls []record.Call `json:"calls" doc:"the newest first, without input and result"`
	More  bool          `json:"more" doc:"there are calls before these"`
	Next  string        `json:"next,omitempty" doc:"where they begin: what to ask for as before; absent where there are none"`
}

type newCallInput struct {
	Body struct {
		Tool    string          `json:"tool" minLength:"1" maxLength:"256"`
		Input   json.RawMessage `json:"input,omitempty" doc:"the arguments, an object; none when absent"`
		Args    json.RawMessage `json:"args,omitempty" doc:"another name for input; only one of them may be given"`
		Session string          `json:"session,omitempty" maxLength:"256" doc:"calls of one session share todos, approvals and what was read; all that name none share one"`
		Agent   string          `json:"agent,omitempty" maxLength:"256" doc:"whose rules apply; the default agent's when absent"`
		ID      string          `json:"id,omitempty" maxLength:"256" doc:"of the call, unique in its session; made when absent"`
		Wait    *bool           `json:"wait,omitempty" default:"true" doc:"answer when the call is over, and cancel it when the client leaves"`
	} `nameHint:"CallRequest"`
}

// called is a call that was made.
type called struct {
	ID      string       `json:"id"`
	Session string       `json:"session"`
	Result  *tool.Result `json:"result,omitempty" doc:"absent of a call that goes on"`
}

// calledReply is the answer to a call: 200 with its result, or 202.
type calledReply struct {
	Status int
	Body   called
}

func (s *Server) routeCalls() {
	route(s, about{at: "GET /v1/calls", id: "listCalls", tag: "calls", fails: []int{422}, summary: "The calls of all sessions, newest first"},
		func(ctx context.Context, in *callsInput) (*body[calls], error) {
			return s.calls(ctx, record.CallQuery{Limit: in.Limit, Before: in.Before, State: in.State, Tool: in.Tool})
		})
	route(s, about{at: "GET /v1/sessions/{session}/calls", id: "listSessionCalls", tag: "calls", fails: []int{404, 422},
		summary: "The calls of a session, newest first"},
		func(ctx context.Context, in *sessionCallsInput) (*body[calls], error) {
			if _, err := s.rt.Records().Session(ctx, in.Session); err != nil {
				return nil, err
			}
			return s.calls(ctx, record.CallQuery{Session: in.Session, Limit: in.Limit, Before: in.Before, State: in.State, Tool: in.Tool})
		})
	route(s, about{at: "GET /v1/sessions/{session}/calls/{call}", id: "getCall", tag: "calls", fails: []int{404, 422},
		summary: "All that is kept of a call"},
		func(ctx context.Context, in *callInput) (*body[record.Call], error) {
			rec, err := s.rt.Records().Call(ctx, in.Session, in.Call)
			if err != nil {
				return nil, err
			}
			rec.Result = wholeResult(rec.Result)
			return answerOf(rec), nil
		})
	route(s, about{at: "POST /v1/calls", id: "call", tag: "calls", fails: []int{403, 404, 409, 422, 503}, summary: "Call a tool",
		text: "Answers with the result when the call is over; a call that fails is a problem that names its kind. With wait set to " +
			"false it answers with 202 at once, and events tell how the call goes on.",
		answers: map[int]reflect.Type{http.StatusAccepted: reflect.TypeFor[called]()},
	}, s.call)
	route(s, about{at: "POST /v1/sessions/{session}/calls/{call}/cancel", id: "cancelCall", tag: "calls", fails: []int{404, 422},
		summary: "End a call that is under way, whoever made it"},
		func(_ context.Context, in *callInput) (*nothing, error) {
			if !s.rt.Cancel(in.Session, in.Call) {
				return nil, notFound("The call %q does not run here.", in.Call)
			}
			return &nothing{}, nil
		})
	route(s, about{at: "POST /v1/sessions/{session}/calls/{call}/background", id: "backgroundCall", tag: "calls", fails: []int{404, 422},
		summary: "Let a running command go on in the background", text: "Its call ends, and the command becomes a job."},
		func(_ context.Context, in *callInput) (*nothing, error) {
			if !s.rt.Jobs().Background(in.Session, in.Call) {
				return nil, notFound("The call %q runs no command here that could go on in the background.", in.Call)
			}
			return &nothing{}, nil
		})
}

// calls asks for one more than is wanted, to know whether there are more.
func (s *Server) calls(ctx context.Context, q record.CallQuery) (*body[calls], error) {
	limit := q.Limit
	q.Limit++
	rows, err := s.rt.Records().Calls(ctx, q)
	if errors.Is(err, record.ErrNotFound) {
		return nil, badCursor()
	}
	if err != nil {
		return nil, err
	}
	if len(rows) <= limit {
		return answerOf(calls{Calls: list(rows)}), nil
	}
	return answerOf(calls{Calls: rows[:limit], More: true, Next: rows[limit-1].Cursor}), nil
}

// call makes a call.
func (s *Server) call(ctx context.Context, in *newCallInput) (*calledReply, error) {
	b := in.Body
	if b.Args != nil && b.Input != nil {
		return nil, badRequest("input and args are two names of one thing: give one of them", "body", "args")
	}
	if b.Input == nil {
		b.Input = b.Args
	}
	c := tool.Call{ID: b.ID, Session: b.Session, Agent: b.Agent, Tool: b.Tool, Input: b.Input}
	if c.Session == "" {
		c.Session = s.session()
	}
	if c.ID == "" {
		c.ID = s.rt.NewID("call")
	}
	if b.Wait != nil && !*b.Wait {
		return s.detachCall(ctx, c, b.ID != "")
	}
	select {
	case s.waits <- struct{}{}:
		defer func() { <-s.waits }()
	default:
		return nil, fullProblem()
	}
	ctx, leave, err := s.beginOperation(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	res, err := s.rt.Call(ctx, c)
	if err != nil {
		p := problemOf(err)
		p.Call, p.Session = c.ID, c.Session
		return nil, p
	}
	return &calledReply{http.StatusOK, called{ID: c.ID, Session: c.Session, Result: wholeResult(res)}}, nil
}

// detachCall makes a call that goes on when the client leaves. Its failure is
// told by an event, so an id that is taken has to be told now: nobody could
// tell the two calls apart.
func (s *Server) detachCall(ctx context.Context, c tool.Call, named bool) (*calledReply, error) {
	if named {
		if _, err := s.rt.Records().Call(ctx, c.Session, c.ID); err == nil {
			p := badRequest("this session has a call with this id already: give every call an id of its own, or none", "body", "id")
			p.Code = "duplicate-id"
			return nil, p
		}
	}
	life, leave, err := s.detach()
	if err != nil {
		return nil, err
	}
	kept, forget := s.watch.expect(c.Session, c.ID)
	done := make(chan struct{})
	go func() {
		defer leave()
		defer close(done)
		defer forget()
		_, _ = s.rt.Call(life, c) // it is recorded, and told by an event
	}()
	late := time.NewTimer(recordTime)
	defer late.Stop()
	select { // so that whoever asks for the call next finds it
	case <-kept:
	case <-done:
	case <-late.C: // a hook takes its time
	case <-ctx.Done():
	}
	return &calledReply{http.StatusAccepted, called{ID: c.ID, Session: c.Session}}, nil
}
