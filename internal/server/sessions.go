package server

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

type sessionInput struct {
	Session string `path:"session" maxLength:"256"`
}

type sessionsInput struct {
	Limit     int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Before    string `query:"before" maxLength:"256" doc:"what the page before gave as next"`
	Directory string `query:"directory" maxLength:"4096" doc:"only those of this folder"`
}

type sessions struct {
	Sessions []session `json:"sessions" doc:"those used last first"`
	More     bool      `json:"more" doc:"there are sessions that were used before these"`
	Next     string    `json:"next,omitempty" doc:"where they begin: what to ask for as before; absent where there are none"`
}

type newSessionInput struct {
	Body *struct {
		Title string `json:"title,omitempty" maxLength:"200"`
		Agent string `json:"agent,omitempty" maxLength:"256" doc:"who it is for; the default agent when absent"`
	} `nameHint:"SessionRequest"`
}

type messagesInput struct {
	Session string `path:"session" maxLength:"256"`
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Before  string `query:"before" maxLength:"256" doc:"only what comes before the message of this id"`
}

type todos struct {
	Todos []tool.Todo `json:"todos"`
}

type messages struct {
	Messages []message.Message `json:"messages" doc:"the oldest first"`
	More     bool              `json:"more" doc:"there are messages before these"`
}

func (s *Server) routeSessions() {
	route(s, about{at: "GET /v1/sessions", id: "listSessions", tag: "sessions", fails: []int{422},
		summary: "The sessions, those used last first"}, s.sessions)
	route(s, about{at: "POST /v1/sessions", id: "createSession", tag: "sessions", fails: []int{404, 422}, status: 201,
		summary: "Make a session that nothing was said in yet"}, s.createSession)
	route(s, about{at: "GET /v1/sessions/{session}", id: "getSession", tag: "sessions", fails: []int{404, 422}, summary: "One session"},
		func(ctx context.Context, in *sessionInput) (*body[session], error) {
			got, err := s.rt.Records().Session(ctx, in.Session)
			if err != nil {
				return nil, err
			}
			return answerOf(s.withStatus(got)), nil
		})
	route(s, about{at: "POST /v1/sessions/{session}/end", id: "endSession", tag: "sessions", fails: []int{404, 422},
		summary: "End a session",
		text: "The turn that works on it ends, what waits for an answer is rejected, what was approved for the session alone is " +
			"forgotten, and its jobs end. Its records stay."},
		func(ctx context.Context, in *sessionInput) (*nothing, error) {
			if _, err := s.rt.Records().Session(ctx, in.Session); err != nil {
				return nil, err
			}
			s.stopTurn(in.Session)
			return &nothing{}, s.rt.EndSession(in.Session)
		})
	route(s, about{at: "GET /v1/sessions/{session}/messages", id: "listMessages", tag: "sessions", fails: []int{404, 422},
		summary: "A part of a conversation, the newest when nothing else is said"}, s.messages)
	route(s, about{at: "GET /v1/sessions/{session}/todos", id: "listTodos", tag: "sessions", fails: []int{404, 422},
		summary: "What is left to do in a session"},
		func(ctx context.Context, in *sessionInput) (*body[todos], error) {
			if _, err := s.rt.Records().Session(ctx, in.Session); err != nil {
				return nil, err
			}
			left, err := s.rt.Records().Todos(ctx, in.Session)
			if err != nil {
				return nil, err
			}
			return answerOf(todos{list(left)}), nil
		})
}

// withStatus is a session with its status. Events may be a moment behind, and who
// has just begun a turn must not take it for over.
func (s *Server) withStatus(v record.Session) session {
	st := s.watch.sessionStatus(v.ID)
	if st.Type == "idle" && s.turns.on(v.ID) {
		st.Type = "busy"
	}
	return session{Session: v, Status: st}
}

func (s *Server) sessions(ctx context.Context, in *sessionsInput) (*body[sessions], error) {
	q := record.SessionQuery{Limit: in.Limit, Before: in.Before}
	if in.Directory != "" {
		q.Dir = filepath.Clean(in.Directory)
	}
	page, next, err := s.rt.Records().SessionsBefore(ctx, q)
	if errors.Is(err, record.ErrNotFound) {
		return nil, badCursor()
	}
	if err != nil {
		return nil, err
	}
	out := sessions{Sessions: make([]session, len(page)), More: next != "", Next: next}
	for i, v := range page {
		out.Sessions[i] = s.withStatus(v)
	}
	return answerOf(out), nil
}

// createSession makes a session.
func (s *Server) createSession(ctx context.Context, in *newSessionInput) (*body[session], error) {
	title, agent := "", ""
	if in.Body != nil {
		title, agent = in.Body.Title, in.Body.Agent
	}
	who, err := s.agent(agent)
	if err != nil {
		return nil, err
	}
	ctx, leave, err := s.beginOperation(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	made, err := s.rt.Records().NewSession(ctx, title, who.Name)
	if err != nil {
		return nil, err
	}
	return answerOf(s.withStatus(made)), nil
}

func (s *Server) messages(ctx context.Context, in *messagesInput) (*body[messages], error) {
	page, more, err := s.rt.Records().MessagesBefore(ctx, record.MessageQuery{Session: in.Session, Before: in.Before, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	for i := range page {
		page[i].Parts = list(page[i].Parts)
	}
	return answerOf(messages{Messages: list(page), More: more}), nil
}
