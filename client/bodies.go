package client

import "encoding/json"

// A CallStartedEvent (call.started) is a call that has arrived.
type CallStartedEvent struct {
	Call struct {
		ID      string          `json:"id"`
		Session string          `json:"session"`
		Message string          `json:"message"` // the message of the model that holds the call
		Parent  string          `json:"parent"`  // the call that made this one
		Agent   string          `json:"agent"`
		Tool    string          `json:"tool"`
		Input   json.RawMessage `json:"input"`
	} `json:"call"`
}

// A CallRunningEvent (call.running) is a call that was found good and goes to
// its tool.
type CallRunningEvent struct {
	ID      string          `json:"id"`
	Session string          `json:"session"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input"`
}

// A CallProgressEvent (call.progress) is a report of a tool that works. It
// replaces the one before.
type CallProgressEvent struct {
	ID       string         `json:"id"`
	Session  string         `json:"session"`
	Tool     string         `json:"tool"`
	Title    string         `json:"title"`
	Metadata map[string]any `json:"metadata"`
}

// Output is what a command has printed so far, as far as it is shown.
func (e CallProgressEvent) Output() string {
	text, _ := e.Metadata["output"].(string)
	return text
}

// A CallFinishedEvent (call.finished) is the end of a call. State is
// "completed", with Result, or "error", with Error.
type CallFinishedEvent struct {
	ID      string      `json:"id"`
	Session string      `json:"session"`
	Tool    string      `json:"tool"`
	State   string      `json:"state"`
	Result  *ToolResult `json:"result"`
	Error   *CallError  `json:"error"`
}

// A RepliedEvent (permission.replied, question.replied, question.rejected) is
// the end of a request, whoever answered it.
type RepliedEvent struct {
	Session string     `json:"sessionID"`
	Request string     `json:"requestID"`
	Reply   string     `json:"reply"`   // to a permission: once, always, reject or withdrawn
	Answers [][]string `json:"answers"` // to questions
}

// A TodosEvent (todo.updated) is the new list of a session.
type TodosEvent struct {
	Session string     `json:"sessionID"`
	Todos   []ToolTodo `json:"todos"`
}

// A FileEditedEvent (file.edited) is a file that a tool has changed.
type FileEditedEvent struct {
	Session string `json:"sessionID"`
	File    string `json:"file"`
}

// A MessageEvent (message.updated) is a message that has begun, changed or
// ended.
type MessageEvent struct {
	Info MessageInfo `json:"info"`
}

// A PartEvent (message.part.updated) is a part of a message that has begun,
// changed or ended.
type PartEvent struct {
	Part MessagePart `json:"part"`
}

// A DeltaEvent (message.part.delta) is a piece by which a text grows.
type DeltaEvent struct {
	Session string `json:"sessionID"`
	Message string `json:"messageID"`
	Part    string `json:"partID"`
	Field   string `json:"field"`
	Delta   string `json:"delta"`
}

// A SessionEvent (session.created, session.updated) is a session that was made,
// or that has another title, agent or sum. Its status is not told here.
type SessionEvent struct {
	Info Session `json:"info"`
}

// A StatusEvent (session.status) says whether an agent works on a session.
type StatusEvent struct {
	Session string `json:"sessionID"`
	Status  Status `json:"status"`
}

// An IdleEvent (session.idle) is the end of the work on a prompt.
type IdleEvent struct {
	Session string `json:"sessionID"`
}

// A SessionErrorEvent (session.error) is work that failed.
type SessionErrorEvent struct {
	Session string         `json:"sessionID"`
	Error   MessageFailure `json:"error"`
}

// A MissedEvent (events.missed) says how many events were dropped; 0 where
// that is not known.
type MissedEvent struct {
	Count uint64 `json:"count"`
}

// Body reads the properties of an event by its type: one of the structs here, a
// [PermissionRequest] or a [QuestionRequest] of what was asked, or a [Job]. What
// has no struct is a json.RawMessage.
//
//	switch b := body.(type) {
//	case client.CallFinishedEvent:
//	case client.PermissionRequest:
//	}
func (e Event) Body() (any, error) {
	switch e.Type {
	case "call.started":
		return bodyOf[CallStartedEvent](e)
	case "call.running":
		return bodyOf[CallRunningEvent](e)
	case "call.progress":
		return bodyOf[CallProgressEvent](e)
	case "call.finished":
		return bodyOf[CallFinishedEvent](e)
	case "permission.asked":
		return bodyOf[PermissionRequest](e)
	case "question.asked":
		return bodyOf[QuestionRequest](e)
	case "permission.replied", "question.replied", "question.rejected":
		return bodyOf[RepliedEvent](e)
	case "job.updated":
		return bodyOf[Job](e)
	case "events.missed":
		return bodyOf[MissedEvent](e)
	}
	return e.talk()
}

// talk reads the events of conversations, and what is left.
func (e Event) talk() (any, error) {
	switch e.Type {
	case "todo.updated":
		return bodyOf[TodosEvent](e)
	case "file.edited":
		return bodyOf[FileEditedEvent](e)
	case "message.updated":
		return bodyOf[MessageEvent](e)
	case "message.part.updated":
		return bodyOf[PartEvent](e)
	case "message.part.delta":
		return bodyOf[DeltaEvent](e)
	case "session.created", "session.updated":
		return bodyOf[SessionEvent](e)
	case "session.status":
		return bodyOf[StatusEvent](e)
	case "session.idle":
		return bodyOf[IdleEvent](e)
	case "session.error":
		return bodyOf[SessionErrorEvent](e)
	}
	return e.Properties, nil
}

func bodyOf[T any](e Event) (any, error) {
	var b T
	if err := e.Decode(&b); err != nil {
		return nil, err
	}
	return b, nil
}
