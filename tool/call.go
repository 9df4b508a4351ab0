package tool

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/helve-dev/helve/permission"
)

// A Call is one use of a tool: the arguments, who makes it, and where it runs. A Call belongs to
// one goroutine.
type Call struct {
	ID      string `json:"id"`                // generated when empty
	Session string `json:"session,omitempty"` // calls of one session share todos, approvals and read files; when empty, the runtime's own session
	Message string `json:"message,omitempty"` // id of the model's message that holds the call
	Parent  string `json:"parent,omitempty"`  // the call that made this one
	Agent   string `json:"agent,omitempty"`   // the agent that calls; its rules apply

	Client   string `json:"client,omitempty"`   // the kind of program that the person uses
	Provider string `json:"provider,omitempty"` // the provider of the calling model
	Model    string `json:"model,omitempty"`    // the calling model

	Tool string `json:"tool"`
	// Input is the JSON text of the arguments. It arrives as the model wrote it, valid or not; when
	// the tool runs, it is the checked value.
	Input json.RawMessage `json:"input"`
	Dir   string          `json:"dir,omitempty"` // absolute; relative paths in Input start here

	// Show is how many bytes of a result's text the caller can show; when 0, the runtime's limits
	// apply. A tool that truncates its output itself must respect it.
	Show int `json:"-"`

	Host Host `json:"-"` // set by the runtime
}

// A Host gives a running tool access to the runtime.
type Host interface {
	// Ask returns nil when all requests are allowed. The tool must return any other result at once.
	// Ask may wait for a person, who is asked once.
	Ask(ctx context.Context, c *Call, reqs ...permission.Request) error
	// Allowed reports whether a request would be allowed without asking
	// anybody.
	Allowed(c *Call, req permission.Request) bool
	// Filter returns what the rules of the call say about a permission, for tools that decide about
	// very many things; see [permission.Policy.Filter].
	Filter(c *Call, permission string) (passes func(names ...string) bool, key string)
	// Progress publishes a progress report. Each report replaces the previous one.
	Progress(c *Call, title string, metadata map[string]any)
}

// Ask asks for permission on behalf of the call. Several requests are decided together, and a
// person answers them all at once. The tool returns its error unchanged.
func (c *Call) Ask(ctx context.Context, reqs ...permission.Request) error {
	return c.Host.Ask(ctx, c, reqs...)
}

// Denied returns the error of [Call.Ask] if a rule denies one of the requests, and else nil. It is
// for a tool that has to do some work before it can ask.
func (c *Call) Denied(reqs ...permission.Request) error {
	h, ok := c.Host.(interface {
		Denied(c *Call, reqs ...permission.Request) error
	})
	if !ok {
		return nil // Ask will report it
	}
	return h.Denied(c, reqs...)
}

// Allowed reports whether a request would be allowed without asking anybody. It is for things that
// a tool mentions in addition to what it was asked for.
func (c *Call) Allowed(req permission.Request) bool { return c.Host.Allowed(c, req) }

// Filter returns what the rules say about a permission as a function for very many questions, or
// nil if everything passes. What does not pass may still be [Call.Allowed] by an approval. Filters
// with equal keys give equal answers.
func (c *Call) Filter(permission string) (passes func(names ...string) bool, key string) {
	return c.Host.Filter(c, permission)
}

// Progress publishes how the call is getting on.
func (c *Call) Progress(title string, metadata map[string]any) {
	c.Host.Progress(c, title, metadata)
}

// Open opens a file for reading, with the checks of the built-in tool read. A relative name starts
// at Dir. Links are followed; a file outside the project needs the permission external_directory,
// and every file needs read under each of its names. Return an error that says who refused as it
// is; one for a missing file is [io/fs.ErrNotExist].
func (c *Call) Open(ctx context.Context, name string) (*os.File, error) {
	h, ok := c.Host.(interface {
		Open(ctx context.Context, c *Call, name string) (*os.File, error)
	})
	if !ok { // a host of tests, or of a part of a call
		return nil, errors.ErrUnsupported
	}
	return h.Open(ctx, c, name)
}
