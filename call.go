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

// cancelGrace is how long a tool that was cancelled may take to end by
// itself before its caller goes on without it.
const cancelGrace = 500 * time.Millisecond

// Call runs one tool call from arrival to reply. Every caller comes through
// here, whatever its door, and every kind of tool.
//
// The error is a [*tool.Error]. When Call returns, the call is recorded.
// After ctx ends Call returns within a second, whatever the tool does.
func (r *Runtime) Call(ctx context.Context, req tool.Call) (res *tool.Result, err error) {
	ctx, release, err := r.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	c := r.newCallState(req)
	ctx, unregister, err := r.registerCall(ctx, c)
	defer unregister()
	defer func() { res, err = r.finishCall(ctx, c, res, err) }() // record, whatever happened
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

// acquire joins the life of a call to that of the runtime: Close cancels it,
// waits for it, and lets no other begin.
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

// registerCall makes a call one that [Runtime.Cancel] ends, and refuses one whose id is
// another's: that of a call under way, or none of a call at all.
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

// A callState is a call on its way.
type callState struct {
	tool.Call
	agent   *agent.Spec // nil when there is none of that name
	arrived time.Time
	input   []byte // the arguments as they came
	repairs []tool.Repair
	renamed bool // the name was taken in lower case
	started bool // its record exists
	inTurn  bool // it is part of a conversation that is going on
}

// newCallState gives a call what it lacks and tells that it has arrived.
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

// lookup finds the tool: the newest of that name that is offered to the
// caller. A name in another case is taken for the tool in lower case.
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
	if why := r.customError(c.Tool); why != "" { // the model can tell the person
		missing.Err, missing.Hint = fmt.Errorf("%w %s", missing.Err, why), ""
	}
	return tool.Tool{}, r.invalidCall(ctx, c, missing)
}

// policyError is the error of everything while the rules are broken.
func (r *Runtime) policyError(name string) error {
	if r.opt.PolicyError == "" {
		return nil
	}
	return &tool.Error{Kind: tool.Denied, Code: "invalid-policy", Tool: name,
		Err: fmt.Errorf("everything is denied because the config is broken: %s", r.opt.PolicyError)}
}

// find looks the tool up among those that are there.
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

// selectTool notes which tool the call goes to. What asks for a tool from outside
// says what that tool looks like, because it may change.
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

// invalidCall lets the tool that catches such calls answer for one that was not
// understood, so that the model gets a result it knows how to read.
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

// check holds the arguments against the schema; afterwards c.Input is the
// checked value.
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

// publishCall publishes an event of a call. Plugins and hook commands hear of a
// call that is part of a conversation by its messages.
func (r *Runtime) publishCall(c *callState, p event.Payload) {
	if c.inTurn {
		r.events.publishQuietly(p)
	} else {
		r.events.publish(p)
	}
}

// run hands the call to its tool.
func (r *Runtime) run(ctx context.Context, t tool.Tool, c *callState) (*tool.Result, error) {
	r.publishCall(c, event.CallRunning{ID: c.ID, Session: c.Session, Tool: c.Tool, Input: bytes.Clone(c.Input)})
	if err := r.loops.check(ctx, c); err != nil {
		return nil, err
	}
	own := c.Call // a tool that is left behind keeps its own copy
	res, err := r.waitOrAbandon(ctx, func() (*tool.Result, error) { return t.Run(ctx, &own) })
	if e, ok := r.registry.newest(c.Tool); ok && !e.builtin && !e.spec.ReadOnly {
		r.invalidateFiles()
	}
	return r.completeResult(res), err
}

// waitOrAbandon waits for f, but not for one that does not end when it is told to.
func (r *Runtime) waitOrAbandon(ctx context.Context, f func() (*tool.Result, error)) (*tool.Result, error) {
	type outcome struct {
		res *tool.Result
		err error
	}
	done := make(chan outcome, 1)
	r.workers.run(func() {
		o := outcome{err: errors.New("the tool ended its goroutine instead of returning")}
		defer func() { done <- o }() // also when it does just that
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

// guard turns a panic into an error of this call.
func guard(f func() (*tool.Result, error)) (res *tool.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, &toolPanic{value: p, stack: debug.Stack()}
		}
	}()
	return f()
}

// completeResult gives a result what the wire form promises.
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
