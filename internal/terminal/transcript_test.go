package terminal

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

func part(session, msg, id string, p message.Part) event.Event {
	p.Session, p.Message, p.ID = session, msg, id
	return event.Event{Properties: event.PartUpdated{Part: p}}
}

func callPart(id, name, input string, s message.State) message.Part {
	s.Input = json.RawMessage(input)
	return message.Part{Type: message.Tool, CallID: id, Tool: name, State: &s}
}

// conversation is a session that thinks, speaks, calls and asks another agent.
func conversation() []event.Event {
	said := func(id, session string, summary bool) event.Event {
		return event.Event{Properties: event.MessageUpdated{Info: message.Info{ID: id, Session: session, Role: message.Assistant, Summary: summary, Tokens: model.Tokens{Input: 5}}}}
	}
	made := func(id, parent string) event.Event {
		return event.Event{Type: "session.created", Properties: event.SessionCreated{Info: record.Session{ID: id, Parent: parent, Agent: "explore", Title: "Find\x1b it"}}}
	}
	delta := func(id, words string) event.Event {
		return event.Event{Properties: event.PartDelta{Part: id, Field: "text", Delta: words}}
	}
	took := &message.Span{Start: 1000, End: 2500}
	return []event.Event{
		{Type: "session.updated", Properties: event.SessionUpdated{Info: record.Session{ID: "ses_old"}}},
		made("ses_1", ""),
		part("ses_1", "u", "u1", message.Part{Type: message.Text, Text: "the prompt"}),
		said("m", "ses_1", false),
		part("ses_1", "m", "r", message.Part{Type: message.Reasoning}), delta("r", "Hmm.\n"),
		part("ses_1", "m", "t", message.Part{Type: message.Text}), delta("t", "I **lo"), delta("t", "ok**\x1b[2J."),
		part("ses_1", "m", "t", message.Part{Type: message.Text, Text: "I **look**\x1b[2J. So.", Time: took}),
		part("ses_1", "m", "c1", callPart("1", "read", `{"filePath":"a.go"}`, message.State{Status: message.Running})),
		part("ses_1", "m", "c1", callPart("1", "read", `{"filePath":"a.go"}`, message.State{Status: message.Completed, Title: "a.go", Time: took})),
		part("ses_1", "m", "c2", callPart("2", "edit", `{}`, message.State{Status: message.Completed, Title: "a.go", Metadata: map[string]any{"diff": "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\x07\n"}})),
		{Properties: event.PermissionAsked{Request: permission.Request{Call: &permission.CallRef{Call: "3"}, Metadata: map[string]any{"diff": "-seen"}}}},
		part("ses_1", "m", "c3", callPart("3", "edit", `{}`, message.State{Status: message.Completed, Title: "b.go", Metadata: map[string]any{"diff": "-seen"}})),
		part("ses_1", "m", "c4", callPart("4", "bash", `{"command":"go test\n./..."}`, message.State{Status: message.Running})),
		{Properties: event.CallProgress{ID: "4", Metadata: map[string]any{"output": "1\n2\n3\n4\n5\n6\r7\n"}}},
		part("ses_1", "m", "c4", callPart("4", "bash", `{"command":"go test\n./..."}`, message.State{Status: message.Completed, Title: "Test", Metadata: map[string]any{"output": "1\n2\n3\n4\n5\n6\r7\n", "exit": 2}})),
		part("ses_1", "m", "c5", callPart("5", "grep", `{"pattern":"x"}`, message.State{Status: message.Failed, Error: "no\x1b such\nfolder"})),
		part("ses_1", "m", "c5", callPart("5", "grep", `{"pattern":"x"}`, message.State{Status: message.Failed, Error: "told once"})),
		made("ses_2", "ses_1"), said("n", "ses_2", false),
		part("ses_2", "n", "t2", message.Part{Type: message.Text, Text: "said below"}),
		part("ses_2", "n", "c6", callPart("6", "glob", `{"pattern":"*.go"}`, message.State{Status: message.Completed})),
		part("ses_1", "m", "c7", callPart("7", "task", `{"description":"Find it"}`, message.State{Status: message.Completed})),
		part("ses_3", "o", "c8", callPart("8", "read", `{}`, message.State{Status: message.Completed})),
		{Properties: event.TodosChanged{Session: "ses_1", Todos: []tool.Todo{{Content: "look", Status: "completed"}}}},
		{Properties: event.SessionCompacted{Session: "ses_1"}},
		said("s", "ses_1", true), part("ses_1", "s", "t3", message.Part{Type: message.Text, Text: "a summary"}),
		{Properties: event.SessionStatus{Session: "ses_1", Status: event.Status{Type: "retry", Attempt: 2, Message: "busy\x1b"}}},
		{Properties: event.Missed{Count: 3}},
		said("p", "ses_1", false), part("ses_1", "p", "t4", message.Part{Type: message.Text, Text: "Done."}),
	}
}

const toldCalls = `✓ read a.go  1.5s
✓ edit a.go
  --- a
  +++ a
  @@ -1 +1 @@
  -x
  +y\x07

✓ edit b.go
✗ bash go test ./...
  …
  2
  3
  4
  5
  7
  exit code 2
✗ grep x
  no\x1b such
  folder
▸ explore Find\x1b it
  ✓ glob *.go
✓ task Find it

[x] look

The conversation so far was summed up.
`

func TestTranscript(t *testing.T) {
	for _, tc := range []struct {
		name string
		opt  TranscriptOptions
		want string
	}{
		{"plain", TranscriptOptions{}, `I **look**\x1b[2J. So.` + "\n\n" + toldCalls + "the model is asked again (attempt 2): busy\\x1b\n3 events were too fast to be told.\n\nDone.\n"},
		{"live", TranscriptOptions{Live: true, Reasoning: true}, "Hmm.\n\n" + `I **look**\x1b[2J. So.` + "\n\n" + toldCalls + "3 events were too fast to be told.\n\nDone.\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out strings.Builder
			tc.opt.Out = &out
			v := NewTranscript(tc.opt)
			for _, e := range conversation() {
				v.Event(e)
			}
			v.Close()
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What goes on is shown, and nothing of it stays.
func TestTranscriptLive(t *testing.T) {
	var out strings.Builder
	v := NewTranscript(TranscriptOptions{Out: &out, Live: true, Width: 40})
	events := conversation()
	running := 0
	for i, e := range events {
		v.Event(e)
		if p, ok := e.Properties.(event.CallProgress); ok {
			running = i
			out.Reset()
			v.Tick()
			if got := out.String(); !strings.Contains(got, "bash go test ./... (0s)") || !strings.Contains(got, "7") || strings.Contains(got, "6\r") {
				t.Errorf("call %s is shown as %q", p.ID, got)
			}
			out.Reset()
		}
	}
	if running == 0 || !strings.HasPrefix(out.String(), "\r\x1b[5A\x1b[J") {
		t.Errorf("what went on was not erased: %q", out.String())
	}
	v.Event(event.Event{Properties: event.SessionStatus{Session: "ses_1", Status: event.Status{Type: "busy"}}})
	v.Close()
	out.Reset()
	v.Tick()
	if !strings.Contains(out.String(), "working (0s)") {
		t.Errorf("%q", out.String())
	}
}

func TestDuration(t *testing.T) {
	for ms, want := range map[int64]string{5: "5ms", 1500: "1.5s", 61000: "1m1s"} {
		if got := duration(time.Duration(ms) * time.Millisecond); got != want {
			t.Errorf("%d: %s", ms, got)
		}
	}
}
