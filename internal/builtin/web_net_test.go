package builtin_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/web"
	"github.com/helve-dev/helve/tool"
)

// publicIP is where names of tests lead that do not say.
const publicIP = "93.184.216.34"

// agents that recordings were made with.
const (
	browserAgent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36"
	plainAgent   = "opencode"
)

// A wire is a network for tests: names by a table, and behind every address
// servers of our own on this machine. What was looked up and dialled is noted.
type wire struct {
	names  map[string][][]string // answers by name, one for each look-up; the last stays
	stuck  map[string]bool       // names whose look-up never ends
	closed map[string]bool       // host:port where nobody listens
	https  map[string]bool       // ports where it is spoken
	plain  *httptest.Server
	secure *httptest.Server

	mu      sync.Mutex
	looked  []string
	dialled []string
}

// newWire makes a network on which one handler answers for everybody.
func newWire(t testing.TB, answer http.HandlerFunc) *wire {
	t.Helper()
	w := &wire{names: map[string][][]string{}, stuck: map[string]bool{}, closed: map[string]bool{}, https: map[string]bool{"443": true}}
	w.plain = httptest.NewServer(answer)
	t.Cleanup(w.plain.Close)
	w.secure = httptest.NewUnstartedServer(answer)
	t.Cleanup(w.secure.Close)
	return w
}

// serveTLS lets the network speak https, with a certificate for hosts.
func (w *wire) serveTLS(t testing.TB, hosts ...string) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	w.secure.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}}
	w.secure.StartTLS()
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &tls.Config{RootCAs: pool}
}

// LookupNetIP looks a name up in the table. Names that are not there lead to
// a public address if there is no table at all.
func (w *wire) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	w.looked = append(w.looked, host)
	answers, known := w.names[host]
	if len(answers) > 1 {
		w.names[host] = answers[1:]
	}
	none, stuck := len(w.names) == 0, w.stuck[host]
	w.mu.Unlock()
	switch {
	case stuck:
		<-ctx.Done()
		return nil, ctx.Err()
	case none:
		return []netip.Addr{netip.MustParseAddr(publicIP)}, nil
	case !known:
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	var ips []netip.Addr
	for _, ip := range answers[0] {
		ips = append(ips, netip.MustParseAddr(ip))
	}
	return ips, nil
}

// dial leads to our servers: ports of https to the one that speaks it.
func (w *wire) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	w.mu.Lock()
	w.dialled = append(w.dialled, addr)
	closed := w.closed[addr]
	w.mu.Unlock()
	if closed {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	to := w.plain
	if _, port, _ := net.SplitHostPort(addr); w.https[port] {
		to = w.secure
	}
	var d net.Dialer
	return d.DialContext(ctx, network, to.Listener.Addr().String())
}

// client is one on this network.
func (w *wire) client(trust *tls.Config) *web.Client {
	return web.New(web.Options{UserAgent: browserAgent, Fallback: plainAgent, Resolver: w, Dial: w.dial, TLS: trust})
}

// webTools are the tools that reach the network, over one of ours.
func webTools(room builtin.Web) (out []tool.Tool) {
	for _, t := range builtin.All(builtin.Rooms{Files: &files.Workspace{}, Web: room}) {
		if slices.Contains([]string{"webfetch", "websearch", "codesearch"}, t.Spec().Name) {
			out = append(out, t)
		}
	}
	return out
}

// page is a handler that answers with a text of a type.
func page(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{kind}
		fmt.Fprint(w, body)
	}
}
