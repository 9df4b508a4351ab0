package helve

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/internal/web"
)

// Web configures how tools use the network. The zero value connects directly to public hosts, and
// to others only where a rule names them.
type Web struct {
	// UserAgent is sent to servers; "helve" when empty.
	UserAgent string
	// Proxy is the proxy for requests: "" for none, whatever the environment says; "environment"
	// for that of the environment; or a URL. The proxy then decides which address a name resolves
	// to.
	Proxy string
	// Timeout is the default time limit of a fetch; 30 seconds when 0. MaxTimeout is the longest
	// that a call may ask for; 120 seconds when 0.
	Timeout, MaxTimeout time.Duration
	// Limit is the most bytes of a page that are read, after decompression; 5 MiB when 0.
	Limit int64
	// NoCache fetches a page again even if the session fetched it minutes ago.
	NoCache bool

	// Search is the service for web searches, Code the one for code and its documentation. When
	// Code is not set, it is as Search.
	Search, Code Finder

	// ExaKey is the key for Exa, which the flag "exa" enables if neither is set. Exa also works
	// without a key.
	ExaKey string

	// Resolver resolves names; nil for the system's. Dial connects to an address that was resolved
	// and checked; nil for the usual way. TLS configures https connections.
	Resolver web.Resolver
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	TLS      *tls.Config
}

// A Finder configures a search service. Which fields it needs depends on the provider; the zero
// value is no service.
type Finder struct {
	// Provider is "exa", "searxng", "brave", "tavily" or "command"; "" is none.
	Provider string
	Endpoint string        // its URL; the provider's own when empty
	Key      string        // the API key
	Command  []string      // of the provider "command": reads a query as JSON, prints results
	Timeout  time.Duration // of a search; 25 seconds, 30 for code, when 0
}

// openWeb prepares the web client. It connects to nothing.
func (r *Runtime) openWeb() builtin.Web {
	opt := r.opt.Web
	agent := opt.UserAgent
	if agent == "" {
		agent = "helve"
	}
	client := web.New(web.Options{
		UserAgent: agent, Fallback: "helve", Proxy: opt.Proxy, Resolver: opt.Resolver, Dial: opt.Dial, TLS: opt.TLS,
	})
	r.web = client
	room := builtin.Web{Client: client, Timeout: opt.Timeout, MaxTimeout: opt.MaxTimeout, Limit: opt.Limit}
	if !opt.NoCache {
		room.Cache = &web.Cache{Now: r.now}
	}
	code, section := opt.Code, "codesearch"
	if code.Provider == "" {
		code, section = opt.Search, "websearch" // where it is set, and can be mended
	}
	room.Search, room.Code = r.finder(client, opt.Search, "websearch"), r.finder(client, code, section)
	room.Exa = r.finder(client, Finder{Provider: "exa", Key: opt.ExaKey, Timeout: opt.Search.Timeout}, "websearch")
	return room
}

// finder returns the engine for a search service, or nil if there is none.
func (r *Runtime) finder(client *web.Client, f Finder, section string) web.SearchEngine {
	if f.Provider == "" {
		return nil
	}
	engine, err := web.NewSearchEngine(web.SearchOptions{
		Section: section, Provider: f.Provider, Endpoint: f.Endpoint, Key: f.Key, Command: f.Command, Timeout: f.Timeout,
		Client: client, Run: r.runFinder,
	})
	if err != nil {
		return brokenSearch{err} // everything else works, and a search returns the error
	}
	return engine
}

// A brokenSearch engine returns the error in its settings.
type brokenSearch struct{ err error }

// Search always fails.
func (m brokenSearch) Search(context.Context, web.SearchQuery) (string, error) { return "", m.err }

// Where returns "".
func (m brokenSearch) Where() string { return "" }

// maxFound limits how much a search command may print.
const maxFound = 4 << 20

// runFinder runs a search command with the environment of commands.
func (r *Runtime) runFinder(ctx context.Context, argv []string, stdin []byte) ([]byte, error) {
	found, err := r.shell.Answer(ctx, process.Program{Path: argv[0], Args: argv[1:], Dir: r.dir}, stdin, maxFound)
	if refusal, ok := errors.AsType[*process.ExitError](err); ok {
		refusal.Said = text.VisibleLine(refusal.Said)
	}
	return found, err
}
