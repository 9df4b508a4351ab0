package mcpserve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// listen serves the house over HTTP.
func (h *house) listen(t testing.TB) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h.Handler())
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv
}

// over is a client over HTTP.
func over(t testing.TB, srv *httptest.Server, o *mcp.ClientOptions, quiet bool, roots ...*mcp.Root) *mcp.ClientSession {
	t.Helper()
	hc := &http.Client{Transport: &http.Transport{}}
	cs := dial(t, &mcp.StreamableClientTransport{Endpoint: srv.URL + "/mcp", HTTPClient: hc, DisableStandaloneSSE: quiet, MaxRetries: -1}, o, roots...)
	t.Cleanup(func() {
		_ = cs.Close()
		hc.CloseIdleConnections()
	})
	return cs
}

// Everything works over HTTP too, also for a client that opens no stream of
// its own: roots and forms come with the answer to its request.
func TestHTTP(t *testing.T) {
	t.Parallel()
	for _, quiet := range []bool{false, true} {
		t.Run(fmt.Sprintf("quiet=%t", quiet), func(t *testing.T) {
			t.Parallel()
			h := build(t, permission.Ruleset{ask("bash", "*")}, nil, nil)
			sub := strings.TrimSuffix(h.write(t, "sub dir/a.txt", "over HTTP"), "/a.txt")
			srv := h.listen(t)
			o := answering(func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				return accept(map[string]any{"decision": "once"}), nil
			})
			o.Capabilities.RootsV2 = &mcp.RootCapabilities{ListChanged: true}
			cs := over(t, srv, o, quiet, &mcp.Root{URI: uri(sub)})
			res, err := cs.ListTools(t.Context(), nil)
			if err != nil || len(res.Tools) < 5 {
				t.Fatalf("%v %v", res, err)
			}
			contains(t, call(t, cs, "read", map[string]any{"filePath": "a.txt"}), "over HTTP")
			contains(t, call(t, cs, "bash", map[string]any{"command": "echo hello", "description": "says hello"}), "hello")
		})
	}
}

// The end of a session cancels its calls, instead of waiting for them.
func TestDelete(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	srv := h.listen(t)
	cs := over(t, srv, nil, true)
	began, ended := hanging(t, h, cs)
	go func() {
		_, _ = cs.CallTool(context.Background(), &mcp.CallToolParams{Name: "hang", Arguments: map[string]any{}})
	}()
	<-began
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, srv.URL+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(sessionHeader, cs.ID())
	res, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusNoContent {
		t.Error(res.Status)
	}
	<-ended
}

// hanging adds a tool that ends only when it is cancelled.
func hanging(t *testing.T, h *house, cs *mcp.ClientSession) (began, ended chan struct{}) {
	t.Helper()
	call(t, cs, "glob", map[string]any{"pattern": "*"})
	began, ended = make(chan struct{}), make(chan struct{})
	_, err := h.runtime(t).Register(own(t, "hang", func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
		close(began)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}))
	if err != nil {
		t.Fatal(err)
	}
	return began, ended
}

// A client that is gone is no person to ask: its requests are a no, and do not
// wait for ever.
func TestGoneWhileAsked(t *testing.T) {
	t.Parallel()
	h := build(t, permission.Ruleset{ask("bash", "*")}, nil, nil)
	srv := h.listen(t)
	c := client{t: t, url: srv.URL + "/mcp"}
	id := c.greet(`{"elicitation":{}}`)
	ctx, cancel := context.WithCancel(t.Context())
	res := c.post(ctx, id, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"bash","arguments":{"command":"echo x","description":"x"}}}`)
	buf := make([]byte, 4096)
	n, err := res.Body.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, string(buf[:n]), "elicitation/create")
	rt := h.runtime(t)
	if len(rt.Requests().Pending()) != 1 {
		t.Errorf("%d requests wait", len(rt.Requests().Pending()))
	}
	cancel()
	_ = res.Body.Close()
	for e := range rt.Events(t.Context(), 0) {
		if e.Type == "permission.replied" {
			break
		}
	}
	if len(rt.Requests().Pending()) != 0 {
		t.Error("the request still waits")
	}
}

// A client is one that speaks HTTP by hand.
type client struct {
	t   testing.TB
	url string
}

func (c client) post(ctx context.Context, session, body string) *http.Response {
	c.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set(sessionHeader, session)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	return res
}

// greet does the handshake and returns the name of the session.
func (c client) greet(capabilities string) string {
	c.t.Helper()
	res := c.post(c.t.Context(), "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"c","version":"1"}}}`)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !bytes.Contains(body, []byte("protocolVersion")) {
		c.t.Fatalf("%s %s %v", res.Status, body, err)
	}
	return res.Header.Get(sessionHeader)
}

// Only /mcp is served, and what is no request of the protocol is refused.
func TestHTTPRefuses(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	handler := h.Handler()
	tests := []struct {
		method, path, body string
		header             map[string]string
		want               int
	}{
		{"POST", "/", "{}", nil, http.StatusNotFound},
		{"GET", "/mcp/x", "", nil, http.StatusNotFound},
		{"PUT", "/mcp", "{}", nil, http.StatusMethodNotAllowed},
		{"GET", "/mcp", "", map[string]string{"Accept": "text/event-stream"}, http.StatusBadRequest},
		{"DELETE", "/mcp", "", nil, http.StatusBadRequest},
		{"DELETE", "/mcp", "", map[string]string{sessionHeader: "none"}, http.StatusNotFound},
		{"POST", "/mcp", "{}", map[string]string{"Content-Type": "text/plain"}, http.StatusUnsupportedMediaType},
		{"POST", "/mcp", "rubbish", nil, http.StatusBadRequest},
		{"POST", "/mcp", "[]", nil, http.StatusBadRequest},
		{"POST", "/mcp", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, map[string]string{"Mcp-Protocol-Version": "2025-11-25"}, http.StatusBadRequest},
		{"POST", "/mcp", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, nil, http.StatusBadRequest},
		{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"nonsense"}`, nil, http.StatusBadRequest},
		{"POST", "/mcp", `{"jsonrpc":"2.0","id":1e300,"method":"ping"}`, nil, http.StatusOK},
		{"POST", "/mcp", strings.Repeat("[", 100_000), nil, http.StatusBadRequest},
		{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", maxBody) + `"}}`, nil, http.StatusRequestEntityTooLarge},
		{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, map[string]string{sessionHeader: "none"}, http.StatusNotFound},
		{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, nil, http.StatusOK}, // which holds an error
	}
	for _, tt := range tests {
		req := httptest.NewRequest(tt.method, "http://127.0.0.1"+tt.path, strings.NewReader(tt.body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		for k, v := range tt.header {
			req.Header.Set(k, v)
		}
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, req)
		if rec.Code != tt.want {
			t.Errorf("%s %s %.40s: %d %s, want %d", tt.method, tt.path, tt.body, rec.Code, rec.Body, tt.want)
		}
	}
	if n := len(everySession(h.Server)); n != 0 {
		t.Errorf("%d sessions", n)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	handler.ServeHTTP(rec, httptest.NewRequest("POST", "http://127.0.0.1/mcp", strings.NewReader("{}")))
	if rec.Code != http.StatusServiceUnavailable {
		t.Errorf("a closed server answers with %d", rec.Code)
	}
}

// A session that nobody uses ends, and one that is used does not.
func TestIdleSession(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	h.idle = time.Millisecond
	srv := h.listen(t)
	c := client{t: t, url: srv.URL + "/mcp"}
	c.greet("{}")
	h.work.Wait() // for the end of all sessions
	h.idle = time.Hour
	kept := c.greet("{}")
	res := c.post(t.Context(), kept, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	_ = res.Body.Close()
	se := everySession(h.Server)
	if len(se) != 1 || res.StatusCode != http.StatusOK {
		t.Fatalf("%d sessions, %s", len(se), res.Status)
	}
}

// When all places are taken the longest idle session has to go, and never one
// that has a call under way.
func TestSessionLimit(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	h.most = 2
	srv := h.listen(t)
	busy := over(t, srv, nil, true)
	began, _ := hanging(t, h, busy)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _, _ = busy.CallTool(ctx, &mcp.CallToolParams{Name: "hang", Arguments: map[string]any{}}) }()
	<-began
	c := client{t: t, url: srv.URL + "/mcp"}
	first := c.greet("{}")
	second := c.greet("{}") // takes the place of the first
	for id, want := range map[string]int{first: http.StatusNotFound, second: http.StatusOK, busy.ID(): http.StatusOK} {
		res := c.post(t.Context(), id, `{"jsonrpc":"2.0","id":9,"method":"ping"}`)
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s, want %d", res.Status, want)
		}
	}
	h.Server.mu.Lock()
	h.most = 1
	h.Server.mu.Unlock()
	res := c.post(t.Context(), "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, string(body), "takes no more")
}

// Many handshakes leave as much behind as a few: the server holds a number of
// sessions and no more. HELVE_LONG=1 does a hundred thousand of them.
func TestManyHandshakes(t *testing.T) {
	most := 2_000
	if os.Getenv("HELVE_LONG") != "" {
		most = 100_000
	}
	h := build(t, nil, nil, nil)
	h.log.discard()
	h.most = 64
	handler := h.Handler()
	greet := func() {
		req := httptest.NewRequest("POST", "http://127.0.0.1/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, req)
		if rec.Code != http.StatusOK || rec.Header().Get(sessionHeader) == "" {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
	}
	measure := func() (heap uint64, routines int) {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, runtime.NumGoroutine()
	}
	for range 500 {
		greet()
	}
	heap, routines := measure()
	for range most {
		greet()
	}
	heapAfter, routinesAfter := measure()
	t.Logf("after %d handshakes: heap %d KiB, before %d KiB; goroutines %d, before %d", most, heapAfter>>10, heap>>10, routinesAfter, routines)
	if heapAfter > heap+2<<20 {
		t.Errorf("the heap has grown from %d to %d bytes", heap, heapAfter)
	}
	if routinesAfter > routines+50 {
		t.Errorf("there are %d goroutines, and were %d", routinesAfter, routines)
	}
	if n := len(everySession(h.Server)); n != 64 {
		t.Errorf("%d sessions", n)
	}
}
