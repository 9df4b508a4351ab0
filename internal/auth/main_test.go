package auth

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const goodToken = "dGhpcy1pcy1hLXRva2VuLWZvci10ZXN0cy1vbmx5LTE"

func goodHosts() []string { return []string{"127.0.0.1:4096", "localhost:4096", "[::1]:4096"} }

func newGate(t testing.TB, o GuardOptions) *Guard {
	t.Helper()
	if o.Token == "" {
		o.Token = goodToken
	}
	if o.Hosts == nil {
		o.Hosts = goodHosts()
	}
	g, err := NewGuard(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// wire is a connection whose peer has sent everything it will ever send, and
// takes everything.
type wire struct {
	in     *strings.Reader
	out    bytes.Buffer
	closed chan struct{}
	once   sync.Once
}

func newWire(raw string) *wire {
	return &wire{in: strings.NewReader(raw), closed: make(chan struct{})}
}

func (w *wire) Read(p []byte) (int, error)       { return w.in.Read(p) }
func (w *wire) Write(p []byte) (int, error)      { return w.out.Write(p) }
func (w *wire) Close() error                     { w.once.Do(func() { close(w.closed) }); return nil }
func (w *wire) LocalAddr() net.Addr              { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4096} }
func (w *wire) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5} }
func (w *wire) SetDeadline(time.Time) error      { return nil }
func (w *wire) SetReadDeadline(time.Time) error  { return nil }
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

// lobby is a listener for connections made in memory.
type lobby struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newLobby() *lobby { return &lobby{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (l *lobby) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l *lobby) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *lobby) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4096} }

// dial opens a connection to the server behind the lobby.
func (l *lobby) dial() net.Conn {
	ours, theirs := net.Pipe()
	l.conns <- theirs
	return ours
}

// serve runs the guard's server in memory until the test ends.
func serve(t *testing.T, g *Guard, next http.Handler) *lobby {
	t.Helper()
	l := newLobby()
	srv := g.Server(next)
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close(); <-done })
	return l
}

// exchange hands raw bytes to the guard's server and returns all that comes
// back. The clock is a false one, so nothing is waited for.
func exchange(t *testing.T, g *Guard, next http.Handler, raw string) (out string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := serve(t, g, next)
		w := newWire(raw)
		l.conns <- w
		<-w.closed
		out = w.out.String()
	})
	return out
}

// one is exchange for a request with one answer.
func one(t *testing.T, g *Guard, next http.Handler, raw string) (*http.Response, string) {
	t.Helper()
	out := exchange(t, g, next, raw)
	method, _, _ := strings.Cut(raw, " ")
	resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(out)), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("answer %q: %v", out, err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("answer %q: %v", out, err)
	}
	return resp, string(body)
}

// reach is a handler that counts who gets to it.
type reach struct {
	mu   sync.Mutex
	seen []*http.Request
}

func (h *reach) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, r)
	_, _ = io.WriteString(w, "{}")
}

func (h *reach) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.seen)
}

// secret counts those that got to what is not public.
func (h *reach) secret() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.seen {
		if !open(r) || !plain(r.URL) {
			n++
		}
	}
	return n
}

// request writes a request as it goes over the wire.
func request(line, host string, header ...string) string {
	head := line + " HTTP/1.1\r\nHost: " + host + "\r\n"
	for _, h := range header {
		head += h + "\r\n"
	}
	return head + "\r\n"
}

const bearer = "Authorization: Bearer " + goodToken
