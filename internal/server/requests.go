package server

import (
	"context"

	"github.com/helve-dev/helve/permission"
)

type requests struct {
	Permissions []permissionRequest `json:"permissions" doc:"oldest first"`
	Questions   []questionRequest   `json:"questions" doc:"oldest first"`
}

// storedRule is a rule that a person has edited.
type storedRule struct {
	Permission string `json:"permission" minLength:"1" maxLength:"256" doc:"one that the request is about"`
	Pattern    string `json:"pattern" minLength:"1" maxLength:"65536"`
	Exact      bool   `json:"exact,omitempty" doc:"the pattern is literal text: a * in it is a star"`
}

type replyInput struct {
	Request string `path:"request" maxLength:"256"`
	Body    struct {
		Reply   string       `json:"reply" enum:"once,always,reject"`
		Message string       `json:"message,omitempty" maxLength:"16384" doc:"what the model is told with a reject"`
		Scope   string       `json:"scope,omitempty" enum:"session,project,user" doc:"how far always reaches; the session when absent"`
		Store   []storedRule `json:"store,omitempty" minItems:"1" maxItems:"64" doc:"what always keeps, where it is not what the request offers"`
	} `nameHint:"PermissionReply"`
}

type questionInput struct {
	Request string `path:"request" maxLength:"256"`
}

type answerInput struct {
	Request string `path:"request" maxLength:"256"`
	Body    struct {
		Answers [][]string `json:"answers" maxItems:"256" doc:"for each question, in order, the labels picked or words of one's own"`
	} `nameHint:"QuestionAnswer"`
}

func (s *Server) routeRequests() {
	route(s, about{at: "GET /v1/requests", id: "listRequests", tag: "requests", summary: "What waits for a person"}, s.requests)
	route(s, about{at: "POST /v1/permissions/{request}", id: "replyPermission", tag: "requests", fails: []int{404, 422},
		summary: "Answer a permission request",
		text: "A request is answered once. A reject rejects all that its session waits for; an always also answers the session's " +
			"other requests that it now allows."}, s.replyPermission)
	route(s, about{at: "POST /v1/questions/{request}", id: "answerQuestion", tag: "requests", fails: []int{404, 422},
		summary: "Answer a set of questions"}, s.answerQuestion)
	route(s, about{at: "POST /v1/questions/{request}/dismiss", id: "dismissQuestion", tag: "requests", fails: []int{404, 422},
		summary: "Leave a set of questions without an answer"},
		func(_ context.Context, in *questionInput) (*nothing, error) {
			return &nothing{}, s.rt.Requests().Dismiss(in.Request)
		})
}

func (s *Server) requests(context.Context, *struct{}) (*body[requests], error) {
	out := requests{Permissions: []permissionRequest{}, Questions: []questionRequest{}}
	for _, r := range s.rt.Requests().Pending() {
		out.Permissions = append(out.Permissions, permissionRequest{fillLists(r), s.expires(r.ID)})
	}
	for _, q := range s.rt.Requests().Questions() {
		out.Questions = append(out.Questions, questionRequest{wholeQuestions(q), s.expires(q.ID)})
	}
	return answerOf(out), nil
}

func (s *Server) expires(id string) int64 { return millis(s.watch.since(id).Add(s.opt.Patience)) }

func (s *Server) replyPermission(_ context.Context, in *replyInput) (*nothing, error) {
	b := in.Body
	r := permission.Reply{Verdict: permission.Verdict(b.Reply), Message: b.Message, Scope: permission.Scope(b.Scope)}
	if b.Store != nil && r.Verdict != permission.ReplyAlways {
		return nil, badRequest("only an answer of always keeps rules", "body", "store")
	}
	if b.Scope != "" && r.Verdict != permission.ReplyAlways {
		return nil, badRequest("only an answer of always has a scope", "body", "scope")
	}
	for _, rule := range b.Store {
		r.Store = append(r.Store, permission.Approval{Permission: rule.Permission, Pattern: rule.Pattern, Exact: rule.Exact})
	}
	return &nothing{}, s.rt.Requests().Reply(in.Request, r)
}

// answerQuestion sees to it that there is an answer for each question.
func (s *Server) answerQuestion(_ context.Context, in *answerInput) (*nothing, error) {
	answers := in.Body.Answers
	for i := range answers {
		answers[i] = list(answers[i])
	}
	for _, q := range s.rt.Requests().Questions() {
		if q.ID == in.Request && len(q.Questions) != len(answers) {
			return nil, badRequest("give as many answers as there are questions", "body", "answers")
		}
	}
	return &nothing{}, s.rt.Requests().Answer(in.Request, answers)
}
