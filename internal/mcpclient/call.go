package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

const (
	progressEvery = 100 * time.Millisecond // reports to who watches
	maxReport     = 8 << 10                // bytes of one
	maxComplaint  = 8 << 10                // bytes of an error that a server gives
	deathTime     = 2 * time.Second        // for a process to be gone
)

// Why a call was given up.
var (
	errSilent = errors.New("nothing came")
	errLimit  = errors.New("it took too long")
)

// A pendingCall is a call that waits for its answer.
type pendingCall struct {
	// The channels hold only the newest value.
	progress chan *sdk.ProgressNotificationParams
	hold     chan struct{} // something is new about questions to the person

	// The counters of questions to the person since the call began; see connection.mu.
	questions int
	declines  int
	silenced  bool // nothing more is asked
	answered  bool // the person has, and that is not noticed yet
}

// progressed takes a report about a call.
func (l *connection) progressed(p *sdk.ProgressNotificationParams) {
	if p == nil {
		return
	}
	token, _ := p.ProgressToken.(string)
	l.mu.Lock()
	w := l.calls[token]
	l.mu.Unlock()
	if w == nil {
		return
	}
	for {
		select {
		case w.progress <- p:
			return
		default:
		}
		select {
		case <-w.progress: // older
		default:
		}
	}
}

// noted takes a notification of a local server.
func (l *connection) noted(method string, params json.RawMessage) {
	switch method {
	case "notifications/progress":
		var p sdk.ProgressNotificationParams
		if json.Unmarshal(params, &p) == nil {
			l.progressed(&p)
		}
	case "notifications/message":
		var m struct {
			Level, Logger string
			Data          json.RawMessage
		}
		if json.Unmarshal(params, &m) != nil {
			return
		}
		var s string
		if json.Unmarshal(m.Data, &s) != nil {
			s = string(m.Data)
		}
		l.e.log.Message(m.Level, m.Logger, s)
	case "notifications/resources/list_changed":
		l.e.news.relisted(true, false)
	case "notifications/prompts/list_changed":
		l.e.news.relisted(false, true)
	case "notifications/resources/updated":
		var p sdk.ResourceUpdatedNotificationParams
		if json.Unmarshal(params, &p) == nil {
			l.e.news.updated(p.URI)
		}
	}
}

// trackCall begins to watch over a call.
func (l *connection) trackCall() (token string, w *pendingCall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serial++
	token = "helve-" + strconv.Itoa(l.serial)
	w = &pendingCall{progress: make(chan *sdk.ProgressNotificationParams, 1), hold: make(chan struct{}, 1)}
	if l.asking {
		w.hold <- struct{}{}
	}
	l.calls[token] = w
	return token, w
}

func (l *connection) dismiss(token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.calls, token)
}

// run is the function of every tool of the server.
func (e *peer) run(ctx context.Context, c *tool.Call, name string) (*tool.Result, error) {
	o, err := e.offered(name)
	if err != nil {
		return nil, err
	}
	if err := e.askPermission(ctx, c, o); err != nil {
		return nil, err
	}
	res, retry, err := e.once(ctx, c, o)
	if err != nil && retry {
		res, _, err = e.once(ctx, c, o)
	}
	if err != nil {
		return nil, err
	}
	return ToolResult(res)
}

// once makes a call, and reports whether it can be retried if it fails: the server has not been
// reached, or it died without a response and the tool is idempotent.
func (e *peer) once(ctx context.Context, c *tool.Call, o *offer) (res *sdk.CallToolResult, retry bool, err error) {
	l, err := e.waitConnection(ctx)
	if err != nil {
		return nil, false, e.unreachable(ctx, err)
	}
	now, err := e.offered(o.name)
	if err != nil {
		return nil, false, err
	}
	if now.hash != o.hash {
		return nil, false, tool.Fail("tool-changed", "The tool %s has changed since this call began, and was not run. Call it again to use it as it is now.", o.name)
	}
	args := c.Input
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	res, heard, err := l.call(ctx, c, o.def.Tool, args)
	if err == nil {
		e.revive(l)
		return res, false, nil
	}
	retry, died := l.canRetry(ctx, o, heard, err)
	return nil, retry, e.failure(ctx, err, died)
}

// canRetry decides whether a failed call can be made once more, and reports whether the connection
// died during it.
func (l *connection) canRetry(ctx context.Context, o *offer, heard bool, err error) (retry, died bool) {
	if ctx.Err() != nil {
		return false, false
	}
	if wire, ok := wireError(err); ok {
		return wire.Code == sdk.CodeURLElicitationRequired && l.visits(ctx, wire.Data), false
	}
	unsent := neverSent(err)
	died = unsent || l.endsSoon(err)
	retry = unsent || died && !heard && (o.hint.ReadOnly || o.hint.Idempotent)
	if retry {
		l.close(broken(err))
	}
	return retry, died
}

// neverSent reports whether a call failed before it was sent. A closed connection does not imply
// that.
func neverSent(err error) bool {
	return errors.Is(err, errNotSent) || errors.Is(err, sdk.ErrSessionMissing)
}

// sendingKey is the context key of the mark that records whether a call has reached the pipe. The
// SDK in between passes on nothing else.
type sendingKey struct{}

// sending marks that a call is being written: from now on the server may have
// it.
func sending(ctx context.Context) {
	if mark, ok := ctx.Value(sendingKey{}).(*atomic.Bool); ok {
		mark.Store(true)
	}
}

// offered returns a tool as it is now.
func (e *peer) offered(name string) (*offer, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	o := e.tools.offers[name]
	if o == nil {
		return nil, tool.Fail("tool-gone", "The MCP server %q does not offer the tool %s any more, and the call was not made. Use another tool, or call it again when the server offers it; `helve mcp inspect %s` shows what it has.", e.s.Name, name, e.s.Name)
	}
	return o, nil
}

// askPermission asks whether the tool may be used, and pins it when it was.
func (e *peer) askPermission(ctx context.Context, c *tool.Call, o *offer) error {
	changed, known := e.pool.pins.Check(o.def)
	req := permission.Request{
		Permission: o.name, Patterns: []string{"*"}, Always: []string{"*"}, Fingerprint: o.hash, Changed: changed,
		Metadata: map[string]any{"server": e.s.Name, "tool": o.def.Tool, "arguments": c.Input},
	}
	if len(c.Input) == 0 {
		req.Metadata["arguments"] = json.RawMessage("{}")
	}
	if err := c.Ask(ctx, req); err != nil {
		if changed != "" && errors.Is(err, permission.ErrUnattended) {
			return &tool.Error{Kind: tool.Unattended, Code: "unattended", Err: err, Hint: fmt.Sprintf(
				"'helve mcp inspect %s' shows what has changed, and with --approve takes it as it is now.", e.s.Name)}
		}
		return err
	}
	if !known && changed == "" || changed != "" && lasting(c, req) {
		if err := e.pinTool(o.def); err != nil {
			e.pool.log.Warn("a tool could not be pinned", "tool", o.name, "error", err)
		}
	}
	return nil
}

// lasting reports whether a permission holds from now on, and not just for this call or session.
func lasting(c *tool.Call, req permission.Request) bool {
	elsewhere := *c
	elsewhere.Session = "\x00" // matches no session
	return elsewhere.Allowed(req)
}

// waitConnection returns a connection, waiting for one that is being made.
func (e *peer) waitConnection(ctx context.Context) (*connection, error) {
	limit := 2 * connectTimeout(e.s) // to connect, and to list
	ctx, cancel := context.WithTimeoutCause(ctx, limit, timedOut(limit))
	defer cancel()
	l, err := e.ensure(ctx)
	if err != nil || l.local == nil || e.s.Wall || !dying(l.pid()) {
		return l, err
	}
	// A killed process may still read what it is sent while it dies. It would be unknown afterwards
	// what it did with it.
	select {
	case <-l.dead:
	case <-time.After(deathTime):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return e.ensure(ctx)
}

// endsSoon reports whether a call failed because the connection has ended.
func (l *connection) endsSoon(err error) bool {
	if _, ok := wireError(err); ok || errors.Is(err, errTooLong) ||
		errors.Is(err, errSilent) || errors.Is(err, errLimit) {
		return false
	}
	select {
	case <-l.dead:
		return true
	case <-time.After(2 * drainTime):
		return false
	}
}

// idle returns how long a call may go without a sign of life.
func (e *peer) idle() time.Duration {
	switch {
	case e.s.Timeout > 0:
		return e.s.Timeout
	case e.pool.opts.Timeout > 0:
		return e.pool.opts.Timeout
	}
	return defaultCall
}

// call makes one call over this connection. It reports whether the server sent anything for the
// call before it failed.
func (l *connection) call(ctx context.Context, c *tool.Call, name string, args json.RawMessage) (res *sdk.CallToolResult, heard bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	token, w := l.trackCall()
	defer l.dismiss(token)
	params := &sdk.CallToolParams{Name: name, Arguments: args}
	params.SetProgressToken(token)
	done, sent := make(chan struct{}), new(atomic.Bool)
	go func() {
		defer close(done)
		res, err = l.session.CallTool(context.WithValue(ctx, sendingKey{}, sent), params)
		if l.local != nil && errors.Is(err, sdk.ErrConnectionClosed) && !sent.Load() {
			err = fmt.Errorf("%w: %w", errNotSent, err)
		}
	}()
	idle, limit := l.e.idle(), time.NewTimer(limitOf(l.e.s))
	quiet := newIdleTimer(idle)
	defer limit.Stop()
	defer quiet.timer.Stop()
	var told time.Time
	for {
		select {
		case <-done:
			if err != nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return res, heard, err
		case p := <-w.progress:
			heard = true
			quiet.renew()
			if time.Since(told) >= progressEvery {
				told = time.Now()
				c.Progress(report(p))
			}
		case <-w.hold:
			heard = true
			still, answered := l.paused(w)
			if answered {
				quiet.renew()
			}
			quiet.setPaused(still)
		case <-quiet.timer.C:
			cancel(fmt.Errorf("%w for %d ms", errSilent, idle.Milliseconds()))
		case <-limit.C:
			cancel(fmt.Errorf("%w: more than %d ms", errLimit, limitOf(l.e.s).Milliseconds()))
		}
	}
}

// report formats a progress notification.
func report(p *sdk.ProgressNotificationParams) (string, map[string]any) {
	said, _ := text.Cut(p.Message, maxReport)
	m := map[string]any{"output": said, "progress": p.Progress}
	if p.Total > 0 {
		m["total"] = p.Total
	}
	title, _ := text.Cut(said, maxLabel)
	return text.VisibleLine(title), m
}

// unreachable is the error of a call whose server is not available.
func (e *peer) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f := faultOf(err)
	fail := tool.Fail("server-"+string(f.state), "The MCP server %q can not be reached, and the call was not made: %s", e.s.Name, redact(e.s, f.text))
	fail.Hint = "`helve mcp list` shows the state of the servers, `helve mcp logs` what they said."
	if f.state == mcp.NeedsAuth {
		fail.Hint = fmt.Sprintf("Somebody has to run `helve mcp auth %s` first.", e.s.Name)
	}
	return fail
}

// failure is the error of a call that was made.
func (e *peer) failure(ctx context.Context, err error, died bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch wire, ok := wireError(err); {
	case ok:
		said, _ := text.Cut(wire.Message, maxComplaint)
		return tool.Fail("mcp-error", "MCP error %d: %s", wire.Code, said)
	case errors.Is(err, errSilent), errors.Is(err, errLimit):
		return tool.Fail("timeout", "The MCP server %q did not answer in time (%v), and the call was cancelled. It may have done part of its work: check before calling again. `helve mcp logs %s` shows what it said; \"timeout\" in its config gives it longer.", e.s.Name, err, e.s.Name)
	case died && !isLocal(e.s):
		return tool.Fail("connection-lost", "The connection to the MCP server %q broke before it answered, and it is not known how much of the call it has done. Check before calling again.", e.s.Name)
	case died:
		return tool.Fail("server-died", "The MCP server %q ended before it answered, and it is not known how much of the call it has done. It is being started again; check before calling again.", e.s.Name)
	}
	return tool.Fail("mcp-failed", "The call to the MCP server %q failed: %s. It is not known how much of it was done: check before calling again. `helve mcp logs %s` shows what the server said.",
		e.s.Name, strings.TrimSuffix(redact(e.s, err.Error()), "."), e.s.Name)
}
