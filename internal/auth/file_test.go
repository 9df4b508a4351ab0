package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/mcp"
)

func TestKnownAndForget(t *testing.T) {
	s := storeAt(t, nil)
	if infos, err := s.Known(); err != nil || len(infos) != 0 {
		t.Fatalf("an empty store: %v %v", infos, err)
	}
	if err := s.Forget("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(s.path)); err == nil {
		t.Fatal("looking made a folder")
	}
	end := time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, r := range []*record{
		{Server: "b", URL: "https://u:p@b/mcp?key=SECRET", AccessToken: "SECRET", RefreshToken: "SECRET", Expiry: end, Scopes: []string{"x"}, Issuer: "https://i"},
		{Server: "a", URL: "https://a2", ClientID: "id", ClientSecret: "SECRET", Redirect: "http://127.0.0.1:1/callback/x"},
		{Server: "a", URL: "https://a1", AccessToken: "SECRET"},
	} {
		if err := s.update(t.Context(), func(f *storeFile) { f.put(r) }); err != nil {
			t.Fatal(err)
		}
	}
	infos, err := s.Known()
	if err != nil {
		t.Fatal(err)
	}
	want := []SignInInfo{
		{Server: "a", URL: "https://a1", Token: true},
		{Server: "a", URL: "https://a2"},
		{Server: "b", URL: "https://b/mcp", Issuer: "https://i", Scopes: []string{"x"}, Expiry: end, Token: true, Refresh: true},
	}
	if diff := cmp.Diff(want, infos); diff != "" {
		t.Errorf("known (-want +got):\n%s", diff)
	}
	if err := s.Forget("a"); err != nil {
		t.Fatal(err)
	}
	if infos, err := s.Known(); err != nil || len(infos) != 1 || infos[0].Server != "b" {
		t.Errorf("after forgetting a: %v %v", infos, err)
	}
}

func TestDamaged(t *testing.T) {
	s := storeAt(t, nil)
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range maxAside + 2 {
		text := fmt.Sprintf(`{"version":1,"servers":[{"server":"a","accessToken":"SECRET%d"`, i)
		if err := os.WriteFile(s.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		h := s.Handler("srv", "https://x", mcp.OAuth{}, HandlerOptions{})
		_, err := h.TokenSource(t.Context())
		aside := s.path + ".damaged"
		if i > 0 {
			aside = fmt.Sprintf("%s-%d", aside, min(i+1, maxAside))
		}
		if !errors.Is(err, ErrDamagedSignIns) || !strings.Contains(err.Error(), aside+";") || strings.Contains(err.Error(), "SECRET") {
			t.Fatalf("got %v", err)
		}
		if got, err := os.ReadFile(aside); err != nil || string(got) != text {
			t.Fatalf("set aside: %q %v", got, err)
		}
		if ts, err := h.TokenSource(t.Context()); ts != nil || err != nil {
			t.Fatalf("afterwards: %v %v", ts, err)
		}
	}
	// A write does not go over a damaged file either.
	if err := os.WriteFile(s.path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.update(t.Context(), func(*storeFile) { t.Error("it was changed") }); !errors.Is(err, ErrDamagedSignIns) {
		t.Errorf("got %v", err)
	}
}

func TestNewer(t *testing.T) {
	s := storeAt(t, nil)
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		t.Fatal(err)
	}
	const text = `{"version":2,"servers":{"new":"shape"}}`
	if err := os.WriteFile(s.path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Known(); !errors.Is(err, errNewer) {
		t.Errorf("got %v", err)
	}
	if err := s.Forget("new"); !errors.Is(err, errNewer) {
		t.Errorf("got %v", err)
	}
	if got, err := os.ReadFile(s.path); err != nil || string(got) != text {
		t.Errorf("the file is now %q %v", got, err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		``, `null`, `{}`, `{"version":1}`, `{"version":2,"servers":3}`, `{"version":1,"servers":[null]}`,
		`{"version":1,"servers":[{"server":"a","url":"u","expiry":"2031-01-02T03:04:05Z","scopes":["x"]}]}`,
		`{"version":1,"servers":[{"server":"a","url":"u"},{"server":"a","url":"u"}]}`,
		`{"version":1,"servers":[{"server":"a","url":"u","expiry":"SECRET"}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := decode(data)
		if err != nil {
			if got != nil || err != ErrDamagedSignIns && err != errNewer {
				t.Fatalf("got %v %v", got, err)
			}
			return
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Skip("times that JSON can not say")
		}
		again, err := decode(text)
		if err != nil {
			t.Fatalf("what was read can not be read again: %v", err)
		}
		if diff := cmp.Diff(*got, *again, cmp.AllowUnexported(record{})); diff != "" {
			t.Fatalf("it changed (-first +second):\n%s", diff)
		}
	})
}

// Whatever a server says, no secret gets into an error.
func TestNothingSecret(t *testing.T) {
	a := newAuthority(t)
	a.methods = []string{"client_secret_post"}
	addr := a.URL + "/mcp"
	check := func(what string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s: no error", what)
			return
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			for _, word := range []string{"SECRET", "ACCESS-", "REFRESH-", "CODE-"} {
				if text := fmt.Sprintf("%v %+v %#v", e, e, e); strings.Contains(text, word) {
					t.Errorf("%s: %s holds %s", what, text, word)
				}
			}
		}
	}
	echo := func(w http.ResponseWriter, status int, kind string) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
	}
	for _, status := range []int{200, 400, 500} {
		for _, kind := range []string{"application/json", "text/plain"} {
			for name, body := range map[string]func(*http.Request) string{
				"form": func(r *http.Request) string { return r.PostForm.Encode() },
				"code": func(r *http.Request) string { return fmt.Sprintf(`{"error":%q}`, "SECRET "+r.PostForm.Encode()) },
				"description": func(r *http.Request) string {
					return fmt.Sprintf(`{"error":"x","error_description":%q}`, r.PostForm.Encode())
				},
				"cut":     func(r *http.Request) string { return `{"access_token":"SECRET` },
				"number":  func(r *http.Request) string { return `{"access_token":"SECRET","expires_in":{"SECRET":1},"scope":7}` },
				"newline": func(r *http.Request) string { return `{"access_token":"SECRET\nSECRET"}` },
			} {
				what := fmt.Sprintf("%d %s %s", status, kind, name)
				s, h := signedIn(t, a)
				a.token = func(w http.ResponseWriter, req *http.Request) { echo(w, status, kind); w.Write([]byte(body(req))) }
				a.pass(time.Hour)
				_, err := call(t.Context(), a.Client(), addr, h)
				check(what+" renewing", err)
				if err := s.Forget("srv"); err != nil {
					t.Fatal(err)
				}
				_, err = call(t.Context(), a.Client(), addr, s.Handler("srv", addr, mcp.OAuth{}, a.person()))
				check(what+" trading", err)
				a.token = nil
				a.register = func(w http.ResponseWriter, req *http.Request) { echo(w, status, kind); w.Write([]byte(body(req))) }
				_, err = call(t.Context(), a.Client(), addr, s.Handler("srv", addr, mcp.OAuth{}, a.person()))
				check(what+" registering", err)
				a.register = nil
			}
		}
	}
	c := mcp.OAuth{ClientID: "id", ClientSecret: "SECRET", Scope: "s"}
	r := record{Server: "a", URL: "https://x:SECRET@y?SECRET", AccessToken: "SECRET", RefreshToken: "SECRET", ClientSecret: "SECRET"}
	for _, text := range []string{
		fmt.Sprint(c, &c), fmt.Sprintf("%v %+v %#v %s %q", c, c, c, c, c), fmt.Sprintf("%+v", struct{ C mcp.OAuth }{c}),
		fmt.Sprintf("%v %+v %#v %s", &r, &r, &r, &r), fmt.Sprintf("%+v", storeFile{Servers: []*record{&r}}),
	} {
		if strings.Contains(text, "SECRET") {
			t.Errorf("%s", text)
		}
	}
}

// The real transport, with a real server behind it.
func TestTransport(t *testing.T) {
	a := newAuthority(t)
	server := sdk.NewServer(&sdk.Implementation{Name: "guarded", Version: "1"}, nil)
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{JSONResponse: true})
	a.Config.Handler.(*http.ServeMux).HandleFunc("/real", func(w http.ResponseWriter, req *http.Request) {
		if !a.good(req) {
			a.refuse(w)
			return
		}
		inner.ServeHTTP(w, req)
	})
	a.about = map[string]any{"resource": a.URL + "/real"}
	s := storeAt(t, a)
	connect := func(o HandlerOptions) error {
		t.Helper()
		c := sdk.NewClient(&sdk.Implementation{Name: "helve", Version: "1"}, nil)
		session, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{
			Endpoint: a.URL + "/real", HTTPClient: a.Client(), OAuthHandler: s.Handler("srv", a.URL+"/real", mcp.OAuth{}, o), MaxRetries: -1,
		}, nil)
		if err != nil {
			return err
		}
		defer session.Close()
		_, err = session.ListTools(t.Context(), nil)
		return err
	}
	if err := connect(a.nobody()); !errors.Is(err, ErrSignIn) {
		t.Errorf("without a person: %v", err)
	}
	a.closed = true
	if err := connect(a.nobody()); !errors.Is(err, ErrRegistration) {
		t.Errorf("without registration: %v", err)
	}
	a.closed = false
	if err := connect(a.person()); err != nil {
		t.Errorf("signing in: %v", err)
	}
	a.pass(time.Hour)
	if err := connect(a.nobody()); err != nil {
		t.Errorf("an hour later: %v", err)
	}
	a.mu.Lock()
	clear(a.refresh)
	a.mu.Unlock()
	a.pass(time.Hour)
	if err := connect(a.nobody()); !errors.Is(err, ErrSignIn) {
		t.Errorf("after the end: %v", err)
	}
	if a.granted != 1 {
		t.Errorf("%d sign-ins", a.granted)
	}
}
