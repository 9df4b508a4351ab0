package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

const offline = "offline_access"

// A demand is the content of a server's 401 or 403.
type demand struct {
	more     []string // scopes that it has asked for before
	status   int
	err      string
	scopes   []string
	metadata string
}

// demanded parses the header of a refusal. A malformed one is ignored.
func demanded(resp *http.Response) demand {
	d := demand{status: resp.StatusCode}
	challenges, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		return d
	}
	for _, c := range challenges {
		if c.Scheme == "bearer" && d.err == "" && d.scopes == nil {
			d.err, d.scopes = c.Params["error"], strings.Fields(c.Params["scope"])
		}
		if d.metadata == "" {
			d.metadata = c.Params["resource_metadata"]
		}
	}
	return d
}

// An authServer is what is known about a server's authorization server.
type authServer struct {
	meta     *oauthex.AuthServerMeta
	resource string
	scopes   []string // that the resource names
}

// A scout finds the authorization server of a server. Without a person it leaves the server's
// origin only for the public network.
type scout struct {
	own   *url.URL
	named *http.Client // for the document that the server's no names
	any   *http.Client // for the rest
	gate  *hostGuard   // of the rest
	alone bool         // no person
}

// discover finds the authorization server of a server.
func (h *handler) discover(ctx context.Context, d demand) (*authServer, error) {
	if err := safe(h.url); err != nil {
		return nil, err
	}
	g := h.newGuard(!h.opts.Interactive)
	s := &scout{own: g.own, named: h.through(h.newGuard(true)), any: h.through(g), gate: g, alone: !h.opts.Interactive}
	prm, own, err := s.resource(ctx, d.metadata)
	if err != nil {
		return nil, fmt.Errorf("metadata of the server: %w", err)
	}
	issuer := rootless(prm.AuthorizationServers[0])
	meta, err := s.authority(ctx, issuer, own)
	if err == nil {
		err = s.check(ctx, meta)
	}
	if err != nil {
		return nil, fmt.Errorf("metadata of the authorization server %s: %w", withoutSecrets(issuer), err)
	}
	return &authServer{meta: meta, resource: prm.Resource, scopes: prm.ScopesSupported}, nil
}

// resource returns the metadata of the server. Without any, the server is its
// own authorization server, as of 2025-03-26.
func (s *scout) resource(ctx context.Context, named string) (prm *oauthex.ProtectedResourceMetadata, own bool, err error) {
	home := (&url.URL{Scheme: s.own.Scheme, Host: s.own.Host}).String()
	const known = "/.well-known/oauth-protected-resource"
	places := []string{home + known + strings.TrimSuffix(s.own.EscapedPath(), "/"), home + known}
	if named != "" {
		if s.alone && originOf(named) != origin(s.own) {
			return nil, false, fmt.Errorf("%s is elsewhere: %w", withoutSecrets(named), errBarred)
		}
		places = append([]string{named}, slices.DeleteFunc(places, func(p string) bool { return p == named })...)
	}
	for _, place := range slices.Compact(places) {
		c := s.any
		if place == named {
			c = s.named
		}
		prm, err := s.about(ctx, c, place)
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", withoutSecrets(place), err)
		}
		if prm != nil {
			return prm, false, nil
		}
	}
	return &oauthex.ProtectedResourceMetadata{Resource: s.own.String(), AuthorizationServers: []string{home}}, true, nil
}

// about gets the server's metadata at one place; nil if there is none. A document about another
// resource is refused.
func (s *scout) about(ctx context.Context, c *http.Client, place string) (*oauthex.ProtectedResourceMetadata, error) {
	prm := new(oauthex.ProtectedResourceMetadata)
	_, err := get(ctx, c, place, prm)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errBarred), errors.Is(err, errScheme):
		return nil, err
	case err != nil: // it may be at the next one
		return nil, nil
	case !slices.Contains(names(s.own), prm.Resource):
		return nil, errors.New("it speaks for another resource")
	case len(prm.AuthorizationServers) == 0:
		return nil, errors.New("it names no authorization server")
	}
	return prm, nil
}

// authority returns the metadata of an authorization server. With own it is the server itself as of
// the protocol version 2025-03-26, which did not bind a server to the name of its origin: its
// issuer may then be a parent domain.
func (s *scout) authority(ctx context.Context, issuer string, own bool) (*oauthex.AuthServerMeta, error) {
	u, err := url.Parse(issuer)
	if err != nil || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, errors.New("the address is malformed")
	}
	for _, place := range places(u) {
		m := new(oauthex.AuthServerMeta)
		status, err := get(ctx, s.any, place, m)
		if status >= 400 && status < 500 {
			continue
		}
		if err != nil {
			return nil, err
		}
		if rootless(m.Issuer) != issuer && strings.TrimSuffix(m.Issuer, "/") != strings.TrimSuffix(issuer, "/") &&
			!(own && strings.HasPrefix(m.Issuer, issuer+"/")) {
			return nil, fmt.Errorf("its issuer %q does not match", clip(m.Issuer))
		}
		return m, nil
	}
	base := strings.TrimSuffix(issuer, "/") // as of 2025-03-26: the endpoints have fixed names
	return &oauthex.AuthServerMeta{
		Issuer: issuer, AuthorizationEndpoint: base + "/authorize", TokenEndpoint: base + "/token",
		RegistrationEndpoint: base + "/register", CodeChallengeMethodsSupported: []string{"S256"},
	}, nil
}

// places are where an authorization server may keep its metadata.
func places(issuer *url.URL) []string {
	const oauth, openid = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	path := strings.Trim(issuer.EscapedPath(), "/")
	home := (&url.URL{Scheme: issuer.Scheme, Host: issuer.Host}).String()
	if path == "" {
		return []string{home + oauth, home + openid}
	}
	return []string{home + oauth + "/" + path, home + openid + "/" + path, home + "/" + path + openid}
}

// check refuses an authorization server that cannot be used safely.
func (s *scout) check(ctx context.Context, m *oauthex.AuthServerMeta) error {
	if !slices.Contains(m.CodeChallengeMethodsSupported, "S256") {
		return errors.New("it does not offer PKCE with S256")
	}
	for _, e := range []struct{ name, addr string }{
		{"authorization", m.AuthorizationEndpoint}, {"token", m.TokenEndpoint}, {"registration", m.RegistrationEndpoint},
	} {
		if e.addr == "" && e.name == "registration" {
			continue
		}
		if err := s.gate.vetText(ctx, e.addr); err != nil {
			return fmt.Errorf("%s endpoint: %w", e.name, err)
		}
	}
	return nil
}

// get fetches a JSON document once. The status is 0 if there was no response.
func get(ctx context.Context, c *http.Client, place string, doc any) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return 0, errors.New("the address is malformed")
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // without the address, which may hold secrets
		}
		return 0, err
	}
	defer resp.Body.Close()
	form, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return resp.StatusCode, errors.New("it redirects to another origin, or without end")
	case resp.StatusCode != http.StatusOK:
		return resp.StatusCode, fmt.Errorf("it answered with status %d", resp.StatusCode)
	case form != "application/json":
		return resp.StatusCode, errors.New("it is not JSON")
	}
	if json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(doc) != nil {
		return resp.StatusCode, errors.New("it is not the JSON it should be")
	}
	return resp.StatusCode, nil
}

// names are the resource names that a server at u may go by: its own address
// and those above it.
func names(u *url.URL) []string {
	var all []string
	add := func(path string) {
		v := url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}
		if s := v.String(); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	all = append(all, u.String())
	path := strings.TrimSuffix(u.Path, "/")
	add(path)
	add(path + "/")
	add("")
	add("/")
	return all
}

// scopes are the ones to ask for: the config's, else the union of those that
// were granted before and those that are demanded, else those the resource
// names; and the right to renew.
func (h *handler) scopes(p *authServer, d demand, granted []string) []string {
	var want []string
	switch {
	case h.client.Scope != "":
		want = strings.Fields(h.client.Scope)
	case len(d.scopes) > 0:
		want = d.scopes
	default:
		want = p.scopes
	}
	if d.status == http.StatusForbidden && h.client.Scope == "" {
		want = append(slices.Clone(granted), want...)
	}
	if len(d.more) > 0 && h.client.Scope == "" {
		want = append(append(slices.Clone(granted), want...), d.more...)
	}
	if slices.Contains(p.meta.ScopesSupported, offline) {
		want = append(slices.Clone(want), offline)
	}
	return unique(want)
}

// unique drops duplicates and keeps the order.
func unique(all []string) []string {
	seen := make(map[string]bool, len(all))
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool {
		was := seen[s]
		seen[s] = true
		return was
	})
}

// difference returns those of want that are not in have.
func difference(want, have []string) []string {
	seen := make(map[string]bool, len(have))
	for _, s := range have {
		seen[s] = true
	}
	return slices.DeleteFunc(slices.Clone(want), func(s string) bool { return seen[s] })
}
