package helve

import (
	"context"

	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/message"
)

// A Session is a conversation, or what calls without one share.
type Session struct {
	ID      string           `json:"id"`
	Slug    string           `json:"slug,omitempty"`
	Project string           `json:"projectID,omitempty"`
	Dir     string           `json:"directory"`
	Parent  string           `json:"parentID,omitempty"` // the session whose call started this one
	Title   string           `json:"title"`
	First   string           `json:"first,omitempty"` // its first call, tool and what about, where there is no title
	Agent   string           `json:"agent,omitempty"` // who worked on it last
	Model   message.ModelRef `json:"model"`           // and with what
	Time    SessionTime      `json:"time"`
	Tokens  message.Tokens   `json:"tokens"` // of its own messages
	Cost    float64          `json:"cost"`   // in US dollars
}

// SessionTime is when a session began and was used last, in milliseconds since
// the epoch.
type SessionTime struct {
	Created int64 `json:"created"`
	Updated int64 `json:"updated"`
}

// Messages returns a session's conversation.
func (r *Runtime) Messages(ctx context.Context, session string) ([]message.Message, error) {
	s, err := r.store.get()
	if err != nil {
		return nil, err
	}
	if _, err := s.Session(ctx, session); err != nil {
		return nil, known("session", session, err)
	}
	return messageStore{r}.Messages(ctx, session)
}

// Session returns a session.
func (r *Runtime) Session(ctx context.Context, id string) (Session, error) {
	s, err := r.store.get()
	if err != nil {
		return Session{}, err
	}
	row, err := s.Session(ctx, id)
	return sessionOf(row), known("session", id, err)
}

// Sessions returns at most limit sessions, those used last first; 100 when
// limit is 0.
func (r *Runtime) Sessions(ctx context.Context, limit int) ([]Session, error) {
	s, err := r.store.get()
	if err != nil {
		return nil, err
	}
	rows, err := s.Sessions(ctx, limit)
	out := make([]Session, 0, len(rows))
	for _, row := range rows {
		out = append(out, sessionOf(row))
	}
	return out, err
}

func sessionOf(s store.Session) Session {
	return Session{
		ID: s.ID, Slug: s.Slug, Project: s.Project, Dir: s.Dir, Parent: s.Parent, Title: s.Title, First: s.First, Agent: s.Agent, Model: s.Model,
		Time: SessionTime{Created: s.Created, Updated: s.Updated}, Tokens: s.Tokens, Cost: s.Cost,
	}
}
