package terminal

import (
	"encoding/json"
	"testing"

	"github.com/helve-dev/helve/message"
)

func TestPart(t *testing.T) {
	for _, c := range []struct {
		part message.Part
		want string
	}{
		{message.Part{Type: message.Text, Text: "two\nlines\x1b\n"}, "two\n" + `lines\x1b`},
		{message.Part{Type: message.Text, Text: "<system-reminder>", Synthetic: true}, ""},
		{message.Part{Type: message.Reasoning, Text: "hmm"}, ""},
		{message.Part{Type: message.File, Mime: "image/png", Filename: "a.png"}, "[file] image/png a.png"},
		{message.Part{Type: message.Tool, Tool: "read", State: &message.State{Status: message.Completed, Title: "a.txt"}}, "✓ read a.txt"},
		{message.Part{Type: message.Tool, Tool: "x", State: &message.State{Status: message.Completed, Input: json.RawMessage(`{}`)}}, "✓ x"},
		{message.Part{Type: message.Tool, Tool: "x", State: &message.State{Status: message.Completed, Input: json.RawMessage(`{"a":1}`), Output: "one\x1b\n\n"}}, `✓ x {"a":1}` + "\n    " + `one\x1b`},
		{
			message.Part{Type: message.Tool, Tool: "bash", State: &message.State{
				Status: message.Completed, Title: "Counts", Input: json.RawMessage(`{"command":"seq 9 |\n cat"}`), Output: "<x>",
				Metadata: map[string]any{"output": "1\n2\n3\n4\n5\n6\n7\n8\n9\n"},
			}}, "✓ bash seq 9 | cat\n    …\n    5\n    6\n    7\n    8\n    9",
		},
		{message.Part{Type: message.Tool, Tool: "read", State: &message.State{Status: message.Failed, Error: "none\nthere"}}, "✗ read\n    none"},
		{message.Part{Type: message.Tool, Tool: "bash", State: &message.State{Status: message.Running}}, "… bash (running)"},
		{message.Part{Type: message.Tool, Tool: "bash"}, ""},
	} {
		if got := PartText(c.part); got != c.want {
			t.Errorf("%+v is shown as %q, not %q", c.part, got, c.want)
		}
	}
}

func TestBrokenBy(t *testing.T) {
	user := message.Message{Info: message.Info{Role: message.User}}
	answer := func(finish string, e *message.Failure, status message.Status) message.Message {
		m := message.Message{Info: message.Info{Role: message.Assistant, Finish: finish, Error: e}}
		if status != "" {
			m.Parts = []message.Part{{Type: message.Tool, State: &message.State{Status: status}}}
		}
		return m
	}
	for _, tc := range []struct {
		said []message.Message
		want string
	}{
		{nil, ""},
		{[]message.Message{user}, "there is no answer"},
		{[]message.Message{user, answer("stop", nil, "")}, ""},
		{[]message.Message{user, answer("", nil, "")}, "the answer has no end"},
		{[]message.Message{user, answer("tool-calls", nil, message.Completed)}, "the answer has no end"},
		{[]message.Message{user, answer("tool-calls", nil, message.Running)}, "a call had not ended"},
		{[]message.Message{user, answer("length", nil, "")}, "the answer was too long"},
		{[]message.Message{user, answer("", &message.Failure{Name: "MessageAbortedError"}, "")}, "it was stopped"},
		{[]message.Message{user, answer("", &message.Failure{Name: "APIError", Data: message.FailureData{Message: "Too much. Wait."}}, "")}, "Too much"},
		{[]message.Message{user, answer("", &message.Failure{Name: "APIError"}, "")}, "APIError"},
	} {
		if got := BrokenTurn(tc.said); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
