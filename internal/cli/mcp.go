package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"helve"
	"helve/internal/gate"
	"helve/internal/mcpserve"
	"helve/permission"
)

// mcpFlags are the options of helve mcp.
type mcpFlags struct {
	agent, model, provider string
	roots                  []string
	compact, structured    bool
	http, tokenFile        string
	beyond                 bool
}

func (a *app) mcpCommand() *cobra.Command {
	var f mcpFlags
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools to any agent over MCP, and look after MCP servers",
		Long: `Mcp serves the tools of this folder to an agent that speaks the Model Context
Protocol, on standard input and output, or over HTTP with --http. Agents start
it by themselves: 'helve mcp install CLIENT' tells one of them how.

What the agent calls is held against the same rules as everything else. Where
the agent can put a question to its person, permission is asked for there;
otherwise a call that would have to be asked about fails, and names the rule
that would allow it. The folders that the agent works in, if it tells them, are
the folders that the tools work in.

The tools of the MCP servers in the config are served too, under the same
rules. With --compact they are not listed: the agent finds them by tool_search
and calls them by tool_call.`,
		Example: `  helve mcp install claude-code --dry-run
  helve mcp
  helve mcp --http 127.0.0.1:0 --compact
  helve mcp add docs -- npx -y some-server`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q for \"helve mcp\"", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return a.serveMCP(c.Context(), &f) },
	}
	fs := c.Flags()
	fs.StringVar(&f.agent, "agent", "", "the rules of this agent hold")
	fs.StringVar(&f.model, "model", "", "the tools that this model is shown")
	fs.StringVar(&f.provider, "provider", "", "whose model it is")
	fs.StringArrayVar(&f.roots, "root", nil, "let the agent name only this `folder`, or ones in it, to work in; may be repeated")
	fs.BoolVar(&f.compact, "compact", false, "do not list the tools of other MCP servers: offer to search them")
	fs.BoolVar(&f.structured, "structured", false, "also give searches as data; some agents then leave the text out")
	fs.StringVar(&f.http, "http", "", "serve over HTTP at this `address`, such as 127.0.0.1:0")
	fs.StringVar(&f.tokenFile, "token-file", "", "the `file` that holds the token for HTTP; made if it is not there")
	fs.BoolVar(&f.beyond, "beyond-loopback", false, "let other machines connect: the token travels in the clear then, unless something in front encrypts it")
	a.completeFlags(c)
	c.AddCommand(
		a.mcpInstallCommand(), a.mcpListCommand(), a.mcpAddCommand(), a.mcpRemoveCommand(),
		a.mcpAuthCommand(), a.mcpLogsCommand(), a.mcpInspectCommand(),
	)
	return c
}

// serveMCP serves until the input or the context ends.
func (a *app) serveMCP(ctx context.Context, f *mcpFlags) error {
	s, err := a.load()
	if err != nil {
		return err
	}
	a.warn(s.cfg)
	if err := s.ready(f.agent); err != nil {
		return err
	}
	roots := make([]string, len(f.roots))
	for i, root := range f.roots {
		roots[i] = a.abs(root)
	}
	if len(roots) == 0 && f.http != "" {
		roots = []string{s.opt.Dir} // who connects is not known: what it names may only be less
	}
	server := mcpserve.New(mcpserve.Options{
		Open: func(_ context.Context, w mcpserve.Workspace) (*helve.Runtime, error) { return a.openWorkspace(f, w) },
		Dir:  s.opt.Dir, Roots: roots, Agent: f.agent, Model: f.model, Provider: f.provider,
		Compact: f.compact, Structured: f.structured, Version: version(), Logger: a.logger(),
	})
	defer server.Close()
	if f.http != "" {
		return a.serveMCPOverHTTP(ctx, f, server)
	}
	// An agent that goes away shows as an error of the write, and does not end
	// the process before the calls are.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	err = server.ServeStdio(ctx, a.Stdin, a.Stdout)
	if ctx.Err() != nil {
		return &silent{exitCanceled}
	}
	return err
}

// openWorkspace makes the runtime for the folders that a client works in, with
// the config that holds there.
func (a *app) openWorkspace(f *mcpFlags, w mcpserve.Workspace) (*helve.Runtime, error) {
	there := *a
	there.dirFlag = w.Dir
	s, err := there.load()
	if err != nil {
		return nil, err
	}
	there.warn(s.cfg)
	if err := s.ready(f.agent); err != nil {
		return nil, err
	}
	opt := there.options(s)
	opt.Client, opt.Model, opt.Provider = "mcp", f.model, f.provider
	opt.Unattended = !w.Attended
	opt.Flags["question"] = w.Attended
	opt.Flags["compact"] = f.compact
	opt.Search.Stateless = s.cfg.Search.Keep != nil && !*s.cfg.Search.Keep // calls follow each other here
	opt.Shell.Ephemeral = false
	opt.Repair = s.cfg.Repair != nil && *s.cfg.Repair
	if self, err := a.program(); err == nil {
		opt.MCP.Servers = notItself(opt.MCP.Servers, self)
	}
	also(opt.Agents, w.Also)
	return helve.New(opt)
}

// also lets agents reach the further folders that a client works in, where no
// rule denies that.
func also(agents []helve.Agent, dirs []string) {
	for _, dir := range dirs {
		pattern := filepath.Join(dir, "*")
		for i := range agents {
			p := &agents[i].Policy
			if p.Decide("external_directory", pattern).Action == permission.Ask {
				p.Rules = append(slices.Clip(p.Rules), permission.Rule{
					Permission: "external_directory", Pattern: pattern, Action: permission.Allow,
					From: permission.Source{File: "the folders of the MCP client"},
				})
			}
		}
	}
}

// serveMCPOverHTTP serves until the context ends.
func (a *app) serveMCPOverHTTP(ctx context.Context, f *mcpFlags, server *mcpserve.Server) error {
	bind := gate.Bind{Addr: f.http, Beyond: f.beyond}
	if f.tokenFile == "" {
		data, err := a.dataDir()
		if err != nil {
			return err
		}
		bind.File = filepath.Join(data, "mcp-token")
	} else {
		bind.File = a.abs(f.tokenFile)
		token, err := gate.Token(bind.File)
		if err != nil {
			return err
		}
		bind.Token = token // the person has named it
	}
	bound, err := gate.Listen(bind)
	if err != nil {
		return err
	}
	if bound.Warning != "" {
		a.note(bound.Warning)
	}
	g, err := gate.New(gate.Options{Token: bound.Token, Hosts: bound.Hosts, MaxBody: 4 << 20, Logger: a.logger()})
	if err != nil {
		return errors.Join(err, bound.Close())
	}
	web := g.Server(server.Handler())
	a.note(fmt.Sprintf("serving MCP at %s/mcp", bound.URL()))
	a.note(fmt.Sprintf("send the header 'Authorization: Bearer …' with the token in %s", bind.File))
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(bound) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving HTTP: %w", err)
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := errors.Join(server.Close(), web.Shutdown(ending)); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	web.Close()
	return &silent{exitCanceled}
}

// words joins names for a sentence.
func words(names []string) string { return strings.Join(names, ", ") }
