package auth

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve/mcp"
)

// A server that moves to another authorization server gets a new registration
// there once the person has heard of it, and the old one's secrets stay where
// they belong.
func TestMoved(t *testing.T) {
	a, b := newAuthority(t), newAuthority(t)
	a.methods, b.methods = []string{"client_secret_post"}, []string{"client_secret_post"}
	s, _ := signedIn(t, a)
	a.about = map[string]any{"authorization_servers": []string{b.URL}}
	a.revoke()
	addr := a.URL + "/mcp"
	// The person cannot be told.
	_, err := call(t.Context(), a.Client(), addr, s.Handler("srv", addr, mcp.OAuth{}, a.person()))
	if err == nil || !strings.Contains(err.Error(), a.URL+" and now names "+b.URL) || !strings.Contains(err.Error(), "`helve mcp auth srv --forget`") {
		t.Errorf("without being told: %v", err)
	}
	if len(b.enrolls)+len(b.asked) != 0 {
		t.Error("something was started")
	}
	for _, tell := range []bool{false, true} {
		var heard []string
		o := a.person()
		o.Show = func(text string) { heard = append(heard, text) }
		if tell {
			o.Tell, o.Show = o.Show, nil
		}
		browse := o.Open
		o.Open = func(addr string) error {
			if len(heard) == 0 || !strings.Contains(heard[0], a.URL+" and now names "+b.URL) {
				t.Errorf("the browser opens after %q", heard)
			}
			return browse(addr)
		}
		own := beside(s)
		own.path = s.path + "-copy"
		f, err := s.read()
		if err != nil {
			t.Fatal(err)
		}
		if err := own.update(t.Context(), func(c *storeFile) { *c = *f }); err != nil {
			t.Fatal(err)
		}
		before := len(b.enrolls)
		if _, err := call(t.Context(), a.Client(), addr, own.Handler("srv", addr, mcp.OAuth{}, o)); !tell && err != nil {
			t.Fatal(err)
		}
		infos, err := own.Known()
		if err != nil || len(infos) != 1 || infos[0].Issuer != b.URL || len(b.enrolls) != before+1 {
			t.Fatalf("got %+v %v, %d registrations", infos, err, len(b.enrolls))
		}
	}
	for id := range a.clients {
		if f := b.lastForm(t); f.Get("client_id") == id {
			t.Error("the old client was shown to the new authorization server")
		}
	}
}

// The secret of the config goes to the authorization server of the first
// sign-in, and to no other before that is forgotten.
func TestMovedWithASecret(t *testing.T) {
	for _, tt := range []struct {
		name string
		move func(a, b *authority)
	}{
		{"issuer", func(a, b *authority) { a.about = map[string]any{"authorization_servers": []string{b.URL}} }},
		{"token endpoint", func(a, b *authority) { a.meta = map[string]any{"token_endpoint": b.URL + "/token"} }},
	} {
		for _, ended := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				a, b := newAuthority(t), newAuthority(t)
				client := mcp.OAuth{ClientID: "me", ClientSecret: "hush"}
				for _, x := range []*authority{a, b} {
					x.methods = []string{"client_secret_post"}
					x.enter("me", "hush", "client_secret_post")
				}
				s := storeAt(t, a)
				addr := a.URL + "/mcp"
				if _, err := call(t.Context(), a.Client(), addr, s.Handler("srv", addr, client, a.person())); err != nil {
					t.Fatal(err)
				}
				a.revoke()
				a.mu.Lock()
				clear(a.refresh)
				a.mu.Unlock()
				if ended { // that the renewal is refused does not untie it
					a.pass(time.Hour)
					if _, err := call(t.Context(), a.Client(), addr, s.Handler("srv", addr, client, a.nobody())); !errors.Is(err, ErrSignIn) {
						t.Fatal(err)
					}
				}
				tt.move(a, b)
				o := a.person()
				o.Show, o.Tell = func(string) {}, func(string) {}
				for _, o := range []HandlerOptions{o, a.nobody()} {
					_, err := call(t.Context(), a.Client(), addr, s.Handler("srv", addr, client, o))
					if !errors.Is(err, ErrSignIn) || o.Interactive && !strings.Contains(err.Error(), "`helve mcp auth srv --forget`") {
						t.Errorf("person %t: %v", o.Interactive, err)
					}
				}
				if len(b.forms)+len(b.asked) != 0 {
					t.Errorf("the new one was asked: %v %v", b.forms, b.asked)
				}
				if err := s.Forget("srv"); err != nil {
					t.Fatal(err)
				}
				call(t.Context(), a.Client(), addr, s.Handler("srv", addr, client, o)) // b's code, or a's, is not the other's
				if len(b.forms) != 1 {
					t.Errorf("after the old one was forgotten: %v", b.forms)
				}
			})
		}
	}
}

// Without a person a change is told where it is seen: at the server's origin.
func TestMovedWithoutAPerson(t *testing.T) {
	a := newAuthority(t)
	s, h := signedIn(t, a)
	if err := s.update(t.Context(), func(f *storeFile) {
		f.Servers[0].Issuer, f.Servers[0].RefreshToken = "https://old.example", ""
	}); err != nil {
		t.Fatal(err)
	}
	a.revoke()
	_, err := call(t.Context(), a.Client(), a.URL+"/mcp", h)
	if !errors.Is(err, ErrSignIn) || !strings.Contains(err.Error(), "https://old.example") || !strings.Contains(err.Error(), "now names "+a.URL) ||
		!strings.Contains(err.Error(), "run `helve mcp auth srv`") {
		t.Errorf("got %v", err)
	}
}

// Somebody who is there hears why, and not to do what they have just done.
func TestReasons(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*authority)
		want   string
	}{
		{"issuer", func(a *authority) { a.meta = map[string]any{"issuer": a.URL + "/other"} }, "/other\" does not match"},
		{"endpoint", func(a *authority) { a.meta = map[string]any{"token_endpoint": "http://example.com/t"} }, "token endpoint: the address has to be https"},
		{"script", func(a *authority) { a.meta = map[string]any{"authorization_endpoint": "javascript:alert(1)"} }, "authorization endpoint: "},
		{"token", func(a *authority) {
			a.token = func(w http.ResponseWriter, _ *http.Request) {
				writeJSON(w, 400, map[string]string{"error": "invalid_target"})
			}
		}, "invalid_target"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newAuthority(t)
			tt.change(a)
			s := storeAt(t, a)
			addr := a.URL + "/mcp"
			_, err := call(t.Context(), a.Client(), addr, s.Handler("srv", addr, mcp.OAuth{}, a.person()))
			why, ok := errors.AsType[*SignInError](err)
			if !ok || !errors.Is(err, ErrSignIn) || why.Server != "srv" || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "helve mcp auth") {
				t.Errorf("with a person: %v", err)
			}
			if tt.name == "token" {
				return
			}
			_, err = call(t.Context(), a.Client(), addr, s.Handler("srv", addr, mcp.OAuth{}, a.nobody()))
			if !errors.Is(err, ErrSignIn) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "`helve mcp auth srv`") {
				t.Errorf("without a person: %v", err)
			}
		})
	}
	a := newAuthority(t)
	addr := a.URL + "/mcp"
	_, err := call(t.Context(), a.Client(), addr, storeAt(t, a).Handler("srv", addr, mcp.OAuth{}, HandlerOptions{Interactive: true, HTTP: a.Client()}))
	if !errors.Is(err, ErrSignIn) || !strings.Contains(err.Error(), "no way to show") || strings.Contains(err.Error(), "helve mcp auth") {
		t.Errorf("nothing to reach the person with: %v", err)
	}
}

// The document is asked for once, whatever name the server goes by there.
func TestAskedOnce(t *testing.T) {
	for _, path := range []string{"/mcp", "/mcp/", "", "/"} {
		a := newAuthority(t)
		a.about = map[string]any{"resource": a.URL + path}
		addr := a.URL + "/mcp"
		if _, err := call(t.Context(), a.Client(), addr, storeAt(t, a).Handler("srv", addr, mcp.OAuth{}, a.person())); err != nil {
			t.Fatal(err)
		}
		if a.lookedUp != 1 {
			t.Errorf("%q: asked %d times", path, a.lookedUp)
		}
	}
	if got := places(mustURL(t, "https://h/a%2Fb/")); !slices.Equal(got, []string{
		"https://h/.well-known/oauth-authorization-server/a%2Fb", "https://h/.well-known/openid-configuration/a%2Fb", "https://h/a%2Fb/.well-known/openid-configuration",
	}) {
		t.Errorf("metadata is looked for at %q", got)
	}
}
