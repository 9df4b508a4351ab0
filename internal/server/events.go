package server

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/record"
)

// An eventKind is what the runtime tells under one name.
type eventKind struct {
	name  string
	about string
	told  event.Payload
	body  reflect.Type // its form in the document, where that is another's
}

// eventKinds are the events of the runtime. Programs and plugins may tell
// others.
func eventKinds() []eventKind {
	return []eventKind{
		{name: "call.started", about: "a call that has arrived", told: event.CallStarted{}},
		{name: "call.running", about: "a call that was found good and goes to its tool", told: event.CallRunning{}},
		{name: "call.progress", about: "a report of a tool that works, which replaces the one before", told: event.CallProgress{}},
		{name: "call.finished", about: "the end of a call: completed with a result, or an error", told: event.CallFinished{}},
		{name: "hook.ran", about: "a hook that has seen a call", told: event.HookRan{}},
		{name: "permission.asked", about: "a request that waits for an answer", told: event.PermissionAsked{}, body: reflect.TypeFor[permissionRequest]()},
		{name: "permission.replied", about: "the end of a request: its answer, or withdrawn when the call that asked was cancelled", told: event.PermissionReplied{}},
		{name: "question.asked", about: "a set of questions that waits for an answer", told: event.QuestionAsked{}, body: reflect.TypeFor[questionRequest]()},
		{name: "question.replied", about: "the answer to a set of questions", told: event.QuestionReplied{}},
		{name: "question.rejected", about: "a set of questions that ended without an answer", told: event.QuestionRejected{}},
		{name: "todo.updated", about: "the new list of a session", told: event.TodosChanged{}},
		{name: "file.edited", about: "a file that a tool has changed", told: event.FileEdited{}},
		{name: "file.watcher.updated", about: "what happened to a file: add, change or unlink", told: event.FileChanged{}},
		{name: "job.updated", about: "a command in the background that has begun, printed something or ended", told: event.JobChanged{}, body: reflect.TypeFor[record.Job]()},
		{name: "session.created", about: "a session that was made", told: event.SessionCreated{}, body: reflect.TypeFor[event.SessionUpdated]()},
		{name: "session.updated", about: "a session that has another title, agent or sum", told: event.SessionUpdated{}},
		{name: "session.status", about: "whether an agent works on a session", told: event.SessionStatus{}},
		{name: "session.idle", about: "the end of the work on a prompt", told: event.SessionIdle{}},
		{name: "session.error", about: "work that failed", told: event.SessionError{}},
		{name: "session.compacted", about: "a conversation that was summed up", told: event.SessionCompacted{}},
		{name: "message.updated", about: "a message that has begun, changed or ended", told: event.MessageUpdated{}},
		{name: "message.removed", about: "a message that is not to be", told: event.MessageRemoved{}},
		{name: "message.part.updated", about: "a part of a message that has begun, changed or ended", told: event.PartUpdated{}},
		{name: "message.part.delta", about: "a piece by which a text grows", told: event.PartDelta{}},
		{name: "message.part.removed", about: "a part that is not to be", told: event.PartRemoved{}},
		{name: "tools.changed", about: "tools that came or went", told: event.ToolsChanged{}},
		{name: "custom.changed", about: "files of users that were loaded, changed or broke", told: event.ScriptsChanged{}},
		{name: "script.said", about: "what a tool or plugin of a user has logged", told: event.ScriptLogged{}},
		{name: "mcp.tools.changed", about: "an MCP server that has changed, or what it offers", told: event.MCPChanged{}},
		{name: "mcp.lists.changed", about: "an MCP server that has other resources or prompts", told: event.MCPRelisted{}},
		{name: "mcp.resource.updated", about: "a resource that has changed", told: event.MCPUpdated{}},
		{name: "lsp.updated", about: "a language server that came, went or failed", told: event.LSPChanged{}},
		{name: "lsp.client.diagnostics", about: "a file that a language server has said something about", told: event.LSPDiagnostics{}},
		{name: "events.missed", about: "events that can not be told any more", told: event.Missed{}, body: reflect.TypeFor[missed]()},
	}
}

// form is the type that the document describes an event's properties by.
func (k eventKind) form() reflect.Type {
	if k.body != nil {
		return k.body
	}
	return reflect.TypeOf(k.told)
}

// eventSchema describes events: one of those that the runtime tells, by type, or
// something else.
func (s *Server) eventSchema() *huma.Schema {
	ref := s.schema(reflect.TypeFor[Event]())
	whole := s.api.OpenAPI().Components.Schemas.SchemaFromRef(ref.Ref)
	var names []any
	for _, k := range eventKinds() {
		names = append(names, k.name)
		whole.OneOf = append(whole.OneOf, &huma.Schema{Description: k.about, Properties: map[string]*huma.Schema{
			"type": {Const: k.name}, "properties": s.schema(k.form()),
		}})
	}
	whole.OneOf = append(whole.OneOf, &huma.Schema{Description: "what a program or a plugin tells", Properties: map[string]*huma.Schema{
		"type": {Not: &huma.Schema{Enum: names}},
	}})
	return ref
}

// isEvent reports whether a type is the body of an event and of nothing else.
func isEvent(t reflect.Type) bool {
	for _, k := range eventKinds() {
		if k.body == nil && reflect.TypeOf(k.told) == t {
			return true
		}
	}
	return t == reflect.TypeFor[missed]()
}

// solidEvent fills in the lists of an event, which are never null in what goes
// out.
func solidEvent(h event.Payload) event.Payload {
	switch e := h.(type) {
	case event.PermissionAsked:
		e.Request = fillLists(e.Request)
		return e
	case event.QuestionAsked:
		e.QuestionRequest = wholeQuestions(e.QuestionRequest)
		return e
	case event.QuestionReplied:
		e.Answers = list(e.Answers)
		return e
	case event.TodosChanged:
		e.Todos = list(e.Todos)
		return e
	case event.CallFinished:
		e.Result = wholeResult(e.Result)
		return e
	}
	return h
}
