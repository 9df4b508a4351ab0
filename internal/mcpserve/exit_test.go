package mcpserve

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/tool"
)

func TestExitCode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		exit any
		want int
	}{{nil, 0}, {0, 0}, {3, 3}, {int64(3), 3}, {3.0, 3}, {-1, -1}, {"3", 0}, {true, 0}} {
		res := &tool.Result{Output: "out", Metadata: map[string]any{"exit": tt.exit}}
		if got := exitCode(res); got != tt.want {
			t.Errorf("%T %v: %d, want %d", tt.exit, tt.exit, got, tt.want)
		}
	}
	if got := exitCode(&tool.Result{}); got != 0 {
		t.Errorf("without metadata: %d", got)
	}
}

// The model is told that a program has failed, after what it printed.
func TestExitCodeIsTold(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	cs := h.connect(t, nil)
	for command, want := range map[string][]string{
		"echo hello; exit 7": {"hello\n", "exit code 7"},
		"exit 7":             {"", "exit code 7"},
		"echo hello":         {"hello\n"},
	} {
		res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "bash", Arguments: map[string]any{"command": command, "description": "d"}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range res.Content {
			if text, ok := c.(*mcp.TextContent); ok {
				got = append(got, text.Text)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || res.IsError {
			t.Errorf("%s: %s", command, diff)
		}
	}
}
