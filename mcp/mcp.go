// Package mcp says which MCP servers a runtime uses, and what they offer, as
// data. The servers themselves are reached by Runtime.MCP.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// ErrNoServer says that there is no MCP server of a name.
var ErrNoServer = errors.New("there is no such MCP server")

// Options say which servers offer tools to a runtime. Nothing is started
// before a call or a listing needs it.
type Options struct {
	Servers []Server
	Timeout time.Duration // of calls in which nothing happens; a minute when 0
	Version string        // of the program, told to servers
}

// A Server is another program whose tools are offered here, under names such
// as server_tool: a command that is started, or an address.
type Server struct {
	Name string

	Command []string          // the program and its arguments
	Env     map[string]string // variables it gets beside those that commands get
	Dir     string            // where it starts; relative to the folder of the runtime
	Wall    bool              // it runs behind the wall, or not at all

	URL     string
	Headers map[string]string // sent with every request
	OAuth   OAuth
	NoOAuth bool // it is never signed in to

	// NoRoots keeps from the server which folder is worked in. Some take that
	// for the folder they may use, instead of the one they were given.
	NoRoots bool

	Disabled bool
	// Timeout bounds connecting, listing, and a call in which nothing happens;
	// 30 seconds and [Options.Timeout] when 0. A report of progress starts it
	// anew.
	Timeout time.Duration
	// Limit bounds a call whatever happens; an hour when 0.
	Limit time.Duration
}

// OAuth says as whom a server is signed in to. Without an ID the client
// registers itself, where the server allows that.
type OAuth struct{ ClientID, ClientSecret, Scope string }

// A State is how a server is.
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

// A Status is how a server is now. Texts that come from the server are its own
// words: escape them before they are shown.
type Status struct {
	Name         string    `json:"name"`
	Kind         string    `json:"kind"` // local or remote
	State        State     `json:"status"`
	Error        string    `json:"error,omitempty"`
	Detail       string    `json:"detail,omitempty"` // more about Error
	Tools        int       `json:"tools"`            // that are offered
	Off          []Off     `json:"off,omitempty"`    // tools that are not
	PID          int       `json:"pid,omitempty"`
	Since        time.Time `json:"since,omitzero"` // when State began
	Restarts     int       `json:"restarts,omitempty"`
	Instructions string    `json:"instructions,omitempty"` // how the server wants to be used
	Program      string    `json:"program,omitempty"`      // name and version the server gives itself
	Transport    string    `json:"transport,omitempty"`    // stdio, http or sse
	Resources    bool      `json:"resources,omitempty"`    // it offers resources
	Prompts      bool      `json:"prompts,omitempty"`      // it offers prompts
}

// An Off is a tool that is not offered, and why.
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

// A Resource is something that a server lets others read.
type Resource struct {
	Server      string `json:"server"`
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mimeType,omitempty"`
	Size        int64  `json:"size,omitempty"`

	Wire json.RawMessage `json:"-"` // all of it, as the protocol has it
}

// A Template is a family of resources.
type Template struct {
	Server      string `json:"server"`
	URITemplate string `json:"uriTemplate"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mimeType,omitempty"`

	Wire json.RawMessage `json:"-"` // all of it, as the protocol has it
}

// A Content is a part of a resource: a text, or bytes.
type Content struct {
	URI  string
	MIME string
	Text string
	Blob []byte // nil for a text
}

// A Prompt is a text that a server makes for people to send.
type Prompt struct {
	Server      string     `json:"server"`
	Name        string     `json:"name"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	Arguments   []Argument `json:"arguments,omitempty"`

	Wire json.RawMessage `json:"-"` // all of it, as the protocol has it
}

// An Argument is what a [Prompt] wants to know.
type Argument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// A PromptCall says which prompt of which server is wanted.
type PromptCall struct {
	Server    string            `json:"server"`
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments,omitempty"`
}

// A PromptText is a prompt that a server has made. Its words are the server's.
type PromptText struct {
	Description string
	Messages    []json.RawMessage // each as the protocol has it: a role and a content
}

// A Completion asks how the value of an argument could go on: one of a
// [Prompt], or else of the [Template].
type Completion struct {
	Server   string
	Prompt   string
	Template string // its URI
	Argument string
	Value    string            // what is there of it
	Known    map[string]string // the arguments that are settled
}

// Completed are the values that an argument could have.
type Completed struct {
	Values []string
	Total  int  // 0 where it is not known
	More   bool // there are others
}

// A Subscription names a resource whose changes are told, and for whom.
type Subscription struct{ Agent, Server, URI string }

// A SignIn is how a person is reached who is to sign in to a server. Each
// function may be nil.
type SignIn struct {
	Open  func(url string) error                    // opens a browser
	Show  func(url string)                          // shows the address
	Paste func(ctx context.Context) (string, error) // asks for the address that the browser ended at
	Tell  func(text string)                         // says something the person should know first
}

// A ResourceUpdate says that a resource that somebody subscribed to has changed.
type ResourceUpdate struct {
	Server string `json:"server"`
	URI    string `json:"uri"`  // that was subscribed to
	Part   string `json:"part"` // what has changed: URI, or something below it
}
