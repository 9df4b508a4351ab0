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

// Web says how tools reach the network. The zero value reaches public hosts
// directly, and others where a rule names them.
type Web struct {
	// UserAgent is what servers are told; "helve" when empty.
	UserAgent string
	// Proxy is what requests go through: "" for nothing, whatever the
	// environment says; "environment" for what it says; or a URL. What a name
	// leads to is then for the proxy to decide.
	Proxy string
	// Timeout is how long one fetch takes in all that does not say; 30 seconds
	// when 0. MaxTimeout bounds what a call may say; 120 seconds when 0.
	Timeout, MaxTimeout time.Duration
	// Limit is how many bytes of a page are taken, decompressed; 5 MiB when 0.
	Limit int64
	// NoCache fetches a page again that the session fetched minutes ago.
	NoCache bool

	// Search and Code are where tools search the web, and code and its
	// documentation. Code is like Search where it is not given.
	Search, Code Finder

	// ExaKey is the key for Exa, which the flag "exa" switches on where
	// neither is given; it does without one.
	ExaKey string

	// Resolver looks names up; the system's when nil. Dial connects to an
	// address, which has been looked up and checked; as usual when nil. TLS is
	// for connections to https.
	Resolver web.Resolver
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	TLS      *tls.Config
}

// A Finder is a service that searches. Which of the fields it needs depends on
// the provider; none is needed for a finder that is not there.
type Finder struct {
	// Provider is "exa", "searxng", "brave", "tavily" or "command"; "" is none.
	Provider string
	Endpoint string        // where it is; the provider's own when empty
	Key      string        // what it knows us by
	Command  []string      // of the provider "command": reads a query as JSON, prints results
	Timeout  time.Duration // of a search; 25 seconds, 30 for code, when 0
}

// openWeb makes the room for the network. It connects to nothing.
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

// finder makes the engine of a finder; nil where there is none.
func (r *Runtime) finder(client *web.Client, f Finder, section string) web.SearchEngine {
	if f.Provider == "" {
		return nil
	}
	engine, err := web.NewSearchEngine(web.SearchOptions{
		Section: section, Provider: f.Provider, Endpoint: f.Endpoint, Key: f.Key, Command: f.Command, Timeout: f.Timeout,
		Client: client, Run: r.runFinder,
	})
	if err != nil {
		return brokenSearch{err} // the rest works, and who searches is told
	}
	return engine
}

// A brokenSearch engine says what is wrong with its settings.
type brokenSearch struct{ err error }

// Search fails.
func (m brokenSearch) Search(context.Context, web.SearchQuery) (string, error) { return "", m.err }

// Where is nowhere.
func (m brokenSearch) Where() string { return "" }

// maxFound is how much a command that searches may print.
const maxFound = 4 << 20

// runFinder runs a command that searches, with the variables that commands
// get.
func (r *Runtime) runFinder(ctx context.Context, argv []string, stdin []byte) ([]byte, error) {
	found, err := r.shell.Answer(ctx, process.Program{Path: argv[0], Args: argv[1:], Dir: r.dir}, stdin, maxFound)
	if refusal, ok := errors.AsType[*process.ExitError](err); ok {
		refusal.Said = text.VisibleLine(refusal.Said)
	}
	return found, err
}
