package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/helve-dev/helve/mcp"
)

// An authority is an authorization server and a resource in one. It rotates
// refresh tokens and revokes all that came from one sign-in when a spent one
// comes back.
type authority struct {
	*httptest.Server

	mu       sync.Mutex
	clock    time.Time
	life     time.Duration // of access tokens; 0: not said
	clients  map[string]*enrolled
	codes    map[string]*offer
	access   map[string]*held
	refresh  map[string]*held
	forms    []url.Values // that came to the token endpoint
	asked    []url.Values // that came to the authorization endpoint
	enrolls  []map[string]any
	basics   int // token requests with a basic header
	spent    int // spent refresh tokens that came back
	rotated  int
	denied   int // requests to the resource without a good token
	granted  int
	lookedUp int // requests for metadata

	// What a test may change before anything is asked.
	methods   []string
	closed    bool           // no registration
	aware     bool           // says that it sends iss
	iss       string         // sent with the answer
	scopes    []string       // of the authorization server
	needs     []string       // scopes of the resource, in its metadata
	challenge string         // more parameters of the 401
	deny      url.Values     // answers the authorization request with this
	meta      map[string]any // replaces fields of the metadata
	about     map[string]any // replaces fields of the resource's metadata
	noAbout   bool           // the resource has no metadata
	token     http.HandlerFunc
	register  http.HandlerFunc
	keepToken bool // refresh without rotation
}

type enrolled struct {
	secret, method string
	redirects      []string
}

type offer struct{ client, challenge, redirect, scope, resource string }

// held is a token; tokens of one sign-in share a family.
type held struct {
	family *family
	scope  string
	expiry time.Time
	spent  bool
}

type family struct {
	client  string
	revoked bool
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{
		clock: time.Date(2031, 5, 4, 3, 2, 1, 0, time.UTC), life: time.Hour,
		clients: map[string]*enrolled{}, codes: map[string]*offer{},
		access: map[string]*held{}, refresh: map[string]*held{},
		methods: []string{"none"},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", a.serveResource)
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", a.serveAbout)
	mux.HandleFunc("/.well-known/oauth-authorization-server", a.serveMeta)
	mux.HandleFunc("/register", a.serveRegister)
	mux.HandleFunc("/authorize", a.serveAuthorize)
	mux.HandleFunc("/token", a.serveToken)
	a.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		a.Client().CloseIdleConnections()
		a.Close()
	})
	return a
}

func (a *authority) now() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.clock
}

func (a *authority) pass(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clock = a.clock.Add(d)
}

// count reads a counter.
func (a *authority) count(n *int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return *n
}

func (a *authority) lastForm(t *testing.T) url.Values {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.forms) == 0 {
		t.Fatal("nobody came to the token endpoint")
	}
	return a.forms[len(a.forms)-1]
}

func (a *authority) lastAsked(t *testing.T) url.Values {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.asked) == 0 {
		t.Fatal("nobody came to the authorization endpoint")
	}
	return a.asked[len(a.asked)-1]
}

// revoke makes the resource refuse all access tokens there are.
func (a *authority) revoke() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.access)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func (a *authority) good(req *http.Request) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	token, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	h := a.access[token]
	if !ok || h == nil || h.family.revoked || !h.expiry.IsZero() && !a.clock.Before(h.expiry) {
		a.denied++
		return false
	}
	return true
}

func (a *authority) refuse(w http.ResponseWriter) {
	about := fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp"%s`, a.URL, a.challenge)
	if a.noAbout {
		about = `Bearer realm="x"`
	}
	w.Header().Set("WWW-Authenticate", about)
	w.WriteHeader(http.StatusUnauthorized)
}

func (a *authority) serveResource(w http.ResponseWriter, req *http.Request) {
	if !a.good(req) {
		a.refuse(w)
		return
	}
	io.WriteString(w, "fine")
}

func (a *authority) serveAbout(w http.ResponseWriter, req *http.Request) {
	a.mu.Lock()
	a.lookedUp++
	a.mu.Unlock()
	if a.noAbout {
		http.NotFound(w, req)
		return
	}
	m := map[string]any{"resource": a.URL + "/mcp", "authorization_servers": []string{a.URL}}
	if a.needs != nil {
		m["scopes_supported"] = a.needs
	}
	for k, v := range a.about {
		m[k] = v
	}
	writeJSON(w, 200, m)
}

func (a *authority) serveMeta(w http.ResponseWriter, req *http.Request) {
	m := map[string]any{
		"issuer": a.URL, "authorization_endpoint": a.URL + "/authorize", "token_endpoint": a.URL + "/token",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported": a.methods, "scopes_supported": a.scopes,
	}
	if !a.closed {
		m["registration_endpoint"] = a.URL + "/register"
	}
	if a.aware {
		m["authorization_response_iss_parameter_supported"] = true
	}
	for k, v := range a.meta {
		m[k] = v
	}
	writeJSON(w, 200, m)
}

func (a *authority) serveRegister(w http.ResponseWriter, req *http.Request) {
	if a.register != nil {
		a.register(w, req)
		return
	}
	var m map[string]any
	json.NewDecoder(req.Body).Decode(&m)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.enrolls = append(a.enrolls, m)
	c := &enrolled{method: "client_secret_basic"}
	if s, ok := m["token_endpoint_auth_method"].(string); ok {
		c.method = s
	}
	for _, r := range m["redirect_uris"].([]any) {
		c.redirects = append(c.redirects, r.(string))
	}
	id := "client-" + rand.Text()
	answer := map[string]any{"client_id": id, "token_endpoint_auth_method": c.method, "redirect_uris": c.redirects}
	if c.method != "none" {
		c.secret = "SECRET-" + rand.Text()
		answer["client_secret"] = c.secret
		answer["client_secret_expires_at"] = 0
	}
	a.clients[id] = c
	writeJSON(w, 201, answer)
}

func (a *authority) serveAuthorize(w http.ResponseWriter, req *http.Request) {
	q := req.URL.Query()
	a.mu.Lock()
	a.asked = append(a.asked, q)
	c := a.clients[q.Get("client_id")]
	if c == nil || !slices.Contains(c.redirects, q.Get("redirect_uri")) && c.redirects[0] != "any" || q.Get("code_challenge_method") != "S256" {
		a.mu.Unlock()
		http.Error(w, "unknown client", 400)
		return
	}
	back := url.Values{"state": {q.Get("state")}}
	if a.deny != nil {
		for k, v := range a.deny {
			back[k] = v
		}
	} else {
		code := "CODE-" + rand.Text()
		a.codes[code] = &offer{q.Get("client_id"), q.Get("code_challenge"), q.Get("redirect_uri"), q.Get("scope"), q.Get("resource")}
		back.Set("code", code)
	}
	if a.iss != "" {
		back.Set("iss", a.iss)
	}
	a.mu.Unlock()
	http.Redirect(w, req, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (a *authority) serveToken(w http.ResponseWriter, req *http.Request) {
	req.ParseForm()
	a.mu.Lock()
	a.forms = append(a.forms, req.PostForm)
	a.mu.Unlock()
	if a.token != nil {
		a.token(w, req)
		return
	}
	a.issue(w, req)
}

func (a *authority) issue(w http.ResponseWriter, req *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	client, ok := a.known(req)
	if !ok {
		writeJSON(w, 401, map[string]string{"error": "invalid_client"})
		return
	}
	no := func() { writeJSON(w, 400, map[string]string{"error": "invalid_grant"}) }
	f := req.PostForm
	var fam *family
	var scope string
	switch f.Get("grant_type") {
	case "authorization_code":
		o := a.codes[f.Get("code")]
		delete(a.codes, f.Get("code"))
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		if o == nil || o.client != client || o.redirect != f.Get("redirect_uri") || o.resource != f.Get("resource") ||
			o.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			no()
			return
		}
		a.granted++
		fam, scope = &family{client: client}, o.scope
	case "refresh_token":
		h := a.refresh[f.Get("refresh_token")]
		if h == nil || h.family.revoked || h.family.client != client {
			no()
			return
		}
		if h.spent {
			a.spent++
			h.family.revoked = true
			no()
			return
		}
		h.spent = !a.keepToken
		a.rotated++
		fam, scope = h.family, h.scope
	default:
		writeJSON(w, 400, map[string]string{"error": "unsupported_grant_type"})
		return
	}
	h := &held{family: fam, scope: scope}
	answer := map[string]any{"access_token": "ACCESS-" + rand.Text(), "token_type": "bearer"}
	if a.life > 0 {
		h.expiry = a.clock.Add(a.life)
		answer["expires_in"] = int(a.life.Seconds())
	}
	a.access[answer["access_token"].(string)] = h
	if !a.keepToken || f.Get("grant_type") != "refresh_token" {
		answer["refresh_token"] = "REFRESH-" + rand.Text()
		a.refresh[answer["refresh_token"].(string)] = &held{family: fam, scope: scope}
	}
	if scope != "" {
		answer["scope"] = scope
	}
	writeJSON(w, 200, answer)
}

// known reports who asks, if in the way that was agreed.
func (a *authority) known(req *http.Request) (string, bool) {
	id, secret, basic := req.BasicAuth()
	f := req.PostForm
	if basic {
		a.basics++
		id, _ = url.QueryUnescape(id)
		secret, _ = url.QueryUnescape(secret)
	} else {
		id, secret = f.Get("client_id"), f.Get("client_secret")
	}
	c := a.clients[id]
	if c == nil || c.secret != secret {
		return "", false
	}
	switch c.method {
	case "client_secret_basic":
		return id, basic && !f.Has("client_secret")
	case "client_secret_post":
		return id, !basic
	}
	return id, !basic && !f.Has("client_secret")
}

// browse is a browser: it follows the address and returns the page.
func (a *authority) browse(addr string) (int, string, error) {
	resp, err := a.Client().Get(addr)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(page), err
}

// person is the options of a handler with a person who signs in.
func (a *authority) person() HandlerOptions {
	return HandlerOptions{Interactive: true, HTTP: a.Client(), SignIn: mcp.SignIn{Open: func(addr string) error {
		_, _, err := a.browse(addr)
		return err
	}}}
}

// nobody is the options of a handler without a person.
func (a *authority) nobody() HandlerOptions { return HandlerOptions{HTTP: a.Client()} }

// tokens is what a transport sees of a handler.
type tokens interface {
	TokenSource(context.Context) (oauth2.TokenSource, error)
	Authorize(context.Context, *http.Request, *http.Response) error
}

// call does what the transport does: a request, an answer to a no, and one
// more request. It returns the last status.
func call(ctx context.Context, c *http.Client, addr string, h tokens) (int, error) {
	try := func() (*http.Request, *http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, addr, nil)
		if err != nil {
			return nil, nil, err
		}
		ts, err := h.TokenSource(ctx)
		if err != nil {
			return nil, nil, err
		}
		if ts != nil {
			tok, err := ts.Token()
			if err != nil {
				return nil, nil, err
			}
			req.Header.Set("Authorization", "Bearer "+tok.AccessToken)
		}
		resp, err := c.Do(req)
		return req, resp, err
	}
	req, resp, err := try()
	if err != nil {
		return 0, err
	}
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		if err := h.Authorize(ctx, req, resp); err != nil {
			return resp.StatusCode, err
		}
		if _, resp, err = try(); err != nil {
			return 0, err
		}
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return resp.StatusCode, nil
}
