package auth

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		bind Bind
		want string // address, or part of the error
		gen  bool
		warn bool
	}{
		{Bind{}, "127.0.0.1:0", true, false},
		{Bind{Token: goodToken}, "127.0.0.1:0", false, false},
		{Bind{Token: "short"}, "32 to 512", false, false},
		{Bind{Addr: ":4096"}, "127.0.0.1:4096", true, false},
		{Bind{Addr: "127.0.0.1"}, "127.0.0.1:0", true, false},
		{Bind{Addr: "127.0.0.1:4096"}, "127.0.0.1:4096", true, false},
		{Bind{Addr: "LOCALHOST:4096", Beyond: true}, "127.0.0.1:4096", true, false},
		{Bind{Addr: "::1"}, "[::1]:0", true, false},
		{Bind{Addr: "[::1]"}, "[::1]:0", true, false},
		{Bind{Addr: "[::1]:4096"}, "[::1]:4096", true, false},
		{Bind{Addr: "127.9.9.9:1"}, "127.9.9.9:1", true, false},
		{Bind{Addr: "[::ffff:127.0.0.1]:1"}, "127.0.0.1:1", true, false},

		{Bind{Addr: "0.0.0.0", Token: goodToken, Beyond: true}, "0.0.0.0:0", false, true},
		{Bind{Addr: "[::]:4096", Token: goodToken, Beyond: true}, "[::]:4096", false, true},
		{Bind{Addr: "192.168.1.5:4096", Token: goodToken, Beyond: true}, "192.168.1.5:4096", false, true},
		{Bind{Addr: "[::ffff:0.0.0.0]:1", Token: goodToken, Beyond: true}, "0.0.0.0:1", false, true},
		{Bind{Addr: "0.0.0.0", Beyond: true}, "set a token", false, false},
		{Bind{Addr: "0.0.0.0", Beyond: true, File: "token"}, "set a token", false, false},
		{Bind{Addr: "0.0.0.0", Token: goodToken}, "say that you want it", false, false},
		{Bind{Addr: "::", Token: goodToken}, "say that you want it", false, false},
		{Bind{Addr: "[::ffff:10.0.0.1]:1", Token: goodToken}, "say that you want it", false, false},
		{Bind{Addr: "0.0.0.0", Token: goodToken, TLS: true}, "0.0.0.0:0", false, false},
		{Bind{Addr: "0.0.0.0", Token: goodToken, TLS: true, Beyond: true}, "0.0.0.0:0", false, false},
		{Bind{Addr: "[2001:db8::1]:443", Token: goodToken, TLS: true}, "[2001:db8::1]:443", false, false},
		{Bind{Addr: "localhost:443", TLS: true}, "127.0.0.1:443", true, false},
		{Bind{Addr: "0.0.0.0", TLS: true}, "set a token", false, false},
		{Bind{Addr: "example.com:443", Token: goodToken, TLS: true}, "not an IP address", false, false},
		{Bind{Addr: "0.0.0.0", Token: "short", Beyond: true}, "32 to 512", false, false},

		{Bind{Addr: "example.com:4096", Token: goodToken, Beyond: true}, "not an IP address", false, false},
		{Bind{Addr: "localhost.:4096"}, "not an IP address", false, false},
		{Bind{Addr: "4096"}, "not an IP address", false, false},
		{Bind{Addr: "*:4096"}, "not an IP address", false, false},
		{Bind{Addr: "127.1:4096"}, "not an IP address", false, false},
		{Bind{Addr: "0:4096"}, "not an IP address", false, false},
		{Bind{Addr: "unix:/tmp/x"}, "no port", false, false},
		{Bind{Addr: "127.0.0.1:65536"}, "no port", false, false},
		{Bind{Addr: "127.0.0.1:http"}, "no port", false, false},
		{Bind{Addr: "127.0.0.1:-1"}, "no port", false, false},
		{Bind{Addr: "1:2:3"}, "not address:port", false, false},
		{Bind{Addr: "http://127.0.0.1:4096"}, "not address:port", false, false},
		{Bind{Addr: "224.0.0.1:1", Token: goodToken, Beyond: true}, "multicast", false, false},
	} {
		p, err := c.bind.Plan()
		got := p.Addr.String()
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != c.want || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s, want %s", c.bind, got, c.want)
		}
		if p.Generate != c.gen || (p.Warning != "") != c.warn {
			t.Errorf("%+v: %+v", c.bind, p)
		}
		if strings.Contains(got+p.Warning, goodToken) {
			t.Errorf("%+v: the token is told", c.bind)
		}
	}
}

func TestServedHosts(t *testing.T) {
	local := []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("10.1.2.3"), netip.MustParseAddr("fe80::2%eth0")}
	for addr, c := range map[string]struct{ names, want []string }{
		"127.0.0.1:1":         {nil, []string{"127.0.0.1:1", "localhost:1", "[::1]:1"}},
		"[::1]:1":             {nil, []string{"[::1]:1", "127.0.0.1:1", "localhost:1"}},
		"127.0.0.2:1":         {nil, []string{"127.0.0.2:1", "127.0.0.1:1", "localhost:1", "[::1]:1"}},
		"10.1.2.3:1":          {[]string{"box", "proxy:443", "10.1.2.3"}, []string{"10.1.2.3:1", "box:1", "proxy:443"}},
		"0.0.0.0:1":           {nil, []string{"127.0.0.1:1", "localhost:1", "[::1]:1", "10.1.2.3:1", "[fe80::2]:1"}},
		"[::]:1":              {[]string{"[2001:db8::1]"}, []string{"127.0.0.1:1", "localhost:1", "[::1]:1", "10.1.2.3:1", "[fe80::2]:1", "[2001:db8::1]:1"}},
		"[fe80::1%eth0]:1":    {nil, []string{"[fe80::1]:1"}},
		"[::ffff:10.0.0.1]:1": {nil, []string{"10.0.0.1:1"}},
	} {
		got := servedHosts(netip.MustParseAddrPort(addr), c.names, local)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", addr, diff)
		}
	}
}

// From nothing to an answer, over TCP.
func TestListen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "d", "token")
	l, err := Listen(Bind{File: file, Names: []string{"box.test"}})
	if err != nil {
		t.Fatal(err)
	}
	if l.Warning != "" || !strings.HasPrefix(l.URL(), "http://127.0.0.1:") || len(l.Hosts) != 4 {
		t.Errorf("%q, %q, %q", l.Warning, l.URL(), l.Hosts)
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.TrimSpace(string(text)) != l.Token {
		t.Errorf("the file does not hold the token: %v", err)
	}
	srv := newGate(t, GuardOptions{Token: l.Token, Hosts: l.Hosts}).Server(new(reach))
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, host := range append([]string{""}, l.Hosts...) {
		for token, want := range map[string]int{l.Token: 200, "x": 401} {
			r, err := http.NewRequestWithContext(t.Context(), "GET", l.URL()+"/session", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			r.Header.Set("Authorization", "Bearer "+token)
			resp, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("host %q: %d, want %d", host, resp.StatusCode, want)
			}
		}
	}
	if err := srv.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// However the address is written, the server is found under all its names, and
// its own pages may talk to it under each.
func TestListenAddresses(t *testing.T) {
	for addr, prefix := range map[string]string{
		"localhost": "http://127.0.0.1:", "LOCALHOST:0": "http://127.0.0.1:", ":0": "http://127.0.0.1:", "127.0.0.1:0": "http://127.0.0.1:",
		"::1": "http://[::1]:", "[::1]:0": "http://[::1]:", "127.0.0.2": "http://127.0.0.2:",
	} {
		l, err := Listen(Bind{Addr: addr, Token: goodToken})
		if err != nil {
			t.Logf("%s is left out, this machine does not have it: %v", addr, err)
			continue
		}
		if !strings.HasPrefix(l.URL(), prefix) || strings.HasSuffix(l.URL(), ":0") {
			t.Errorf("%s: found at %s", addr, l.URL())
		}
		srv := newGate(t, GuardOptions{Hosts: l.Hosts}).Server(new(reach))
		done := make(chan struct{})
		go func() { defer close(done); _ = srv.Serve(l) }()
		for _, host := range l.Hosts {
			for origin, want := range map[string]int{"http://" + host: 200, "https://" + host: 403} {
				r, err := http.NewRequestWithContext(t.Context(), "GET", l.URL(), nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Host, r.Close = host, true
				r.Header.Set("Authorization", "Bearer "+goodToken)
				r.Header.Set("Origin", origin)
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				if resp.StatusCode != want {
					t.Errorf("%s: host %s, origin %s: %d", addr, host, origin, resp.StatusCode)
				}
			}
		}
		_ = srv.Close()
		<-done
	}
}

func TestListenFails(t *testing.T) {
	for name, b := range map[string]Bind{
		"refused":      {Addr: "0.0.0.0"},
		"no file":      {File: filepath.Join(os.DevNull, "token")},
		"bad name":     {Token: goodToken, Names: []string{"a b"}},
		"not our port": {Addr: "127.0.0.1:1", Token: goodToken, Names: []string{"a b"}},
	} {
		if l, err := Listen(b); err == nil {
			_ = l.Close()
			t.Errorf("%s: no error", name)
		}
	}
}

func TestListenBeyond(t *testing.T) {
	l, err := Listen(Bind{Addr: "0.0.0.0", Beyond: true, Token: goodToken})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if l.Warning == "" || !strings.HasPrefix(l.Hosts[0], "127.0.0.1:") || l.Token != goodToken {
		t.Errorf("%q, %q", l.Warning, l.Hosts)
	}
	if got := l.Addr().(*net.TCPAddr).IP.To4(); got == nil {
		t.Errorf("it listens on %s", l.Addr())
	}
}

// A connection too many waits, and gets its turn when one closes.
func TestMaxConns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := newLobby()
		l := bound(inner, 1)
		accepted := make(chan net.Conn)
		failed := make(chan error, 1)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					failed <- err
					return
				}
				accepted <- c
			}
		}()
		defer inner.dial().Close()
		first := <-accepted
		peers := make(chan net.Conn, 1)
		go func() { peers <- inner.dial() }()
		synctest.Wait()
		select {
		case <-accepted:
			t.Fatal("two at once")
		default:
		}
		_ = first.Close()
		_ = first.Close() // counts once
		second := <-accepted
		synctest.Wait() // Accept waits for room
		_ = l.Close()
		if err := <-failed; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		_ = l.Close()
		_ = second.Close()
		_ = (<-peers).Close()
		if n := len(l.room); n != 0 {
			t.Errorf("%d are counted in the end", n)
		}
	})
}
