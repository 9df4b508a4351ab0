package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGet(t *testing.T) {
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			var got *http.Request
			w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
				got = r
				rw.Header().Set("Content-Type", "Text/HTML; Charset=UTF-8")
				fmt.Fprint(rw, "hello")
			}).name("example.com", "93.184.216.34")
			p, err := fetchFrom(t, w, scheme+"://EXAMPLE.com./a%2Fb/../c%7c?q=1&r#frag")
			if err != nil {
				t.Fatal(err)
			}
			if p.Status != 200 || string(p.Body) != "hello" || p.Type != "text/html" || p.Charset != "utf-8" || p.Cut || p.Size != 5 || !p.Cacheable() {
				t.Errorf("%+v", p)
			}
			if p.Address.String() != scheme+"://example.com/c%7C?q=1&r" || len(p.Chain) != 0 {
				t.Error(p.Address, p.Chain)
			}
			if got.RequestURI != "/c%7C?q=1&r" || got.Host != "example.com" {
				t.Errorf("asked for %s of %s", got.RequestURI, got.Host)
			}
			if scheme == "https" && got.ProtoMajor != 2 {
				t.Errorf("spoke %s", got.Proto)
			}
			got.Header.Del("Connection")
			if diff := cmp.Diff(http.Header{"Accept-Encoding": {"gzip"}, "User-Agent": {"helve/test"}}, got.Header); diff != "" {
				t.Error(diff)
			}
			port := map[string]string{"http": ":80", "https": ":443"}[scheme]
			if diff := cmp.Diff([]string{"93.184.216.34" + port}, w.reached()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEveryStatusIsAPage(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		var n int
		fmt.Sscanf(r.URL.Path, "/%d", &n)
		rw.WriteHeader(n)
	})
	for _, status := range []int{200, 204, 206, 300, 302, 304, 404, 418, 500, 503} { // no Location
		p, err := fetchFrom(t, w, fmt.Sprintf("http://8.8.8.8/%d", status))
		if err != nil || p.Status != status || p.Cacheable() != (status == 200) {
			t.Errorf("%d: %+v, %v", status, p, err)
		}
	}
}

func TestPost(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err != nil || string(body) != "body" {
			t.Errorf("%q, %v", body, err)
		}
		if r.Method != "POST" || r.Header.Get("Authorization") != "Bearer x" || r.ContentLength != 4 {
			t.Errorf("%s %v %d", r.Method, r.Header, r.ContentLength)
		}
		http.Redirect(rw, r, "/elsewhere", http.StatusTemporaryRedirect)
	})
	p, err := New(w.options()).Get(t.Context(), Get{Address: mustRead(t, "https://8.8.8.8/"), Method: "POST", Body: []byte("body"), Header: http.Header{"authorization": {"Bearer x"}}})
	if err != nil || p.Status != http.StatusTemporaryRedirect || p.Cacheable() {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestJudge(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/1" {
			http.Redirect(rw, r, "http://dev.internal/2", http.StatusFound)
		}
	}).name("intranet.example", "10.1.2.3", "fd00::7").name("dev.internal", "192.168.0.1")
	a1, a2 := mustRead(t, "http://intranet.example/1"), mustRead(t, "http://dev.internal/2")
	via := []Redirect{{a1, 302}}
	want := []Hop{
		{Address: a1},
		{Address: a1, Place: Private, IPs: []netip.Addr{netip.MustParseAddr("10.1.2.3"), netip.MustParseAddr("fd00::7")}},
		{Address: a2, Via: via},
		{Address: a2, Place: Private, IPs: []netip.Addr{netip.MustParseAddr("192.168.0.1")}, Via: via},
	}
	for stop := range len(want) + 1 {
		var hops []Hop
		p, err := New(w.options()).Get(t.Context(), Get{Address: a1, Judge: func(_ context.Context, h Hop) error {
			if hops = append(hops, h); len(hops) > stop {
				return errAsked
			}
			return nil
		}})
		if stop == len(want) {
			if err != nil || p.Cacheable() || len(p.Chain) != 1 || p.Chain[0] != via[0] {
				t.Errorf("%+v, %v", p, err)
			}
		} else if !errors.Is(err, errAsked) {
			t.Errorf("stopped at %d: %v", stop, err)
		}
		if diff := cmp.Diff(want[:min(stop+1, len(want))], hops, cmp.Comparer(func(a, b Address) bool { return a == b }), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			t.Error(diff)
		}
		if len(w.reached()) > 0 && stop < 2 {
			t.Fatal("somebody was dialled before the judge spoke")
		}
	}
}

func TestNoJudge(t *testing.T) {
	w := newWorld(t, func(http.ResponseWriter, *http.Request) {}).name("in.example", "10.0.0.1").name("out.example", "8.8.8.8")
	c := New(w.options())
	for raw, code := range map[string]string{"http://in.example": CodeBlockedAddress, "http://127.0.0.1": CodeBlockedAddress, "http://localhost": CodeBlockedAddress, "http://out.example": ""} {
		if _, err := c.Get(t.Context(), Get{Address: mustRead(t, raw)}); codeOf(err) != code {
			t.Errorf("%s: %v", raw, err)
		}
	}
	if _, err := c.Get(t.Context(), Get{}); codeOf(err) != CodeInvalidURL {
		t.Error(err)
	}
}

func TestPlacesOfNames(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers []string
		code    string
	}{
		{"public", []string{"93.184.216.34", "2606:4700::1", "::ffff:8.8.8.8"}, ""},
		{"private", []string{"10.0.0.1", "fd00::1"}, errAsked.Error()},
		{"mixed", []string{"93.184.216.34", "127.0.0.1"}, CodeBlockedAddress},
		{"inside but mixed", []string{"10.0.0.1", "127.0.0.1"}, CodeBlockedAddress},
		{"last is bad", []string{"8.8.8.8", "8.8.4.4", "169.254.169.254"}, CodeBlockedAddress},
		{"mapped metadata", []string{"::ffff:169.254.169.254"}, CodeBlockedAddress},
		{"zone", []string{"fe80::1%eth0"}, CodeBlockedAddress},
		{"unspecified", []string{"0.0.0.0"}, CodeBlockedAddress},
		{"nothing", []string{}, CodeUnknownHost},
	} {
		w := newWorld(t, func(http.ResponseWriter, *http.Request) {}).name("name.example", tt.answers...)
		_, err := fetchFrom(t, w, "http://name.example/")
		if codeOf(err) != tt.code {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.code)
		}
		if tt.code != "" && len(w.reached()) > 0 {
			t.Errorf("%s: %v were dialled", tt.name, w.reached())
		}
	}
	_, err := fetchFrom(t, newWorld(t, nil).name("name.example", "169.254.169.254"), "http://name.example/")
	wantCode(t, err, CodeBlockedAddress, "name.example leads to 169.254.169.254", "metadata")
	_, err = fetchFrom(t, newWorld(t, nil), "http://none.example/")
	wantCode(t, err, CodeUnknownHost, "none.example")
}

func TestFailedLookups(t *testing.T) {
	for want, err := range map[string]error{
		CodeTimeout:     &net.DNSError{Err: "i/o timeout", IsTimeout: true},
		CodeUnknownHost: &net.DNSError{Err: "server misbehaving", IsTemporary: true},
	} {
		broken := lookup(func(context.Context, string) ([]netip.Addr, error) { return nil, err })
		_, got := New(Options{Resolver: broken}).Get(t.Context(), Get{Address: mustRead(t, "http://a.example/")})
		wantCode(t, got, want, "a.example")
		if !errors.Is(got, err) {
			t.Errorf("the cause of %v is lost", got)
		}
	}
}

// A name that leads elsewhere when it is looked up again does not matter: it is
// looked up once.
func TestRebinding(t *testing.T) {
	w := newWorld(t, func(http.ResponseWriter, *http.Request) {}).name("rebind.example", "93.184.216.34").name("rebind.example", "127.0.0.1")
	if _, err := fetchFrom(t, w, "http://rebind.example/"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"93.184.216.34:80"}, w.reached()); diff != "" {
		t.Error(diff)
	}
	// The next hop to the same name is looked at like the first.
	w = newWorld(t, func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/x", http.StatusFound) })
	w.name("rebind.example", "93.184.216.34").name("rebind.example", "127.0.0.1")
	_, err := fetchFrom(t, w, "http://rebind.example/")
	wantCode(t, err, CodeRedirectRefused, "this machine", "redirected from http://rebind.example/")
	if diff := cmp.Diff([]string{"93.184.216.34:80"}, w.reached()); diff != "" {
		t.Error(diff)
	}
}

func TestLocalhost(t *testing.T) {
	w := newWorld(t, func(http.ResponseWriter, *http.Request) {}).name("localhost", "8.8.8.8").name("a.localhost", "8.8.8.8")
	for _, raw := range []string{"http://localhost/", "http://a.localhost/"} {
		if _, err := New(w.options()).Get(t.Context(), Get{Address: mustRead(t, raw), Judge: anywhere}); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]string{"127.0.0.1:80", "127.0.0.1:80"}, w.reached()); diff != "" {
		t.Error(diff)
	}
	if len(w.asked) > 0 {
		t.Errorf("looked up %v", w.asked)
	}
}

func TestFallback(t *testing.T) {
	var agents []string
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		agents = append(agents, r.UserAgent())
		if r.UserAgent() != "second" || r.URL.Path == "/hard" {
			rw.Header().Set("cf-mitigated", "challenge")
			rw.WriteHeader(http.StatusForbidden)
		}
	}).name("shop.example", "8.8.8.8").name("shop.example", "127.0.0.1")
	o := w.options()
	for _, tt := range []struct {
		fallback, path string
		status, tries  int
	}{{"", "/", 403, 1}, {"helve/test", "/", 403, 1}, {"second", "/", 200, 2}, {"second", "/hard", 403, 2}} {
		agents = nil
		w.names["shop.example"] = [][]string{{"8.8.8.8"}, {"127.0.0.1"}} // the second try needs no look-up
		o.Fallback = tt.fallback
		p, err := New(o).Get(t.Context(), Get{Address: mustRead(t, "http://shop.example"+tt.path)})
		if err != nil || p.Status != tt.status || len(agents) != tt.tries {
			t.Errorf("%+v: %v, %v", tt, agents, err)
		}
	}
}
