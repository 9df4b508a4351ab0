package auth

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/mcp"
)

// enter registers a client by hand.
func (a *authority) enter(id, secret, method string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clients[id] = &enrolled{secret: secret, method: method, redirects: []string{"any"}}
}

func TestSignIn(t *testing.T) {
	for _, tt := range []struct {
		name    string
		methods []string
		client  mcp.OAuth
		method  string // of a client registered by hand
		basics  bool
	}{
		{name: "registered, none", methods: []string{"client_secret_basic", "none"}},
		{name: "registered, post", methods: []string{"client_secret_post"}},
		{name: "registered, basic", methods: []string{"client_secret_basic"}, basics: true},
		{name: "registered, unsaid", basics: true},
		{name: "by hand, none", methods: []string{"none"}, client: mcp.OAuth{ClientID: "me"}, method: "none"},
		{name: "by hand, post", methods: []string{"client_secret_post"}, client: mcp.OAuth{ClientID: "me", ClientSecret: "s&=% ü"}, method: "client_secret_post"},
		{name: "by hand, basic", methods: []string{"client_secret_post", "client_secret_basic"}, client: mcp.OAuth{ClientID: "me", ClientSecret: "s&=% ü"}, method: "client_secret_basic", basics: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newAuthority(t)
			a.methods = tt.methods
			if tt.method != "" {
				a.closed = true
				a.enter(tt.client.ClientID, tt.client.ClientSecret, tt.method)
			}
			s := storeAt(t, a)
			addr := a.URL + "/mcp"
			status, err := call(t.Context(), a.Client(), addr, s.Handler("srv", addr, tt.client, a.person()))
			if status != 200 || err != nil {
				t.Fatalf("signing in: %d %v", status, err)
			}
			if got := a.lastForm(t).Get("resource"); got != addr {
				t.Errorf("the code was traded for resource %q, want %q", got, addr)
			}
			// Another process has the same without a person, also after an hour.
			for range 3 {
				status, err = call(t.Context(), a.Client(), addr, beside(s).Handler("srv", addr, tt.client, a.nobody()))
				if status != 200 || err != nil {
					t.Fatalf("later: %d %v", status, err)
				}
				a.pass(time.Hour)
			}
			f := a.lastForm(t)
			if f.Get("grant_type") != "refresh_token" || f.Get("resource") != addr {
				t.Errorf("the token was renewed with %v", f)
			}
			if a.granted != 1 || a.rotated != 2 || a.denied != 1 || (a.basics > 0) != tt.basics {
				t.Errorf("%d sign-ins, %d renewals, %d refused, %d basic", a.granted, a.rotated, a.denied, a.basics)
			}
			if tt.client.ClientSecret != "" {
				data, err := os.ReadFile(s.path)
				if err != nil || strings.Contains(string(data), tt.client.ClientSecret) {
					t.Errorf("the config's secret is kept in a second place (%v)", err)
				}
			}
		})
	}
}

func TestRegistration(t *testing.T) {
	a := newAuthority(t)
	a.needs, a.scopes = []string{"read", "write"}, []string{"read", "write", "offline_access"}
	s := storeAt(t, a)
	addr := a.URL + "/mcp"
	if _, err := call(t.Context(), a.Client(), addr, s.Handler("srv", addr, mcp.OAuth{}, a.person())); err != nil {
		t.Fatal(err)
	}
	m := a.enrolls[0]
	redirect, _ := m["redirect_uris"].([]any)[0].(string)
	delete(m, "redirect_uris")
	want := map[string]any{
		"client_name": "helve", "application_type": "native", "token_endpoint_auth_method": "none",
		"grant_types": []any{"authorization_code", "refresh_token"}, "response_types": []any{"code"},
		"scope": "read write offline_access",
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("registered with (-want +got):\n%s", diff)
	}
	u, err := url.Parse(redirect)
	if err != nil || u.Scheme != "http" || u.Hostname() != "127.0.0.1" || u.Port() == "" || len(u.Path) < len("/callback/")+26 {
		t.Errorf("the browser is sent to %q (%v)", redirect, err)
	}
	q := a.lastAsked(t)
	if q.Get("scope") != "read write offline_access" || q.Get("prompt") != "consent" || q.Get("redirect_uri") != redirect || q.Get("resource") != addr {
		t.Errorf("asked with %v", q)
	}
}

// A registration is used again, and given up when it no longer works.
func TestRegistrationAgain(t *testing.T) {
	a := newAuthority(t)
	s := storeAt(t, a)
	addr := a.URL + "/mcp"
	sign := func(ctx context.Context, o HandlerOptions) error {
		a.revoke()
		_, err := call(ctx, a.Client(), addr, beside(s).Handler("srv", addr, mcp.OAuth{}, o))
		return err
	}
	for range 2 {
		if err := sign(t.Context(), a.person()); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(a.enrolls); n != 1 {
		t.Fatalf("%d registrations after two sign-ins", n)
	}
	a.mu.Lock()
	clear(a.clients)
	a.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := a.person()
	o.Open = func(addr string) error { // the browser shows an error, nothing comes back, the person gives up
		status, _, err := a.browse(addr)
		if status != 400 || err != nil {
			t.Errorf("the browser got %d %v", status, err)
		}
		cancel()
		return nil
	}
	if err := sign(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("signing in as a client that is not known: %v", err)
	}
	if err := sign(t.Context(), a.person()); err != nil {
		t.Fatal(err)
	}
	if n := len(a.enrolls); n != 2 {
		t.Errorf("%d registrations, want a new one", n)
	}
}

func TestScopes(t *testing.T) {
	for _, tt := range []struct {
		name      string
		config    string
		needs     []string
		challenge string
		offers    []string
		want      string
	}{
		{name: "none"},
		{name: "of the resource", needs: []string{"a", "b"}, want: "a b"},
		{name: "demanded", needs: []string{"a", "b"}, challenge: `, scope="b"`, want: "b"},
		{name: "of the config", config: "c  d", needs: []string{"a"}, challenge: `, scope="b"`, want: "c d"},
		{name: "offline", config: "c", offers: []string{"offline_access"}, want: "c offline_access"},
		{name: "offline once", config: "offline_access", offers: []string{"offline_access"}, want: "offline_access"},
		{name: "no offline", needs: []string{"a"}, offers: []string{"a"}, want: "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newAuthority(t)
			a.needs, a.challenge, a.scopes = tt.needs, tt.challenge, tt.offers
			s := storeAt(t, a)
			addr := a.URL + "/mcp"
			if _, err := call(t.Context(), a.Client(), addr, s.Handler("srv", addr, mcp.OAuth{Scope: tt.config}, a.person())); err != nil {
				t.Fatal(err)
			}
			if got := a.lastAsked(t).Get("scope"); got != tt.want {
				t.Errorf("asked for %q, want %q", got, tt.want)
			}
		})
	}
}

// forbid is a server's no to a request with a token.
func forbid(t *testing.T, s *SignIns, addr, scope string) (*http.Request, *http.Response) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, addr, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.read()
	if err != nil || len(f.Servers) != 1 {
		t.Fatal(f, err)
	}
	req.Header.Set("Authorization", "Bearer "+f.Servers[0].AccessToken)
	return req, &http.Response{StatusCode: 403, Body: http.NoBody, Header: http.Header{
		"Www-Authenticate": {`Bearer error="insufficient_scope", scope="` + scope + `"`},
	}}
}

func TestMoreRights(t *testing.T) {
	a := newAuthority(t)
	a.needs = []string{"read"}
	s := storeAt(t, a)
	addr := a.URL + "/mcp"
	h := s.Handler("srv", addr, mcp.OAuth{}, a.person())
	if _, err := call(t.Context(), a.Client(), addr, h); err != nil {
		t.Fatal(err)
	}
	req, resp := forbid(t, s, addr, "write")
	if err := h.Authorize(t.Context(), req, resp); err != nil {
		t.Fatal(err)
	}
	if got := a.lastAsked(t).Get("scope"); got != "read write" {
		t.Errorf("asked for %q", got)
	}
	// Somebody else's request with the older token is just tried again.
	if err := h.Authorize(t.Context(), req, resp); err != nil || a.granted != 2 {
		t.Errorf("an older request: %v after %d sign-ins", err, a.granted)
	}
	// What was given is not asked for again.
	req, resp = forbid(t, s, addr, "write")
	if err := h.Authorize(t.Context(), req, resp); err == nil || !strings.Contains(err.Error(), "already given") {
		t.Errorf("the same again: %v", err)
	}
	// Nor does a config that names scopes give more.
	h = s.Handler("srv", addr, mcp.OAuth{Scope: "read write"}, a.person())
	req, resp = forbid(t, s, addr, "admin")
	if err := h.Authorize(t.Context(), req, resp); err == nil || !strings.Contains(err.Error(), "config leaves out") {
		t.Errorf("beyond the config: %v", err)
	}
	// A plain no is the server's to explain.
	_, resp = forbid(t, s, addr, "admin")
	resp.Header = http.Header{}
	if err := h.Authorize(t.Context(), req, resp); err != nil {
		t.Errorf("a plain 403: %v", err)
	}
	// Without a person it is an error with the way out.
	h = s.Handler("srv", addr, mcp.OAuth{}, a.nobody())
	req, resp = forbid(t, s, addr, "admin")
	if err := h.Authorize(t.Context(), req, resp); !errors.Is(err, ErrSignIn) {
		t.Errorf("without a person: %v", err)
	}
	if a.granted != 2 {
		t.Errorf("%d sign-ins", a.granted)
	}
	// The next person who signs in is asked for it, although the token is
	// still good for what it was given for.
	for range 2 { // and not again after that
		if _, err := call(t.Context(), a.Client(), addr, s.Handler("srv", addr, mcp.OAuth{}, a.person())); err != nil {
			t.Fatal(err)
		}
	}
	if got := a.lastAsked(t).Get("scope"); got != "read write admin" || a.granted != 3 {
		t.Errorf("after %d sign-ins, asked for %q", a.granted, got)
	}
}

func TestWithoutAPerson(t *testing.T) {
	a := newAuthority(t)
	s := storeAt(t, a)
	addr := a.URL + "/mcp"
	_, err := call(t.Context(), a.Client(), addr, s.Handler("my-srv", addr, mcp.OAuth{}, a.nobody()))
	if !errors.Is(err, ErrSignIn) || !strings.Contains(err.Error(), "`helve mcp auth my-srv`") {
		t.Errorf("got %v", err)
	}
	a.closed = true
	_, err = call(t.Context(), a.Client(), addr, s.Handler("my-srv", addr, mcp.OAuth{}, a.nobody()))
	if !errors.Is(err, ErrRegistration) || err.Error() != "Server does not support dynamic client registration. Please provide clientId in config." {
		t.Errorf("got %v", err)
	}
	_, err = call(t.Context(), a.Client(), addr, s.Handler("my-srv", addr, mcp.OAuth{}, a.person()))
	if !errors.Is(err, ErrRegistration) {
		t.Errorf("got %v", err)
	}
	_, err = call(t.Context(), a.Client(), addr, s.Handler("my-srv", addr, mcp.OAuth{ClientID: "x"}, a.nobody()))
	if !errors.Is(err, ErrSignIn) {
		t.Errorf("got %v", err)
	}
	_, err = call(t.Context(), a.Client(), addr, s.Handler("my-srv", addr, mcp.OAuth{ClientID: "x"}, HandlerOptions{Interactive: true, HTTP: a.Client()}))
	if !errors.Is(err, ErrSignIn) {
		t.Errorf("got %v", err)
	}
	if len(a.enrolls)+len(a.asked) != 0 {
		t.Error("something was started")
	}
	if _, err := os.Stat(filepath.Dir(s.path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was made: %v", err)
	}
}

func TestUnsafe(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*authority)
		want   string
	}{
		{"issuer", func(a *authority) { a.meta = map[string]any{"issuer": a.URL + "/other"} }, "does not match"},
		{"no PKCE", func(a *authority) { a.meta = map[string]any{"code_challenge_methods_supported": []string{}} }, "PKCE"},
		{"plain PKCE", func(a *authority) { a.meta = map[string]any{"code_challenge_methods_supported": []string{"plain"}} }, "S256"},
		{"token endpoint", func(a *authority) { a.meta = map[string]any{"token_endpoint": "http://example.com/token"} }, "token endpoint: the address has to be https"},
		{"authorization endpoint", func(a *authority) { a.meta = map[string]any{"authorization_endpoint": "ftp://127.0.0.1/a"} }, "authorization endpoint"},
		{"no authorization endpoint", func(a *authority) { a.meta = map[string]any{"authorization_endpoint": ""} }, "authorization endpoint"},
		{"registration endpoint", func(a *authority) { a.meta = map[string]any{"registration_endpoint": "http://example.com/r"} }, "registration endpoint: the address has to be https"},
		{"other resource", func(a *authority) { a.about = map[string]any{"resource": "https://example.com/mcp"} }, "another resource"},
		{"no authorization server", func(a *authority) { a.about = map[string]any{"authorization_servers": []string{}} }, "no authorization server"},
		{"authorization server", func(a *authority) {
			a.about = map[string]any{"authorization_servers": []string{"http://example.com"}}
		}, "https"},
		{"authorization server with a query", func(a *authority) {
			a.about = map[string]any{"authorization_servers": []string{a.URL + "/x?y=1"}}
		}, "malformed"},
		{"metadata elsewhere", func(a *authority) { a.challenge = `, resource_metadata="http://example.com/m"` }, "https"},
		{"iss of another", func(a *authority) { a.iss = "https://example.com" }, "another authorization server"},
		{"iss unsaid", func(a *authority) { a.aware = true }, "another authorization server"},
		{"iss with a slash", func(a *authority) { a.aware, a.iss = true, a.URL+"/" }, "another authorization server"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newAuthority(t)
			tt.change(a)
			s := storeAt(t, a)
			addr := a.URL + "/mcp"
			_, err := call(t.Context(), a.Client(), addr, s.Handler("srv", addr, mcp.OAuth{}, a.person()))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want one about %q", err, tt.want)
			}
			if a.granted != 0 {
				t.Error("a token was given")
			}
		})
	}
	t.Run("server", func(t *testing.T) {
		h := storeAt(t, nil).Handler("srv", "http://example.com/mcp", mcp.OAuth{ClientID: "x"}, HandlerOptions{Interactive: true, SignIn: mcp.SignIn{Show: func(string) {}}})
		req, _ := http.NewRequest(http.MethodPost, "http://example.com/mcp", nil)
		err := h.Authorize(t.Context(), req, &http.Response{StatusCode: 401, Body: http.NoBody})
		if err == nil || !strings.Contains(err.Error(), "https") {
			t.Errorf("got %v", err)
		}
	})
}

// What servers do that is unusual but harmless.
func TestTolerant(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*authority)
	}{
		{"iss", func(a *authority) { a.aware, a.iss = true, a.URL }},
		{"iss unannounced", func(a *authority) { a.iss = a.URL }},
		{"resource with a slash", func(a *authority) { a.about = map[string]any{"resource": a.URL + "/mcp/"} }},
		{"resource is the origin", func(a *authority) { a.about = map[string]any{"resource": a.URL} }},
		{"resource is the root", func(a *authority) { a.about = map[string]any{"resource": a.URL + "/"} }},
		{"issuer with a slash", func(a *authority) {
			a.about = map[string]any{"authorization_servers": []string{a.URL + "/"}}
			a.meta = map[string]any{"issuer": a.URL + "/"}
		}},
		{"no metadata of the resource", func(a *authority) { a.noAbout = true }},
		{"issuer below its own origin", func(a *authority) {
			a.noAbout = true
			a.meta = map[string]any{"issuer": a.URL + "/oauth"}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newAuthority(t)
			tt.change(a)
			s := storeAt(t, a)
			addr := a.URL + "/mcp"
			status, err := call(t.Context(), a.Client(), addr, s.Handler("srv", addr, mcp.OAuth{}, a.person()))
			if status != 200 || err != nil {
				t.Errorf("got %d %v", status, err)
			}
		})
	}
}

// A token belongs to a name and a URL.
func TestOtherURL(t *testing.T) {
	a, b := newAuthority(t), newAuthority(t)
	s := storeAt(t, a)
	if _, err := call(t.Context(), a.Client(), a.URL+"/mcp", s.Handler("srv", a.URL+"/mcp", mcp.OAuth{}, a.person())); err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{b.URL + "/mcp", a.URL + "/mcp/", a.URL + "/mcp?x=1"} {
		ts, err := s.Handler("srv", addr, mcp.OAuth{}, a.nobody()).TokenSource(t.Context())
		if ts != nil || err != nil {
			t.Errorf("%s: got %v %v", addr, ts, err)
		}
	}
	if ts, err := s.Handler("other", a.URL+"/mcp", mcp.OAuth{}, a.nobody()).TokenSource(t.Context()); ts != nil || err != nil {
		t.Errorf("another name: got %v %v", ts, err)
	}
	if ts, err := s.Handler("srv", a.URL+"/mcp", mcp.OAuth{ClientID: "mine"}, a.nobody()).TokenSource(t.Context()); ts != nil || err != nil {
		t.Errorf("another client: got %v %v", ts, err)
	}
	for _, addr := range []string{a.URL + "/mcp", "HTTP" + strings.TrimPrefix(a.URL, "http") + "/mcp#x"} {
		if ts, err := s.Handler("srv", addr, mcp.OAuth{}, a.nobody()).TokenSource(t.Context()); ts == nil || err != nil {
			t.Errorf("%s: got %v %v", addr, ts, err)
		}
	}
	if _, err := call(t.Context(), b.Client(), b.URL+"/mcp", s.Handler("srv", b.URL+"/mcp", mcp.OAuth{}, b.person())); err != nil {
		t.Fatal(err)
	}
	infos, err := s.Known()
	if err != nil || len(infos) != 2 {
		t.Errorf("known: %v %v", infos, err)
	}
}

func TestFileModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such modes")
	}
	a := newAuthority(t)
	s := storeAt(t, a)
	if _, err := call(t.Context(), a.Client(), a.URL+"/mcp", s.Handler("srv", a.URL+"/mcp", mcp.OAuth{}, a.person())); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Known(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Dir(s.path))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(filepath.Dir(s.path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v %v", e.Name(), info.Mode(), err)
		}
		names = append(names, e.Name())
	}
	if len(names) != 3 || !slices.Contains(names, "signin.json") {
		t.Errorf("the folder has %v, want the file and two locks", names)
	}
}
