package event

import (
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/record"
)

// SessionCreated is a session that was made.
type SessionCreated struct {
	Info record.Session `json:"info"`
}

// SessionUpdated is a session that has another title, agent or sum.
type SessionUpdated struct {
	Info record.Session `json:"info"`
}

// SessionStatus says whether an agent works on a session.
type SessionStatus struct {
	Session string `json:"sessionID"`
	Status  Status `json:"status"`
}

// A Status is "idle", "busy" or "retry". Message and the ones after it are of a
// retry: why, which attempt comes next, and when (milliseconds since the epoch).
type Status struct {
	Type    string `json:"type"`
	Attempt int    `json:"attempt,omitempty"`
	Message string `json:"message,omitempty"`
	Next    int64  `json:"next,omitempty"`
}

// SessionIdle is the end of the work on a prompt.
type SessionIdle struct {
	Session string `json:"sessionID"`
}

// SessionError is work that failed.
type SessionError struct {
	Session string          `json:"sessionID,omitempty"`
	Error   message.Failure `json:"error"`
}

// SessionCompacted is a conversation that was summed up.
type SessionCompacted struct {
	Session string `json:"sessionID"`
}

// MessageUpdated is a message that has begun, changed or ended.
type MessageUpdated struct {
	Info message.Info `json:"info"`
}

// MessageRemoved is a message of which nothing came.
type MessageRemoved struct {
	Session string `json:"sessionID"`
	Message string `json:"messageID"`
}

// PartUpdated is a part of a message that has begun, changed or ended.
type PartUpdated struct {
	Part message.Part `json:"part"`
}

// PartDelta is a piece by which a text grows.
type PartDelta struct {
	Session string `json:"sessionID"`
	Message string `json:"messageID"`
	Part    string `json:"partID"`
	Field   string `json:"field"` // always "text"
	Delta   string `json:"delta"`
}

// PartRemoved is a part that no longer counts: the answer that it belonged to
// is asked for again.
type PartRemoved struct {
	Session string `json:"sessionID"`
	Message string `json:"messageID"`
	Part    string `json:"partID"`
}

func (SessionCreated) Type() string   { return "session.created" }
func (SessionUpdated) Type() string   { return "session.updated" }
func (SessionStatus) Type() string    { return "session.status" }
func (SessionIdle) Type() string      { return "session.idle" }
func (SessionError) Type() string     { return "session.error" }
func (SessionCompacted) Type() string { return "session.compacted" }
func (MessageUpdated) Type() string   { return "message.updated" }
func (MessageRemoved) Type() string   { return "message.removed" }
func (PartUpdated) Type() string      { return "message.part.updated" }
func (PartDelta) Type() string        { return "message.part.delta" }
func (PartRemoved) Type() string      { return "message.part.removed" }
