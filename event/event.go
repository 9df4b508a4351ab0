// Package event holds what a runtime tells its subscribers: one type for each
// thing that happens. Runtime.Events yields them, as do GET /event of the HTTP
// API and the JSON lines of `helve call --jsonl --events`.
package event

import (
	"encoding/json"

	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// A Payload says what happened. It is one of the types of this package.
type Payload interface {
	// Type is the name of what happened on the wire, such as "call.started".
	Type() string
}

// CallStarted is a call that has arrived. Its state is pending.
type CallStarted struct {
	Call tool.Call `json:"call"`
}

// CallRunning is a call that was found good and goes to its tool, with the
// arguments that were checked.
type CallRunning struct {
	ID      string          `json:"id"`
	Session string          `json:"session"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input"`
}

// CallProgress is a report of a running tool. It replaces the one before.
type CallProgress struct {
	ID       string         `json:"id"`
	Session  string         `json:"session"`
	Tool     string         `json:"tool"`
	Title    string         `json:"title,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

// CallFinished is the end of a call, whatever the end was. State is
// "completed", with Result, or "error", with Error.
type CallFinished struct {
	ID      string          `json:"id"`
	Session string          `json:"session"`
	Tool    string          `json:"tool"`
	State   string          `json:"state"`
	Result  *tool.Result    `json:"result,omitempty"`
	Error   *record.Failure `json:"error,omitempty"`
}

// HookRan is a hook that has seen a call.
type HookRan struct {
	Call    string  `json:"call"`
	Session string  `json:"session"`
	Tool    string  `json:"tool"`
	Hook    string  `json:"hook"`   // its name
	When    string  `json:"when"`   // before or after
	Effect  string  `json:"effect"` // passed, changed, answered, refused, failed or late
	Millis  float64 `json:"ms"`
	Error   string  `json:"error,omitempty"`
}

// PermissionAsked is a request that waits for an answer.
type PermissionAsked struct {
	permission.Request
}

// PermissionReplied is the end of a request: its answer, or "withdrawn" when
// the call that asked was cancelled.
type PermissionReplied struct {
	Session string             `json:"sessionID"`
	Request string             `json:"requestID"`
	Reply   permission.Verdict `json:"reply"`
}

// QuestionAsked is a set of questions that waits for an answer.
type QuestionAsked struct {
	tool.QuestionRequest
}

// QuestionReplied is the answer to a set of questions.
type QuestionReplied struct {
	Session string     `json:"sessionID"`
	Request string     `json:"requestID"`
	Answers [][]string `json:"answers"`
}

// QuestionRejected is a set of questions that ended without an answer: the
// person dismissed it, or the call was cancelled.
type QuestionRejected struct {
	Session string `json:"sessionID"`
	Request string `json:"requestID"`
}

// TodosChanged is the new list of a session.
type TodosChanged struct {
	Session string      `json:"sessionID"`
	Todos   []tool.Todo `json:"todos"`
}

// FileEdited is a file that a tool has changed.
type FileEdited struct {
	Session string `json:"sessionID"`
	File    string `json:"file"`
}

// FileChanged says what happened to a file that a tool, or an undo, has
// changed. Event is "add", "change" or "unlink".
type FileChanged struct {
	File  string `json:"file"`
	Event string `json:"event"`
}

// JobChanged is a command in the background that has begun, printed something
// or ended.
type JobChanged struct {
	record.Job
}

// ToolsChanged says that tools came or went.
type ToolsChanged struct{}

// LSPChanged says that a language server came, went or failed.
type LSPChanged struct{}

// LSPDiagnostics says that a language server has said what it found in a file.
type LSPDiagnostics struct {
	Server string `json:"serverID"`
	Path   string `json:"path"`
}

// MCPChanged says that an MCP server, or what it offers, has changed.
type MCPChanged struct {
	Server string `json:"server"`
	State  string `json:"state"`
	Error  string `json:"error,omitempty"`

	// What it offers beside tools, while it is connected.
	Resources bool `json:"resources,omitempty"`
	Prompts   bool `json:"prompts,omitempty"`
}

// MCPUpdated says that a resource of an MCP server has changed that somebody
// subscribed to.
type MCPUpdated struct {
	mcp.ResourceUpdate
}

// MCPRelisted says that an MCP server has other resources or prompts than
// before.
type MCPRelisted struct {
	Server    string `json:"server"`
	Resources bool   `json:"resources,omitempty"`
	Prompts   bool   `json:"prompts,omitempty"`
}

// ScriptsChanged says that tools or plugins of a user were loaded, changed or
// broke.
type ScriptsChanged struct{}

// ScriptLogged is something that a tool or plugin of a user has logged.
type ScriptLogged struct {
	Tool  string `json:"tool"`
	Level string `json:"level"`
	Text  string `json:"text"`
}

// A Notice is something that a program, or a plugin, tells everybody who
// listens.
type Notice struct {
	Name string          `json:"-"` // the event's, as "session.idle"
	Body json.RawMessage `json:"-"`
}

// MarshalJSON gives the body.
func (n Notice) MarshalJSON() ([]byte, error) {
	if len(n.Body) == 0 {
		return []byte("{}"), nil
	}
	return n.Body, nil
}

// Missed tells a subscriber that it was too slow, and how many events it has
// not seen. It is made for that subscriber and has no number of its own.
type Missed struct {
	Count uint64 `json:"count"`
}

func (CallStarted) Type() string       { return "call.started" }
func (CallRunning) Type() string       { return "call.running" }
func (CallProgress) Type() string      { return "call.progress" }
func (CallFinished) Type() string      { return "call.finished" }
func (HookRan) Type() string           { return "hook.ran" }
func (PermissionAsked) Type() string   { return "permission.asked" }
func (PermissionReplied) Type() string { return "permission.replied" }
func (QuestionAsked) Type() string     { return "question.asked" }
func (QuestionReplied) Type() string   { return "question.replied" }
func (QuestionRejected) Type() string  { return "question.rejected" }
func (TodosChanged) Type() string      { return "todo.updated" }
func (FileEdited) Type() string        { return "file.edited" }
func (FileChanged) Type() string       { return "file.watcher.updated" }
func (JobChanged) Type() string        { return "job.updated" }
func (ToolsChanged) Type() string      { return "tools.changed" }
func (LSPChanged) Type() string        { return "lsp.updated" }
func (LSPDiagnostics) Type() string    { return "lsp.client.diagnostics" }
func (MCPChanged) Type() string        { return "mcp.tools.changed" }
func (MCPUpdated) Type() string        { return "mcp.resource.updated" }
func (MCPRelisted) Type() string       { return "mcp.lists.changed" }
func (ScriptsChanged) Type() string    { return "custom.changed" }
func (ScriptLogged) Type() string      { return "script.said" }
func (n Notice) Type() string          { return n.Name }
func (Missed) Type() string            { return "events.missed" }
