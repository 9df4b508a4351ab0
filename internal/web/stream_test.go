package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/permission"
)

// opened makes a request and reads the answer whole.
func opened(t *testing.T, w *world, r Request) (*Stream, string, error) {
	t.Helper()
	if r.Judge == nil {
		r.Judge = outsideOnly
	}
	s, err := New(w.options()).Open(t.Context(), r)
	if err != nil {
		return nil, "", err
	}
	defer s.Close()
	body, err := io.ReadAll(s)
	return s, string(body), err
}

func TestOpen(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(rw, r, "http://example.com/end", http.StatusTemporaryRedirect)
			return
		}
		body, _ := io.ReadAll(r.Body)
		rw.WriteHeader(http.StatusCreated)
		fmt.Fprintf(rw, "%s %s %s", r.Method, body, r.Header.Get("User-Agent"))
	}).name("example.com", "93.184.216.34")
	for _, c := range []struct {
		r    Request
		want string
	}{
		{Request{Get: Get{Address: mustRead(t, "http://8.8.8.8/x")}}, "GET  helve/test"},
		{Request{Get: Get{Address: mustRead(t, "https://8.8.8.8/x"), Method: "PUT", Body: []byte("b"), Header: http.Header{"user-agent": {"own"}}}}, "PUT b own"},
		{Request{Get: Get{Address: mustRead(t, "http://8.8.8.8/away"), Method: "DELETE", Body: []byte("b")}}, "DELETE b helve/test"},
	} {
		s, body, err := opened(t, w, c.r)
		if err != nil || body != c.want || s.Status != 201 || s.Text != "Created" {
			t.Errorf("%v: %q, %v", c.r.Address, body, err)
		}
	}
}

func TestOpenKeepsToTheRules(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			rw.Header().Set("Location", to)
			rw.WriteHeader(http.StatusFound)
		}
	}).name("inside.example", "10.0.0.1").name("example.com", "93.184.216.34")
	for _, c := range []struct{ url, mode, code, says string }{
		{"http://169.254.169.254/", "", CodeBlockedAddress, "metadata"},
		{"http://10.0.0.1/", "", errAsked.Error(), ""},
		{"http://inside.example/", "", errAsked.Error(), ""},
		{"http://example.com/?to=http://10.0.0.1/", "", CodeRedirectRefused, "from the internet"},
		{"https://example.com/?to=http://example.com/", "", CodeRedirectRefused, "https to http"},
		{"http://example.com/?to=http://u:p@example.com/", "", CodeRedirectRefused, "can not be followed"},
		{"http://example.com/?to=/", "error", CodeUnexpectedRedirect, "no redirect is wanted"},
		{"http://example.com/?to=http://10.0.0.1/", "manual", "", ""},
		{"http://example.com/?to=/?to=/?to=/", "", "", ""},
	} {
		_, _, err := opened(t, w, Request{Get: Get{Address: mustRead(t, c.url)}, Redirect: c.mode})
		if c.code == "" {
			if err != nil {
				t.Errorf("%s: %v", c.url, err)
			}
			continue
		}
		wantCode(t, err, c.code, c.says)
	}
	if _, err := New(Options{}).Open(t.Context(), Request{}); codeOf(err) != CodeInvalidURL {
		t.Error(err)
	}
	if _, err := New(Options{Proxy: "ftp://x"}).Open(t.Context(), Request{}); codeOf(err) != CodeConnection {
		t.Error(err)
	}
}

func TestOpenFollowsSoFar(t *testing.T) {
	n := 0
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		n++
		http.Redirect(rw, r, "/", http.StatusFound)
	})
	_, _, err := opened(t, w, Request{Get: Get{Address: mustRead(t, "http://8.8.8.8/")}})
	wantCode(t, err, CodeTooManyRedirects, "more than 20 redirects")
	if n != 21 {
		t.Errorf("%d requests", n)
	}
}

// Whoever closes a stream ends a read that waits.
func TestStreamCloseEndsARead(t *testing.T) {
	gone := make(chan struct{})
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
		close(gone)
	})
	for _, scheme := range []string{"http", "https"} {
		gone = make(chan struct{})
		s, err := New(w.options()).Open(t.Context(), Request{Get: Get{Address: mustRead(t, scheme+"://8.8.8.8/"), Judge: outsideOnly}})
		if err != nil {
			t.Fatal(err)
		}
		read := make(chan error)
		go func() {
			_, err := s.Read(make([]byte, 10))
			read <- err
		}()
		s.Close()
		s.Close()
		if err := <-read; codeOf(err) != CodeConnection {
			t.Error(err)
		}
		<-gone
	}
}

func TestOpenTooLate(t *testing.T) {
	w := newWorld(t, func(http.ResponseWriter, *http.Request) {})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	_, err := New(w.options()).Open(ctx, Request{Get: Get{Address: mustRead(t, "http://8.8.8.8/"), Judge: func(context.Context, Hop) error {
		cancel(why)
		return nil
	}}})
	if !errors.Is(err, why) {
		t.Error(err)
	}
}

// A ruler allows what it is told to, and remembers what it was asked.
type ruler struct {
	no    string
	asked []permission.Request
}

var errNo = errors.New("no")

func (r *ruler) Ask(_ context.Context, reqs ...permission.Request) error {
	for _, req := range reqs {
		err := func() error {
			r.asked = append(r.asked, req)
			if !r.Allowed(req) {
				return errNo
			}
			return nil
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *ruler) Allowed(req permission.Request) bool {
	return r.no == "" || !strings.Contains(req.Patterns[0], r.no)
}

func TestJudgeAsks(t *testing.T) {
	by := &ruler{}
	j := &Judge{By: by, Metadata: map[string]any{"format": "text"}}
	a, b := mustRead(t, "http://a.example/x"), mustRead(t, "http://127.0.0.1:8080/y")
	via := []Redirect{{a, 302}}
	for _, h := range []Hop{{Address: a}, {Address: a}, {Address: a, Place: Private, IPs: ofLiteral(mustRead(t, "http://10.0.0.2/"))}, {Address: b, Via: via}} {
		if err := j.Hop(t.Context(), h); err != nil {
			t.Fatal(err)
		}
	}
	want := []permission.Request{
		{Permission: "webfetch", Patterns: []string{"http://a.example/x"}, Always: []string{"http://a.example/*"}, Addresses: true,
			Metadata: map[string]any{"url": "http://a.example/x", "format": "text"}},
		{Permission: "webfetch", Patterns: []string{"http://a.example/x"}, Always: []string{"http://a.example/*"}, Addresses: true,
			Metadata: map[string]any{"url": "http://a.example/x", "format": "text", "place": "in a private network", "address": "10.0.0.2"},
			Guards:   map[string][]string{"http://a.example/x": {"a.example", "a.example:"}}, Place: "private 10.0.0.2"},
		{Permission: "webfetch", Patterns: []string{"http://127.0.0.1:8080/y"}, Always: []string{"http://127.0.0.1:8080/*"}, Addresses: true,
			Metadata: map[string]any{"url": "http://127.0.0.1:8080/y", "format": "text", "place": "this machine", "redirectedFrom": "http://a.example/x"},
			Guards:   map[string][]string{"http://127.0.0.1:8080/y": {"127.0.0.1:8080", "127.0.0.1:"}}, Place: "machine"},
	}
	if diff := cmp.Diff(want, by.asked); diff != "" {
		t.Error(diff)
	}
}

func TestJudgeRefuses(t *testing.T) {
	inside, other := mustRead(t, "http://10.0.0.1/"), mustRead(t, "http://10.0.0.2/")
	j := &Judge{By: &ruler{no: "10.0.0.2"}}
	if err := j.Hop(t.Context(), Hop{Address: inside}); err != nil {
		t.Fatal(err)
	}
	wantCode(t, j.Hop(t.Context(), Hop{Address: other, Via: []Redirect{{inside, 301}}}), CodeRedirectRefused, "another server that is in a private network")
	wantCode(t, j.Hop(t.Context(), Hop{Address: mustRead(t, "http://169.254.169.254/")}), CodeBlockedAddress, "where no rule leads")
	err := (&Judge{By: &ruler{no: "b.example"}}).Hop(t.Context(), Hop{Address: mustRead(t, "http://b.example/"), Via: []Redirect{{mustRead(t, "http://a.example/"), 302}}})
	if !errors.Is(err, errNo) || !strings.HasSuffix(err.Error(), "It was asked for by a redirect: http://a.example/ (302) -> http://b.example/") {
		t.Error(err)
	}
}
