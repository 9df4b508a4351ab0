package auth

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helve-dev/helve/mcp"
)

func mustURL(t testing.TB, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestKinds(t *testing.T) {
	for addr, want := range map[string]kind{
		"8.8.8.8": public, "2606:4700::1": public, "::ffff:8.8.8.8": public, "64:ff9b::808:808": public, "2002:808:808::": public,
		"127.0.0.1": machine, "127.8.9.1": machine, "::1": machine, "::ffff:127.0.0.1": machine, "64:ff9b::7f00:1": machine, "2002:7f00:1::": machine, "::127.0.0.1": machine,
		"10.1.2.3": signinNetwork, "172.16.0.1": signinNetwork, "192.168.0.1": signinNetwork, "100.64.0.1": signinNetwork, "198.18.0.1": signinNetwork, "fec0::1": signinNetwork, "::ffff:10.0.0.1": signinNetwork,
		"169.254.1.1": link, "fe80::1": link, "fe80::1%eth0": link, "::ffff:169.254.1.1": link,
		"0.0.0.0": nowhere, "::": nowhere, "0.1.2.3": nowhere, "224.0.0.1": nowhere, "ff02::1": nowhere, "255.255.255.255": nowhere,
		"169.254.169.254": nowhere, "fd00:ec2::254": nowhere, "100.100.100.200": nowhere, "192.0.2.1": nowhere, "2001:db8::1": nowhere,
	} {
		if got := networkKind(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s is %s, want %s", addr, got, want)
		}
	}
	for host, want := range map[string]kind{
		"localhost": machine, "LOCALHOST.": machine, "a.localhost": machine, "127.1": nowhere, "2130706433": nowhere, "0x7f.0.0.1": nowhere, "a.0X7F": nowhere, ".": nowhere,
	} {
		if got, ok := literalKind(host); !ok || got != want {
			t.Errorf("%s is %s (%t), want %s", host, got, ok, want)
		}
	}
	for _, host := range []string{"example.com", "3com", "1.example", "localhost.example", "face.0xg"} {
		if got, ok := literalKind(host); ok {
			t.Errorf("%s alone says that it is %s", host, got)
		}
	}
}

func TestVet(t *testing.T) {
	for _, tt := range []struct {
		server, to string
		wide, slim bool // may be asked through a guard, and through a narrow one
	}{
		{"https://8.8.8.8/mcp", "https://8.8.4.4/x", true, true},
		{"https://8.8.8.8/mcp", "https://auth.example/x", true, true},
		{"https://8.8.8.8/mcp", "http://auth.example/x", false, false},
		{"https://8.8.8.8/mcp", "http://127.0.0.1:1/x", false, false},
		{"https://8.8.8.8/mcp", "https://127.0.0.1:1/x", false, false},
		{"https://8.8.8.8/mcp", "https://localhost/x", false, false},
		{"https://8.8.8.8/mcp", "https://[::ffff:127.0.0.1]/x", false, false},
		{"https://8.8.8.8/mcp", "https://10.0.0.1/x", false, false},
		{"https://8.8.8.8/mcp", "https://169.254.169.254/x", false, false},
		{"https://8.8.8.8/mcp", "https://0.0.0.0/x", false, false},
		{"https://8.8.8.8/mcp", "https://2130706433/x", false, false},
		{"https://8.8.8.8/mcp", "https:///x", false, false},
		{"https://8.8.8.8/mcp", "https://:443/x", false, false},
		{"http://127.0.0.1:5/mcp", "http://127.0.0.1:5/x?y", true, true},
		{"http://127.0.0.1:5/mcp", "http://localhost:6/x", true, false},
		{"http://127.0.0.1:5/mcp", "https://[::1]:6/x", true, false},
		{"http://127.0.0.1:5/mcp", "https://8.8.8.8/x", true, true},
		{"http://127.0.0.1:5/mcp", "http://8.8.8.8/x", false, false},
		{"http://127.0.0.1:5/mcp", "https://192.168.0.1/x", false, false},
		{"https://10.0.0.1/mcp", "https://192.168.0.1/x", true, false},
		{"https://10.0.0.1/mcp", "https://10.0.0.1:443/x", true, true},
		{"https://10.0.0.1/mcp", "http://10.0.0.1/x", false, false},
		{"https://10.0.0.1/mcp", "https://127.0.0.1/x", false, false},
		{"https://10.0.0.1/mcp", "http://127.0.0.1/x", false, false},
		{"https://10.0.0.1/mcp", "https://169.254.169.254/x", false, false},
	} {
		for _, narrow := range []bool{false, true} {
			h := &handler{url: tt.server}
			want := tt.wide
			if narrow {
				want = tt.slim
			}
			if err := h.newGuard(narrow).vetText(t.Context(), tt.to); (err == nil) != want {
				t.Errorf("%s, narrow %t, to %s: %v", tt.server, narrow, tt.to, err)
			}
		}
	}
}

// A name is judged by what it resolves to, before there is a connection.
func TestDial(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if _, err := net.LookupHost("localhost"); err != nil {
		t.Skipf("this machine does not know its own name: %v", err)
	}
	addr := net.JoinHostPort("localhost", port)
	for server, ok := range map[string]bool{
		"https://8.8.8.8/mcp": false, "https://10.0.0.1/mcp": false, "http://127.0.0.1:1/mcp": true, "http://" + addr + "/mcp": true,
	} {
		conn, err := (&handler{url: server}).newGuard(false).dial(t.Context(), "tcp", addr)
		if ok && err != nil || !ok && !errors.Is(err, errBarred) {
			t.Errorf("%s: %v", server, err)
		}
		if conn != nil {
			conn.Close()
			if c, err := l.Accept(); err == nil {
				c.Close()
			}
		}
	}
	l.(*net.TCPListener).SetDeadline(time.Now())
	if c, err := l.Accept(); err == nil {
		c.Close()
		t.Error("there was a connection")
	}
}

// far is a connection to somewhere else than it says.
type far struct {
	net.Conn
	addr net.Addr
}

func (f far) RemoteAddr() net.Addr { return f.addr }

// A victim is a machine that a server has no say over.
type victim struct {
	*httptest.Server
	mu  sync.Mutex
	got []string
}

func newVictim(t *testing.T) *victim {
	v := new(victim)
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.got = append(v.got, req.Method+" "+req.URL.String())
		writeJSON(w, 200, map[string]any{})
	}))
	t.Cleanup(v.Close)
	return v
}

func (v *victim) host() string { return v.Listener.Addr().String() }

// publish puts an authority on the public network as https://example.com. The
// name inside.example leads to v, and connections to public.example are noted
// there and come to nothing.
func publish(t *testing.T, a *authority, v *victim) {
	front := httptest.NewUnstartedServer(a.Config.Handler)
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	front.StartTLS()
	t.Cleanup(front.Close)
	a.URL = "https://example.com"
	tr := front.Client().Transport.(*http.Transport)
	tr.DisableKeepAlives = true
	tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		var d net.Dialer
		switch addr {
		case "example.com:443":
			conn, err := d.DialContext(ctx, network, front.Listener.Addr().String())
			return far{conn, &net.TCPAddr{IP: net.IPv4(8, 8, 8, 8), Port: 443}}, err
		case "inside.example:443":
			addr = v.host()
		case "public.example:443":
			v.mu.Lock()
			defer v.mu.Unlock()
			v.got = append(v.got, addr)
			return nil, errors.New("nobody is there")
		}
		return d.DialContext(ctx, network, addr)
	}
	a.Server.Config.Handler = http.NotFoundHandler()
	*a.Client() = *front.Client()
}

// Whatever a public server names, nothing goes to this machine.
func TestNoRequestIntoThisMachine(t *testing.T) {
	about := func(a *authority, to string) { a.about = map[string]any{"authorization_servers": []string{to}} }
	meta := func(name string) func(*authority, string) {
		return func(a *authority, to string) { a.meta = map[string]any{name: to + "/x"} }
	}
	for name, point := range map[string]func(*authority, string){
		"metadata":               func(a *authority, to string) { a.challenge = `, resource_metadata="` + to + `/any?x=1"` },
		"authorization server":   about,
		"token endpoint":         meta("token_endpoint"),
		"registration endpoint":  meta("registration_endpoint"),
		"authorization endpoint": meta("authorization_endpoint"),
	} {
		for _, form := range []string{"http://HOST", "https://HOST", "https://localhost:PORT", "https://inside.example"} {
			t.Run(name+" "+form, func(t *testing.T) {
				a, v := newAuthority(t), newVictim(t)
				publish(t, a, v)
				_, port, _ := net.SplitHostPort(v.host())
				point(a, strings.NewReplacer("HOST", v.host(), "PORT", port).Replace(form))
				addr := a.URL + "/mcp"
				s := storeAt(t, a)
				for _, o := range []HandlerOptions{a.nobody(), a.person()} {
					if form == "https://inside.example" && name == "authorization endpoint" && o.Interactive {
						continue // the browser's affair
					}
					_, err := call(t.Context(), a.Client(), addr, s.Handler("srv", addr, mcp.OAuth{}, o))
					if !errors.Is(err, ErrSignIn) || o.Interactive && !errors.Is(err, errBarred) {
						t.Errorf("person %t: %v", o.Interactive, err)
					}
				}
				if len(v.got) > 0 {
					t.Errorf("it got %q", v.got)
				}
			})
		}
	}
}

// Without a person only fixed paths are asked for on the public network, and
// not what the server likes to name.
func TestPublicWithoutAPerson(t *testing.T) {
	for _, tt := range []struct {
		person bool
		point  func(*authority)
		want   bool
	}{
		{false, func(a *authority) { a.challenge = `, resource_metadata="https://public.example/any?x=1"` }, false},
		{true, func(a *authority) { a.challenge = `, resource_metadata="https://public.example/any?x=1"` }, true},
		{false, func(a *authority) {
			a.about = map[string]any{"authorization_servers": []string{"https://public.example"}}
		}, true},
	} {
		a, v := newAuthority(t), newVictim(t)
		publish(t, a, v)
		tt.point(a)
		o := a.nobody()
		if tt.person {
			o = a.person()
		}
		call(t.Context(), a.Client(), a.URL+"/mcp", storeAt(t, a).Handler("srv", a.URL+"/mcp", mcp.OAuth{}, o))
		if (len(v.got) > 0) != tt.want {
			t.Errorf("person %t: %q", tt.person, v.got)
		}
	}
}

// A renewal does not go there either, whatever is stored.
func TestNoRenewalIntoThisMachine(t *testing.T) {
	for _, form := range []string{"http://HOST/t", "https://inside.example/t"} {
		a, v := newAuthority(t), newVictim(t)
		publish(t, a, v)
		s, h := signedIn(t, a)
		if err := s.update(t.Context(), func(f *storeFile) { f.Servers[0].TokenURL = strings.Replace(form, "HOST", v.host(), 1) }); err != nil {
			t.Fatal(err)
		}
		a.pass(2 * time.Hour)
		_, err := call(t.Context(), a.Client(), a.URL+"/mcp", h)
		if !errors.Is(err, ErrSignIn) || !strings.Contains(err.Error(), errBarred.Error()) || len(v.got) > 0 {
			t.Errorf("%s: %v, %q", form, err, v.got)
		}
	}
}

// A redirect does not leave its origin.
func TestNoRedirectElsewhere(t *testing.T) {
	for _, path := range []string{"/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"} {
		a, v := newAuthority(t), newVictim(t)
		old := a.Config.Handler
		a.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path == path {
				http.Redirect(w, req, v.URL+"/stolen", http.StatusFound)
				return
			}
			old.ServeHTTP(w, req)
		})
		addr := a.URL + "/mcp"
		for _, o := range []HandlerOptions{a.nobody(), a.person()} {
			call(t.Context(), a.Client(), addr, storeAt(t, a).Handler("srv", addr, mcp.OAuth{}, o))
		}
		if len(v.got) > 0 {
			t.Errorf("%s: it got %q", path, v.got)
		}
	}
}

// On this machine another origin is asked only for a person, and never for
// the metadata of the server.
func TestOtherPorts(t *testing.T) {
	v, a := newVictim(t), newAuthority(t)
	a.challenge = `, resource_metadata="` + v.URL + `/any?x=1"`
	addr := a.URL + "/mcp"
	s := storeAt(t, a)
	for _, o := range []HandlerOptions{a.nobody(), a.person()} {
		_, err := call(t.Context(), a.Client(), addr, s.Handler("srv", addr, mcp.OAuth{}, o))
		if !errors.Is(err, ErrSignIn) || o.Interactive && !errors.Is(err, errBarred) {
			t.Errorf("metadata, person %t: %v", o.Interactive, err)
		}
	}
	a.challenge, a.about = "", map[string]any{"authorization_servers": []string{v.URL}}
	if _, err := call(t.Context(), a.Client(), addr, s.Handler("srv", addr, mcp.OAuth{}, a.nobody())); !errors.Is(err, ErrSignIn) {
		t.Errorf("authorization server: %v", err)
	}
	if len(v.got) > 0 {
		t.Errorf("it got %q", v.got)
	}
	b := newAuthority(t)
	a.about = map[string]any{"authorization_servers": []string{b.URL}}
	call(t.Context(), a.Client(), addr, s.Handler("srv", addr, mcp.OAuth{}, a.person()))
	if b.granted != 1 {
		t.Error("a person can not sign in at another port")
	}
}

// A name is in a private place only if its owner shows a certificate there.
func TestHome(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	c := srv.Client()
	c.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, srv.Listener.Addr().String())
	}
	for server, want := range map[string]kind{
		"https://example.com/mcp": machine, "https://evil.test/mcp": public, "https://10.0.0.1/mcp": signinNetwork, "http://localhost/mcp": machine, "%zz": nowhere,
	} {
		h := &handler{url: server, opts: HandlerOptions{HTTP: c}}
		if got := h.newGuard(false).serverKind(t.Context()); got != want {
			t.Errorf("%s is %s, want %s", server, got, want)
		}
	}
	g := (&handler{url: "https://example.com/mcp", opts: HandlerOptions{HTTP: c}}).newGuard(false)
	for addr, ok := range map[string]bool{"https://127.0.0.1/x": true, "http://127.0.0.1/x": false} {
		if err := g.vetText(t.Context(), addr); (err == nil) != ok {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// A proxy may be anywhere; what it is asked for may not.
func TestProxy(t *testing.T) {
	v := newVictim(t)
	c := &http.Client{Transport: &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(v.URL) }}}
	h := &handler{url: "https://mcp.example/mcp", opts: HandlerOptions{HTTP: c}}
	for addr, want := range map[string]int{"https://10.0.0.1/x": 0, "https://localhost/x": 0, "https://auth.example/x": 1} {
		v.got = nil
		if resp, err := h.http().Get(addr); err == nil {
			resp.Body.Close()
		}
		if len(v.got) != want {
			t.Errorf("%s: the proxy got %q", addr, v.got)
		}
	}
}
