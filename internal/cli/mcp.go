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

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/auth"
	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/mcpserve"
	"github.com/helve-dev/helve/mcp"
)

// mcpFlags are the options of helve mcp.
type mcpFlags struct {
	agent, model, provider string
	roots                  []string
	compact, structured    bool
	http, tokenFile        string
	hosts                  []string
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
	fs.BoolVar(&f.structured, "structured", false, "also give searches as data; an agent may then leave the text out")
	fs.StringVar(&f.http, "http", "", "serve over HTTP at this `address`, such as 127.0.0.1:0")
	fs.StringVar(&f.tokenFile, "token-file", "", "the `file` that holds the token for HTTP; made if it is not there")
	fs.StringArrayVar(&f.hosts, "host", nil, "a further `name` that clients call this machine by, over HTTP; may be repeated")
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
	if err := s.checkReady(f.agent); err != nil {
		return err
	}
	// The folders that a client may work in; none for any.
	if f.http == "" && (f.beyond || f.tokenFile != "" || len(f.hosts) > 0) {
		return usagef("--beyond-loopback, --token-file and --host go with --http")
	}
	roots := make([]string, len(f.roots))
	for i, root := range f.roots {
		roots[i] = a.abs(root)
		if info, err := os.Stat(roots[i]); err != nil || !info.IsDir() {
			return usagef("--root %s is not a folder", root)
		}
	}
	if len(roots) == 0 && f.http != "" {
		roots = []string{s.opt.Dir} // who connects is not known: what it names may only be less
	}
	dir := s.opt.Dir
	if len(roots) > 0 && !slices.ContainsFunc(roots, func(root string) bool { return inFolder(root, dir) }) {
		dir = roots[0] // the limit holds also for a client that names nothing
	}
	server := mcpserve.New(mcpserve.Options{
		Open: func(_ context.Context, w mcpserve.Workspace) (*helve.Runtime, error) { return a.openWorkspace(f, s, w) },
		Dir:  dir, Roots: roots, Agent: f.agent, Model: f.model, Provider: f.provider,
		Compact: f.compact, Structured: f.structured, Relay: s.connects(), Version: version(), Logger: a.logger(),
	})
	defer server.Close()
	if f.http != "" {
		return a.serveMCPOverHTTP(ctx, f, server)
	}
	if isTerminal(a.Stdin) {
		a.printNote("serving MCP on standard input, which is for programs: 'helve mcp install CLIENT' lets an agent start it")
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

// serveMCPOverHTTP serves until the context ends.
func (a *app) serveMCPOverHTTP(ctx context.Context, f *mcpFlags, server *mcpserve.Server) error {
	bind := auth.Bind{Addr: f.http, Beyond: f.beyond, Names: f.hosts}
	if f.tokenFile == "" {
		data, err := a.dataDir()
		if err != nil {
			return err
		}
		bind.File = mcpTokenFile(data)
	} else {
		bind.File = a.abs(f.tokenFile)
	}
	token, err := auth.Token(bind.File)
	if err != nil {
		return err
	}
	bind.Token = token
	if _, err := bind.Plan(); err != nil && !f.beyond {
		bind.Beyond = true
		if _, err := bind.Plan(); err == nil {
			return usagef("other machines can reach %s: use 127.0.0.1, or say with --beyond-loopback that they may", f.http)
		}
		bind.Beyond = false
	}
	bound, err := auth.Listen(bind)
	if err != nil {
		return err
	}
	if bound.Warning != "" {
		a.printNote(bound.Warning)
	}
	g, err := auth.NewGuard(auth.GuardOptions{Token: bound.Token, Hosts: bound.Hosts, MaxBody: 4 << 20, Logger: a.logger()})
	if err != nil {
		return errors.Join(err, bound.Close())
	}
	web := g.Server(server.Handler())
	a.printNote(fmt.Sprintf("serving MCP at %s/mcp", bound.URL()))
	a.printNote(fmt.Sprintf("send the header 'Authorization: Bearer …' with the token in %s", bind.File))
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

// inFolder reports whether a path is a folder or below it, after following links.
func inFolder(dir, path string) bool {
	for _, p := range []*string{&dir, &path} {
		if real, err := filepath.EvalSymlinks(*p); err == nil {
			*p = real
		}
	}
	return disk.Within(dir, path)
}

// joinNames joins names for a sentence.
func joinNames(names []string) string { return strings.Join(names, ", ") }

// connects reports whether the config names other servers that are used.
func (s *setup) connects() bool {
	servers, _ := s.mcp() // problems are reported when it is used
	return slices.ContainsFunc(servers.Servers, func(m mcp.Server) bool { return !m.Disabled })
}
