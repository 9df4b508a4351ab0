package auth

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helve-dev/helve/mcp"
)

// signedIn returns a store with a sign-in at a, and a handler without a person.
func signedIn(t *testing.T, a *authority) (*SignIns, tokens) {
	t.Helper()
	s := storeAt(t, a)
	addr := a.URL + "/mcp"
	if status, err := call(t.Context(), a.Client(), addr, s.Handler("srv", addr, mcp.OAuth{}, a.person())); status != 200 || err != nil {
		t.Fatalf("signing in: %d %v", status, err)
	}
	return s, beside(s).Handler("srv", addr, mcp.OAuth{}, a.nobody())
}

func TestEarly(t *testing.T) {
	for _, tt := range []struct {
		life, until, due time.Duration
	}{
		{time.Hour, 59*time.Minute - time.Second, 59 * time.Minute},
		{90 * time.Second, 44 * time.Second, 45 * time.Second},
	} {
		a := newAuthority(t)
		a.life = tt.life
		_, h := signedIn(t, a)
		ts, err := h.TokenSource(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a.pass(tt.until)
		first, err := ts.Token()
		if err != nil || a.rotated != 0 {
			t.Fatalf("life %s, too early: %d renewals, %v", tt.life, a.rotated, err)
		}
		a.pass(tt.due - tt.until)
		second, err := ts.Token() // also by a source that somebody held on to
		if err != nil || a.rotated != 1 || first.AccessToken == second.AccessToken {
			t.Fatalf("life %s, in time: %d renewals, %v", tt.life, a.rotated, err)
		}
	}
}

// A token without an end is used until the server says no, then renewed once.
func TestWithoutExpiry(t *testing.T) {
	a := newAuthority(t)
	a.life = 0
	_, h := signedIn(t, a)
	a.pass(1000 * time.Hour)
	addr := a.URL + "/mcp"
	if status, err := call(t.Context(), a.Client(), addr, h); status != 200 || err != nil || a.rotated != 0 {
		t.Fatalf("much later: %d %v, %d renewals", status, err, a.rotated)
	}
	a.revoke()
	if status, err := call(t.Context(), a.Client(), addr, h); status != 200 || err != nil || a.rotated != 1 {
		t.Fatalf("after a no: %d %v, %d renewals", status, err, a.rotated)
	}
	a.revoke() // the one that a no was answered with is refused as well
	if _, err := call(t.Context(), a.Client(), addr, h); !errors.Is(err, ErrSignIn) || a.rotated != 1 {
		t.Fatalf("after a second no: %v, %d renewals", err, a.rotated)
	}
}

// A server that gives no new refresh token means the old one to be kept.
func TestKeptRefreshToken(t *testing.T) {
	a := newAuthority(t)
	a.keepToken = true
	_, h := signedIn(t, a)
	for i := range 3 {
		a.pass(time.Hour)
		if status, err := call(t.Context(), a.Client(), a.URL+"/mcp", h); status != 200 || err != nil {
			t.Fatalf("round %d: %d %v", i, status, err)
		}
	}
}

// Many users of one handler renew once, and all come through.
func TestTogether(t *testing.T) {
	a := newAuthority(t)
	s, h := signedIn(t, a)
	other := beside(s).Handler("srv", a.URL+"/mcp", mcp.OAuth{}, a.nobody())
	for round := 1; round <= 5; round++ {
		a.pass(time.Hour)
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				use := h
				if i%2 == 1 {
					use = other
				}
				if status, err := call(t.Context(), a.Client(), a.URL+"/mcp", use); status != 200 || err != nil {
					t.Errorf("got %d %v", status, err)
				}
			})
		}
		all.Wait()
		if n := a.count(&a.rotated); n != round {
			t.Fatalf("%d renewals after %d rounds", n, round)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		signIn bool // only a person can help
		token  bool // is kept
		client bool // is kept
	}{
		{"grant", 400, `{"error":"invalid_grant"}`, true, false, true},
		{"grant with 200", 200, `{"error":"invalid_grant"}`, true, false, true},
		{"client", 401, `{"error":"invalid_client"}`, true, false, false},
		{"other", 400, `{"error":"invalid_scope"}`, true, true, true},
		{"not JSON", 400, `no`, true, true, true},
		{"busy", 503, `{"error":"temporarily_unavailable"}`, false, true, true},
		{"broken", 500, ``, false, true, true},
		{"too many", 429, ``, false, true, true},
		{"redirect", 307, ``, true, true, true},
		{"empty", 200, `{}`, false, true, true},
		{"token type", 200, `{"access_token":"x","token_type":"DPoP"}`, false, true, true},
		{"bad token", 200, `{"access_token":"x\ny"}`, false, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newAuthority(t)
			s, h := signedIn(t, a)
			went := false
			a.token = func(w http.ResponseWriter, req *http.Request) {
				if req.URL.Path != "/token" || req.URL.RawQuery != "" {
					went = true
				}
				w.Header().Set("Location", "/token?again")
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			}
			a.pass(time.Hour)
			_, err := call(t.Context(), a.Client(), a.URL+"/mcp", h)
			if err == nil || errors.Is(err, ErrSignIn) != tt.signIn {
				t.Errorf("got %v, want a person: %t", err, tt.signIn)
			}
			if tt.signIn && !strings.Contains(err.Error(), "`helve mcp auth srv`") {
				t.Errorf("%v names no way out", err)
			}
			infos, err := s.Known()
			if err != nil || len(infos) != 1 || infos[0].Token != tt.token || infos[0].Issuer != a.URL {
				t.Errorf("known afterwards: %+v %v", infos, err)
			}
			if went {
				t.Error("a redirect was followed")
			}
			a.token = nil
			if status, err := call(t.Context(), a.Client(), a.URL+"/mcp", s.Handler("srv", a.URL+"/mcp", mcp.OAuth{}, a.person())); status != 200 || err != nil {
				t.Errorf("signing in afterwards: %d %v", status, err)
			}
			if n := len(a.enrolls); (n == 1) != tt.client {
				t.Errorf("%d registrations", n)
			}
		})
	}
}

// An interactive handler whose token cannot be renewed asks the person.
func TestRefusedWithAPerson(t *testing.T) {
	a := newAuthority(t)
	s, _ := signedIn(t, a)
	a.mu.Lock()
	clear(a.refresh)
	a.mu.Unlock()
	a.pass(time.Hour)
	status, err := call(t.Context(), a.Client(), a.URL+"/mcp", s.Handler("srv", a.URL+"/mcp", mcp.OAuth{}, a.person()))
	if status != 200 || err != nil || a.granted != 2 {
		t.Errorf("got %d %v after %d sign-ins", status, err, a.granted)
	}
}

// While the token is still good, a token endpoint in trouble does no harm, and
// is not asked at every request.
func TestTrouble(t *testing.T) {
	a := newAuthority(t)
	_, h := signedIn(t, a)
	asked := 0
	a.token = func(w http.ResponseWriter, req *http.Request) {
		asked++
		w.WriteHeader(http.StatusBadGateway)
	}
	a.pass(time.Hour - 30*time.Second)
	for range 3 {
		if status, err := call(t.Context(), a.Client(), a.URL+"/mcp", h); status != 200 || err != nil || asked != 1 {
			t.Fatalf("still good: %d %v, asked %d times", status, err, asked)
		}
	}
	a.pass(pause)
	if status, err := call(t.Context(), a.Client(), a.URL+"/mcp", h); status != 200 || err != nil || asked != 2 {
		t.Fatalf("after a pause: %d %v, asked %d times", status, err, asked)
	}
	a.token = nil
	a.pass(pause)
	if status, err := call(t.Context(), a.Client(), a.URL+"/mcp", h); status != 200 || err != nil || a.rotated != 1 {
		t.Fatalf("afterwards: %d %v, %d renewals", status, err, a.rotated)
	}
}

// Where locks do not work, another process may have spent the refresh token
// and written its successor: the file is read once more before giving up.
func TestRefusedButWritten(t *testing.T) {
	a := newAuthority(t)
	s, h := signedIn(t, a)
	a.pass(time.Hour)
	f, err := s.read()
	if err != nil {
		t.Fatal(err)
	}
	before := f.Servers[0]
	a.token = func(w http.ResponseWriter, req *http.Request) {
		a.token = nil
		late := &handler{store: s, server: "srv", url: a.URL + "/mcp", opts: a.nobody()}
		if _, err := late.exchange(req.Context(), before); err != nil { // without the lock
			t.Error(err)
		}
		writeJSON(w, 400, map[string]string{"error": "invalid_grant"})
	}
	if status, err := call(t.Context(), a.Client(), a.URL+"/mcp", h); status != 200 || err != nil {
		t.Errorf("got %d %v", status, err)
	}
	if a.spent != 0 || a.rotated != 1 {
		t.Errorf("%d spent, %d renewals", a.spent, a.rotated)
	}
}

// Who leaves while a token is renewed does not lose it.
func TestLeaving(t *testing.T) {
	a := newAuthority(t)
	_, h := signedIn(t, a)
	a.pass(time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	a.token = func(w http.ResponseWriter, req *http.Request) {
		cancel()
		a.issue(w, req)
	}
	if _, err := h.TokenSource(ctx); err != nil {
		t.Errorf("got %v", err)
	}
	if status, err := call(t.Context(), a.Client(), a.URL+"/mcp", h); status != 200 || err != nil || a.rotated != 1 {
		t.Errorf("afterwards: %d %v, %d renewals", status, err, a.rotated)
	}
}

// What another process signs in to, or out of, counts at once.
func TestElsewhere(t *testing.T) {
	a := newAuthority(t)
	s := storeAt(t, a)
	addr := a.URL + "/mcp"
	h := s.Handler("srv", addr, mcp.OAuth{}, a.nobody())
	if _, err := call(t.Context(), a.Client(), addr, h); !errors.Is(err, ErrSignIn) {
		t.Fatal(err)
	}
	other := beside(s)
	if _, err := call(t.Context(), a.Client(), addr, other.Handler("srv", addr, mcp.OAuth{}, a.person())); err != nil {
		t.Fatal(err)
	}
	if status, err := call(t.Context(), a.Client(), addr, h); status != 200 || err != nil {
		t.Errorf("signed in elsewhere: %d %v", status, err)
	}
	// Signed in between the request and its no.
	req, _ := http.NewRequest(http.MethodPost, addr, nil)
	if err := h.Authorize(t.Context(), req, &http.Response{StatusCode: 401, Body: http.NoBody}); err != nil {
		t.Errorf("signed in meanwhile: %v", err)
	}
	if err := other.Forget("srv"); err != nil {
		t.Fatal(err)
	}
	if _, err := call(t.Context(), a.Client(), addr, h); !errors.Is(err, ErrSignIn) {
		t.Errorf("signed out elsewhere: %v", err)
	}
	if a.granted != 1 {
		t.Errorf("%d sign-ins", a.granted)
	}
}

func FuzzParseGrant(f *testing.F) {
	f.Add(200, `{"access_token":"a","token_type":"Bearer","expires_in":"3600","refresh_token":"r","scope":"x y"}`)
	f.Add(200, `{"access_token":"a","expires_in":1e99}`)
	f.Add(400, `{"error":"invalid_grant","error_description":"SECRET"}`)
	f.Add(200, `[]`)
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, status int, body string) {
		g, err := parseGrant(status, []byte(body), now)
		if (g == nil) == (err == nil) {
			t.Fatalf("got %v %v", g, err)
		}
		if err != nil {
			if len(err.Error()) > 200 {
				t.Fatalf("%q repeats the answer", err)
			}
			return
		}
		if !tokenText(g.access) || g.refresh != "" && !tokenText(g.refresh) {
			t.Fatal("a token that no header can carry")
		}
		if !g.expiry.IsZero() && (g.expiry.Before(now) || g.expiry.Year() > 2042) {
			t.Fatalf("ends %v", g.expiry)
		}
	})
}

// A token is not spent when its successor could not be written.
func TestReadOnly(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("modes do not hold anybody back here")
	}
	a := newAuthority(t)
	s, h := signedIn(t, a)
	a.pass(time.Hour)
	dir := filepath.Dir(s.path)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	_, err := call(t.Context(), a.Client(), a.URL+"/mcp", h)
	if !errors.Is(err, fs.ErrPermission) || a.rotated != 0 {
		t.Errorf("got %v, %d renewals", err, a.rotated)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if status, err := call(t.Context(), a.Client(), a.URL+"/mcp", h); status != 200 || err != nil {
		t.Errorf("afterwards: %d %v", status, err)
	}
}
