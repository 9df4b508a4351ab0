package authtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helve-dev/helve/internal/auth"
	"github.com/helve-dev/helve/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// inside is a small server of the same kind as the real one.
func inside() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/console/", http.StatusFound) })
	mux.Handle("GET /console", http.RedirectHandler("/console/", http.StatusMovedPermanently))
	mux.HandleFunc("GET /console/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/console/" && r.URL.Path != "/console/app.js" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, "page")
	})
	mux.HandleFunc("GET /v1/events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: hello\ndata: {}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
	return mux
}

func public(r *http.Request) bool {
	switch r.Method {
	case "GET", "HEAD":
		return r.URL.Path == "/" || r.URL.Path == "/console" || strings.HasPrefix(r.URL.Path, "/console/")
	case "POST":
		return r.URL.Path == "/v1/open"
	}
	return false
}

func doorsOf() []string {
	return []string{
		"/v1/sessions", "POST /v1/calls", "DELETE /v1/approvals/a", "/v1/events", "/v1/files/content?path=a",
		"public /", "public GET /console", "public GET /console/", "public /console/app.js", "public POST /v1/open",
	}
}

// house is a guard over TCP with something in front of it, or in its place.
func house(t *testing.T, config *tls.Config, front func(http.Handler) http.Handler) (addr, token string) {
	t.Helper()
	l, err := auth.Listen(auth.Bind{File: filepath.Join(t.TempDir(), "private", "token"), TLS: config != nil})
	if err != nil {
		t.Fatal(err)
	}
	g, err := auth.NewGuard(auth.GuardOptions{Token: l.Token, Hosts: l.Hosts, Public: public, TLS: config, MaxBody: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	srv := g.Server(inside())
	if front != nil {
		srv.Handler = front(srv.Handler)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = g.Serve(srv, l) }()
	t.Cleanup(func() { _ = srv.Close(); <-done })
	return strings.TrimPrefix(l.URL(), "http://"), l.Token
}

func TestHostile(t *testing.T) {
	t.Parallel() // it mostly waits
	addr, token := house(t, nil, nil)
	Hostile(t, addr, token, doorsOf())
}

func TestHostileTLS(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	addr, token := house(t, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}}}, nil)
	Hostile(t, addr, token, []string{"/v1/sessions", "/v1/events", "public /console/", "public POST /v1/open"})
}

// notes is a reporter that keeps what it is told.
type notes struct {
	mu  sync.Mutex
	all []string
}

func (n *notes) Helper() {}
func (n *notes) Errorf(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, fmt.Sprintf(format, args...))
}

// loud adds headers to every answer.
type loud struct {
	http.ResponseWriter
	name, value string
}

func (l loud) WriteHeader(status int) {
	l.Header().Set(l.name, l.value)
	l.ResponseWriter.WriteHeader(status)
}
func (l loud) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// A guard with a hole is found out: each check is missed if it is not made.
func TestHoles(t *testing.T) {
	before := func(change func(*http.Request)) func(http.Handler) http.Handler {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { change(r); next.ServeHTTP(w, r) })
		}
	}
	var token string
	for name, c := range map[string]struct {
		front func(http.Handler) http.Handler
		want  string // part of what is found
	}{
		"no gate":      {func(http.Handler) http.Handler { return inside() }, "status 200"},
		"refuses all":  {before(func(r *http.Request) { r.Host = "evil.example" }), "no path gives a good answer"},
		"host":         {before(func(r *http.Request) { r.Host = r.Context().Value(http.LocalAddrContextKey).(fmt.Stringer).String() }), "host evil.example"},
		"origin":       {before(func(r *http.Request) { r.Header.Del("Origin") }), "origin null"},
		"site":         {before(func(r *http.Request) { r.Header.Del("Sec-Fetch-Site") }), "site cross-site"},
		"token":        {before(func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }), "token: none"},
		"type":         {before(func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }), "type text/plain"},
		"method":       {before(func(r *http.Request) { r.Method = strings.Replace(r.Method, "TRACE", "GET", 1) }), "method TRACE"},
		"wrong public": {before(func(r *http.Request) { wrongPublic(r) }), "status 200, want [401 429]"},
		"path":         {before(func(r *http.Request) { unescape(r, token) }), "by way of"},
		"cors": {func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(loud{w, "Access-Control-Allow-Origin", "*"}, r)
			})
		}, "the answer has Access-Control-Allow-Origin"},
		"leads elsewhere": {func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(loud{w, "Location", r.URL.Path}, r)
			})
		}, "it leads to"},
	} {
		t.Run(name, func(t *testing.T) {
			var addr string
			addr, token = house(t, nil, c.front)
			s, doors, err := newSite(addr, token, []string{"/v1/sessions", "public /console/"})
			if err != nil {
				t.Fatal(err)
			}
			found := new(notes)
			s.control(found, doors)
			for _, d := range doors {
				for _, group := range [][]attack{
					s.hosts(d), s.origins(d), s.sites(d), s.tokens(d), s.contentAttacks(d), s.heads(d), s.injections(d), s.detours(d),
				} {
					for _, a := range group {
						s.sendAttack(found, d, a)
					}
				}
			}
			all := strings.Join(found.all, "\n")
			if !strings.Contains(all, c.want) {
				t.Errorf("%q is not found, but\n%.2000s", c.want, all)
			}
			t.Logf("%d findings", len(found.all))
		})
	}
}

// wrongPublic forgives a wrong token at what is public.
func wrongPublic(r *http.Request) {
	if public(r) {
		r.Header.Del("Authorization")
	}
}

// unescape is a server that takes every path below the console for public, and
// then finds out that it leads elsewhere.
func unescape(r *http.Request, token string) {
	if strings.HasPrefix(r.URL.Path, "/console/../") && len(r.Header["Authorization"]) == 0 {
		r.URL.Path, r.URL.RawPath = strings.TrimPrefix(r.URL.Path, "/console/.."), ""
		r.Header.Set("Authorization", "Bearer "+token)
	}
}

func TestPaths(t *testing.T) {
	for _, bad := range [][]string{nil, {""}, {"v1"}, {"GET"}, {"public"}, {"GET /a b"}, {"public GET POST /a"}} {
		if _, _, err := newSite("127.0.0.1:1", "t", bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	if _, _, err := newSite("127.0.0.1", "t", []string{"/"}); err == nil {
		t.Error("an address without port is taken")
	}
}
