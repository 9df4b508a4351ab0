package helve

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/loop"
	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/record"
)

// A messageStore keeps conversations in the store and publishes their changes.
type messageStore struct{ r *Runtime }

// Messages returns a conversation.
func (k messageStore) Messages(ctx context.Context, session string) ([]message.Message, error) {
	s, err := k.r.store.get()
	if err != nil {
		return nil, err
	}
	msgs, err := s.Messages(ctx, session)
	return withReadableResults(msgs), err
}

// withReadableResults gives calls whose outcome cannot be read an outcome that says so.
func withReadableResults(msgs []message.Message) []message.Message {
	for _, m := range msgs {
		for i, p := range m.Parts {
			if p.Type == message.Tool && p.State == nil {
				m.Parts[i].State = &message.State{
					Status: message.Failed, Input: json.RawMessage("{}"), Error: "what this call gave can not be read any more", Time: &message.Span{},
				}
			}
		}
	}
	return msgs
}

// Save stores a message and parts, and then publishes them.
func (k messageStore) Save(ctx context.Context, info *message.Info, parts ...message.Part) error {
	s, err := k.r.store.get()
	if err != nil {
		return err
	}
	if err := s.Save(ctx, info, parts); err != nil {
		return err
	}
	if info != nil {
		k.r.events.publish(event.MessageUpdated{Info: *info})
	}
	for _, p := range parts {
		k.r.events.publish(event.PartUpdated{Part: p})
	}
	if info != nil && info.Role == message.Assistant {
		return k.r.addUsage(ctx, s, *info)
	}
	return nil
}

// addUsage adds the tokens and cost of an answer to its session.
func (r *Runtime) addUsage(ctx context.Context, s *store.Store, info message.Info) error {
	row, err := s.UpdateSession(ctx, info.Session, func(v *record.Session) {
		v.Tokens = model.TokensOf(v.Tokens.Usage().Add(info.Tokens.Usage()))
		v.Cost += info.Cost
		v.Time.Updated = r.now().UnixMilli()
		if !info.Summary {
			v.Agent, v.Model = info.Agent, info.Model
		}
	})
	if errors.Is(err, record.ErrNotFound) {
		return nil
	}
	if err == nil {
		r.events.publish(event.SessionUpdated{Info: row})
	}
	return err
}

// Tell publishes what is not stored yet.
func (k messageStore) Tell(n loop.News) {
	switch {
	case n.Info != nil && n.Removed:
		k.r.events.publish(event.MessageRemoved{Session: n.Info.Session, Message: n.Info.ID})
	case n.Info != nil:
		k.r.events.publish(event.MessageUpdated{Info: *n.Info})
	case n.Part == nil:
	case n.Removed:
		k.r.events.publish(event.PartRemoved{Session: n.Part.Session, Message: n.Part.Message, Part: n.Part.ID})
	case n.Delta != "":
		k.r.events.publish(event.PartDelta{Session: n.Part.Session, Message: n.Part.Message, Part: n.Part.ID, Field: "text", Delta: n.Delta})
	default:
		k.r.events.publish(event.PartUpdated{Part: *n.Part})
	}
}

// Recorded returns the outcome of a call from its record, or nil if the record does not have it.
func (k messageStore) Recorded(ctx context.Context, session, call string) (*message.State, error) {
	s, err := k.r.store.get()
	if err != nil {
		return nil, err
	}
	c, err := s.CallOf(ctx, session, call)
	if errors.Is(err, record.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return store.EndOf(c), nil
}
