package mcpserve

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/tool"
)

// clientKind is the client kind of calls over MCP.
const clientKind = "mcp"

// How many calls of a session are let in.
const (
	maxAtWork  = 256   // at work at one time
	maxWaiting = 10000 // at work or waiting for that
)

// A callState is a call in progress.
type callState struct {
	ctx    context.Context // of the request; ends with the session too
	stream context.Context // of the HTTP request that waits for the answer, nil for others
	report *reporter       // nil where the client wants to know nothing on the way
}

// A callOutcome is how a call has ended: with a result, with a failure that the model sees, or with
// a protocol error.
type callOutcome struct {
	res     *tool.Result
	failure error
	err     error
}

// callTool makes a call that came through the SDK.
func (se *session) callTool(ctx context.Context, p *mcp.CallToolParamsRaw, stream context.Context) (mcp.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(se.life, func() { cancel(context.Cause(se.life)) })()
	out := se.perform(ctx, p, stream)
	if out.err != nil {
		return nil, out.err
	}
	return se.outcome(out), nil
}

// outcome puts the end of a call into the protocol's form.
func (se *session) outcome(out callOutcome) *mcp.CallToolResult {
	if out.failure != nil {
		return failureResult(out.failure)
	}
	return se.result(out.res)
}

// perform makes a call. ctx ends with the session too.
func (se *session) perform(ctx context.Context, p *mcp.CallToolParamsRaw, stream context.Context) callOutcome {
	free, err := se.slot(ctx)
	if err != nil {
		return callOutcome{err: err}
	}
	defer free()
	h, err := se.currentRuntime(ctx)
	if err != nil {
		return callOutcome{err: se.runtimeError(ctx, err)}
	}
	o := se.s.opt
	c := tool.Call{
		ID: h.rt.NewID("call"), Session: se.id, Agent: o.Agent, Model: o.Model, Provider: o.Provider,
		Client: clientKind, Tool: p.Name, Input: p.Arguments, Show: shows(se.program),
	}
	f := &callState{ctx: ctx, stream: stream}
	if token := p.GetProgressToken(); token != nil {
		f.report = newReporter(ctx, true, func(ctx context.Context, n float64, message string) error {
			return se.ss.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: message})
		})
	} else if se.verbose.Load() {
		f.report = newReporter(ctx, false, func(ctx context.Context, _ float64, message string) error {
			se.logToClient(ctx, "debug", map[string]any{"event": "call.progress", "tool": p.Name, "call": c.ID, "message": message})
			return nil
		})
	}
	if err := se.registerCall(h, c.ID, f); err != nil {
		f.report.stop()
		return callOutcome{err: se.runtimeError(ctx, err)}
	}
	logged := se.logged.Load()
	if logged {
		se.logToClient(ctx, "debug", map[string]any{"event": "call.started", "tool": p.Name, "call": c.ID})
	}
	if h.leave != nil { // others see it, and want to know whose it is
		se.named.Do(func() {
			if err := h.rt.Records().OpenSession(ctx, se.id, se.client+" (MCP)"); err != nil {
				se.s.log.Warn("a session has no title", "session", se.id, "error", err)
			}
		})
	}
	start := time.Now()
	res, err := h.rt.Call(ctx, c)
	se.unregisterCall(h, c.ID)
	f.report.stop() // nothing about a call follows its answer
	if logged {
		done := map[string]any{"event": "call.finished", "tool": p.Name, "call": c.ID, "ms": time.Since(start).Milliseconds()}
		if err != nil {
			done["error"] = string(tool.KindOf(err))
		}
		se.logToClient(ctx, "info", done)
	}
	if err != nil && ctx.Err() != nil {
		return callOutcome{err: canceledError(ctx)}
	}
	return callOutcome{res: res, failure: err}
}

// canceledError is the response to a request that the client has cancelled.
func canceledError(ctx context.Context) error {
	return fmt.Errorf("the call was cancelled: %w", context.Cause(ctx))
}

// runtimeError is the response to a request of a session without a workspace.
func (se *session) runtimeError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return canceledError(ctx)
	}
	se.s.log.Error("a session has no workspace", "client", se.client, "error", err)
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}

// slot waits until the call may begin.
func (se *session) slot(ctx context.Context) (free func(), err error) {
	se.mu.Lock()
	full := se.waiting >= maxWaiting
	if !full {
		se.waiting++
	}
	se.mu.Unlock()
	if full {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("%d calls are under way: wait for some of them", maxWaiting)}
	}
	out := func() {
		se.mu.Lock()
		se.waiting--
		se.mu.Unlock()
	}
	select {
	case se.slots <- struct{}{}:
		return func() { <-se.slots; out() }, nil
	case <-ctx.Done():
		out()
		return nil, canceledError(ctx)
	}
}

// registerCall registers a call, and keeps its runtime open while the call is in progress.
func (se *session) registerCall(h *sharedRuntime, id string, f *callState) error {
	if err := se.s.halls.retain(h); err != nil {
		return err
	}
	se.mu.Lock()
	defer se.mu.Unlock()
	se.calls[id] = f
	return nil
}

func (se *session) unregisterCall(h *sharedRuntime, id string) {
	se.mu.Lock()
	delete(se.calls, id)
	se.mu.Unlock()
	se.s.halls.release(h)
}
