package helve

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"helve/tool"
)

// cancelGrace is how long a tool that was cancelled may take to end by
// itself before its caller goes on without it.
const cancelGrace = 500 * time.Millisecond

// Call runs one tool call from arrival to reply. Every caller comes through
// here: the library, the command, the HTTP API and the MCP server, for
// built-in, custom and MCP tools alike.
//
// The error is a [*tool.Error]. When Call returns, the call is recorded.
// After ctx ends Call returns within a second, whatever the tool does.
func (r *Runtime) Call(ctx context.Context, req tool.Call) (res *tool.Result, err error) {
	c := r.begin(req)
	defer func() { res, err = r.finish(ctx, c, res, err) }() // record, whatever happened

	t, err := r.lookup(c)
	if err != nil {
		return nil, err
	}
	if err := r.check(t, c); err != nil {
		return nil, err
	}
	if err := r.start(ctx, c); err != nil {
		return nil, err
	}
	if res, err = r.before(ctx, t, c); res != nil || err != nil {
		return res, err
	}
	res, err = r.run(ctx, t, c) // the tool asks for permission through c
	if err != nil {
		return nil, err
	}
	r.bound(c, res)
	if err := r.after(ctx, c, res); err != nil {
		return nil, err
	}
	return res, nil
}

// A flight is a call on its way.
type flight struct {
	tool.Call
	agent    *Agent // nil when there is none of that name
	arrived  time.Time
	original []byte // the arguments as they came
	repairs  []tool.Repair
	renamed  bool // the name was taken in lower case
	started  bool // its record exists
}

// begin gives a call what it lacks and tells that it has arrived.
func (r *Runtime) begin(req tool.Call) *flight {
	c := &flight{Call: req, arrived: r.now(), original: req.Input}
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
	c.agent = r.agent(c.Agent)
	if c.agent != nil {
		c.Agent = c.agent.Name
	}
	c.Host = &host{r: r, agent: c.agent}
	shown := c.Call
	shown.Input = asJSON(c.original)
	r.feed.publish(CallStarted{Call: shown})
	return c
}

// lookup finds the tool: the newest of that name that is offered to the
// caller. A name in another case is taken for the tool in lower case.
func (r *Runtime) lookup(c *flight) (tool.Tool, error) {
	if r.opt.PolicyError != "" {
		return tool.Tool{}, &tool.Error{Kind: tool.Denied, Code: "invalid-policy", Tool: c.Tool,
			Err: fmt.Errorf("everything is denied because the permission rules can not be trusted: %s", r.opt.PolicyError)}
	}
	if c.agent == nil {
		return tool.Tool{}, &tool.Error{Kind: tool.InvalidInput, Code: "unknown-agent", Tool: c.Tool,
			Err: fmt.Errorf("there is no agent called %q; there are %s", c.Agent, strings.Join(r.agentNames(), ", "))}
	}
	a := r.audience(c)
	if e, ok := r.available(c.Tool, a, c.agent); ok {
		return e.tool, nil
	}
	if lower := strings.ToLower(c.Tool); lower != c.Tool {
		if e, ok := r.available(lower, a, c.agent); ok {
			c.Tool, c.renamed = lower, true
			return e.tool, nil
		}
	}
	return tool.Tool{}, r.misfit(c, unavailable(c.Tool, r.registry.offered(a, c.agent.Policy.Hides)))
}

func (r *Runtime) available(name string, a tool.Audience, agent *Agent) (*entry, bool) {
	e, ok := r.registry.newest(name)
	if !ok || !e.spec.Catches && agent.Policy.Hides(e.spec.Permission) {
		return nil, false
	}
	_, ok = r.registry.offer(e, a)
	return e, ok
}

// misfit lets the tool that catches such calls answer for one that was not
// understood, so that the model gets a result it knows how to read.
func (r *Runtime) misfit(c *flight, e *tool.Error) error {
	catcher, ok := r.registry.catcher()
	if !ok {
		e.Tool = c.Tool
		return e
	}
	answering := c.Call
	answering.Input = asJSON(map[string]string{"tool": c.Tool, "error": e.Error()})
	res, err := catcher.tool.Run(context.Background(), &answering)
	if err == nil {
		r.bound(c, res)
		e.Answer = res
	}
	c.Tool, e.Tool = catcher.spec.Name, catcher.spec.Name
	return e
}

// check holds the arguments against the schema; afterwards c.Input is the
// checked value.
func (r *Runtime) check(t tool.Tool, c *flight) error {
	repairs, err := t.Check(&c.Call, r.opt.Repair)
	if err == nil {
		c.repairs = append(c.repairs, repairs...)
		return nil
	}
	e := asError(err)
	if e.Garbled && !c.renamed {
		return r.misfit(c, e)
	}
	return e
}

// before lets every hook see the call. Arguments that a hook rewrote are
// checked again, so that what runs is what was checked.
func (r *Runtime) before(ctx context.Context, t tool.Tool, c *flight) (*tool.Result, error) {
	for _, h := range r.opt.Hooks {
		if h.Before == nil {
			continue
		}
		was := bytes.Clone(c.Input)
		res, err := guard(func() (*tool.Result, error) { return h.Before(ctx, &c.Call) })
		if err != nil {
			return nil, refusal(err)
		}
		if res != nil {
			return r.complete(res), nil
		}
		if !bytes.Equal(was, c.Input) {
			if err := r.check(t, c); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// run hands the call to its tool and waits, but not for a tool that does not
// end when it is told to.
func (r *Runtime) run(ctx context.Context, t tool.Tool, c *flight) (*tool.Result, error) {
	r.feed.publish(CallRunning{ID: c.ID, Session: c.Session, Tool: c.Tool})
	if err := r.doom.check(ctx, c); err != nil {
		return nil, err
	}
	type outcome struct {
		res *tool.Result
		err error
	}
	done := make(chan outcome, 1)
	own := c.Call // a tool that is left behind keeps its own copy
	r.working.Go(func() {
		res, err := guard(func() (*tool.Result, error) { return t.Run(ctx, &own) })
		done <- outcome{res, err}
	})
	select {
	case o := <-done:
		return r.complete(o.res), o.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(cancelGrace)
	defer timer.Stop()
	select {
	case o := <-done: // a result that is there is not thrown away
		return r.complete(o.res), o.err
	case <-timer.C:
		return nil, context.Cause(ctx)
	}
}

// guard turns a panic into an error of this call.
func guard(f func() (*tool.Result, error)) (res *tool.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, &panicked{value: p, stack: debug.Stack()}
		}
	}()
	return f()
}

// after lets every hook see the result.
func (r *Runtime) after(ctx context.Context, c *flight, res *tool.Result) error {
	for _, h := range r.opt.Hooks {
		if h.After == nil {
			continue
		}
		_, err := guard(func() (*tool.Result, error) { return nil, h.After(ctx, &c.Call, res) })
		if err != nil {
			return refusal(err)
		}
	}
	return nil
}

// complete gives a result what the wire form promises.
func (r *Runtime) complete(res *tool.Result) *tool.Result {
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
