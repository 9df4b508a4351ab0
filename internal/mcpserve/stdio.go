package mcpserve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxLine   = 16 << 20        // bytes of one message
	drainWait = 2 * time.Second // for calls under way when the input ends
)

// ServeStdio serves one client that writes to in and reads from out, a message a line, until the
// input or ctx ends. When the input ends, calls in progress have two seconds to finish before they
// are cancelled; when ctx ends they are cancelled at once. Afterwards nothing of the session
// remains; a pending read of in is left to the caller, who owns it.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	c := newLineConn(in, out, s.log)
	c.server = s
	ss, err := s.mcp.Connect(ctx, c, nil)
	if err != nil {
		return fmt.Errorf("serving standard input: %w", err)
	}
	c.ss.Store(ss)
	ended := make(chan error, 1)
	go func() { ended <- ss.Wait() }()
	cause := error(nil)
	select {
	case err = <-ended:
	case <-c.spent:
		err = c.shutDown(ss, ended)
	case <-ctx.Done():
		cause = context.Cause(ctx)
	case <-s.life.Done():
		cause = errors.New("the server is closing")
	}
	if cause != nil {
		_ = c.shutDown(ss, ended)
		err = cause
	} else {
		if err == nil {
			c.mu.Lock()
			err = c.broken
			c.mu.Unlock()
		}
		// The client has closed its end.
		if errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed) || errors.Is(err, syscall.EPIPE) {
			err = nil
		}
	}
	c.halt(cause)
	finishesWithin(closeWait, c.rides.Wait)
	s.mu.Lock()
	se := s.sessions[ss]
	s.mu.Unlock()
	if se != nil {
		se.endStays()
	}
	s.halls.closeIdle()
	return err
}

// shutDown cancels what the session does and waits for its end, but not for a
// client that takes nothing any more.
func (c *lineConn) shutDown(ss *mcp.ServerSession, ended <-chan error) error {
	c.server.mu.Lock()
	se := c.server.sessions[ss]
	c.server.mu.Unlock()
	if se != nil {
		se.end()
	}
	_ = c.Close()
	timer := time.NewTimer(closeWait)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return nil
	}
}

// A lineConn is a connection with a message on each line. Unlike the SDK's own it continues after
// an invalid line, and lets calls finish when the input ends.
type lineConn struct {
	in  *bufio.Reader
	out io.Writer
	log *slog.Logger

	lines  chan readLine
	closed chan struct{}
	once   sync.Once
	queue  []jsonrpc.Message // of a batch; of Read alone

	pen   chan struct{} // full while a message is being written
	buf   []byte        // for answers; of who writes
	spent chan struct{} // closed when the input has ended and calls have had their time

	// Of the calls that are made beside the library.
	server *Server // nil if there are none
	ss     atomic.Pointer[mcp.ServerSession]
	turn   chan struct{} // whose turn it is to read
	moves  int64         // changes of roots that were read; of the reader
	odd    bool          // all goes the library's way; of the reader
	rides  sync.WaitGroup

	mu     sync.Mutex
	open   map[jsonrpc.ID]int                     // requests that have no answer yet
	none   chan struct{}                          // closed when there are none, made when a goroutine waits
	riding map[jsonrpc.ID]context.CancelCauseFunc // calls that are made beside the library
	over   bool                                   // no call begins or is answered any more
	broken error                                  // why an answer could not be written
}

// A readLine is a line that was read, or why there is none.
type readLine struct {
	data []byte
	err  error
}

// errLongLine is a line that is no message because of its length.
var errLongLine = fmt.Errorf("the line has more than %d bytes", maxLine)

func newLineConn(in io.Reader, out io.Writer, log *slog.Logger) *lineConn {
	return &lineConn{
		in: bufio.NewReaderSize(in, 64<<10), out: out, log: log, lines: make(chan readLine), closed: make(chan struct{}), turn: make(chan struct{}),
		pen: make(chan struct{}, 1), spent: make(chan struct{}),
		open: map[jsonrpc.ID]int{}, riding: map[jsonrpc.ID]context.CancelCauseFunc{},
	}
}

// Connect begins to read.
func (c *lineConn) Connect(context.Context) (mcp.Connection, error) {
	go c.scan()
	return c, nil
}

// line reads one line. Of one that is too long nothing is kept.
func (c *lineConn) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := c.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, errLongLine
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0:
			return line, nil // the last line needs no end
		default:
			return line, err
		}
	}
}

// Read returns the next message. At the end of the input it first gives the requests in progress
// time for their responses.
func (c *lineConn) Read(context.Context) (jsonrpc.Message, error) {
	for {
		if len(c.queue) > 0 {
			msg := c.queue[0]
			c.queue = c.queue[1:]
			return msg, nil
		}
		select {
		case <-c.closed:
			c.halt(io.EOF)
			return nil, io.EOF
		case l := <-c.lines:
			switch {
			case l.err == nil:
				c.take(l.data)
			case errors.Is(l.err, errLongLine):
				c.writeError(nil, jsonrpc.CodeInvalidRequest, l.err.Error())
			default:
				c.waitAnswered()
				c.halt(l.err)
				close(c.spent)
				return nil, l.err
			}
		}
	}
}

// take queues the messages of a line. An invalid line gets an error response.
func (c *lineConn) take(line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	if line[0] != '[' {
		c.accept(line)
		return
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(line, &batch); err != nil {
		c.writeError(nil, jsonrpc.CodeParseError, "the line is no JSON")
		return
	}
	if len(batch) == 0 {
		c.writeError(nil, jsonrpc.CodeInvalidRequest, "the batch is empty")
		return
	}
	for _, one := range batch {
		c.accept(one)
	}
}

// accept puts one message into the queue.
func (c *lineConn) accept(raw []byte) {
	var m wireMessage
	switch err := json.Unmarshal(raw, &m); {
	case err != nil && !json.Valid(raw):
		c.writeError(nil, jsonrpc.CodeParseError, "the line is no JSON")
		return
	case !goodID(m.ID):
		c.writeError(nil, jsonrpc.CodeInvalidRequest, "the id is neither a text nor a whole number that is not too large")
		return
	case err != nil || raw[0] != '{':
		c.writeError(m.ID, jsonrpc.CodeInvalidRequest, "the message is no object of the protocol")
		return
	}
	msg, err := m.message()
	if err != nil {
		c.writeError(m.ID, jsonrpc.CodeInvalidRequest, err.Error())
		return
	}
	if req, ok := msg.(*jsonrpc.Request); ok && !c.acceptRequest(req) {
		return
	}
	c.queue = append(c.queue, msg)
}

// acceptRequest reports whether a request is for the SDK. One that reuses the id of a call in
// progress gets no response, which would be taken for that call's.
func (c *lineConn) acceptRequest(req *jsonrpc.Request) bool {
	if !req.IsCall() {
		return req.Method != "notifications/cancelled" || !c.cancelRide(req.Params)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.riding[req.ID] != nil {
		c.log.Warn("a request uses the id of a call that is under way", "id", req.ID)
		return false
	}
	c.open[req.ID]++
	return true
}

// A wireMessage is any message as it is written. It is read here, because the
// library would read it several times over.
type wireMessage struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  *string         `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *jsonrpc.Error  `json:"error"`
}

func (m *wireMessage) message() (jsonrpc.Message, error) {
	if m.Version != "2.0" {
		return nil, errors.New("the message does not say that it is JSON-RPC 2.0")
	}
	var raw any
	if len(m.ID) > 0 {
		if err := json.Unmarshal(m.ID, &raw); err != nil {
			return nil, fmt.Errorf("reading the id: %w", err)
		}
	}
	id, err := jsonrpc.MakeID(raw)
	if err != nil {
		return nil, fmt.Errorf("reading the id: %w", err)
	}
	if m.Method != nil {
		return &jsonrpc.Request{ID: id, Method: *m.Method, Params: m.Params}, nil
	}
	if !id.IsValid() {
		return nil, errors.New("the message is neither a request nor an answer")
	}
	res := &jsonrpc.Response{ID: id, Result: m.Result}
	if m.Error != nil {
		res.Error = m.Error
	}
	return res, nil
}

// goodID reports whether an id would be returned as it was sent: the SDK keeps numbers with 53
// bits.
func goodID(id json.RawMessage) bool {
	if len(id) == 0 || id[0] == '"' || string(id) == "null" {
		return true
	}
	const exact = 1 << 53
	f, err := strconv.ParseFloat(string(id), 64)
	return err == nil && f == float64(int64(f)) && f > -exact && f < exact
}

// writeError sends an error response to an invalid line.
func (c *lineConn) writeError(id json.RawMessage, code int64, why string) {
	c.log.Warn("a line of the client is no message", "error", why)
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	if len(why) > 500 {
		why = why[:500]
	}
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why}})
	if err == nil {
		err = c.write(append(line, '\n'))
	}
	if err != nil {
		c.log.Debug("a line could not be refused", "error", err)
	}
}

// Write sends a message.
func (c *lineConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	line, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	err = c.write(append(line, '\n'))
	if res, ok := msg.(*jsonrpc.Response); ok {
		c.callDone(res.ID)
	}
	return err
}

// lockWriter takes the write lock. It returns false when the connection is closed while the lock is
// taken: a client that reads nothing may block its holder forever.
func (c *lineConn) lockWriter() bool {
	select {
	case c.pen <- struct{}{}:
		return true
	default:
	}
	select {
	case c.pen <- struct{}{}:
		return true
	case <-c.closed:
		return false
	}
}

func (c *lineConn) write(line []byte) error {
	if !c.lockWriter() {
		return fmt.Errorf("writing to the client: %w", io.ErrClosedPipe)
	}
	defer func() { <-c.pen }()
	if _, err := c.out.Write(line); err != nil {
		return fmt.Errorf("writing to the client: %w", err)
	}
	return nil
}

func (c *lineConn) callDone(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[id]--; c.open[id] <= 0 {
		delete(c.open, id)
	}
	if len(c.open) == 0 && c.none != nil {
		close(c.none)
		c.none = nil
	}
}

// waitAnswered waits until every request has its response, but not for long.
func (c *lineConn) waitAnswered() {
	c.mu.Lock()
	if len(c.open) == 0 {
		c.mu.Unlock()
		return
	}
	none := make(chan struct{})
	c.none = none
	c.mu.Unlock()
	timer := time.NewTimer(drainWait)
	defer timer.Stop()
	select {
	case <-none:
	case <-timer.C:
	case <-c.closed:
	}
}

// Close makes Read return. The streams stay open: they belong to the caller.
func (c *lineConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// SessionID is empty: there is one session.
func (c *lineConn) SessionID() string { return "" }
