package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/leaktest"
	"github.com/helve-dev/helve/model"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const key = "sk-secret-0123456789"

// serve returns a provider of a server that answers with h.
func serve(t *testing.T, h http.HandlerFunc) model.Provider {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	p, err := NewProvider(Options{Key: key, BaseURL: s.URL + "/v1/", Name: "Acme", HTTP: s.Client(), Headers: map[string]string{"X-Api-Key": "header-secret"}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// run collects an answer. No error may hold a key.
func run(ctx context.Context, t *testing.T, p model.Provider) ([]string, error) {
	t.Helper()
	var out []string
	for e, err := range p.Stream(ctx, model.Request{Model: "m-1", Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: "hi"}}}}}) {
		if err != nil {
			for _, secret := range []string{key, "header-secret"} {
				if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, errors.Unwrap(err)), secret) {
					t.Errorf("a key is in %v", err)
				}
			}
			return out, err
		}
		out = append(out, line(e))
	}
	return out, nil
}

func TestStream(t *testing.T) {
	for _, file := range []string{"openai-text.sse", "openai-calls.sse", "no-done.sse", "plain.json"} {
		raw, err := os.ReadFile("testdata/streams/" + file)
		if err != nil {
			t.Fatal(err)
		}
		p := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+key || r.Header.Get("X-Api-Key") == "" {
				t.Errorf("%s %v", r.URL, r.Header)
			}
			var body map[string]any
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body["model"] != "m-1" {
				t.Errorf("%v %v", body, err)
			}
			w.Header().Set("Content-Type", map[bool]string{true: "application/json", false: "text/event-stream"}[strings.HasSuffix(file, "json")])
			_, _ = w.Write(raw)
		})
		out, err := run(t.Context(), t, p)
		if err != nil || len(out) < 2 || !strings.HasPrefix(out[len(out)-1], "done") {
			t.Errorf("%s: %v %q", file, err, out)
		}
	}
}

func TestStopReading(t *testing.T) {
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n")
			w.(http.Flusher).Flush()
		}
	})
	n := 0
	for _, err := range p.Stream(t.Context(), model.Request{}) {
		if n++; err != nil || n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d events", n)
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		kind   model.ErrorKind
		words  string
	}{
		{"key", 401, `{"error":{"message":"Incorrect API key provided: ` + key + `. You can find it online.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, model.Auth, "[secret]"},
		{"key as 400", 400, `{"error":{"message":"bad header-secret","code":"invalid_api_key"}}`, model.Auth, "key"},
		{"quota", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, model.Quota, "credit"},
		{"rate", 429, `{"error":{"message":"Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.","type":"tokens","code":"rate_limit_exceeded"}}`, model.RateLimit, "later"},
		{"too large for the minute", 429, `{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 45000.","type":"tokens","code":"rate_limit_exceeded"}}`, model.Overflow, "shorter"},
		{"overflow", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, model.Overflow, "shorter"},
		{"groq", 413, "{\"error\":{\"message\":\"Request too large for model `llama` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size and try again.\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}", model.Overflow, "shorter"},
		{"llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, model.Overflow, "shorter"},
		{"llama.cpp loads", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, model.Overloaded, "Loading model"},
		{"ollama", 404, `{"error":"model 'm-1' not found"}`, model.Invalid, `does not have the model "m-1"`},
		{"no model", 404, `{"error":{"message":"The model m-1 does not exist or you do not have access to it.","type":"invalid_request_error","code":"model_not_found"}}`, model.Invalid, `does not have the model "m-1"`},
		{"openrouter", 400, `{"error":{"message":"m-1 is not a valid model ID","code":400}}`, model.Invalid, `does not have the model "m-1"`},
		{"fastapi", 422, `{"detail":[{"loc":["body","messages"],"msg":"field required","type":"missing"}]}`, model.Invalid, "field required"},
		{"gemini", 400, `[{"error":{"code":400,"message":"Unable to submit request because one or more values are wrong","status":"INVALID_ARGUMENT"}}]`, model.Invalid, "values are wrong"},
		{"server", 500, `{"error":{"message":"oops","type":"server_error"}}`, model.Overloaded, "later"},
		{"elsewhere", 404, `404 page not found`, model.Invalid, "base URL"},
		{"nothing", 502, ``, model.Overloaded, "later"},
	}
	for _, tt := range tests {
		p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X-Request-Id", "req_9")
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		})
		_, err := run(t.Context(), t, p)
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Kind != tt.kind || e.Status != tt.status || !strings.Contains(e.Message, tt.words) || e.RequestID != "req_9" {
			t.Errorf("%s: %+v", tt.name, err)
		}
	}
}

func TestErrorWithinStream(t *testing.T) {
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"error\":{\"message\":\"no such key %s\\u001b[31m\",\"code\":401}}\n\n", key)
	})
	_, err := run(t.Context(), t, p)
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Auth || !strings.Contains(e.Message, "[secret]") || strings.Contains(e.Message, "\x1b") {
		t.Errorf("%+v", err)
	}
}

func TestDropped(t *testing.T) {
	for name, c := range map[string]struct {
		finish string
		kind   model.ErrorKind
	}{"in the middle": {"null", model.Broken}, "after the end": {`"stop"`, ""}} {
		p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Content-Length", "100000")
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":%s}]}\n\n", c.finish)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		})
		out, err := run(t.Context(), t, p)
		if c.kind == "" {
			if err != nil || len(out) != 2 {
				t.Errorf("%s: %q %v", name, out, err)
			}
			continue
		}
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != c.kind || len(out) != 1 {
			t.Errorf("%s: %q %+v", name, out, err)
		}
	}
}

func TestUnreachable(t *testing.T) {
	s := httptest.NewServer(nil)
	s.Close()
	p, err := NewProvider(Options{Key: key, BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	_, err = run(t.Context(), t, p)
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Network {
		t.Errorf("%+v", err)
	}
}

func TestCancel(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n")
		w.(http.Flusher).Flush()
		cancel(why)
		<-r.Context().Done()
	})
	if _, err := run(ctx, t, p); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	if _, err := run(ctx, t, p); !errors.Is(err, why) {
		t.Errorf("cancelled before: %v", err)
	}
}

func TestNew(t *testing.T) {
	for name, tt := range map[string]struct {
		o    Options
		want string
	}{
		"relative": {Options{BaseURL: "localhost/v1", Key: key}, "URL"},
		"not one":  {Options{BaseURL: "http://[::1", Key: key}, "URL"},
		"password": {Options{BaseURL: "https://user:" + key + "@x/v1"}, "password"},
		"two keys": {Options{Key: key + "\n" + key}, "key"},
	} {
		if _, err := NewProvider(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for base, want := range map[string]string{"": "OpenAI", "http://localhost:8080/v1": "localhost:8080", "https://api.openai.com/v1/chat/completions": "OpenAI"} {
		p, err := NewProvider(Options{BaseURL: base})
		if err != nil || p.(*client).name != want {
			t.Errorf("%q: %+v %v", base, p, err)
		}
	}
}

// Without a key there is no header: local servers have none.
func TestNoKey(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := r.Header["Authorization"]; ok {
			t.Error("there is an Authorization header")
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}))
	defer s.Close()
	p, err := NewProvider(Options{BaseURL: s.URL, HTTP: s.Client()})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := run(t.Context(), t, p); err != nil || len(out) != 1 {
		t.Errorf("%q %v", out, err)
	}
}
