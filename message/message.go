// Package message is a conversation as it is kept and shown: messages of
// people and models, and the parts they are made of. The JSON forms are the
// reference's. Times are milliseconds since the epoch.
package message

import (
	"encoding/json"

	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/tool"
)

// A Message is what a person or a model said at one time.
type Message struct {
	Info  Info   `json:"info"`
	Parts []Part `json:"parts"` // in the order of their ids
}

// The roles.
const (
	User      = "user"
	Assistant = "assistant"
)

// Info is a message without its parts. What stands below Model is of an
// assistant's message only.
type Info struct {
	ID      string    `json:"id"`
	Session string    `json:"sessionID"`
	Role    string    `json:"role"`
	Time    Times     `json:"time"`
	Agent   string    `json:"agent"` // a message for it, or by it
	Model   model.Ref `json:"model"`

	Parent  string       `json:"parentID,omitempty"` // the user's message that it answers
	Path    *Path        `json:"path,omitempty"`
	Cost    float64      `json:"cost"` // in US dollars
	Tokens  model.Tokens `json:"tokens"`
	Finish  string       `json:"finish,omitempty"`  // one of model's reasons; empty while it goes on, or where it broke off
	Summary bool         `json:"summary,omitempty"` // it stands for all that was said before
	Error   *Failure     `json:"error,omitempty"`
}

// Times are when something began and ended; 0 where it has not.
type Times struct {
	Created   int64 `json:"created"`
	Completed int64 `json:"completed,omitempty"`
}

// Path says where a session works.
type Path struct {
	Cwd  string `json:"cwd"`
	Root string `json:"root"`
}

// A Failure is why a message broke off. Name is such as "MessageAbortedError".
type Failure struct {
	Name string      `json:"name"`
	Data FailureData `json:"data"`
}

// FailureData says more about a failure.
type FailureData struct {
	Message string `json:"message"`
	Kind    string `json:"kind,omitempty"` // one of model's kinds of errors
	Status  int    `json:"statusCode,omitempty"`
}

// A PartType says what a part is.
type PartType string

// The types of parts.
const (
	Text       PartType = "text"
	Reasoning  PartType = "reasoning"
	File       PartType = "file"
	Tool       PartType = "tool"
	StepStart  PartType = "step-start"
	StepFinish PartType = "step-finish"
	Compaction PartType = "compaction" // a wish, in a user's message: say what was said in short
	Retry      PartType = "retry"      // an attempt that failed
)

// A Part is a piece of a message. Which fields are set is decided by Type.
type Part struct {
	ID      string   `json:"id"`
	Session string   `json:"sessionID"`
	Message string   `json:"messageID"`
	Type    PartType `json:"type"`

	Text      string `json:"text,omitempty"`      // of text and reasoning
	Synthetic bool   `json:"synthetic,omitempty"` // not said by the person but on their behalf
	Seal      string `json:"seal,omitempty"`      // of reasoning and tool: what the provider wants back
	Time      *Span  `json:"time,omitempty"`

	Mime     string `json:"mime,omitempty"` // of file, as the next two
	Filename string `json:"filename,omitempty"`
	URL      string `json:"url,omitempty"` // data:<mime>;base64,<…>

	CallID string `json:"callID,omitempty"` // of tool, as the next two
	Tool   string `json:"tool,omitempty"`
	State  *State `json:"state,omitempty"`

	Reason string        `json:"reason,omitempty"` // of step-finish, as the next two
	Cost   *float64      `json:"cost,omitempty"`
	Tokens *model.Tokens `json:"tokens,omitempty"`

	Auto    bool     `json:"auto,omitempty"`    // of compaction: nobody asked for it
	Attempt int      `json:"attempt,omitempty"` // of retry
	Error   *Failure `json:"error,omitempty"`   // of retry
}

// A Span is when something began and ended. Compacted is when its output was
// taken out of the model's sight.
type Span struct {
	Start     int64 `json:"start"`
	End       int64 `json:"end,omitempty"`
	Compacted int64 `json:"compacted,omitempty"`
}

// A Status says how far a tool call has come.
type Status string

// The statuses of a tool call.
const (
	Pending   Status = "pending"
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "error"
)

// A State is a tool call and how far it has come.
type State struct {
	Status      Status            `json:"status"`
	Input       json.RawMessage   `json:"input"`         // an object; what the model wrote stands in Raw where it is none
	Raw         string            `json:"raw,omitempty"` // what the model wrote, where Input is not it
	Output      string            `json:"output,omitempty"`
	Title       string            `json:"title,omitempty"`
	Metadata    map[string]any    `json:"metadata,omitempty"`
	Error       string            `json:"error,omitempty"`
	Reason      string            `json:"reason,omitempty"` // the error in words for a person, where others were made for the model
	Kind        tool.Kind         `json:"kind,omitempty"`   // of an error; also of one that another tool answered for
	Time        *Span             `json:"time,omitempty"`
	Attachments []tool.Attachment `json:"attachments,omitempty"`
	Cost        float64           `json:"cost,omitempty"` // of the models that it asked, in US dollars
}
