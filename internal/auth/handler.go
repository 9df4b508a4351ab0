package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/helve-dev/helve/mcp"
)

const (
	early = 60 * time.Second // how long before its end a token is renewed
	pause = 10 * time.Second // after a renewal that failed while the token was still good
)

// A handler keeps one connection supplied with tokens.
type handler struct {
	store  *SignIns
	server string
	url    string
	client mcp.OAuth
	opts   HandlerOptions

	busy   chan struct{} // one renewal at a time, so that only one waits for the file's lock
	turn   chan struct{} // one sign-in at a time
	failed error         // of the sign-in before; whose turn it is may use it

	mu     sync.Mutex
	retry  time.Time // no renewal before
	forced string    // access token that a 401 was answered with
}

// key is the URL that the record is kept under.
func (h *handler) key() string { return canonical(h.url) }

// TokenSource returns a source of the stored token, renewed if it is about to expire. If there is
// no token it returns none, so that the server's own response starts the sign-in.
func (h *handler) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	r, err := h.current(ctx)
	if errors.Is(err, ErrSignIn) && h.opts.Interactive {
		return nil, nil
	}
	if err != nil || r == nil {
		return nil, err
	}
	if h.opts.Interactive && r.lacksScopes() {
		return nil, nil // the person has come to give more
	}
	return &tokenSource{ctx: ctx, h: h, last: r}, nil
}

// A tokenSource supplies the tokens of one connection.
type tokenSource struct {
	ctx  context.Context
	h    *handler
	mu   sync.Mutex
	last *record
}

// Token returns a token that is good for a while.
func (s *tokenSource) Token() (*oauth2.Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.h.due(s.last) {
		r, err := s.h.current(s.ctx)
		if err != nil {
			return nil, err
		}
		if r == nil {
			return nil, s.h.signInNeeded("the sign-in was removed")
		}
		s.last = r
	}
	// The expiry is not passed on: the transport would otherwise apply its own clock and margin.
	return &oauth2.Token{AccessToken: s.last.AccessToken, TokenType: "Bearer"}, nil
}

// margin returns how long before its expiry a token is renewed: a minute, less for a lifetime below
// two.
func margin(r *record) time.Duration {
	if r.Obtained.IsZero() || !r.Obtained.Before(r.Expiry) {
		return early
	}
	return min(early, r.Expiry.Sub(r.Obtained)/2)
}

// due reports whether a token has to be renewed.
func (h *handler) due(r *record) bool {
	return !r.Expiry.IsZero() && !h.store.now().Before(r.Expiry.Add(-margin(r)))
}

// isExpired reports whether a token has ended.
func (h *handler) isExpired(r *record) bool {
	return !r.Expiry.IsZero() && !h.store.now().Before(r.Expiry)
}

// stored returns the record with a token, or nil. One that was made for
// another client than the config now names is not used.
func (h *handler) stored() (*record, error) {
	f, err := h.store.read()
	if err != nil {
		return nil, err
	}
	r := f.find(h.server, h.key())
	if r == nil || r.AccessToken == "" {
		return nil, nil
	}
	if (h.client.ClientID != "" || r.Redirect == "") && r.ClientID != h.client.ClientID {
		return nil, nil
	}
	return r, nil
}

// current returns the record with a valid token, renewing it if needed, or nil if there is no
// sign-in.
func (h *handler) current(ctx context.Context) (*record, error) {
	r, err := h.stored()
	if err != nil || r == nil || !h.due(r) {
		return r, err
	}
	if !h.isExpired(r) && h.paused() {
		return r, nil
	}
	if r.RefreshToken == "" {
		if h.isExpired(r) {
			return nil, h.signInNeeded("the token has ended and can not be renewed")
		}
		return r, nil
	}
	fresh, err := h.renew(ctx, r.AccessToken, false)
	if err != nil && !errors.Is(err, ErrSignIn) && !h.isExpired(r) {
		h.rest()
		return r, nil
	}
	return fresh, err
}

func (h *handler) paused() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.store.now().Before(h.retry)
}

func (h *handler) rest() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.retry = h.store.now().Add(pause)
}

// renew gets a new token under the lock of the record, unless another process has done so since
// used was read. With force it does so even if the token has not expired.
func (h *handler) renew(ctx context.Context, used string, force bool) (*record, error) {
	leave, err := acquireSlot(ctx, h.busy)
	if err != nil {
		return nil, err
	}
	defer leave()
	if r, err := h.stored(); err == nil && r != nil && r.AccessToken != used && !h.due(r) {
		return r, nil // another user of this handler was faster
	}
	unlock, err := h.store.lockRecord(ctx, h.server, h.key())
	if err != nil {
		return nil, err
	}
	defer unlock()
	for tries := 1; ; tries++ {
		r, err := h.stored()
		if err != nil {
			return nil, err
		}
		if done, err := h.isCurrent(r, used, force); done || err != nil {
			return r, err
		}
		fresh, err := h.exchange(ctx, r)
		var no *signinRefusal
		if !errors.As(err, &no) {
			return fresh, err
		}
		if tries > 1 || !h.succeeded(r) {
			return nil, h.renewalError(ctx, r, no)
		}
	}
}

// succeeded reads the file once more: where locks do not work, another process may have used the
// token of r and stored its successor.
func (h *handler) succeeded(r *record) bool {
	again, err := h.stored()
	return err == nil && again != nil && again.RefreshToken != r.RefreshToken
}

// acquireSlot takes the one place there is.
func acquireSlot(ctx context.Context, place chan struct{}) (leave func(), err error) {
	select {
	case place <- struct{}{}:
		return func() { <-place }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// isCurrent reports whether the stored token needs no renewal, or cannot be renewed.
func (h *handler) isCurrent(r *record, used string, force bool) (bool, error) {
	switch {
	case r == nil:
		return false, h.signInNeeded("the sign-in was removed")
	case !h.due(r) && (!force || r.AccessToken != used):
		return true, nil // another process was faster
	case r.RefreshToken == "":
		return false, h.signInNeeded("the token has ended and can not be renewed")
	}
	return false, nil
}

// renewalError returns the error of a refused renewal, and deletes a token that is of no more use.
func (h *handler) renewalError(ctx context.Context, r *record, no *signinRefusal) error {
	if no.final() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockWait)
		defer cancel()
		err := h.store.update(ctx, func(f *storeFile) {
			now := f.find(r.Server, r.URL)
			switch {
			case now == nil || now.RefreshToken != r.RefreshToken:
			case no.code == "invalid_grant":
				f.put(now.signedOut()) // the client is still good
			default:
				f.put(now.bound())
			}
		})
		if err != nil {
			return err
		}
	}
	if no.lasting() {
		return h.signInNeeded("the token could not be renewed, " + no.Error())
	}
	return fmt.Errorf("renewing the token of server %q: %w", h.server, no)
}

// exchange exchanges a refresh token and writes the response to disk before it returns it. It
// continues if the caller gives up: a server that has issued a new token no longer accepts the old
// one.
func (h *handler) exchange(ctx context.Context, r *record) (*record, error) {
	if err := h.store.writable(); err != nil {
		return nil, err
	}
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), tokenTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(tokenGrace):
			cancel()
		case <-detached.Done():
		}
	})
	defer stop()
	g, err := h.obtain(detached, r, url.Values{
		"grant_type":    {"refresh_token"},
		"refresh_token": {r.RefreshToken},
	})
	if errors.Is(err, errBarred) || errors.Is(err, errScheme) {
		return nil, h.signInNeeded("the token could not be renewed, " + err.Error())
	}
	if err != nil {
		return nil, err
	}
	fresh := r.granted(g, h.store.now())
	if fresh.RefreshToken == "" {
		fresh.RefreshToken = r.RefreshToken
	}
	if fresh.Scopes == nil {
		fresh.Scopes = r.Scopes
	}
	fresh.Wanted = r.Wanted
	return fresh, h.saveRecord(ctx, fresh)
}

// granted is the record with a new token.
func (r *record) granted(g *grant, now time.Time) *record {
	fresh := r.signedOut()
	fresh.AccessToken, fresh.RefreshToken, fresh.Scopes = g.access, g.refresh, g.scopes
	fresh.Obtained, fresh.Expiry = now.UTC().Round(0), g.expiry.UTC().Round(0)
	return fresh
}

// saveRecord writes a record, whether the caller is still there or not.
func (h *handler) saveRecord(ctx context.Context, r *record) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockWait)
	defer cancel()
	return h.store.update(ctx, func(f *storeFile) { f.put(r) })
}

// http is the client for what the metadata of the authorization server names.
func (h *handler) http() *http.Client { return still(h.through(h.newGuard(false))) }

// dress is the record with the secret of the config, if its client is the
// config's: that secret is not kept in a second place.
func (h *handler) dress(r *record) *record {
	if r.Redirect != "" {
		return r
	}
	c := *r
	c.ClientSecret = h.client.ClientSecret
	if c.ClientSecret == "" || c.AuthStyle == styleNone {
		c.AuthStyle = choose(c.ClientSecret, nil)
	}
	return &c
}
