package event

import (
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/record"
)

// SessionCreated says that a session was created.
type SessionCreated struct {
	Info record.Session `json:"info"`
}

// SessionUpdated says that the title, the agent or the totals of a session have changed.
type SessionUpdated struct {
	Info record.Session `json:"info"`
}

// SessionStatus says whether an agent is working on a session.
type SessionStatus struct {
	Session string `json:"sessionID"`
	Status  Status `json:"status"`
}

// A Status is "idle", "busy" or "retry". Message and the fields after it belong to a retry: the
// reason, the number of the next attempt, and its time (milliseconds since the epoch).
type Status struct {
	Type    string `json:"type"`
	Attempt int    `json:"attempt,omitempty"`
	Message string `json:"message,omitempty"`
	Next    int64  `json:"next,omitempty"`
}

// SessionIdle says that the work on a prompt has ended.
type SessionIdle struct {
	Session string `json:"sessionID"`
}

// SessionError says that the work on a prompt has failed.
type SessionError struct {
	Session string          `json:"sessionID,omitempty"`
	Error   message.Failure `json:"error"`
}

// SessionCompacted says that a conversation was summarized.
type SessionCompacted struct {
	Session string `json:"sessionID"`
}

// MessageUpdated says that a message has begun, changed or ended.
type MessageUpdated struct {
	Info message.Info `json:"info"`
}

// MessageRemoved says that a message that stayed empty was removed.
type MessageRemoved struct {
	Session string `json:"sessionID"`
	Message string `json:"messageID"`
}

// PartUpdated says that a part of a message has begun, changed or ended.
type PartUpdated struct {
	Part message.Part `json:"part"`
}

// PartDelta is text appended to a part.
type PartDelta struct {
	Session string `json:"sessionID"`
	Message string `json:"messageID"`
	Part    string `json:"partID"`
	Field   string `json:"field"` // always "text"
	Delta   string `json:"delta"`
}

// PartRemoved says that a part no longer counts, because the answer it belonged to is requested
// again.
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
