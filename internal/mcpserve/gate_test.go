package mcpserve

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/helve-dev/helve/internal/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A porch is a house behind a guard, open to TCP.
type porch struct {
	*house
	*auth.Listener
	reached atomic.Int64 // requests that came through
	client  *http.Client // knows no token
}

func openPorch(t *testing.T) *porch {
	t.Helper()
	p := &porch{house: build(t, nil, nil, nil), client: &http.Client{Transport: &http.Transport{}}}
	var err error
	p.Listener, err = auth.Listen(auth.Bind{File: filepath.Join(t.TempDir(), "private", "token")})
	if err != nil {
		t.Fatal(err)
	}
	g, err := auth.NewGuard(auth.GuardOptions{Token: p.Token, Hosts: p.Hosts})
	if err != nil {
		t.Fatal(err)
	}
	h := p.Handler()
	srv := g.Server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.reached.Add(1)
		h.ServeHTTP(w, r)
	}))
	done := make(chan error, 1)
	go func() { done <- srv.Serve(p.Listener) }()
	t.Cleanup(func() {
		p.client.CloseIdleConnections()
		_ = srv.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return p
}

// A trick is what is changed in a good request, and what it then gets.
type trick struct {
	name   string
	change func(*http.Request)
	want   []int
	writes bool // only for requests with a body
}

func tricks(p *porch, session string) []trick {
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	port := p.Hosts[0][strings.LastIndexByte(p.Hosts[0], ':'):]
	all := []trick{
		{"no token", func(r *http.Request) { r.Header.Del("Authorization") }, []int{401}, false},
		{"wrong token", set("Authorization", "Bearer "+strings.Repeat("x", len(p.Token))), []int{401, 429}, false},
		{"token as a password", func(r *http.Request) { r.SetBasicAuth("helve", p.Token) }, []int{401}, false},
		{"token in the query", func(r *http.Request) {
			r.Header.Del("Authorization")
			r.URL.RawQuery = "token=" + p.Token + "&access_token=" + p.Token
		}, []int{401}, false},
		{"token in a cookie", func(r *http.Request) {
			r.Header.Del("Authorization")
			r.AddCookie(&http.Cookie{Name: "token", Value: p.Token})
		}, []int{401}, false},
		{"guessed session", func(r *http.Request) {
			r.Header.Del("Authorization")
			r.Header.Set(sessionHeader, "guessed-session-id")
		}, []int{401}, false},
		{"known session", func(r *http.Request) {
			r.Header.Del("Authorization")
			r.Header.Set(sessionHeader, session)
		}, []int{401}, false},
		{"cross-site", set("Sec-Fetch-Site", "cross-site"), []int{403}, false},
		{"same-site", set("Sec-Fetch-Site", "same-site"), []int{403}, false},
		{"no type", func(r *http.Request) { r.Header.Del("Content-Type") }, []int{415}, true},
		{"packed", set("Content-Encoding", "gzip"), []int{415}, true},
	}
	for _, host := range []string{"evil.example", "evil.example" + port, "localhost", "localhost:1", "localhost." + port, "0.0.0.0" + port} {
		all = append(all, trick{"host " + host, func(r *http.Request) { r.Host = host }, []int{421}, false})
	}
	for _, origin := range []string{"https://evil.example", "http://evil.example" + port, "null", "http://localhost:1", p.URL() + ".evil.example"} {
		all = append(all, trick{"origin " + origin, set("Origin", origin), []int{403}, false})
	}
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json; charset=utf-16"} {
		all = append(all, trick{"type " + kind, set("Content-Type", kind), []int{415}, true})
	}
	return all
}

const initialise = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// good is a request that passes the guard.
func (p *porch) good(t *testing.T, method, path string) *http.Request {
	t.Helper()
	var body io.Reader
	switch method {
	case "POST", "PUT", "PATCH":
		body = strings.NewReader(initialise)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, p.URL()+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.Token)
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	return r
}

func (p *porch) status(t *testing.T, r *http.Request) int {
	t.Helper()
	resp, err := p.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	for name := range resp.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("the answer has %s", name)
		}
	}
	if !strings.Contains(resp.Header.Get("Cache-Control"), "no-store") || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("the answer lacks our headers: %v", resp.Header)
	}
	return resp.StatusCode
}

// withToken is a client's transport that carries the token.
type withToken struct {
	inner http.RoundTripper
	token string
}

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.token)
	return w.inner.RoundTrip(r)
}

// Every trick is refused on every route with every method, and nothing of it
// comes to the server, which serves a real client all the while.
func TestGateRefuses(t *testing.T) {
	p := openPorch(t)
	p.write(t, "a.txt", "hello from the house\n")
	cs := dial(t, &mcp.StreamableClientTransport{
		Endpoint:   p.URL() + "/mcp",
		HTTPClient: &http.Client{Transport: withToken{p.client.Transport, p.Token}},
	}, nil)
	defer cs.Close()
	contains(t, call(t, cs, "read", map[string]any{"filePath": filepath.Join(p.dir, "a.txt")}), "hello from the house")
	if cs.ID() == "" {
		t.Fatal("the session has no name")
	}

	routes := []string{"/mcp", "/mcp/", "/", "/sse", "/session", "/.well-known/oauth-protected-resource", "//mcp", "/x/../mcp", "/%6dcp"}
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
	bad := tricks(p, cs.ID())
	before := p.reached.Load()
	for _, route := range routes {
		for _, method := range methods {
			for _, trick := range bad {
				r := p.good(t, method, route)
				if trick.writes && r.Body == nil {
					continue
				}
				trick.change(r)
				if got := p.status(t, r); !has(trick.want, got) {
					t.Errorf("%s %s, %s: %d, want %v", method, route, trick.name, got, trick.want)
				}
			}
		}
		for _, method := range []string{"TRACE", "PROPFIND", "mcp"} {
			if got := p.status(t, p.good(t, method, route)); got != 405 {
				t.Errorf("%s %s: %d", method, route, got)
			}
		}
	}
	if n := p.reached.Load() - before; n != 0 {
		t.Errorf("%d requests came through", n)
	}
	if n := len(p.workspaces()); n != 1 {
		t.Errorf("%d workspaces are open", n)
	}
	// The right token is not locked out, and the session is still there.
	contains(t, call(t, cs, "read", map[string]any{"filePath": filepath.Join(p.dir, "a.txt")}), "hello from the house")
}

func has(all []int, n int) bool {
	for _, m := range all {
		if m == n {
			return true
		}
	}
	return false
}

// The good request that the tricks are made of is one: it starts a session, at
// every host we are called by, from a program and from a page of ours.
func TestGateLetsIn(t *testing.T) {
	p := openPorch(t)
	hosts := slices.Clone(p.Hosts)
	for _, host := range p.Hosts { // names have no case
		if up := strings.ToUpper(host); up != host {
			hosts = append(hosts, up)
		}
	}
	if len(hosts) == len(p.Hosts) {
		t.Fatalf("no host is a name: %v", hosts)
	}
	for _, host := range hosts {
		for _, origin := range []string{"", "http://" + strings.ToLower(host)} {
			r := p.good(t, "POST", "/mcp")
			r.Host = host
			if origin != "" {
				r.Header.Set("Origin", origin)
			}
			if got := p.status(t, r); got != 200 {
				t.Errorf("host %s, origin %q: %d", host, origin, got)
			}
		}
	}
	if n, want := p.reached.Load(), int64(2*len(hosts)); n != want {
		t.Errorf("%d came through, want %d", n, want)
	}
}

// Several real clients work over TCP at once, through one guard.
func TestGateClients(t *testing.T) {
	p := openPorch(t)
	p.write(t, "a.txt", "hello from the house\n")
	t.Run("at once", func(t *testing.T) {
		for i := range 4 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				cs := dial(t, &mcp.StreamableClientTransport{
					Endpoint:   p.URL() + "/mcp",
					HTTPClient: &http.Client{Transport: withToken{p.client.Transport, p.Token}},
				}, nil)
				defer cs.Close()
				tools, err := cs.ListTools(t.Context(), nil)
				if err != nil || len(tools.Tools) == 0 {
					t.Fatalf("tools: %v", err)
				}
				contains(t, call(t, cs, "read", map[string]any{"filePath": filepath.Join(p.dir, "a.txt")}), "hello from the house")
				contains(t, call(t, cs, "read", map[string]any{"filePath": filepath.Join(p.dir, "none.txt")}), "ERROR: ")
			})
		}
	})
	c := mcp.NewClient(&mcp.Implementation{Name: "stranger", Version: "1"}, nil)
	cs, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: p.URL() + "/mcp", HTTPClient: p.client}, nil)
	if err == nil {
		_ = cs.Close()
		t.Error("a client without the token is let in")
	}
}
