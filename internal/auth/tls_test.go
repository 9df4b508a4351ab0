package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certificate writes a self-signed certificate and its key.
func certificate(t testing.TB, from, to time.Time) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "box.test"}, NotBefore: from, NotAfter: to,
		DNSNames: []string{"Box.test", "*.box.test", "localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write(t, certFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})))
	write(t, keyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})))
	return certFile, keyFile
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func goodPair(t testing.TB) (Pair, *tls.Config) {
	t.Helper()
	now := time.Now()
	cert, key := certificate(t, now.Add(-time.Hour), now.Add(time.Hour))
	p, err := LoadPair(cert, key, now)
	if err != nil || p.Warning != "" {
		t.Fatalf("%q, %v", p.Warning, err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(p.Config.Certificates[0].Leaf)
	return p, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}

func TestLoadPair(t *testing.T) {
	now := time.Now()
	cert, key := certificate(t, now.Add(-time.Hour), now.Add(time.Hour))
	_, other := certificate(t, now.Add(-time.Hour), now.Add(time.Hour))
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		write(t, path, text)
		return path
	}
	for name, c := range map[string]struct{ cert, key, want string }{
		"no cert named":   {"", key, "no file with the certificate"},
		"no key named":    {cert, "", "no file with the key"},
		"missing cert":    {filepath.Join(dir, "none.pem"), key, "the certificate can not be read"},
		"missing key":     {cert, filepath.Join(dir, "none.pem"), "the key can not be read"},
		"folder":          {dir, key, "not a regular file"},
		"empty cert":      {file("empty", ""), key, "holds no certificate"},
		"swapped":         {key, cert, "holds no certificate"},
		"cert as key":     {cert, cert, "holds no private key"},
		"key of another":  {cert, other, "do not go together"},
		"garbage inside":  {file("bad", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), key, "do not go together"},
		"key with a lock": {cert, file("lock", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"), "password"},
		"huge":            {file("huge", strings.Repeat("x", maxPEM+1)), key, "larger than"},
	} {
		_, err := LoadPair(c.cert, c.key, now)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "PRIVATE KEY-----\n") {
			t.Errorf("%s: the key is told", name)
		}
	}
	p, err := LoadPair(cert, key, now)
	if err != nil || strings.Join(p.Names, " ") != "box.test localhost 127.0.0.1 ::1" {
		t.Errorf("names %q, %v", p.Names, err)
	}
	for at, want := range map[time.Time]string{now: "", now.Add(2 * time.Hour): "has expired", now.Add(-2 * time.Hour): "check the clock"} {
		p, err := LoadPair(cert, key, at)
		if err != nil || (p.Warning == "") != (want == "") || !strings.Contains(p.Warning, want) {
			t.Errorf("at %s: %q, %v", at, p.Warning, err)
		}
	}
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	if p, err := LoadPair(cert, key, now); err != nil || !strings.Contains(p.Warning, "every user") {
		t.Errorf("a key for all: %q, %v", p.Warning, err)
	}
}

func TestTLSRefused(t *testing.T) {
	p, _ := goodPair(t)
	asked := p.Config.Clone()
	asked.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, nil }
	for name, c := range map[string]*tls.Config{"no certificate": {}, "another config": asked} {
		if _, err := NewGuard(GuardOptions{Token: goodToken, Hosts: goodHosts(), TLS: c}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	old := p.Config.Clone()
	old.MinVersion = tls.VersionTLS10
	if g := newGate(t, GuardOptions{TLS: old}); g.tls.MinVersion != tls.VersionTLS12 || old.MinVersion != tls.VersionTLS10 {
		t.Error("an old version is spoken, or the caller's config was changed")
	}
}

func TestDefaultPorts(t *testing.T) {
	p, _ := goodPair(t)
	hosts := []string{"a.test:443", "b.test:80", "[::1]:443", "c.test:8443"}
	for _, c := range []struct {
		tls           *tls.Config
		hosts, others string
		origins       string
		foreign       string
	}{
		{p.Config, "a.test a.test:443 b.test:80 [::1] [::1]:443 C.test:8443", "b.test c.test a.test:80 ::1 [::1]:80 a.test.",
			"https://a.test https://b.test:80 https://[::1] https://c.test:8443", "http://a.test http://b.test https://b.test http://a.test:443 https://c.test"},
		{nil, "a.test a.test:443 b.test b.test:80 [::1] c.test:8443", "c.test b.test:443 a.test:80",
			"http://b.test https://a.test https://[::1] http://c.test:8443", "http://a.test http://[::1] https://b.test https://c.test:8443 http://c.test"},
	} {
		g := newGate(t, GuardOptions{Hosts: hosts, TLS: c.tls})
		for list, want := range map[string]bool{c.hosts: true, c.others: false} {
			for _, h := range strings.Fields(list) {
				if g.hosts[lower(h)] != want {
					t.Errorf("tls %v: host %s served: %v", c.tls != nil, h, !want)
				}
			}
		}
		for list, want := range map[string]bool{c.origins: true, c.foreign: false} {
			for _, o := range strings.Fields(list) {
				if g.origins[o] != want {
					t.Errorf("tls %v: origin %s ours: %v", c.tls != nil, o, !want)
				}
			}
		}
	}
}

// From a certificate to an answer, over TCP.
func TestListenTLS(t *testing.T) {
	pair, trust := goodPair(t)
	l, err := Listen(Bind{Addr: "0.0.0.0", Token: goodToken, TLS: true, Names: []string{"localhost", "box.test"}})
	if err != nil {
		t.Fatal(err)
	}
	if l.Warning != "" || !strings.HasPrefix(l.URL(), "https://localhost:") || len(l.Hosts) < 4 {
		t.Errorf("%q, %q, %q", l.Warning, l.URL(), l.Hosts)
	}
	g := newGate(t, GuardOptions{Token: l.Token, Hosts: l.Hosts, TLS: pair.Config})
	h := new(reach)
	srv := g.Server(h)
	done := make(chan error, 1)
	go func() { done <- g.Serve(srv, l) }()
	url := "https://" + l.Addr().String()
	for _, c := range []struct {
		name, origin string
		most         uint16
		want         int // 0: no connection
	}{
		{"1.3", "", 0, 200},
		{"1.2", "", tls.VersionTLS12, 200},
		{"1.1", "", tls.VersionTLS11, 0},
		{"own origin", l.URL(), 0, 200},
		{"plain origin", "http" + strings.TrimPrefix(l.URL(), "https"), 0, 403},
	} {
		config := trust.Clone()
		config.MinVersion, config.MaxVersion = 0, c.most
		transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
		r, err := http.NewRequestWithContext(t.Context(), "GET", strings.Replace(url, "0.0.0.0", "127.0.0.1", 1)+"/v1", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+goodToken)
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		resp, err := (&http.Client{Transport: transport}).Do(r)
		switch {
		case err != nil && c.want != 0 || err == nil && c.want == 0:
			t.Errorf("%s: %v", c.name, err)
		case err == nil:
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != c.want || resp.ProtoMajor != 1 {
				t.Errorf("%s: %d, %s", c.name, resp.StatusCode, resp.Proto)
			}
		}
		transport.CloseIdleConnections()
	}
	reached := h.count()
	if resp, err := http.Get("http" + strings.TrimPrefix(l.URL(), "https")); err == nil {
		_ = resp.Body.Close()
		if resp.StatusCode != 400 || h.count() != reached {
			t.Errorf("without TLS: %d", resp.StatusCode)
		}
	}
	_ = srv.Close()
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// A guard with a certificate lets nothing in that came without TLS, should it
// be served the wrong way.
func TestTLSOnly(t *testing.T) {
	pair, _ := goodPair(t)
	h := new(reach)
	resp, body := one(t, newGate(t, GuardOptions{TLS: pair.Config, Public: open}), h, request("GET /", here, bearer))
	if resp.StatusCode != 421 || !strings.Contains(body, `"code":"no-tls"`) || h.count() != 0 {
		t.Errorf("%d: %s", resp.StatusCode, body)
	}
	checkAnswer(t, resp, body)
}

// pageServer is a server on loopback for BenchmarkPage.
func pageServer(b *testing.B, next http.Handler, secure, keep bool) (string, *http.Client) {
	bind, opt := Bind{Token: goodToken, TLS: secure}, GuardOptions{Public: open}
	transport := &http.Transport{MaxIdleConnsPerHost: 6, MaxConnsPerHost: 6}
	if secure {
		pair, trust := goodPair(b)
		opt.TLS, transport.TLSClientConfig = pair.Config, trust
		trust.ClientSessionCache = tls.NewLRUClientSessionCache(8)
	}
	l, err := Listen(bind)
	if err != nil {
		b.Fatal(err)
	}
	opt.Hosts = l.Hosts
	g := newGate(b, opt)
	srv := g.Server(next)
	if !keep {
		srv.Handler = g.Wrap(next)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = g.Serve(srv, l) }()
	b.Cleanup(func() { transport.CloseIdleConnections(); _ = srv.Close(); <-done })
	return l.URL(), &http.Client{Transport: transport}
}
