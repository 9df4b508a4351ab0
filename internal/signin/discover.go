package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

const offline = "offline_access"

// A demand is what a server's no says.
type demand struct {
	more     []string // scopes that it has asked for before
	status   int
	err      string
	scopes   []string
	metadata string
}

// demanded reads the header of a no. A malformed one says nothing.
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

// A plan is what is known about a server's authorization server.
type plan struct {
	meta     *oauthex.AuthServerMeta
	resource string
	scopes   []string // that the resource names
}

// discover finds out who signs people in for a server.
func (h *handler) discover(ctx context.Context, d demand) (*plan, error) {
	if err := safe(h.url); err != nil {
		return nil, err
	}
	c := outward(ctx, h.opts.HTTP, h.url)
	prm, own, err := resource(ctx, c, d.metadata, h.key())
	if err != nil {
		return nil, err
	}
	issuer := rootless(prm.AuthorizationServers[0])
	if err := safe(issuer); err != nil {
		return nil, fmt.Errorf("authorization server: %w", err)
	}
	meta, err := auth.GetAuthServerMetadata(ctx, issuer, c)
	if err != nil && own {
		if older := ownMeta(ctx, c, issuer); older != nil {
			meta, err = older, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("metadata of the authorization server %s: %w", bare(issuer), err)
	}
	if meta == nil { // as of 2025-03-26: the endpoints have fixed names
		base := strings.TrimSuffix(issuer, "/")
		meta = &oauthex.AuthServerMeta{
			Issuer: issuer, AuthorizationEndpoint: base + "/authorize", TokenEndpoint: base + "/token",
			RegistrationEndpoint: base + "/register", CodeChallengeMethodsSupported: []string{"S256"},
		}
	}
	if err := checkMeta(meta); err != nil {
		return nil, fmt.Errorf("metadata of the authorization server %s: %w", bare(issuer), err)
	}
	return &plan{meta: meta, resource: prm.Resource, scopes: prm.ScopesSupported}, nil
}

// checkMeta refuses an authorization server that can not be used safely.
func checkMeta(m *oauthex.AuthServerMeta) error {
	if !slices.Contains(m.CodeChallengeMethodsSupported, "S256") {
		return errors.New("it does not offer PKCE with S256")
	}
	if err := safe(m.AuthorizationEndpoint); err != nil {
		return fmt.Errorf("authorization endpoint: %w", err)
	}
	if err := safe(m.TokenEndpoint); err != nil {
		return fmt.Errorf("token endpoint: %w", err)
	}
	if m.RegistrationEndpoint != "" {
		if err := safe(m.RegistrationEndpoint); err != nil {
			return fmt.Errorf("registration endpoint: %w", err)
		}
	}
	return nil
}

// rootless drops the slash of a URL whose path is only that.
func rootless(raw string) string {
	if u, err := url.Parse(raw); err == nil && u.Path == "/" {
		return strings.TrimSuffix(raw, "/")
	}
	return raw
}

// ownMeta returns the metadata of a server of 2025-03-26 that signs people in
// itself, at its origin, and calls itself by another name of that origin. That
// revision did not tie the two together; an issuer elsewhere is refused.
func ownMeta(ctx context.Context, c *http.Client, origin string) *oauthex.AuthServerMeta {
	place := origin + "/.well-known/oauth-authorization-server"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return nil
	}
	resp, err := still(c).Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	var m struct {
		Issuer string `json:"issuer"`
	}
	if json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&m) != nil || !strings.HasPrefix(m.Issuer, origin+"/") {
		return nil
	}
	meta, err := oauthex.GetAuthServerMeta(ctx, place, m.Issuer, c)
	if err != nil {
		return nil
	}
	return meta
}

// resource returns the metadata of the server at addr. Without any, the server
// is its own authorization server, as of 2025-03-26.
func resource(ctx context.Context, c *http.Client, named, addr string) (prm *oauthex.ProtectedResourceMetadata, own bool, err error) {
	u, err := url.Parse(addr)
	if err != nil {
		return nil, false, errors.New("the address of the server is malformed")
	}
	origin := (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
	const known = "/.well-known/oauth-protected-resource"
	places := []string{origin + known + strings.TrimSuffix(u.EscapedPath(), "/"), origin + known}
	if named != "" {
		if err := safe(named); err != nil {
			return nil, false, fmt.Errorf("metadata of the server: %w", err)
		}
		places = append([]string{named}, places...)
	}
	for _, place := range slices.Compact(places) {
		prm, err := fetch(ctx, c, place, names(u))
		switch {
		case err != nil:
			return nil, false, fmt.Errorf("metadata of the server: %w", err)
		case prm == nil:
			continue
		case len(prm.AuthorizationServers) == 0:
			return nil, false, errors.New("metadata of the server: it names no authorization server")
		}
		return prm, false, nil
	}
	return &oauthex.ProtectedResourceMetadata{Resource: addr, AuthorizationServers: []string{origin}}, true, nil
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

// fetch gets the metadata at one place; nil if there is none. A document that
// speaks for another resource is refused.
func fetch(ctx context.Context, c *http.Client, place string, names []string) (*oauthex.ProtectedResourceMetadata, error) {
	var last error
	for _, name := range names {
		prm, err := oauthex.GetProtectedResourceMetadata(ctx, place, name, c)
		if err == nil {
			return prm, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		last = err
		if !strings.Contains(err.Error(), "got metadata resource") {
			break
		}
	}
	text := last.Error()
	switch {
	case strings.Contains(text, "got metadata resource"):
		return nil, fmt.Errorf("%s speaks for another resource", bare(place))
	case strings.Contains(text, "authorization_servers["):
		return nil, fmt.Errorf("%s names an authorization server at an address that is not allowed", bare(place))
	}
	return nil, nil
}

// scopes are the ones to ask for: the config's, else the union of those that
// were granted before and those that are demanded, else those the resource
// names; and the right to renew.
func (h *handler) scopes(p *plan, d demand, granted []string) []string {
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

// unique drops what is there twice and keeps the order.
func unique(all []string) []string {
	seen := make(map[string]bool, len(all))
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool {
		was := seen[s]
		seen[s] = true
		return was
	})
}

// missing returns those of want that are not in have.
func missing(want, have []string) []string {
	seen := make(map[string]bool, len(have))
	for _, s := range have {
		seen[s] = true
	}
	return slices.DeleteFunc(slices.Clone(want), func(s string) bool { return seen[s] })
}
