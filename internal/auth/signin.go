package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/helve-dev/helve/mcp"
)

// ErrSignIn says that a person must sign in first. The error that wraps it names the command to
// run; if a person was there already it is a [*SignInError], which says why the sign-in failed.
var ErrSignIn = errors.New("sign-in needed")

// A SignInError is a sign-in that failed although a person was there. Its text is for that person.
// It is an [ErrSignIn] too.
type SignInError struct {
	Server string
	Why    error
}

// Error says why, without the command that the person has just run.
func (f *SignInError) Error() string {
	return fmt.Sprintf("signing in to server %q: %v", f.Server, f.Why)
}

// Unwrap gives the reason and ErrSignIn.
func (f *SignInError) Unwrap() []error { return []error{f.Why, ErrSignIn} }

// ErrRegistration says that the server does not support registering a client, so that the config
// must name one that was registered by hand.
var ErrRegistration = errors.New("Server does not support dynamic client registration. Please provide clientId in config.") //nolint:staticcheck // ST1005: the text is part of the contract

// ErrDamagedSignIns says that the file could not be decoded and was set aside. The error that wraps
// it says where; the next call starts with an empty file.
var ErrDamagedSignIns = errors.New("the sign-in file is damaged")

// HandlerOptions say how a handler may reach a person. The zero value reaches none: it only uses
// and renews stored tokens.
type HandlerOptions struct {
	// Interactive lets the handler start a sign-in when the server wants one.
	Interactive bool
	// SignIn reaches the person, who needs at least one of Open, Show and Paste.
	mcp.SignIn
	// HTTP is used for everything but the browser. nil: a client with
	// timeouts. Its redirects are not followed to other origins. If its
	// transport has a dialer, what that connected to is checked before
	// anything is sent; of one that is no [*http.Transport] only the text of
	// an address can be checked.
	HTTP *http.Client
	// Port of the listener that waits for the browser; 0: any free one. A client registered by hand
	// must be registered with the address http://127.0.0.1:PORT/callback; one that is registered
	// dynamically gets its own path.
	Port int
	// Timeout of a whole sign-in; 0: 5 minutes.
	Timeout time.Duration
}

// SignInInfo is the public part of a stored sign-in.
type SignInInfo struct {
	Server  string
	URL     string // without user, query and fragment
	Issuer  string
	Scopes  []string
	Expiry  time.Time // zero: unknown
	Token   bool      // signed in; false: only the registration or the issuer is kept
	Refresh bool      // the token can be renewed without a person
}

// SignIns keeps sign-ins in one file. It is safe for use by several goroutines
// and, with other Stores on the same path, by several processes.
type SignIns struct {
	path string
	now  func() time.Time
}

// OpenSignIns returns the store at path. Nothing is read or made before the first
// need.
func OpenSignIns(path string) *SignIns {
	return &SignIns{path: path, now: time.Now}
}

// Handler returns what the transport of one connection needs: stored tokens,
// renewed in time, and a sign-in when o is interactive. A token belongs to the
// pair of server and URL: with another URL it is not used.
func (s *SignIns) Handler(server, url string, c mcp.OAuth, o HandlerOptions) auth.OAuthHandler {
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
func (s *SignIns) Forget(server string) error {
	if _, err := s.read(); err != nil || !s.exists() {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	return s.update(ctx, func(f *storeFile) { f.removeRecords(func(r *record) bool { return r.Server == server }) })
}

// Known lists the stored sign-ins, sorted by server and URL.
func (s *SignIns) Known() ([]SignInInfo, error) {
	f, err := s.read()
	if err != nil {
		return nil, err
	}
	infos := make([]SignInInfo, 0, len(f.Servers))
	for _, r := range f.Servers {
		infos = append(infos, SignInInfo{
			Server: r.Server, URL: withoutSecrets(r.URL), Issuer: r.Issuer, Scopes: r.Scopes, Expiry: r.Expiry,
			Token: r.AccessToken != "", Refresh: r.RefreshToken != "",
		})
	}
	return infos, nil
}

// signInNeeded is the error for a server that needs a sign-in. It names the command, unless a
// person has just run it.
func (h *handler) signInNeeded(why string) error {
	if h.opts.Interactive {
		return &SignInError{Server: h.server, Why: errors.New(why)}
	}
	return fmt.Errorf("%w: %s; run `helve mcp auth %s`", ErrSignIn, why, shellName(h.server))
}

// shellName is the name of a server for a command line.
func shellName(server string) string {
	if strings.ContainsFunc(server, func(r rune) bool { return !isPlain(r) }) {
		return fmt.Sprintf("%q", server)
	}
	return server
}

func isPlain(r rune) bool {
	return r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
