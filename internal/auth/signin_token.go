package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A style is how a client shows who it is at the token endpoint.
type style string

const (
	styleNone  style = "none"
	stylePost  style = "client_secret_post"
	styleBasic style = "client_secret_basic"
)

const (
	tokenTimeout = 30 * time.Second
	tokenGrace   = 5 * time.Second // after the caller has gone
	maxAnswer    = 1 << 20
	maxLifetime  = 10 * 365 * 24 * time.Hour
	maxToken     = 64 << 10
)

// choose picks a style for a client from what the metadata offers. Without
// metadata the basic one is the rule.
func choose(secret string, offered []string) style {
	switch {
	case secret == "":
		return styleNone
	case len(offered) == 0, slices.Contains(offered, string(styleBasic)):
		return styleBasic
	default:
		return stylePost
	}
}

// A grant is a successful response of a token endpoint.
type grant struct {
	access, refresh string
	scopes          []string
	expiry          time.Time
}

// A signinRefusal is a refusal of the token endpoint. It leaves out the description, which is the
// server's text and could repeat what it was sent.
type signinRefusal struct {
	status int
	code   string
}

func (r *signinRefusal) Error() string {
	if r.code != "" {
		return fmt.Sprintf("the authorization server refused: %s", r.code)
	}
	return fmt.Sprintf("the authorization server refused with status %d", r.status)
}

// final reports whether the refusal is about the token or the client, so that a retry with the same
// cannot help.
func (r *signinRefusal) final() bool {
	switch r.code {
	case "invalid_grant", "invalid_client", "unauthorized_client":
		return true
	}
	return false
}

// lasting reports whether only a person can help: the server refused, rather than being busy or
// broken.
func (r *signinRefusal) lasting() bool {
	switch r.code {
	case "temporarily_unavailable", "server_error", "slow_down":
		return false
	}
	return r.status >= 200 && r.status < 500 && r.status != http.StatusTooManyRequests && r.status != http.StatusRequestTimeout
}

// requestToken sends a form to the token endpoint of r as its client.
func requestToken(ctx context.Context, c *http.Client, r *record, form url.Values) (*http.Response, error) {
	if r.AuthStyle != styleBasic {
		form.Set("client_id", r.ClientID)
		if r.AuthStyle == stylePost {
			form.Set("client_secret", r.ClientSecret)
		}
	}
	if r.Resource != "" {
		form.Set("resource", r.Resource)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, errors.New("token endpoint: the address is malformed")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if r.AuthStyle == styleBasic {
		req.SetBasicAuth(url.QueryEscape(r.ClientID), url.QueryEscape(r.ClientSecret))
	}
	return c.Do(req)
}

// still is the client without redirects: a token is never sent on to where one
// points.
func still(c *http.Client) *http.Client {
	own := *c
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// obtain gets a token from the token endpoint of r. It counts from before it
// was asked for.
func (h *handler) obtain(ctx context.Context, r *record, form url.Values) (*grant, error) {
	started := h.store.now()
	resp, err := requestToken(ctx, h.http(), h.dress(r), form)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err
		}
		return nil, fmt.Errorf("asking the token endpoint: %w", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("reading the answer of the token endpoint: %w", err)
	}
	if len(data) > maxAnswer {
		return nil, errors.New("the answer of the token endpoint is too long")
	}
	return parseGrant(resp.StatusCode, data, started)
}

// parseGrant parses a response of a token endpoint. Errors contain nothing of it but an error code
// in the usual form.
func parseGrant(status int, data []byte, started time.Time) (*grant, error) {
	var a struct {
		Access  string          `json:"access_token"`
		Refresh string          `json:"refresh_token"`
		Type    string          `json:"token_type"`
		Expires json.RawMessage `json:"expires_in"`
		Scope   string          `json:"scope"`
		Error   string          `json:"error"`
	}
	bad := json.Unmarshal(data, &a) != nil
	if status < 200 || status > 299 || !bad && a.Error != "" {
		return nil, &signinRefusal{status: status, code: errorCode(a.Error)}
	}
	switch {
	case bad:
		return nil, errors.New("the answer of the token endpoint is not the JSON it should be")
	case !tokenText(a.Access):
		return nil, errors.New("the answer of the token endpoint has no usable access token")
	case a.Refresh != "" && !tokenText(a.Refresh):
		return nil, errors.New("the answer of the token endpoint has no usable refresh token")
	case a.Type != "" && !strings.EqualFold(a.Type, "bearer"):
		return nil, errors.New("the authorization server gives tokens of another type than Bearer")
	}
	g := &grant{access: a.Access, refresh: a.Refresh, scopes: strings.Fields(a.Scope)}
	if life := lifetime(a.Expires); life > 0 {
		g.expiry = started.Add(life)
	}
	return g, nil
}

// lifetime reads expires_in, which some servers send as text. A value that is unreadable or not
// positive counts as missing.
func lifetime(raw json.RawMessage) time.Duration {
	n, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || !(n > 0) {
		return 0
	}
	return time.Duration(min(n, maxLifetime.Seconds()) * float64(time.Second))
}

// tokenText reports whether s can be a token: visible ASCII, as headers and
// forms carry it.
func tokenText(s string) bool {
	return s != "" && len(s) <= maxToken && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// errorCode returns s if it looks like an OAuth error code, else nothing: a server's text is not
// passed on.
func errorCode(s string) string {
	if len(s) > 64 || strings.ContainsFunc(s, func(r rune) bool { return !isPlain(r) }) {
		return ""
	}
	return s
}
