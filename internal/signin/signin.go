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
// names the command to run.
var ErrSignIn = errors.New("sign-in needed")

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
	// Paste asks for the address that the browser ended at, for a browser on
	// another machine. It has to return when ctx ends; its result is then
	// dropped.
	Paste func(ctx context.Context) (string, error)
	// HTTP is used for everything but the browser. nil: a client with
	// timeouts. Addresses inside private networks are refused, unless the
	// server itself is in one or the transport has its own dialer.
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
	Token   bool      // signed in; false: only the registration is kept
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

// wanted is the error for a server that needs a person.
func wanted(server, why string) error {
	name := server
	if strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		name = fmt.Sprintf("%q", name)
	}
	return fmt.Errorf("%w: %s; run `helve mcp auth %s`", ErrSignIn, why, name)
}

func plain(r rune) bool {
	return r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
