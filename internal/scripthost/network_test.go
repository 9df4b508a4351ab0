package scripthost

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/internal/web"
	"github.com/helve-dev/helve/permission"
)

// An internet has one server behind all addresses. Names lead to a public one,
// unless they say otherwise.
type internet struct {
	server  *httptest.Server
	dialled atomic.Int32
}

func (*internet) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	switch {
	case strings.HasPrefix(host, "none."):
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	case strings.HasPrefix(host, "inside."):
		return []netip.Addr{netip.MustParseAddr("10.1.2.3")}, nil
	case strings.HasPrefix(host, "metadata."):
		return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
	}
	return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
}

func (i *internet) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	i.dialled.Add(1)
	if strings.HasSuffix(addr, ":9") {
		return nil, &net.OpError{Op: "dial", Err: refusedByPeer()}
	}
	return new(net.Dialer).DialContext(ctx, network, i.server.Listener.Addr().String())
}

// refusedByPeer is the error of a port that nobody listens at.
func refusedByPeer() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := l.Addr().String()
	_ = l.Close()
	_, err = net.Dial("tcp", addr)
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// online is a room with a network.
func online(t testing.TB, rules string, h http.HandlerFunc) (*room, *internet) {
	t.Helper()
	i := &internet{server: httptest.NewUnstartedServer(h)}
	i.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	i.server.Start()
	t.Cleanup(i.server.Close)
	client := web.New(web.Options{UserAgent: "helve/test", Resolver: i, Dial: i.dial})
	return newRoom(t, rules, func(o *plugins.Services) { o.Web = client }), i
}

type headOf struct {
	ID              int
	Status          int
	StatusText, URL string
	Redirected      bool
	Headers         [][2]string
}

func (r *room) fetch(arg map[string]any, body ...byte) (headOf, error) {
	r.tb.Helper()
	full := map[string]any{"method": "GET", "headers": [][2]string{}, "redirect": "follow", "body": body != nil, "decompress": true}
	for k, v := range arg {
		full[k] = v
	}
	data, err := r.do("net.fetch", full, body...)
	if err != nil {
		return headOf{}, err
	}
	var head headOf
	if err := json.Unmarshal(data.JSON, &head); err != nil {
		r.tb.Fatal(err)
	}
	return head, nil
}

// whole reads a body to its end.
func (r *room) whole(id int) (string, error) {
	r.tb.Helper()
	var all bytes.Buffer
	for {
		data, err := r.do("net.body", map[string]any{"id": id})
		if err != nil {
			return all.String(), err
		}
		all.Write(data.Raw)
		if string(data.JSON) == `{"done":true}` {
			return all.String(), nil
		}
	}
}

// told is what an error says to scripts: name, code, text.
func toldAs(err error) string {
	var f *script.Failure
	if !errors.As(err, &f) {
		return fmt.Sprint(err)
	}
	return f.Name + " " + f.Code + ": " + f.Message
}

func TestFetch(t *testing.T) {
	r, _ := online(t, `{"webfetch": {"*": "allow"}}`, func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.Header().Set("X-Got", strings.Join([]string{req.Method, req.Host, req.RequestURI, req.Header.Get("Authorization"), req.Header.Get("X-Own"), req.Header.Get("User-Agent")}, "|"))
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "got %q", body)
	})
	head, err := r.fetch(map[string]any{"url": "http://user:p%40ss@Example.com/a b?q#f", "method": "PATCH", "headers": [][2]string{
		{"authorization", "Basic x"}, {"x-own", "1"}, {"x-own", "2"}, {"connection", "close"}, {"content-length", "99"}, {"host", "example.com"}, {"user-agent", "mine"}}}, []byte("data")...)
	if err != nil {
		t.Fatal(err)
	}
	text, err := r.whole(head.ID)
	if err != nil || text != `got "data"` {
		t.Errorf("%q, %v", text, err)
	}
	if head.Status != 418 || head.StatusText != "I'm a teapot" || head.URL != "http://example.com/a%20b?q" || head.Redirected {
		t.Errorf("%+v", head)
	}
	var own [][2]string
	for _, h := range head.Headers {
		if h[0] == "set-cookie" || h[0] == "x-got" {
			own = append(own, h)
		}
	}
	if diff := cmp.Diff([][2]string{{"set-cookie", "a=1"}, {"set-cookie", "b=2"}, {"x-got", "PATCH|example.com|/a%20b?q|Basic x|1|mine"}}, own); diff != "" {
		t.Error(diff)
	}
	r.mu.Lock()
	req := r.told[0]
	r.mu.Unlock()
	if req.Permission != "webfetch" || !slices.Equal(req.Patterns, []string{"http://example.com/a%20b?q"}) || !slices.Equal(req.Always, []string{"http://example.com/*"}) || !req.Addresses {
		t.Errorf("%+v", req)
	}
	if diff := cmp.Diff(map[string]any{"url": "http://example.com/a%20b?q", "method": "PATCH", "tool": "custom"}, req.Metadata); diff != "" {
		t.Error(diff)
	}
}

func TestFetchIsJudged(t *testing.T) {
	var reached atomic.Int32
	r, net := online(t, `{"webfetch": {"*": "allow", "https://*": "deny", "http://denied.example/*": "deny", "http://asked.example/*": "ask", "http://127.0.0.1:8080/*": "allow", "http://inside.named/*": "allow"}}`,
		func(w http.ResponseWriter, req *http.Request) {
			reached.Add(1)
			if to := req.URL.Query().Get("to"); to != "" {
				http.Redirect(w, req, to, http.StatusFound)
			}
		})
	for _, c := range []struct {
		url, want string
		reached   int32
	}{
		{"http://fine.example/", "", 1},
		{"http://denied.example/", "Error EACCES", 0},
		{"http://asked.example/", "Error EACCES", 0},                          // there is nobody to ask
		{"http://fine.example/?to=http://denied.example/", "Error EACCES", 1}, // every hop
		{"http://127.0.0.1:8080/", "", 1},                                     // named
		{"http://127.0.0.1:9090/", "Error EACCES", 0},                         // not named
		{"http://localhost/", "Error EACCES", 0},                              //
		{"http://inside.named/", "", 1},                                       //
		{"http://inside.other/", "Error EACCES", 0},                           // leads inside
		{"http://169.254.169.254/latest", "TypeError : http://169.254.169.254/latest is not fetched: it is a cloud's metadata service, where no rule leads.", 0}, // never
		{"http://[fe80::1]/", "TypeError : ", 0},
		{"http://metadata.example/", "TypeError : metadata.example leads to 169.254.169.254", 0},
		{"http://fine.example/?to=http://169.254.169.254/", "TypeError : ", 1},
		{"http://fine.example/?to=http://127.0.0.1:8080/", "TypeError : a redirect from the internet to", 1},
		{"http://fine.example/?to=ftp://x/", "TypeError : ", 1},
		{"http://0x7f.1/", "TypeError : invalid URL", 0},
		{"http://a\\@b/", "TypeError : invalid URL", 0},
		{"ftp://fine.example/", "TypeError : URL must start with", 0},
		{"http://none.example/", "TypeError ENOTFOUND", 0},
		{"http://fine.example:9/", "TypeError ECONNREFUSED", 0},
	} {
		reached.Store(0)
		head, err := r.fetch(map[string]any{"url": c.url})
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.url, err)
			}
			r.must("net.close", map[string]any{"id": head.ID})
			r.must("net.close", map[string]any{"id": head.ID})
		} else if got := toldAs(err); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.url, got, c.want)
		}
		if reached.Load() != c.reached {
			t.Errorf("%s: %d requests were made, want %d", c.url, reached.Load(), c.reached)
		}
	}
	if net.dialled.Load() == 0 {
		t.Error("nothing was dialled")
	}
	_, err := r.fetch(map[string]any{"url": "http://fine.example/?to=http://denied.example/"})
	if !strings.Contains(toldAs(err), "It was asked for by a redirect: http://fine.example/?to=http://denied.example/ (302) -> http://denied.example/") {
		t.Error(err)
	}
	if RefusedIn(r.ctx) == nil {
		t.Error("the refusals were not noted")
	}
}

func TestFetchAsksAPerson(t *testing.T) {
	r, _ := online(t, `{"webfetch": "ask"}`, func(http.ResponseWriter, *http.Request) {})
	var asked []permission.Request
	r.person = func(req permission.Request) error {
		asked = append(asked, req)
		return nil
	}
	if _, err := r.fetch(map[string]any{"url": "http://inside.named/x"}); err != nil {
		t.Fatal(err)
	}
	if len(asked) != 2 || asked[1].Metadata["place"] != "in a private network" || asked[1].Metadata["address"] != "10.1.2.3" || asked[1].Metadata["tool"] != "custom" {
		t.Errorf("%+v", asked)
	}
}

func TestFetchRedirects(t *testing.T) {
	r, _ := online(t, `{"webfetch": {"*": "allow"}}`, func(w http.ResponseWriter, req *http.Request) {
		q := req.URL.Query()
		if to := q.Get("to"); to != "" {
			var status int
			_, _ = fmt.Sscan(q.Get("status"), &status)
			w.Header().Set("Location", to)
			w.WriteHeader(status)
			return
		}
		if req.URL.Path == "/loop" {
			http.Redirect(w, req, "/loop?again", http.StatusFound)
			return
		}
		body, _ := io.ReadAll(req.Body)
		fmt.Fprintf(w, "%s %s type=%s auth=%s cookie=%s own=%s", req.Method, body, req.Header.Get("Content-Type"), req.Header.Get("Authorization"), req.Header.Get("Cookie"), req.Header.Get("X-Own"))
	})
	headers := [][2]string{{"authorization", "A"}, {"cookie", "C"}, {"content-type", "text/x"}, {"x-own", "O"}}
	for _, c := range []struct{ method, status, to, want string }{
		{"POST", "301", "/end", "GET  type= auth=A cookie=C own=O"},
		{"POST", "302", "/end", "GET  type= auth=A cookie=C own=O"},
		{"POST", "303", "/end", "GET  type= auth=A cookie=C own=O"},
		{"PUT", "303", "/end", "GET  type= auth=A cookie=C own=O"},
		{"PUT", "302", "/end", "PUT data type=text/x auth=A cookie=C own=O"},
		{"POST", "307", "/end", "POST data type=text/x auth=A cookie=C own=O"},
		{"POST", "308", "http://other.example/end", "POST data type=text/x auth= cookie= own=O"},
		{"POST", "303", "http://other.example/end", "GET  type= auth= cookie= own=O"},
	} {
		head, err := r.fetch(map[string]any{"url": "http://a.example/?status=" + c.status + "&to=" + c.to, "method": c.method, "headers": headers}, []byte("data")...)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.whole(head.ID); err != nil || got != c.want || !head.Redirected {
			t.Errorf("%s %s %s: %q, %v, want %q", c.method, c.status, c.to, got, err, c.want)
		}
	}
	head, err := r.fetch(map[string]any{"url": "http://a.example/?status=302&to=/end", "redirect": "manual"})
	if err != nil || head.Status != 302 || head.Redirected || !slices.Contains(head.Headers, [2]string{"location", "/end"}) {
		t.Errorf("%+v, %v", head, err)
	}
	for _, c := range []struct{ url, mode, want string }{
		{"http://a.example/?status=302&to=/end", "error", "TypeError UnexpectedRedirect"},
		{"http://a.example/loop", "follow", "TypeError TooManyRedirects"},
	} {
		if _, err := r.fetch(map[string]any{"url": c.url, "redirect": c.mode}); !strings.HasPrefix(toldAs(err), c.want) {
			t.Errorf("%s: %s", c.url, toldAs(err))
		}
	}
}

func TestFetchRefusesHeaders(t *testing.T) {
	r, _ := online(t, `{"webfetch": {"*": "allow"}}`, func(http.ResponseWriter, *http.Request) {})
	for _, h := range [][2]string{{"host", "other.example"}, {"Transfer-Encoding", "chunked"}, {"upgrade", "h2c"}, {"TE", "trailers"}, {"proxy-authorization", "x"}} {
		_, err := r.fetch(map[string]any{"url": "http://a.example/", "headers": [][2]string{h}})
		if got := toldAs(err); !strings.HasPrefix(got, "TypeError : The header") {
			t.Errorf("%s: %s", h, got)
		}
	}
	for _, method := range []string{"CONNECT", "trace", "bad method"} {
		if _, err := r.fetch(map[string]any{"url": "http://a.example/", "method": method}); !strings.HasPrefix(toldAs(err), "TypeError : ") {
			t.Errorf("%s: %v", method, err)
		}
	}
}

func TestFetchUnpacks(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(strings.Repeat("hello ", 1000)))
	_ = z.Close()
	r, _ := online(t, `{"webfetch": {"*": "allow"}}`, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("X-Accepted", req.Header.Get("Accept-Encoding"))
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	})
	for _, unpack := range []bool{true, false} {
		head, err := r.fetch(map[string]any{"url": "http://a.example/", "decompress": unpack, "headers": [][2]string{{"accept-encoding", "br"}}})
		if err != nil {
			t.Fatal(err)
		}
		text, err := r.whole(head.ID)
		want, asked := packed.String(), "br"
		if unpack {
			want, asked = strings.Repeat("hello ", 1000), "gzip"
		}
		if err != nil || text != want || !slices.Contains(head.Headers, [2]string{"content-encoding", "gzip"}) || !slices.Contains(head.Headers, [2]string{"x-accepted", asked}) {
			t.Errorf("unpack %v: %d bytes, %v, %v", unpack, len(text), err, head.Headers)
		}
	}
}

// The head is there before the body, which comes in pieces as they are sent.
func TestFetchStreams(t *testing.T) {
	more := make(chan string)
	gone := make(chan struct{})
	r, _ := online(t, `{"webfetch": {"*": "allow"}}`, func(w http.ResponseWriter, req *http.Request) {
		defer close(gone)
		w.WriteHeader(200)
		for {
			_ = http.NewResponseController(w).Flush()
			select {
			case text := <-more:
				_, _ = io.WriteString(w, text)
			case <-req.Context().Done():
				return
			}
		}
	})
	ctx, cancel := context.WithCancel(r.ctx)
	r.ctx = ctx
	head, err := r.fetch(map[string]any{"url": "http://a.example/"})
	if err != nil {
		t.Fatal(err)
	}
	cancel() // of the head; the body goes on
	r.ctx = For(t.Context(), r.call, "custom")
	for _, text := range []string{"one", "two"} {
		more <- text
		data, err := r.do("net.body", map[string]any{"id": head.ID})
		if err != nil || string(data.Raw) != text || string(data.JSON) != `{"done":false}` {
			t.Fatalf("%q %s %v", data.Raw, data.JSON, err)
		}
	}
	ctx, cancel = context.WithCancel(r.ctx)
	r.ctx = ctx
	read := make(chan error)
	go func() {
		_, err := r.do("net.body", map[string]any{"id": head.ID})
		read <- err
	}()
	cancel()
	if err := <-read; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-gone // the connection was closed
	r.ctx = For(t.Context(), r.call, "custom")
	if _, err := r.do("net.body", map[string]any{"id": head.ID}); !strings.HasPrefix(toldAs(err), "TypeError ERR_STREAM_PREMATURE_CLOSE") {
		t.Error(err)
	}
}

func TestFetchEndsWithItsContext(t *testing.T) {
	here := make(chan struct{})
	r, _ := online(t, `{"webfetch": {"*": "allow"}}`, func(_ http.ResponseWriter, req *http.Request) {
		close(here)
		<-req.Context().Done()
	})
	ctx, cancel := context.WithCancel(r.ctx)
	r.ctx = ctx
	go func() {
		<-here
		cancel()
	}()
	if _, err := r.fetch(map[string]any{"url": "http://a.example/"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if n := len(r.world.net.slots); n != 0 {
		t.Errorf("%d are still open", n)
	}
}

func TestFetchIsBounded(t *testing.T) {
	r, _ := online(t, `{"webfetch": {"*": "allow"}}`, func(w http.ResponseWriter, req *http.Request) {
		var out io.Writer = w
		if req.URL.Path == "/packed" {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			out = z
		}
		if req.URL.Path == "/cut" {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "some")
			return
		}
		for range 20 {
			_, _ = out.Write(make([]byte, 100<<10))
		}
	})
	r.world.net.limit = 1 << 20
	for _, path := range []string{"/plain", "/packed"} {
		head, err := r.fetch(map[string]any{"url": "http://a.example" + path})
		if err != nil {
			t.Fatal(err)
		}
		text, err := r.whole(head.ID)
		if len(text) != 1<<20 || !strings.Contains(toldAs(err), "larger than 1048576 bytes") {
			t.Errorf("%s: %d bytes, %v", path, len(text), err)
		}
	}
	head, err := r.fetch(map[string]any{"url": "http://a.example/cut"})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := r.whole(head.ID); text != "some" || !strings.HasPrefix(toldAs(err), "TypeError ECONNRESET") {
		t.Errorf("%q, %v", text, err)
	}
	if n := len(r.world.net.slots); n != 0 {
		t.Errorf("%d are still open", n)
	}
}

// A call that has ended leaves no connections behind.
func TestOver(t *testing.T) {
	r, _ := online(t, `{"webfetch": {"*": "allow"}}`, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "text") })
	first := r.ctx
	head, err := r.fetch(map[string]any{"url": "http://a.example/"})
	if err != nil {
		t.Fatal(err)
	}
	r.ctx = For(t.Context(), r.call, "other")
	kept, err := r.fetch(map[string]any{"url": "http://a.example/"})
	if err != nil {
		t.Fatal(err)
	}
	r.world.Over(first)
	r.world.Over(first)
	r.world.Over(t.Context()) // nobody's
	if _, err := r.whole(head.ID); err == nil {
		t.Error("a body outlived its call")
	}
	if text, err := r.whole(kept.ID); text != "text" || err != nil {
		t.Error(text, err)
	}
	if err := r.world.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.fetch(map[string]any{"url": "http://a.example/"}); err == nil {
		t.Error("a closed world has a network")
	}
	if n := len(r.world.net.slots); n != 0 {
		t.Errorf("%d are still open", n)
	}
}

// Bodies that nobody reads make room for others, in time.
func TestFetchMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, `{"webfetch": {"*": "allow"}}`, func(o *plugins.Services) {
			o.Web = web.New(web.Options{Resolver: new(internet), Dial: func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				go func() {
					defer theirs.Close()
					buf := make([]byte, 4096)
					_, _ = theirs.Read(buf)
					_, _ = io.WriteString(theirs, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nx")
					_, _ = theirs.Read(buf) // until it is closed
				}()
				return ours, nil
			}})
		})
		begin := time.Now()
		for i := range mostBodies + 1 {
			if _, err := r.fetch(map[string]any{"url": "http://a.example/"}); err != nil {
				t.Fatal(i, err)
			}
			if i < mostBodies && time.Since(begin) != 0 {
				t.Fatalf("the %dth waited", i)
			}
		}
		if waited := time.Since(begin); waited != bodyDull {
			t.Errorf("waited %s", waited)
		}
		if n := len(r.world.net.slots); n != mostBodies {
			t.Errorf("%d are open", n)
		}
		time.Sleep(bodyIdle)
		synctest.Wait()
		if n := len(r.world.net.slots); n != 0 {
			t.Errorf("%d are still open after %s", n, bodyIdle)
		}
	})
}

func TestNoNetwork(t *testing.T) {
	r := newRoom(t, `{"webfetch": {"*": "allow"}}`)
	if _, err := r.fetch(map[string]any{"url": "http://a.example/"}); !strings.Contains(toldAs(err), "There is no network here") {
		t.Error(err)
	}
}

func TestUncredentialed(t *testing.T) {
	for in, want := range map[string]string{
		"http://a/":            "http://a/",
		"http://u:p@a/x@y":     "http://a/x@y",
		"http://u@v@a:1?q@z":   "http://a:1?q@z",
		"http://a#u@b":         "http://a#u@b",
		`http://a\@b/`:         `http://a\@b/`,
		"https://u:p@[::1]:8/": "https://[::1]:8/",
		"nothing":              "nothing",
	} {
		if got := uncredentialed(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// What scripts see of it, through fetch.
func TestFetchScripts(t *testing.T) {
	cases := map[string]scriptCase{
		"json": {`const r = await fetch("http://a.example/json", {method: "POST", body: JSON.stringify({n: 1}), headers: {"content-type": "application/json"}});
			return [r.status, r.ok, r.url, r.headers.get("x-type"), await r.json()]`, `[200,true,"http://a.example/json","application/json",{"got":"{\"n\":1}"}]`},
		"denied": {`try { await fetch("http://denied.example/") } catch (e) { return [e.name, e.code, e.syscall, /rule/.test(e.message)] }`, `["Error","EACCES","permission",true]`},
		"never":  {`try { await fetch("http://169.254.169.254/") } catch (e) { return [e.name, /where no rule leads/.test(e.message)] }`, `["TypeError",true]`},
		"none":   {`try { await fetch("http://none.example/") } catch (e) { return [e.name, e.code] }`, `["TypeError","ENOTFOUND"]`},
		"loop":   {`try { await fetch("http://a.example/loop") } catch (e) { return [e.name, e.code] }`, `["TypeError","TooManyRedirects"]`},
		"abort": {`const c = new AbortController(); const r = await fetch("http://a.example/slow", {signal: c.signal}); const all = r.text(); c.abort();
			try { await all } catch (e) { return e.name }`, `"AbortError"`},
		"user": {`return (await fetch("http://me:secret@a.example/user")).text()`, `"Basic bWU6c2VjcmV0"`},
	}
	r, _ := online(t, `{"webfetch": {"*": "allow", "http://denied.example/*": "deny"}}`, func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/json":
			body, _ := io.ReadAll(req.Body)
			w.Header().Set("X-Type", req.Header.Get("Content-Type"))
			_ = json.NewEncoder(w).Encode(map[string]string{"got": string(body)})
		case "/loop":
			http.Redirect(w, req, "/loop", http.StatusFound)
		case "/slow":
			_ = http.NewResponseController(w).Flush()
			<-req.Context().Done()
		case "/user":
			_, _ = io.WriteString(w, req.Header.Get("Authorization"))
		}
	})
	r.evaluateAll("", cases)
}

func BenchmarkFetch(b *testing.B) {
	page := bytes.Repeat([]byte("0123456789abcdef"), 512<<10)
	r, _ := online(b, `{"webfetch": {"*": "allow"}}`, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(page) })
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		head, err := r.fetch(map[string]any{"url": "http://a.example/"})
		if err != nil {
			b.Fatal(err)
		}
		if text, err := r.whole(head.ID); err != nil || len(text) != len(page) {
			b.Fatal(len(text), err)
		}
	}
}
