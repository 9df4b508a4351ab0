package auth

import (
	"bufio"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ours tells by another road than the guard's whether a host is one of ours.
func ours(u *url.URL) bool {
	return slices.Contains([]string{"127.0.0.1", "localhost", "::1"}, strings.ToLower(u.Hostname())) &&
		u.Port() == "4096" && u.User == nil
}

// A Host is served only if a URL with it leads to us.
func FuzzHost(f *testing.F) {
	for _, h := range append(goodHosts(), "", "evil.example:4096", "LOCALHOST:4096", "localhost.:4096", "a@localhost:4096", "localhost:4096@b") {
		f.Add(h)
	}
	g := newGate(f, GuardOptions{})
	f.Fuzz(func(t *testing.T, host string) {
		r := &http.Request{Host: host, URL: &url.URL{Path: "/"}}
		no := g.checkPlace(r)
		u, err := url.Parse("http://" + host + "/")
		want := err == nil && ours(u) && u.Path == "/" && u.RawQuery == "" && u.Fragment == "" && u.Host == host
		if no == nil && !want {
			t.Errorf("host %q is served", host)
		}
		if no != nil && slices.Contains(goodHosts(), strings.ToLower(host)) && lower(host) == strings.ToLower(host) {
			t.Errorf("host %q is not served", host)
		}
	})
}

// An Origin passes only if it is that of a page of ours.
func FuzzOrigin(f *testing.F) {
	for _, h := range goodHosts() {
		f.Add("http://" + h)
	}
	for _, o := range []string{"", "null", "https://evil.example", "http://localhost:4096.evil.example", "http://localhost:9999"} {
		f.Add(o)
	}
	g := newGate(f, GuardOptions{})
	f.Fuzz(func(t *testing.T, origin string) {
		r := &http.Request{Host: here, URL: &url.URL{Path: "/"}, Header: http.Header{"Origin": {origin}}}
		if g.checkPlace(r) != nil {
			return
		}
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" || !ours(u) || "http://"+u.Host != origin {
			t.Errorf("origin %q passes", origin)
		}
	})
}

// Whatever bytes are sent: the handler is reached only with the right token, at
// a host of ours, and from no foreign origin; and every answer is one.
func FuzzRequest(f *testing.F) {
	for _, group := range [][]attack{hostileHosts(), hostileOrigins(), hostileTokens(), hostileContent(), hostileHeads(), hostilePublic()} {
		for _, a := range group {
			if len(a.raw) < 1024 {
				f.Add([]byte(a.raw))
			}
		}
	}
	f.Add([]byte(request("GET /1", here, bearer) + request("GET /2", here)))
	carried := regexp.MustCompile(`(?mi)^authorization:[ \t]*bearer +` + goodToken + `[ \t]*\r?$`)
	f.Fuzz(func(t *testing.T, raw []byte) {
		h := new(reach)
		out := exchange(t, newGate(t, GuardOptions{MaxBody: 64, Public: open}), h, string(raw))
		if n := len(carried.FindAll(raw, -1)); h.secret() > n {
			t.Errorf("reached %d times with %d tokens", h.secret(), n)
		}
		for _, r := range h.seen {
			if !slices.Contains(goodHosts(), strings.ToLower(r.Host)) {
				t.Errorf("reached at host %q", r.Host)
			}
			for _, o := range r.Header.Values("Origin") {
				if !slices.Contains(goodHosts(), strings.TrimPrefix(o, "http://")) {
					t.Errorf("reached from %q", o)
				}
			}
			if r.Header.Get("Authorization") != "" || r.ContentLength > 64 || !knownMethod(r.Method) {
				t.Errorf("reached by %v", r)
			}
			if s := r.Header.Get("Sec-Fetch-Site"); s != "" && s != "none" && s != "same-origin" {
				t.Errorf("reached from site %q", s)
			}
		}
		checkAnswers(t, out, h.count())
	})
}

// Whatever is written: what others can reach is reached only with a token, and
// with a certificate or the person's word.
func FuzzBind(f *testing.F) {
	for _, s := range []string{"", ":1", "127.0.0.1", "[::1]:4096", "::", "0.0.0.0:443", "localhost", "[::ffff:10.0.0.1]:1", "fe80::1%eth0", "a:b:c", "[", "]:1", "127.0.0.1:99999"} {
		for how := range byte(8) {
			f.Add(s, how)
		}
	}
	f.Fuzz(func(t *testing.T, addr string, how byte) {
		b := Bind{Addr: addr, Beyond: how&1 != 0, TLS: how&2 != 0}
		if how&4 != 0 {
			b.Token = goodToken
		}
		p, err := b.Plan()
		if err != nil {
			if p != (Plan{}) {
				t.Errorf("%+v: an error and %+v", b, p)
			}
			return
		}
		near := p.Addr.Addr().IsLoopback()
		if !p.Addr.IsValid() || !near && (b.Token == "" || !b.Beyond && !b.TLS) || p.Generate != (b.Token == "") {
			t.Errorf("%+v: %+v", b, p)
		}
		if want := !near && !b.TLS; (p.Warning != "") != want {
			t.Errorf("%+v: warning %q", b, p.Warning)
		}
		hosts := servedHosts(p.Addr, nil, nil)
		if _, err := hostSet(hosts, "http"); err != nil && p.Addr.Port() != 0 {
			t.Errorf("%+v: %v", b, err)
		}
	})
}

func checkAnswers(t *testing.T, out string, reached int) {
	t.Helper()
	in := bufio.NewReader(strings.NewReader(out))
	good := 0
	for {
		if _, err := in.Peek(1); err == io.EOF {
			break
		}
		// Answers to HEAD have a length but no body; their end cannot be
		// told without the request, so reading stops at a bad one.
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return
		}
		if resp.StatusCode == http.StatusContinue {
			continue
		}
		if resp.StatusCode == http.StatusOK {
			good++
		}
		if resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Error("an answer allows an origin")
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return
		}
	}
	if good > reached {
		t.Errorf("%d good answers, but reached %d times: %q", good, reached, out)
	}
}

func BenchmarkGate(b *testing.B) {
	next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	h := newGate(b, GuardOptions{}).Wrap(next)
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(request("POST /mcp", here, bearer, js, "Accept: application/json, text/event-stream", "Content-Length: 1024") + strings.Repeat(" ", 1024))))
	if err != nil {
		b.Fatal(err)
	}
	w := discard{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		r.Body = io.NopCloser(strings.NewReader(strings.Repeat(" ", 1024)))
		clear(w.header)
		h.ServeHTTP(w, r)
	}
}

type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}
