// Package gate decides who may talk to our HTTP server. It stands in front of
// every route, so that no handler has to remember a rule: a web page in the
// person's browser, another user of the machine and a name that was rebound to
// our address all end here.
//
// A request passes if, in this order,
//
//   - its Host is one we serve (else 421),
//   - its Origin, if it has one, is ours, and the browser does not call it
//     cross-site (else 403),
//   - its method is one we know (else 405) and its head is small (else 414, 431),
//   - it carries the token in the Authorization header (else 401, or 429 when
//     wrong ones come in bursts),
//   - its body, if it has one, is JSON (else 415), small (else 413) and comes
//     in time (else 408),
//   - there is room for it (else 503).
//
// A connection whose request does not show the token is closed with the
// answer, so that strangers do not take the places of others.
//
// Names of sessions are never a credential. There are no CORS headers, and
// those a handler sets are taken off.
package gate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"
)

// What the gate bears; those without an option are the same for everyone.
const (
	maxTarget  = 8 << 10          // bytes of the request target
	maxHeader  = 16 << 10         // bytes of all header fields
	headerTime = 10 * time.Second // from the first byte to the end of the header
	bodyTime   = time.Minute      // from the end of the header to the end of the body
	refuseTime = time.Second      // for the rest of a body nobody reads
	stallTime  = 30 * time.Second // a peer takes some of what we write
)

// Options say what the gate lets in.
type Options struct {
	// Token is what a request has to carry: 32 to 512 characters.
	Token string
	// Hosts are the host:port we serve. At least one.
	Hosts []string
	// Origins are the origins of web pages that are ours. Nil: http:// and
	// each of Hosts.
	Origins []string
	// MaxBody bounds the body of a request in bytes. 0: 8 MiB.
	MaxBody int64
	// MaxStreams bounds the event streams and upgraded connections open at
	// once. 0: 1024.
	MaxStreams int
	// MaxRequests bounds the other requests under way at once. 0: 1024.
	MaxRequests int
	// Idle is how long a connection may wait for its next request. 0: 2 min.
	Idle time.Duration
	// Logger is told of refusals (at debug level, never with text of the
	// request) and of faults of the HTTP server. Nil: silence.
	Logger *slog.Logger
}

// A Gate guards handlers. All that it wraps share its limits.
type Gate struct {
	secret   secret
	hosts    map[string]bool
	origins  map[string]bool
	maxBody  int64
	idle     time.Duration
	streams  chan struct{}
	requests chan struct{}
	log      *slog.Logger
}

// New makes a gate. It fails rather than guard with a weak token or a host
// that can not be one.
func New(o Options) (*Gate, error) {
	if err := checkToken(o.Token); err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	hosts, err := hostSet(o.Hosts)
	if err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	origins, err := originSet(o.Origins, hosts)
	if err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	g := &Gate{
		secret:   newSecret(o.Token),
		hosts:    hosts,
		origins:  origins,
		maxBody:  positive(o.MaxBody, 8<<20),
		idle:     positive(o.Idle, 2*time.Minute),
		streams:  make(chan struct{}, positive(o.MaxStreams, 1024)),
		requests: make(chan struct{}, positive(o.MaxRequests, 1024)),
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

// Wrap returns a handler that hands to next only what passes the gate. The
// body next sees has been read already, and the token is taken off, so that it
// can not end up in a log or in a tool.
func (g *Gate) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &answer{ResponseWriter: w, control: http.NewResponseController(w)}
		a.extend()
		if no := g.admit(r); no != nil {
			// A connection counts, and one of a stranger is not kept for more.
			a.Header().Set("Connection", "close")
			g.refuse(a, r, no)
			return
		}
		if no := g.check(r); no != nil {
			g.refuse(a, r, no)
			return
		}
		room := g.requests
		if isStream(r) {
			room = g.streams
		}
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
		default:
			g.refuse(a, r, busy())
			return
		}
		body, no := g.body(a, r)
		if no != nil {
			g.refuse(a, r, no)
			return
		}
		next.ServeHTTP(a, passed(r, body))
		a.finish()
	})
}

// admit decides on who sends a request, and whether we are meant by it.
func (g *Gate) admit(r *http.Request) *refusal {
	if no := g.checkPlace(r); no != nil {
		return no
	}
	if !knownMethod(r.Method) {
		return badMethod()
	}
	if len(r.RequestURI) > maxTarget {
		return longTarget()
	}
	if headerSize(r.Header) > maxHeader {
		return longHeader()
	}
	return g.secret.check(r)
}

// check decides on what else can be told from the head of a request.
func (g *Gate) check(r *http.Request) *refusal {
	if r.Method == http.MethodOptions {
		return options()
	}
	if no := checkContent(r); no != nil {
		return no
	}
	if r.ContentLength > g.maxBody {
		return longBody(g.maxBody)
	}
	return nil
}

// checkPlace decides on where a request was sent and from where.
func (g *Gate) checkPlace(r *http.Request) *refusal {
	// net/http puts the host of an absolute target into r.Host, as it should.
	if !g.hosts[lower(r.Host)] || r.URL.User != nil || r.URL.Opaque != "" {
		return wrongHost()
	}
	if !onlyKnown(r.Header["Origin"], g.origins) {
		return wrongOrigin()
	}
	for _, site := range r.Header["Sec-Fetch-Site"] {
		if site != "same-origin" && site != "none" {
			return wrongSite()
		}
	}
	return nil
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

// isStream tells whether a request may stay open for as long as it likes. The
// answer of a POST can be an event stream too, but ends with its call.
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

// body reads the body of a request. Only while it does so the connection has a
// deadline for reading: one that stayed would end event streams.
func (g *Gate) body(a *answer, r *http.Request) ([]byte, *refusal) {
	if r.ContentLength == 0 {
		return nil, nil
	}
	_ = a.control.SetReadDeadline(time.Now().Add(bodyTime))
	var b bytes.Buffer
	b.Grow(int(min(max(r.ContentLength, 0), 64<<10)) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(r.Body, g.maxBody+1))
	switch {
	case int64(b.Len()) > g.maxBody:
		return nil, longBody(g.maxBody)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, slowBody()
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

// Server returns a server for next behind the gate, with every limit set. It
// has no timeout for a whole request or answer, which would end event streams:
// the gate bounds the time of a body and of each write instead.
func (g *Gate) Server(next http.Handler) *http.Server {
	var http1 http.Protocols
	http1.SetHTTP1(true)
	return &http.Server{
		Handler:                      g.Wrap(next),
		DisableGeneralOptionsHandler: true, // OPTIONS * takes the same road
		Protocols:                    &http1,
		MaxHeaderBytes:               2 * maxHeader, // what lies between gets our own answer
		ReadHeaderTimeout:            headerTime,
		IdleTimeout:                  g.idle,
		ErrorLog:                     slog.NewLogLogger(g.log.Handler(), slog.LevelWarn),
	}
}
