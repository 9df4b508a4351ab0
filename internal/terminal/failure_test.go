package terminal

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// What is an answer for a model and a failure for people is told as a failure.
func TestTranscriptFailures(t *testing.T) {
	denied := (&permission.DeniedError{Rules: permission.Ruleset{{Permission: "bash", Pattern: "rm *", Action: "deny"}}}).Error()
	issues := "The read tool was called with invalid arguments: [\n  {\"expected\":\"string\",\"code\":\"invalid_type\",\"path\":[\"filePath\"],\"message\":\"Invalid input: expected string, received undefined\"},\n" +
		"  {\"path\":[\"a\",0],\"message\":\"Invalid input: expected number, received NaN\"}\n].\nPlease rewrite the input so it satisfies the expected schema."
	caught := func(name, why string) string {
		b, err := json.Marshal(map[string]string{"tool": name, "error": why})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	took := &message.Span{Start: 1000, End: 3000}
	stopped := map[string]any{"output": "one\n\n<bash_metadata>\nbash tool terminated\n</bash_metadata>", "exit": 1}
	for _, tc := range []struct {
		name, tool, input string
		state             message.State
		hint, want        string
	}{
		{"no such tool", "invalid", caught("nope", "Model tried to call unavailable tool 'nope'. Available tools: bash, read."), message.State{Status: message.Completed, Kind: tool.UnknownTool, Time: took},
			`Did you mean "note"?`, "✗ nope Did you mean \"note\"?\n"},
		{"nor a hint", "invalid", caught("nope", "Model tried to call unavailable tool 'nope'. Available tools: bash."), message.State{Status: message.Completed, Kind: tool.UnknownTool}, "", "✗ nope there is no tool of this name\n"},
		{"arguments", "invalid", caught("read", issues), message.State{Status: message.Completed, Kind: tool.InvalidInput}, "", "✗ read\n  wrong arguments: filePath: missing;\n  a.0: expected number, received NaN\n"},
		{"arguments that failed", "read", `{}`, message.State{Status: message.Failed, Kind: tool.InvalidInput, Error: issues}, "", "✗ read\n  wrong arguments: filePath: missing;\n  a.0: expected number, received NaN\n"},
		{"no JSON", "invalid", caught("read", "Invalid input for tool read: JSON parsing failed: Text: {\"a.\nError message: it ends at byte 3"), message.State{Status: message.Completed, Kind: tool.InvalidInput}, "",
			"✗ read\n  arguments that are no JSON: it ends at\n  byte 3\n"},
		{"a rule", "bash", `{"command":"rm x"}`, message.State{Status: message.Failed, Kind: tool.Denied, Error: denied}, `Decided by the rule bash rm * = deny, helve.json:3.`,
			"✗ bash rm x\n  refused by the rule bash rm * = deny,\n  helve.json:3\n"},
		{"a rule that is not known", "bash", `{"command":"rm x"}`, message.State{Status: message.Failed, Kind: tool.Denied, Error: denied}, "", "✗ bash rm x\n  refused by a rule\n"},
		{"stopped", "bash", `{"command":"sleep 9"}`, message.State{Status: message.Completed, Kind: tool.Failed, Time: took, Metadata: stopped}, "", "✗ bash sleep 9  stopped after 2.0s\n  one\n"},
		{"a note", "bash", `{"command":"x"}`, message.State{Status: message.Completed, Metadata: stopped}, "", "✗ bash x\n  one\n  bash tool terminated\n  exit code 1\n"},
		{"long", "grep", `{"pattern":"x"}`, message.State{Status: message.Failed, Error: "The folder is not there, so nothing was searched."}, "", "✗ grep x\n  The folder is not there, so nothing\n  was searched.\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out strings.Builder
			v := NewTranscript(TranscriptOptions{Out: &out, Session: "s", Live: true, Width: 40})
			if tc.hint != "" {
				v.Event(event.Event{Properties: event.CallFinished{ID: "1", Session: "s", Error: &record.Failure{Hint: tc.hint}}})
			}
			v.Event(part("s", "m", "c", callPart("1", tc.tool, tc.input, tc.state)))
			v.Close()
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Who asks is named before what they ask.
func TestTranscriptAsks(t *testing.T) {
	var out strings.Builder
	v := NewTranscript(TranscriptOptions{Out: &out, Session: "s", Live: true})
	v.Event(event.Event{Type: "session.created", Properties: event.SessionCreated{Info: record.Session{ID: "b", Parent: "s", Agent: "general", Title: "one"}}})
	for range 2 {
		v.Event(event.Event{Properties: event.PermissionAsked{Request: permission.Request{Session: "b"}}})
	}
	v.Event(event.Event{Properties: event.PermissionAsked{Request: permission.Request{Session: "s"}}})
	v.Event(event.Event{Properties: event.QuestionAsked{QuestionRequest: tool.QuestionRequest{Session: "b"}}})
	if diff := cmp.Diff("▸ general one\n\n▸ general one\n", out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestAgain(t *testing.T) {
	now := time.UnixMilli(10_000)
	for next, want := range map[int64]string{
		0: "the model is asked again (attempt 2): busy", 9_000: "the model is asked again (attempt 2): busy", 17_001: "the model is asked again in 8 s (attempt 2): busy",
	} {
		if got := retryText(event.Status{Attempt: 2, Message: "busy", Next: next}, now); got != want {
			t.Errorf("%d: %s", next, got)
		}
	}
}
