package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A Client talks to one server.
type Client struct {
	base    *url.URL
	token   string
	http    *http.Client
	maxBody int64
	tries   int
	pause   time.Duration // before the second try; doubled from there on
	quiet   time.Duration // a stream that says nothing for so long is dead
}

// An Option changes how a client works.
type Option func(*Client)

// WithHTTP takes another HTTP client, for a proxy, say, or for certificates of
// your own. Its timeout has to be zero: events and calls take as long as they
// take, and a context ends them.
func WithHTTP(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithMaxBody bounds an answer, and an event, in bytes. 64 MiB where it is not
// set.
func WithMaxBody(n int64) Option { return func(c *Client) { c.maxBody = n } }

// WithTries says how often a request that only reads is sent where the server
// can not be reached. 3 where it is not set; 1 tries once. What changes
// something is never sent twice.
func WithTries(n int) Option { return func(c *Client) { c.tries = n } }

// New makes a client for the server at an address, such as
// "http://127.0.0.1:4096". Nothing is sent yet; [Client.GetInfo] tells whether the
// server is there and takes the token.
func New(baseURL, token string, opts ...Option) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(baseURL, "/"))
	if err != nil {
		return nil, fmt.Errorf("client: %q is not an address: %w", baseURL, err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("client: %q is not an address: give one like http://127.0.0.1:4096", baseURL)
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("client: an address has no user, query or fragment: give one like http://127.0.0.1:4096, and the token apart")
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, errors.New("client: a token holds printable ASCII without spaces: cut the line end if it comes from a file")
	}
	c := &Client{base: base, token: token, maxBody: 64 << 20, tries: 3, pause: 100 * time.Millisecond, quiet: 50 * time.Second}
	for _, o := range opts {
		o(c)
	}
	if c.http == nil {
		c.http = &http.Client{Transport: transport()}
	}
	// A copy: what leads elsewhere must not be followed with the token.
	own := *c.http
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &own
	if c.http.Timeout != 0 {
		return nil, errors.New("client: the HTTP client has a timeout, which would cut events and long calls: use contexts instead")
	}
	return c, nil
}

// URL is the server's address.
func (c *Client) URL() string { return c.base.String() }

// Close closes connections that wait for further requests.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// transport is the standard one with more connections kept to the one server.
func transport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxIdleConnsPerHost = 16
	return t
}
