package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// putMessage keeps a message without its parts.
func (s *Store) putMessage(ctx context.Context, info message.Info) error {
	return s.Save(ctx, &info, nil)
}

// putPart keeps parts.
func (s *Store) putPart(ctx context.Context, parts ...message.Part) error {
	return s.Save(ctx, nil, parts)
}

// everyPart is a part of each type with every field that the type has.
func everyPart() []message.Part {
	parts := []message.Part{
		{Type: message.Text, Text: "<said> & \x00 \xff\u2028", Synthetic: true, Time: &message.Span{Start: 1, End: 2}},
		{Type: message.Reasoning, Text: "thought", Seal: "sealed", Time: &message.Span{Start: 1}},
		{Type: message.File, Mime: "image/png", Filename: "a.png", URL: "data:image/png;base64,AA=="},
		{Type: message.Tool, CallID: "call_1", Tool: "bash", Seal: "s", State: &message.State{Status: message.Pending, Input: json.RawMessage(`{}`), Raw: `{"broken`}},
		{Type: message.Tool, CallID: "call_2", Tool: "bash", State: &message.State{
			Status: message.Completed, Input: json.RawMessage(`{"command":"<x>"}`), Output: "out \xff", Title: "t", Metadata: map[string]any{"n": 1.0},
			Time: &message.Span{Start: 1, End: 2, Compacted: 3}, Cost: 0.5,
			Attachments: []tool.Attachment{{ID: "a", Type: "file", Mime: "image/png", URL: "data:image/png;base64,AA=="}},
		}},
		{Type: message.Tool, CallID: "call_3", Tool: "bash", State: &message.State{Status: message.Failed, Input: json.RawMessage(`{}`), Error: "no", Kind: tool.Canceled}},
		{Type: message.Tool, CallID: "call_4"},
		{Type: message.Tool, CallID: "call_5", State: &message.State{Status: message.Pending, Input: json.RawMessage("{}")}},
		{Type: message.StepStart},
		{Type: message.StepFinish, Reason: "stop", Cost: new(0.25), Tokens: &model.Tokens{Input: 1, Output: 2, Reasoning: 3, Cache: model.CacheTokens{Read: 4, Write: 5}}},
		{Type: message.Compaction, Auto: true},
		{Type: message.Retry, Attempt: 2, Error: &message.Failure{Name: "APIError", Data: message.FailureData{Message: "busy", Kind: "overloaded", Status: 529}}},
		{Type: "of-another-time", Text: "kept all the same"},
	}
	for i := range parts {
		parts[i].ID, parts[i].Message, parts[i].Session = fmt.Sprintf("p%02d", i), "m2", "s"
	}
	return parts
}

func userMessage(session, id string, at int64) message.Info {
	return message.Info{ID: id, Session: session, Role: message.User, Time: message.Times{Created: at}}
}

func messageIDs(said []message.Message) string {
	var out []string
	for _, m := range said {
		id := m.Info.ID + ":"
		for _, p := range m.Parts {
			id += " " + p.ID
		}
		out = append(out, id)
	}
	return strings.Join(out, ", ")
}

func TestMessages(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		want(t, must(s.Messages(ctx, "s"))(t), nil)
		first := userMessage("s", "m1", 1)
		first.Agent, first.Model = "build", model.Ref{Provider: "p", Model: "m"}
		second := message.Info{
			ID: "m2", Session: "s", Role: message.Assistant, Time: message.Times{Created: 2, Completed: 3}, Agent: "build",
			Parent: "m1", Path: &message.Path{Cwd: "/d", Root: "/"}, Cost: 0.5, Tokens: model.Tokens{Input: 1}, Finish: "stop", Summary: true,
			Error: &message.Failure{Name: "MessageAbortedError", Data: message.FailureData{Message: "stopped"}},
		}
		parts := everyPart()
		given := slices.Clone(parts)
		slices.Reverse(given)
		ok(t, s.Save(ctx, &second, given[:5]))
		ok(t, s.putPart(ctx, given[5:]...))
		want(t, given[8].State.Output, "out \xff") // what was given is as it was
		ok(t, s.putMessage(ctx, first))
		want(t, must(s.Messages(ctx, "s"))(t), []message.Message{{Info: first}, {Info: second, Parts: parts}})

		second.Finish, second.Error = "length", nil
		parts[0].Text, parts[0].Time = "", nil
		parts[4].State = &message.State{Status: message.Running, Input: json.RawMessage(`{}`)}
		ok(t, s.Save(ctx, &second, []message.Part{parts[4], parts[0]}))
		want(t, must(s.Messages(ctx, "s"))(t), []message.Message{{Info: first}, {Info: second, Parts: parts}})
		ok(t, s.Save(ctx, nil, nil))
	})
}

func TestMessagesOrder(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		for _, m := range []message.Info{
			userMessage("s", "c", 5), userMessage("s", "b", 7), userMessage("s", "a", 7), userMessage("s", "d", 1), userMessage("other", "a", 0),
		} {
			ok(t, s.putMessage(ctx, m))
			for _, id := range []string{"2", "1"} {
				ok(t, s.putPart(ctx, message.Part{ID: id, Message: m.ID, Session: m.Session, Type: message.StepStart}))
			}
		}
		ok(t, s.putPart(ctx, message.Part{ID: "1", Message: "of nobody", Session: "s", Type: message.StepStart}))
		all := func(session string) string { return messageIDs(must(s.Messages(ctx, session))(t)) }
		want(t, all("s"), "d: 1 2, c: 1 2, a: 1 2, b: 1 2")
		want(t, all("other"), "a: 1 2")
		ok(t, s.putMessage(ctx, userMessage("s", "c", 9))) // its time may change
		want(t, all("s"), "d: 1 2, a: 1 2, b: 1 2, c: 1 2")
	})
}

// What cannot be JSON does not stop a part from being kept; what has no id does.
func TestOddParts(t *testing.T) {
	s := open(t, Options{})
	ctx := t.Context()
	odd := message.Part{ID: "p", Message: "m", Session: "s", Type: message.Tool, State: &message.State{
		Status: message.Running, Input: json.RawMessage(`{"cut`), Metadata: map[string]any{"nan": math.NaN(), "n": 1.0}, Output: "out",
	}}
	m := userMessage("s", "m", 1)
	ok(t, s.Save(ctx, &m, []message.Part{odd}))
	got := must(s.Messages(ctx, "s"))(t)[0].Parts[0].State
	if got.Raw != `{"cut` || string(got.Input) != "{}" || got.Metadata["n"] != 1.0 || got.Output != "out" {
		t.Errorf("became %+v", got)
	}
	if string(odd.State.Input) != `{"cut` || odd.State.Raw != "" {
		t.Errorf("what was given became %+v", odd.State)
	}
	bad := odd
	bad.ID = ""
	for name, err := range map[string]error{
		"no part id":    s.putPart(ctx, bad),
		"no message":    s.putPart(ctx, message.Part{ID: "p", Session: "s"}),
		"no message id": s.putMessage(ctx, message.Info{Session: "s"}),
		"no session":    s.putMessage(ctx, message.Info{ID: "m"}),
		"no number":     s.putMessage(ctx, message.Info{ID: "m", Session: "s", Cost: math.NaN()}),
		"no number too": s.putPart(ctx, odd, message.Part{ID: "q", Message: "m", Session: "s", Cost: new(math.Inf(1))}),
	} {
		if err == nil {
			t.Error(name, "was kept")
		}
	}
	want(t, messageIDs(must(s.Messages(ctx, "s"))(t)), "m: p")
}

func TestDamagedRows(t *testing.T) {
	var log bytes.Buffer
	s := open(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ctx := t.Context()
	said := talk("s", 3)
	for _, m := range said {
		ok(t, s.Save(ctx, &m.Info, m.Parts))
	}
	asked := userMessage("s", "z", 9)
	asking := message.Part{ID: "p", Message: "z", Session: "s", Type: message.Text, Text: "hello"}
	ok(t, s.Save(ctx, &asked, []message.Part{asking}))
	ok(t, s.w.do(ctx, &op{run: func(c *conn) error {
		return execScript(c, fmt.Sprintf(`UPDATE part SET data = '{"type":"te' WHERE id = '%s'; UPDATE part SET data = '{"type":7}' WHERE id = '%s';
			UPDATE part SET data = '{}' WHERE id = '%s'; UPDATE message SET data = '' WHERE id IN('%s', 'z')`,
			said[1].Parts[1].ID, said[1].Parts[2].ID, said[1].Parts[3].ID, said[2].Info.ID))
	}}))
	got := must(s.Messages(ctx, "s"))(t)
	want(t, got[0], said[0])
	want(t, got[1].Info, said[1].Info)
	for i, p := range got[1].Parts {
		if whole := i == 0 || i == 4; whole {
			want(t, p, said[1].Parts[i])
		} else if p.ID != said[1].Parts[i].ID || p.Message != said[1].Info.ID || p.Type != message.Text || !strings.Contains(p.Text, "damaged") {
			t.Errorf("damaged part became %+v", p)
		}
	}
	want(t, got[2].Parts, said[2].Parts)
	if m := got[2].Info; m.ID != said[2].Info.ID || m.Role != message.Assistant || m.Error == nil || m.Time.Created != said[2].Info.Time.Created {
		t.Errorf("damaged message became %+v", m)
	}
	want(t, got[3], message.Message{Info: asked, Parts: []message.Part{asking}})
	if n := strings.Count(log.String(), "damaged"); n != 5 {
		t.Errorf("%d lines in the log:\n%s", n, &log)
	}
}

// Readers never see half of what was saved at once, whoever writes.
func TestMessagesConcurrent(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		ok(t, s.CreateSession(ctx, record.Session{ID: "s", Time: record.SessionTime{Created: 1}}))
		const writers, rounds = 4, 30
		var group sync.WaitGroup
		for g := range writers {
			id := fmt.Sprint("m", g)
			for half := range 2 { // two who write the same message
				group.Go(func() {
					for i := range rounds {
						m := userMessage("s", id, 1)
						m.Agent = fmt.Sprint(half, i)
						parts := []message.Part{{ID: "1", Message: id, Session: "s", Type: message.Text, Text: m.Agent}, {ID: "2", Message: id, Session: "s", Type: message.Text, Text: m.Agent}}
						if err := s.Save(ctx, &m, parts); err != nil {
							t.Error(err)
						}
						_, err := s.UpdateSession(ctx, "s", func(v *record.Session) { v.Tokens.Input++; v.Cost += 0.5 })
						if err != nil {
							t.Error(err)
						}
					}
				})
			}
			group.Go(func() {
				for range rounds {
					said, err := s.Messages(ctx, "s")
					if err != nil {
						t.Error(err)
					}
					for _, m := range said {
						if len(m.Parts) != 2 || m.Parts[0].Text != m.Info.Agent || m.Parts[1].Text != m.Info.Agent {
							t.Errorf("torn: %+v", m)
						}
					}
				}
			})
		}
		group.Wait()
		v := must(s.Session(ctx, "s"))(t)
		want(t, v.Tokens.Input, 2*writers*rounds)
		want(t, v.Cost, writers*rounds)
	})
}

func TestMessagesCanceled(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		m := talk("s", 1)[0]
		ok(t, s.Save(t.Context(), &m.Info, m.Parts))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Messages(ctx, "s"); !errors.Is(err, context.Canceled) {
			t.Errorf("reading: %v", err)
		}
		want(t, must(s.Messages(t.Context(), "s"))(t), []message.Message{m})
	})
}

// chat keeps messages without end, each first without and then with its
// parts, and prints the id of each when it is acknowledged.
func chat(out io.Writer, s *Store, session string) error {
	ctx := context.Background()
	if _, err := s.ClaimTurn(ctx, session, "chat"); err != nil {
		return err
	}
	for i := 0; ; i++ {
		m := userMessage(session, fmt.Sprintf("m%09d", i), int64(i))
		if err := s.putMessage(ctx, m); err != nil {
			return err
		}
		m.Role, m.Finish = message.Assistant, "stop"
		part := message.Part{ID: "1", Message: m.ID, Session: session, Type: message.Text, Text: "text of " + m.ID}
		last := part
		last.ID = "2"
		if err := s.Save(ctx, &m, []message.Part{part, last}); err != nil {
			return err
		}
		fmt.Fprintln(out, m.ID)
	}
}

// A process is killed while it writes a conversation: what it acknowledged is
// there whole, the rest is whole or not there, and its claim is void.
func TestKillChat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for round := range kills(t) / 2 {
		session := fmt.Sprint("s", round)
		p := start(t, "chat", dir, session)
		var lines []string
		for range 1 + rand.N(100) {
			if !p.lines.Scan() {
				t.Fatal("the helper ended by itself")
			}
			lines = append(lines, p.lines.Text())
		}
		ok(t, p.cmd.Process.Kill())
		lines = append(lines, p.rest()...)

		s := must(Open(Options{Dir: dir}))(t)
		want(t, s.Notices(), nil)
		whole := map[string]bool{}
		for i, m := range must(s.Messages(t.Context(), session))(t) {
			switch {
			case m.Info.Finish == "" && len(m.Parts) == 0:
			case m.Info.Finish == "stop" && len(m.Parts) == 2 && m.Parts[1].Text == "text of "+m.Info.ID:
				whole[m.Info.ID] = true
			default:
				t.Errorf("message %d: %+v", i, m)
			}
		}
		for _, id := range lines {
			if !whole[id] {
				t.Errorf("acknowledged message %s is lost", id)
			}
		}
		release := must(s.ClaimTurn(t.Context(), session, "test"))(t)
		release()
		ok(t, s.Close())
	}
}
