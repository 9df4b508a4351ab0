package tooltest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
	"github.com/helve-dev/helve/tooltest"
)

type shoutInput struct {
	Text string `json:"text" jsonschema:"what to shout"`
}

// shout is a tool as somebody outside writes one: it asks, then acts.
func shout() tool.Tool {
	spec := tool.Spec{Name: "shout", Description: "Says a text in capital letters."}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in shoutInput) (*tool.Result, error) {
		req := permission.Request{Permission: "shout", Patterns: []string{in.Text}, Always: []string{"*"}}
		if err := c.Ask(ctx, req); err != nil {
			return nil, err
		}
		return &tool.Result{
			Title:    "shout " + in.Text,
			Output:   strings.ToUpper(in.Text),
			Metadata: map[string]any{"letters": len(in.Text), "nested": map[string]any{"a": nil, "b": []int{1, 2}}},
		}, nil
	})
}

// TestShout is all it takes to test a tool: its scripts, and the promises
// that every tool keeps.
func TestShout(t *testing.T) {
	t.Run("scripts", func(t *testing.T) {
		tooltest.Scripts(t, "testdata/scripts", func(e *tooltest.Env) error {
			e.Tools = append(e.Tools, shout())
			return nil
		})
	})
	t.Run("conform", func(t *testing.T) {
		tooltest.Conform(t, tooltest.Subject{Tool: shout(), Input: `{"text":"hello"}`})
	})
}

func ExampleScripts() {
	// A script, testdata/scripts/shout.txtar:
	//
	//	rule shout * ask
	//	answer once
	//	call shout '{"text":"hello"}'
	//	stdout HELLO
	//	asked 'shout hello'
	_ = func(t *testing.T) { // TestScripts
		tooltest.Scripts(t, "testdata/scripts", func(e *tooltest.Env) error {
			e.Tools = append(e.Tools, shout())
			return nil
		})
	}
}

func ExampleConform() {
	_ = func(t *testing.T) { // TestConform
		tooltest.Conform(t, tooltest.Subject{Tool: shout(), Input: `{"text":"hello"}`})
	}
}
