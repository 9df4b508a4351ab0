// Package event defines what a runtime reports to its subscribers: one type for each thing that
// happens. Runtime.Events yields them, as do GET /event of the HTTP API and the JSON lines of
// `helve call --jsonl --events`.
package event

import (
	"encoding/json"

	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// A Payload is the content of an [Event]: one of the types of this package.
type Payload interface {
	// Type returns the name of the event in JSON, such as "call.started".
	Type() string
}

// CallStarted says that a call has arrived. Its state is pending.
type CallStarted struct {
	Call tool.Call `json:"call"`
}

// CallRunning says that a call was accepted and its tool starts, with the checked arguments.
type CallRunning struct {
	ID      string          `json:"id"`
	Session string          `json:"session"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input"`
}

// CallProgress is a progress report of a running tool. It replaces the previous one.
type CallProgress struct {
	ID       string         `json:"id"`
	Session  string         `json:"session"`
	Tool     string         `json:"tool"`
	Title    string         `json:"title,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

// CallFinished says that a call has ended. State is "completed", with Result, or "error", with
// Error.
type CallFinished struct {
	ID      string          `json:"id"`
	Session string          `json:"session"`
	Tool    string          `json:"tool"`
	State   string          `json:"state"`
	Result  *tool.Result    `json:"result,omitempty"`
	Error   *record.Failure `json:"error,omitempty"`
}

// HookRan says that a hook has run for a call.
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

// PermissionAsked says that a permission request waits for an answer.
type PermissionAsked struct {
	permission.Request
}

// PermissionReplied says that a permission request is over: its answer, or "withdrawn" when the
// call that asked was cancelled.
type PermissionReplied struct {
	Session string             `json:"sessionID"`
	Request string             `json:"requestID"`
	Reply   permission.Verdict `json:"reply"`
}

// QuestionAsked says that a set of questions waits for an answer.
type QuestionAsked struct {
	tool.QuestionRequest
}

// QuestionReplied carries the answers to a set of questions.
type QuestionReplied struct {
	Session string     `json:"sessionID"`
	Request string     `json:"requestID"`
	Answers [][]string `json:"answers"`
}

// QuestionRejected says that a set of questions ended without an answer: the person dismissed it,
// or the call was cancelled.
type QuestionRejected struct {
	Session string `json:"sessionID"`
	Request string `json:"requestID"`
}

// TodosChanged carries the new todo list of a session.
type TodosChanged struct {
	Session string      `json:"sessionID"`
	Todos   []tool.Todo `json:"todos"`
}

// FileEdited says that a tool has changed a file.
type FileEdited struct {
	Session string `json:"sessionID"`
	File    string `json:"file"`
}

// FileChanged says how a tool, or an undo, has changed a file. Event is "add", "change" or
// "unlink".
type FileChanged struct {
	File  string `json:"file"`
	Event string `json:"event"`
}

// JobChanged says that a background command has started, printed something or ended.
type JobChanged struct {
	record.Job
}

// ToolsChanged says that tools were added or removed.
type ToolsChanged struct{}

// LSPChanged says that a language server started, ended or failed.
type LSPChanged struct{}

// LSPDiagnostics says that a language server has published diagnostics for a file.
type LSPDiagnostics struct {
	Server string `json:"serverID"`
	Path   string `json:"path"`
}

// MCPChanged says that the state of an MCP server, or what it offers, has changed.
type MCPChanged struct {
	Server string `json:"server"`
	State  string `json:"state"`
	Error  string `json:"error,omitempty"`

	// What the server offers beside tools, while it is connected.
	Resources bool `json:"resources,omitempty"`
	Prompts   bool `json:"prompts,omitempty"`
}

// MCPUpdated says that a subscribed resource of an MCP server has changed.
type MCPUpdated struct {
	mcp.ResourceUpdate
}

// MCPRelisted says that the list of resources or prompts of an MCP server has changed.
type MCPRelisted struct {
	Server    string `json:"server"`
	Resources bool   `json:"resources,omitempty"`
	Prompts   bool   `json:"prompts,omitempty"`
}

// ScriptsChanged says that custom tools or plugins were loaded, have changed, or failed.
type ScriptsChanged struct{}

// ScriptLogged is a log line of a custom tool or plugin.
type ScriptLogged struct {
	Tool  string `json:"tool"`
	Level string `json:"level"`
	Text  string `json:"text"`
}

// A Notice is a message from a program or a plugin to all subscribers.
type Notice struct {
	Name string          `json:"-"` // the event's type, such as "session.idle"
	Body json.RawMessage `json:"-"`
}

// MarshalJSON returns only the body.
func (n Notice) MarshalJSON() ([]byte, error) {
	if len(n.Body) == 0 {
		return []byte("{}"), nil
	}
	return n.Body, nil
}

// Missed tells a subscriber that was too slow how many events it has lost. It is made for that
// subscriber and has no sequence number.
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
