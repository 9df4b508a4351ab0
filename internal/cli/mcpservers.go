package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/plugin"
)

// atServers is how long the commands that query servers wait for them.
const atServers = 40 * time.Second

// withServers makes a runtime that has the MCP servers of the config, and
// hands it to do.
func (a *app) withServers(ctx context.Context, do func(ctx context.Context, s *setup, rt *helve.Runtime) error) error {
	s, err := a.load()
	if err != nil {
		return err
	}
	a.warn(s.cfg)
	opt := a.options(s)
	opt.Unattended, opt.Plugins = true, plugin.Options{}
	rt, err := helve.Open(opt)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, atServers)
	defer cancel()
	return errors.Join(do(ctx, s, rt), rt.Close())
}

func (a *app) mcpListCommand() *cobra.Command {
	var asJSON, offline bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the MCP servers of the config, and try each",
		Long: `List connects to every MCP server of the config at once and says how each is
doing and how many tools it offers. With --offline it starts nothing and shows
what the config says.`,
		Example: `  helve mcp list
  helve mcp list --json
  helve mcp list --offline`,
		Args: atMost(0),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withServers(c.Context(), func(ctx context.Context, s *setup, rt *helve.Runtime) error {
				if !offline {
					stop := a.progress("connecting")
					rt.Gather(ctx)
					stop()
				}
				return a.listServers(s, rt.MCP().Status(), asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&offline, "offline", false, "start nothing")
	return c
}

func (a *app) listServers(s *setup, all []mcp.Status, asJSON bool) error {
	if asJSON {
		return a.printJSON(append([]mcp.Status{}, all...))
	}
	configured, _ := s.mcp()
	for _, c := range configured.Servers {
		if !slices.ContainsFunc(all, func(st mcp.Status) bool { return st.Name == c.Name }) {
			a.printNote(fmt.Sprintf("mcp.%s is helve itself, and left out", c.Name))
		}
	}
	if len(all) == 0 {
		a.printNote("the config has no MCP server; 'helve mcp add' puts one in")
		return nil
	}
	tw := columns(a.Stdout)
	var failed []string
	for _, st := range all {
		said := st.Error
		if said == "" && st.Tools > 0 {
			said = text.Count(st.Tools, "tool", "tools")
		}
		from := s.cfg.Origins["mcp."+st.Name]
		said, _ = text.Cut(text.VisibleLine(said), 120)
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", text.VisibleLine(st.Name), st.Kind, st.State, said, text.VisibleLine(from.String()))
		if st.Error != "" {
			failed = append(failed, st.Name)
		}
	}
	if err := tw.Flush(); err != nil || len(failed) == 0 {
		return err
	}
	a.printNote(fmt.Sprintf("'helve mcp logs NAME' shows what %s said", text.VisibleLine(joinNames(failed))))
	return nil
}

// progress prints on a terminal, after a while, that something takes time. The returned function
// ends it.
func (a *app) progress(what string) (stop func()) {
	if !isTerminal(a.Stderr) {
		return func() {}
	}
	timer := time.AfterFunc(time.Second, func() { a.printNote(what + " …") })
	return func() { timer.Stop() }
}

func (a *app) mcpLogsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "logs NAME",
		Short: "Print what an MCP server has logged",
		Long: `Logs prints what an MCP server has written to its standard error or sent as log
messages, in whichever process it ran.`,
		Example: `  helve mcp logs docs`,
		Args:    exactly(1, "which server? 'helve mcp list --offline' lists them"),
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := a.dataDir()
			if err != nil {
				return err
			}
			found, err := a.printLogs(filepath.Join(data, "mcp-logs"), args[0])
			if err == nil && !found {
				a.printNote(fmt.Sprintf("there is no log of a server called %q: it has not run yet, or has another name", args[0]))
			}
			return err
		},
	}
	return c
}

// printLogs prints the older and the newer log file of a server, and reports whether there is one.
func (a *app) printLogs(dir, server string) (found bool, err error) {
	for _, path := range process.JournalFiles(dir, server) {
		f, err := os.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return found, fmt.Errorf("reading the log: %w", err)
		}
		found = true
		data, err := io.ReadAll(io.LimitReader(f, 8<<20))
		if err := errors.Join(err, f.Close()); err != nil {
			return found, fmt.Errorf("reading the log: %w", err)
		}
		if _, err := io.WriteString(a.Stdout, safe(unfolded(string(data)))); err != nil { // its words, not ours
			return found, fmt.Errorf("writing the log: %w", err)
		}
	}
	return found, nil
}

// unfolded shows a message of several lines as such, which a log keeps in one
// with \n in it. What a program prints is logged by the line: a \n in that is
// its own.
func unfolded(log string) string {
	var out strings.Builder
	for line := range strings.Lines(log) {
		stamp, rest, _ := strings.Cut(line, " ")
		if from, said, ok := strings.Cut(rest, ": "); ok && (from == "log" || from == "helve") {
			said = strings.TrimSuffix(strings.TrimSuffix(said, "\n"), `\n`)
			line = stamp + " " + from + ": " + strings.ReplaceAll(said, `\n`, "\n    ") + "\n"
		}
		out.WriteString(line)
	}
	return out.String()
}

func (a *app) mcpInspectCommand() *cobra.Command {
	var asJSON, approve bool
	c := &cobra.Command{
		Use:   "inspect NAME [TOOL]",
		Short: "Show what an MCP server offers, and how its tools have changed",
		Long: `Inspect connects to an MCP server and shows its tools as the server describes
them, with the name each has here, which are switched off and why, and which are
not what they were when they were first used; then its prompts and resources. Such a tool is asked about at
every call, until --approve takes it as it is now.`,
		Example: `  helve mcp inspect docs
  helve mcp inspect docs search --json
  helve mcp inspect docs search --approve`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usagef("which server? 'helve mcp list --offline' lists them")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			only := ""
			if len(args) > 1 {
				only = args[1]
			}
			return a.withServers(c.Context(), func(ctx context.Context, _ *setup, rt *helve.Runtime) error {
				stop := a.progress("connecting to " + args[0])
				tools, err := rt.MCP().Tools(ctx, args[0])
				stop()
				if err != nil {
					return knownServers(rt, err)
				}
				if approve {
					server := args[0]
					if err := a.byHand("helve mcp inspect --approve"); err != nil {
						return err
					}
					if err := rt.MCP().Approve(server, only); err != nil {
						return err
					}
					if only == "" {
						a.printNote(fmt.Sprintf("every tool of %s is taken as it is now", server))
					} else {
						a.printNote(fmt.Sprintf("%s of %s is taken as it is now", only, server))
					}
					return nil
				}
				if asJSON || only != "" {
					return a.showTools(tools, only, asJSON)
				}
				if err := a.showTools(tools, "", false); err != nil {
					return err
				}
				return a.showRest(ctx, rt, args[0])
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&approve, "approve", false, "take what has changed as it is now")
	return c
}

func (a *app) showTools(tools []mcp.Tool, only string, asJSON bool) error {
	shown := []mcp.Tool{}
	for _, t := range tools {
		if only == "" || t.Tool == only || t.Name == only {
			shown = append(shown, t)
		}
	}
	if only != "" && len(shown) == 0 {
		return fmt.Errorf("the server offers no tool called %q", only)
	}
	if asJSON {
		return a.printJSON(shown)
	}
	st := a.style(a.Stdout)
	for _, t := range shown {
		fmt.Fprintf(a.Stdout, "%s\n", st.Bold(text.VisibleLine(t.Name)))
		if t.Off != "" {
			fmt.Fprintf(a.Stdout, "  switched off: %s\n", text.VisibleLine(t.Off))
		}
		if t.Changed != "" {
			fmt.Fprintf(a.Stdout, "  not what it was when it was first used:\n%s\n", indent(safe(t.Changed)))
		}
		if d := strings.TrimSpace(t.Description); d != "" {
			fmt.Fprintln(a.Stdout, indent(safe(d)))
		}
		if only != "" {
			fmt.Fprintln(a.Stdout, indent(safe(string(t.Schema))))
		}
	}
	return nil
}

// showRest lists what a server has beside its tools.
func (a *app) showRest(ctx context.Context, rt *helve.Runtime, server string) error {
	prompts, err := rt.MCP().Prompts(ctx, server)
	if err != nil {
		return err
	}
	resources, err := rt.MCP().Resources(ctx, server)
	if err != nil {
		return err
	}
	tw := columns(a.Stdout)
	for _, p := range prompts {
		var takes []string
		for _, arg := range p.Arguments {
			takes = append(takes, arg.Name)
		}
		fmt.Fprintf(tw, "prompt\t%s\t%s\t%s\n", text.VisibleLine(p.Name), text.VisibleLine(joinNames(takes)), text.VisibleLine(p.Description))
	}
	for _, r := range resources {
		fmt.Fprintf(tw, "resource\t%s\t%s\t%s\n", text.VisibleLine(r.URI), text.VisibleLine(r.MIME), text.VisibleLine(r.Name))
	}
	return tw.Flush()
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }

// byHand refuses what only a person may do: a command that an agent runs must not loosen the
// agent's own restrictions.
func (a *app) byHand(what string) error {
	if a.Getenv("HELVE") == "" {
		return nil
	}
	return fmt.Errorf("'%s' is for a person: it changes what may be run, and this is a command that helve runs for an agent (HELVE is set). Do it in a terminal of your own", what)
}

// knownServers names the servers there are where one was not found.
func knownServers(rt *helve.Runtime, err error) error {
	if !errors.Is(err, mcp.ErrNoServer) {
		return err
	}
	var names []string
	for _, s := range rt.MCP().Status() {
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return fmt.Errorf("%w; the config has none: 'helve mcp add' puts one in", err)
	}
	return fmt.Errorf("%w; there are %s", err, joinNames(names))
}
