package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/auth"
	pages "github.com/helve-dev/helve/internal/console"
	"github.com/helve-dev/helve/internal/mcpserve"
	"github.com/helve-dev/helve/internal/server"
)

// serveAddr is the default address of the server, unless it is in use.
const serveAddr = "127.0.0.1:4096"

// serveFlags are the options of helve serve.
type serveFlags struct {
	addr, tokenFile string
	cert, key       string
	hosts           []string
	beyond          bool
	open, asJSON    bool
	patience        time.Duration
}

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the HTTP API and the web console for this folder",
		Long: `Serve answers HTTP for this folder: calls and prompts, what waits for an answer,
records, undo, jobs and a stream of events (see docs/http.md; /v1/openapi.json
describes all of it), the console, where a person watches and decides, and at
/mcp the tools for agents that speak MCP, which the person can watch too. Agents
have a token of their own, with which they can not answer their own questions.

Every request needs the token, which is in a file that only you can read. The
browser gets it by a link that works once. Other machines can connect only
with --tls-cert and --tls-key, or with --beyond-loopback. What has to be asked
about waits for an answer in the console or over HTTP, for --patience at the
most, and is rejected then.`,
		Example: `  helve serve --open
  helve serve --addr 127.0.0.1:0 --json
  helve serve --addr 0.0.0.0:4096 --tls-cert cert.pem --tls-key key.pem`,
		Args: atMost(0),
		RunE: func(c *cobra.Command, _ []string) error { return a.runServer(c.Context(), &f) },
	}
	fs := c.Flags()
	fs.StringVar(&f.addr, "addr", "", "listen at this `address` (default "+serveAddr+", or a free port where that is taken)")
	fs.StringVar(&f.tokenFile, "token-file", "", "the `file` that holds the token; made if it is not there")
	fs.StringVar(&f.cert, "tls-cert", "", "the `file` of a certificate to serve TLS with")
	fs.StringVar(&f.key, "tls-key", "", "the `file` of its key")
	fs.StringArrayVar(&f.hosts, "host", nil, "a further `name` that this machine is called by; may be repeated")
	fs.BoolVar(&f.beyond, "beyond-loopback", false, "let other machines connect without TLS: the token travels in the clear then")
	fs.DurationVar(&f.patience, "patience", server.DefaultPatience, "how long a question waits for an answer before it is rejected")
	fs.BoolVar(&f.open, "open", false, "open the console in the browser")
	fs.BoolVar(&f.asJSON, "json", false, "print where it serves, with a link, as one line of JSON")
	a.completeFlags(c)
	return c
}

// serving is what helve serve --json prints.
type serving struct {
	URL       string `json:"url"`
	Link      string `json:"link"`    // to the console; works once
	Expires   int64  `json:"expires"` // milliseconds since the epoch
	TokenFile string `json:"tokenFile"`
	MCP       struct {
		URL       string `json:"url"`
		TokenFile string `json:"tokenFile"`
	} `json:"mcp"` // for agents, who have a token of their own
	Directory string `json:"directory"`
	Pid       int    `json:"pid"`
}

// runServer serves until the context ends.
func (a *app) runServer(ctx context.Context, f *serveFlags) error {
	if f.patience <= 0 {
		return usagef("--patience has to be more than 0")
	}
	s, err := a.load()
	if err != nil {
		return err
	}
	a.warn(s.cfg)
	if err := s.checkReady(""); err != nil {
		return err
	}
	bound, pair, err := a.openPort(f, s)
	if err != nil {
		return err
	}
	opt := a.options(s)
	opt.Protected = append(opt.Protected, f.tokenFile)
	opt.Shell.Wall.Hidden = append(opt.Shell.Wall.Hidden, f.tokenFile)
	opt.Client = "web"
	opt.Flags["question"] = true
	models, err := s.models(a)
	if err != nil {
		return errors.Join(err, bound.Close())
	}
	opt.Models = models
	opt.Search.Stateless = s.cfg.Search.Keep != nil && !*s.cfg.Search.Keep // calls follow each other here
	opt.Shell.Ephemeral = false
	opt.Plugins.Watch = watchFiles
	opt.Repair = s.cfg.Repair != nil && *s.cfg.Repair
	rt, err := helve.Open(opt)
	if err != nil {
		return errors.Join(err, bound.Close())
	}
	err = a.serveOn(ctx, f, site{setup: s, rt: rt, bound: bound, pair: pair})
	return errors.Join(err, rt.Close())
}

// openPort opens the port. Where the usual one is taken and no other was asked
// for, any will do.
func (a *app) openPort(f *serveFlags, s *setup) (*auth.Listener, auth.Pair, error) {
	bind := auth.Bind{Addr: f.addr, Beyond: f.beyond, Names: f.hosts, File: filepath.Join(s.data, "serve-token")}
	if f.tokenFile != "" {
		bind.File = a.abs(f.tokenFile)
	}
	var pair auth.Pair
	if f.cert != "" || f.key != "" {
		var err error
		if pair, err = auth.LoadPair(a.absOrNone(f.cert), a.absOrNone(f.key), time.Now()); err != nil {
			return nil, pair, usageError{err}
		}
		if pair.Warning != "" {
			a.printNote(pair.Warning)
		}
		bind.TLS, bind.Names = true, append(bind.Names, pair.Names...)
	}
	f.tokenFile = bind.File
	token, err := auth.Token(bind.File)
	if err != nil {
		return nil, pair, err
	}
	bind.Token = token
	if f.addr == "" {
		bind.Addr = serveAddr
	}
	if _, err := bind.Plan(); err != nil {
		return nil, pair, a.badBind(f, bind, err)
	}
	bound, err := auth.Listen(bind)
	if err != nil && f.addr == "" { // the address is in use; each system has its own error for that
		bind.Addr = "127.0.0.1:0"
		bound, err = auth.Listen(bind)
	}
	if err != nil {
		err = fmt.Errorf("%w: where another program is there, give another --addr, or one with the port 0 for any", err)
	}
	return bound, pair, err
}

// badBind says what to do about an address that cannot be used.
func (a *app) badBind(f *serveFlags, bind auth.Bind, err error) error {
	bind.Beyond = true
	if _, again := bind.Plan(); again == nil {
		return usagef("other machines can reach %s: use 127.0.0.1, or give --tls-cert and --tls-key, or say with --beyond-loopback that they may without TLS", f.addr)
	}
	return usageError{err}
}

func (a *app) absOrNone(path string) string {
	if path == "" {
		return ""
	}
	return a.abs(path)
}

// A site is what is served and where.
type site struct {
	*setup
	rt    *helve.Runtime
	bound *auth.Listener
	pair  auth.Pair
}

// serveOn puts the guard in front of the server and serves until the context ends.
func (a *app) serveOn(ctx context.Context, f *serveFlags, at site) error {
	srv, err := server.New(server.Options{
		Runtime: at.rt, Version: version(), Dir: at.opt.Dir, Worktree: at.opt.Worktree, Patience: f.patience,
		URL: at.bound.URL(), Token: func() string { return at.bound.Token },
		Explain: a.explainOverHTTP(at), Models: a.modelsOverHTTP(at.setup), Config: a.configOverHTTP(at.setup),
		TokenFile: f.tokenFile, Console: pages.Handler(), Logger: a.logger(),
	})
	if err != nil {
		return errors.Join(err, at.bound.Close())
	}
	defer srv.Close()
	// Agents over MCP work in the same runtime, so that the console shows their work, and answers
	// for those that cannot show a request to a person.
	agents := mcpserve.New(mcpserve.Options{Shared: at.rt, Dir: at.opt.Dir, Relay: at.connects(), Version: version(), Logger: a.logger()})
	defer agents.Close()
	g, web, err := a.gates(at, forOwner(srv.Handler()), agents.Handler())
	if err != nil {
		return errors.Join(err, at.bound.Close())
	}
	withdraw, err := announce(at.data, announcement(f, at))
	if err != nil {
		return errors.Join(err, at.bound.Close())
	}
	defer withdraw()
	failed := make(chan error, 1)
	go func() { failed <- g.Serve(web, at.bound) }()
	if err := a.tellServing(f, at, srv.Link()); err != nil {
		return errors.Join(err, web.Close())
	}
	select {
	case err := <-failed:
		return fmt.Errorf("serving HTTP: %w", err)
	case <-ctx.Done():
	}
	withdraw() // first: the port may be anybody's from now on
	err = errors.Join(srv.Close(), agents.Close())
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if late := web.Shutdown(ending); !errors.Is(late, context.DeadlineExceeded) {
		err = errors.Join(err, late)
	}
	_ = web.Close() // whoever has not left by now
	if err != nil {
		return err
	}
	return &silent{exitCanceled}
}

// gates returns one guard for the API and one for MCP. Each has its own token: an agent must not be
// able to answer its own permission requests.
func (a *app) gates(at site, api, agents http.Handler) (*auth.Guard, *http.Server, error) {
	mux := http.NewServeMux()
	for _, pattern := range server.Public() {
		mux.HandleFunc(pattern, http.NotFound)
	}
	opt := auth.GuardOptions{
		Token: at.bound.Token, Hosts: at.bound.Hosts, TLS: at.pair.Config,
		Public: func(r *http.Request) bool {
			_, pattern := mux.Handler(r)
			return pattern != ""
		},
		MaxBody: 16 << 20, MaxStreams: 2048, Logger: a.logger(),
	}
	g, err := auth.NewGuard(opt)
	if err != nil {
		return nil, nil, err
	}
	if opt.Token, err = auth.Token(mcpTokenFile(at.data)); err != nil {
		return nil, nil, err
	}
	opt.Public, opt.MaxBody = nil, 4<<20
	side, err := auth.NewGuard(opt)
	if err != nil {
		return nil, nil, err
	}
	web := g.Server(api)
	front, beside := web.Handler, side.Wrap(agents)
	web.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			beside.ServeHTTP(w, r)
			return
		}
		front.ServeHTTP(w, r)
	})
	return g, web, nil
}

// forOwner lets only the owner exchange a code: the link that a browser is started with is visible
// to all users in the process list.
func forOwner(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/v1/open" && auth.Stranger(r) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintln(w, `{"type":"about:blank","title":"Forbidden","status":403,"code":"other-user","detail":"This link is for another user of this machine."}`)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// mcpTokenFile holds the token of agents that connect over HTTP.
func mcpTokenFile(data string) string { return filepath.Join(data, "mcp-token") }

// tellServing prints where the server is, and how to sign in.
func (a *app) tellServing(f *serveFlags, at site, link server.Link) error {
	if at.bound.Warning != "" {
		a.printNote(at.bound.Warning)
	}
	if f.asJSON {
		told := serving{
			URL: at.bound.URL(), Link: link.URL, Expires: link.Expires, TokenFile: f.tokenFile, Directory: at.opt.Dir, Pid: os.Getpid(),
		}
		told.MCP.URL, told.MCP.TokenFile = at.bound.URL()+"/mcp", mcpTokenFile(at.data)
		if err := json.NewEncoder(a.Stdout).Encode(told); err != nil {
			return err
		}
	} else {
		a.printNote(fmt.Sprintf("serving %s at %s", at.opt.Dir, at.bound.URL()))
		a.printNote(fmt.Sprintf("open the console: %s", link.URL))
		a.printNote("(that link works once, for ten minutes; 'helve open' makes another)")
		a.printNote(fmt.Sprintf("programs send the header 'Authorization: Bearer …' with the token in %s", f.tokenFile))
		a.printNote(fmt.Sprintf("agents connect to %s/mcp, with the token in %s", at.bound.URL(), mcpTokenFile(at.data)))
	}
	if f.open {
		if err := browse(link.URL); err != nil {
			a.printNote(fmt.Sprintf("no browser could be started (%v): open the link yourself", err))
		}
	}
	return nil
}
