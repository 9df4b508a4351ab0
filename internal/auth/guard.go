package auth

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// The limits of the guard; those without an option are fixed.
const (
	maxTarget  = 8 << 10          // bytes of the request target
	maxHeader  = 16 << 10         // bytes of all header fields
	headerTime = 10 * time.Second // from the first byte to the end of the header
	bodyTime   = time.Minute      // from the end of the header to the end of the body
	refuseTime = time.Second      // for the unread rest of a body
	stallTime  = 30 * time.Second // a peer takes some of what we write
	streamTime = 4 * time.Second  // the same of a stream, whose peer can come again and go on
	streamKept = 16 << 10         // bytes of a stream that the system keeps unsent
	largeBody  = 1 << 20          // bytes; of bodies that are longer there are few at once
	maxLarge   = 8
)

// GuardOptions say what the guard admits.
type GuardOptions struct {
	// Token is what a request has to carry: 32 to 512 characters.
	Token string
	// Hosts are the host:port we serve. At least one.
	Hosts []string
	// Origins are the origins of our own web pages. Nil: http://, or https:// with TLS, and each of
	// Hosts.
	Origins []string
	// Public reports which requests need no token; nil: none. All other checks apply to them too,
	// and a token that is sent must be right. It is only called for unambiguous paths, see plain.
	// The body of a request without a token is at most 4 KiB and must arrive within 10 s, and the
	// response must be read within 30 s.
	Public func(r *http.Request) bool
	// TLS has the certificate to serve with (see LoadPair). Nil: plain HTTP. Versions before 1.2
	// are never used.
	TLS *tls.Config
	// MaxBody bounds the body of a request in bytes. 0: 8 MiB.
	MaxBody int64
	// MaxStreams bounds the event streams and upgraded connections open at
	// once. 0: 1024.
	MaxStreams int
	// MaxRequests bounds the other requests under way at once. 0: 1024.
	MaxRequests int
	// MaxPublic bounds the concurrent public requests without a token. They have a limit of their
	// own, so that they cannot use up the owner's. 0: 64.
	MaxPublic int
	// Idle is how long a connection may wait for its next request. 0: 2 min.
	Idle time.Duration
	// Logger logs refusals (at debug level, never with text of the request) and errors of the HTTP
	// server. Nil: no log.
	Logger *slog.Logger
}

// A Guard guards handlers. All that it wraps share its limits.
type Guard struct {
	secret   secret
	hosts    map[string]bool
	origins  map[string]bool
	public   func(*http.Request) bool
	tls      *tls.Config
	maxBody  int64
	idle     time.Duration
	streams  chan struct{}
	requests chan struct{}
	visits   chan struct{} // of requests without a token
	large    chan struct{} // requests with long bodies
	log      *slog.Logger
}

// NewGuard returns a guard. It fails for a weak token or an invalid host.
func NewGuard(o GuardOptions) (*Guard, error) {
	if err := checkToken(o.Token); err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	config, err := tlsConfig(o.TLS)
	if err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	scheme := schemeOf(config != nil)
	hosts, err := hostSet(o.Hosts, scheme)
	if err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	origins, err := originSet(o, scheme)
	if err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	g := &Guard{
		secret:   newSecret(o.Token),
		hosts:    hosts,
		origins:  origins,
		public:   o.Public,
		tls:      config,
		maxBody:  positive(o.MaxBody, 8<<20),
		idle:     positive(o.Idle, 2*time.Minute),
		streams:  make(chan struct{}, positive(o.MaxStreams, 1024)),
		requests: make(chan struct{}, positive(o.MaxRequests, 1024)),
		visits:   make(chan struct{}, positive(o.MaxPublic, 64)),
		large:    make(chan struct{}, maxLarge),
		log:      o.Logger,
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	return g, nil
}

func positive[N int | int64 | time.Duration](n, otherwise N) N {
	if n > 0 {
		return n
	}
	return otherwise
}

// Wrap returns a handler that passes on to next only what the guard admits. The body has been read
// already, and the token is removed from the request, so that it cannot end up in a log or in a
// tool.
func (g *Guard) Wrap(next http.Handler) http.Handler { return g.wrap(next, nil) }

func (g *Guard) wrap(next http.Handler, kept *guests) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &answer{ResponseWriter: w, control: http.NewResponseController(w), stall: stallTime}
		a.extend()
		stranger, no := g.admit(r)
		if no != nil {
			// The number of connections is limited, so one without a token is closed.
			a.Header().Set("Connection", "close")
			g.refuse(a, r, no)
			return
		}
		if stranger {
			g.receive(a, r, next, kept)
			return
		}
		if no := g.check(r, g.maxBody); no != nil {
			g.refuse(a, r, no)
			return
		}
		room := g.requests
		if isStream(r) {
			room, a.stall = g.streams, streamTime
			keepLittle(r)
		}
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
		default:
			g.refuse(a, r, busy())
			return
		}
		if isLarge(r) {
			select {
			case g.large <- struct{}{}:
				defer func() { <-g.large }()
			default:
				g.refuse(a, r, busy())
				return
			}
		}
		body, no := readBody(a, r, g.maxBody, bodyTime)
		if no != nil {
			g.refuse(a, r, no)
			return
		}
		next.ServeHTTP(a, passed(r, body))
		a.handlerDone()
	})
}

// admit checks who sends a request, and whether it is addressed to us. A stranger shows no token
// and needs none.
func (g *Guard) admit(r *http.Request) (stranger bool, no *tokenError) {
	if g.tls != nil && r.TLS == nil {
		return false, noTLS()
	}
	if no := g.checkPlace(r); no != nil {
		return false, no
	}
	if !knownMethod(r.Method) {
		return false, badMethod()
	}
	if len(r.RequestURI) > maxTarget {
		return false, longTarget()
	}
	if headerSize(r.Header) > maxHeader {
		return false, longHeader()
	}
	if len(r.Header["Authorization"]) == 0 && g.isPublic(r) {
		return true, nil
	}
	return false, g.secret.check(r)
}

// check checks the rest of a request's header.
func (g *Guard) check(r *http.Request, maxBody int64) *tokenError {
	if r.Method == http.MethodOptions {
		return options()
	}
	if no := checkContent(r); no != nil {
		return no
	}
	if r.ContentLength > maxBody {
		return longBody(maxBody)
	}
	return nil
}

// checkPlace decides on where a request was sent and from where.
func (g *Guard) checkPlace(r *http.Request) *tokenError {
	// net/http puts the host of an absolute target into r.Host, as it should,
	// but takes the header for a target without.
	if !g.hosts[lower(r.Host)] || !goodTarget(r.URL) {
		return wrongHost()
	}
	if !onlyKnown(r.Header["Origin"], g.origins) {
		return wrongOrigin()
	}
	// A browser sends it once; programs do not send it.
	switch site := r.Header["Sec-Fetch-Site"]; {
	case len(site) == 0:
	case len(site) == 1 && (site[0] == "same-origin" || site[0] == "none"):
	default:
		return wrongSite()
	}
	return nil
}

// goodTarget reports whether a target is a path, or a whole URL as sent to proxies.
func goodTarget(u *url.URL) bool {
	switch u.Scheme {
	case "":
	case "http", "https": // in which way it came is known
		if u.Host == "" {
			return false
		}
	default:
		return false
	}
	return u.User == nil && u.Opaque == ""
}

func knownMethod(m string) bool {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
		http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return true
	}
	return false
}

// headerSize is about what the header took on the wire.
func headerSize(h http.Header) (n int) {
	for name, values := range h {
		for _, v := range values {
			n += len(name) + len(v) + len(": \r\n")
		}
	}
	return n
}

// isStream reports whether a request may stay open without a time limit. The response to a POST can
// be an event stream too, but ends with its call.
func isStream(r *http.Request) bool {
	if r.Method != http.MethodGet {
		return false
	}
	for _, v := range r.Header["Accept"] {
		if strings.Contains(lower(v), "text/event-stream") {
			return true
		}
	}
	return len(r.Header["Upgrade"]) > 0
}

// isLarge reports whether the body of a request is, or may be, large. Such a request takes many
// times its size in memory, so few run at once.
func isLarge(r *http.Request) bool { return r.ContentLength > largeBody || r.ContentLength < 0 }

// readBody reads the body of a request. Only while it does so the connection
// has a deadline for reading: one that stayed would end event streams.
func readBody(a *answer, r *http.Request, limit int64, timeout time.Duration) ([]byte, *tokenError) {
	if r.ContentLength == 0 {
		return nil, nil
	}
	_ = a.control.SetReadDeadline(time.Now().Add(timeout))
	var b bytes.Buffer
	b.Grow(int(min(max(r.ContentLength, 0), 64<<10)) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(r.Body, limit+1))
	switch {
	case int64(b.Len()) > limit:
		return nil, longBody(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, slowBody(timeout)
	case err != nil:
		return nil, brokenBody()
	}
	_ = a.control.SetReadDeadline(time.Time{}) // net/http does so too, but does not promise it
	return b.Bytes(), nil
}

// passed is the request as the handler sees it.
func passed(r *http.Request, body []byte) *http.Request {
	out := r.WithContext(r.Context()) // a copy
	out.Header = r.Header.Clone()
	out.Header.Del("Authorization")
	out.Body = http.NoBody
	if len(body) > 0 {
		out.Body = io.NopCloser(bytes.NewReader(body))
	}
	out.ContentLength = int64(len(body))
	out.TransferEncoding = nil
	out.Trailer = nil
	return out
}

// Server returns a server for next behind the guard, with every limit set. It has no timeout for a
// whole request or response, which would end event streams: the guard bounds the time of a body and
// of each write instead. Guard.Serve runs it.
func (g *Guard) Server(next http.Handler) *http.Server {
	var http1 http.Protocols
	http1.SetHTTP1(true)
	kept := newGuests()
	return &http.Server{
		Handler:                      g.wrap(next, kept),
		ConnState:                    kept.connState,
		ConnContext:                  withConn,
		TLSConfig:                    g.tls,
		DisableGeneralOptionsHandler: true, // OPTIONS * is handled like other requests
		Protocols:                    &http1,
		MaxHeaderBytes:               2 * maxHeader, // what lies between gets our own answer
		ReadHeaderTimeout:            headerTime,
		IdleTimeout:                  g.idle,
		ErrorLog:                     slog.NewLogLogger(g.log.Handler(), slog.LevelWarn),
	}
}

// Serve accepts connections on l for srv, which Server has made, until it is closed. It uses TLS if
// the guard has a certificate.
func (g *Guard) Serve(srv *http.Server, l net.Listener) error {
	if g.tls != nil {
		return srv.ServeTLS(l, "", "")
	}
	return srv.Serve(l)
}
