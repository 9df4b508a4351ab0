package web

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// authority makes a root and a certificate that it signed for some names.
func authority(t *testing.T, names ...string) (*x509.CertPool, tls.Certificate) {
	t.Helper()
	sign := func(own, by *x509.Certificate, key, byKey *ecdsa.PrivateKey) *x509.Certificate {
		der, err := x509.CreateCertificate(rand.Reader, own, by, &key.PublicKey, byKey)
		if err != nil {
			t.Fatal(err)
		}
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return cert
	}
	newKey := func() *ecdsa.PrivateKey {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	from, until := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	rootKey, key := newKey(), newKey()
	rootPlan := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "root"}, NotBefore: from, NotAfter: until, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	root := sign(rootPlan, rootPlan, rootKey, rootKey)
	leaf := sign(&x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: names, NotBefore: from, NotAfter: until, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, root, key, rootKey)
	pool := x509.NewCertPool()
	pool.AddCert(root)
	return pool, tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key}
}

func TestCertificates(t *testing.T) {
	roots, cert := authority(t, "good.example", "xn--mnchen-3ya.example")
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) { fmt.Fprint(rw, r.Proto) })
	w.secure.TLS.Certificates = []tls.Certificate{cert}
	for _, host := range []string{"good.example", "xn--mnchen-3ya.example", "bad.example"} {
		w.name(host, "8.8.8.8")
	}
	o := w.options()
	o.TLS = &tls.Config{RootCAs: roots}
	for raw, want := range map[string]string{"https://good.example/": "HTTP/2.0", "https://GOOD.example./": "HTTP/2.0", "https://münchen.example": "HTTP/2.0", "https://bad.example/": "", "https://8.8.8.8/": ""} {
		p, err := New(o).Get(t.Context(), Get{Address: mustRead(t, raw)})
		if want == "" {
			wantCode(t, err, CodeConnection, "certificate")
		} else if err != nil || string(p.Body) != want {
			t.Errorf("%s: %v, %v", raw, p, err)
		}
	}
	o.TLS = nil // which does not know the root
	_, err := New(o).Get(t.Context(), Get{Address: mustRead(t, "https://good.example/")})
	wantCode(t, err, CodeConnection, "certificate")
}

// Without a dialer of the test's.
func TestRealDial(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) { fmt.Fprint(rw, r.Host) }).name("dev.example", "127.0.0.1").name("dual.example", "::1", "127.0.0.1")
	o := w.options()
	o.Dial = nil
	_, port, _ := net.SplitHostPort(w.plain.Listener.Addr().String())
	for _, host := range []string{"127.0.0.1", "localhost", "a.localhost", "dev.example", "dual.example", "[::ffff:127.0.0.1]"} {
		p, err := New(o).Get(t.Context(), Get{Address: mustRead(t, "http://"+host+":"+port+"/"), Judge: anywhere})
		if err != nil || string(p.Body) != p.Address.Host() || p.Cacheable() {
			t.Errorf("%s: %+v, %v", host, p, err)
		}
		if _, err := New(o).Get(t.Context(), Get{Address: mustRead(t, "http://"+host+":"+port+"/"), Judge: outsideOnly}); err != errAsked {
			t.Errorf("%s: %v", host, err)
		}
	}
	w.plain.Close()
	_, err := New(o).Get(t.Context(), Get{Address: mustRead(t, "http://127.0.0.1:"+port+"/"), Judge: anywhere})
	wantCode(t, err, CodeConnection, "nothing listens at 127.0.0.1:"+port)
}

func TestOnly(t *testing.T) {
	for _, tt := range []struct {
		to, addr string
		ok       bool
	}{
		{"8.8.8.8:80", "8.8.8.8:80", true}, {"8.8.8.8:80", "[::ffff:8.8.8.8]:80", true}, {"[::1]:80", "[::1]:80", true},
		{"8.8.8.8:80", "8.8.8.8:81", false}, {"8.8.8.8:80", "127.0.0.1:80", false}, {"8.8.8.8:80", "localhost:80", false}, {"169.254.169.254:80", "169.254.169.254:80", false},
	} {
		if err := only(netip.MustParseAddrPort(tt.to))(t.Context(), "tcp", tt.addr, nil); (err == nil) != tt.ok || codeOf(err) != map[bool]string{false: CodeBlockedAddress}[tt.ok] {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

// A relay is an HTTP proxy that answers by itself, or opens a tunnel to a
// server.
func relay(t *testing.T, tunnel net.Addr) (*httptest.Server, func() []string) {
	var mu sync.Mutex
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.RequestURI+" "+r.Header.Get("Proxy-Authorization"))
		mu.Unlock()
		if r.Method != http.MethodConnect {
			if r.URL.Path == "/in" {
				rw.Header().Set("Location", "http://127.0.0.1/")
				rw.WriteHeader(http.StatusFound)
			}
			fmt.Fprint(rw, "by proxy")
			return
		}
		to, err := net.Dial("tcp", tunnel.String())
		if err != nil {
			t.Error(err)
			return
		}
		defer to.Close()
		from, buf, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer from.Close()
		io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n")
		done := make(chan struct{})
		go func() { io.Copy(to, buf); to.(*net.TCPConn).CloseWrite(); close(done) }()
		io.Copy(from, to)
		from.Close()
		<-done
	}))
	t.Cleanup(s.Close)
	return s, func() []string { mu.Lock(); defer mu.Unlock(); return asked }
}

func TestProxy(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "direct") })
	s, asked := relay(t, w.secure.Listener.Addr())
	o := w.options()
	o.Dial = nil
	o.Proxy = strings.Replace(s.URL, "http://", "http://me:pw@", 1)
	c := New(o)
	_, port, _ := net.SplitHostPort(w.plain.Listener.Addr().String())
	for _, tt := range []struct{ raw, want string }{
		{"http://example.com/x", "by proxy"},
		{"https://example.com/x", "direct"}, // through the tunnel
		{"http://8.8.8.8/", "by proxy"},
		{"http://localhost:" + port, "direct"},
		{"http://127.0.0.1:" + port, "direct"},
		{"http://169.254.169.254/", CodeBlockedAddress},
		{"http://metadata.google.internal/", CodeBlockedAddress},
		{"http://example.com/in", CodeRedirectRefused},
	} {
		p, err := c.Get(t.Context(), Get{Address: mustRead(t, tt.raw), Judge: anywhere})
		if err != nil && codeOf(err) != tt.want || err == nil && string(p.Body) != tt.want {
			t.Errorf("%s: %v, %v", tt.raw, p, err)
		}
	}
	want := []string{"GET http://example.com/x Basic bWU6cHc=", "CONNECT example.com:443 Basic bWU6cHc=", "GET http://8.8.8.8/ Basic bWU6cHc=", "GET http://example.com/in Basic bWU6cHc="}
	if diff := cmp.Diff(want, asked()); diff != "" {
		t.Error(diff)
	}
	if len(w.asked) > 0 {
		t.Errorf("looked up %v", w.asked)
	}
	if _, err := c.Get(t.Context(), Get{Address: mustRead(t, "http://127.0.0.1:"+port), Judge: outsideOnly}); err != errAsked {
		t.Error(err)
	}
}

func TestProxySettings(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "direct") }).name("example.com", "8.8.8.8").name("no.example", "8.8.8.8")
	s, _ := relay(t, nil)
	t.Setenv("HTTP_PROXY", s.URL)
	t.Setenv("http_proxy", s.URL)
	t.Setenv("NO_PROXY", "no.example")
	t.Setenv("no_proxy", "no.example")
	toProxy := mustURL(t, s.URL).Host
	for _, tt := range []struct{ proxy, raw, want string }{
		{"", "http://example.com/", "direct"},
		{"environment", "http://example.com/", "by proxy"},
		{"environment", "http://no.example/", "direct"},
	} {
		o := w.options()
		o.Proxy = tt.proxy
		o.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr == toProxy {
				return new(net.Dialer).DialContext(ctx, network, addr)
			}
			return w.dial(ctx, network, addr)
		}
		p, err := New(o).Get(t.Context(), Get{Address: mustRead(t, tt.raw)})
		if err != nil || string(p.Body) != tt.want {
			t.Errorf("%+v: %v, %v", tt, p, err)
		}
	}
	for _, bad := range []string{"nonsense", "ftp://secret:word@a.example", "http://", "http://secret:word@[::1", "http://secret:word@a.example:99999", "://secret:word"} {
		_, err := New(Options{Proxy: bad}).Get(t.Context(), Get{Address: mustRead(t, "http://example.com/")})
		wantCode(t, err, CodeConnection, "proxy")
		if strings.Contains(err.Error(), "word") {
			t.Errorf("%q: the password is in %q", bad, err)
		}
	}
}

// A SOCKS proxy gets the name, not an address.
func TestSocks(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	named := make(chan string, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		b := bufio.NewReader(conn)
		head := make([]byte, 2)
		io.ReadFull(b, head) // version, number of methods
		b.Discard(int(head[1]))
		conn.Write([]byte{5, 0})
		request := make([]byte, 5) // version, connect, 0, name, length
		io.ReadFull(b, request)
		name := make([]byte, request[4]+2)
		io.ReadFull(b, name)
		named <- string(name[:len(name)-2])
		conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
		if _, err := http.ReadRequest(b); err == nil {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nsocks")
		}
	}()
	p, err := New(Options{Proxy: "socks5://" + l.Addr().String()}).Get(t.Context(), Get{Address: mustRead(t, "http://some.example/")})
	if err != nil || string(p.Body) != "socks" || <-named != "some.example" {
		t.Errorf("%v, %v", p, err)
	}
	l.Close()
	<-done
}

// descriptors counts the open ones of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("there is no list of open descriptors here")
	}
	return len(entries)
}

// Whatever the end of a fetch, no connection of ours is left.
func TestNothingIsLeft(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no list of open descriptors here")
	}
	var mu sync.Mutex
	open := 0
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(rw, r, "/", http.StatusFound)
		case "/bad":
			rw.Header().Set("Content-Encoding", "br")
		case "/big":
			io.Copy(rw, io.LimitReader(zeros{}, 20<<20))
		}
	})
	o := w.options()
	o.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := w.dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		open++
		mu.Unlock()
		return &tracked{Conn: conn, closed: sync.OnceFunc(func() { mu.Lock(); open--; mu.Unlock() })}, nil
	}
	before := descriptors(t)
	for range 3 {
		for _, path := range []string{"/", "/moved", "/bad", "/big"} {
			for _, scheme := range []string{"http", "https"} {
				New(o).Get(t.Context(), Get{Address: mustRead(t, scheme+"://8.8.8.8"+path)})
				mu.Lock()
				if open != 0 {
					t.Errorf("%s %s: %d connections are open", scheme, path, open)
				}
				mu.Unlock()
			}
		}
	}
	w.plain.CloseClientConnections()
	w.secure.CloseClientConnections()
	w.plain.Close()
	w.secure.Close()
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// A connection that comes after its request is over is closed at once.
func TestTooLate(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	made := new(lines)
	made.close()
	if _, err := made.add(ours); err == nil {
		t.Error("it was taken")
	}
	if _, err := ours.Write([]byte("x")); err != io.ErrClosedPipe {
		t.Errorf("it is still open: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

type tracked struct {
	net.Conn
	closed func()
}

func (t *tracked) Close() error { t.closed(); return t.Conn.Close() }

// What the server sees is what the address says.
func TestSentAsRead(t *testing.T) {
	var uri string
	w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) { uri = r.RequestURI })
	for _, path := range []string{"/a%2Fb", "/a%2fb?c%2Fd", "/%25", "/[x]", "/?", "/a;b", "/ä?ö", "//x//y", "/a%00b", "/*", "/%E4"} {
		a := mustRead(t, "http://8.8.8.8"+path)
		if _, err := New(w.options()).Get(t.Context(), Get{Address: a}); err != nil {
			t.Error(err)
		}
		if want := strings.TrimPrefix(a.String(), a.Origin()); uri != want {
			t.Errorf("%s was sent as %s", want, uri)
		}
		if u, err := url.Parse(a.String()); err != nil || u.RequestURI() != uri {
			t.Errorf("%s is %v for others", a, u)
		}
	}
}
