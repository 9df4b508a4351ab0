package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/internal/auth"
	"github.com/helve-dev/helve/mcp"
)

// What a remote server may do.
const (
	maxRefusal   = 64 << 10 // bytes of an answer that is an error
	maxFlying    = 256      // requests to it at once
	maxRedirects = 5
	maxRetries   = 50              // of a stream; signs of life tell more, and with 60 the delays of the SDK overflow
	headerTime   = 2 * time.Second // for a stream to begin before it is taken for one that has nothing to say
	deleteTime   = time.Second     // to say goodbye
	dialTime     = 10 * time.Second
	burstEvents  = 20_000 // lines of a stream at once, and
	eventRate    = 6000   // as many a second
)

// errElsewhere says that a request would leave the server's origin.
var errElsewhere = errors.New("the server refers to another origin, where nothing is sent")

// A remote is the way to a remote server for one connection: every request
// passes through it.
type remote struct {
	base    *url.URL
	headers map[string]string
	token   sdkauth.OAuthHandler // for the transport that knows no sign-in itself
	l       *connection
	http    *http.Transport
	status  atomic.Int32                  // of the last answer
	refused atomic.Pointer[jsonrpc.Error] // what the last answer said, where it refused the request
	heard   atomic.Int64                  // when something last came, in nanoseconds
	flying  atomic.Int32
}

// openRemote connects to a remote server: by streamable HTTP, or by the older SSE transport if the
// server does not support it.
func (e *peer) openRemote(ctx context.Context, protocol string) (*connection, error) {
	base, err := url.Parse(e.s.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, &connectError{state: mcp.Failed, text: "The URL of the server is not one of http or https.", final: true}
	}
	var handler sdkauth.OAuthHandler
	if e.pool.signIns != nil && !e.s.NoOAuth {
		handler = e.pool.signIns.Handler(e.s.Name, e.s.URL, e.s.OAuth, e.pool.person)
	}
	l, err := e.connectOver(ctx, base, protocol, func(r *remote) (string, sdk.Transport) {
		return "http", &sdk.StreamableClientTransport{
			Endpoint: e.s.URL, HTTPClient: r.client(), OAuthHandler: handler, MaxRetries: maxRetries, MaxEventSize: maxFrame,
		}
	})
	if err == nil || modern(err) || !old(err) {
		return l, err
	}
	e.log.Add("helve", "streamable HTTP: "+redact(e.s, err.Error())+"; trying the older transport")
	l, second := e.connectOver(ctx, base, protocol, func(r *remote) (string, sdk.Transport) {
		r.token = handler
		return "sse", &sdk.SSEClientTransport{Endpoint: e.s.URL, HTTPClient: r.client(), MaxEventSize: maxFrame}
	})
	if second != nil && faultOf(second).state == mcp.Failed && ctx.Err() == nil {
		return nil, err // what the newer transport said
	}
	return l, second
}

// connectOver does the handshake over one transport.
func (e *peer) connectOver(ctx context.Context, base *url.URL, protocol string, way func(*remote) (string, sdk.Transport)) (*connection, error) {
	l := newLink(e)
	r := &remote{base: base, headers: e.s.Headers, l: l}
	r.http = &http.Transport{
		Proxy:                  proxy,
		DialContext:            (&net.Dialer{Timeout: dialTime, KeepAlive: 15 * time.Second}).DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    dialTime,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConns:           8,
		MaxResponseHeaderBytes: 256 << 10,
	}
	l.remote = r
	var t sdk.Transport
	l.transport, t = way(r)
	if err := l.shake(ctx, t, protocol); err != nil {
		err = r.fault(err)
		l.close(err)
		<-l.gone
		return nil, err
	}
	return l, nil
}

// A statusError is an error with the HTTP status that the server returned.
type statusError struct {
	*connectError
	status int
	err    error
}

func (r *statusError) Unwrap() []error { return []error{r.connectError, r.err} }

// fault words why the handshake failed.
func (r *remote) fault(err error) error {
	status := int(r.status.Load())
	if wire := r.refused.Load(); wire != nil {
		if _, ok := wireError(err); !ok {
			err = fmt.Errorf("%w: %w", err, wire)
		}
	}
	f := &connectError{state: mcp.Failed, text: err.Error()}
	lower := strings.ToLower(f.text)
	switch {
	case errors.Is(err, auth.ErrRegistration),
		status == http.StatusUnauthorized && (strings.Contains(lower, "registration") || strings.Contains(lower, "client_id")):
		f.state, f.text, f.detail = mcp.NeedsRegistration, auth.ErrRegistration.Error(), f.text
	case signInFailure(err) != "":
		f.state, f.text = mcp.NeedsAuth, signInFailure(err)
	case errors.Is(err, auth.ErrSignIn), status == http.StatusUnauthorized:
		f.state, f.detail = mcp.NeedsAuth, f.text
		f.text = fmt.Sprintf("The server wants a sign-in: run `helve mcp auth %s`.", r.l.e.s.Name)
	case errors.Is(err, errElsewhere):
		f.text, f.detail, f.final = errElsewhere.Error(), f.text, true
	case unreached(err) != "":
		f.text, f.detail = "The server can not be reached: "+unreached(err), f.text
	case status >= 400:
		f.text, f.detail = fmt.Sprintf("The server answered %d %s.", status, http.StatusText(status)), f.text
	}
	return &statusError{f, status, err}
}

// signInFailure says why a person's sign-in failed.
func signInFailure(err error) string {
	if f, ok := errors.AsType[*auth.SignInError](err); ok {
		return f.Error()
	}
	return ""
}

// unreached says why an address does not respond; "" for other errors.
func unreached(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return op.Error()
	}
	return ""
}

// old reports whether an error is that of a server which supports only the older transport.
func old(err error) bool {
	r, ok := errors.AsType[*statusError](err)
	return ok && r.state == mcp.Failed && r.status >= 400 && r.status < 500 &&
		r.status != http.StatusUnauthorized && r.status != http.StatusForbidden && r.status != http.StatusTooManyRequests
}

// proxy is that of the environment, and none for this machine.
func proxy(req *http.Request) (*url.URL, error) {
	host := req.URL.Hostname()
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil, nil
	}
	return http.ProxyFromEnvironment(req)
}

func (r *remote) client() *http.Client {
	return &http.Client{
		Transport: r,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			switch {
			case !r.here(req.URL):
				return fmt.Errorf("%w: %s", errElsewhere, req.URL.Host)
			case len(via) > maxRedirects:
				return errors.New("the server redirects without end")
			}
			return nil
		},
	}
}

// here reports whether a URL is of the server's origin.
func (r *remote) here(u *url.URL) bool {
	return u.Scheme == r.base.Scheme && strings.EqualFold(u.Hostname(), r.base.Hostname()) && port(u) == port(r.base)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

// seen returns when something last came from the server.
func (r *remote) seen() time.Time { return time.Unix(0, r.heard.Load()) }

func (r *remote) close() { r.http.CloseIdleConnections() }

// RoundTrip sends a request of the session.
func (r *remote) RoundTrip(req *http.Request) (*http.Response, error) {
	if !r.here(req.URL) {
		return nil, fmt.Errorf("%w: %s", errElsewhere, req.URL.Host)
	}
	if r.flying.Add(1) > maxFlying {
		r.flying.Add(-1)
		r.l.condemn(&connectError{state: mcp.Failed, text: "The server keeps too many requests waiting."})
		r.l.kill()
		return nil, errors.New("too many requests are waiting for the server")
	}
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(r.l.life, cancel)
	end := func() {
		stop()
		cancel()
		r.flying.Add(-1)
	}
	if req.Method == http.MethodDelete {
		late := time.AfterFunc(deleteTime, cancel)
		defer late.Stop()
	}
	req = req.Clone(ctx)
	if err := r.dress(req); err != nil {
		end()
		return nil, err
	}
	resp, err := r.send(req)
	if err != nil {
		end()
		if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
			err = fmt.Errorf("%w: %w", errNotSent, err)
		}
		return nil, err
	}
	r.status.Store(int32(resp.StatusCode))
	r.refused.Store(refusedWith(resp))
	r.heard.Store(time.Now().UnixNano())
	resp.Body = r.guard(resp, end)
	return resp, nil
}

// refusedWith returns the text of a refusal, and leaves the body to be read. A server that refuses
// a request for its headers has not parsed it and may return no id, so the session would not accept
// it as a response to its call.
func refusedWith(resp *http.Response) *jsonrpc.Error {
	if resp.StatusCode < 400 || resp.StatusCode >= 500 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), resp.Body), resp.Body}
	var said struct{ Error *jsonrpc.Error }
	if json.Unmarshal(body, &said) != nil {
		return nil
	}
	return said.Error
}

// send sends a request. A stream for which the server sends nothing, not even headers, is treated
// as open after a while.
func (r *remote) send(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet || r.l.transport != "http" {
		return r.http.RoundTrip(req)
	}
	type reply struct {
		resp *http.Response
		err  error
	}
	ch := make(chan reply, 1)
	go func() {
		resp, err := r.http.RoundTrip(req)
		ch <- reply{resp, err}
	}()
	t := time.NewTimer(headerTime)
	defer t.Stop()
	select {
	case got := <-ch:
		return got.resp, got.err
	case <-t.C:
	}
	in, out := io.Pipe()
	go func() {
		got := <-ch // ends with the request
		if got.err == nil {
			defer got.resp.Body.Close()
			if got.err = io.EOF; got.resp.StatusCode == http.StatusOK && eventStream(got.resp.Header) {
				_, got.err = io.Copy(out, got.resp.Body)
			}
		}
		out.CloseWithError(got.err)
	}()
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req, Body: in,
		Header: http.Header{"Content-Type": {"text/event-stream"}},
	}, nil
}

func eventStream(h http.Header) bool {
	return strings.HasPrefix(h.Get("Content-Type"), "text/event-stream")
}

// dress gives a request the headers of the configuration.
func (r *remote) dress(req *http.Request) error {
	if r.token != nil && req.Header.Get("Authorization") == "" {
		source, err := r.token.TokenSource(req.Context())
		if err != nil {
			return err
		}
		if source != nil {
			if t, err := source.Token(); err == nil && t != nil {
				req.Header.Set("Authorization", "Bearer "+t.AccessToken)
			}
		}
	}
	for name, value := range r.headers {
		if req.Header.Get(name) == "" {
			req.Header.Set(name, value)
		}
	}
	return nil
}
