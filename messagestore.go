package helve

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/agent"
	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/tool"
)

// A messageStore keeps conversations in the store and tells who watches.
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

// withReadableResults gives calls whose end can not be read one that says so.
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

// withEnds gives calls whose process ended before it could say so the end that
// the record has, as long as nobody has gone on with the session.
func (k messageStore) withEnds(ctx context.Context, msgs []message.Message) ([]message.Message, error) {
	for _, m := range msgs {
		for i, p := range m.Parts {
			if p.Type != message.Tool || p.State.Status == message.Completed || p.State.Status == message.Failed {
				continue
			}
			c, err := k.record(ctx, m.Info.Session, p.CallID)
			if err != nil {
				return nil, err
			}
			if c == nil || c.State == store.Running {
				continue
			}
			state := stateOf(c)
			if state == nil {
				state = &message.State{Status: message.Failed, Error: agent.Interrupted, Kind: tool.Canceled, Time: &message.Span{Start: c.Started, End: c.Ended}}
			}
			state.Input, state.Raw = p.State.Input, p.State.Raw
			m.Parts[i].State = state
		}
	}
	return msgs, nil
}

// Save keeps a message and parts, and then tells.
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

// addUsage adds what an answer took to its session.
func (r *Runtime) addUsage(ctx context.Context, s *store.Store, info message.Info) error {
	row, err := s.UpdateSession(ctx, info.Session, func(v *store.Session) {
		v.Tokens = message.TokensOf(v.Tokens.Usage().Add(info.Tokens.Usage()))
		v.Cost += info.Cost
		v.Updated = r.now().UnixMilli()
		if !info.Summary {
			v.Agent, v.Model = info.Agent, info.Model
		}
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err == nil {
		r.events.publish(event.SessionUpdated{Info: sessionOf(row)})
	}
	return err
}

// Tell tells of what is not kept yet.
func (k messageStore) Tell(n agent.News) {
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

// Recorded returns how a call ended, by its record; nil where that does not
// know.
func (k messageStore) Recorded(ctx context.Context, session, call string) (*message.State, error) {
	c, err := k.record(ctx, session, call)
	if c == nil {
		return nil, err
	}
	return stateOf(c), nil
}

// record returns what is recorded of a call, nil where nothing is.
func (k messageStore) record(ctx context.Context, session, call string) (*store.Call, error) {
	s, err := k.r.store.get()
	if err != nil {
		return nil, err
	}
	c, err := s.CallOf(ctx, session, call)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// stateOf is how a call ended that was not interrupted; nil for others.
func stateOf(c *store.Call) *message.State {
	state := &message.State{Input: json.RawMessage("{}"), Time: &message.Span{Start: c.Started, End: c.Ended}}
	switch {
	case c.State == store.Completed && c.Result != nil:
		state.Status = message.Completed
		state.Output, state.Title, state.Metadata, state.Attachments = c.Result.Output, c.Result.Title, c.Result.Metadata, c.Result.Attachments
	case c.State == store.Failed && c.Error != nil && c.Error.Kind != tool.Canceled:
		state.Status, state.Error, state.Kind = message.Failed, c.Error.Message, c.Error.Kind
	default:
		return nil
	}
	return state
}
