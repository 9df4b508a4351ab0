package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

const (
	signInTimeout = 5 * time.Minute
	lookTimeout   = 10 * time.Second
	clientName    = "helve"
)

// Authorize handles a server's 401 or 403: with a token that another process has got meanwhile,
// with a renewed token, or with a sign-in. It returns nil if the request should be retried.
func (h *handler) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	defer resp.Body.Close()
	defer io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
	d := demanded(resp)
	if d.status == http.StatusForbidden && d.err != "insufficient_scope" {
		return nil // a sign-in would not change it; the server's own words are passed on
	}
	leave, err := acquireSlot(ctx, h.turn)
	if err != nil {
		return err
	}
	defer leave()
	r, err := h.stored()
	if err != nil {
		return err
	}
	used, _ := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	if r != nil && r.AccessToken != used && !h.isExpired(r) && !(h.opts.Interactive && r.lacksScopes()) {
		return nil
	}
	if h.opts.Interactive {
		return h.once(ctx, d, r)
	}
	if r != nil && d.status == http.StatusUnauthorized {
		if done, err := h.revive(ctx, r); done || err != nil {
			return err
		}
	}
	return h.needed(ctx, d)
}

// revive renews a token that a server rejects although it has not expired. A token that was just
// renewed and is rejected too is deleted.
func (h *handler) revive(ctx context.Context, r *record) (bool, error) {
	h.mu.Lock()
	again := h.forced == r.AccessToken
	h.mu.Unlock()
	if again || r.RefreshToken == "" {
		return false, nil
	}
	fresh, err := h.renew(ctx, r.AccessToken, true)
	if errors.Is(err, ErrSignIn) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	h.mu.Lock()
	h.forced = fresh.AccessToken
	h.mu.Unlock()
	return true, nil
}

// needed is the error for a sign-in that this handler may not start.
func (h *handler) needed(ctx context.Context, d demand) error {
	old, err := h.last()
	if err != nil {
		return err
	}
	more := ""
	if h.client.ClientID == "" || old != nil {
		looking, cancel := context.WithTimeout(ctx, lookTimeout)
		defer cancel()
		p, err := h.discover(looking, d)
		switch {
		case errors.Is(err, errBarred): // nothing named this address
		case err != nil:
			more = " (" + err.Error() + ")"
		case h.client.ClientID == "" && p.meta.RegistrationEndpoint == "":
			return ErrRegistration
		case moved(old, p):
			return fmt.Errorf("%w: %s%s", ErrSignIn, h.logMove(old, p), h.accept())
		}
	}
	if d.status == http.StatusForbidden {
		if err := h.remember(ctx, d.scopes); err != nil {
			return err
		}
		return h.signInNeeded(fmt.Sprintf("server %q asks for more rights than it was given%s", h.server, more))
	}
	return h.signInNeeded(fmt.Sprintf("server %q knows nobody%s", h.server, more))
}

// last returns the record of the server's last sign-in, if any.
func (h *handler) last() (*record, error) {
	f, err := h.store.read()
	if err != nil {
		return nil, err
	}
	return f.find(h.server, h.key()), nil
}

// moved reports whether another authorization server is named than the one of
// the last sign-in, or the same with a token endpoint elsewhere.
func moved(old *record, p *authServer) bool {
	return old != nil && old.Issuer != "" &&
		(rootless(old.Issuer) != rootless(p.meta.Issuer) || originOf(old.TokenURL) != originOf(p.meta.TokenEndpoint))
}

// logMove logs a change of the authorization server.
func (h *handler) logMove(old *record, p *authServer) string {
	return fmt.Sprintf("server %q used to sign people in at %s and now names %s", h.server,
		where(old.Issuer, old.TokenURL), where(p.meta.Issuer, p.meta.TokenEndpoint))
}

// accept says how to accept a change of the authorization server. If a notice is not enough, the
// old sign-in must be deleted.
func (h *handler) accept() string {
	name := shellName(h.server)
	text := "; if you know that it has moved, run "
	if h.client.ClientSecret != "" || h.opts.Interactive {
		text += fmt.Sprintf("`helve mcp auth %s --forget` and then ", name)
	}
	return text + fmt.Sprintf("`helve mcp auth %s`", name)
}

// where names an authorization server for a person.
func where(issuer, token string) string {
	if originOf(issuer) == originOf(token) {
		return withoutSecrets(issuer)
	}
	return fmt.Sprintf("%s (tokens from %s)", withoutSecrets(issuer), originOf(token))
}

// recognize checks that the authorization server is the one of the last sign-in, or tells the
// person that it is not before a browser opens. The client secret of the config belongs to the old
// one and needs more than a notice.
func (h *handler) recognize(old *record, p *authServer) error {
	if !moved(old, p) {
		return nil
	}
	tell := h.opts.Tell
	if tell == nil {
		tell = h.opts.Show
	}
	if tell == nil || h.client.ClientSecret != "" {
		return errors.New(h.logMove(old, p) + h.accept())
	}
	tell(h.logMove(old, p) + "; go on only if you expected that")
	return nil
}

// remember stores the scopes that the server asks for, so that the next sign-in requests them too:
// they are named in a call, and the person who signs in makes no call.
func (h *handler) remember(ctx context.Context, scopes []string) error {
	if r, err := h.stored(); err != nil || r == nil || len(difference(scopes, append(slices.Clone(r.Scopes), r.Wanted...))) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockWait)
	defer cancel()
	return h.store.update(ctx, func(f *storeFile) {
		if r := f.find(h.server, h.key()); r != nil && r.AccessToken != "" {
			c := *r
			c.Wanted = unique(append(slices.Clone(r.Wanted), scopes...))
			f.put(&c)
		}
	})
}

// once signs in, unless that has failed before: a transport makes several requests, and a person
// who has said no must not be asked again.
func (h *handler) once(ctx context.Context, d demand, old *record) error {
	if h.failed != nil {
		return h.failed
	}
	err := h.signIn(ctx, d, old)
	if ctx.Err() == nil {
		h.failed = err
	}
	return err
}

// signIn takes a person through a sign-in. old is what is stored, if anything.
func (h *handler) signIn(ctx context.Context, d demand, old *record) error {
	if h.opts.Open == nil && h.opts.Show == nil && h.opts.Paste == nil {
		return &SignInError{Server: h.server, Why: errors.New("there is no way to show the sign-in page")}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, h.opts.Timeout, fmt.Errorf("nobody signed in within %s: %w", h.opts.Timeout, context.DeadlineExceeded))
	defer cancel()
	err := h.walk(ctx, d, old)
	switch cause := context.Cause(ctx); {
	case err == nil || cause == nil:
	case errors.Is(err, errState):
		err = fmt.Errorf("%w: %w", cause, err)
	default: // what went wrong is that it ended
		err = cause
	}
	if err != nil && !errors.Is(err, ErrRegistration) {
		return &SignInError{Server: h.server, Why: err}
	}
	return err
}

// A signinVisit is one sign-in in progress.
type signinVisit struct {
	*authServer
	scopes []string // to ask for
	client *record  // the client to sign in as; becomes the stored record
	ear    *callbackListener
}

func (h *handler) walk(ctx context.Context, d demand, old *record) error {
	p, err := h.discover(ctx, d)
	if err != nil {
		return err
	}
	last, err := h.last()
	if err != nil {
		return err
	}
	if err := h.recognize(last, p); err != nil {
		return err
	}
	var granted []string
	if old != nil {
		granted, d.more = old.Scopes, old.Wanted
	}
	if err := h.allowed(p, d, granted); err != nil {
		return err
	}
	v := &signinVisit{authServer: p, scopes: h.scopes(p, d, granted)}
	if err := h.enroll(ctx, v); err != nil {
		return err
	}
	defer v.ear.close()
	g, err := h.consent(ctx, v)
	if err != nil {
		h.doubt(ctx, v.client)
		return err
	}
	if g.scopes == nil {
		g.scopes = v.scopes
	}
	unlock, err := h.store.lockRecord(ctx, h.server, h.key())
	if err != nil {
		return err
	}
	defer unlock()
	return h.saveRecord(ctx, v.client.granted(g, h.store.now()))
}

// allowed refuses a sign-in for more rights that would change nothing.
func (h *handler) allowed(p *authServer, d demand, granted []string) error {
	if d.status != http.StatusForbidden {
		return nil
	}
	asked := d.scopes
	if len(asked) == 0 {
		asked = p.scopes
	}
	if h.client.Scope != "" {
		if more := difference(asked, strings.Fields(h.client.Scope)); len(more) > 0 {
			return fmt.Errorf("the server asks for %q, which the scope of the config leaves out", clip(strings.Join(more, " ")))
		}
	}
	if len(difference(asked, granted)) == 0 {
		return fmt.Errorf("the server asks for %q, which it was already given", clip(strings.Join(asked, " ")))
	}
	return nil
}

// enroll determines the client to sign in as and listens for the browser: the config's client, the
// one that was registered before if its port is free again, or a new one.
func (h *handler) enroll(ctx context.Context, v *signinVisit) (err error) {
	v.client = &record{
		Server: h.server, URL: h.key(), Issuer: v.meta.Issuer,
		TokenURL: v.meta.TokenEndpoint, Resource: v.resource,
	}
	if h.client.ClientID != "" {
		v.client.ClientID = h.client.ClientID
		v.client.AuthStyle = choose(h.client.ClientSecret, v.meta.TokenEndpointAuthMethodsSupported)
		v.ear, err = newListener(ctx, h.opts.Port, fixedPath)
		return err
	}
	if v.meta.RegistrationEndpoint == "" {
		return ErrRegistration
	}
	old, err := h.last()
	if err != nil {
		return err
	}
	if old != nil && h.usable(old) && !moved(old, v.authServer) {
		if v.ear, err = relisten(ctx, old.Redirect, h.opts.Port); err == nil {
			v.client.adopt(old)
			return nil
		}
	}
	if v.ear, err = newListener(ctx, h.opts.Port, randomPath()); err != nil {
		return err
	}
	if err := h.register(ctx, v); err != nil {
		v.ear.close()
		return err
	}
	return nil
}

// adopt takes over the registration of old.
func (r *record) adopt(old *record) {
	r.ClientID, r.ClientSecret, r.ClientExpires = old.ClientID, old.ClientSecret, old.ClientExpires
	r.AuthStyle, r.Redirect = old.AuthStyle, old.Redirect
}

// usable reports whether a stored registration may serve for a new sign-in.
func (h *handler) usable(r *record) bool {
	return r.Redirect != "" && !r.Stale && r.ClientID != "" &&
		(r.ClientExpires.IsZero() || h.store.now().Add(h.opts.Timeout).Before(r.ClientExpires))
}

// register registers us as a client at the authorization server.
func (h *handler) register(ctx context.Context, v *signinVisit) error {
	offered := v.meta.TokenEndpointAuthMethodsSupported
	var method style // unsaid: the server's rule
	switch {
	case slices.Contains(offered, string(styleNone)):
		method = styleNone
	case slices.Contains(offered, string(styleBasic)):
		method = styleBasic
	case slices.Contains(offered, string(stylePost)):
		method = stylePost
	}
	resp, err := oauthex.RegisterClient(ctx, v.meta.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
		ClientName:              clientName,
		RedirectURIs:            []string{v.ear.redirect},
		GrantTypes:              []string{"authorization_code", "refresh_token"},
		ResponseTypes:           []string{"code"},
		TokenEndpointAuthMethod: string(method),
		Scope:                   strings.Join(v.scopes, " "),
		ApplicationType:         "native",
	}, h.http())
	if err != nil {
		// The error may contain the whole response, with a secret in it.
		var no *oauthex.ClientRegistrationError
		if errors.As(err, &no) && errorCode(no.ErrorCode) != "" {
			return fmt.Errorf("registering with the authorization server: it refused: %s", no.ErrorCode)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if u, ok := errors.AsType[*url.Error](err); ok { // there was no answer
			return fmt.Errorf("registering with the authorization server: %w", u.Err)
		}
		return errors.New("registering with the authorization server failed; a clientId in the config makes it unnecessary")
	}
	r := v.client
	r.ClientID, r.ClientSecret, r.ClientExpires = resp.ClientID, resp.ClientSecret, resp.ClientSecretExpiresAt
	r.Redirect = v.ear.redirect
	switch got := style(resp.TokenEndpointAuthMethod); {
	case resp.ClientSecret == "":
		r.AuthStyle = styleNone
	case got == styleNone || got == styleBasic || got == stylePost:
		r.AuthStyle = got
	default:
		r.AuthStyle = choose(resp.ClientSecret, offered)
	}
	return nil
}

// consent sends the person to the authorization server and exchanges the code that comes back.
func (h *handler) consent(ctx context.Context, v *signinVisit) (*grant, error) {
	verifier := oauth2.GenerateVerifier()
	cfg := &oauth2.Config{
		ClientID: v.client.ClientID, RedirectURL: v.ear.redirect, Scopes: v.scopes,
		Endpoint: oauth2.Endpoint{AuthURL: v.meta.AuthorizationEndpoint},
	}
	opts := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("resource", v.resource)}
	if slices.Contains(v.scopes, offline) {
		opts = append(opts, oauth2.SetAuthURLParam("prompt", "consent")) // OpenID Connect gives no refresh token without
	}
	a, err := h.waitResponse(ctx, v.ear, cfg.AuthCodeURL(v.ear.state, opts...))
	if err != nil {
		return nil, err
	}
	if a.iss != v.meta.Issuer && (a.iss != "" || v.meta.AuthorizationResponseIssParameterSupported) {
		return nil, errors.New("the answer comes from another authorization server than the one that was asked")
	}
	g, err := h.obtain(ctx, v.client, url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {a.code},
		"redirect_uri":  {v.ear.redirect},
		"code_verifier": {verifier},
	})
	if err != nil {
		return nil, fmt.Errorf("trading the code for a token: %w", err)
	}
	return g, nil
}

// doubt marks a registration that did not lead to a sign-in, so that the next one makes a new one:
// a server that has forgotten a client tells only the browser.
func (h *handler) doubt(ctx context.Context, r *record) {
	if r.Redirect == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockWait)
	defer cancel()
	f, err := h.store.read()
	if err != nil || f.find(r.Server, r.URL) == nil {
		return
	}
	_ = h.store.update(ctx, func(f *storeFile) { // at worst the next sign-in fails too
		if old := f.find(r.Server, r.URL); old != nil && old.ClientID == r.ClientID {
			old.Stale = true
		}
	})
}
