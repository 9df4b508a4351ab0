package helve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/mcpclient"
	"github.com/helve-dev/helve/internal/proc"
	"github.com/helve-dev/helve/internal/run"
	"github.com/helve-dev/helve/internal/signin"
	"github.com/helve-dev/helve/tool"
)

// An MCPServer is another program whose tools are offered here, under names
// such as server_tool: a command that is started, or an address.
type MCPServer struct {
	Name string

	Command     []string          // the program and its arguments
	Environment map[string]string // variables it gets beside those that commands get
	Dir         string            // where it starts; relative to Options.Dir
	Wall        bool              // it runs behind the wall, or not at all

	URL     string
	Headers map[string]string // sent with every request
	OAuth   MCPOAuth
	NoOAuth bool // it is never signed in to

	// NoRoots keeps from the server which folder is worked in. Some take that
	// for the folder they may use, instead of the one they were given.
	NoRoots bool

	Disabled bool
	// Timeout bounds connecting, and a call in which nothing happens; 30
	// seconds and [MCP.Timeout] when 0. A report of progress starts it anew.
	Timeout time.Duration
	// Limit bounds a call whatever happens; an hour when 0.
	Limit time.Duration
}

// MCPOAuth says as whom helve signs in to a server. Without an ID it registers
// itself, where the server allows that.
type MCPOAuth struct{ ClientID, ClientSecret, Scope string }

// MCP says which other programs offer tools here. Nothing of it is started
// before a call or a listing needs it.
type MCP struct {
	Servers []MCPServer
	Timeout time.Duration // of calls in which nothing happens; a minute when 0
	Version string        // of the program, told to servers
}

// An MCPStatus is how a server is doing.
type MCPStatus = mcpclient.Status

// An MCPTool is a tool as its server describes it.
type MCPTool struct {
	Tool        string          `json:"tool"`           // the server's name for it
	Name        string          `json:"name,omitempty"` // what models call it; empty where it is not offered
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"inputSchema"`
	Off         string          `json:"off,omitempty"`     // why it is not offered
	Pinned      bool            `json:"pinned"`            // it has been used, and so is known
	Changed     string          `json:"changed,omitempty"` // how it differs from what was first used
}

// An MCPPrompt is a text that a server makes for people to send.
type MCPPrompt = mcpclient.Prompt

// An MCPResource is something that a server lets others read.
type MCPResource = mcpclient.Resource

// ErrNoServer says that there is no MCP server of a name.
var ErrNoServer = errors.New("there is no such MCP server")

// openMCP makes the room for other programs' tools.
func (r *Runtime) openMCP() error {
	opt := r.opt.MCP
	if len(opt.Servers) == 0 {
		return nil
	}
	o := mcpclient.Options{
		Dir: r.dir, Version: opt.Version, CallTimeout: opt.Timeout, Logger: r.log,
		Register: r.Register, Ask: r.elicit,
		Start: func(ctx context.Context, s mcpclient.Server, cmd proc.Command, out *os.File) (*proc.Process, error) {
			return r.startServer(ctx, serverProcess{s.Env, s.Wall}, cmd, out)
		},
		Changed: func(s mcpclient.Status) {
			r.events.publish(event.MCPChanged{Server: s.Name, State: string(s.State), Error: s.Error, Resources: s.Resources, Prompts: s.Prompts})
		},
		Updated: func(u mcpclient.Update) { r.events.publish(event.MCPUpdated(u)) },
		Relisted: func(server string, resources, prompts bool) {
			r.events.publish(event.MCPRelisted{Server: server, Resources: resources, Prompts: prompts})
		},
	}
	if r.opt.DataDir != "" {
		o.Pins, o.Logs = r.ownFolder("mcp-pins.json"), r.ownFolder("mcp-logs")
		o.SignIn = signin.Open(r.ownFolder("mcp-auth.json"))
	}
	for _, s := range opt.Servers {
		if slices.ContainsFunc(o.Servers, func(have mcpclient.Server) bool { return have.Name == s.Name }) {
			return fmt.Errorf("there are two MCP servers called %q", s.Name)
		}
		o.Servers = append(o.Servers, s.plain())
	}
	r.pool = mcpclient.New(o)
	r.sources = append(r.sources, &sourceState{source: r.pool})
	_, err := r.registry.add(promptTool(r.pool), true)
	return err
}

func (s MCPServer) plain() mcpclient.Server {
	return mcpclient.Server{
		Name: s.Name, Command: s.Command, Env: s.Environment, Dir: s.Dir, Wall: s.Wall,
		URL: s.URL, Headers: s.Headers, NoOAuth: s.NoOAuth,
		OAuth:    signin.Client{ID: s.OAuth.ClientID, Secret: s.OAuth.ClientSecret, Scope: s.OAuth.Scope},
		Disabled: s.Disabled, Timeout: s.Timeout, Limit: s.Limit, NoRoots: s.NoRoots,
	}
}

// A serverProcess is how a server is started.
type serverProcess struct {
	env  map[string]string // its own variables
	wall bool
}

// startServer starts a server as commands are started, but for its own
// variables.
func (r *Runtime) startServer(ctx context.Context, m serverProcess, cmd proc.Command, out *os.File) (*proc.Process, error) {
	p := run.Program{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Set: m.env, Stderr: cmd.Stderr, Walled: m.wall}
	if agent := r.agent(""); m.wall && agent != nil {
		passes, key := agent.Policy.Sieve("read")
		p.Sieve = run.Sieve{Passes: passes, Key: key, Names: r.files.Names(cmd.Dir)}
	}
	return r.shell.Start(ctx, p, out)
}

// MCP returns how the MCP servers are doing, in the order of the options.
func (r *Runtime) MCP() []MCPStatus {
	if r.pool == nil {
		return nil
	}
	return r.pool.Status()
}

// MCPTools returns the tools of a server as the server describes them, with
// what was made of each. The server is connected to if it has to be.
func (r *Runtime) MCPTools(ctx context.Context, server string) ([]MCPTool, error) {
	if err := r.ConnectMCP(ctx, server); err != nil {
		return nil, err
	}
	var out []MCPTool
	for _, t := range r.pool.Tools(server) {
		d := t.Definition
		out = append(out, MCPTool{
			Tool: d.Tool, Name: t.Name, Title: d.Title, Description: d.Description, Schema: d.Input,
			Off: t.Off, Pinned: t.Pinned, Changed: t.Changed,
		})
	}
	return out, nil
}

// ConnectMCP connects to a server now, also to one that was disconnected.
func (r *Runtime) ConnectMCP(ctx context.Context, server string) error {
	if r.pool == nil {
		return fmt.Errorf("%q: %w", server, ErrNoServer)
	}
	return r.noServer(server, r.pool.Connect(ctx, server))
}

// DisconnectMCP ends the connection to a server. Its tools are gone until it
// is connected to again.
func (r *Runtime) DisconnectMCP(server string) error {
	if r.pool == nil {
		return fmt.Errorf("%q: %w", server, ErrNoServer)
	}
	return r.noServer(server, r.pool.Disconnect(server))
}

// ApproveMCP says that a tool of a server, or with "" every one, may be what
// it is now, where it is not what it was when it was first used.
func (r *Runtime) ApproveMCP(server, tool string) error {
	if r.pool == nil {
		return fmt.Errorf("%q: %w", server, ErrNoServer)
	}
	return r.noServer(server, r.pool.Approve(server, tool))
}

// A SignIn is how a person is reached who is to sign in to a server.
type SignIn struct {
	Open  func(url string) error                    // opens a browser; may be nil
	Show  func(url string)                          // shows the address; may be nil
	Paste func(ctx context.Context) (string, error) // asks for the address that the browser ended at; may be nil
	Tell  func(text string)                         // says something the person should know first; may be nil
}

// signInTime is how long a person may take to sign in.
const signInTime = 6 * time.Minute

// SignInMCP lets a person sign in to a server now. The token is kept in the
// data folder, and renewed without the person.
func (r *Runtime) SignInMCP(ctx context.Context, server string, way SignIn) error {
	i := slices.IndexFunc(r.opt.MCP.Servers, func(s MCPServer) bool { return s.Name == server })
	switch {
	case i < 0:
		return fmt.Errorf("%q: %w", server, ErrNoServer)
	case r.opt.MCP.Servers[i].URL == "":
		return fmt.Errorf("%q is a program on this machine, and not signed in to", server)
	case r.opt.MCP.Servers[i].NoOAuth:
		return fmt.Errorf("the config says never to sign in to %q (oauth is false)", server)
	case r.opt.DataDir == "":
		return errors.New("there is no folder to keep the token in")
	}
	s := r.opt.MCP.Servers[i].plain()
	s.Timeout, s.Disabled = signInTime, false
	pool := mcpclient.New(mcpclient.Options{
		Servers: []mcpclient.Server{s}, Dir: r.dir, Version: r.opt.MCP.Version, Logger: r.log,
		Register: func(tool.Tool) (func(), error) { return func() {}, nil },
		SignIn:   signin.Open(r.ownFolder("mcp-auth.json")),
		Person:   signin.HandlerOptions{Interactive: true, Open: way.Open, Show: way.Show, Paste: way.Paste, Tell: way.Tell},
	})
	return errors.Join(pool.Connect(ctx, server), pool.Close())
}

// MCPLog returns the newest lines that a server has logged.
func (r *Runtime) MCPLog(server string) []string {
	if r.pool == nil {
		return nil
	}
	return r.pool.Log(server)
}

// serverHint says why a tool is not there that would come from a server which is
// not well; "" where that is not the reason.
func (r *Runtime) serverHint(tool string) string {
	if r.pool == nil {
		return ""
	}
	owner, _ := r.pool.Owner(tool)
	for _, s := range r.pool.Status() {
		if s.Name != owner || s.State == mcpclient.Connected {
			continue
		}
		if s.State == mcpclient.Disabled {
			return fmt.Sprintf("It would come from the MCP server %q, which is switched off.", s.Name)
		}
		return fmt.Sprintf("It would come from the MCP server %q, which is %s: %s 'helve mcp logs %s' shows more.", s.Name, s.State, sentence(s.Error), s.Name)
	}
	return ""
}

// sentence ends a sentence.
func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

func (r *Runtime) noServer(name string, err error) error {
	if errors.Is(err, mcpclient.ErrUnknown) {
		return fmt.Errorf("%q: %w", name, ErrNoServer)
	}
	return err
}
