package auth

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve/mcp"
)

// redirected is the address a browser would end at, without going there.
func (a *authority) redirected(addr string) (*url.URL, error) {
	resp, err := still(a.Client()).Get(addr)
	if err != nil {
		return nil, err
	}
	resp.Body.Close()
	return resp.Location()
}

func TestWrongState(t *testing.T) {
	a := newAuthority(t)
	o := a.person()
	o.Open = func(addr string) error {
		right, err := a.redirected(addr)
		if err != nil {
			return err
		}
		for _, change := range []func(url.Values){
			func(q url.Values) { q.Set("state", "x") },
			func(q url.Values) { q.Del("state") },
			func(q url.Values) { q.Add("state", "x") },
			func(q url.Values) { q["state"] = append([]string{"x"}, q["state"]...) },
			func(q url.Values) { q.Set("state", strings.ToLower(q.Get("state"))) },
		} {
			q := right.Query()
			change(q)
			wrong := *right
			wrong.RawQuery = q.Encode()
			if status, page, err := a.browse(wrong.String()); status != 400 || err != nil || !strings.Contains(page, "wrong state") {
				t.Errorf("%s: %d %q %v", wrong.RawQuery, status, page, err)
			}
		}
		status, page, err := a.browse(right.String())
		if status != 200 || err != nil || !strings.Contains(page, "You can close this window") {
			t.Errorf("the right one: %d %q %v", status, page, err)
		}
		return err
	}
	s := storeAt(t, a)
	if status, err := call(t.Context(), a.Client(), a.URL+"/mcp", s.Handler("srv", a.URL+"/mcp", mcp.OAuth{}, o)); status != 200 || err != nil {
		t.Errorf("got %d %v", status, err)
	}
}

// Nobody but somebody with a wrong state: the error says so.
func TestTimeout(t *testing.T) {
	a := newAuthority(t)
	s := storeAt(t, a)
	o := a.person()
	o.Timeout = 2 * time.Second
	asked := 0
	o.Open = func(addr string) error {
		asked++
		u, _ := url.Parse(addr)
		_, _, err := a.browse(u.Query().Get("redirect_uri") + "?state=x&code=y")
		return err
	}
	h := s.Handler("srv", a.URL+"/mcp", mcp.OAuth{}, o)
	_, err := call(t.Context(), a.Client(), a.URL+"/mcp", h)
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errState) || !strings.Contains(err.Error(), "nobody signed in within 2s") {
		t.Errorf("got %v", err)
	}
	// The transport's next request does not open another window.
	if _, again := call(t.Context(), a.Client(), a.URL+"/mcp", h); again != err || asked != 1 {
		t.Errorf("got %v, and was asked %d times", again, asked)
	}
}

func TestCancel(t *testing.T) {
	a := newAuthority(t)
	s := storeAt(t, a)
	ctx, cancel := context.WithCancel(t.Context())
	o := a.person()
	o.Open = func(string) error { cancel(); return nil }
	_, err := call(ctx, a.Client(), a.URL+"/mcp", s.Handler("srv", a.URL+"/mcp", mcp.OAuth{}, o))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestNoBrowser(t *testing.T) {
	a := newAuthority(t)
	s := storeAt(t, a)
	o := a.person()
	o.Open = func(string) error { return errors.New("no browser here") }
	_, err := call(t.Context(), a.Client(), a.URL+"/mcp", s.Handler("srv", a.URL+"/mcp", mcp.OAuth{}, o))
	if err == nil || !strings.Contains(err.Error(), "no browser here") {
		t.Errorf("got %v", err)
	}
	shown := make(chan string, 1)
	o.Show = func(addr string) { shown <- addr }
	done := make(chan error, 1)
	go func() {
		_, _, err := a.browse(<-shown)
		done <- err
	}()
	status, err := call(t.Context(), a.Client(), a.URL+"/mcp", s.Handler("srv", a.URL+"/mcp", mcp.OAuth{}, o))
	if status != 200 || err != nil {
		t.Errorf("with the address shown: %d %v", status, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestErrorAnswer(t *testing.T) {
	a := newAuthority(t)
	a.deny = url.Values{"error": {"access_denied"}, "error_description": {"not\x1b[31m you\u202e,\n<script>"}}
	s := storeAt(t, a)
	o := a.person()
	pages := make(chan string, 1)
	o.Open = func(addr string) error {
		_, page, err := a.browse(addr)
		pages <- page
		return err
	}
	_, err := call(t.Context(), a.Client(), a.URL+"/mcp", s.Handler("srv", a.URL+"/mcp", mcp.OAuth{}, o))
	const want = "the authorization server refused: access_denied: not [31m you , <script>"
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	if page := <-pages; !strings.Contains(page, want) || !strings.Contains(page, "You can close this window") {
		t.Errorf("the page says %q", page)
	}
	if a.granted != 0 {
		t.Error("a token was given")
	}
}

func TestEar(t *testing.T) {
	e, err := newListener(t.Context(), 0, "/callback/abc")
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	c := &http.Client{}
	defer c.CloseIdleConnections()
	get := func(change func(*http.Request)) (*http.Response, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.redirect+"?code=c&iss=i&state="+e.state, nil)
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(req)
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		page, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(page)
	}
	for name, change := range map[string]func(*http.Request){
		"path":   func(r *http.Request) { r.URL.Path = "/callback" },
		"host":   func(r *http.Request) { r.Host = "evil.example" },
		"method": func(r *http.Request) { r.Method = http.MethodPost },
	} {
		if resp, _ := get(change); resp.StatusCode != 404 {
			t.Errorf("another %s: %s", name, resp.Status)
		}
	}
	if resp, _ := get(func(r *http.Request) { r.URL.RawQuery += "&%zz" }); resp.StatusCode != 400 {
		t.Errorf("a malformed query: %s", resp.Status)
	}
	resp, page := get(nil)
	if resp.StatusCode != 200 || !strings.Contains(page, "You can close this window") {
		t.Errorf("got %s %q", resp.Status, page)
	}
	if csp := resp.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") || resp.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("headers %v", resp.Header)
	}
	if resp, page := get(nil); resp.StatusCode != 409 {
		t.Errorf("a second answer: %s %q", resp.Status, page)
	}
	if a := <-e.answers; a.code != "c" || a.iss != "i" || a.err != nil {
		t.Errorf("got %+v", a)
	}
}

func TestPort(t *testing.T) {
	e, err := newListener(t.Context(), 0, fixedPath)
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(e.redirect)
	if _, err := relisten(t.Context(), e.redirect+"/x", 0); err == nil {
		t.Error("a port was taken twice")
	}
	e.close()
	for _, tt := range []struct {
		redirect string
		port     int
	}{{"http://127.0.0.1:1234/callback/x", 1235}, {"http://127.0.0.1/callback/x", 0}, {"http://127.0.0.1:0/x", 0}, {"%", 0}} {
		if e, err := relisten(t.Context(), tt.redirect, tt.port); err == nil {
			e.close()
			t.Errorf("%v was listened to", tt)
		}
	}
	if u.Path != "/callback" {
		t.Errorf("got %s", e.redirect)
	}
}

func TestPaste(t *testing.T) {
	a := newAuthority(t)
	for _, tt := range []struct {
		name   string
		change func(*url.URL) string
		want   string
	}{
		{"whole", func(u *url.URL) string { return "  " + u.String() + "\n" }, ""},
		{"with a fragment", func(u *url.URL) string { return u.String() + "#_=_" }, ""},
		{"query", func(u *url.URL) string { return u.RawQuery }, ""},
		{"wrong state", func(u *url.URL) string { return "http://x/?code=1&state=2" }, "wrong state"},
		{"other text", func(*url.URL) string { return "what?" }, "not the address"},
		{"without a query", func(*url.URL) string { return "https://x/y" }, "not the address"},
		{"long", func(*url.URL) string { return strings.Repeat("x", maxPasted+1) }, "too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := storeAt(t, a)
			shown := make(chan string, 1)
			o := HandlerOptions{Interactive: true, HTTP: a.Client(), SignIn: mcp.SignIn{Show: func(addr string) { shown <- addr }}}
			o.Paste = func(context.Context) (string, error) {
				u, err := a.redirected(<-shown)
				if err != nil {
					return "", err
				}
				return tt.change(u), nil
			}
			status, err := call(t.Context(), a.Client(), a.URL+"/mcp", s.Handler("srv", a.URL+"/mcp", mcp.OAuth{}, o))
			if tt.want == "" && (status != 200 || err != nil) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %d %v", status, err)
			}
		})
	}
	t.Run("browser first", func(t *testing.T) {
		s := storeAt(t, a)
		o := a.person()
		ended := make(chan struct{})
		o.Paste = func(ctx context.Context) (string, error) {
			<-ctx.Done()
			close(ended)
			return "", ctx.Err()
		}
		if status, err := call(t.Context(), a.Client(), a.URL+"/mcp", s.Handler("srv", a.URL+"/mcp", mcp.OAuth{}, o)); status != 200 || err != nil {
			t.Errorf("got %d %v", status, err)
		}
		<-ended
	})
}

func FuzzPasted(f *testing.F) {
	const state = "STATE"
	for _, s := range []string{"", "http://127.0.0.1:1/callback/x?code=c&state=STATE&iss=i", "code=c&state=STATE", "?error=a&error_description=%1b&state=STATE", "code=a&code=b&state=STATE", "https://x/#code=c&state=STATE", "state=STATE;code=1", "%zz"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := pasted(text, state)
		if err != nil {
			if a != (signinAnswer{}) {
				t.Fatalf("an error with an answer: %+v", a)
			}
			return
		}
		if !strings.Contains(text, "state=") {
			t.Fatalf("an answer without a state: %+v", a)
		}
		if (a.err == nil) == (a.code == "") {
			t.Fatalf("neither code nor error, or both: %+v", a)
		}
		if a.err != nil && strings.ContainsAny(a.err.Error(), "\x1b\n\r\u202e") {
			t.Fatalf("%q is not fit for a terminal", a.err)
		}
	})
}
