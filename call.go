package helve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// cancelGrace is how long a cancelled tool may take to end before the call returns without it.
const cancelGrace = 500 * time.Millisecond

// Call runs one tool call and returns its result. Calls of every kind of tool, from every
// interface, go through it.
//
// The error is a [*tool.Error]. When Call returns, the call is recorded. After ctx ends, Call
// returns within a second, whatever the tool does.
func (r *Runtime) Call(ctx context.Context, req tool.Call) (res *tool.Result, err error) {
	ctx, release, err := r.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	c := r.newCallState(req)
	ctx, unregister, err := r.registerCall(ctx, c)
	defer unregister()
	defer func() { res, err = r.finishCall(ctx, c, res, err) }() // record the call, whatever happened
	if err != nil {
		return nil, err
	}

	t, err := r.lookup(ctx, c)
	if err != nil {
		return nil, r.loops.invalid(ctx, c, err)
	}
	if err := r.check(ctx, t, c); err != nil {
		return nil, r.loops.invalid(ctx, c, err)
	}
	if err := r.chargeBudget(c); err != nil {
		return nil, err
	}
	if err := r.start(ctx, c); err != nil {
		return nil, err
	}
	res, err = r.runBeforeHooks(ctx, t, c) // a hook may answer instead of the tool
	if err != nil {
		return nil, err
	}
	if res == nil {
		res, err = r.run(ctx, t, c) // the tool asks for permission through c
	}
	if err != nil {
		return nil, err
	}
	r.truncate(c, res)
	if err := r.runAfterHooks(ctx, c, res); err != nil {
		return nil, err
	}
	return res, nil
}

// acquire ties a call to the life of the runtime: Close cancels it and waits for it, and no call
// can begin after Close.
func (r *Runtime) acquire(ctx context.Context) (context.Context, func(), error) {
	r.closing.RLock()
	defer r.closing.RUnlock()
	if r.closed {
		return nil, nil, &tool.Error{Kind: tool.Canceled, Code: "closed", Err: permission.ErrClosed}
	}
	r.underway.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(r.ctx, func() { cancel(permission.ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
		r.underway.Done()
	}, nil
}

// registerCall makes a call one that [Runtime.Cancel] can end. It refuses an id that another
// running call has, or that is reserved and so no id of a call.
func (r *Runtime) registerCall(ctx context.Context, c *callState) (_ context.Context, done func(), err error) {
	ctx, end := context.WithCancelCause(ctx)
	free := func() { end(nil) }
	if isBackgroundID(c.ID) {
		return ctx, free, &tool.Error{Kind: tool.InvalidInput, Code: "reserved-id", Tool: c.Tool,
			Err: fmt.Errorf("ids that begin with %q are for what is done while hearing of an event: give the call another id, or none", backgroundPrefix+"_")}
	}
	key := callKey(&c.Call)
	if _, taken := r.calls.LoadOrStore(key, end); taken {
		return ctx, free, duplicate(c)
	}
	return ctx, func() {
		r.calls.Delete(key)
		free()
	}, nil
}

// A callState is a call in progress.
type callState struct {
	tool.Call
	agent   *agent.Spec // nil if there is no agent of that name
	arrived time.Time
	input   []byte // the arguments as received
	repairs []tool.Repair
	renamed bool // the tool name was matched in lower case
	started bool // its record exists
	inTurn  bool // it is part of a running conversation
}

// newCallState fills in what req leaves out and reports that the call has arrived.
func (r *Runtime) newCallState(req tool.Call) *callState {
	c := &callState{Call: req, arrived: r.now(), input: req.Input}
	if c.ID == "" {
		c.ID = r.newID("call")
	}
	if c.Session == "" {
		c.Session = r.session()
	}
	if c.Dir == "" {
		c.Dir = r.dir
	}
	if c.Client == "" {
		c.Client = r.opt.Client
	}
	if c.Provider == "" && c.Model == "" {
		c.Provider, c.Model = r.opt.Provider, r.opt.Model
	}
	c.agent = r.agentIn(c.Session, c.Agent)
	if c.agent != nil {
		c.Agent = c.agent.Name
	}
	c.Host = newHost(r, c.agent)
	c.inTurn = c.Message != "" && r.active.session(c.Session) != nil
	shown := c.Call
	shown.Input = asJSON(bytes.Clone(c.input))
	r.publishCall(c, event.CallStarted{Call: shown})
	return c
}

// lookup returns the newest tool of the call's name that is offered to the caller. If only the name
// in lower case exists, that tool is meant.
func (r *Runtime) lookup(ctx context.Context, c *callState) (tool.Tool, error) {
	if err := r.policyError(c.Tool); err != nil {
		return tool.Tool{}, err
	}
	if c.agent == nil {
		return tool.Tool{}, &tool.Error{Kind: tool.InvalidInput, Code: "unknown-agent", Tool: c.Tool,
			Err: fmt.Errorf("there is no agent called %q; there are %s", c.Agent, strings.Join(r.agentNames(), ", "))}
	}
	a := r.audience(&c.Call)
	if ctx.Err() != nil {
		return tool.Tool{}, context.Cause(ctx)
	}
	if err := r.loadForCall(ctx, c); err != nil {
		return tool.Tool{}, err
	}
	if t, ok := r.find(ctx, c, a); ok {
		return t, r.refuseLocked(c)
	}
	if r.load(ctx, c.Tool) {
		if t, ok := r.find(ctx, c, a); ok {
			return t, r.refuseLocked(c)
		}
	}
	var specs []tool.Spec
	_, err := r.waitOrAbandon(ctx, func() (*tool.Result, error) {
		r.loadCustom(ctx)
		specs = r.registry.offered(a, c.agent)
		return nil, ctx.Err()
	})
	if err != nil {
		return tool.Tool{}, err
	}
	missing := r.registry.unavailable(c.Tool, specs, a, c.agent)
	if hint := r.serverHint(c.Tool); hint != "" {
		missing.Hint = hint
	}
	if why := r.customError(c.Tool); why != "" { // so that the model can tell the person
		missing.Err, missing.Hint = fmt.Errorf("%w %s", missing.Err, why), ""
	}
	return tool.Tool{}, r.invalidCall(ctx, c, missing)
}

// policyError is the error of every call while the rules are invalid.
func (r *Runtime) policyError(name string) error {
	if r.opt.PolicyError == "" {
		return nil
	}
	return &tool.Error{Kind: tool.Denied, Code: "invalid-policy", Tool: name,
		Err: fmt.Errorf("everything is denied because the config is broken: %s", r.opt.PolicyError)}
}

// find looks the tool up among the registered ones.
func (r *Runtime) find(ctx context.Context, c *callState, a tool.Audience) (tool.Tool, bool) {
	if e, ok := r.available(ctx, c.Tool, a, c.agent); ok {
		return c.selectTool(e), true
	}
	if lower := strings.ToLower(c.Tool); lower != c.Tool {
		if e, ok := r.available(ctx, lower, a, c.agent); ok {
			c.Tool, c.renamed = lower, true
			return c.selectTool(e), true
		}
	}
	return tool.Tool{}, false
}

// selectTool records which tool the call goes to. The requests of a tool from outside carry its
// fingerprint, because such a tool may change.
func (c *callState) selectTool(e *registered) tool.Tool {
	if h, ok := c.Host.(*host); ok {
		h.policy = c.agent.Policy.Of(e.spec.Name, e.spec.Permission)
		if e.spec.External {
			h.fingerprint = e.tool.Fingerprint()
		}
	}
	return e.tool
}

func (r *Runtime) available(ctx context.Context, name string, a tool.Audience, who *agent.Spec) (*registered, bool) {
	e, ok := r.registry.newest(name)
	if !ok || !e.spec.Catches && hides(who, e.spec) {
		return nil, false
	}
	if e.spec.External && hidesTool(who, e.spec) {
		return nil, false
	}
	if e.spec.Offer == nil {
		return e, true
	}
	_, err := r.waitOrAbandon(ctx, func() (*tool.Result, error) {
		if _, ok := r.registry.offer(e, a); !ok {
			return nil, errNotOffered
		}
		return nil, nil
	})
	return e, err == nil
}

// invalidCall lets the tool for invalid calls answer one that was not understood, so that the model
// gets a result it can read.
func (r *Runtime) invalidCall(ctx context.Context, c *callState, e *tool.Error) error {
	catcher, ok := r.registry.catcher()
	if !ok {
		e.Tool = c.Tool
		return e
	}
	answering := c.Call
	answering.Input = asJSON(map[string]string{"tool": c.Tool, "error": e.Error()})
	res, err := r.waitOrAbandon(ctx, func() (*tool.Result, error) { return catcher.tool.Run(ctx, &answering) })
	if err == nil {
		r.truncate(c, res)
		e.Answer = res
	}
	c.Tool, e.Tool = catcher.spec.Name, catcher.spec.Name
	return e
}

// check validates the arguments against the schema. Afterwards c.Input is the checked value.
func (r *Runtime) check(ctx context.Context, t tool.Tool, c *callState) error {
	_, err := guard(func() (*tool.Result, error) {
		if r.opt.Strict {
			return nil, t.CheckExact(&c.Call)
		}
		repairs, err := t.Check(&c.Call, r.opt.Repair)
		c.repairs = append(c.repairs, repairs...)
		return nil, err
	})
	if err == nil {
		return nil
	}
	if e := asError(err); e.Garbled && !c.renamed {
		return r.invalidCall(ctx, c, e)
	}
	return err
}

// publishCall publishes an event of a call. Plugins and hook commands learn of a call that is part
// of a conversation from its messages instead.
func (r *Runtime) publishCall(c *callState, p event.Payload) {
	if c.inTurn {
		r.events.publishQuietly(p)
	} else {
		r.events.publish(p)
	}
}

// run lets the tool run the call.
func (r *Runtime) run(ctx context.Context, t tool.Tool, c *callState) (*tool.Result, error) {
	r.publishCall(c, event.CallRunning{ID: c.ID, Session: c.Session, Tool: c.Tool, Input: bytes.Clone(c.Input)})
	if err := r.loops.check(ctx, c); err != nil {
		return nil, err
	}
	own := c.Call // an abandoned tool keeps its own copy
	res, err := r.waitOrAbandon(ctx, func() (*tool.Result, error) { return t.Run(ctx, &own) })
	if e, ok := r.registry.newest(c.Tool); ok && !e.builtin && !e.spec.ReadOnly {
		r.invalidateFiles()
	}
	return r.completeResult(res), err
}

// waitOrAbandon waits for f, but abandons it if it does not end when cancelled.
func (r *Runtime) waitOrAbandon(ctx context.Context, f func() (*tool.Result, error)) (*tool.Result, error) {
	type outcome struct {
		res *tool.Result
		err error
	}
	done := make(chan outcome, 1)
	r.workers.run(func() {
		o := outcome{err: errors.New("the tool ended its goroutine instead of returning")}
		defer func() { done <- o }() // also if f exits its goroutine
		o.res, o.err = guard(f)
	})
	select {
	case o := <-done:
		return o.res, o.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(cancelGrace)
	defer timer.Stop()
	select {
	case o := <-done: // a result that is there is not thrown away
		return o.res, o.err
	case <-timer.C:
		return nil, context.Cause(ctx)
	}
}

// guard turns a panic of f into an error of this call.
func guard(f func() (*tool.Result, error)) (res *tool.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, &toolPanic{value: p, stack: debug.Stack()}
		}
	}()
	return f()
}

// completeResult fills in the fields that the JSON form of a result always has.
func (r *Runtime) completeResult(res *tool.Result) *tool.Result {
	if res == nil {
		return nil
	}
	if res.Metadata == nil {
		res.Metadata = map[string]any{}
	}
	for i := range res.Attachments {
		if res.Attachments[i].ID == "" {
			res.Attachments[i].ID = r.newID("prt")
		}
		if res.Attachments[i].Type == "" {
			res.Attachments[i].Type = "file"
		}
	}
	return res
}
