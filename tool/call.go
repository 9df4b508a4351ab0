package tool

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/helve-dev/helve/permission"
)

// A Call is one use of a tool: what was asked, by whom, and where it runs.
// A Call belongs to one goroutine.
type Call struct {
	ID      string `json:"id"`                // the runtime makes one when empty
	Session string `json:"session,omitempty"` // calls of one session share todos, approvals and what was read; one for the whole runtime when empty
	Message string `json:"message,omitempty"` // the message of the model that holds the call
	Parent  string `json:"parent,omitempty"`  // the call that made this one
	Agent   string `json:"agent,omitempty"`   // who calls; its rules apply

	Client   string `json:"client,omitempty"`   // the kind of program the person uses
	Provider string `json:"provider,omitempty"` // whose model calls
	Model    string `json:"model,omitempty"`    // which model calls

	Tool string `json:"tool"`
	// Input is the JSON text of the arguments. It arrives as the model wrote
	// it, malformed or not; when the tool runs it is the checked value.
	Input json.RawMessage `json:"input"`
	Dir   string          `json:"dir,omitempty"` // absolute; relative paths in Input start here

	// Show is how many bytes of a result's text the caller can show; what the
	// runtime's limits say when 0. A tool that cuts its output itself keeps to it.
	Show int `json:"-"`

	Host Host `json:"-"` // set by the runtime
}

// A Host is the runtime as a running tool sees it.
type Host interface {
	// Ask returns nil when all requests are allowed, and otherwise an error to
	// return at once. It may wait for a person, who is asked once.
	Ask(ctx context.Context, c *Call, reqs ...permission.Request) error
	// Allowed reports whether a request would be allowed without asking
	// anybody.
	Allowed(c *Call, req permission.Request) bool
	// Filter returns what the rules of the call say about a permission, for a
	// tool that has to decide about very many things; see
	// [permission.Policy.Filter].
	Filter(c *Call, permission string) (passes func(names ...string) bool, key string)
	// Progress tells who watches how the call is getting on. Each report
	// replaces the one before.
	Progress(c *Call, title string, metadata map[string]any)
}

// Ask asks for permission on behalf of the call. Several requests are decided
// together, and a person answers all of them at once. Return its error as it is.
func (c *Call) Ask(ctx context.Context, reqs ...permission.Request) error {
	return c.Host.Ask(ctx, c, reqs...)
}

// Denied returns the error of [Call.Ask] where a rule denies one of the
// requests, and nil otherwise: for a tool that has to work before it can ask.
func (c *Call) Denied(reqs ...permission.Request) error {
	h, ok := c.Host.(interface {
		Denied(c *Call, reqs ...permission.Request) error
	})
	if !ok {
		return nil // who asks learns it then
	}
	return h.Denied(c, reqs...)
}

// Allowed reports whether a request would be allowed without asking anybody:
// for what a tool would mention beside what it was asked for.
func (c *Call) Allowed(req permission.Request) bool { return c.Host.Allowed(c, req) }

// Filter returns what the rules say about a permission, ready for very many
// questions; nil where all passes. What does not pass may still be
// [Call.Allowed], by an approval. Of equal keys the answers are equal.
func (c *Call) Filter(permission string) (passes func(names ...string) bool, key string) {
	return c.Host.Filter(c, permission)
}

// Progress reports how the call is getting on, to whoever watches.
func (c *Call) Progress(title string, metadata map[string]any) {
	c.Host.Progress(c, title, metadata)
}

// Open opens a file for reading, as the built-in tool read does: a relative name
// starts at Dir, links are followed, who leads out of the project is asked about
// as external_directory, and what is opened as read, by every name it has there.
// An error that says who said no is returned as it is; one that there is no such
// file is [io/fs.ErrNotExist].
func (c *Call) Open(ctx context.Context, name string) (*os.File, error) {
	h, ok := c.Host.(interface {
		Open(ctx context.Context, c *Call, name string) (*os.File, error)
	})
	if !ok { // a host of tests, or of a part of a call
		return nil, errors.ErrUnsupported
	}
	return h.Open(ctx, c, name)
}
