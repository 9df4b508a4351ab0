package auth

import (
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"
)

// What a request without token is given.
const (
	strangerBody = 4 << 10          // bytes
	strangerTime = 10 * time.Second // for its body
	maxGuests    = 64               // connections that are kept
)

// isPublic reports whether a request needs no token.
func (g *Guard) isPublic(r *http.Request) bool {
	return g.public != nil && plain(r.URL) && g.public(r)
}

// plain reports whether a path is unambiguous: no dot segments, no doubled slashes, no unnecessary
// escapes, no other character that is a slash elsewhere. Two parts of a server that parse a path
// differently must not decide who needs a token.
func plain(u *url.URL) bool {
	if u.RawPath != "" || !strings.HasPrefix(u.Path, "/") {
		return false
	}
	for _, c := range []byte(u.Path) {
		if c < ' ' || c == 0x7f || c == '\\' || c == '%' {
			return false
		}
	}
	clean := path.Clean(u.Path)
	return u.Path == clean || u.Path == clean+"/"
}

// receive serves a request that shows no token and needs none. Its body is read before it takes one
// of the slots, so that slow clients do not block quick ones; and it must be small, so that all of
// them together do not use up the memory. No connection is kept if kept is nil.
func (g *Guard) receive(a *answer, r *http.Request, next http.Handler, kept *guests) {
	if !kept.mayKeep(r.RemoteAddr) {
		a.Header().Set("Connection", "close")
	}
	most := min(strangerBody, g.maxBody)
	no := g.check(r, most)
	var body []byte
	if no == nil {
		body, no = readBody(a, r, most, strangerTime)
	}
	a.until = time.Now().Add(stallTime)
	if no != nil {
		a.Header().Set("Connection", "close")
		g.refuse(a, r, no)
		return
	}
	select {
	case g.visits <- struct{}{}:
		defer func() { <-g.visits }()
	default:
		a.Header().Set("Connection", "close")
		g.refuse(a, r, busy())
		return
	}
	next.ServeHTTP(a, passed(r, body))
	a.handlerDone()
}

// guests are the connections that stay open although a request on them has not shown the token. A
// browser loads the modules of a page without it, some dozens of them. A new connection for each
// costs little on this machine (25 modules: 5 ms instead of 2, with TLS 25 ms; see BenchmarkPage),
// but two more round trips each from afar. So a few stay open, far fewer than the limit (see
// Bind.MaxConns), and the others are closed after their response: while other clients hold all of
// these, a page loads slower, but completely.
type guests struct {
	mu   sync.Mutex
	from map[string]bool // remote addresses
}

func newGuests() *guests { return &guests{from: map[string]bool{}} }

// mayKeep reports whether the connection from an address may stay open.
func (g *guests) mayKeep(addr string) bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.from[addr] && len(g.from) >= maxGuests {
		return false
	}
	g.from[addr] = true
	return true
}

// connState is called by the HTTP server when the state of a connection changes.
func (g *guests) connState(c net.Conn, now http.ConnState) {
	if now != http.StateClosed && now != http.StateHijacked {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.from, c.RemoteAddr().String())
}
