package helve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

const (
	// recordGrace is how long the answer to a cancelled call waits for its record.
	recordGrace = 300 * time.Millisecond
	// maxMetadata limits how many bytes of a result's metadata are passed on.
	maxMetadata = 8 << 20
)

// errStopped ends a call that a person stopped.
var errStopped = errors.New("a person stopped it")

// runningCalls is the set of calls in progress.
type runningCalls struct{ ids sync.Map }

func (f *runningCalls) add(c *tool.Call) {
	f.ids.Store(callKey(c), &tool.Call{ID: c.ID, Session: c.Session, Message: c.Message, Tool: c.Tool})
}
func (f *runningCalls) remove(c *tool.Call) { f.ids.Delete(callKey(c)) }
func (f *runningCalls) contains(c *tool.Call) bool {
	_, ok := f.ids.Load(callKey(c))
	return ok
}

// only returns a running call of a tool whose name meant accepts, if all such calls belong to one
// session.
func (f *runningCalls) only(meant func(name string) bool) (found *tool.Call, ok bool) {
	ok = true
	f.ids.Range(func(_, v any) bool {
		c := v.(*tool.Call)
		if meant(c.Tool) {
			ok = found == nil || found.Session == c.Session
			found = c
		}
		return ok
	})
	return found, ok && found != nil
}

// callKey identifies a call: ids are unique only within a session.
func callKey(c *tool.Call) [2]string { return [2]string{c.Session, c.ID} }

// start records that a call is about to run.
func (r *Runtime) start(ctx context.Context, c *callState) error {
	if r.opt.Unrecorded {
		c.started = true
		r.running.add(&c.Call)
		return nil
	}
	s, err := r.store.get()
	if err != nil {
		return broken("opening the store", err)
	}
	if err := r.inSession(ctx, s, c); err != nil {
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
	r.running.add(&c.Call)
	return nil
}

// inSession records the session of a call, and publishes one that is new.
func (r *Runtime) inSession(ctx context.Context, s *store.Store, c *callState) error {
	return r.useSession(ctx, s, record.Session{ID: c.Session, Dir: c.Dir, Agent: c.Agent, Time: record.SessionTime{Created: c.arrived.UnixMilli()}})
}

func (r *Runtime) useSession(ctx context.Context, s *store.Store, row record.Session) error {
	row.Project, row.Time.Updated = r.project, row.Time.Created
	created, err := s.UseSession(ctx, row)
	if created {
		r.events.publish(event.SessionCreated{Info: row})
	}
	return err
}

func duplicate(c *callState) *tool.Error {
	return &tool.Error{Kind: tool.InvalidInput, Code: "duplicate-id", Tool: c.Tool,
		Err: fmt.Errorf("this session has a call with the id %q already: give every call an id of its own, or none", c.ID)}
}

func broken(doing string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &tool.Error{Kind: tool.Internal, Code: "store", Err: fmt.Errorf("%s: %w", doing, err)}
}

// finishCall gives the error its kind, records how the call ended, and publishes it. It returns the
// answer: a result that cannot be recorded is not returned either.
func (r *Runtime) finishCall(ctx context.Context, c *callState, res *tool.Result, err error) (*tool.Result, error) {
	if c.started {
		r.running.remove(&c.Call)
	}
	told := event.CallFinished{ID: c.ID, Session: c.Session}
	if err == nil {
		err = r.copyResult(c, res, &told)
	}
	var failure *tool.Error
	if err != nil {
		failure, res = r.failure(ctx, c, err), nil
	}
	r.loops.finished(c, res, err)
	if err := r.recorded(ctx, c, res, failure); errors.Is(err, store.ErrDuplicate) {
		failure, res = duplicate(c), nil
	} else if err != nil {
		failure, res = asError(broken("recording how the call ended", err)), nil
		failure.Tool = c.Tool
	}
	told.Tool, told.State = c.Tool, string(record.Completed)
	if failure != nil {
		told.State, told.Result = string(record.Failed), nil
		told.Error = &record.Failure{Kind: failure.Kind, Code: failure.Code, Message: failure.Error(), Hint: failure.Hint, Reason: failure.Reason()}
		r.publishCall(c, told)
		return nil, failure
	}
	r.publishCall(c, told)
	return res, nil
}

// recorded waits for the record, but only briefly if the caller has given up, because another
// process may hold the store. The record is then written later; it says what the caller was told.
func (r *Runtime) recorded(ctx context.Context, c *callState, res *tool.Result, failure *tool.Error) error {
	if ctx.Err() == nil || failure == nil || failure.Kind != tool.Canceled {
		return r.record(c, res, failure)
	}
	done := make(chan error, 1)
	r.workers.run(func() { done <- r.record(c, res, failure) })
	timer := time.NewTimer(recordGrace)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		r.log.Info("a cancelled call is recorded late", "call", c.ID)
		return nil
	}
}

// copyResult completes a result and makes the copy for subscribers, so that nobody holds a map that
// another may still write to.
func (r *Runtime) copyResult(c *callState, res *tool.Result, told *event.CallFinished) error {
	if res == nil {
		return broken("running the tool", errors.New("it gave neither a result nor an error"))
	}
	r.completeResult(res)
	res.Tool = c.Tool
	if len(c.repairs) > 0 {
		res.Metadata["repairs"] = c.repairs
	}
	metadata, size, err := copied(res.Metadata)
	if err != nil {
		return &tool.Error{Kind: tool.Internal, Code: "bad-metadata", Err: fmt.Errorf("the metadata of the result does not encode: %w", err)}
	}
	if size > maxMetadata {
		metadata = map[string]any{"omitted": fmt.Sprintf("%d bytes of metadata: at most %d are passed on", size, maxMetadata)}
		for _, key := range []string{"truncated", "outputPath"} {
			if v, ok := res.Metadata[key]; ok {
				metadata[key] = v
			}
		}
		res.Metadata = maps.Clone(metadata)
	}
	shown := *res
	shown.Metadata = metadata
	told.Result = &shown
	return nil
}

func (r *Runtime) failure(ctx context.Context, c *callState, err error) *tool.Error {
	e := asError(err)
	if e.Tool == "" {
		e.Tool = c.Tool
	}
	canceled(ctx, e)
	e.Err = safeError(e.Err, r.limits(&c.Call).Bytes)
	if e.Answer != nil && c.Show > 0 {
		r.truncate(c, e.Answer)
	}
	if p, ok := errors.AsType[*toolPanic](err); ok {
		r.log.Error("a tool panicked", "tool", c.Tool, "call", c.ID, "panic", p.value, "stack", string(p.stack))
	}
	return e
}

func (r *Runtime) record(c *callState, res *tool.Result, failure *tool.Error) error {
	if r.opt.Unrecorded {
		return nil
	}
	s, err := r.store.get()
	if err != nil {
		return err
	}
	row := c.row()
	row.State, row.Result, row.Ended = record.Completed, res, r.now().UnixMilli()
	if failure != nil {
		row.State = record.Failed
		row.Error = &record.Failure{Kind: failure.Kind, Code: failure.Code, Message: failure.Error(), Hint: failure.Hint}
		row.Result = failure.Answer
	}
	if c.started {
		return s.Finish(row)
	}
	if failure != nil && (failure.Code == "duplicate-id" || failure.Code == "store") {
		return nil // there is no row to write, and the caller knows why
	}
	if err := r.inSession(context.Background(), s, c); err != nil {
		return err
	}
	return s.Record(row)
}

func (c *callState) row() record.Call {
	return record.Call{
		ID: c.ID, Session: c.Session, Parent: c.Parent, Tool: c.Tool, Agent: c.Agent, Model: c.Model,
		Input: string(c.input), State: record.Running, Started: c.arrived.UnixMilli(),
	}
}
