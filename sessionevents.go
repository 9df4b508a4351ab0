package helve

import (
	"github.com/helve-dev/helve/message"
)

// MessageUpdated is a message that has begun, changed or ended.
type MessageUpdated struct {
	Info message.Info `json:"info"`
}

// PartUpdated is a part of a message that has begun, changed or ended.
type PartUpdated struct {
	Part message.Part `json:"part"`

	size int // of the metadata of a call, encoded
}

// partUpdated measures a part once: what is kept of it is weighed again and
// again.
func partUpdated(p message.Part) PartUpdated {
	if p.State == nil || len(p.State.Metadata) == 0 {
		return PartUpdated{Part: p}
	}
	return PartUpdated{Part: p, size: sizeOf(p.State.Metadata)}
}

// PartDelta is a piece by which a text grows.
type PartDelta struct {
	Session string `json:"sessionID"`
	Message string `json:"messageID"`
	Part    string `json:"partID"`
	Field   string `json:"field"` // always "text"
	Delta   string `json:"delta"`
}

// PartRemoved is a part that is not to be: the answer it belonged to is asked
// for again.
type PartRemoved struct {
	Session string `json:"sessionID"`
	Message string `json:"messageID"`
	Part    string `json:"partID"`
}

// MessageRemoved is a message that is not to be: it was told of, and then nothing
// came of it.
type MessageRemoved struct {
	Session string `json:"sessionID"`
	Message string `json:"messageID"`
}

// SessionChanged is a session that was made, or that has another title, agent
// or sum.
type SessionChanged struct {
	Info Session `json:"info"`

	created bool
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

func (MessageUpdated) kind() string { return "message.updated" }
func (PartUpdated) kind() string    { return "message.part.updated" }
func (PartDelta) kind() string      { return "message.part.delta" }
func (MessageRemoved) kind() string { return "message.removed" }
func (PartRemoved) kind() string    { return "message.part.removed" }
func (e SessionChanged) kind() string {
	if e.created {
		return "session.created"
	}
	return "session.updated"
}
func (SessionStatus) kind() string    { return "session.status" }
func (SessionIdle) kind() string      { return "session.idle" }
func (SessionError) kind() string     { return "session.error" }
func (SessionCompacted) kind() string { return "session.compacted" }

func (MessageUpdated) weight() int   { return 1024 }
func (e PartDelta) weight() int      { return 256 + len(e.Delta) }
func (MessageRemoved) weight() int   { return 128 }
func (PartRemoved) weight() int      { return 128 }
func (SessionChanged) weight() int   { return 512 }
func (SessionStatus) weight() int    { return 256 }
func (SessionIdle) weight() int      { return 128 }
func (e SessionError) weight() int   { return 256 + len(e.Error.Data.Message) }
func (SessionCompacted) weight() int { return 128 }
func (e PartUpdated) weight() int {
	n := 512 + len(e.Part.Text) + len(e.Part.URL) + 3*e.size
	if s := e.Part.State; s != nil {
		n += 3*(len(s.Input)+len(s.Output)) + len(s.Error)
		for _, a := range s.Attachments {
			n += len(a.URL)
		}
	}
	return n
}
