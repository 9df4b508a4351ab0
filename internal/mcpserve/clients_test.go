package mcpserve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// Every client can show all the text of a result, whatever made it: none comes
// to where a client cuts by itself. Where the whole is kept stands in what even
// a preview shows, and there.
func TestResultsThatClientsShow(t *testing.T) {
	t.Parallel()
	h := build(t, permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}, nil, nil)
	lines := strings.Repeat("a line of a file that is rather long\n", 6000)
	h.write(t, "lines.txt", lines)
	h.write(t, "short.txt", strings.Repeat("x\n", 6000))
	h.write(t, "wide.txt", strings.Repeat("0123456789", 20_000))
	first := h.connect(t, nil)
	call(t, first, "read", map[string]any{"filePath": "lines.txt"}) // it opens the runtime
	for name, res := range map[string]tool.Result{
		"own_long":  {Output: lines},
		"own_wide":  {Output: strings.Repeat("é", 100_000)},
		"own_short": {Output: strings.Repeat("x\n", 6000)},
		"own_cut":   {Output: lines, Metadata: map[string]any{"truncated": true}},
		"own_data":  {Output: "short", Data: tool.Structured(`{"a":"` + strings.Repeat("x", 100_000) + `"}`)},
	} {
		if _, err := h.runtime(t).Register(own(t, name, func(context.Context, *tool.Call) (*tool.Result, error) {
			out := res
			out.Metadata = maps.Clone(res.Metadata)
			return &out, nil
		})); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.runtime(t).Register(own(t, "own_error", func(context.Context, *tool.Call) (*tool.Result, error) {
		return nil, errors.New(lines)
	})); err != nil {
		t.Fatal(err)
	}
	read := func(file string) map[string]any {
		return map[string]any{"tool": "read", "parameters": map[string]any{"filePath": file}}
	}
	some := []map[string]any{read("lines.txt"), read("short.txt"), read("wide.txt"), {"tool": "bash", "parameters": map[string]any{"command": "cat lines.txt", "description": "x"}}}
	calls := map[string]map[string]any{
		"own_long": {}, "own_wide": {}, "own_short": {}, "own_cut": {}, "own_data": {}, "own_error": {},
		"read lines": {"filePath": "lines.txt"}, "read short": {"filePath": "short.txt", "limit": 5000}, "read wide": {"filePath": "wide.txt"},
		"bash lines": {"command": "cat lines.txt; exit 3", "description": "x"}, "bash short": {"command": "cat short.txt", "description": "x"},
		"batch four": {"tool_calls": some}, "batch many": {"tool_calls": slices.Repeat(some, 6)},
	}
	for client, most := range map[string]int{
		"tester": 48_000, "claude-code": 48_000, "opencode": 48_000, "codex-mcp-client": 40_000, "gemini-cli-mcp-client-helve": 40_000, "qwen-code": 25_000,
	} {
		cs := h.connectAs(t, client, nil)
		for what, args := range calls {
			name, _, _ := strings.Cut(what, " ")
			res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, c := range res.Content {
				texts = append(texts, c.(*mcp.TextContent).Text)
			}
			all := strings.Join(texts, "\n\n")
			if n := strings.Count(all, "\n") + 1; len(all) > most || n > 2000 && name != "batch" {
				t.Errorf("%s, %s: %d bytes, %d lines", client, what, len(all), n)
			}
			if least := 10_000; name != "own_data" && len(all) < least && !strings.Contains(what, "short") && name != "own_error" && what != "read wide" {
				t.Fatalf("%s, %s: only %d bytes: %s", client, what, len(all), all)
			}
			kept := slices.Contains([]string{"own_long", "own_wide", "own_short", "own_cut", "bash"}, name)
			if kept && !strings.Contains(all[:500], "saved to: ") {
				t.Errorf("%s, %s: begins %q", client, what, all[:500])
			}
			if raw := asJSON(t, res.StructuredContent); len(raw) > most {
				t.Errorf("%s, %s: %d bytes of data", client, what, len(raw))
			}
		}
		listed, err := cs.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(listed.Tools[0].Meta["anthropic/maxResultSizeChars"]), map[string]string{"claude-code": "500000"}[client]; want != "" && got != want || want == "" && got != "<nil>" {
			t.Errorf("%s: %s", client, got)
		}
	}
}
