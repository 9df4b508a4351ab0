package store

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

const putMessage = `INSERT INTO message(session, id, created, data) VALUES(?, ?, ?, ?)
	ON CONFLICT DO UPDATE SET created = excluded.created, data = excluded.data`

const putPart = `INSERT INTO part(session, message, id, data, body) VALUES(?, ?, ?, ?, ?)
	ON CONFLICT DO UPDATE SET data = excluded.data, body = excluded.body`

// Save keeps a message, unless info is nil, and parts of any messages: all or
// none.
func (s *Store) Save(ctx context.Context, info *message.Info, parts []message.Part) error {
	if info == nil && len(parts) == 0 {
		return nil
	}
	o := &op{single: info == nil && len(parts) == 1}
	rows := make([]partRow, len(parts))
	for i, p := range parts {
		var err error
		if rows[i], err = rowOf(p); err != nil {
			return err
		}
		o.size += len(rows[i].data) + len(rows[i].body)
	}
	var head infoRow
	if info != nil {
		var err error
		if head, err = s.headOf(info); err != nil {
			return err
		}
		o.single, o.size = !head.stale && len(parts) == 0, o.size+len(head.data)
	}
	o.run = func(c *conn) error {
		if err := head.put(c); err != nil {
			return err
		}
		for _, r := range rows {
			if _, err := c.exec(putPart, r.session, r.message, r.id, r.data, r.body); err != nil {
				return err
			}
		}
		return nil
	}
	return s.write(ctx, "keeping a message", o)
}

// An infoRow is a message as stored in the table; the zero row is none.
type infoRow struct {
	session, id, data string
	created, used     int64
	stale             bool // the session's last use is to be written too
}

func (s *Store) headOf(info *message.Info) (infoRow, error) {
	if info.ID == "" || info.Session == "" {
		return infoRow{}, fmt.Errorf("keeping message %q of session %q: it needs both ids", info.ID, info.Session)
	}
	data, err := encode(info)
	if err != nil {
		return infoRow{}, fmt.Errorf("keeping message %s: %w", info.ID, err)
	}
	used := max(info.Time.Created, info.Time.Completed)
	return infoRow{info.Session, info.ID, data, info.Time.Created, used, s.stale(info.Session, used)}, nil
}

func (r *infoRow) put(c *conn) error {
	if r.id == "" {
		return nil
	}
	_, err := c.exec(putMessage, r.session, r.id, r.created, r.data)
	if err == nil && r.stale {
		err = touch(c, r.session, r.used)
	}
	return err
}

// A partRow is a part as the table has it.
type partRow struct{ session, message, id, data, body string }

func rowOf(p message.Part) (partRow, error) {
	if p.ID == "" || p.Message == "" || p.Session == "" {
		return partRow{}, fmt.Errorf("keeping part %q of message %q of session %q: it needs all three ids", p.ID, p.Message, p.Session)
	}
	if p.State != nil {
		p.State = new(*p.State) // the caller's stays as it is
	}
	row := partRow{session: p.Session, message: p.Message, id: p.ID}
	p.Session, p.Message, p.ID = "", "", "" // they have columns of their own
	if body := bodyOf(&p); body != nil {
		row.body, *body = *body, ""
	}
	var err error
	if row.data, err = encode(p); err != nil && p.State != nil {
		amend(p.State)
		row.data, err = encode(p)
	}
	if err != nil {
		return partRow{}, fmt.Errorf("keeping part %s: %w", row.id, err)
	}
	return row, nil
}

// bodyOf is the field of a part that is long, which is kept as it is.
func bodyOf(p *message.Part) *string {
	switch {
	case p.Type == message.Text, p.Type == message.Reasoning:
		return &p.Text
	case p.Type == message.File:
		return &p.URL
	case p.Type == message.Tool && p.State != nil:
		return &p.State.Output
	}
	return nil
}

// amend replaces values in a call that JSON cannot represent.
func amend(state *message.State) {
	if len(state.Input) > 0 && !json.Valid(state.Input) {
		state.Raw, state.Input = string(state.Input), json.RawMessage("{}")
	}
	if state.Metadata != nil {
		var safe map[string]any
		_ = json.Unmarshal([]byte(metadataText(state.Metadata)), &safe) // what we just wrote
		state.Metadata = safe
	}
}

// encode is JSON without the escapes for HTML, which would only make it longer.
func encode(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.String(), err
}

// selectMessages is one statement, so that a message and its parts are consistent. Both orders are
// those of keys: nothing is sorted.
const selectMessages = `SELECT m.id, m.created, m.data, p.id, p.data, p.body
	FROM message m LEFT JOIN part p ON p.session = m.session AND p.message = m.id WHERE m.session = ?
	ORDER BY m.created, m.id, p.id`

// Messages returns the conversation of a session: the messages by time and id, the parts of each by
// id. Damaged content is replaced by a sentence that says so.
func (s *Store) Messages(ctx context.Context, session string) ([]message.Message, error) {
	return s.conversation(ctx, session, selectMessages, session)
}

// selectNewest selects the newest messages before one, or before none, with their parts.
const selectNewest = `SELECT m.id, m.created, m.data, p.id, p.data, p.body
	FROM (SELECT id, created, data, session FROM message WHERE session = ? ORDER BY created DESC, id DESC LIMIT ?) m
	LEFT JOIN part p ON p.session = m.session AND p.message = m.id ORDER BY m.created, m.id, p.id`

const selectBefore = `SELECT m.id, m.created, m.data, p.id, p.data, p.body
	FROM (SELECT id, created, data, session FROM message WHERE session = ?
		AND (created, id) < (SELECT created, id FROM message WHERE session = ? AND id = ?) ORDER BY created DESC, id DESC LIMIT ?) m
	LEFT JOIN part p ON p.session = m.session AND p.message = m.id ORDER BY m.created, m.id, p.id`

// MessagesBefore returns the limit newest messages of a session before the message with the id
// before, or of all if it is "", the oldest first. It returns none if the session does not have
// that message.
func (s *Store) MessagesBefore(ctx context.Context, session, before string, limit int) ([]message.Message, error) {
	if before == "" {
		return s.conversation(ctx, session, selectNewest, session, int64(limit))
	}
	return s.conversation(ctx, session, selectBefore, session, session, before, int64(limit))
}

// conversation reads what a statement selects.
func (s *Store) conversation(ctx context.Context, session, statement string, args ...any) ([]message.Message, error) {
	var out []message.Message
	err := s.read(ctx, "reading messages of "+session, func(c *conn) error {
		out = nil
		damaged := map[int]bool{} // messages, by their place in out
		err := c.query(ctx, func(row []driver.Value) error {
			id := textOf(row[0])
			if len(out) == 0 || out[len(out)-1].Info.ID != id {
				info, err := infoOf(textOf(row[2]))
				if err != nil {
					s.log.Warn("a message is damaged", "session", session, "message", id, "error", err)
					damaged[len(out)] = true
				}
				info.ID, info.Session, info.Time.Created = id, session, intOf(row[1])
				out = append(out, message.Message{Info: info})
			}
			if row[3] == nil {
				return nil
			}
			part, err := partOf(textOf(row[4]), textOf(row[5]))
			if err != nil {
				s.log.Warn("a part of a message is damaged", "session", session, "message", id, "part", textOf(row[3]), "error", err)
				part = message.Part{Type: message.Text, Synthetic: true, Text: "[This part of the conversation was damaged where it was kept and is lost.]"}
			}
			part.ID, part.Session, part.Message = textOf(row[3]), session, id
			last := &out[len(out)-1]
			last.Parts = append(last.Parts, part)
			return nil
		}, statement, args...)
		for i := range damaged {
			mend(&out[i])
		}
		return err
	})
	return out, err
}

func infoOf(text string) (message.Info, error) {
	var v message.Info
	err := json.Unmarshal([]byte(text), &v)
	if err == nil && v.Role != message.User && v.Role != message.Assistant {
		err = errors.New("it has no role")
	}
	if err != nil {
		return message.Info{}, err
	}
	return v, nil
}

func partOf(text, body string) (message.Part, error) {
	var v message.Part
	err := json.Unmarshal([]byte(text), &v)
	if err == nil && v.Type == "" {
		err = errors.New("it has no type")
	}
	if err != nil {
		return message.Part{}, err
	}
	if field := bodyOf(&v); field != nil {
		*field = body
	}
	if v.State != nil && string(v.State.Input) == "null" {
		v.State.Input = nil // as it was
	}
	return v, nil
}

// mend sets the role of a damaged message from its parts.
func mend(m *message.Message) {
	m.Info.Role = message.User
	for _, p := range m.Parts {
		switch p.Type {
		case message.Reasoning, message.Tool, message.StepStart, message.StepFinish, message.Retry:
			m.Info.Role = message.Assistant
			m.Info.Error = &message.Failure{Name: "UnknownError", Data: message.FailureData{Message: "this message was damaged where it was kept; some of it is lost"}}
			return
		}
	}
}

// EndCalls gives calls that the messages show as running the outcome that was recorded: their
// process ended before it could save it, and the session was not continued.
func (s *Store) EndCalls(ctx context.Context, msgs []message.Message) error {
	for _, m := range msgs {
		for i, p := range m.Parts {
			if p.Type != message.Tool || p.State == nil || p.State.Status == message.Completed || p.State.Status == message.Failed {
				continue
			}
			c, err := s.CallOf(ctx, m.Info.Session, p.CallID)
			if errors.Is(err, record.ErrNotFound) || err == nil && c.State == record.Running {
				continue
			}
			if err != nil {
				return err
			}
			end := EndOf(c)
			if end == nil {
				end = &message.State{Status: message.Failed, Error: "interrupted: its process ended before it did", Kind: tool.Canceled, Time: &message.Span{Start: c.Started, End: c.Ended}}
			}
			end.Input, end.Raw = p.State.Input, p.State.Raw
			m.Parts[i].State = end
		}
	}
	return nil
}

// EndOf is how a call ended that was not interrupted, for its message; nil for
// others.
func EndOf(c record.Call) *message.State {
	state := &message.State{Input: json.RawMessage("{}"), Time: &message.Span{Start: c.Started, End: c.Ended}}
	switch {
	case c.State == record.Completed && c.Result != nil:
		state.Status = message.Completed
		state.Output, state.Title, state.Metadata, state.Attachments = c.Result.Output, c.Result.Title, c.Result.Metadata, c.Result.Attachments
	case c.State == record.Failed && c.Error != nil && c.Error.Kind != tool.Canceled:
		state.Status, state.Error, state.Kind = message.Failed, c.Error.Message, c.Error.Kind
	default:
		return nil
	}
	return state
}
