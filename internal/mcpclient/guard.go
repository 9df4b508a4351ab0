package mcpclient

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// errGarbled is the error for a call whose response is not a message.
var errGarbled = errors.New("the answer of the server can not be read")

// A guarded is the body of a response: bounded, read at the pace of the session, and with results
// that the session can decode.
type guarded struct {
	r      *remote
	body   io.ReadCloser
	lines  *bufio.Reader
	end    func()
	stream bool // of events
	get    bool // the stream that is there without a call
	limit  int64
	call   []byte // the id of the call that it answers; nil for none
	ready  []byte // to be read
	err    error  // after ready
	tokens float64
	filled time.Time
	over   atomic.Bool
}

// callOf returns the id of the call that a request makes, nil for none.
func callOf(req *http.Request) []byte {
	if req.GetBody == nil {
		return nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil
	}
	defer body.Close()
	head := make([]byte, 64)
	n, _ := io.ReadFull(body, head)
	rest, ok := bytes.CutPrefix(head[:n], []byte(`{"jsonrpc":"2.0","id":`)) // as the session writes it
	end := bytes.IndexByte(rest, ',')
	if !ok || end < 1 || len(bytes.Trim(rest[:end], "0123456789")) > 0 {
		return nil
	}
	return rest[:end]
}

func (r *remote) guard(resp *http.Response, end func()) io.ReadCloser {
	g := &guarded{r: r, body: resp.Body, end: end, limit: maxFrame, tokens: burstEvents, filled: time.Now()}
	g.lines = bufio.NewReader(heard{resp.Body, r})
	g.stream = eventStream(resp.Header) && resp.StatusCode < 300
	g.get = resp.Request != nil && resp.Request.Method == http.MethodGet
	if resp.StatusCode >= 300 {
		g.limit = maxRefusal
	} else if resp.Request != nil {
		g.call = callOf(resp.Request)
	}
	return g
}

// instead replaces an invalid response of the server. Only its call then fails, and not the
// connection.
func (g *guarded) instead(why error) []byte {
	said, err := json.Marshal(why.Error())
	if err != nil || g.call == nil {
		return nil
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, g.call, jsonrpc.CodeInternalError, said)
}

// A heard is a body that records that data arrived.
type heard struct {
	io.Reader
	r *remote
}

// Read implements [io.Reader].
func (h heard) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if n > 0 {
		h.r.heard.Store(time.Now().UnixNano())
	}
	return n, err
}

// Read implements [io.Reader].
func (g *guarded) Read(p []byte) (int, error) {
	for len(g.ready) == 0 {
		switch {
		case g.err != nil:
			return 0, g.err
		case g.stream:
			g.event()
		default:
			g.readAll()
		}
	}
	n := copy(p, g.ready)
	g.ready = g.ready[n:]
	return n, nil
}

// readAll reads all of a body that is one message.
func (g *guarded) readAll() {
	data, err := io.ReadAll(io.LimitReader(g.lines, g.limit+1))
	switch {
	case err != nil:
		g.err = err
	case int64(len(data)) > g.limit && g.limit == maxRefusal:
		g.ready, g.err = data[:g.limit], io.EOF
	case int64(len(data)) > g.limit:
		if g.ready, g.err = g.instead(errTooLong), io.EOF; g.ready == nil {
			g.err = errTooLong
		}
	default:
		g.ready, g.err = mend(data), io.EOF
		if _, err := jsonrpc.DecodeMessage(g.ready); err != nil && g.call != nil {
			g.ready = g.instead(errGarbled)
		}
	}
}

// event reads the next line of a stream.
func (g *guarded) event() {
	var line []byte
	for {
		part, err := g.lines.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxFrame {
			g.err = errTooLong
			if answer := g.instead(errTooLong); answer != nil {
				g.ready, g.err = fmt.Appendf(nil, "\ndata: %s\n\n", answer), io.EOF
			}
			return
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			g.err = err
			if g.get {
				g.r.nudge()
			}
			break
		}
		if err == nil {
			break
		}
	}
	if data, ok := bytes.CutPrefix(line, []byte("data:")); ok && bytes.HasSuffix(data, []byte("\n")) {
		if mended := mend(data); len(mended) > 0 && &mended[0] != &data[0] {
			line = append(append([]byte("data:"), mended...), '\n')
		}
	}
	g.ready = line
	if !g.pace() {
		g.err = io.ErrUnexpectedEOF
	}
}

// pace waits when lines come too fast. It reports false when the connection
// has ended.
func (g *guarded) pace() bool {
	now := time.Now()
	g.tokens = min(burstEvents, g.tokens+eventRate*now.Sub(g.filled).Seconds()) - 1
	g.filled = now
	if g.tokens >= 0 {
		return true
	}
	t := time.NewTimer(time.Duration(-g.tokens / eventRate * float64(time.Second)))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-g.r.l.life.Done():
		return false
	}
}

// Close ends the request.
func (g *guarded) Close() error {
	if g.over.CompareAndSwap(false, true) {
		defer g.end()
	}
	return g.body.Close()
}

// nudge triggers a ping soon.
func (r *remote) nudge() {
	select {
	case r.l.nudge <- struct{}{}:
	default:
	}
}

// mend repairs the result of a call in a message that the session could not decode. Anything else
// is returned as it is.
func mend(data []byte) []byte {
	if !bytes.Contains(data, []byte(`"content"`)) {
		return data
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(data, &m) != nil || m["result"] == nil {
		return data
	}
	mended := RepairResult(m["result"])
	if bytes.Equal(mended, m["result"]) {
		return data
	}
	m["result"] = mended
	out, err := json.Marshal(m)
	if err != nil {
		return data
	}
	return out
}
