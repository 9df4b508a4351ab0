package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	handshakeTimeout = 10 * time.Second
	surplusIdle      = time.Second
	surplusTime      = 3 * time.Second
)

// A response is a response whose body has not been read, with the connections that were made for
// it.
type response struct {
	resp *http.Response
	way  *lines
	stop func() bool
	at   Address

	progress func(bytes int64) // may be nil
}

func (a *response) close() {
	a.stop()
	a.resp.Body.Close()
	a.way.close()
}

// send makes a request, over a connection of its own to a checked address.
func (f *fetch) send(ctx context.Context, at Address, w way) (*response, error) {
	to, err := url.Parse(at.Origin() + at.path + at.query)
	if err != nil {
		return nil, invalid("%v", err)
	}
	req, err := http.NewRequestWithContext(ctx, f.g.Method, to.String(), bytes.NewReader(f.g.Body))
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	req.URL = to
	req.Header = f.header.Clone()
	req.Header.Set("User-Agent", f.agent)
	if len(f.g.Body) == 0 {
		req.Body, req.GetBody, req.ContentLength = nil, nil, 0
	}
	made := new(lines)
	t := f.c.transport(w, func(network, addr string) (net.Conn, error) {
		var conn net.Conn
		var err error
		if w.proxy != nil {
			conn, err = f.c.dialProxy(ctx, network, addr)
		} else {
			conn, err = f.c.dial(ctx, w, at.port)
		}
		if err != nil {
			return nil, err
		}
		return made.add(conn)
	})
	stop := context.AfterFunc(ctx, made.close)
	resp, err := t.RoundTrip(req)
	if err != nil {
		stop()
		made.close()
		return nil, err
	}
	return &response{resp: resp, way: made, stop: stop, at: at}, nil
}

// transport makes one that is used once.
func (c *Client) transport(w way, dial func(network, addr string) (net.Conn, error)) *http.Transport {
	t := &http.Transport{
		DialContext:            func(_ context.Context, network, addr string) (net.Conn, error) { return dial(network, addr) },
		TLSHandshakeTimeout:    handshakeTimeout,
		MaxResponseHeaderBytes: maxHeader,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
	}
	if c.opts.TLS != nil {
		t.TLSClientConfig = c.opts.TLS.Clone()
	}
	if w.proxy != nil {
		t.Proxy = http.ProxyURL(w.proxy)
	}
	return t
}

// lines are the connections of a request.
type lines struct {
	mu   sync.Mutex
	all  []*trackedConn
	over bool
}

// add keeps a connection, or closes it if it comes too late.
func (ls *lines) add(conn net.Conn) (net.Conn, error) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.over {
		conn.Close()
		return nil, net.ErrClosed
	}
	l := &trackedConn{Conn: conn, left: make(chan struct{})}
	ls.all = append(ls.all, l)
	return l, nil
}

func (ls *lines) close() {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.over = true
	for _, l := range ls.all {
		l.Conn.Close()
	}
}

// surplus counts the bytes that still arrive after the end of a response, up to a limit. Servers
// were asked to close the connection there.
func (ls *lines) surplus(ctx context.Context, limit int64) int64 {
	ls.mu.Lock()
	if len(ls.all) != 1 {
		ls.mu.Unlock()
		return 0
	}
	l := ls.all[0]
	ls.mu.Unlock()
	select {
	case <-l.left:
	case <-ctx.Done():
		return 0
	}
	var n int64
	buf := make([]byte, 32<<10)
	for end := time.Now().Add(surplusTime); n <= limit; {
		now := time.Now()
		if now.After(end) || l.Conn.SetReadDeadline(now.Add(surplusIdle)) != nil {
			break
		}
		got, err := l.Conn.Read(buf)
		n += int64(got)
		if err != nil {
			break
		}
	}
	return n
}

// A trackedConn is a connection that stays open when the transport has finished with it, so that
// what follows a response can be read. Close wakes its readers.
type trackedConn struct {
	net.Conn
	once sync.Once
	left chan struct{} // closed when the transport is done
}

// Close leaves the connection to its lines.
func (l *trackedConn) Close() error {
	err := l.SetReadDeadline(time.Unix(1, 0))
	l.once.Do(func() { close(l.left) })
	return err
}

// failure says why there was no response.
func (f *fetch) failure(at Address, err error) *Error {
	var timeout net.Error
	var record tls.RecordHeaderError
	host, text := at.Host(), shortenText(err.Error())
	if f.via != nil {
		host += " through the proxy " + f.via.Host
	}
	fail := func(code, format string, args ...any) *Error {
		return &Error{Code: code, Message: fmt.Sprintf(format, args...), Err: err}
	}
	switch {
	case strings.Contains(text, "response headers exceeded"), strings.Contains(text, "response header list larger"), strings.Contains(text, "header list too large"):
		return fail(CodeTooLarge, "the header of the answer from %s is larger than %d bytes; fetch another URL", host, maxHeader)
	case strings.Contains(text, "unsupported transfer encoding"):
		return fail(CodeUnsupportedEncoding, "the answer from %s can not be read: %s", host, text)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fail(CodeTimeout, "Request timed out: no connection to %s; try again later", host)
	case untrusted(err):
		return fail(CodeConnection, "the certificate of %s is not to be trusted: %s. If the server is your own, its authority has to be known to this system", host, text)
	case errors.As(err, &record):
		return fail(CodeConnection, "%s does not speak TLS; try http:// instead of https://", host)
	case errors.Is(err, syscall.ECONNREFUSED) && f.via != nil:
		return fail(CodeConnection, "nothing listens at the proxy %s (connection refused); check web.proxy", f.via.Host)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fail(CodeConnection, "nothing listens at %s (connection refused); check host and port", host)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fail(CodeConnection, "%s closed the connection without an answer; try again later", host)
	case strings.Contains(text, "malformed HTTP"):
		return fail(CodeConnection, "what answers at %s does not speak HTTP; check the port, and whether it wants https://", host)
	}
	return fail(CodeConnection, "no answer from %s: %s", host, text)
}

// untrusted reports whether a server could not prove its identity.
func untrusted(err error) bool {
	var cert *x509.CertificateInvalidError
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	var authority x509.UnknownAuthorityError
	return errors.As(err, &cert) || errors.As(err, &invalid) || errors.As(err, &name) || errors.As(err, &authority)
}
