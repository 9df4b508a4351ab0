// Package signin signs a person in to remote MCP servers with OAuth 2.1 and
// keeps what they were given.
//
// A [Store] is one file that every process of the person shares. A token is
// renewed before it ends, under a lock, after a look at what another process
// wrote meanwhile, and the answer is on disk before it is used: a server that
// hands out a new refresh token each time and revokes everything when an old
// one comes back never sees an old one. A [Store.Handler] is what the MCP
// transport asks for tokens; only an interactive one ever opens a browser.
//
// What a server names is not simply asked. Every request goes to the server's
// own origin, to the public network by https, or to an address of the kind that
// the server's own has: this machine, a private network, the local link. That
// holds for the text of an address and for what a name resolves to when it is
// dialed (a proxy of the environment resolves for itself). Only for a server on
// this machine may it be http. The metadata that a 401 names has to be at the
// server's origin or public, and a redirect stays in its origin. Without a
// person nothing but well-known paths is asked outside the server's origin,
// only on the public network, and only to read; the one other request is the
// renewal at the token endpoint of a sign-in.
//
// A server is tied to the issuer, and to the origin of the token endpoint, of
// its last sign-in. A person hears of a change before the browser opens, nobody
// else signs in there, and the secret of the config is not sent there before
// the old sign-in is forgotten.
//
// Tokens, client secrets, codes and answers of token endpoints appear in no
// error and no text this package gives.
package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// ErrSignIn says that a person has to sign in first. The error that wraps it
// names the command to run; if a person was there already it is a [*Failure],
// which says why that came to nothing.
var ErrSignIn = errors.New("sign-in needed")

// A Failure is a sign-in that came to nothing although a person was there. Its
// text is for that person. It is an [ErrSignIn] too.
type Failure struct {
	Server string
	Why    error
}

// Error says why, and names no command that the person has just run.
func (f *Failure) Error() string { return fmt.Sprintf("signing in to server %q: %v", f.Server, f.Why) }

// Unwrap gives the reason and ErrSignIn.
func (f *Failure) Unwrap() []error { return []error{f.Why, ErrSignIn} }

// ErrRegistration says that the server knows no way to register a program, so
// that the config has to name one that was registered by hand.
var ErrRegistration = errors.New("Server does not support dynamic client registration. Please provide clientId in config.") //lint:ignore ST1005 the text is part of the contract

// ErrDamaged says that the file could not be understood and was set aside. The
// error that wraps it says where to; the next call starts with an empty file.
var ErrDamaged = errors.New("the sign-in file is damaged")

// Client is what the config says about how to sign in to a server. All of it
// may be empty.
type Client struct {
	ID     string // registered by hand; empty: register on the fly
	Secret string
	Scope  string // wins over what the server asks for
}

// String hides the secret, also from %v and %+v.
func (c Client) String() string {
	secret := ""
	if c.Secret != "" {
		secret = "set"
	}
	return fmt.Sprintf("{ID:%q Secret:%s Scope:%q}", c.ID, secret, c.Scope)
}

// GoString hides the secret from %#v.
func (c Client) GoString() string { return "signin.Client" + c.String() }

// HandlerOptions are the ways in which a handler may reach a person. The zero
// value reaches none: it only uses and renews what is stored.
type HandlerOptions struct {
	// Interactive lets the handler start a sign-in when the server wants one.
	// It then needs at least one of Open, Show and Paste.
	Interactive bool
	// Open opens a browser. If it fails the sign-in goes on when the person
	// has another way to get at the address.
	Open func(url string) error
	// Show shows the address to the person.
	Show func(url string)
	// Tell tells the person, before the browser opens, that the server names
	// another authorization server than at the last sign-in. nil: Show is
	// given that text; without either the sign-in is refused.
	Tell func(text string)
	// Paste asks for the address that the browser ended at, for a browser on
	// another machine. It has to return when ctx ends; its result is then
	// dropped.
	Paste func(ctx context.Context) (string, error)
	// HTTP is used for everything but the browser. nil: a client with
	// timeouts. Its redirects are not followed to other origins. If its
	// transport has a dialer, what that connected to is checked before
	// anything is sent; of one that is no [*http.Transport] only the text of
	// an address can be checked.
	HTTP *http.Client
	// Port of the listener that waits for the browser; 0: any that is free.
	// A client that was registered by hand has to be registered with the
	// address http://127.0.0.1:PORT/callback; one that is registered on the
	// fly gets a path of its own.
	Port int
	// Timeout of a whole sign-in; 0: 5 minutes.
	Timeout time.Duration
}

// Info is what may be told about a stored sign-in.
type Info struct {
	Server  string
	URL     string // without user, query and fragment
	Issuer  string
	Scopes  []string
	Expiry  time.Time // zero: unknown
	Token   bool      // signed in; false: only the registration or the issuer is kept
	Refresh bool      // the token can be renewed without a person
}

// Store keeps sign-ins in one file. It is safe for use by several goroutines
// and, with other Stores on the same path, by several processes.
type Store struct {
	path string
	now  func() time.Time
}

// Open returns the store at path. Nothing is read or made before the first
// need.
func Open(path string) *Store {
	return &Store{path: path, now: time.Now}
}

// Handler returns what the transport of one connection needs: stored tokens,
// renewed in time, and a sign-in when o is interactive. A token belongs to the
// pair of server and URL: with another URL it is not used.
func (s *Store) Handler(server, url string, c Client, o HandlerOptions) auth.OAuthHandler {
	if o.Timeout <= 0 {
		o.Timeout = signInTimeout
	}
	return &handler{
		store: s, server: server, url: url, client: c, opts: o,
		busy: make(chan struct{}, 1), turn: make(chan struct{}, 1),
	}
}

// Forget removes everything that is stored for a server, under any URL. It is
// no error if there is nothing.
func (s *Store) Forget(server string) error {
	if _, err := s.read(); err != nil || !s.exists() {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	return s.update(ctx, func(f *file) { f.drop(func(r *record) bool { return r.Server == server }) })
}

// Known lists what is stored, sorted by server and URL.
func (s *Store) Known() ([]Info, error) {
	f, err := s.read()
	if err != nil {
		return nil, err
	}
	infos := make([]Info, 0, len(f.Servers))
	for _, r := range f.Servers {
		infos = append(infos, Info{
			Server: r.Server, URL: bare(r.URL), Issuer: r.Issuer, Scopes: r.Scopes, Expiry: r.Expiry,
			Token: r.AccessToken != "", Refresh: r.RefreshToken != "",
		})
	}
	return infos, nil
}

// wanted is the error for a server that needs a person. One who is there has
// already run the command.
func (h *handler) wanted(why string) error {
	if h.opts.Interactive {
		return &Failure{Server: h.server, Why: errors.New(why)}
	}
	return fmt.Errorf("%w: %s; run `helve mcp auth %s`", ErrSignIn, why, shown(h.server))
}

// shown is the name of a server for a command line.
func shown(server string) string {
	if strings.ContainsFunc(server, func(r rune) bool { return !plain(r) }) {
		return fmt.Sprintf("%q", server)
	}
	return server
}

func plain(r rune) bool {
	return r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
