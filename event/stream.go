package event

import (
	"math"
	"time"
)

// An Event is one thing that happened in a runtime. Every subscriber sees events in the same order;
// Seq numbers them from 1 without gaps.
type Event struct {
	Seq        uint64    `json:"seq"`
	Time       time.Time `json:"time"`
	Type       string    `json:"type"`       // the name of the payload's type, such as "call.started"
	Properties Payload   `json:"properties"` // a type of this package
}

// Now, as the sequence number to start after, makes Runtime.Events yield only new events.
const Now = math.MaxUint64

// SessionOf returns the session that an event belongs to, or "" if it belongs to none.
func SessionOf(p Payload) string {
	switch e := p.(type) {
	case CallStarted:
		return e.Call.Session
	case CallRunning:
		return e.Session
	case CallProgress:
		return e.Session
	case CallFinished:
		return e.Session
	case HookRan:
		return e.Session
	case PermissionAsked:
		return e.Session
	case PermissionReplied:
		return e.Session
	case QuestionAsked:
		return e.Session
	case QuestionReplied:
		return e.Session
	case QuestionRejected:
		return e.Session
	case TodosChanged:
		return e.Session
	case FileEdited:
		return e.Session
	case JobChanged:
		return e.Session
	case SessionCreated:
		return e.Info.ID
	case SessionUpdated:
		return e.Info.ID
	case SessionStatus:
		return e.Session
	case SessionIdle:
		return e.Session
	case SessionError:
		return e.Session
	case SessionCompacted:
		return e.Session
	case MessageUpdated:
		return e.Info.Session
	case MessageRemoved:
		return e.Session
	case PartUpdated:
		return e.Part.Session
	case PartDelta:
		return e.Session
	case PartRemoved:
		return e.Session
	}
	return ""
}
