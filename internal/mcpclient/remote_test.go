package mcpclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/mcp"
)

type echoIn struct {
	Text string `json:"text"`
}

// sdkServer is a server made with the SDK.
func sdkServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "sdk", Version: "2"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "echo"}, func(_ context.Context, _ *sdk.CallToolRequest, in echoIn) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: in.Text}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "slow"}, func(ctx context.Context, r *sdk.CallToolRequest, in echoIn) (*sdk.CallToolResult, any, error) {
		for i := range 6 {
			_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i), Message: "m"})
			time.Sleep(400 * time.Millisecond)
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "data"}, func(context.Context, *sdk.CallToolRequest, echoIn) (*sdk.CallToolResult, map[string]int, error) {
		return nil, map[string]int{"n": 5}, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "hang"}, func(ctx context.Context, _ *sdk.CallToolRequest, _ echoIn) (*sdk.CallToolResult, any, error) {
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	s.AddResource(&sdk.Resource{URI: "x://r", Name: "r"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "x://r", Text: "content"}}}, nil
	})
	s.AddPrompt(&sdk.Prompt{Name: "p", Arguments: []*sdk.PromptArgument{{Name: "a", Required: true}}}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{}, nil
	})
	return s
}

// A site is an HTTP server that notes what it is asked.
type site struct {
	*httptest.Server
	mu   sync.Mutex
	seen []*http.Request
}

func newSite(t *testing.T, h http.Handler) *site {
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r.Clone(context.Background()))
		s.mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func streamable(s *sdk.Server) http.Handler {
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
}

func TestRemote(t *testing.T) {
	server := sdkServer()
	web := newSite(t, streamable(server))
	b := newBench(t, mcp.Options{Servers: []mcp.Server{{Name: "r", URL: web.URL, Headers: map[string]string{"X-Key": "abc"}, Timeout: 5 * time.Second}}}, mcp.Host{})
	b.gather()
	s := b.status("r")
	if s.State != mcp.Connected || s.Kind != "remote" || s.Transport != "http" || s.Tools != 4 || !s.Resources || !s.Prompts {
		t.Fatalf("%+v", s)
	}
	if got := b.must("r_echo", map[string]any{"text": "hi"}).Output; got != "hi" {
		t.Error(got)
	}
	if got := b.must("r_data", map[string]any{"text": ""}); got.Output != `{"n":5}` || got.Data == nil {
		t.Errorf("%+v", got)
	}
	web.mu.Lock()
	for _, r := range web.seen {
		if r.Header.Get("X-Key") != "abc" {
			t.Errorf("%s lacks the header", r.Method)
		}
	}
	web.mu.Unlock()
	if list, err := b.pool.Resources(t.Context(), "r"); err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
	if list, err := b.pool.Templates(t.Context(), "r"); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
	if list, err := b.pool.Prompts(t.Context(), "r"); err != nil || len(list) != 1 || !list[0].Arguments[0].Required {
		t.Errorf("%v %v", list, err)
	}
	sdk.AddTool(server, &sdk.Tool{Name: "later"}, func(context.Context, *sdk.CallToolRequest, echoIn) (*sdk.CallToolResult, any, error) {
		return nil, nil, errors.New("no")
	})
	b.until("the new tool", func() bool { return slices.Contains(b.names(), "r_later") })
	if err := b.fails("r_later", map[string]any{"text": ""}); err.Error() != "no" {
		t.Error(err)
	}
}

func TestRemoteTimeouts(t *testing.T) {
	web := newSite(t, streamable(sdkServer()))
	b := newBench(t, mcp.Options{Servers: []mcp.Server{{Name: "r", URL: web.URL, Timeout: 2 * time.Second}}}, mcp.Host{})
	b.gather()
	if got := b.must("r_slow", map[string]any{"text": ""}).Output; got != "done" || len(b.progress) == 0 {
		t.Errorf("%s %v", got, b.progress)
	}
	if err := b.fails("r_hang", map[string]any{"text": ""}); err.Code != "timeout" {
		t.Error(err)
	}
	b.must("r_echo", map[string]any{"text": ""})
}

func TestRemoteSSE(t *testing.T) {
	server := sdkServer()
	web := newSite(t, sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return server }, nil))
	b := newBench(t, mcp.Options{Servers: []mcp.Server{{Name: "r", URL: web.URL, Headers: map[string]string{"X-Key": "abc"}}}}, mcp.Host{})
	b.gather()
	if s := b.status("r"); s.State != mcp.Connected || s.Transport != "sse" {
		t.Fatalf("%+v", s)
	}
	if got := b.must("r_echo", map[string]any{"text": "hi"}).Output; got != "hi" {
		t.Error(got)
	}
	web.mu.Lock()
	defer web.mu.Unlock()
	if web.seen[0].Method != http.MethodPost {
		t.Errorf("the first attempt was a %s", web.seen[0].Method)
	}
	for _, r := range web.seen {
		if r.Header.Get("X-Key") != "abc" {
			t.Errorf("%s lacks the header", r.Method)
		}
	}
}

func TestRemoteRefused(t *testing.T) {
	status := func(code int, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		})
	}
	elsewhere := newSite(t, streamable(sdkServer()))
	open := handmade(none, none)
	late := newSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "tools/list") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		open.ServeHTTP(w, r)
	}))
	redirect := newSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}))
	lure := newSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: endpoint\ndata: %s/x\n\n", elsewhere.URL)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	servers := []mcp.Server{
		{Name: "503", URL: newSite(t, status(503, "x")).URL},
		{Name: "401", URL: newSite(t, status(401, "x")).URL},
		{Name: "403", URL: newSite(t, status(403, "x")).URL},
		{Name: "404", URL: newSite(t, status(404, strings.Repeat("x", 1<<20))).URL},
		{Name: "reg", URL: newSite(t, status(401, `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"dynamic client registration is off"}}`)).URL, NoOAuth: true},
		{Name: "oauth", URL: newSite(t, status(401, "x")).URL},
		{Name: "nooauth", URL: newSite(t, status(401, "x")).URL, NoOAuth: true},
		{Name: "late", URL: late.URL},
		{Name: "redirect", URL: redirect.URL, Headers: map[string]string{"X-Key": "abc"}},
		{Name: "lure", URL: lure.URL, Headers: map[string]string{"X-Key": "abc"}},
		{Name: "ftp", URL: "ftp://example.com"},
		{Name: "html", URL: newSite(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })).URL},
		{Name: "good", URL: elsewhere.URL},
	}
	for i := range servers {
		servers[i].Timeout = 4 * time.Second
	}
	b := newBench(t, mcp.Options{Servers: servers}, mcp.Host{SignIns: filepath.Join(t.TempDir(), "signin.json")})
	b.gather()
	for _, want := range []struct {
		name  string
		state mcp.State
		text  string
	}{
		{"503", mcp.Failed, "The server answered 503 Service Unavailable."},
		{"401", mcp.NeedsAuth, "helve mcp auth 401"},
		{"403", mcp.Failed, "403"},
		{"404", mcp.Failed, "The server answered 404 Not Found."},
		{"reg", mcp.NeedsRegistration, "Server does not support dynamic client registration. Please provide clientId in config."},
		{"oauth", mcp.NeedsAuth, "helve mcp auth oauth"},
		{"nooauth", mcp.NeedsAuth, ""},
		{"late", mcp.NeedsAuth, "helve mcp auth late"},
		{"redirect", mcp.Failed, errElsewhere.Error()},
		{"lure", mcp.Failed, ""},
		{"ftp", mcp.Failed, "http"},
		{"html", mcp.Failed, ""},
		{"good", mcp.Connected, ""},
	} {
		b.until(want.name, func() bool { // it may be trying again at this moment
			s := b.status(want.name)
			return s.State == want.state && strings.Contains(s.Error, want.text)
		})
	}
	elsewhere.mu.Lock()
	defer elsewhere.mu.Unlock()
	for _, r := range elsewhere.seen {
		if r.Header.Get("X-Key") != "" {
			t.Errorf("the header went elsewhere with %s %s", r.Method, r.URL)
		}
	}
}

func TestRemoteHangs(t *testing.T) {
	var open atomic.Int32
	web := newSite(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		open.Add(1)
		_, _ = io.ReadAll(r.Body)
		<-r.Context().Done()
		open.Add(-1)
	}))
	good := newSite(t, streamable(sdkServer()))
	b := newBench(t, mcp.Options{Servers: []mcp.Server{{Name: "r", URL: web.URL, Timeout: 300 * time.Millisecond}, {Name: "good", URL: good.URL}}}, mcp.Host{})
	b.gather()
	if s := b.status("r"); s.State != mcp.Failed && s.State != mcp.Connecting || s.State == mcp.Failed && s.Error != "Operation timed out after 300ms" {
		t.Errorf("%+v", s)
	}
	b.must("good_echo", map[string]any{"text": ""})
	if err := b.pool.Disconnect("r"); err != nil {
		t.Fatal(err)
	}
	b.until("the attempts are aborted", func() bool { return open.Load() == 0 })
}

// A server that goes away and comes back is found again, and its state is
// true all the time.
func TestRemoteComesBack(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	serve := func(l net.Listener) *httptest.Server {
		server := sdkServer()
		t.Cleanup(func() {
			for session := range server.Sessions() { // nobody can say goodbye to it
				_ = session.Close()
			}
		})
		s := httptest.NewUnstartedServer(streamable(server))
		s.Listener.Close()
		s.Listener = l
		s.Start()
		return s
	}
	web := serve(listener)
	b := newBench(t, mcp.Options{Servers: []mcp.Server{{Name: "r", URL: "http://" + addr}}}, mcp.Host{})
	b.gather()
	b.must("r_echo", map[string]any{"text": ""})
	web.CloseClientConnections()
	web.Close()
	b.state("r", mcp.Failed)
	if listener, err = net.Listen("tcp", addr); err != nil {
		t.Skip("the port was taken by another program:", err)
	}
	web = serve(listener)
	defer func() {
		web.CloseClientConnections()
		web.Close()
	}()
	if got := b.must("r_echo", map[string]any{"text": "back"}).Output; got != "back" {
		t.Error(got)
	}
	b.state("r", mcp.Connected)
}

// handmade answers initialize and the list of one tool, and leaves calls and
// the stream to the test.
func handmade(call, stream http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			stream(w, r)
			return
		}
		var m fakeMessage
		_ = json.NewDecoder(r.Body).Decode(&m)
		reply := func(result string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
		}
		switch m.Method {
		case "initialize":
			reply(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`)
		case "tools/list":
			reply(`{"tools":[{"name":"do","inputSchema":{"type":"object"}}]}`)
		case "tools/call":
			r.Header.Set("X-Id", string(m.ID))
			call(w, r)
		case "ping":
			reply(`{}`)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
}

func none(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) }

func TestRemoteHostile(t *testing.T) {
	page := func(contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = io.WriteString(w, strings.ReplaceAll(body, "ID", r.Header.Get("X-Id")))
		}
	}
	flood := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := 0; r.Context().Err() == nil; i++ {
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"%d\"}}\n\n", i)
		}
	}
	odd := `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"hologram"},{"type":"text","text":"fine"}]}}`
	huge := `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 17<<20) + `"}]}}`
	site := func(call, stream http.HandlerFunc) string { return newSite(t, handmade(call, stream)).URL }
	b := newBench(t, mcp.Options{Servers: []mcp.Server{
		{Name: "json", URL: site(page("application/json", odd), none)},
		{Name: "events", URL: site(page("text/event-stream", "data: "+odd+"\n\n"), none)},
		{Name: "garbage", URL: site(page("application/json", "{{{"), none), Timeout: 2 * time.Second},
		{Name: "cut", URL: site(page("text/event-stream", "data: {}\n"), none), Timeout: 2 * time.Second},
		{Name: "hugejson", URL: site(page("application/json", huge), none), Timeout: 25 * time.Second},
		{Name: "hugeevent", URL: site(page("text/event-stream", "data: "+huge+"\n\n"), none), Timeout: 25 * time.Second},
		{Name: "wild", URL: site(page("application/json", odd), flood)},
		{Name: "mute", URL: site(page("application/json", odd), func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })},
	}}, mcp.Host{})
	b.gather()
	for _, name := range []string{"json", "events", "wild", "mute"} {
		if got := b.must(name+"_do", nil).Output; !strings.Contains(got, "fine") {
			t.Errorf("%s gave %q", name, got)
		}
	}
	for name, want := range map[string]string{
		"garbage": "can not be read", "cut": "broke before", "hugejson": "larger than 16 MiB", "hugeevent": "larger than 16 MiB",
	} {
		if err := b.fails(name+"_do", nil); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v (%s)", name, err, err.Code)
		}
	}
	if s := b.status("hugejson"); s.State != mcp.Connected || s.Restarts != 0 {
		t.Errorf("a bad answer cost the connection: %+v", s)
	}
	for range 5 {
		b.must("json_do", nil)
		b.must("wild_do", nil)
	}
}

// A server that has left the initialize handshake behind is spoken to in the
// newest protocol.
func TestRemoteModern(t *testing.T) {
	for _, code := range []int{-32601, sdk.CodeHeaderMismatch, sdk.CodeUnsupportedProtocolVersion} {
		for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
			t.Run(fmt.Sprint(code, " ", status), func(t *testing.T) { remoteModern(t, code, status, "") })
		}
		t.Run(fmt.Sprint(code, " without an id"), func(t *testing.T) { remoteModern(t, code, http.StatusBadRequest, "null") })
	}
}

// remoteModern refuses the old handshake, under the id of the request or another.
func remoteModern(t *testing.T, code, status int, id string) {
	server := sdkServer()
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true})
	web := newSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m fakeMessage
		if json.Unmarshal(body, &m) == nil && m.Method == "initialize" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"gone"}}`, cmp.Or(id, string(m.ID)), code)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		inner.ServeHTTP(w, r)
	}))
	b := newBench(t, mcp.Options{Servers: []mcp.Server{{Name: "r", URL: web.URL, Timeout: 10 * time.Second}}}, mcp.Host{})
	b.gather()
	if s := b.status("r"); s.State != mcp.Connected || s.Tools != 4 {
		t.Fatalf("%+v", s)
	}
	if got := b.must("r_echo", map[string]any{"text": "hi"}).Output; got != "hi" {
		t.Error(got)
	}
	sdk.AddTool(server, &sdk.Tool{Name: "later"}, func(context.Context, *sdk.CallToolRequest, echoIn) (*sdk.CallToolResult, any, error) {
		return nil, nil, nil
	})
	b.until("the new tool", func() bool { return slices.Contains(b.names(), "r_later") })
}

// A server that stops answering is not called connected, and one that answers
// again is.
func TestRemoteStuck(t *testing.T) {
	var stuck atomic.Bool
	inner := streamable(sdkServer())
	web := newSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if stuck.Load() && r.Method == http.MethodPost {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return
		}
		inner.ServeHTTP(w, r)
	}))
	b := newBench(t, mcp.Options{Servers: []mcp.Server{{Name: "r", URL: web.URL}}}, mcp.Host{})
	b.gather()
	stuck.Store(true)
	if s := b.state("r", mcp.Failed); s.Error != "The server does not answer." || s.Tools != 4 {
		t.Errorf("%+v", s)
	}
	stuck.Store(false)
	if s := b.state("r", mcp.Connected); s.Restarts != 0 {
		t.Errorf("%+v", s)
	}
	b.must("r_echo", map[string]any{"text": ""})
}
