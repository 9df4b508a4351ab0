package server

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/helve-dev/helve/internal/auth"
	"github.com/helve-dev/helve/tool"
)

// Behind the gate everything works as before it, and what is public is just
// what has to be.
func TestBehindTheGate(t *testing.T) {
	t.Parallel()
	const secret = "dGhpcy1pcy1hLXRva2VuLWZvci10ZXN0cy1vbmx5LTE"
	h := build(t, changes{server: func(o *Options) {
		o.Token = func() string { return secret }
		o.Console = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") })
	}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	public := http.NewServeMux()
	for _, pattern := range Public() {
		public.HandleFunc(pattern, http.NotFound)
	}
	g, err := auth.NewGuard(auth.GuardOptions{Token: secret, Hosts: []string{l.Addr().String()}, Public: func(r *http.Request) bool {
		_, pattern := public.Handler(r)
		return pattern != ""
	}})
	if err != nil {
		t.Fatal(err)
	}
	web := g.Server(h.Handler())
	var wg sync.WaitGroup
	wg.Go(func() { _ = web.Serve(l) })
	t.Cleanup(func() { _ = web.Close(); wg.Wait() })

	send := func(ctx context.Context, at, body, token string) (int, string) {
		method, path, _ := strings.Cut(at, " ")
		req, err := http.NewRequestWithContext(ctx, method, "http://"+l.Addr().String()+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := client.Do(req)
		if err != nil {
			return 0, err.Error()
		}
		defer res.Body.Close()
		raw, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(raw)
	}
	for at, want := range map[string]int{
		"GET /": 200, "GET /console": 200, "GET /console/": 200, "GET /console/app.js": 200,
		"GET /v1": 401, "GET /v1/sessions": 401, "POST /v1/links": 401, "GET /v1/openapi.json": 401, "GET /v1/events": 401, "GET /v1/open": 401,
	} {
		if status, body := send(t.Context(), at, "", ""); status != want {
			t.Errorf("%s: %d %s", at, status, body)
		}
	}
	link := h.Link().URL
	code := link[strings.LastIndex(link, "=")+1:]
	if status, body := send(t.Context(), "POST /v1/open", `{"code":"`+code+`"}`, ""); status != 200 || !strings.Contains(body, secret) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := send(t.Context(), "GET /v1", "", secret); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	began, ended := hangs(t, h)
	ctx, leave := context.WithCancel(t.Context())
	wg.Go(func() { send(ctx, "POST /v1/calls", `{"tool":"hang"}`, secret) })
	<-began
	leave()
	<-ended
}

// A proof is good for the token, the address and the question, and nothing else.
func TestProof(t *testing.T) {
	t.Parallel()
	h := build(t, changes{server: func(o *Options) { o.Token = func() string { return "t0ken" } }})
	host := strings.TrimPrefix(h.url, "http://")
	const nonce = "0123456789abcdef"
	got := do[proof](t, h, 200, "GET /v1/proof?nonce="+nonce, nil).Proof
	if got != proofOf("t0ken", host, nonce) {
		t.Error(got)
	}
	for _, other := range []string{proofOf("other", host, nonce), proofOf("t0ken", "127.0.0.1:1", nonce), proofOf("t0ken", host, nonce+"0")} {
		if got == other {
			t.Error("it is good for another")
		}
	}
	fails(t, h, "GET /v1/proof?nonce=short", nil, problem{Status: 422, Kind: tool.InvalidInput, Code: "bad-request"})
	fails(t, h, "GET /v1/proof", nil, problem{Status: 422, Kind: tool.InvalidInput, Code: "bad-request"})
}
