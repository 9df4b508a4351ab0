package server

import (
	"context"
	"path/filepath"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/record"
)

type changesInput struct {
	Session string `query:"session" maxLength:"256"`
	Call    string `query:"call" maxLength:"256"`
	Message string `query:"message" maxLength:"256"`
	File    string `query:"file" maxLength:"4096" doc:"this file, or those below this folder"`
	Before  string `query:"before" maxLength:"256" doc:"those that follow a page whose next this was"`
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}

type changeSets struct {
	Changes []record.ChangeSet `json:"changes" doc:"the newest first"`
	More    bool               `json:"more" doc:"there are changes before these"`
	Next    string             `json:"next,omitempty" doc:"where they begin: what to ask for as before; absent where there are none"`
}

type undoInput struct {
	Body struct {
		Sets    []string `json:"sets,omitempty" maxItems:"1000" doc:"these change sets"`
		Call    string   `json:"call,omitempty" maxLength:"256" doc:"what a call changed"`
		Message string   `json:"message,omitempty" maxLength:"256" doc:"what the calls of a message changed"`
		To      string   `json:"to,omitempty" maxLength:"256" doc:"everything after this change set, which itself stays"`
		Last    int      `json:"last,omitempty" minimum:"1" maximum:"1000" doc:"what the newest so many calls changed that was not taken back yet"`
		Session string   `json:"session,omitempty" maxLength:"256" doc:"of this session only"`
		Preview bool     `json:"preview,omitempty" doc:"change nothing, only say what would be done"`
	} `nameHint:"UndoRequest"`
}

type fileInput struct {
	Path  string `query:"path" required:"true" minLength:"1" maxLength:"4096" doc:"from the working folder, or absolute"`
	Agent string `query:"agent" maxLength:"256" doc:"under whose rules; the default agent's when absent"`
}

func (s *Server) routeFiles() {
	route(s, about{at: "GET /v1/changes", id: "listChanges", tag: "files", fails: []int{422},
		summary: "What tools changed on disk, newest first"}, s.changes)
	route(s, about{at: "POST /v1/undo", id: "undo", tag: "files", fails: []int{404, 422},
		summary: "Take changes back",
		text: "Exactly one of sets, call, message, to and last says what. A file that somebody else has changed since is reported as a " +
			"conflict and left alone. An undo is a change set itself and can be taken back."}, s.undo)
	route(s, about{at: "GET /v1/files/content", id: "readFile", tag: "files", fails: []int{403, 404, 422},
		summary: "A file as the rules let it be read without asking", text: "At most 1 MiB of it."},
		func(ctx context.Context, in *fileInput) (*body[helve.FileText], error) {
			who, err := s.agent(in.Agent)
			if err != nil {
				return nil, err
			}
			f, err := s.rt.File(ctx, who.Name, in.Path)
			if err != nil {
				return nil, refusal(err)
			}
			return answerOf(f), nil
		})
}

func (s *Server) changes(ctx context.Context, in *changesInput) (*body[changeSets], error) {
	q := record.ChangeQuery{Session: in.Session, Call: in.Call, Message: in.Message, File: in.File, Before: in.Before, Limit: in.Limit + 1}
	if q.File != "" && !filepath.IsAbs(q.File) {
		q.File = filepath.Join(s.opt.Dir, q.File)
	}
	sets, err := s.rt.Records().Changes(ctx, q)
	if err != nil && len(sets) == 0 {
		return nil, err
	}
	if err != nil { // the others are good
		s.log.Warn("some changes could not be read", "error", err)
	}
	out := changeSets{Changes: list(sets[:min(len(sets), in.Limit)]), More: len(sets) > in.Limit}
	if out.More {
		out.Next = out.Changes[in.Limit-1].ID
	}
	return answerOf(out), nil
}

func (s *Server) undo(ctx context.Context, in *undoInput) (*body[record.UndoReport], error) {
	b, given := in.Body, 0
	for _, is := range []bool{len(b.Sets) > 0, b.Call != "", b.Message != "", b.To != "", b.Last > 0} {
		if is {
			given++
		}
	}
	if given != 1 {
		return nil, badRequest("say what to undo: exactly one of sets, call, message, to and last", "body")
	}
	ctx, leave, err := s.beginOperation(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	report, err := s.rt.Records().Undo(ctx, record.UndoRequest{
		Sets: b.Sets, Call: b.Call, Message: b.Message, To: b.To, Last: b.Last, Session: b.Session, Preview: b.Preview,
	})
	if err != nil {
		return nil, refusal(err)
	}
	return answerOf(*report), nil
}
