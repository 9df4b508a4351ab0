package auth

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

const (
	dialTimeout  = 30 * time.Second
	maxRedirects = 3
)

// errBarred says that a server named an address that it may not use.
var errBarred = errors.New("the server may not send helve there")

// errScheme says that an address is neither https nor on this machine.
var errScheme = errors.New("the address has to be https, or http on this machine")

// A hostGuard checks every request of a sign-in. The server's own origin is allowed. Elsewhere,
// addresses outside the public network are allowed only if the server is in the same kind of
// network, or not at all if the guard is narrow.
type hostGuard struct {
	own    *url.URL // of the server
	narrow bool

	tls   *tls.Config // nil: the usual
	dials dialer      // unchecked
	near  http.RoundTripper
	far   http.RoundTripper // for what goes through a proxy, which then resolves and dials
	proxy func(*http.Request) (*url.URL, error)
}

type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// newGuard returns the host guard of this server's sign-in.
func (h *handler) newGuard(narrow bool) *hostGuard {
	g := &hostGuard{narrow: narrow, dials: (&net.Dialer{Timeout: dialTimeout}).DialContext}
	var err error
	if g.own, err = url.Parse(h.key()); err != nil {
		g.own = new(url.URL)
	}
	var rt http.RoundTripper
	if h.opts.HTTP != nil {
		rt = h.opts.HTTP.Transport
	}
	base, ok := rt.(*http.Transport)
	if rt == nil {
		if base, ok = http.DefaultTransport.(*http.Transport); ok {
			base = base.Clone()
			base.DialContext = nil // like ours
		}
	}
	if !ok {
		g.near = rt
		if rt == nil {
			g.near = http.DefaultTransport
		}
		return g
	}
	g.tls, g.proxy = base.TLSClientConfig, base.Proxy
	far, near := base.Clone(), base.Clone()
	far.DisableKeepAlives, near.DisableKeepAlives = true, true // nothing would close idle connections
	near.Proxy = nil
	near.DialContext = g.dial
	if base.DialContext != nil {
		g.dials = base.DialContext
		near.DialContext = g.wrapDialer(base.DialContext)
	}
	if base.DialTLSContext != nil {
		near.DialTLSContext = g.wrapDialer(base.DialTLSContext)
	}
	g.near, g.far = near, far
	return g
}

// through returns the client behind a guard. Redirects may not leave the origin.
func (h *handler) through(g *hostGuard) *http.Client {
	c := &http.Client{Timeout: tokenTimeout}
	if h.opts.HTTP != nil {
		own := *h.opts.HTTP
		c = &own
	}
	c.Transport = g
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects || origin(req.URL) != origin(via[0].URL) {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return c
}

// RoundTrip sends what may be sent.
func (g *hostGuard) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := g.vet(req.Context(), req.URL); err != nil {
		return nil, err
	}
	if g.proxy != nil {
		if p, err := g.proxy(req); err == nil && p != nil {
			return g.far.RoundTrip(req)
		}
	}
	return g.near.RoundTrip(req)
}

// vetText is vet for an address that a server named.
func (g *hostGuard) vetText(ctx context.Context, raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return errors.New("the address is malformed")
	}
	return g.vet(ctx, u)
}

// vet refuses an address that its own text rules out.
func (g *hostGuard) vet(ctx context.Context, u *url.URL) error {
	switch {
	case u.Host == "" || u.Hostname() == "":
		return errors.New("the address is malformed")
	case u.Scheme == "https":
	case u.Scheme == "http" && loopback(u.Hostname()) && loopback(g.own.Hostname()):
	case u.Scheme == "http" && loopback(u.Hostname()):
		return fmt.Errorf("%s is %s: %w", u.Host, machine, errBarred)
	default:
		return fmt.Errorf("%w: %s", errScheme, withoutSecrets(u.String()))
	}
	if origin(u) == origin(g.own) {
		return nil
	}
	if k, ok := literalKind(u.Hostname()); ok {
		return g.checkHost(ctx, u.Host, k)
	}
	return nil
}

// checkHost refuses a place that this server may not use.
func (g *hostGuard) checkHost(ctx context.Context, host string, k kind) error {
	if k == public || k != nowhere && !g.narrow && k == g.serverKind(ctx) {
		return nil
	}
	return fmt.Errorf("%s is %s: %w", host, k, errBarred)
}

// serverKind returns the kind of network of the server. If its address does not show it, the server
// must have a certificate for its name there: the owner of a name can make it resolve to any
// address, and could open a private network that way.
func (g *hostGuard) serverKind(ctx context.Context) kind {
	host := g.own.Hostname()
	if k, ok := literalKind(host); ok || g.own.Scheme != "https" {
		return k
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := g.dials(ctx, "tcp", hostPort(g.own))
	if err != nil {
		return public
	}
	defer conn.Close()
	cfg := new(tls.Config)
	if g.tls != nil {
		cfg = g.tls.Clone()
	}
	cfg.ServerName, cfg.NextProtos = host, nil
	if tls.Client(conn, cfg).HandshakeContext(ctx) != nil {
		return public
	}
	return placeOf(conn.RemoteAddr().String())
}

// placeOf is the kind of an address with a port.
func placeOf(addr string) kind {
	a, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nowhere
	}
	return networkKind(a.Addr())
}

// dial connects to what a name resolves to, if that may be.
func (g *hostGuard) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout, KeepAlive: dialTimeout}
	if !g.mine(addr) {
		d.ControlContext = func(ctx context.Context, _, to string, _ syscall.RawConn) error {
			return g.checkHost(ctx, addr, placeOf(to))
		}
	}
	return d.DialContext(ctx, network, addr)
}

// wrapDialer checks what a dialer of the caller's has connected to, before anything
// is sent.
func (g *hostGuard) wrapDialer(dial dialer) dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil || g.mine(addr) {
			return conn, err
		}
		if err := g.checkHost(ctx, addr, placeOf(conn.RemoteAddr().String())); err != nil {
			conn.Close()
			return nil, err
		}
		return conn, nil
	}
}

// mine reports whether an address with a port is the server's own.
func (g *hostGuard) mine(addr string) bool { return strings.EqualFold(addr, hostPort(g.own)) }
