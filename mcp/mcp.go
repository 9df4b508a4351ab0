// Package mcp describes, as data, the MCP servers of a runtime and what they offer. Runtime.MCP
// reaches the servers themselves, through the [Client] of package mcp/connect.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// ErrNoServer says that there is no MCP server with the given name.
var ErrNoServer = errors.New("there is no such MCP server")

// Options configure the MCP servers of a runtime. A server starts when a call or a listing first
// needs it.
type Options struct {
	Servers []Server
	// Client connects to the servers; it is required if there are Servers. connect.Client of package
	// mcp/connect returns one. A program without it does not link the MCP SDK.
	Client  Client
	Timeout time.Duration // of calls without progress; a minute when 0
	Version string        // of the program, sent to servers
}

// A Server configures an MCP server: a command to start, or the URL of a remote one. Its tools are
// offered under names such as server_tool.
type Server struct {
	Name string

	Command []string          // the program and its arguments
	Env     map[string]string // added to the variables that commands get
	Dir     string            // its working directory; relative to that of the runtime
	Wall    bool              // run it in the sandbox, or not at all

	URL     string
	Headers map[string]string // sent with every request
	OAuth   OAuth
	NoOAuth bool // never sign in to it

	// NoRoots hides the working directory from the server. Some servers use it instead of the
	// directories they were configured with.
	NoRoots bool

	Disabled bool
	// Timeout limits connecting, listing, and a call without progress: 30 seconds for the first two
	// when 0, and [Options.Timeout] for calls. A progress report restarts it.
	Timeout time.Duration
	// Limit limits a call in total; an hour when 0.
	Limit time.Duration
}

// OAuth identifies the client that signs in to a server. Without a ClientID the client registers
// itself, where the server allows that. Scope wins over what the server asks for.
type OAuth struct{ ClientID, ClientSecret, Scope string }

// String hides the secret, also from %v and %+v.
func (o OAuth) String() string {
	secret := ""
	if o.ClientSecret != "" {
		secret = "set"
	}
	return fmt.Sprintf("{ClientID:%q ClientSecret:%s Scope:%q}", o.ClientID, secret, o.Scope)
}

// GoString hides the secret from %#v.
func (o OAuth) GoString() string { return "mcp.OAuth" + o.String() }

// A State is the connection state of a server.
type State string

// The states of a server.
const (
	Idle              State = "idle" // not needed yet
	Connecting        State = "connecting"
	Connected         State = "connected"
	Disabled          State = "disabled"
	Failed            State = "failed"
	NeedsAuth         State = "needs_auth"                // somebody has to sign in
	NeedsRegistration State = "needs_client_registration" // the configuration has to name a client
)

// A Status is the current state of a server. Texts in it that come from the server are untrusted:
// escape them before they are shown.
type Status struct {
	Name         string    `json:"name"`
	Kind         string    `json:"kind"` // local or remote
	State        State     `json:"status"`
	Error        string    `json:"error,omitempty"`
	Detail       string    `json:"detail,omitempty"` // more about Error
	Tools        int       `json:"tools"`            // how many it offers here
	Off          []Off     `json:"off,omitempty"`    // tools that are not offered
	PID          int       `json:"pid,omitempty"`
	Since        time.Time `json:"since,omitzero"` // when State was entered
	Restarts     int       `json:"restarts,omitempty"`
	Instructions string    `json:"instructions,omitempty"` // the server's own instructions for models
	Program      string    `json:"program,omitempty"`      // name and version that the server reports
	Transport    string    `json:"transport,omitempty"`    // stdio, http or sse
	Resources    bool      `json:"resources,omitempty"`    // it offers resources
	Prompts      bool      `json:"prompts,omitempty"`      // it offers prompts
}

// An Off is a tool that is not offered, with the reason.
type Off struct {
	Tool   string `json:"tool"`
	Reason string `json:"reason"`
}

// A Tool is a tool as its server describes it.
type Tool struct {
	Tool        string          `json:"tool"`           // the server's name for it
	Name        string          `json:"name,omitempty"` // what models call it; empty where it is not offered
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"inputSchema"`
	Off         string          `json:"off,omitempty"`     // why it is not offered
	Pinned      bool            `json:"pinned"`            // it has been used, and so is known
	Changed     string          `json:"changed,omitempty"` // how it differs from what was first used
}

// A Resource is data that a server lets clients read.
type Resource struct {
	Server      string `json:"server"`
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mimeType,omitempty"`
	Size        int64  `json:"size,omitempty"`

	Wire json.RawMessage `json:"-"` // the complete object, as the protocol has it
}

// A Template describes a family of resources by a URI with variables.
type Template struct {
	Server      string `json:"server"`
	URITemplate string `json:"uriTemplate"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mimeType,omitempty"`

	Wire json.RawMessage `json:"-"` // the complete object, as the protocol has it
}

// A Content is a part of a resource: text or bytes.
type Content struct {
	URI  string
	MIME string
	Text string
	Blob []byte // nil for a text
}

// A Prompt is a prepared message that a server offers to people.
type Prompt struct {
	Server      string     `json:"server"`
	Name        string     `json:"name"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	Arguments   []Argument `json:"arguments,omitempty"`

	Wire json.RawMessage `json:"-"` // the complete object, as the protocol has it
}

// An Argument is a parameter of a [Prompt].
type Argument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// A PromptCall names the prompt to get from a server, with its arguments.
type PromptCall struct {
	Server    string            `json:"server"`
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments,omitempty"`
}

// A PromptText is a prompt filled in by its server. Its text is untrusted.
type PromptText struct {
	Description string
	Messages    []json.RawMessage // each as the protocol has it: a role and a content
}

// A Completion asks for possible values of an argument of a [Prompt], or of a variable of a
// [Template].
type Completion struct {
	Server   string
	Prompt   string
	Template string // its URI
	Argument string
	Value    string            // what has been typed so far
	Known    map[string]string // the arguments that have their value
}

// Completed are the possible values of an argument.
type Completed struct {
	Values []string
	Total  int  // 0 where it is not known
	More   bool // there are more than Values
}

// A Subscription names a resource whose changes are reported, and the agent that asked for it.
type Subscription struct{ Agent, Server, URI string }

// A SignIn reaches the person who has to sign in to a server. Each function may be nil.
type SignIn struct {
	// Open opens a browser. If it fails the sign-in continues, provided the person has another way
	// to get the address.
	Open func(url string) error
	// Show shows the address.
	Show func(url string)
	// Tell notifies the person, before the browser opens, that the server names another
	// authorization server than at the last sign-in. If it is nil, Show is given that text; without
	// either the sign-in is refused.
	Tell func(text string)
	// Paste asks for the address that the browser ended at, for a browser on another machine. It
	// has to return when ctx ends; its result is then dropped.
	Paste func(ctx context.Context) (string, error)
}

// A ResourceUpdate says that a subscribed resource has changed.
type ResourceUpdate struct {
	Server string `json:"server"`
	URI    string `json:"uri"`  // the subscribed URI
	Part   string `json:"part"` // what has changed: URI itself, or a resource below it
}
