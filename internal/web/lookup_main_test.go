package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// testKey is a key with characters that addresses and JSON write otherwise.
const testKey = `sk-5ecret+/"&<0815`

// A seen request is what a server was sent.
type seen struct {
	method, path string
	query        map[string][]string
	header       http.Header
	body         string
}

// A recorder is a server that notes what it is sent.
type recorder struct {
	*httptest.Server
	mu   sync.Mutex
	seen []seen
}

func serve(t *testing.T, handle http.HandlerFunc) *recorder {
	t.Helper()
	r := &recorder{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Errorf("reading a request: %v", err)
		}
		r.mu.Lock()
		r.seen = append(r.seen, seen{req.Method, req.URL.Path, req.URL.Query(), req.Header, string(body)})
		r.mu.Unlock()
		handle(w, req)
	}))
	t.Cleanup(r.Close)
	return r
}

// says answers every request with a text.
func says(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		io.WriteString(w, text)
	}
}

// requests returns what came so far.
func (r *recorder) requests() []seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]seen(nil), r.seen...)
}

// only returns the one request that came.
func (r *recorder) only(t *testing.T) seen {
	t.Helper()
	all := r.requests()
	if len(all) != 1 {
		t.Fatalf("%d requests came, want 1", len(all))
	}
	return all[0]
}

func mustNew(t *testing.T, o SearchOptions) SearchEngine {
	t.Helper()
	e, err := NewSearchEngine(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// failure returns the Error that err has to be.
func failure(t *testing.T, err error) *SearchError {
	t.Helper()
	var e *SearchError
	if !errors.As(err, &e) {
		t.Fatalf("error %v (%T), want an *Error", err, err)
	}
	return e
}

// keyless fails if a text shows the key, whole or its better part, in any way of writing it.
func keyless(t *testing.T, text string) {
	t.Helper()
	for _, form := range []string{testKey, "5ecret", "0815"} {
		if strings.Contains(text, form) {
			t.Errorf("%q shows %q", text, form)
		}
	}
}

func provided(provider, endpoint string) SearchOptions {
	o := SearchOptions{Provider: provider, Endpoint: endpoint, Timeout: 20 * time.Second}
	if provider == "brave" || provider == "tavily" {
		o.Key = testKey
	}
	return o
}

func TestNew(t *testing.T) {
	run := func(context.Context, []string, []byte) ([]byte, error) { return nil, nil }
	for _, tt := range []struct {
		o    SearchOptions
		want string // "" for no error
	}{
		{SearchOptions{Provider: "exa"}, ""},
		{SearchOptions{Provider: "exa", Key: " spaced\n"}, ""},
		{SearchOptions{Provider: "exa", Key: "two lines\nof it"}, "websearch.key holds a character that can not be part of a key"},
		{SearchOptions{Provider: "exa", Timeout: -1}, "websearch.timeout_ms is negative"},
		{SearchOptions{Provider: "exa", Endpoint: "ftp://example.com", Section: "codesearch"}, "codesearch.endpoint is not the address of a server: "},
		{SearchOptions{Provider: "exa", Endpoint: "https://user:pw@example.com"}, "websearch.endpoint is not the address of a server: "},
		{SearchOptions{Provider: "searxng", Endpoint: "http://localhost:8080"}, ""},
		{SearchOptions{Provider: "searxng"}, "websearch.provider searxng needs websearch.endpoint: "},
		{SearchOptions{Provider: "brave", Key: "k"}, ""},
		{SearchOptions{Provider: "brave", Section: "codesearch"}, "codesearch.provider brave needs codesearch.key: "},
		{SearchOptions{Provider: "tavily", Key: "k"}, ""},
		{SearchOptions{Provider: "tavily", Key: " "}, "websearch.provider tavily needs websearch.key: "},
		{SearchOptions{Provider: "command", Command: []string{"x"}, Run: run}, ""},
		{SearchOptions{Provider: "command", Command: []string{"x"}}, "websearch.provider command can not be used here"},
		{SearchOptions{Provider: "command", Run: run}, "websearch.provider command needs websearch.command: "},
		{SearchOptions{Provider: "command", Command: []string{" "}, Run: run}, "websearch.provider command needs websearch.command: "},
		{SearchOptions{}, "websearch.provider is not set; the providers are exa, searxng, brave, tavily and command"},
		{SearchOptions{Provider: "bing\x1b"}, `websearch.provider "bing\\x1b" is not known; the providers are exa, searxng, brave, tavily and command`},
	} {
		e, err := NewSearchEngine(tt.o)
		switch {
		case tt.want == "" && (err != nil || e == nil):
			t.Errorf("New(%+v) = %v, %v", tt.o, e, err)
		case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)):
			t.Errorf("New(%+v): error %v, want %s…", tt.o, err, tt.want)
		}
	}
}
