package server

import (
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// What goes out in a form of its own. Everything else is the runtime's.

// body is an answer that has nothing but a body.
type body[T any] struct{ Body T }

func answerOf[T any](v T) *body[T] { return &body[T]{v} }

// nothing is an answer without a body.
type nothing struct{}

// A reply is an answer whose status depends on what was asked for.
type reply struct {
	Status int
	Body   any
}

// session is a session with how the work on it goes.
type session struct {
	record.Session
	Status event.Status `json:"status" doc:"whether an agent works on it now"`
}

// messageInfo is the form of [message.Info] as it goes out, which depends on
// the role.
type messageInfo struct {
	ID       string           `json:"id"`
	Session  string           `json:"sessionID"`
	Role     string           `json:"role" enum:"user,assistant"`
	Time     message.Times    `json:"time"`
	Agent    string           `json:"agent"`
	Model    *model.Ref       `json:"model,omitempty" doc:"of a user's message: who is to answer"`
	Parent   string           `json:"parentID,omitempty" doc:"of an assistant's message, as all that follows: what it answers"`
	ModelID  string           `json:"modelID,omitempty"`
	Provider string           `json:"providerID,omitempty"`
	Mode     string           `json:"mode,omitempty"`
	Path     *message.Path    `json:"path,omitempty"`
	Cost     float64          `json:"cost,omitempty"`
	Tokens   *model.Tokens    `json:"tokens,omitempty"`
	Finish   string           `json:"finish,omitempty"`
	Summary  bool             `json:"summary,omitempty"`
	Error    *message.Failure `json:"error,omitempty"`
}

// toolInner is the form of [tool.Inner]: what it is of a call that failed
// depends on how it did.
type toolInner struct {
	ID          string            `json:"id"`
	Tool        string            `json:"tool"`
	Input       json.RawMessage   `json:"input"`
	Status      string            `json:"status" enum:"completed,error"`
	Title       string            `json:"title,omitempty"`
	Output      string            `json:"output,omitempty"`
	Metadata    map[string]any    `json:"metadata,omitempty"`
	Attachments []tool.Attachment `json:"attachments,omitempty"`
	Inner       []toolInner       `json:"inner,omitempty"`
	Error       string            `json:"error,omitempty"`
}

// Event is the form of [event.Event].
type Event struct {
	Seq        uint64         `json:"seq" doc:"events of one instance are numbered from 1"`
	Time       time.Time      `json:"time"`
	Type       string         `json:"type" doc:"such as call.started, permission.asked or message.part.updated"`
	Properties map[string]any `json:"properties" doc:"what happened; which keys there are depends on the type"`
}

// permissionRequest is a request that waits, with how long it still does.
type permissionRequest struct {
	permission.Request
	Expires int64 `json:"expires,omitempty" doc:"when it ends without an answer; absent in the event that tells of it"`
}

// questionRequest is a set of questions that waits.
type questionRequest struct {
	tool.QuestionRequest
	Expires int64 `json:"expires,omitempty" doc:"when it ends without an answer; absent in the event that tells of it"`
}

// A Price is what a model costs, in US dollars for a million tokens.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead,omitempty"`
	CacheWrite float64 `json:"cacheWrite,omitempty"`
}

// A ModelInfo is a model that can be prompted.
type ModelInfo struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Name     string `json:"name"`
	Context  int    `json:"context,omitempty" doc:"tokens that a request and its answer may take together; absent where it is not known"`
	Output   int    `json:"output,omitempty" doc:"tokens that an answer may take"`
	Images   bool   `json:"images,omitempty"`
	Price    *Price `json:"price,omitempty"`
	Default  bool   `json:"default,omitempty" doc:"it answers where nothing else is said"`
}

// An ExplainQuery asks what the rules would decide.
type ExplainQuery struct {
	Permission string `json:"permission" minLength:"1" maxLength:"256" doc:"such as read, edit or bash"`
	Pattern    string `json:"pattern" minLength:"1" maxLength:"65536" doc:"what it is about: a file, a command line, a URL"`
	Agent      string `json:"agent,omitempty" maxLength:"256" doc:"under whose rules; the default agent's when absent"`
	Session    string `json:"session,omitempty" maxLength:"256" doc:"with what was approved for this session"`
}

// An Explained permission says what would happen, and why.
type Explained struct {
	Agent string `json:"agent"`
	permission.Decision
	Units  []permission.Decision `json:"units,omitempty" doc:"of a command line, or what would be asked about a file"`
	Opaque string                `json:"opaque,omitempty" doc:"why it has to be asked about"`
	Note   string                `json:"note,omitempty" doc:"what else would matter to a call"`
	Policy string                `json:"policyError,omitempty" doc:"why the rules are broken; everything is denied then"`
}

// An object is JSON text that is an object.
type object json.RawMessage

// MarshalJSON gives the text as it is.
func (o object) MarshalJSON() ([]byte, error) { return json.RawMessage(o).MarshalJSON() }

// Schema is for huma.
func (object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// fillLists fills in the lists of a request, which are never null.
func fillLists(r permission.Request) permission.Request {
	r.Patterns, r.Always = list(r.Patterns), list(r.Always)
	if r.Metadata == nil {
		r.Metadata = map[string]any{}
	}
	return r
}

// wholeQuestions fills in the lists of a set of questions.
func wholeQuestions(q tool.QuestionRequest) tool.QuestionRequest {
	q.Questions = append([]tool.Question{}, q.Questions...)
	for i := range q.Questions {
		q.Questions[i].Options = list(q.Questions[i].Options)
	}
	return q
}

// list is a list that is never null.
func list[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}

// wholeResult fills in what a result always has. Calls within it have a form
// of their own, so they are copied first.
func wholeResult(r *tool.Result) *tool.Result {
	if r == nil || r.Metadata != nil && len(r.Inner) == 0 {
		return r
	}
	out := *r
	if out.Metadata == nil {
		out.Metadata = map[string]any{}
	}
	out.Inner = append([]tool.Inner(nil), r.Inner...)
	for i := range out.Inner {
		out.Inner[i].Result = wholeResult(out.Inner[i].Result)
	}
	return &out
}

func millis(t time.Time) int64 { return t.UnixMilli() }
