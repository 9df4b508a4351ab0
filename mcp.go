package helve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/mcp"
)

// MCP gives access to the MCP servers of a runtime: their states, and what they offer beside tools.
// Their tools are among those of [Runtime.Tools].
type MCP struct{ r *Runtime }

// MCP returns access to the MCP servers.
func (r *Runtime) MCP() MCP { return MCP{r} }

// openMCP creates the pool of servers. It starts none.
func (r *Runtime) openMCP() error {
	o := r.opt.MCP
	if len(o.Servers) == 0 {
		r.pool = noServers{}
		return nil
	}
	if o.Client == nil {
		return errors.New("there are MCP servers, and no client to reach them: import github.com/helve-dev/helve/mcp/connect and set Options.MCP.Client to connect.Client()")
	}
	for i, s := range o.Servers {
		if slices.ContainsFunc(o.Servers[:i], func(have mcp.Server) bool { return have.Name == s.Name }) {
			return fmt.Errorf("there are two MCP servers called %q", s.Name)
		}
	}
	h := mcp.Host{
		Dir: r.dir, Logger: r.log, Register: r.Register, Ask: r.elicit,
		Start: func(ctx context.Context, s mcp.Server, stdout, stderr *os.File) (mcp.Process, error) {
			cmd := process.Command{Path: s.Command[0], Args: s.Command[1:], Dir: s.Dir, Stderr: stderr}
			return r.startServer(ctx, s.Env, s.Wall, cmd, stdout)
		},
		Changed: func(s mcp.Status) {
			r.events.publish(event.MCPChanged{Server: s.Name, State: string(s.State), Error: s.Error, Resources: s.Resources, Prompts: s.Prompts})
		},
		Updated: func(u mcp.ResourceUpdate) { r.events.publish(event.MCPUpdated{ResourceUpdate: u}) },
		Relisted: func(server string, resources, prompts bool) {
			r.events.publish(event.MCPRelisted{Server: server, Resources: resources, Prompts: prompts})
		},
	}
	if r.opt.DataDir != "" {
		h.Pins, h.Logs, h.SignIns = r.ownFolder("mcp-pins.json"), r.ownFolder("mcp-logs"), r.ownFolder("mcp-auth.json")
	}
	r.pool = o.Client.Open(o, h)
	r.sources = append(r.sources, &sourceState{source: r.pool})
	_, err := r.registry.add(promptTool(r.pool), true)
	return err
}

// startServer starts a server as commands are started, with environment variables of its own.
func (r *Runtime) startServer(ctx context.Context, env map[string]string, wall bool, cmd process.Command, out *os.File) (*process.Process, error) {
	p := process.Program{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Set: env, Stderr: cmd.Stderr, Walled: wall}
	if agent := r.agent(""); wall && agent != nil {
		passes, key := agent.Policy.Filter("read")
		p.Sieve = process.PathFilter{Passes: passes, Key: key, Names: r.files.Names(cmd.Dir)}
	}
	return r.shell.Start(ctx, p, out)
}

// Status returns the states of the servers, in the order of the options.
func (m MCP) Status() []mcp.Status { return m.r.pool.Status() }

// Servers returns the names of the enabled servers, in the order of the options.
func (m MCP) Servers() []string {
	return m.r.pool.Which(func(s mcp.Status) bool { return s.State != mcp.Disabled })
}

// Tools returns the tools of a server as it describes them, and whether and how each is offered. It
// connects to the server if necessary.
func (m MCP) Tools(ctx context.Context, server string) ([]mcp.Tool, error) {
	if err := m.Connect(ctx, server); err != nil {
		return nil, err
	}
	return m.r.pool.Tools(server), nil
}

// Connect connects to a server now, even to one that was disconnected.
func (m MCP) Connect(ctx context.Context, server string) error { return m.r.pool.Connect(ctx, server) }

// Disconnect closes the connection to a server. Its tools are not offered until it is connected
// again.
func (m MCP) Disconnect(server string) error { return m.r.pool.Disconnect(server) }

// Approve accepts the current definition of a tool that has changed since its first use. With "" it
// accepts every tool of the server.
func (m MCP) Approve(server, tool string) error { return m.r.pool.Approve(server, tool) }

// Log returns the last lines that a server has logged.
func (m MCP) Log(server string) []string { return m.r.pool.Log(server) }

// SignIn lets a person sign in to a server. The token is kept in DataDir and renewed without the
// person.
func (m MCP) SignIn(ctx context.Context, server string, way mcp.SignIn) error {
	return m.r.pool.SignIn(ctx, server, way)
}

// serverHint returns why a tool of a failing server is missing, or "" if that is not the reason.
func (r *Runtime) serverHint(tool string) string {
	owner, _ := r.pool.Owner(tool)
	for _, s := range r.pool.Status() {
		if s.Name != owner || s.State == mcp.Connected {
			continue
		}
		if s.State == mcp.Disabled {
			return fmt.Sprintf("It would come from the MCP server %q, which is switched off.", s.Name)
		}
		return fmt.Sprintf("It would come from the MCP server %q, which is %s: %s 'helve mcp logs %s' shows more.", s.Name, s.State, sentence(s.Error), s.Name)
	}
	return ""
}

// sentence adds the full stop if it is missing.
func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}
