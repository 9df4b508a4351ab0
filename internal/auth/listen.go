package auth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
)

// A Listener is an open port with what a guard in front of it needs to know.
type Listener struct {
	net.Listener
	// Token is the one to ask for.
	Token string
	// Hosts are the host:port the listener is called by; the first is the
	// one to show.
	Hosts []string
	// TLS says that a guard in front of it needs a certificate.
	TLS bool
	// Warning, if not empty, must be shown to the user.
	Warning string
}

// URL is where the server is found.
func (l *Listener) URL() string { return schemeOf(l.TLS) + "://" + l.Hosts[0] }

// Listen opens the port b asks for, if its plan allows that, and finds or makes
// the token.
func Listen(b Bind) (*Listener, error) {
	plan, err := b.Plan()
	if err != nil {
		return nil, err
	}
	token := b.Token
	if plan.Generate {
		if token, err = Token(b.File); err != nil {
			return nil, err
		}
	}
	inner, err := net.Listen(network(plan.Addr.Addr()), plan.Addr.String())
	if err != nil {
		return nil, err
	}
	hosts, err := hostsOf(inner.Addr(), b)
	if err != nil {
		_ = inner.Close()
		return nil, fmt.Errorf("listen: %w", err)
	}
	conns := bound(inner, positive(b.MaxConns, 4096))
	return &Listener{Listener: conns, Token: token, Hosts: hosts, TLS: b.TLS, Warning: plan.Warning}, nil
}

// network keeps an address to its family: 0.0.0.0 does not mean IPv6 too.
func network(ip netip.Addr) string {
	switch {
	case ip.Is4():
		return "tcp4"
	case ip.IsUnspecified():
		return "tcp"
	default:
		return "tcp6"
	}
}

func hostsOf(addr net.Addr, b Bind) ([]string, error) {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return nil, err
	}
	var local []netip.Addr
	if at.Addr().IsUnspecified() {
		found, err := net.InterfaceAddrs()
		if err != nil {
			return nil, err
		}
		for _, a := range found {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				local = append(local, p.Addr())
			}
		}
	}
	hosts := servedHosts(at, b.Names, local)
	if b.TLS && len(b.Names) > 0 {
		// Certificates are for names: to show an address would be to show an
		// error of the browser.
		first := namedHosts(b.Names[:1], strconv.Itoa(int(at.Port())))
		hosts = append(first, slices.DeleteFunc(hosts, func(h string) bool { return h == first[0] })...)
	}
	_, err = hostSet(hosts, schemeOf(b.TLS))
	return hosts, err
}

// A boundedListener accepts a bounded number of connections; the others wait in the system's queue.
type boundedListener struct {
	net.Listener
	room   chan struct{}
	closed chan struct{}
	once   sync.Once
}

func bound(l net.Listener, most int) *boundedListener {
	return &boundedListener{Listener: l, room: make(chan struct{}, most), closed: make(chan struct{})}
}

// Accept waits for a free slot, then for a connection.
func (l *boundedListener) Accept() (net.Conn, error) {
	select {
	case l.room <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.room
		return nil, err
	}
	return &boundedConn{Conn: c, leave: func() { <-l.room }}, nil
}

// Close also ends an Accept that waits for a slot.
func (l *boundedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// A boundedConn frees its slot when it is closed.
type boundedConn struct {
	net.Conn
	leave func()
	once  sync.Once
}

// Close may be called more than once.
func (c *boundedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.leave)
	return err
}

// CloseWrite lets the HTTP server end a response before the request has ended.
func (c *boundedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// SetWriteBuffer bounds the system's send buffer.
func (c *boundedConn) SetWriteBuffer(bytes int) error {
	if kept, ok := c.Conn.(interface{ SetWriteBuffer(int) error }); ok {
		return kept.SetWriteBuffer(bytes)
	}
	return errors.ErrUnsupported
}

// connKey leads from a request to its connection.
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// keepLittle bounds the send buffer of r's connection. By default it grows to megabytes, all of
// which must fill up before it shows that the peer of a stream reads nothing.
func keepLittle(r *http.Request) {
	c, _ := r.Context().Value(connKey{}).(net.Conn)
	if wrapped, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = wrapped.NetConn()
	}
	if kept, ok := c.(interface{ SetWriteBuffer(int) error }); ok {
		_ = kept.SetWriteBuffer(streamKept) // it is slower to show without
	}
}
