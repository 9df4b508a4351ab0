package auth

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// open is what is public in these tests.
func open(r *http.Request) bool {
	switch r.Method {
	case "GET", "HEAD":
		return r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, "/console/")
	case "POST":
		return r.URL.Path == "/v1/open"
	}
	return false
}

func hostilePublic() []attack {
	get := func(header ...string) string { return request("GET /console/app.js", here, header...) }
	post := func(header ...string) string { return request("POST /v1/open", here, header...) }
	all := []attack{
		{"page", get(), 200},
		{"root", request("GET /", here), 200},
		{"head", request("HEAD /console/app.js", here), 200},
		{"code", post(js, two), 200},
		{"with the token", get(bearer), 200},
		{"typed in", get("Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"), 200},
		{"own page", get("Sec-Fetch-Site: same-origin", "Origin: http://"+here), 200},
		{"absolute target", request("GET http://"+here+"/console/app.js", here), 200},

		{"wrong token", get("Authorization: Bearer nope"), 401},
		{"empty token", get("Authorization: "), 401},
		{"other scheme", get("Authorization: Basic x"), 401},
		{"token twice", get(bearer, bearer), 401},
		{"wrong host", request("GET /console/app.js", "evil.example:4096"), 421},
		{"absolute target elsewhere", request("GET http://evil.example/console/app.js", here), 421},
		{"foreign origin", get("Origin: https://evil.example"), 403},
		{"no origin", get("Origin: null"), 403},
		{"foreign origin of a code", post("Origin: https://evil.example", js, two), 403},
		{"cross-site navigation", get("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"), 403},
		{"same-site navigation", get("Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: navigate"), 403},
		{"site twice", get("Sec-Fetch-Site: none", "Sec-Fetch-Site: none"), 403},
		{"method", request("BREW /console/app.js", here), 405},
		{"other method", request("DELETE /console/app.js", here), 401},
		{"options", request("OPTIONS /console/app.js", here), 401},
		{"long target", request("GET /console/"+strings.Repeat("a", maxTarget), here), 414},
		{"long header", get("X-A: " + strings.Repeat("a", maxHeader)), 431},
		{"form", post("Content-Type: application/x-www-form-urlencoded", two), 415},
		{"text", post("Content-Type: text/plain", two), 415},
		{"get with a body", get("Content-Type: text/plain", two), 415},
		{"body of 4 KiB", post(js, "Content-Length: 4096\r\n\r\n"+strings.Repeat(" ", 4096)), 200},
		{"body over 4 KiB", post(js, "Content-Length: 4097\r\n\r\n"+strings.Repeat(" ", 4097)), 413},
		{"body over 4 KiB in chunks", post(js, "Transfer-Encoding: chunked\r\n\r\n1001\r\n"+strings.Repeat(" ", 4097)+"\r\n0\r\n"), 413},
		{"body over 4 KiB, with the token", post(bearer, js, "Content-Length: 4097\r\n\r\n"+strings.Repeat(" ", 4097)), 200},
		{"body ends early", post(js, "Content-Length: 50\r\n\r\n{}"), 400},
		{"options of all", request("OPTIONS *", here), 401},
	}
	for _, path := range []string{
		"/console/../v1/sessions", "/console/%2e%2e/v1/sessions", "/console/%2E%2e/v1/sessions", "/console/..%2fv1/sessions",
		"/console/..%5cv1/sessions", "/console/..\\v1/sessions", "/console//v1/sessions", "//console/app.js", "/console/./app.js",
		"/console/%252e%252e/v1", "/console/a%2fb", "/console/%00", "/console/a%0d%0ab", "/console/..", "/%63onsole/app.js",
	} {
		all = append(all, attack{"path " + path, request("GET "+path, here), 401})
	}
	return all
}

func TestPublic(t *testing.T) {
	for _, a := range hostilePublic() {
		t.Run(a.name, func(t *testing.T) {
			h := new(reach)
			resp, body := one(t, newGate(t, GuardOptions{Public: open}), h, a.raw)
			if resp.StatusCode != a.want {
				t.Errorf("status %d, want %d: %s", resp.StatusCode, a.want, body)
			}
			if want := map[bool]int{true: 1}[a.want == 200]; h.count() != want {
				t.Errorf("the handler was reached %d times, want %d", h.count(), want)
			}
			checkAnswer(t, resp, body)
		})
	}
}

// What is not public is refused in the same way whatever else is public.
func TestPublicChangesNothing(t *testing.T) {
	for group, attacks := range map[string][]attack{
		"hosts": hostileHosts(), "origins": hostileOrigins(), "tokens": hostileTokens(), "heads": hostileHeads(),
	} {
		for _, a := range attacks {
			if a.want == 401 && strings.HasPrefix(a.raw, "GET / ") {
				continue // is public here
			}
			resp, body := one(t, newGate(t, GuardOptions{Public: open}), new(reach), a.raw)
			if resp.StatusCode != a.want {
				t.Errorf("%s, %s: status %d, want %d: %s", group, a.name, resp.StatusCode, a.want, body)
			}
		}
	}
}

// Wrong tokens are counted at public paths too.
func TestPublicWrongTokens(t *testing.T) {
	raw := request("GET /", here, "Authorization: Bearer nope")
	g := newGate(t, GuardOptions{Public: open})
	for i := range wrongBurst + 1 {
		resp, _ := one(t, g, new(reach), raw)
		if want := map[bool]int{true: 401, false: 429}[i < wrongBurst]; resp.StatusCode != want {
			t.Fatalf("wrong token %d: %d", i, resp.StatusCode)
		}
	}
}

// Strangers have a room of their own: neither takes a place of the other's.
func TestPublicRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, GuardOptions{Public: open, MaxPublic: 1, MaxRequests: 1, MaxStreams: 1})
		end := make(chan struct{})
		l := serve(t, g, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			<-end
		}))
		var conns []net.Conn
		try := func(name, raw string, want int) {
			c := l.dial()
			conns = append(conns, c)
			if got := postForm(t, c, raw); got != want {
				t.Errorf("%s: %d, want %d", name, got, want)
			}
		}
		// A slow body holds no place.
		slow := l.dial()
		_, _ = io.WriteString(slow, request("POST /v1/open", here, js, "Content-Length: 2"))
		conns = append(conns, slow)

		stream := "Accept: text/event-stream"
		try("stranger", request("GET /console/a", here, stream), 200)
		try("second stranger", request("GET /console/a", here), 503)
		try("owner", request("GET /console/a", here, bearer), 200)
		try("second owner", request("GET /v1", here, bearer), 503)
		try("stream", request("GET /v1/events", here, bearer, stream), 200)
		close(end)
		synctest.Wait()
		try("stranger, when there is room again", request("GET /console/a", here), 200)
		for _, c := range conns {
			_ = c.Close()
		}
	})
}

// The body of a stranger comes soon, and a stranger takes an answer soon.
func TestSlowStranger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan time.Duration, 1)
		l := serve(t, newGate(t, GuardOptions{Public: open}), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			start := time.Now()
			for {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					ended <- time.Since(start)
					return
				}
			}
		}))
		c := l.dial()
		defer c.Close()
		start := time.Now()
		if got := postForm(t, c, request("POST /v1/open", here, js, "Content-Length: 2")); got != 408 {
			t.Errorf("slow body: %d", got)
		}
		if took := time.Since(start); took > strangerTime+time.Second {
			t.Errorf("slow body: answered after %s", took)
		}
		d := l.dial()
		defer d.Close()
		_, _ = io.WriteString(d, request("GET /console/a", here))
		reads := make(chan struct{})
		go func() { // a little now and then
			defer close(reads)
			for buf := make([]byte, 1024); ; time.Sleep(time.Second) {
				if _, err := d.Read(buf); err != nil {
					return
				}
			}
		}()
		if took := <-ended; took > stallTime+time.Second {
			t.Errorf("held for %s", took)
		}
		_ = d.Close()
		<-reads
	})
}

// A stranger does not get the connection itself.
func TestStrangerHijacks(t *testing.T) {
	var err error
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _, err = http.NewResponseController(w).Hijack() })
	one(t, newGate(t, GuardOptions{Public: open}), h, request("GET /", here, "Connection: Upgrade", "Upgrade: websocket"))
	if err == nil {
		t.Error("it does")
	}
}

// from gives a connection made in memory an address of its own.
type from struct {
	net.Conn
	n int
}

func (f from) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: f.n} }

// As many connections of strangers as there are places for guests stay; the
// others are closed with the answer, until a guest goes. The owner's stay.
func TestGuests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := serve(t, newGate(t, GuardOptions{Public: open}), new(reach))
		n := 0
		visit := func(header ...string) (c net.Conn, stays bool) {
			ours, theirs := net.Pipe()
			n++
			l.conns <- from{theirs, n}
			for range 2 {
				_, _ = io.WriteString(ours, request("GET /console/a", here, header...))
				resp, err := http.ReadResponse(bufio.NewReader(ours), nil)
				if err != nil || resp.StatusCode != 200 {
					t.Fatalf("%v, %v", resp, err)
				}
				if resp.Close {
					_ = ours.Close()
					return ours, false
				}
			}
			return ours, true
		}
		var conns []net.Conn
		for i := range maxGuests {
			c, stays := visit()
			if !stays {
				t.Fatalf("guest %d does not stay", i)
			}
			conns = append(conns, c)
		}
		if _, stays := visit(); stays {
			t.Error("one too many stays")
		}
		owner, stays := visit(bearer)
		if !stays {
			t.Error("the owner does not stay")
		}
		_ = conns[0].Close()
		synctest.Wait()
		late, stays := visit()
		if !stays {
			t.Error("there is a place again, but no guest")
		}
		for _, c := range append(conns, late, owner) {
			_ = c.Close()
		}
	})
}

// Without our own server nobody says when a connection ends, so none is kept.
func TestNoGuests(t *testing.T) {
	srv := newGate(t, GuardOptions{Public: open})
	synctest.Test(t, func(t *testing.T) {
		l := newLobby()
		plain := &http.Server{Handler: srv.Wrap(new(reach))}
		done := make(chan struct{})
		go func() { defer close(done); _ = plain.Serve(l) }()
		c := l.dial()
		_, _ = io.WriteString(c, request("GET /", here))
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || !resp.Close {
			t.Errorf("it stays: %v, %v", resp, err)
		}
		_ = c.Close()
		_ = plain.Close()
		<-done
	})
}

// A thousand event streams leave room for calls, by default.
func TestThousandStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		l := serve(t, newGate(t, GuardOptions{}), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			<-end
		}))
		var conns []net.Conn
		for i := range 1124 {
			accept := "Accept: text/event-stream"
			if i >= 1024 {
				accept = "Accept: application/json"
			}
			c := l.dial()
			conns = append(conns, c)
			if got := postForm(t, c, request("GET /v1/events", here, bearer, accept)); got != 200 {
				t.Fatalf("request %d: %d", i, got)
			}
		}
		close(end)
		for _, c := range conns {
			_ = c.Close()
		}
	})
}

// A path is public only if whoever reads it reads the same.
func FuzzPlain(f *testing.F) {
	for _, a := range hostilePublic() {
		_, target, _ := strings.Cut(a.raw, " ")
		target, _, _ = strings.Cut(target, " ")
		f.Add(target)
	}
	mux := http.NewServeMux()
	var served string
	mux.HandleFunc("/console/", func(_ http.ResponseWriter, r *http.Request) { served = "console" })
	mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) { served = "other" })
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || !plain(u) || !strings.HasPrefix(u.Path, "/console/") {
			return
		}
		if strings.Contains(u.Path, "/../") || strings.HasSuffix(u.Path, "/..") || strings.ContainsAny(u.Path, "\\\x00\r\n%") {
			t.Errorf("%q is plain", target)
		}
		served = ""
		mux.ServeHTTP(discard{http.Header{}}, &http.Request{Method: "GET", URL: u, Host: here})
		if served != "console" {
			t.Errorf("%q is served by %q", target, served)
		}
	})
}

// What a page of 25 modules costs, by connections that are kept and by new
// ones: see guests.
func BenchmarkPage(b *testing.B) {
	module := make([]byte, 8<<10)
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(module) })
	for _, secure := range []bool{false, true} {
		for _, keep := range []bool{true, false} {
			b.Run(fmt.Sprintf("tls=%v/keep=%v", secure, keep), func(b *testing.B) {
				url, client := pageServer(b, next, secure, keep)
				for b.Loop() {
					loadPage(b, url, client)
				}
			})
		}
	}
}

func loadPage(b *testing.B, url string, client *http.Client) {
	turns := make(chan struct{}, 6) // as many as a browser opens
	failed := make(chan error, 25)
	for i := range 25 {
		turns <- struct{}{}
		go func() {
			defer func() { <-turns }()
			resp, err := client.Get(fmt.Sprintf("%s/console/%d.js", url, i))
			if err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			failed <- err
		}()
	}
	for range 25 {
		if err := <-failed; err != nil {
			b.Fatal(err)
		}
	}
}
