package auth

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestNewRefuses(t *testing.T) {
	good := GuardOptions{Token: goodToken, Hosts: goodHosts()}
	for name, change := range map[string]func(*GuardOptions){
		"no token":               func(o *GuardOptions) { o.Token = "" },
		"short token":            func(o *GuardOptions) { o.Token = strings.Repeat("a", 31) },
		"long token":             func(o *GuardOptions) { o.Token = strings.Repeat("a", 513) },
		"token with a blank":     func(o *GuardOptions) { o.Token = goodToken + " x" },
		"token with a line":      func(o *GuardOptions) { o.Token = goodToken + "\n" },
		"token beyond ASCII":     func(o *GuardOptions) { o.Token = goodToken + "é" },
		"no host":                func(o *GuardOptions) { o.Hosts = nil },
		"host without port":      func(o *GuardOptions) { o.Hosts = []string{"localhost"} },
		"host with port 0":       func(o *GuardOptions) { o.Hosts = []string{"localhost:0"} },
		"host with a long port":  func(o *GuardOptions) { o.Hosts = []string{"localhost:65536"} },
		"host with a named port": func(o *GuardOptions) { o.Hosts = []string{"localhost:http"} },
		"host with a zero":       func(o *GuardOptions) { o.Hosts = []string{"localhost:080"} },
		"host of all":            func(o *GuardOptions) { o.Hosts = []string{"*:80"} },
		"empty host":             func(o *GuardOptions) { o.Hosts = []string{":80"} },
		"host with a dot":        func(o *GuardOptions) { o.Hosts = []string{"localhost.:80"} },
		"host with a zone":       func(o *GuardOptions) { o.Hosts = []string{"[fe80::1%eth0]:80"} },
		"host with a path":       func(o *GuardOptions) { o.Hosts = []string{"a/b:80"} },
		"long host":              func(o *GuardOptions) { o.Hosts = []string{strings.Repeat("a", 64) + ":80"} },
		"origin of all":          func(o *GuardOptions) { o.Origins = []string{"*"} },
		"no origin":              func(o *GuardOptions) { o.Origins = []string{"null"} },
		"origin with a path":     func(o *GuardOptions) { o.Origins = []string{"http://a/"} },
		"origin with a user":     func(o *GuardOptions) { o.Origins = []string{"http://u@a"} },
		"origin in capitals":     func(o *GuardOptions) { o.Origins = []string{"http://A"} },
		"empty origin":           func(o *GuardOptions) { o.Origins = []string{""} },
	} {
		o := good
		change(&o)
		if _, err := NewGuard(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := NewGuard(good); err != nil {
		t.Error(err)
	}
}

func TestPort80(t *testing.T) {
	g := newGate(t, GuardOptions{Hosts: []string{"Example.test:80", "[::1]:80", "[2001:DB8:0::1]:8080"}})
	for host, want := range map[string]bool{
		"example.test": true, "EXAMPLE.test:80": true, "[::1]": true, "[::1]:80": true, "[2001:db8::1]:8080": true,
		"::1": false, "[2001:db8::1]": false, "example.test:8080": false, "example.test.": false,
	} {
		if got := g.hosts[lower(host)]; got != want {
			t.Errorf("host %s served: %v", host, got)
		}
	}
	for origin, want := range map[string]bool{
		"http://example.test": true, "http://[::1]": true, "http://[2001:db8::1]:8080": true,
		"https://example.test": false, "http://[2001:db8::1]": false,
	} {
		if got := g.origins[origin]; got != want {
			t.Errorf("origin %s ours: %v", origin, got)
		}
	}
}

func TestOriginsGiven(t *testing.T) {
	for _, c := range []struct {
		origins []string
		origin  string
		want    int
	}{
		{[]string{"https://console.test"}, "https://console.test", 200},
		{[]string{"https://console.test"}, "http://" + here, 403},
		{[]string{}, "http://" + here, 403},
	} {
		resp, _ := one(t, newGate(t, GuardOptions{Origins: c.origins}), new(reach), request("GET /", here, bearer, "Origin: "+c.origin))
		if resp.StatusCode != c.want {
			t.Errorf("%v, origin %s: %d", c.origins, c.origin, resp.StatusCode)
		}
	}
}

func TestHandlerSees(t *testing.T) {
	var body string
	var seen *http.Request
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		body, seen = string(b), r
	})
	raw := request("POST /mcp?x=1", here, bearer, js, "Accept: text/event-stream", "Mcp-Session-Id: s",
		"Transfer-Encoding: chunked", "Trailer: X-Late\r\n\r\n4\r\n{\"a\"\r\n3\r\n:1}\r\n0\r\nX-Late: y")
	resp, _ := one(t, newGate(t, GuardOptions{}), h, raw)
	if resp.StatusCode != 200 || body != `{"a":1}` || seen.ContentLength != 7 || len(seen.TransferEncoding) != 0 {
		t.Errorf("status %d, body %q, %d bytes", resp.StatusCode, body, seen.ContentLength)
	}
	if seen.Header.Get("Authorization") != "" {
		t.Error("the handler sees the token")
	}
	if seen.Header.Get("Mcp-Session-Id") != "s" || seen.URL.RawQuery != "x=1" || seen.Host != here {
		t.Errorf("the handler sees another request: %v", seen)
	}
	checkAnswer(t, resp, "") // it wrote nothing
}

func TestSeal(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    map[string]string
	}{
		"handler allows": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Access-Control-Allow-Origin", "*")
				w.Header().Set("X-Frame-Options", "SAMEORIGIN")
				w.Header().Set("Cache-Control", "no-cache, no-transform")
				w.Header().Set("Content-Security-Policy", "default-src 'self'")
				w.WriteHeader(200)
			},
			map[string]string{
				"Access-Control-Allow-Origin": "", "X-Frame-Options": "DENY",
				"Cache-Control": "no-cache, no-transform, no-store", "Content-Security-Policy": "default-src 'self'",
			},
		},
		"hint first": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusProcessing)
				w.Header().Set("Access-Control-Allow-Origin", "*")
				_, _ = w.Write([]byte("x"))
			},
			map[string]string{"Access-Control-Allow-Origin": "", "X-Frame-Options": "DENY", "Cache-Control": "no-store"},
		},
		"flush first": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Access-Control-Allow-Origin", "*")
				w.(http.Flusher).Flush()
			},
			map[string]string{"Access-Control-Allow-Origin": "", "X-Frame-Options": "DENY", "Cache-Control": "no-store"},
		},
		"nothing written": {
			func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Access-Control-Allow-Origin", "*") },
			map[string]string{"Access-Control-Allow-Origin": "", "X-Frame-Options": "DENY", "Cache-Control": "no-store"},
		},
	} {
		out := exchange(t, newGate(t, GuardOptions{}), c.handler, request("GET /", here, bearer))
		if _, rest, ok := strings.Cut(out, "102 Processing\r\n"); ok {
			_, out, _ = strings.Cut(rest, "\r\n\r\n")
		}
		resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(out)), nil)
		if err != nil {
			t.Fatalf("%s: %q: %v", name, out, err)
		}
		for header, want := range c.want {
			if got := strings.Join(resp.Header[header], "|"); got != want {
				t.Errorf("%s: %s is %q, want %q", name, header, got, want)
			}
		}
	}
}

func TestHijack(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\n\r\nhello")
	})
	out := exchange(t, newGate(t, GuardOptions{}), h, request("GET /ws", here, bearer, "Connection: Upgrade", "Upgrade: websocket"))
	if !strings.HasSuffix(out, "hello") {
		t.Errorf("got %q", out)
	}
}

// A recorder has neither deadlines nor a connection; the guard works all the
// same, and says so where it cannot.
func TestWithoutServer(t *testing.T) {
	g := newGate(t, GuardOptions{})
	var hijack error
	h := g.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _, hijack = http.NewResponseController(w).Hijack()
	}))
	r := httptest.NewRequest("POST", "/mcp", strings.NewReader("{}"))
	r.Host = here
	r.Header.Set("Authorization", "Bearer "+goodToken)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 200 || hijack == nil {
		t.Errorf("status %d, hijack %v", w.Code, hijack)
	}
}

// Requests of one connection are checked one by one, until one of them does
// not show the token.
func TestKeptConnection(t *testing.T) {
	h := new(reach)
	out := exchange(t, newGate(t, GuardOptions{}), h,
		request("GET /1", here, bearer)+request("OPTIONS /2", here, bearer)+
			request("POST /3", here, bearer, js, "Content-Length: 2")+"{}"+request("GET /4", here, bearer)+
			request("GET /5", here)+request("GET /6", here, bearer))
	var got []int
	in := bufio.NewReader(strings.NewReader(out))
	for {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			break
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		got = append(got, resp.StatusCode)
	}
	if want := "[200 204 200 200 401]"; fmt.Sprint(got) != want || h.count() != 3 {
		t.Errorf("got %v and %d calls, want %s", got, h.count(), want)
	}
}

// Programs go by the codes, so each stays what it is.
func TestRefusalCodes(t *testing.T) {
	post := func(header ...string) string { return request("POST /", here, append([]string{bearer}, header...)...) }
	for code, raw := range map[string]string{
		"wrong-host":   request("GET /", "evil.example", bearer),
		"wrong-origin": request("GET /", here, bearer, "Origin: null"),
		"wrong-site":   request("GET /", here, bearer, "Sec-Fetch-Site: cross-site"),
		"bad-method":   request("TRACE /", here, bearer),
		"long-target":  request("GET /"+strings.Repeat("a", maxTarget), here, bearer),
		"long-header":  request("GET /", here, bearer, "X-A: "+strings.Repeat("a", maxHeader)),
		"no-token":     request("GET /", here),
		"wrong-token":  request("GET /", here, "Authorization: Bearer wrong"),
		"wrong-type":   post("Content-Type: text/plain", two),
		"wrong-coding": post(js, "Content-Encoding: br", two),
		"long-body":    post(js, "Content-Length: 65\r\n\r\n"+strings.Repeat(" ", 65)),
		"broken-body":  post(js, "Content-Length: 9\r\n\r\n{}"),
	} {
		resp, body := one(t, newGate(t, GuardOptions{MaxBody: 64}), new(reach), raw)
		if !strings.Contains(body, `"code":"`+code+`"`) {
			t.Errorf("%s: %d %s", code, resp.StatusCode, body)
		}
		checkAnswer(t, resp, body)
	}
	for code, no := range map[string]*tokenError{
		"no-tls": noTLS(), "many-wrong-tokens": manyWrong(), "slow-body": slowBody(time.Minute), "busy": busy(),
	} {
		if no.code != code {
			t.Errorf("%s is %s", code, no.code)
		}
	}
}

// A body that nobody reads is not taken for the next request.
func TestNoSmuggling(t *testing.T) {
	inner := request("GET /inner", here, bearer)
	for name, raw := range map[string]string{
		"length":  request("POST /", here, js, fmt.Sprintf("Content-Length: %d", len(inner))) + inner,
		"chunked": request("POST /", here, js, "Transfer-Encoding: chunked") + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(inner), inner),
		"both":    request("POST /", here, js, "Content-Length: 4", "Transfer-Encoding: chunked") + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(inner), inner),
	} {
		h := new(reach)
		exchange(t, newGate(t, GuardOptions{}), h, raw)
		if h.count() != 0 {
			t.Errorf("%s: the inner request got through", name)
		}
	}
}

func TestWrongTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, GuardOptions{})
		h := g.Wrap(new(reach))
		try := func(auth string) int {
			r := httptest.NewRequest("GET", "/", nil)
			r.Host = here
			if auth != "" {
				r.Header.Set("Authorization", auth)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w.Code
		}
		for i := range wrongBurst {
			if got := try("Bearer wrong"); got != 401 {
				t.Fatalf("wrong token %d: %d", i, got)
			}
		}
		for range 3 {
			if got := try("Bearer wrong"); got != 429 {
				t.Errorf("after the burst: %d", got)
			}
			if got := try("Bearer " + goodToken); got != 200 {
				t.Errorf("the right token is locked out: %d", got)
			}
			if got := try(""); got != 401 {
				t.Errorf("no token at all: %d", got)
			}
		}
		time.Sleep(time.Second) // of the false clock
		for i, want := range []int{401, 401, 401, 401, 429} {
			if got := try("Bearer wrong"); got != want {
				t.Errorf("a second later, %d: %d, want %d", i, got, want)
			}
		}
	})
}

func TestRoom(t *testing.T) {
	for name, c := range map[string]struct{ first, second, other string }{
		"streams": {
			request("GET /event", here, bearer, "Accept: application/json;q=0.1, text/event-stream"),
			request("GET /ws", here, bearer, "Connection: Upgrade", "Upgrade: websocket"),
			request("GET /session", here, bearer),
		},
		"requests": {
			request("POST /mcp", here, bearer, js, "Accept: text/event-stream", "Content-Length: 2") + "{}",
			request("GET /session", here, bearer),
			request("GET /event", here, bearer, "Accept: text/event-stream"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGate(t, GuardOptions{MaxStreams: 1, MaxRequests: 1})
				end := make(chan struct{})
				l := serve(t, g, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.(http.Flusher).Flush()
					<-end
				}))
				first, second, other, late := l.dial(), l.dial(), l.dial(), l.dial()
				if got := postForm(t, first, c.first); got != 200 {
					t.Fatalf("the first: %d", got)
				}
				if got := postForm(t, second, c.second); got != 503 {
					t.Errorf("one too many: %d", got)
				}
				if got := postForm(t, other, c.other); got != 200 {
					t.Errorf("of the other kind: %d", got)
				}
				close(end)
				synctest.Wait()
				if got := postForm(t, late, c.second); got != 200 {
					t.Errorf("when there is room again: %d", got)
				}
				for _, c := range []net.Conn{first, second, other, late} {
					_ = c.Close()
				}
			})
		})
	}
}

// postForm sends a request and returns the status of its answer.
func postForm(t *testing.T, c net.Conn, raw string) int {
	t.Helper()
	if _, err := io.WriteString(c, raw); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode
}

// Requests with long bodies are few at once; others go on.
func TestLargeBodies(t *testing.T) {
	held, free := make(chan struct{}, maxLarge), make(chan struct{})
	g, err := NewGuard(GuardOptions{Token: strings.Repeat("t", 43), Hosts: []string{"127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	h := g.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > largeBody {
			held <- struct{}{}
			<-free
		}
	}))
	send := func(size int) int {
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:1/", strings.NewReader(strings.Repeat(" ", size)))
		r.Header.Set("Authorization", "Bearer "+strings.Repeat("t", 43))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	var wg sync.WaitGroup
	for range maxLarge {
		wg.Go(func() {
			if got := send(largeBody + 1); got != http.StatusOK {
				t.Errorf("a long one: %d", got)
			}
		})
	}
	for range maxLarge {
		<-held
	}
	if got := send(largeBody + 1); got != http.StatusServiceUnavailable {
		t.Errorf("one too many: %d", got)
	}
	if got := send(10); got != http.StatusOK {
		t.Errorf("a short one: %d", got)
	}
	close(free)
	wg.Wait()
}
