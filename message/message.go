// Package message holds conversations as they are kept and shown: the messages of people and
// models, and their parts. The JSON forms are OpenCode's. Times are milliseconds since the epoch.
package message

import (
	"encoding/json"

	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/tool"
)

// A Message is one message of a person or a model.
type Message struct {
	Info  Info   `json:"info"`
	Parts []Part `json:"parts"` // in the order of their ids
}

// The roles of a message.
const (
	User      = "user"
	Assistant = "assistant"
)

// Info is a message without its parts. Only messages of an assistant have the fields below Model.
type Info struct {
	ID      string    `json:"id"`
	Session string    `json:"sessionID"`
	Role    string    `json:"role"`
	Time    Times     `json:"time"`
	Agent   string    `json:"agent"` // the agent that the message is for, or by
	Model   model.Ref `json:"model"`

	Parent  string       `json:"parentID,omitempty"` // id of the user's message that it answers
	Path    *Path        `json:"path,omitempty"`
	Cost    float64      `json:"cost"` // in US dollars
	Tokens  model.Tokens `json:"tokens"`
	Finish  string       `json:"finish,omitempty"`  // one of the finish reasons of package model; empty while unfinished or broken off
	Summary bool         `json:"summary,omitempty"` // it replaces all earlier messages
	Error   *Failure     `json:"error,omitempty"`
}

// Times are the start and the end of something; 0 where it has not happened.
type Times struct {
	Created   int64 `json:"created"`
	Completed int64 `json:"completed,omitempty"`
}

// Path holds the directories in which a session works.
type Path struct {
	Cwd  string `json:"cwd"`
	Root string `json:"root"`
}

// A Failure is the reason why a message broke off. Name is one such as "MessageAbortedError".
type Failure struct {
	Name string      `json:"name"`
	Data FailureData `json:"data"`
}

// FailureData holds the details of a failure.
type FailureData struct {
	Message string `json:"message"`
	Kind    string `json:"kind,omitempty"` // one of the error kinds of package model
	Status  int    `json:"statusCode,omitempty"`
}

// A PartType is the type of a part.
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
	Retry      PartType = "retry"      // a failed attempt
)

// A Part is a piece of a message. Type decides which fields are set.
type Part struct {
	ID      string   `json:"id"`
	Session string   `json:"sessionID"`
	Message string   `json:"messageID"`
	Type    PartType `json:"type"`

	Text      string `json:"text,omitempty"`      // for text and reasoning
	Synthetic bool   `json:"synthetic,omitempty"` // added on behalf of the person, not written by them
	Seal      string `json:"seal,omitempty"`      // for reasoning and tool: opaque data that the provider wants back
	Time      *Span  `json:"time,omitempty"`

	Mime     string `json:"mime,omitempty"` // for file, as the next two
	Filename string `json:"filename,omitempty"`
	URL      string `json:"url,omitempty"` // data:<mime>;base64,<…>

	CallID string `json:"callID,omitempty"` // for tool, as the next two
	Tool   string `json:"tool,omitempty"`
	State  *State `json:"state,omitempty"`

	Reason string        `json:"reason,omitempty"` // for step-finish, as the next two
	Cost   *float64      `json:"cost,omitempty"`
	Tokens *model.Tokens `json:"tokens,omitempty"`

	Auto    bool     `json:"auto,omitempty"`    // for compaction: it was not requested
	Attempt int      `json:"attempt,omitempty"` // for retry
	Error   *Failure `json:"error,omitempty"`   // for retry
}

// A Span is when something began and ended. Compacted is when its output was removed from what the
// model is sent.
type Span struct {
	Start     int64 `json:"start"`
	End       int64 `json:"end,omitempty"`
	Compacted int64 `json:"compacted,omitempty"`
}

// A Status is the progress of a tool call.
type Status string

// The statuses of a tool call.
const (
	Pending   Status = "pending"
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "error"
)

// A State is the input of a tool call, its progress and its outcome.
type State struct {
	Status      Status            `json:"status"`
	Input       json.RawMessage   `json:"input"`         // an object; where the model wrote none, Raw holds its text
	Raw         string            `json:"raw,omitempty"` // what the model wrote, where Input differs
	Output      string            `json:"output,omitempty"`
	Title       string            `json:"title,omitempty"`
	Metadata    map[string]any    `json:"metadata,omitempty"`
	Error       string            `json:"error,omitempty"`
	Reason      string            `json:"reason,omitempty"` // the error in words for a person, where Error is worded for the model
	Kind        tool.Kind         `json:"kind,omitempty"`   // of an error; also of one that another tool answered
	Time        *Span             `json:"time,omitempty"`
	Attachments []tool.Attachment `json:"attachments,omitempty"`
	Cost        float64           `json:"cost,omitempty"` // of the models that the call used, in US dollars
}
