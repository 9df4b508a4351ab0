package helve

import (
	"context"

	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/record"
)

// Messages returns a session's conversation.
func (r Records) Messages(ctx context.Context, session string) ([]message.Message, error) {
	s, err := r.rt.store.get()
	if err != nil {
		return nil, err
	}
	if _, err := s.Session(ctx, session); err != nil {
		return nil, notFoundError("session", session, err)
	}
	msgs, err := messageStore{r.rt}.Messages(ctx, session)
	if err != nil {
		return nil, err
	}
	return msgs, s.EndCalls(ctx, msgs)
}

// Session returns a session.
func (r Records) Session(ctx context.Context, id string) (record.Session, error) {
	s, err := r.rt.store.get()
	if err != nil {
		return record.Session{}, err
	}
	found, err := s.Session(ctx, id)
	return found, notFoundError("session", id, err)
}

// Sessions returns at most limit sessions, most recently used first; 100 when limit is 0.
func (r Records) Sessions(ctx context.Context, limit int) ([]record.Session, error) {
	s, err := r.rt.store.get()
	if err != nil {
		return nil, err
	}
	return s.Sessions(ctx, limit)
}
