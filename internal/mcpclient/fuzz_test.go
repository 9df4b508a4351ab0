package mcpclient

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/helve-dev/helve/mcp"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Whatever a local server prints, reading ends, nothing panics, and what comes
// out are messages.
func FuzzPipe(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"x"}]}}` + "\n"))
	f.Add([]byte("stray\n[{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":7}]\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"helve-1","progress":1}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		pool := New(mcp.Options{}, mcp.Host{})
		l := newLink(newPeer(pool, mcp.Server{Name: "x"}))
		defer l.kill()
		_, w := l.trackCall()
		p := &pipe{
			l: l, r: bufio.NewReaderSize(bytes.NewReader(data), 64), w: make(chan outgoing, 4),
			ends: map[jsonrpc.ID]int64{}, asked: map[jsonrpc.ID]bool{},
		}
		for i := range 10 {
			id, err := jsonrpc.MakeID(float64(i))
			if err != nil {
				t.Fatal(err)
			}
			p.ends[id] = 0
		}
		for n := 0; ; n++ {
			m, err := p.Read(t.Context())
			if err != nil {
				break
			}
			if m == nil || n > len(data) {
				t.Fatalf("message %d is %v", n, m)
			}
		}
		if len(p.asked) > maxRequests || len(w.progress) > 1 {
			t.Fatal("a limit was passed")
		}
	})
}

// Whatever a remote server answers, the body ends and is bounded.
func FuzzGuard(f *testing.F) {
	f.Add([]byte("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"x\"}]}}\n\n"), true)
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":5}}`), false)
	f.Add([]byte("event: x\ndata:\n\n:\n"), true)
	f.Fuzz(func(t *testing.T, data []byte, stream bool) {
		pool := New(mcp.Options{}, mcp.Host{})
		l := newLink(newPeer(pool, mcp.Server{Name: "x"}))
		defer l.kill()
		r := &remote{l: l}
		resp := &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(data)), Header: http.Header{}}
		if stream {
			resp.Header.Set("Content-Type", "text/event-stream")
		}
		ended := false
		g := r.guard(resp, func() { ended = true })
		out, err := io.ReadAll(g)
		if err != nil {
			t.Fatal(err)
		}
		if stream && bytes.Count(out, []byte("\n")) != bytes.Count(data, []byte("\n")) {
			t.Fatalf("%q became %q", data, out)
		}
		if !bytes.Contains(data, []byte(`"content"`)) && !bytes.Equal(out, data) {
			t.Fatalf("%q became %q", data, out)
		}
		if g.Close() != nil || !ended {
			t.Fatal("it did not end")
		}
	})
}
