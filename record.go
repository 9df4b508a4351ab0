package helve

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"helve/internal/store"
	"helve/tool"
)

// flying is the set of calls under way.
type flying struct{ ids sync.Map }

func (f *flying) add(c *tool.Call)  { f.ids.Store(flyingKey(c), nil) }
func (f *flying) drop(c *tool.Call) { f.ids.Delete(flyingKey(c)) }
func (f *flying) has(c *tool.Call) bool {
	_, ok := f.ids.Load(flyingKey(c))
	return ok
}

// flyingKey names a call: ids are unique within a session only.
func flyingKey(c *tool.Call) [2]string { return [2]string{c.Session, c.ID} }

// start records that a call is about to run, before it does.
func (r *Runtime) start(ctx context.Context, c *flight) error {
	s, err := r.vault.get()
	if err != nil {
		return broken("opening the store", err)
	}
	err = s.AddSession(ctx, store.Session{
		ID: c.Session, Dir: c.Dir, Project: r.project, Agent: c.Agent, Created: c.arrived.UnixMilli(),
	})
	if err != nil {
		return broken("recording the session", err)
	}
	err = s.Begin(ctx, c.row())
	if errors.Is(err, store.ErrDuplicate) {
		return duplicate(c)
	}
	if err != nil {
		return broken("recording the call", err)
	}
	c.started = true
	r.flying.add(&c.Call)
	return nil
}

func duplicate(c *flight) *tool.Error {
	return &tool.Error{Kind: tool.InvalidInput, Code: "duplicate-id", Tool: c.Tool,
		Err: fmt.Errorf("this session has a call with the id %q already: give every call an id of its own, or none", c.ID)}
}

func broken(doing string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &tool.Error{Kind: tool.Internal, Code: "store", Err: fmt.Errorf("%s: %w", doing, err)}
}

// finish gives the error its kind, records how the call ended, and tells who
// watches. What it returns is the answer: when a result can not be recorded,
// it is not given out either.
func (r *Runtime) finish(ctx context.Context, c *flight, res *tool.Result, err error) (*tool.Result, error) {
	if c.started {
		r.flying.drop(&c.Call)
	}
	var failure *tool.Error
	if err != nil {
		failure = r.failure(ctx, c, err)
		res = nil
	} else if len(c.repairs) > 0 {
		res.Metadata["repairs"] = c.repairs
	}
	if err := r.record(c, res, failure); errors.Is(err, store.ErrDuplicate) {
		failure = duplicate(c)
	} else if err != nil {
		failure = asError(broken("recording how the call ended", err))
		failure.Tool, res = c.Tool, nil
		r.log.Error("a call could not be recorded", "call", c.ID, "error", err)
	}
	done := CallFinished{ID: c.ID, Session: c.Session, Tool: c.Tool, State: string(store.Completed), Result: res}
	if failure != nil {
		done.State = string(store.Failed)
		done.Error = &CallError{Kind: failure.Kind, Code: failure.Code, Message: failure.Error(), Hint: failure.Hint}
		r.feed.publish(done)
		return nil, failure
	}
	r.feed.publish(done)
	return res, nil
}

func (r *Runtime) failure(ctx context.Context, c *flight, err error) *tool.Error {
	e := *asError(err) // a tool may keep the error it returned
	if e.Tool == "" {
		e.Tool = c.Tool
	}
	if e.Code == "" {
		e.Code = string(e.Kind)
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) && e.Kind == tool.Failed {
		e.Kind, e.Code = tool.Canceled, "canceled"
	}
	if p, ok := errors.AsType[*panicked](err); ok {
		r.log.Error("a tool panicked", "tool", c.Tool, "call", c.ID, "panic", p.value, "stack", string(p.stack))
	}
	return &e
}

func (r *Runtime) record(c *flight, res *tool.Result, failure *tool.Error) error {
	s, err := r.vault.get()
	if err != nil {
		return err
	}
	row := c.row()
	row.State, row.Result, row.Ended = store.Completed, res, r.now().UnixMilli()
	if failure != nil {
		row.State = store.Failed
		row.Error = &store.Failure{Kind: failure.Kind, Code: failure.Code, Message: failure.Error(), Hint: failure.Hint}
		row.Result = failure.Answer
	}
	if c.started {
		return s.Finish(row)
	}
	if failure != nil && (failure.Code == "duplicate-id" || failure.Code == "store") {
		return nil // there is no row to write, and the caller is told why
	}
	err = s.AddSession(context.Background(), store.Session{
		ID: c.Session, Dir: c.Dir, Project: r.project, Agent: c.Agent, Created: c.arrived.UnixMilli(),
	})
	if err != nil {
		return err
	}
	return s.Record(row)
}

func (c *flight) row() store.Call {
	return store.Call{
		ID: c.ID, Session: c.Session, Parent: c.Parent, Tool: c.Tool, Agent: c.Agent, Model: c.Model,
		Input: string(c.original), State: store.Running, Started: c.arrived.UnixMilli(),
	}
}
