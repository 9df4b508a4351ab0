package mcp

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/helve-dev/helve/tool"
)

// A Client connects to MCP servers. Package mcp/connect has one.
type Client interface {
	// Open returns the servers of o. It starts none: a server starts when it is first needed.
	Open(o Options, h Host) Pool
}

// A Host is what a runtime gives the servers that it opens. Each function may be nil.
type Host struct {
	Dir     string // the working directory: local servers start here, and all get it as their root
	Pins    string // the file that keeps what tools looked like when first used; "" keeps it in memory
	Logs    string // the folder for a log file of each server; "" keeps the last lines in memory only
	SignIns string // the file that keeps the tokens of remote servers; "" allows no sign-in
	Logger  *slog.Logger

	// Start starts a local server, whose Dir is absolute, with a pipe as its standard input. nil
	// starts none.
	Start func(ctx context.Context, s Server, stdout, stderr *os.File) (Process, error)
	// Register offers a tool until remove is called. An error refuses the server that brought it.
	Register func(t tool.Tool) (remove func(), err error)
	// Ask passes a server's question to the person; nil declines. It must return when ctx ends.
	Ask func(ctx context.Context, server string, e Elicitation) (ElicitationAnswer, error)
	// Changed is called, from one goroutine, when the state or the tools of a server have changed.
	// It gets the newest state and may skip earlier ones.
	Changed func(Status)
	// Updated is called when a resource that is subscribed to has changed, or a part of it. Quick
	// changes are combined. It must not block.
	Updated func(ResourceUpdate)
	// Relisted is called when the resources or prompts of a server have changed, or both. It must
	// not block.
	Relisted func(server string, resources, prompts bool)
}

// A Process is a local server that was started, with all processes that come of it.
type Process interface {
	// PID returns the number of the server's own process.
	PID() int
	// Stdin returns the standard input of the server.
	Stdin() *os.File
	// Done is closed when the server's own process has ended.
	Done() <-chan struct{}
	// Outcome says how it ended, as "exit code 1". It must be called after Done is closed.
	Outcome() string
	// Stop ends all processes of the server: it asks them to, and kills what is left after grace.
	// The error names what could not be ended.
	Stop(grace time.Duration) error
}

// A Pool is the servers of a runtime. It is safe for concurrent use. The error for a name that no
// server has wraps [ErrNoServer].
type Pool interface {
	// Need connects the server that may have a tool of this name, and waits until it is connected
	// or has failed, or ctx ends.
	Need(ctx context.Context, tool string)
	// Gather connects all servers at once, and returns when each is connected or has failed, or ctx
	// ends.
	Gather(ctx context.Context)
	// Close ends all servers with all their processes, takes their tools away and waits for that.
	Close() error

	// Status returns the state of each server, in the order of the options. It may ask servers
	// whether they are alive, for a second at most.
	Status() []Status
	// Which returns the names of the servers whose status passes, in the order of the options. It
	// asks no server.
	Which(passes func(Status) bool) []string
	// Owner returns the server that a tool of this name comes from, or would come from.
	Owner(tool string) (server string, ok bool)

	// Connect connects a server now, also one that is disabled, and waits for it.
	Connect(ctx context.Context, server string) error
	// Disconnect ends a server and takes its tools away. It stays disabled until Connect.
	Disconnect(server string) error
	// SignIn lets a person sign in to a server, and keeps the token.
	SignIn(ctx context.Context, server string, way SignIn) error
	// Log returns the last lines that a server has logged or printed, oldest first. They are
	// untrusted.
	Log(server string) []string

	// Tools returns the tools of a server as it describes them.
	Tools(server string) []Tool
	// Approve accepts the present definition of a tool that has changed since its first use, or
	// with "" of all tools of the server.
	Approve(server, tool string) error
	// Prompts, Resources and Templates list what a server offers of each; none where it offers no
	// such thing.
	Prompts(ctx context.Context, server string) ([]Prompt, error)
	Resources(ctx context.Context, server string) ([]Resource, error)
	Templates(ctx context.Context, server string) ([]Template, error)
	// GetPrompt lets a server fill in one of its prompts.
	GetPrompt(ctx context.Context, p PromptCall) (PromptText, error)
	// ReadResource reads a resource of a server.
	ReadResource(ctx context.Context, server, uri string) ([]Content, error)
	// Complete asks a server for the values of an argument.
	Complete(ctx context.Context, c Completion) (Completed, error)
	// Subscribe reports changes of a resource to [Host.Updated], until Unsubscribe was called as
	// often.
	Subscribe(ctx context.Context, server, uri string) error
	Unsubscribe(server, uri string)
}

// An Elicitation is a server's question to a person: to fill in a form, or to open an address. Its
// texts are untrusted: escape them before they are shown, and say which server asks.
type Elicitation struct {
	Message string
	URL     string // to be opened; there are no fields then
	Fields  []Field
}

// A Field is one value that a form asks for.
type Field struct {
	Name        string
	Title       string
	Description string
	Type        string        // string, number, integer, boolean, enum or multi-enum
	Options     []FieldOption // of an enum
	Default     any           // nil for none
	Required    bool
	Format      string // of a string: email, uri, date or date-time
}

// A FieldOption is a value that may be chosen.
type FieldOption struct{ Value, Title string }

// An ElicitationAnswer is a person's answer to an [Elicitation].
type ElicitationAnswer struct {
	Action string         // accept, decline or cancel; decline when empty
	Values map[string]any // by the name of the field; texts that stand for numbers and booleans are taken for them
}
