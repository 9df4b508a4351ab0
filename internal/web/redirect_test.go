package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// leads makes a world in which the first page redirects.
func leads(t *testing.T, status int, location string) *world {
	return newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/from" {
			rw.Header()["Location"] = []string{location}
			rw.WriteHeader(status)
		}
	}).name("a.example", "93.184.216.34").name("b.example", "93.184.216.35").name("in.example", "10.0.0.1").name("dev.example", "10.0.0.2").name("never.example", "169.254.1.1")
}

func TestRedirects(t *testing.T) {
	for _, tt := range []struct{ from, location, want string }{
		{"http://a.example/from", "/to", "http://a.example/to"},
		{"http://a.example/from", "to?x#y", "http://a.example/to?x"},
		{"http://a.example/from#z", "//b.example", "http://b.example/"},
		{"http://a.example/from", "https://b.example/", "https://b.example/"},
		{"https://a.example/from", "https://b.example/", "https://b.example/"},
		{"http://in.example/from", "http://a.example/", "http://a.example/"},
		{"http://in.example/from", "http://dev.example/", "http://dev.example/"},
		{"http://in.example/from", "http://127.0.0.1:8/", "http://127.0.0.1:8/"},
		{"https://a.example/from", "http://a.example/", CodeRedirectRefused},
		{"https://in.example/from", "http://in.example/", CodeRedirectRefused},
		{"http://a.example/from", "http://127.0.0.1:2375/", CodeRedirectRefused},
		{"http://a.example/from", "http://localhost/", CodeRedirectRefused},
		{"http://a.example/from", "http://[::ffff:10.0.0.1]/", CodeRedirectRefused},
		{"http://a.example/from", "http://in.example/", CodeRedirectRefused},
		{"http://a.example/from", "http://169.254.169.254/latest/", CodeBlockedAddress},
		{"http://a.example/from", "http://never.example/", CodeBlockedAddress},
		{"http://in.example/from", "http://never.example/", CodeBlockedAddress},
		{"http://a.example/from", "http://none.example/", CodeUnknownHost},
		{"http://a.example/from", `\\b.example\x`, CodeRedirectRefused},
		{"http://a.example/from", "http://u:p@b.example/", CodeRedirectRefused},
		{"http://a.example/from", "http://2130706433/", CodeRedirectRefused},
		{"http://a.example/from", "javascript:alert(1)", CodeRedirectRefused},
		{"http://a.example/from", "file:///etc/passwd", CodeRedirectRefused},
		{"http://a.example/from", "/from", CodeTooManyRedirects},
		{"http://a.example/from", "#again", CodeTooManyRedirects},
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			w := leads(t, status, tt.location)
			p, err := New(w.options()).Get(t.Context(), Get{Address: mustRead(t, tt.from), Judge: anywhere})
			got := codeOf(err)
			if err == nil {
				got = p.Address.String()
				if diff := cmp.Diff([]Redirect{{mustRead(t, tt.from), status}}, p.Chain, cmp.Comparer(func(a, b Address) bool { return a == b })); diff != "" {
					t.Error(diff)
				}
			} else if len(w.reached()) > 1 {
				t.Errorf("%s to %s: dialled %v", tt.from, tt.location, w.reached())
			}
			if got != tt.want {
				t.Errorf("%s to %s: %s (%v), want %s", tt.from, tt.location, got, err, tt.want)
			}
			if status != 301 && err != nil {
				break
			}
		}
	}
}

func TestLongWays(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		var at, last int
		fmt.Sscanf(r.URL.Path, "/%d/%d", &last, &at)
		if at < last {
			http.Redirect(rw, r, fmt.Sprintf("/%d/%d", last, at+1), http.StatusFound)
		}
	})
	p, err := fetchFrom(t, w, "http://8.8.8.8/10/0")
	if err != nil || len(p.Chain) != 10 || p.Address.String() != "http://8.8.8.8/10/10" {
		t.Errorf("%+v, %v", p, err)
	}
	_, err = fetchFrom(t, w, "http://8.8.8.8/11/0")
	wantCode(t, err, CodeTooManyRedirects, "http://8.8.8.8/11/11", "from http://8.8.8.8/11/0 to http://8.8.8.8/11/1 to")
	long := strings.Repeat("x", 60000)
	w = newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Location", "//"+long)
		rw.WriteHeader(302)
	})
	if _, err = fetchFrom(t, w, "http://8.8.8.8/"+long[:5000]); codeOf(err) != CodeRedirectRefused || len(err.Error()) > 2000 {
		t.Errorf("%.3000v", err)
	}
}

// What was meant for one origin does not reach another, or come back.
func TestHeadersStay(t *testing.T) {
	seen := map[string]http.Header{}
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		seen[r.Host+r.URL.Path] = r.Header
		http.SetCookie(rw, &http.Cookie{Name: "a", Value: "b"})
		switch r.URL.Path {
		case "/1":
			http.Redirect(rw, r, "/2", http.StatusFound)
		case "/2":
			http.Redirect(rw, r, "http://b.example/3", http.StatusFound)
		case "/3":
			http.Redirect(rw, r, "http://a.example/4", http.StatusFound)
		}
	}).name("a.example", "8.8.8.8").name("b.example", "8.8.4.4")
	own := http.Header{"Authorization": {"x"}, "cookie": {"y"}, "X-Key": {"z"}, "Accept": {"text/html"}, "Accept-Language": {"en"}, "Accept-Encoding": {"br"}, "User-Agent": {"other"}, "Host": {"evil.example"}, "Content-Length": {"5"}}
	if _, err := New(w.options()).Get(t.Context(), Get{Address: mustRead(t, "http://a.example/1"), Header: own}); err != nil {
		t.Fatal(err)
	}
	all := http.Header{"Authorization": {"x"}, "Cookie": {"y"}, "X-Key": {"z"}, "Accept": {"text/html"}, "Accept-Language": {"en"}, "Accept-Encoding": {"gzip"}, "User-Agent": {"helve/test"}, "Connection": {"close"}}
	few := http.Header{"Accept": {"text/html"}, "Accept-Language": {"en"}, "Accept-Encoding": {"gzip"}, "User-Agent": {"helve/test"}, "Connection": {"close"}}
	if diff := cmp.Diff(map[string]http.Header{"a.example/1": all, "a.example/2": all, "b.example/3": few, "a.example/4": few}, seen); diff != "" {
		t.Error(diff)
	}
	if own.Get("X-Key") != "z" || len(own) != 9 {
		t.Error("the caller's header was changed")
	}
}
