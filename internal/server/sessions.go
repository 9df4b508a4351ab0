package server

import (
	"context"
	"path/filepath"

	"helve"
	"helve/message"
	"helve/tool"
)

// mostSessions is how many sessions are looked through for those of a folder.
const mostSessions = 10_000

type sessionInput struct {
	Session string `path:"session" maxLength:"256"`
}

type sessionsInput struct {
	Limit     int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Directory string `query:"directory" maxLength:"4096" doc:"only those of this folder"`
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
			got, err := s.rt.Session(ctx, in.Session)
			if err != nil {
				return nil, err
			}
			return answerOf(s.shown(got)), nil
		})
	route(s, about{at: "POST /v1/sessions/{session}/end", id: "endSession", tag: "sessions", fails: []int{404, 422},
		summary: "End a session",
		text:    "What waits for an answer is rejected, what was approved for the session alone is forgotten, and its jobs end. Its records stay."},
		func(ctx context.Context, in *sessionInput) (*nothing, error) {
			if _, err := s.rt.Session(ctx, in.Session); err != nil {
				return nil, err
			}
			return &nothing{}, s.rt.EndSession(in.Session)
		})
	route(s, about{at: "GET /v1/sessions/{session}/messages", id: "listMessages", tag: "sessions", fails: []int{404, 422},
		summary: "A part of a conversation, the newest when nothing else is said"}, s.messages)
	route(s, about{at: "GET /v1/sessions/{session}/todos", id: "listTodos", tag: "sessions", fails: []int{404, 422},
		summary: "What is left to do in a session"},
		func(ctx context.Context, in *sessionInput) (*body[[]tool.Todo], error) {
			if _, err := s.rt.Session(ctx, in.Session); err != nil {
				return nil, err
			}
			todos, err := s.rt.Todos(ctx, in.Session)
			if err != nil {
				return nil, err
			}
			return listOf(todos), nil
		})
}

// shown is a session with its status. Events may be a moment behind, and who
// has just begun a turn must not take it for over.
func (s *Server) shown(v helve.Session) session {
	st := s.watch.of(v.ID)
	if st.Type == "idle" && s.turns.on(v.ID) {
		st.Type = "busy"
	}
	return session{Session: v, Status: st}
}

func (s *Server) sessions(ctx context.Context, in *sessionsInput) (*body[[]session], error) {
	limit, dir := in.Limit, in.Directory
	if dir != "" {
		limit, dir = mostSessions, filepath.Clean(dir)
	}
	all, err := s.rt.Sessions(ctx, limit)
	if err != nil {
		return nil, err
	}
	var out []session
	for _, v := range all {
		if dir != "" && v.Dir != dir {
			continue
		}
		if out = append(out, s.shown(v)); len(out) == in.Limit {
			break
		}
	}
	return listOf(out), nil
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
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	made, err := s.rt.NewSession(ctx, title, who.Name)
	if err != nil {
		return nil, err
	}
	return answerOf(s.shown(made)), nil
}

func (s *Server) messages(ctx context.Context, in *messagesInput) (*body[messages], error) {
	page, more, err := s.rt.MessagesBefore(ctx, helve.MessageQuery{Session: in.Session, Before: in.Before, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	for i := range page {
		page[i].Parts = list(page[i].Parts)
	}
	return answerOf(messages{Messages: list(page), More: more}), nil
}
