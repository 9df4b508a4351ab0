package terminal

import (
	"strings"
	"testing"

	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/tool"
)

// A command that failed is no success, however it ended.
func TestEnded(t *testing.T) {
	for _, tc := range []struct {
		metadata map[string]any
		want     string
	}{
		{nil, ""},
		{map[string]any{"exit": 0}, ""},
		{map[string]any{"exit": 0.0}, ""},
		{map[string]any{"exit": 3}, "exit code 3"},
		{map[string]any{"exit": 3.0}, "exit code 3"},
		{map[string]any{"exit": nil, "signal": "SIGKILL"}, "ended by the signal SIGKILL"},
		{map[string]any{"signal": "weak"}, ""}, // of a tool that is no command
		{map[string]any{"exit": "door"}, ""},
	} {
		if got := CommandEnd(tc.metadata); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.metadata, got, tc.want)
		}
		mark := "✓ "
		if tc.want != "" {
			mark = "✗ "
		}
		if got := PartText(message.Part{Type: message.Tool, Tool: "bash", State: &message.State{Status: message.Completed, Metadata: tc.metadata}}); !strings.HasPrefix(got, mark) || !strings.Contains(got, tc.want) {
			t.Errorf("%v: %q", tc.metadata, got)
		}
	}
	denied := message.Part{Type: message.Tool, Tool: "bash", State: &message.State{Status: message.Failed, Kind: tool.Denied, Error: "for the model", Reason: "for people"}}
	if got := PartText(denied); !strings.Contains(got, "for people") || strings.Contains(got, "for the model") {
		t.Error(got)
	}
}
