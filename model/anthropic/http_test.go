package anthropic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve/model"
)

const key = "sk-ant-api03-not-a-real-key"

// reach returns a provider at a server that a handler makes.
func reach(t *testing.T, o Options, h http.HandlerFunc) model.Provider {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	o.BaseURL, o.HTTP = s.URL+"/v1/", &http.Client{Transport: transport}
	p, err := NewProvider(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ask returns the text of an answer and the error that ended it, in which the
// key must not be.
func ask(t *testing.T, ctx context.Context, p model.Provider) (text string, last error) {
	t.Helper()
	for e, err := range p.Stream(ctx, model.Request{Model: "m", Messages: []model.Message{said(model.User, "hi")}}) {
		text, last = text+e.Text, err
	}
	for err := last; err != nil; err = errors.Unwrap(err) {
		if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), key) {
			t.Errorf("the key is in %#v", err)
		}
	}
	return text, last
}

func flush(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

func TestHeaders(t *testing.T) {
	body, err := os.ReadFile("testdata/streams/text.sse")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o    Options
		want map[string]string
	}{
		"usual":    {Options{Key: " " + key + "\n"}, map[string]string{"X-Api-Key": key, "Anthropic-Version": "2023-06-01", "Anthropic-Beta": ""}},
		"more":     {Options{Key: key, Version: "2030-01-01", Headers: map[string]string{"anthropic-beta": "b"}}, map[string]string{"Anthropic-Version": "2030-01-01", "Anthropic-Beta": "b"}},
		"no x-key": {Options{Headers: map[string]string{"Authorization": "Bearer " + key}}, map[string]string{"X-Api-Key": "", "Authorization": "Bearer " + key}},
	} {
		t.Run(name, func(t *testing.T) {
			p := reach(t, c.o, func(w http.ResponseWriter, r *http.Request) {
				if r.Method != "POST" || r.URL.Path != "/v1/messages" || r.Header.Get("Content-Type") != "application/json" {
					t.Error(r.Method, r.URL, r.Header)
				}
				for key, want := range c.want {
					if got := r.Header.Get(key); got != want {
						t.Errorf("%s is %q", key, got)
					}
				}
				flush(w, string(body))
			})
			if text, err := ask(t, t.Context(), p); err != nil || text != "Hello wörld 🙂" {
				t.Error(text, err)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	for _, bad := range []string{"", "  ", "sk-ant\r\nX: y", "“" + key + "”"} {
		p := reach(t, Options{Key: bad}, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
		_, err := ask(t, t.Context(), p)
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Auth || !strings.Contains(e.Message, "ANTHROPIC_API_KEY") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := NewProvider(Options{Key: key, BaseURL: "https://u:" + key + "@example.com"}); err == nil || strings.Contains(err.Error(), key) {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		after  string
		kind   string
		words  string
		want   model.Error
	}{
		"wrong key":  {401, "", "authentication_error", "invalid x-api-key " + key, model.Error{Kind: model.Auth}},
		"not for us": {403, "", "permission_error", "Your key may not use this", model.Error{Kind: model.Auth}},
		"no model":   {404, "", "not_found_error", "model: claude-0", model.Error{Kind: model.Invalid}},
		"too fast":   {429, "17", "rate_limit_error", "too many tokens per minute", model.Error{Kind: model.RateLimit, RetryAfter: 17 * time.Second}},
		"busy":       {529, "", "overloaded_error", "Overloaded", model.Error{Kind: model.Overloaded}},
		"a fault":    {500, "", "api_error", "Internal server error", model.Error{Kind: model.Overloaded}},
		"too long":   {400, "", "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", model.Error{Kind: model.Overflow}},
		"too large":  {413, "", "request_too_large", "Request exceeds the maximum size", model.Error{Kind: model.Overflow}},
		"no credit":  {400, "", "invalid_request_error", "Your credit balance is too low", model.Error{Kind: model.Quota}},
		"a mistake":  {400, "", "invalid_request_error", "max_tokens: too large", model.Error{Kind: model.Invalid}},
	} {
		t.Run(name, func(t *testing.T) {
			p := reach(t, Options{Key: key}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Request-Id", "req_1")
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				w.WriteHeader(c.status)
				fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":%q}}`, c.kind, c.words)
			})
			_, err := ask(t, t.Context(), p)
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != c.want.Kind || e.RetryAfter != c.want.RetryAfter || e.Status != c.status || e.RequestID != "req_1" {
				t.Fatalf("%#v", err)
			}
			if words := strings.TrimSuffix(c.words, key); !strings.Contains(e.Message, words) {
				t.Errorf("%q does not say %q", e.Message, words)
			}
		})
	}
}

func TestKeyInAStream(t *testing.T) {
	for _, data := range []string{`{"type":"error","error":{"type":"api_error","message":"bad ` + key + `"}}`, "oh no " + key} {
		p := reach(t, Options{Key: key}, func(w http.ResponseWriter, _ *http.Request) { flush(w, "event: error\ndata: "+data+"\n\n") })
		if _, err := ask(t, t.Context(), p); err == nil || !strings.Contains(err.Error(), "[secret]") {
			t.Error(err)
		}
	}
}

func TestDroppedConnection(t *testing.T) {
	body, err := os.ReadFile("testdata/streams/cut.sse")
	if err != nil {
		t.Fatal(err)
	}
	p := reach(t, Options{Key: key}, func(w http.ResponseWriter, _ *http.Request) {
		flush(w, string(body))
		panic(http.ErrAbortHandler)
	})
	text, err := ask(t, t.Context(), p)
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Broken || !e.Again() || text != "Half" {
		t.Errorf("%q %v", text, err)
	}
}

// A slow server is no broken one, down to single bytes.
func TestSlowServer(t *testing.T) {
	body, err := os.ReadFile("testdata/streams/text.sse")
	if err != nil {
		t.Fatal(err)
	}
	p := reach(t, Options{Key: key}, func(w http.ResponseWriter, _ *http.Request) {
		for i := range body {
			flush(w, string(body[i:i+1]))
		}
	})
	if text, err := ask(t, t.Context(), p); err != nil || text != "Hello wörld 🙂" {
		t.Error(text, err)
	}
}

func TestCancel(t *testing.T) {
	body, err := os.ReadFile("testdata/streams/cut.sse")
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("the user has seen enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	p := reach(t, Options{Key: key}, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		flush(w, string(body))
		cancel(why)
		<-r.Context().Done()
	})
	if _, err := ask(t, ctx, p); !errors.Is(err, why) {
		t.Error(err)
	}
}
