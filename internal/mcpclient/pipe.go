package mcpclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/helve-dev/helve/internal/text"
)

// What a peer may send.
const (
	maxFrame    = 16 << 20 // bytes of one message
	maxRequests = 32       // requests of the server whose answer was not written yet
	maxRequest  = 1 << 20  // bytes of one of them
	maxID       = 1 << 10  // bytes of what one of them is called
	maxReplies  = 4 << 20  // bytes of answers that wait to be written
	maxBatch    = 100      // messages in a batch
	queueLength = 64       // messages that wait to be written
)

// errNotSent is in the error of a call that never reached its server, so that
// it can be made again.
var errNotSent = errors.New("the server has not been reached")

// errTooLong is the error for a call whose response was too long.
var errTooLong = fmt.Errorf("the answer of the server is larger than %d MiB", maxFrame>>20)

// A pipe is the connection to a local server: lines of JSON on its standard input and output. Lines
// that are not messages are logged and dropped. Notifications are handled as they are read, so that
// a flood of them needs no memory.
type pipe struct {
	l   *connection
	out *os.File
	r   *bufio.Reader
	in  *os.File
	w   chan outgoing

	queue []jsonrpc.Message // read and not handed on yet

	settled bool // the unread calls have failed

	pen chan struct{} // held while something is written

	mu      sync.Mutex
	written int64                // bytes that were given to the system, or are being
	ends    map[jsonrpc.ID]int64 // where in them the calls that wait for an answer end
	asked   map[jsonrpc.ID]bool  // requests of the server that were handed on
	replies int                  // bytes of answers that wait

	shut   sync.Once
	closed chan struct{}
	hang   sync.Once
	wdone  chan struct{} // the writer has ended
}

// An outgoing is a message to write.
type outgoing struct {
	data   []byte
	id     jsonrpc.ID // of a call
	cancel jsonrpc.ID // of a call that nothing waits for any more
	reply  jsonrpc.ID // to a request of the server
	done   chan error
}

func newPipe(in, out *os.File, l *connection) *pipe {
	p := &pipe{
		l: l, out: out, in: ownFile(in), r: bufio.NewReaderSize(out, 64<<10), w: make(chan outgoing, queueLength),
		ends: map[jsonrpc.ID]int64{}, asked: map[jsonrpc.ID]bool{}, pen: make(chan struct{}, 1),
		closed: make(chan struct{}), wdone: make(chan struct{}),
	}
	go p.write()
	return p
}

// SessionID implements [mcp.Connection].
func (p *pipe) SessionID() string { return "" }

// Close implements [mcp.Connection]. It does not block.
func (p *pipe) Close() error {
	p.shut.Do(func() {
		close(p.closed)
		p.out.Close()
		p.hangUp()
	})
	return nil
}

// hangUp lets the server read the end of its input.
func (p *pipe) hangUp() { p.hang.Do(func() { p.in.Close() }) }

// expire lets reading end after d.
func (p *pipe) expire(d time.Duration) { _ = p.out.SetReadDeadline(time.Now().Add(d)) }

// Write implements [mcp.Connection]. A server that does not read only blocks its own messages, and
// not for longer than their contexts.
func (p *pipe) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return fmt.Errorf("message: %w", err)
	}
	f := outgoing{data: append(data, '\n'), done: make(chan error, 1)}
	switch m := msg.(type) {
	case *jsonrpc.Request:
		f.id = m.ID
		if m.Method == cancelled {
			f.cancel, _ = cancels(m.Params)
		}
	case *jsonrpc.Response:
		f.reply = m.ID
		if !p.owe(f) {
			p.l.e.log.Add("helve", "an answer was dropped: the server does not read")
			return nil
		}
	}
	sending(ctx)
	select {
	case p.w <- f:
	case <-ctx.Done():
		p.paid(f)
		return ctx.Err()
	case <-p.closed:
		return errNotSent
	}
	select {
	case err := <-f.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-p.closed:
		return io.ErrClosedPipe
	}
}

// owe counts a response that waits to be written. It returns false, and drops the request, if there
// are too many bytes of them.
func (p *pipe) owe(f outgoing) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.replies+len(f.data) > maxReplies {
		delete(p.asked, f.reply)
		return false
	}
	p.replies += len(f.data)
	return true
}

// paid removes a response that no longer waits, and its request.
func (p *pipe) paid(f outgoing) {
	if !f.reply.IsValid() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replies -= len(f.data)
	delete(p.asked, f.reply)
}

// write writes what there is, until the pipe is closed.
func (p *pipe) write() {
	defer close(p.wdone)
	for {
		select {
		case <-p.closed:
			return
		case f := <-p.w:
			f.done <- p.send(f)
			p.paid(f)
		}
	}
}

// send writes one frame. Its bytes count as written before they are: a server
// may have read and done everything before writing has returned.
func (p *pipe) send(f outgoing) error {
	p.pen <- struct{}{}
	defer func() { <-p.pen }()
	p.mu.Lock()
	p.written += int64(len(f.data))
	if f.id.IsValid() {
		p.ends[f.id] = p.written
	}
	delete(p.ends, f.cancel)
	p.mu.Unlock()
	n, err := p.in.Write(f.data)
	if err == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.written -= int64(len(f.data) - n)
	return fmt.Errorf("%w: %w", errNotSent, err)
}

// Read implements [mcp.Connection].
func (p *pipe) Read(context.Context) (jsonrpc.Message, error) {
	for {
		if len(p.queue) > 0 {
			m := p.queue[0]
			p.queue = p.queue[1:]
			if p.accept(m) {
				return m, nil
			}
			continue
		}
		line, err := p.line()
		if err != nil {
			if p.failUnread() {
				continue
			}
			return nil, err
		}
		p.decode(line)
	}
}

// line returns the next line that could be a message.
func (p *pipe) line() ([]byte, error) {
	for {
		line, err := p.r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			line, err = p.long(line)
		}
		line = bytes.TrimSpace(line)
		if len(line) > 0 && (line[0] == '{' || line[0] == '[') {
			return line, nil // an end is found again with the next line
		}
		if len(line) > 0 {
			p.stray(line)
		}
		if len(p.queue) > 0 {
			return nil, nil // in the place of a line that was too long
		}
		if err != nil {
			return nil, io.EOF
		}
	}
}

// long reads the rest of a line that begins with start. A line that is too long is dropped, and the
// call that it answers fails.
func (p *pipe) long(start []byte) ([]byte, error) {
	buf := append(make([]byte, 0, 4*len(start)), start...)
	for {
		more, err := p.r.ReadSlice('\n')
		if len(buf)+len(more) > maxFrame {
			return nil, p.skipLine(buf, more, err)
		}
		buf = append(buf, more...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return buf, err
		}
	}
}

// skipLine reads on to the end of a line that is too long.
func (p *pipe) skipLine(head, tail []byte, err error) error {
	const look = 256
	head = bytes.Clone(head[:look])
	tail = bytes.Clone(tail)
	for errors.Is(err, bufio.ErrBufferFull) {
		var more []byte
		more, err = p.r.ReadSlice('\n')
		tail = append(tail[max(0, len(tail)-look):], more...)
	}
	p.l.e.log.Add("helve", fmt.Sprintf("a message of more than %d MiB was dropped", maxFrame>>20))
	if id, ok := answeredID(head, bytes.TrimSpace(tail)); ok {
		p.queue = append(p.queue, &jsonrpc.Response{ID: id, Error: errTooLong})
	}
	return err
}

// answeredID finds the id of the call that a message answers, given only its beginning and end.
func answeredID(head, tail []byte) (jsonrpc.ID, bool) {
	const digits, version = `"id"\s*:\s*([0-9]{1,15})`, `"jsonrpc"\s*:\s*"2\.0"`
	first := regexp.MustCompile(`^\{\s*(?:` + version + `\s*,\s*)?` + digits + `\s*,`)
	last := regexp.MustCompile(`(?:` + digits + `\s*,\s*` + version + `|` + version + `\s*,\s*` + digits + `)\s*\}$`)
	m := first.FindSubmatch(head)
	if m == nil {
		m = last.FindSubmatch(tail)
	}
	for _, found := range m[min(1, len(m)):] {
		var n float64
		if len(found) > 0 && json.Unmarshal(found, &n) == nil {
			id, err := jsonrpc.MakeID(n)
			return id, err == nil
		}
	}
	return jsonrpc.ID{}, false
}

// stray logs a line that is no message.
func (p *pipe) stray(line []byte) {
	s, _ := text.Cut(string(line[:min(len(line), maxLogLine)]), maxLogLine)
	p.l.e.log.Add("stdout", s)
}

// decode queues the message, or the batch of them, of a line.
func (p *pipe) decode(line []byte) {
	if len(line) == 0 {
		return
	}
	parts := []json.RawMessage{line}
	if line[0] == '[' {
		if json.Unmarshal(line, &parts) != nil || len(parts) > maxBatch {
			p.stray(line)
			return
		}
	}
	for _, part := range parts {
		m, err := jsonrpc.DecodeMessage(part)
		if err != nil {
			p.stray(part)
			continue
		}
		p.queue = append(p.queue, m)
	}
}

// accept reports whether a message is for the session. Others have been handled.
func (p *pipe) accept(m jsonrpc.Message) bool {
	switch m := m.(type) {
	case *jsonrpc.Response:
		p.mu.Lock()
		_, mine := p.ends[m.ID]
		delete(p.ends, m.ID)
		p.mu.Unlock()
		if mine && bytes.Contains(m.Result, []byte(`"content"`)) {
			m.Result = RepairResult(m.Result)
		}
		return mine
	case *jsonrpc.Request:
		if m.IsCall() {
			return p.admitCall(m)
		}
		return p.admitNote(m)
	}
	return false
}

func (p *pipe) admitCall(m *jsonrpc.Request) bool {
	if id, ok := m.ID.Raw().(string); ok && len(id) > maxID || len(m.Method) > maxID {
		p.l.e.log.Add("helve", fmt.Sprintf("a request was dropped: its id or its method has more than %d bytes", maxID))
		return false
	}
	why := "too many requests at once"
	p.mu.Lock()
	full := len(p.asked) >= maxRequests || p.asked[m.ID]
	if len(m.Params) > maxRequest {
		why, full = fmt.Sprintf("the request has more than %d bytes", maxRequest), true
	}
	if !full {
		p.asked[m.ID] = true
	}
	p.mu.Unlock()
	if !full {
		return true
	}
	data, err := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: m.ID, Error: &jsonrpc.Error{
		Code: jsonrpc.CodeInternalError, Message: why,
	}})
	if err != nil {
		return false
	}
	select {
	case p.w <- outgoing{data: append(data, '\n'), done: make(chan error, 1)}:
	default: // it does not read either
	}
	return false
}

// cancelled is the notification that a request is not needed any more.
const cancelled = "notifications/cancelled"

// cancels returns the request that such a notification is about.
func cancels(params json.RawMessage) (jsonrpc.ID, bool) {
	var c struct {
		ID any `json:"requestId"`
	}
	if json.Unmarshal(params, &c) != nil {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(c.ID)
	return id, err == nil && id.IsValid()
}

// admitNote deals with a notification.
func (p *pipe) admitNote(m *jsonrpc.Request) bool {
	switch m.Method {
	case cancelled:
		id, ok := cancels(m.Params)
		p.mu.Lock()
		defer p.mu.Unlock()
		return ok && p.asked[id]
	case "notifications/tools/list_changed":
		p.l.listChanged()
		if !p.l.caches.Load() {
			return false
		}
		time.Sleep(time.Millisecond) // the session queues without a limit
		return true
	case "notifications/resources/list_changed", "notifications/prompts/list_changed", "notifications/resources/updated":
		if p.l.caches.Load() {
			time.Sleep(time.Millisecond)
			return true
		}
	}
	p.l.noted(m.Method, m.Params)
	return false
}

// failUnread is called at the end of the stream: calls that the server has not read fail with
// errNotSent. It reports whether there are any.
func (p *pipe) failUnread() bool {
	if p.settled || p.l.local == nil {
		return false
	}
	p.settled = true
	select {
	case <-p.l.local.proc.Done(): // no reader any more
	case <-time.After(drainTime):
		return false
	}
	select { // what is being written counts as written, read or not
	case p.pen <- struct{}{}:
		defer func() { <-p.pen }()
	case <-time.After(drainTime):
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	left, ok := unread(p.in)
	if !ok {
		return false
	}
	for id, end := range p.ends {
		if p.written-left < end {
			p.queue = append(p.queue, &jsonrpc.Response{ID: id, Error: errNotSent})
		}
	}
	return len(p.queue) > 0
}
