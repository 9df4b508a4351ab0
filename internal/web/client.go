package web

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
)

const (
	maxRedirects  = 10
	defaultLimit  = 5 << 20
	maxHeader     = 64 << 10
	environment   = "environment"
	acceptedCodes = "gzip"
)

// A Resolver looks up names. It must return when its context is done.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options are what a [Client] is made of.
type Options struct {
	// UserAgent is sent as it is.
	UserAgent string
	// Fallback is the user agent of one retry, if a site answers the first request with a challenge
	// that only browsers can meet. Empty for none.
	Fallback string
	// Proxy is empty for none, "environment" for the environment's, or the URL of an http, https or
	// socks5 proxy, which resolves the names.
	Proxy string
	// Resolver is net.DefaultResolver if it is nil.
	Resolver Resolver
	// Dial connects to an address that was checked, or to the proxy. If it is nil, a dialer is used
	// that checks the address again.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// TLS is the usual if it is nil.
	TLS *tls.Config
}

// A Client fetches pages. It keeps no connections and no cookies, and can be
// used by many at once.
type Client struct {
	opts  Options
	proxy func(*url.URL) (*url.URL, error) // nil: none
	wrong error                            // what is wrong with the options
}

// New returns a client. Invalid options are reported by every Get.
func New(opts Options) *Client {
	if opts.Resolver == nil {
		opts.Resolver = net.DefaultResolver
	}
	c := &Client{opts: opts}
	c.proxy, c.wrong = proxyOf(opts.Proxy)
	return c
}

// A Get is a request.
type Get struct {
	Address Address
	Method  string // GET if empty; of others no redirect is followed
	Body    []byte
	Header  http.Header // of these only Accept… follows a redirect to another origin
	Limit   int64       // how much of the body is kept, decompressed; 5 MiB if 0

	// Judge is called for every hop before anything of it is looked up, and once more for a name
	// that resolves to a local address. Its error ends the fetch and can be found in the error of
	// Get. A nil Judge allows all public addresses.
	Judge func(ctx context.Context, h Hop) error

	// Progress is called with the number of bytes of the body received so far, before
	// decompression, a few times a second. It may be nil.
	Progress func(bytes int64)
}

// A Hop is a request that is about to be made.
type Hop struct {
	Address Address
	Place   Place        // Unknown for a name that has not been looked up
	IPs     []netip.Addr // what a literal says, or the answers for a name that leads inside
	Via     []Redirect   // the redirects that led here
}

// A Redirect is a redirect that was followed.
type Redirect struct {
	Address Address
	Status  int
}

// A fetch is the state of one Get.
type fetch struct {
	c      *Client
	g      Get
	agent  string
	header http.Header
	chain  []Redirect
	seen   map[string]bool
	via    *url.URL // the proxy of the hop; nil: none
	from   Place    // of the hop before; Unknown at the first
	public bool     // all hops so far
}

// Get fetches a page. A response of any status is one. ctx bounds the total time; if it is
// cancelled, the error is its cause. All other errors but Judge's are of type *[Error].
func (c *Client) Get(ctx context.Context, g Get) (*Page, error) {
	if c.wrong != nil {
		return nil, c.wrong
	}
	if g.Address.scheme == "" {
		return nil, invalid("there is none")
	}
	if g.Limit <= 0 {
		g.Limit = defaultLimit
	}
	if g.Method == "" {
		g.Method = http.MethodGet
	}
	ctx, cancel := context.WithCancel(ctx) // whatever goes on in the background ends with us
	defer cancel()
	f := &fetch{c: c, g: g, agent: c.opts.UserAgent, header: headerOf(g.Header), seen: map[string]bool{}, public: true}
	at := g.Address
	for {
		page, next, err := f.visit(ctx, at)
		if err != nil {
			return nil, f.explain(ctx, at, err)
		}
		if page != nil {
			page.Address, page.Chain = at, f.chain
			page.public = f.public && g.Method == http.MethodGet
			return page, nil
		}
		at = next
	}
}

// headerOf is a copy of what may be sent: not what the client sets itself, or
// what would change how the message is read.
func headerOf(h http.Header) http.Header {
	own := http.Header{}
	for name, values := range h {
		name = http.CanonicalHeaderKey(name)
		switch name {
		case "Accept-Encoding", "User-Agent", "Host", "Connection", "Content-Length", "Transfer-Encoding", "Trailer", "Upgrade", "Te", "Proxy-Authorization", "Proxy-Connection", "Keep-Alive":
		default:
			own[name] = append([]string(nil), values...)
		}
	}
	own.Set("Accept-Encoding", acceptedCodes)
	return own
}

// visit makes the request of one hop. It returns a page, or where that is.
func (f *fetch) visit(ctx context.Context, at Address) (*Page, Address, error) {
	f.seen[at.String()] = true
	way, err := f.resolveRoute(ctx, at)
	if err != nil {
		return nil, Address{}, err
	}
	f.from, f.via = way.place, way.proxy
	f.public = f.public && !way.place.Inside()
	answer, err := f.send(ctx, at, way)
	if err != nil {
		return nil, Address{}, err
	}
	if f.challenged(answer.resp) {
		answer.close()
		f.agent = f.c.opts.Fallback
		if answer, err = f.send(ctx, at, way); err != nil {
			return nil, Address{}, err
		}
	}
	defer answer.close()
	if location := answer.resp.Header.Get("Location"); location != "" && f.g.Method == http.MethodGet && redirects(answer.resp.StatusCode) {
		to, err := f.turn(at, location, answer.resp.StatusCode)
		return nil, to, err
	}
	answer.progress = f.g.Progress
	page, err := answer.page(ctx, f.g.Limit)
	return page, Address{}, err
}

// challenged reports whether another agent is worth a second try.
func (f *fetch) challenged(resp *http.Response) bool {
	other := f.c.opts.Fallback
	return other != "" && other != f.agent && f.g.Method == http.MethodGet &&
		resp.StatusCode == http.StatusForbidden && strings.EqualFold(resp.Header.Get("Cf-Mitigated"), "challenge")
}

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// turn follows a redirect on paper.
func (f *fetch) turn(at Address, location string, status int) (Address, error) {
	to, err := f.readRedirect(at, location, status)
	switch {
	case err != nil:
		return to, err
	case f.seen[to.String()]:
		return to, &Error{Code: CodeTooManyRedirects, Message: fmt.Sprintf("the redirects go in a circle: %s was asked before; fetch another URL", shortenText(to.String()))}
	case len(f.chain) > maxRedirects:
		return to, &Error{Code: CodeTooManyRedirects, Message: fmt.Sprintf("more than %d redirects, the last to %s; fetch that if it is what you want", maxRedirects, shortenText(to.String()))}
	}
	if err := downgraded(at, to); err != nil {
		return to, err
	}
	if at.Origin() != to.Origin() {
		for name := range f.header {
			if !strings.HasPrefix(name, "Accept") {
				delete(f.header, name)
			}
		}
	}
	return to, nil
}

// readRedirect reads where a redirect leads, and notes that it was taken.
func (f *fetch) readRedirect(at Address, location string, status int) (Address, error) {
	to, err := at.Follow(location)
	if err != nil {
		return to, &Error{Code: CodeRedirectRefused, Err: err,
			Message: fmt.Sprintf("%s redirects to %q, which can not be followed: %v", shortenText(at.String()), shortenText(location), err)}
	}
	f.chain = append(f.chain, Redirect{Address: at, Status: status})
	return to, nil
}

// downgraded refuses a redirect to where others could read along.
func downgraded(at, to Address) error {
	if at.scheme == "https" && to.scheme == "http" {
		return &Error{Code: CodeRedirectRefused, Message: fmt.Sprintf("a redirect from https to http is not followed: %s; fetch that URL itself if it is what you want", shortenText(to.String()))}
	}
	return nil
}

// explain makes an error one that the caller can use.
func (f *fetch) explain(ctx context.Context, at Address, err error) error {
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	var judged *verdict
	if errors.As(err, &judged) {
		return judged.err
	}
	var known *Error
	own := errors.As(err, &known)
	if ctx.Err() != nil && (!own || known.Code == CodeConnection || known.Code == CodeUnknownHost) {
		return &Error{Code: CodeTimeout, Message: fmt.Sprintf("Request timed out: no answer from %s yet", at.Host()), Chain: f.chain, Err: context.Cause(ctx)}
	}
	if !own {
		known = f.failure(at, err)
	}
	known.Chain = f.chain
	return known
}
