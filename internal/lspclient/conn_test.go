package lspclient

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An ear is a handler that remembers, and answers by a function.
type ear struct {
	mu     sync.Mutex
	heard  []string // methods with their parameters, in order
	strays []string
	answer func(method string, params json.RawMessage) (any, error)
}

func (e *ear) request(method string, params json.RawMessage) (any, error) {
	if e.answer == nil {
		return nil, &rpcError{Code: codeNoMethod, Message: "unknown method " + method}
	}
	return e.answer(method, params)
}

func (e *ear) notified(method string, params json.RawMessage) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, method+" "+string(params))
}

func (e *ear) stray(line string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.strays = append(e.strays, line)
}

func (e *ear) all() (heard, strays []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.heard, e.strays
}

// A mouth is the server's end of a connection.
type mouth struct {
	t   *testing.T
	in  *bufio.Reader
	raw io.ReadCloser
	out io.WriteCloser
}

// connect makes a connection whose server is played by the test.
func connect(t *testing.T, h handler) (*conn, *mouth) {
	t.Helper()
	theirIn, ourOut := io.Pipe()
	ourIn, theirOut := io.Pipe()
	c := newConn(ourOut, ourIn, h)
	t.Cleanup(func() { c.close(nil) })
	return c, &mouth{t, bufio.NewReader(theirIn), theirIn, theirOut}
}

// hear reads the next message that the server gets.
func (m *mouth) hear() string {
	m.t.Helper()
	body, err := readFrame(m.in, frameLimit, func(line string) { m.t.Errorf("not a message: %q", line) })
	if err != nil {
		m.t.Errorf("the server reads: %v", err)
	}
	return string(body)
}

// expect reads the next message and compares it.
func (m *mouth) expect(want string) {
	m.t.Helper()
	if got := m.hear(); got != want {
		m.t.Errorf("the server got %s, want %s", got, want)
	}
}

func (m *mouth) say(body string) { m.print(string(appendFrame(nil, []byte(body)))) }

func (m *mouth) print(text string) {
	m.t.Helper()
	if _, err := io.WriteString(m.out, text); err != nil {
		m.t.Errorf("the server writes: %v", err)
	}
}

type result struct {
	raw json.RawMessage
	err error
}

// ask calls in the background.
func ask(ctx context.Context, c *conn, method string, params any) <-chan result {
	got := make(chan result, 1)
	go func() {
		raw, err := c.call(ctx, method, params)
		got <- result{raw, err}
	}()
	return got
}

func TestCall(t *testing.T) {
	for _, c := range []struct {
		name, answer string // with ID in the place of the id
		want         string
		err          error
	}{
		{name: "result", answer: `{"jsonrpc":"2.0","id":ID,"result":{"a":[1]}}`, want: `{"a":[1]}`},
		{name: "null", answer: `{"jsonrpc":"2.0","id":ID,"result":null}`, want: `null`},
		{name: "no result", answer: `{"jsonrpc":"2.0","id":ID}`, want: `null`},
		{name: "null error", answer: `{"id":ID,"result":1,"error":null}`, want: `1`},
		{name: "decimal id", answer: `{"id":ID.0,"result":1}`, want: `1`},
		{name: "unknown method", answer: `{"id":ID,"error":{"code":-32601,"message":"no"}}`, err: &rpcError{Code: -32601, Message: "no"}},
		{name: "data", answer: `{"id":ID,"error":{"code":5,"message":"no","data":{"x":1}}}`, err: &rpcError{Code: 5, Message: "no", Data: json.RawMessage(`{"x":1}`)}},
		{name: "error of its own form", answer: `{"id":ID,"error":"no"}`, err: &rpcError{Code: codeInternal, Message: `"no"`}},
		{name: "after others", answer: `{"id":99,"result":0}` + "\x00" + `{"id":"ID","result":0}` + "\x00" + `{"id":null,"result":0}` + "\x00" + `{"id":ID.5,"result":0}` + "\x00" + `{"id":ID,"result":1}`, want: `1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, server := connect(t, &ear{})
			got := ask(t.Context(), conn, "m", map[string]int{"p": 1})
			server.expect(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"p":1}}`)
			for part := range strings.SplitSeq(strings.ReplaceAll(c.answer, "ID", "1"), "\x00") {
				server.say(part)
			}
			r := <-got
			if string(r.raw) != c.want {
				t.Errorf("result %s, want %s", r.raw, c.want)
			}
			if c.err == nil && r.err != nil || c.err != nil && cmp.Diff(c.err, r.err) != "" {
				t.Errorf("error %#v, want %#v", r.err, c.err)
			}
		})
	}
}

func TestMessagesInOrder(t *testing.T) {
	c, server := connect(t, &ear{})
	for i := range 1000 {
		if err := c.notify("n", i); err != nil {
			t.Fatal(err)
		}
	}
	got := ask(t.Context(), c, "<call>", nil)
	for i := range 1000 {
		server.expect(fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":%d}`, i))
	}
	server.expect(`{"jsonrpc":"2.0","id":1,"method":"<call>"}`)
	server.say(`{"id":1,"result":"after"}`)
	if r := <-got; string(r.raw) != `"after"` {
		t.Error(r)
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	c, server := connect(t, &ear{})
	const many = 50
	var calls []<-chan result
	for i := range many {
		calls = append(calls, ask(t.Context(), c, "m", i))
	}
	for range many { // every answer names what was asked
		var m struct{ ID, Params int }
		if err := json.Unmarshal([]byte(server.hear()), &m); err != nil {
			t.Fatal(err)
		}
		server.say(fmt.Sprintf(`{"id":%d,"result":%d}`, m.ID, m.Params))
	}
	for i, got := range calls {
		if r := <-got; string(r.raw) != fmt.Sprint(i) {
			t.Errorf("call %d got %s, %v", i, r.raw, r.err)
		}
	}
}

func TestCallCancelled(t *testing.T) {
	c, server := connect(t, &ear{})
	ctx, cancel := context.WithCancelCause(t.Context())
	got := ask(ctx, c, "slow", nil)
	server.expect(`{"jsonrpc":"2.0","id":1,"method":"slow"}`)
	why := errors.New("enough")
	cancel(why)
	if r := <-got; !errors.Is(r.err, why) {
		t.Errorf("error %v", r.err)
	}
	server.expect(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`)
	server.say(`{"id":1,"result":"late"}`)
	if _, err := c.call(ctx, "never sent", nil); !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
	got = ask(t.Context(), c, "next", nil)
	server.expect(`{"jsonrpc":"2.0","id":2,"method":"next"}`)
	server.say(`{"id":2,"result":"in time"}`)
	if r := <-got; string(r.raw) != `"in time"` {
		t.Error(r)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) > 0 {
		t.Errorf("%d calls are still waited for", len(c.waiting))
	}
}

func TestRequestsOfServer(t *testing.T) {
	h := &ear{answer: func(method string, params json.RawMessage) (any, error) {
		switch method {
		case "nothing":
			return nil, nil
		case "echo":
			return map[string]any{"got": params}, nil
		case "false":
			return false, nil
		case "refused":
			return nil, fmt.Errorf("wrapped: %w", &rpcError{Code: 7, Message: "not now"})
		case "failed":
			return nil, errors.New("it <failed>")
		case "wrong":
			return make(chan int), nil
		}
		return nil, &rpcError{Code: codeNoMethod, Message: "unknown method " + method}
	}}
	_, server := connect(t, h)
	for _, c := range [][2]string{
		{`{"id":1,"method":"nothing"}`, `{"jsonrpc":"2.0","id":1,"result":null}`},
		{`{"id":"a b","method":"echo","params":[1]}`, `{"jsonrpc":"2.0","id":"a b","result":{"got":[1]}}`},
		{`{"id":12345678901234567890,"method":"false"}`, `{"jsonrpc":"2.0","id":12345678901234567890,"result":false}`},
		{`{"id":0,"method":"refused"}`, `{"jsonrpc":"2.0","id":0,"error":{"code":7,"message":"not now"}}`},
		{`{"id":-1,"method":"failed"}`, `{"jsonrpc":"2.0","id":-1,"error":{"code":-32603,"message":"it <failed>"}}`},
		{`{"id":3,"method":"wrong"}`, `{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"send an answer: json: unsupported type: chan int"}}`},
		{`{"id":4,"method":"other"}`, `{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"unknown method other"}}`},
	} {
		server.say(c[0])
		server.expect(c[1])
	}
}

func TestGarbageIsLeftOut(t *testing.T) {
	h := &ear{}
	_, server := connect(t, h)
	server.print("Starting up\n")
	for _, body := range []string{`[]`, `[{"method":"in a batch"}]`, `7`, ``, `{"method":`, `{}`, `{"method":3}`, `{"jsonrpc":"2.0","error":{"code":1,"message":"?"},"id":null}`, "\xff\xfe"} {
		server.say(body)
	}
	server.say(`{"method":"a","params":{"x":1}}`)
	server.say(`{"id":null,"method":"b"}`)
	server.say(`{"id":1,"method":"end"}`)
	server.hear()
	heard, strays := h.all()
	if d := cmp.Diff([]string{`a {"x":1}`, "b "}, heard); d != "" {
		t.Errorf("heard (-want +got):\n%s", d)
	}
	if len(strays) != 10 || strays[0] != "Starting up" || strays[1] != `not a message: "[]"` {
		t.Errorf("printed: %q", strays)
	}
}

func TestFlood(t *testing.T) {
	h := &ear{}
	_, server := connect(t, h)
	const many = 20_000
	for i := range many {
		server.say(fmt.Sprintf(`{"method":"n","params":%d}`, i))
	}
	server.say(`{"id":1,"method":"end"}`)
	server.hear()
	heard, _ := h.all()
	if len(heard) != many {
		t.Fatalf("%d messages of %d", len(heard), many)
	}
	for i, got := range heard {
		if got != fmt.Sprintf("n %d", i) {
			t.Fatalf("message %d is %q", i, got)
		}
	}
}

// A server that does not read holds up nobody, and is given up on.
func TestDeafServer(t *testing.T) {
	for _, c := range []struct {
		name   string
		params any
		most   int
	}{
		{"bytes", strings.Repeat("x", 1<<20), 65},
		{"messages", 1, queueMessages + 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, _ := connect(t, &ear{})
			under := ask(t.Context(), conn, "m", nil)
			sent := 0
			var err error
			for ; err == nil && sent <= c.most; sent++ {
				err = conn.notify("n", c.params)
			}
			if !errors.Is(err, errDeaf) || sent < c.most-2 {
				t.Errorf("after %d messages: %v", sent, err)
			}
			if r := <-under; !errors.Is(r.err, errDeaf) {
				t.Errorf("the call under way: %v", r.err)
			}
			<-conn.done()
		})
	}
}

// So is one that asks and does not read the answers.
func TestDeafServerThatAsks(t *testing.T) {
	big := strings.Repeat("x", 1<<12)
	c, server := connect(t, &ear{answer: func(string, json.RawMessage) (any, error) { return big, nil }})
	c.room = 1 << 16
	for range 100 {
		if _, err := server.out.Write(appendFrame(nil, []byte(`{"id":1,"method":"m"}`))); err != nil {
			break
		}
	}
	<-c.done()
	if err := c.err(); !errors.Is(err, errDeaf) {
		t.Error(err)
	}
}

// What is waiting counts only until it is written.
func TestReadingServerIsNotDeaf(t *testing.T) {
	c, server := connect(t, &ear{})
	c.room = 1 << 20
	big := strings.Repeat("x", 1<<17)
	for range 20 {
		if err := c.notify("n", big); err != nil {
			t.Fatal(err)
		}
		if got := server.hear(); len(got) < len(big) {
			t.Fatalf("%d bytes", len(got))
		}
	}
}

func TestMessageTooLargeToSend(t *testing.T) {
	c, server := connect(t, &ear{})
	c.room = 1000
	if err := c.notify("n", strings.Repeat("x", c.room)); !errors.Is(err, errLarge) {
		t.Errorf("error %v", err)
	}
	if err := c.notify("n", make(chan int)); err == nil {
		t.Error("a channel was sent")
	}
	if err := c.notify("next", nil); err != nil {
		t.Errorf("after it: %v", err)
	}
	server.expect(`{"jsonrpc":"2.0","method":"next"}`)
}
