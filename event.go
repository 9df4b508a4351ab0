package helve

import (
	"encoding/json"
	"time"

	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// An Event tells what happened in a runtime. Events have one order, the same
// for every subscriber, and Seq numbers them from 1 without gaps.
type Event struct {
	Seq        uint64    `json:"seq"`
	Time       time.Time `json:"time"`
	Type       string    `json:"type"`       // the name of what happened, such as "call.started"
	Properties Payload   `json:"properties"` // one of the structs below
}

// A Payload is the body of an event: one of the structs of this file.
type Payload interface {
	kind() string
	// weight is about how many bytes the body holds on to.
	weight() int
}

// CallStarted is a call that has arrived. Its state is pending.
type CallStarted struct {
	Call tool.Call `json:"call"`

	inTurn bool // it is part of a conversation, whose messages tell of it
}

// CallRunning is a call that was found good and goes to its tool, with the
// arguments that were checked.
type CallRunning struct {
	ID      string          `json:"id"`
	Session string          `json:"session"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input"`

	inTurn bool // as in CallStarted
}

// CallProgress is a report of a running tool. It replaces the one before.
type CallProgress struct {
	ID       string         `json:"id"`
	Session  string         `json:"session"`
	Tool     string         `json:"tool"`
	Title    string         `json:"title,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`

	size int // of the metadata, encoded
}

// CallFinished is the end of a call, whatever the end was. State is
// "completed", with Result, or "error", with Error.
type CallFinished struct {
	ID      string       `json:"id"`
	Session string       `json:"session"`
	Tool    string       `json:"tool"`
	State   string       `json:"state"`
	Result  *tool.Result `json:"result,omitempty"`
	Error   *CallError   `json:"error,omitempty"`

	size   int  // of the metadata, encoded
	inTurn bool // as in CallStarted
}

// A CallError is the failure of a call as data.
type CallError struct {
	Kind    tool.Kind `json:"kind"`
	Code    string    `json:"code"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
	Reason  string    `json:"reason,omitempty"` // in words for a person, where the message is for a model
}

// PermissionAsked is a request that waits for [Runtime.Reply].
type PermissionAsked struct {
	permission.Request

	size int // of the metadata, about
}

// PermissionReplied is the end of a request: its answer, or "withdrawn" when
// the call that asked was cancelled.
type PermissionReplied struct {
	Session string             `json:"sessionID"`
	Request string             `json:"requestID"`
	Reply   permission.Verdict `json:"reply"`
}

// QuestionAsked is a set of questions that waits for [Runtime.Answer] or
// [Runtime.Dismiss].
type QuestionAsked struct {
	QuestionRequest
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

	background bool // a plugin did it that heard of an event
}

// FileChanged says what happened to a file that a tool, or an undo, has
// changed. Event is "add", "change" or "unlink".
type FileChanged struct {
	File  string `json:"file"`
	Event string `json:"event"`

	background bool // a plugin did it that heard of an event
}

// JobChanged is a command in the background that has begun, printed something
// or ended.
type JobChanged struct {
	Job
}

// ToolsChanged says that tools came or went.
type ToolsChanged struct{}

// Missed tells a subscriber that it was too slow, and how many events it has
// not seen. It is made for that subscriber and has no number of its own.
type Missed struct {
	Count uint64 `json:"count"`
}

func (CallStarted) kind() string       { return "call.started" }
func (CallRunning) kind() string       { return "call.running" }
func (CallProgress) kind() string      { return "call.progress" }
func (CallFinished) kind() string      { return "call.finished" }
func (PermissionAsked) kind() string   { return "permission.asked" }
func (PermissionReplied) kind() string { return "permission.replied" }
func (QuestionAsked) kind() string     { return "question.asked" }
func (QuestionReplied) kind() string   { return "question.replied" }
func (QuestionRejected) kind() string  { return "question.rejected" }
func (TodosChanged) kind() string      { return "todo.updated" }
func (FileEdited) kind() string        { return "file.edited" }
func (FileChanged) kind() string       { return "file.watcher.updated" }
func (JobChanged) kind() string        { return "job.updated" }
func (ToolsChanged) kind() string      { return "tools.changed" }
func (Missed) kind() string            { return "events.missed" }

func (e CallStarted) weight() int     { return 256 + len(e.Call.Input) }
func (e CallRunning) weight() int     { return 256 + len(e.Input) }
func (e CallProgress) weight() int    { return 256 + len(e.Title) + 3*e.size }
func (e PermissionAsked) weight() int { return 1024 + e.size }
func (PermissionReplied) weight() int { return 128 }
func (QuestionAsked) weight() int     { return 4096 }
func (QuestionReplied) weight() int   { return 1024 }
func (QuestionRejected) weight() int  { return 128 }
func (e TodosChanged) weight() int    { return 256 * (1 + len(e.Todos)) }
func (e FileEdited) weight() int      { return 128 + len(e.File) }
func (e FileChanged) weight() int     { return 128 + len(e.File) }
func (e JobChanged) weight() int      { return len(e.Command) + len(e.Title) + 256 }
func (ToolsChanged) weight() int      { return 64 }
func (Missed) weight() int            { return 64 }
func (e CallFinished) weight() int    { return 512 + 3*e.size + held(e.Result) }

// held is about how many bytes of text and files a result holds on to. What
// is decoded from JSON takes about three times its text, counted apart.
func held(res *tool.Result) (n int) {
	if res == nil {
		return 0
	}
	n = len(res.Title) + len(res.Output)
	for _, a := range res.Attachments {
		n += len(a.URL)
	}
	for _, in := range res.Inner {
		n += len(in.Input) + len(in.Error) + held(in.Result)
	}
	return n
}
