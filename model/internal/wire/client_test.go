package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/model"
)

const secret = "sk-very-secret/key+1"

// dial returns a client of an endpoint, and takes its connections away at the
// end.
func dial(t *testing.T, o Options) *Client {
	t.Helper()
	o.Name, o.Secrets = "Acme", []string{secret}
	o.Header = http.Header{"Authorization": {"Bearer " + secret}}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// post returns the events of an answer and the error that ended it.
func post(ctx context.Context, c *Client, classify Classify) (out []said, err error) {
	for e, err := range c.Post(ctx, map[string]string{"a": "<b>"}, classify) {
		if err != nil {
			return out, err
		}
		out = append(out, said{e.Name, string(e.Data)})
	}
	return out, nil
}

// failure is the error of a post, which must not hold the secret.
func failure(t *testing.T, c *Client, classify Classify) *model.Error {
	t.Helper()
	_, err := post(t.Context(), c, classify)
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		t.Fatalf("%T %v", err, err)
	}
	for cause := error(e); cause != nil; cause = errors.Unwrap(cause) {
		if strings.Contains(cause.Error(), "very-secret") {
			t.Errorf("the secret is in %q", cause)
		}
	}
	return e
}

func TestNewChecksTheURL(t *testing.T) {
	for _, bad := range []string{"", "api.acme.com", "ftp://acme.com", "http://", "https://me:" + secret + "@acme.com/x", "://", "http://a b/"} {
		_, err := New(Options{Endpoint: bad, Name: "Acme"})
		if err == nil || !strings.Contains(err.Error(), "Acme") || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestPost(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		fmt.Fprintf(w, "event: echo\ndata: %s %s %s\n\ndata: end\n\n", r.Method, body, r.Header.Get("Authorization"))
	})
	got, err := post(t.Context(), dial(t, Options{Endpoint: s.URL}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]said{{"echo", `POST {"a":"<b>"} Bearer ` + secret}, {"", "end"}}, got); d != "" {
		t.Error(d)
	}
}

func TestAnswersOfOtherKinds(t *testing.T) {
	for name, c := range map[string]struct {
		kind, body string
		want       []said
		err        string
	}{
		"JSON":            {"application/json", "\n {\"a\":1}", []said{{"json", `{"a":1}`}}, ""},
		"events as JSON":  {"application/json", "data: a\n\n", []said{{"", "a"}}, ""},
		"events as text":  {"text/plain", "data: a\n\n", []said{{"", "a"}}, ""},
		"nothing":         {"application/json", "", nil, ""},
		"a web page":      {"text/html", "<!doctype html><title>Sign in</title>", nil, "web page"},
		"too long a text": {"application/json", "{" + strings.Repeat(" ", maxEvent), nil, "8 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				_, _ = io.WriteString(w, c.body)
			})
			got, err := post(t.Context(), dial(t, Options{Endpoint: s.URL}), nil)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Error(err)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		kind   string
		body   string
		want   model.ErrorKind
		words  []string
	}{
		"wrong key":     {401, "application/json", `{"error":{"message":"no key ` + secret + `."}}`, model.Auth, []string{"Acme", "[secret]", "check the key", "401"}},
		"a web page":    {403, "text/html", "<html><title>Blocked</title>" + strings.Repeat("x", 1<<20), model.Auth, []string{"web page"}},
		"an array":      {400, "application/json", `[{"error":{"code":400,"message":"bad field"}}]`, model.Invalid, []string{"bad field"}},
		"a string":      {400, "application/json", `{"error":"bad\u001b[31m\n\u202e field"}`, model.Invalid, []string{"bad [31m field"}},
		"a list":        {422, "application/json", `{"detail":[{"loc":["body"],"msg":"field required"}]}`, model.Invalid, []string{"field required"}},
		"plain words":   {503, "text/plain", "upstream connect error", model.Overloaded, []string{"upstream connect error", "later"}},
		"no words":      {500, "", "", model.Overloaded, []string{"500"}},
		"no model":      {404, "application/json", `{"error":{"message":"model: x"}}`, model.Invalid, []string{"the endpoint or model does not exist", "model: x"}},
		"quota by code": {429, "application/json", `{"error":{"message":"no","code":"insufficient_quota"}}`, model.Quota, []string{"used up"}},
		"very long":     {400, "text/plain", strings.Repeat("é", 5000), model.Invalid, []string{"é …"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				w.Header().Set("X-Request-Id", "req-7")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			e := failure(t, dial(t, Options{Endpoint: s.URL}), nil)
			if e.Kind != c.want || e.Status != c.status || e.RequestID != "req-7" || len(e.Message) > 2*maxWords {
				t.Errorf("%+v", e)
			}
			for _, w := range c.words {
				if !strings.Contains(e.Message, w) {
					t.Errorf("%q does not say %q", e.Message, w)
				}
			}
		})
	}
}

func TestWaitsAsAskedFor(t *testing.T) {
	for status, want := range map[int]time.Duration{429: 40 * time.Second, 503: 0, 402: 0} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Ratelimit-Reset-Tokens", "40s")
			w.WriteHeader(status)
		})
		if e := failure(t, dial(t, Options{Endpoint: s.URL}), nil); e.RetryAfter != want {
			t.Errorf("%d: %v", status, e.RetryAfter)
		}
	}
}

func TestClassify(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(418)
		_, _ = io.WriteString(w, "short and stout")
	})
	e := failure(t, dial(t, Options{Endpoint: s.URL}), func(status int, h http.Header, body []byte) *model.Error {
		if status != 418 || h.Get("Retry-After") != "3" || string(body) != "short and stout" {
			t.Error(status, h, string(body))
		}
		return &model.Error{Kind: model.Quota}
	})
	if e.Kind != model.Quota || e.Status != 418 || e.RetryAfter != 3*time.Second || !strings.Contains(e.Message, "stout") {
		t.Errorf("%+v", e)
	}
}

func TestRedirects(t *testing.T) {
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other origin was asked: %v", r.Header)
	})
	here := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/same":
			http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
		case "/end":
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "data: %s %s\n\n", r.Method, body)
		case "/see":
			http.Redirect(w, r, "/end", http.StatusSeeOther)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusPermanentRedirect)
		default:
			http.Redirect(w, r, other.URL+"/?key="+secret, http.StatusPermanentRedirect)
		}
	})
	got, err := post(t.Context(), dial(t, Options{Endpoint: here.URL + "/same"}), nil)
	if err != nil || got[0].Data != `POST {"a":"<b>"}` {
		t.Error(got, err)
	}
	for _, path := range []string{"/other", "/see", "/loop"} {
		e := failure(t, dial(t, Options{Endpoint: here.URL + path}), nil)
		if e.Kind != model.Invalid || !strings.Contains(e.Message, "base URL") {
			t.Errorf("%+v", e)
		}
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	e := failure(t, dial(t, Options{Endpoint: "http://" + l.Addr().String() + "/?key=" + secret}), nil)
	if e.Kind != model.Network || !strings.Contains(e.Message, l.Addr().String()) || !strings.Contains(e.Message, "is it running?") {
		t.Errorf("%+v", e)
	}
	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	e = failure(t, dial(t, Options{Endpoint: strings.Replace(plain.URL, "http", "https", 1)}), nil)
	if e.Kind != model.Network || !strings.Contains(e.Message, "http://?") {
		t.Errorf("%+v", e)
	}
	closing := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if e = failure(t, dial(t, Options{Endpoint: closing.URL}), nil); e.Kind != model.Network || strings.Contains(e.Message, "running") {
		t.Errorf("%+v", e)
	}
}

func TestHints(t *testing.T) {
	c := &Client{name: "Acme"}
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "::1": true, "0.0.0.0": true, "llm.localhost": true, "acme.com": false, "10.0.0.1": false,
	} {
		if loopback(host) != want {
			t.Error(host)
		}
	}
	c.endpoint = mustURL(t, "https://nowhere.example/x")
	e := c.unreachable(&net.DNSError{Err: "no such host", Name: "nowhere.example", IsNotFound: true})
	if !strings.Contains(e.Message, "host's name") {
		t.Error(e)
	}
}

func TestDropped(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: a\n\ndata: b")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	got, err := post(t.Context(), dial(t, Options{Endpoint: s.URL}), nil)
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Kind != model.Broken || len(got) != 1 || !strings.Contains(e.Message, "broke off") {
		t.Error(got, err)
	}
}

func TestIdle(t *testing.T) {
	for _, first := range []string{"", "data: a\n\n"} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if first != "" {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, first)
				_ = http.NewResponseController(w).Flush()
			}
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		})
		e := failure(t, dial(t, Options{Endpoint: s.URL, Idle: 50 * time.Millisecond}), nil)
		if e.Kind != model.Broken || !errors.Is(e, errIdle) || !strings.Contains(e.Message, "50ms") {
			t.Errorf("%+v", e)
		}
	}
}

func TestCancel(t *testing.T) {
	why := errors.New("the user has seen enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: a\n\n")
		_ = http.NewResponseController(w).Flush()
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	c := dial(t, Options{Endpoint: s.URL})
	var last error
	for _, err := range c.Post(ctx, nil, nil) {
		last = err
		cancel(why)
	}
	if !errors.Is(last, why) {
		t.Error(last)
	}
	if _, err := post(ctx, c, nil); !errors.Is(err, why) {
		t.Error(err)
	}
}

func TestLeavingEarly(t *testing.T) {
	gone := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		_, _ = io.Copy(io.Discard, r.Body)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, "data: a\n\n"); err != nil {
				return
			}
		}
	})
	for range dial(t, Options{Endpoint: s.URL}).Post(t.Context(), nil, nil) {
		break
	}
	<-gone
}

// slow is a server without a network, for a clock that is not real.
type slow struct{ pause time.Duration }

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	out, in := io.Pipe()
	stop := context.AfterFunc(r.Context(), func() { in.CloseWithError(context.Cause(r.Context())) })
	go func() {
		defer stop()
		defer in.Close()
		for range 5 {
			select {
			case <-time.After(s.pause):
			case <-r.Context().Done():
				return
			}
			if _, err := io.WriteString(in, "data: a\n\n"); err != nil {
				return
			}
		}
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: out, Request: r}, nil
}

func TestSlowIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, Options{Endpoint: "https://acme.com", HTTP: &http.Client{Transport: slow{4 * time.Minute}}})
		n := 0
		for _, err := range c.Post(t.Context(), nil, nil) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			time.Sleep(time.Hour) // who reads may take its time
		}
		if n != 5 {
			t.Error(n)
		}
		c = dial(t, Options{Endpoint: "https://acme.com", HTTP: &http.Client{Transport: slow{6 * time.Minute}}})
		if _, err := post(t.Context(), c, nil); !errors.Is(err, errIdle) {
			t.Error(err)
		}
		synctest.Wait()
	})
}

func mustURL(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestScrub(t *testing.T) {
	c, err := New(Options{Endpoint: "http://acme.com", Secrets: []string{"", "ollama", "abcdefgh", "abcdefgh/ijkl"}})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"ollama says no":                 "ollama says no", // too short to be one
		"x abcdefgh y":                   "x [secret] y",
		"abcdefgh/ijkl, abcdefgh%2Fijkl": "[secret], [secret]",
	} {
		if got := c.Scrub(in); got != want {
			t.Errorf("%q is %q", in, got)
		}
	}
}

// A secret at the place where words are cut off leaves nothing of itself.
func TestSecretsAtTheCut(t *testing.T) {
	for before := maxWords - len(secret); before <= maxWords; before++ {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, strings.Repeat("x", before)+secret)
		})
		if e := failure(t, dial(t, Options{Endpoint: s.URL}), nil); strings.Contains(e.Message, "sk-") {
			t.Fatal(e)
		}
	}
}
