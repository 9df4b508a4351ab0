package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// handIdle is how long a goroutine waits for the next line to read.
const handIdle = time.Second

// A fastCall is a tool call that is made without the SDK. The SDK decodes a message several times
// and passes it through several goroutines, which takes longer than most calls. Anything but a
// plain call in an established session uses the SDK.
type fastCall struct {
	se     *session
	id     jsonrpc.ID
	params mcp.CallToolParamsRaw
}

// scan hands on lines until the input ends or the connection is closed. A call
// is made by the goroutine that has read it, while another one reads on.
func (c *lineConn) scan() {
	var idle *time.Timer
	for {
		data, err := c.line()
		if err == nil {
			if x, ctx, cancel := c.express(data); x != nil {
				// Another goroutine reads on.
				select {
				case c.turn <- struct{}{}:
				default:
					go c.scan()
				}
				c.runFast(ctx, x)
				cancel(nil)
				if idle == nil {
					idle = time.NewTimer(handIdle)
					defer idle.Stop()
				} else {
					idle.Reset(handIdle)
				}
				select {
				case <-c.turn:
					continue
				case <-idle.C:
				case <-c.closed:
				}
				return
			}
		}
		select {
		case c.lines <- readLine{data, err}:
		case <-c.closed:
			return
		}
		if err != nil && err != errLongLine {
			return
		}
	}
}

// express takes a line that is a plain call. It returns nil for all others.
func (c *lineConn) express(line []byte) (x *fastCall, ctx context.Context, cancel context.CancelCauseFunc) {
	s, ss := c.server, c.ss.Load()
	if s == nil || ss == nil || c.odd {
		return nil, nil, nil
	}
	if bytes.Contains(line, []byte("roots/list_changed")) {
		c.noteMove(line)
	}
	if !bytes.Contains(line, []byte(`"tools/call"`)) {
		return nil, nil, nil
	}
	x = plainCall(bytes.TrimSpace(line))
	if x == nil {
		return nil, nil, nil
	}
	se := s.acquireSession(ss)
	if se == nil {
		return nil, nil, nil
	}
	if !se.met.Load() || se.moves.Load() != c.moves { // the library has something that comes first
		s.releaseSession(se)
		return nil, nil, nil
	}
	x.se = se
	ctx, cancel = context.WithCancelCause(se.life)
	if !c.register(x, cancel) {
		cancel(nil)
		s.releaseSession(se)
		return nil, nil, nil
	}
	return x, ctx, cancel
}

// noteMove counts the notifications that the SDK must handle before the next call: changes of the
// client's roots.
func (c *lineConn) noteMove(line []byte) {
	var m wireMessage
	line = bytes.TrimSpace(line)
	switch err := json.Unmarshal(line, &m); {
	case len(line) > 0 && line[0] == '[':
		c.odd = true // all calls go the library's way from here
	case err == nil && m.Method != nil && *m.Method == rootsChanged:
		c.moves++
	}
}

// register registers a call, so that it can be cancelled and is waited for. It returns false for an
// id that is in use, and when no call may begin any more.
func (c *lineConn) register(x *fastCall, cancel context.CancelCauseFunc) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over || c.open[x.id] > 0 {
		return false
	}
	c.open[x.id]++
	c.riding[x.id] = cancel
	c.rides.Add(1)
	return true
}

// runFast makes a call and answers it.
func (c *lineConn) runFast(ctx context.Context, x *fastCall) {
	defer c.rides.Done()
	out := x.make(ctx)
	c.mu.Lock()
	delete(c.riding, x.id) // the client may use the id again when it has the answer
	mute := c.over
	c.mu.Unlock()
	if !mute {
		c.writeOutcome(x, out)
	}
	c.callDone(x.id)
}

// make makes the call. The error in the outcome is one of the protocol.
func (x *fastCall) make(ctx context.Context) (out callOutcome) {
	s := x.se.s
	defer s.releaseSession(x.se)
	defer func() {
		if p := recover(); p != nil {
			out = callOutcome{err: s.broke("tools/call", p)}
		}
	}()
	return x.se.perform(ctx, &x.params, nil)
}

// writeOutcome writes how a call has ended.
func (c *lineConn) writeOutcome(x *fastCall, out callOutcome) {
	if !c.lockWriter() {
		return
	}
	defer func() { <-c.pen }()
	line, err := x.encode(c.buf[:0], out)
	if err != nil {
		c.log.Error("an answer could not be encoded", "error", err)
		line, err = x.encode(c.buf[:0], callOutcome{err: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the answer could not be encoded: this is a fault of the server"}})
	}
	if err != nil {
		return
	}
	if cap(line) <= keptBuffer {
		c.buf = line
	}
	if _, err := c.out.Write(line); err != nil {
		c.mu.Lock()
		if c.broken == nil {
			c.broken = err
		}
		c.mu.Unlock()
		_ = c.Close() // no answer can be delivered any more
	}
}

// encode writes a response on a line, in the form that the SDK gives it.
func (x *fastCall) encode(buf []byte, out callOutcome) ([]byte, error) {
	if out.err == nil && out.failure == nil && plainResult(out.res) {
		buf = append(buf, `{"jsonrpc":"2.0","id":`...)
		buf = appendID(buf, x.id)
		buf = append(buf, `,"result":`...)
		buf = appendResult(buf, out.res)
		return append(buf, '}', '\n'), nil
	}
	msg := &jsonrpc.Response{ID: x.id, Error: out.err}
	if out.err == nil {
		raw, err := json.Marshal(x.se.outcome(out))
		if err != nil {
			return nil, err
		}
		msg.Result = raw
	}
	line, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return nil, err
	}
	return append(append(buf, line...), '\n'), nil
}

// cancelRide cancels the call that a notification names, if it is one of
// these.
func (c *lineConn) cancelRide(params json.RawMessage) bool {
	var p struct {
		ID any `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return false
	}
	id, err := jsonrpc.MakeID(p.ID)
	if err != nil {
		return false
	}
	c.mu.Lock()
	cancel := c.riding[id]
	c.mu.Unlock()
	if cancel == nil {
		return false
	}
	cancel(nil)
	return true
}

// halt cancels all calls that are still in progress here, and lets no other begin. They are not
// answered, because the connection is gone.
func (c *lineConn) halt(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for _, cancel := range c.riding {
		cancel(cause)
	}
}
