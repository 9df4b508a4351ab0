package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/helve-dev/helve/internal/text"
)

// maxReply is how much of a reply is read, in bytes after decompression.
const maxReply = 2 << 20

// A site is the server that a provider asks, and the only one.
type site struct {
	client  *Client
	name    string // of the provider
	section string
	key     string
	secret  secret
	address string // of the endpoint, with what the provider's path adds
	origin  string
	host    string
	own     bool // the config names it
}

// A request is what a provider wants to send.
type request struct {
	query  url.Values // added to the address
	header http.Header
	body   any // sent by POST as JSON; nil for GET
}

// site reads the endpoint: usual where the config names none. The path is
// added, unless the endpoint ends with it.
func (o SearchOptions) site(usual, path string) (*site, error) {
	endpoint := strings.TrimSpace(o.Endpoint)
	own := endpoint != ""
	if !own {
		endpoint = usual
	}
	bad := func(err error) error {
		return fmt.Errorf("%s.endpoint is not the address of a server: %w", o.Section, err)
	}
	if _, err := Read(endpoint); err != nil {
		return nil, bad(err)
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, bad(err)
	}
	u.Fragment, u.RawFragment = "", ""
	if base := strings.TrimRight(u.Path, "/"); !strings.HasSuffix(base, path) {
		u = u.JoinPath(path)
	}
	at, err := Read(u.String())
	if err != nil {
		return nil, bad(err)
	}
	client := o.Client
	if client == nil {
		client = New(Options{UserAgent: "helve"})
	}
	return &site{
		client: client, name: o.Provider, section: o.Section, key: o.Key, secret: o.secret(),
		address: u.String(), origin: at.Origin(), host: at.Host(), own: own,
	}, nil
}

// where names the server, without its path and query, which may contain a secret.
func (s *site) where() string {
	if s.own {
		return s.name + " at " + s.origin
	}
	return fmt.Sprintf("%s (%s)", s.name, s.host)
}

// requestPage sends a request and returns the reply if its status is a good one.
func (s *site) requestPage(ctx context.Context, r request) (*Page, error) {
	g, err := s.get(r)
	if err != nil {
		return nil, err
	}
	p, err := s.client.Get(ctx, g)
	if err != nil {
		return nil, s.unreached(err)
	}
	if p.Status < 200 || p.Status > 299 {
		return nil, s.statusError(p)
	}
	return p, nil
}

func (s *site) get(r request) (Get, error) {
	u, err := url.Parse(s.address)
	if err != nil {
		return Get{}, err
	}
	query := u.Query()
	for name, values := range r.query {
		if !query.Has(name) { // what the endpoint itself says is the user's wish
			query[name] = values
		}
	}
	u.RawQuery = query.Encode()
	at, err := Read(u.String())
	if err != nil {
		return Get{}, err
	}
	g := Get{Address: at, Header: r.header, Limit: maxReply, Judge: s.checkHop}
	if g.Header == nil {
		g.Header = http.Header{"Accept": {"application/json"}}
	}
	if r.body == nil {
		return g, nil
	}
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r.body); err != nil {
		return Get{}, err
	}
	g.Method, g.Body = http.MethodPost, bytes.TrimSuffix(body.Bytes(), []byte("\n"))
	g.Header.Set("Content-Type", "application/json")
	return g, nil
}

// checkHop allows requests to the site itself only, because the user has named nothing else. A site
// that the user has named may be anywhere; a provider's default server must be on the internet.
func (s *site) checkHop(_ context.Context, h Hop) error {
	if h.Address.Origin() == s.origin {
		if h.Place.Inside() && !s.own {
			return &rawSearchError{
				code: CodeBlockedAddress,
				text: fmt.Sprintf("%s leads to an address that is %s; that is not the server of %s", s.host, h.Place.Says(), s.name),
				hint: fmt.Sprintf("If that is a server of yours, name it in %s.endpoint.", s.section),
			}
		}
		return nil
	}
	return &rawSearchError{
		code: CodeRedirectRefused,
		text: fmt.Sprintf("%s sends on to %s, and a search goes to no other server", s.origin, h.Address.Origin()),
		hint: fmt.Sprintf("If that is the right one, set %s.endpoint to it.", s.section),
	}
}

// unreached adds to an error what the user can do.
func (s *site) unreached(err error) error {
	var f *rawSearchError
	var w *Error
	if errors.As(err, &f) || !errors.As(err, &w) || w.Code != CodeConnection && w.Code != CodeUnknownHost {
		return err
	}
	if !s.own {
		if w.Code == CodeUnknownHost { // its name is ours, and spelled right
			return &rawSearchError{code: w.Code, text: fmt.Sprintf("%s can not be looked up: the network or its name service can not be reached", s.host)}
		}
		return err
	}
	return &rawSearchError{
		code: w.Code, text: masked(w.Error()),
		hint: fmt.Sprintf("%s.endpoint is %s: is the server running?", s.section, s.origin),
	}
}

// statusError words an unsuccessful status.
func (s *site) statusError(p *Page) error {
	f := &rawSearchError{code: "status", status: p.Status, text: string(p.Body)}
	if strings.HasSuffix(p.Type, "html") {
		f.text = pageText(f.text)
	}
	if strings.TrimSpace(f.text) == "" {
		f.text = http.StatusText(p.Status)
	}
	switch p.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		f.code = "key"
		f.hint = fmt.Sprintf("The server does not accept the key: see %s.key in the config.", s.section)
		if s.key == "" {
			f.hint = fmt.Sprintf("The server may want a key: set %s.key in the config.", s.section)
		}
	case http.StatusTooManyRequests:
		f.code = "rate-limit"
		f.hint = "Too many searches." + retry(p.Header.Get("Retry-After"))
		if s.key == "" {
			f.hint += fmt.Sprintf(" A key in %s.key may allow more.", s.section)
		}
	}
	return f
}

// retry words a valid Retry-After header.
func retry(after string) string {
	after = strings.TrimSpace(after)
	if n, err := strconv.ParseUint(after, 10, 31); err == nil {
		return fmt.Sprintf(" Try again after %d seconds.", n)
	}
	if t, err := http.ParseTime(after); err == nil {
		return " Try again after " + t.UTC().Format(time.DateTime) + " UTC."
	}
	return ""
}

// decode reads a reply that has to be JSON.
func (s *site) decode(p *Page, into any) error {
	err := json.Unmarshal(p.Body, into)
	switch {
	case err == nil:
		return nil
	case p.Cut:
		return replyTooLong()
	}
	head, _ := text.Cut(strings.TrimSpace(string(p.Body)), 100)
	f := &rawSearchError{code: "reply", text: fmt.Sprintf("the reply is not the JSON that was asked for; it begins with %q", s.secret.hide(oneLine(head)))}
	if s.own {
		f.hint = fmt.Sprintf("Does %s.endpoint lead to the right server?", s.section)
	}
	return f
}

// replyTooLong is the error for a reply that is unusable because its end is missing.
func replyTooLong() error {
	return &rawSearchError{
		code: "reply",
		text: fmt.Sprintf("the reply was cut off: it is longer than %d MiB or the connection broke", maxReply>>20),
		hint: "Ask for fewer results.",
	}
}
