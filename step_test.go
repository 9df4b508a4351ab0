package helve

import (
	"testing"

	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/tool"
)

// A step of a child whose command failed, or was stopped, is told as failed,
// though the call has a result.
func TestStepOf(t *testing.T) {
	for _, test := range []struct {
		name     string
		metadata map[string]any
		kind     tool.Kind
		failed   bool
	}{
		{"no command", nil, "", false},
		{"exit 0", map[string]any{"exit": 0}, "", false},
		{"exit 0 of the store", map[string]any{"exit": 0.0}, "", false},
		{"exit 1", map[string]any{"exit": 1}, "", true},
		{"exit 1 of the store", map[string]any{"exit": 1.0}, "", true},
		{"signal", map[string]any{"exit": nil, "signal": "SIGKILL"}, "", true},
		{"stopped", map[string]any{"exit": nil}, tool.Canceled, true},
	} {
		s := stepOf(message.Part{Tool: "bash", State: &message.State{Status: message.Completed, Metadata: test.metadata, Kind: test.kind}})
		if s.State.Failed != test.failed || s.State.Status != "completed" {
			t.Errorf("%s: %+v", test.name, s.State)
		}
	}
}
