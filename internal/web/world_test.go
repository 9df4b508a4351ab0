package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A world is an internet: names, and one server behind all addresses, by http
// and by https.
type world struct {
	plain, secure *httptest.Server

	mu      sync.Mutex
	names   map[string][][]string // the answers, one after the other; the last stays
	dialled []string
	asked   []string // of the resolver
}

func newWorld(t testing.TB, h http.HandlerFunc) *world {
	t.Helper()
	w := &world{names: map[string][][]string{}}
	if h != nil {
		w.plain, w.secure = httptest.NewUnstartedServer(h), httptest.NewUnstartedServer(h)
		quiet := log.New(io.Discard, "", 0)
		w.plain.Config.ErrorLog, w.secure.Config.ErrorLog = quiet, quiet
		w.secure.EnableHTTP2 = true
		w.plain.Start()
		w.secure.StartTLS()
		t.Cleanup(w.plain.Close)
		t.Cleanup(w.secure.Close)
	}
	return w
}

func (w *world) name(host string, answers ...string) *world {
	w.names[host] = append(w.names[host], answers)
	return w
}

func (w *world) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, host)
	answers := w.names[host]
	if network != "ip" || len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(answers) > 1 {
		w.names[host] = answers[1:]
	}
	var ips []netip.Addr
	for _, a := range answers[0] {
		ips = append(ips, netip.MustParseAddr(a))
	}
	return ips, nil
}

func (w *world) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	w.mu.Lock()
	w.dialled = append(w.dialled, addr)
	w.mu.Unlock()
	server := w.plain
	if strings.HasSuffix(addr, ":443") {
		server = w.secure
	}
	return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
}

// options lead into the world. Its certificate is good for all names.
func (w *world) options() Options {
	o := Options{UserAgent: "helve/test", Resolver: w, Dial: w.dial}
	if w.secure != nil {
		roots := x509.NewCertPool()
		roots.AddCert(w.secure.Certificate())
		o.TLS = &tls.Config{RootCAs: roots, ServerName: "example.com"}
	}
	return o
}

func (w *world) reached() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.dialled)
}

// errAsked is what a judge says that lets nothing inside.
var errAsked = errors.New("somebody has to be asked")

func outsideOnly(_ context.Context, h Hop) error {
	if h.Place.Inside() {
		return errAsked
	}
	return nil
}

func anywhere(context.Context, Hop) error { return nil }

func fetchFrom(t testing.TB, w *world, raw string) (*Page, error) {
	t.Helper()
	return New(w.options()).Get(t.Context(), Get{Address: mustRead(t, raw), Judge: outsideOnly})
}

// codeOf is the code of an error, or its text.
func codeOf(err error) string {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
	}
	return err.Error()
}

func wantCode(t testing.TB, err error, code string, says ...string) {
	t.Helper()
	if codeOf(err) != code {
		t.Fatalf("error %v, want %s", err, code)
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("error %q, want %q in it", err, s)
		}
	}
}
