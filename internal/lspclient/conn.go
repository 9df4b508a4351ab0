package lspclient

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"sync"
	"time"
)

const (
	// queueBytes and queueMessages bound the queue to a server. A longer queue means that it does
	// not read at all.
	queueBytes    = 64 << 20
	queueMessages = 100_000
	// writeStep is about how much is written at once.
	writeStep = 64 << 10
	// lastWords is how long the output of a server is still read after it stopped reading messages.
	// It has usually exited, and its last output matters.
	lastWords = time.Second

	codeNoMethod = -32601
	codeInternal = -32603
)

var (
	errClosed = errors.New("connection closed")
	errEnded  = errors.New("the server has ended the connection")
	errDeaf   = errors.New("the server does not read what it is sent")
)

// A handler takes what a server sends by itself. Its methods are called one
// after the other, in the order of the messages, and must not block: nothing
// else is read in the meantime.
type handler interface {
	// request returns the response to the server; nil is JSON's null. An *rpcError is sent with its
	// code.
	request(method string, params json.RawMessage) (result any, err error)
	notified(method string, params json.RawMessage)
	// stray is given what the server printed that is no message.
	stray(line string)
}

// An rpcError is an error as it is sent in place of a result.
type rpcError struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *rpcError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("error %d", e.Code)
	}
	return e.Message
}

// A conn is the connection to one server. Outgoing messages wait in a queue of its own, in the
// order of the calls, so that a server that does not read blocks no caller.
type conn struct {
	in     io.WriteCloser
	out    io.Reader
	h      handler
	room   int           // how many bytes may wait to be written
	filled chan struct{} // the queue holds something
	ended  chan struct{}

	mu      sync.Mutex
	why     error // once ended
	lastID  int64
	waiting map[int64]chan<- response
	queue   [][]byte
	bytes   int // waiting in the queue or being written
	count   int
}

// A response is a server's response to a call.
type response struct {
	result json.RawMessage
	err    error
}

// A message is one of any kind as it is sent. Params and Result are left out
// when nil.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// newConn starts a connection to a server that reads in and writes out. Both are closed at the end,
// out if it can be.
func newConn(in io.WriteCloser, out io.Reader, h handler) *conn {
	c := &conn{
		in: in, out: out, h: h,
		room:    queueBytes,
		filled:  make(chan struct{}, 1),
		ended:   make(chan struct{}),
		waiting: map[int64]chan<- response{},
	}
	go c.read()
	go c.write()
	return c
}

// call sends a request and waits for the response. When ctx ends first, the server is sent a
// cancellation, and the error is ctx's cause. An error of the server is an *rpcError.
func (c *conn) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	got := make(chan response, 1)
	c.mu.Lock()
	c.lastID++
	id := c.lastID
	c.waiting[id] = got
	c.mu.Unlock()
	defer c.dropPending(id)

	key := json.RawMessage(strconv.FormatInt(id, 10))
	if err := c.send(message{ID: key, Method: method, Params: params}); err != nil {
		return nil, err
	}
	select {
	case a := <-got:
		return a.result, a.err
	case <-c.ended:
	case <-ctx.Done():
	}
	c.dropPending(id) // from here on nothing is put into got
	select {
	case a := <-got:
		return a.result, a.err
	default:
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	_ = c.notify("$/cancelRequest", map[string]any{"id": key})
	return nil, context.Cause(ctx)
}

func (c *conn) dropPending(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// notify sends a notification. It never blocks: the error says that the connection has ended, or
// that the message cannot be sent at all.
func (c *conn) notify(method string, params any) error {
	return c.send(message{Method: method, Params: params})
}

// close ends the connection, at once: what has not been written is not sent.
// Calls under way fail with why. Only the first close counts.
func (c *conn) close(why error) {
	if why == nil {
		why = errClosed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why != nil {
		return
	}
	c.why = why
	c.queue = nil
	close(c.ended)
	// On some systems closing waits for a read or a write that is under way.
	go c.in.Close()
	if out, ok := c.out.(io.Closer); ok {
		go out.Close()
	}
}

// done is closed when the connection has ended. The handler may still be busy
// with one last message then.
func (c *conn) done() <-chan struct{} { return c.ended }

// err returns why the connection has ended, nil while it has not.
func (c *conn) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// send puts a message into the queue.
func (c *conn) send(m message) error {
	body, err := encode(m)
	if err == nil && len(body) > c.room {
		err = fmt.Errorf("%w: %d bytes, and %d are allowed", errLarge, len(body), c.room)
	}
	if err != nil {
		return fmt.Errorf("send %s: %w", cmp.Or(m.Method, "an answer"), err)
	}
	full, err := c.enqueue(body)
	if full {
		c.close(errDeaf)
		return c.err()
	}
	return err
}

func encode(m message) ([]byte, error) {
	m.Version = "2.0"
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func (c *conn) enqueue(body []byte) (full bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why != nil {
		return false, c.why
	}
	if c.bytes+len(body) > c.room || c.count == queueMessages {
		return true, nil
	}
	c.queue = append(c.queue, body)
	c.bytes += len(body)
	c.count++
	select {
	case c.filled <- struct{}{}:
	default:
	}
	return false, nil
}

// write sends the queue until the connection ends.
func (c *conn) write() {
	var buf []byte
	for {
		select {
		case <-c.ended:
			return
		case <-c.filled:
		}
		c.mu.Lock()
		queue := c.queue
		c.queue = nil
		c.mu.Unlock()
		for len(queue) > 0 {
			n, size := 0, 0
			for buf = buf[:0]; n < len(queue) && len(buf) < writeStep; n++ {
				buf = appendFrame(buf, queue[n])
				size += len(queue[n])
				queue[n] = nil
			}
			queue = queue[n:]
			if _, err := c.in.Write(buf); err != nil {
				c.mute(err)
				return
			}
			c.mu.Lock()
			c.count -= n
			c.bytes -= size
			c.mu.Unlock()
			if cap(buf) > 4*writeStep {
				buf = nil
			}
		}
	}
}

// mute ends a connection that cannot be written to, after reading what the server has sent until
// then.
func (c *conn) mute(err error) {
	patience := time.NewTimer(lastWords)
	defer patience.Stop()
	select {
	case <-c.ended:
	case <-patience.C:
		c.close(fmt.Errorf("write to the server: %w", err))
	}
}

// read handles what the server sends until the connection ends.
func (c *conn) read() {
	r := bufio.NewReaderSize(c.out, 32<<10)
	for {
		body, err := readFrame(r, frameLimit, c.h.stray)
		if err != nil {
			c.close(readError(err))
			return
		}
		if c.err() != nil {
			return
		}
		c.take(body)
	}
}

func readError(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, os.ErrDeadlineExceeded): // a deadline is set when the process has ended
		return errEnded
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w in the middle of a message", errEnded)
	}
	return fmt.Errorf("read from the server: %w", err)
}

// take handles one message.
func (c *conn) take(body []byte) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		c.h.stray(fmt.Sprintf("not a message: %.200q", body))
		return
	}
	hasID := len(m.ID) > 0 && !isNull(m.ID)
	switch {
	case m.Method != "" && hasID:
		c.reply(m.ID, m.Method, m.Params)
	case m.Method != "":
		c.h.notified(m.Method, m.Params)
	case hasID:
		c.dispatchResponse(m.ID, m.Result, m.Error)
	default:
		c.h.stray(fmt.Sprintf("not a message: %.200q", body))
	}
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// reply responds to a request of the server.
func (c *conn) reply(id json.RawMessage, method string, params json.RawMessage) {
	result, err := c.h.request(method, params)
	m := message{ID: id, Result: result}
	if result == nil {
		m.Result = json.RawMessage("null")
	}
	if err != nil {
		m.Result = nil
		if !errors.As(err, &m.Error) {
			m.Error = &rpcError{Code: codeInternal, Message: err.Error()}
		}
	}
	if err := c.send(m); err != nil {
		_ = c.send(message{ID: id, Error: &rpcError{Code: codeInternal, Message: err.Error()}})
	}
}

// dispatchResponse passes a response to the call that waits for it, if any.
func (c *conn) dispatchResponse(id, result, failure json.RawMessage) {
	a := response{result: result}
	switch {
	case len(failure) > 0 && !isNull(failure):
		a = response{err: parseError(failure)}
	case result == nil:
		a.result = json.RawMessage("null")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := parseID(id)
	if got := c.waiting[n]; ok && got != nil {
		delete(c.waiting, n)
		got <- a
	}
}

// parseID reads one of our numbers as servers write it, also as "3.0".
func parseID(id json.RawMessage) (int64, bool) {
	if n, err := strconv.ParseInt(string(id), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(id), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// parseError reads an error of the server. An error in another form is returned as its text.
func parseError(raw json.RawMessage) error {
	e := new(rpcError)
	if err := json.Unmarshal(raw, e); err != nil {
		return &rpcError{Code: codeInternal, Message: string(raw)}
	}
	return e
}
