package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The fixtures are there behind helve's own door, and what comes from the server
// behind it.
func TestFixtures(t *testing.T) {
	ctx := t.Context()
	url, stop, err := serveFixtures(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, c := range []struct{ name, want string }{
		{"test_simple_text", `{"type":"text","text":"This is a simple text response for testing."}`},
		{"test_image_content", `"type":"image"`}, {"test_audio_content", `"type":"audio"`}, {"test_embedded_resource", `"type":"resource"`},
		{"test_error_handling", `"isError":true`}, {"json_schema_2020_12_tool", "The schema was met."},
	} {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.name, Arguments: object{}})
		if text, _ := json.Marshal(res); err != nil || !strings.Contains(string(text), c.want) {
			t.Errorf("%s: %s %v", c.name, text, err)
		}
	}
	if res, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "test://static-text"}); err != nil || !strings.Contains(res.Contents[0].Text, "static text") {
		t.Errorf("%+v %v", res, err)
	}
	if res, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: "test_prompt_with_image"}); err != nil || len(res.Messages) != 2 {
		t.Errorf("%+v %v", res, err)
	}
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.example.com"
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("another host's name gets %s", res.Status)
	}
}

// The model plays its script in every wire format, and answers the same to what
// is asked twice.
func TestModel(t *testing.T) {
	call := func(result string, n int) []object { // messages, input items or contents
		all := []object{{"role": "user", "type": "message"}}
		for range n {
			all = append(all, object{"role": "tool", "content": result, "type": "function_call_output", "output": []object{{"text": result}},
				"parts": []object{{"functionResponse": object{"response": object{"output": result}}}}})
		}
		return all
	}
	for path, c := range map[string]struct {
		body func(n int) object
		want []string
	}{
		"/v1/chat/completions": {func(n int) object {
			return object{"stream": true, "messages": call("said", n), "tools": []object{{"function": object{"name": "read"}}, {"function": object{"name": "helve_read"}}, {"function": object{"name": "helve_bash"}}}}
		}, []string{`"name":"helve_read"`, `"name":"helve_bash"`, `"content":"done"`}},
		"/v1/responses": {func(n int) object {
			return object{"input": call("said", n), "tools": []object{{"name": "read"}, {"name": "mcp__helve", "tools": []object{{"name": "thread"}, {"name": "read"}, {"name": "bash"}}}}}
		}, []string{`"name":"read","namespace":"mcp__helve"`, `"name":"bash","namespace":"mcp__helve"`, `"text":"done"`}},
		"/v1beta/models/x:streamGenerateContent": {func(n int) object {
			return object{"contents": call("said", n), "tools": []object{{"functionDeclarations": []object{{"name": "read_file"}, {"name": "mcp_helve_read"}, {"name": "mcp_helve_bash"}}}}}
		}, []string{`"name":"mcp_helve_read"`, `"name":"mcp_helve_bash"`, `"text":"done"`}},
	} {
		m := &model{server: "helve", script: []step{{"read", object{"filePath": "a"}}, {"bash", object{"command": "ls"}}}}
		web := httptest.NewServer(m)
		defer web.Close()
		for n, want := range c.want {
			for range 2 {
				text, _ := json.Marshal(c.body(n))
				res, err := http.Post(web.URL+path, "application/json", bytes.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				got, _ := io.ReadAll(res.Body)
				if res.Body.Close(); !strings.Contains(string(got), want) {
					t.Errorf("%s after %d results: %s, want %s", path, n, got, want)
				}
			}
		}
		if diff := cmp.Diff([]string{"said", "said"}, m.results); diff != "" || m.missing != "" {
			t.Errorf("%s: %s missing %q", path, diff, m.missing)
		}
	}
}

func TestBaseline(t *testing.T) {
	text := "# head\nserver:\n  # one\n  # two\n  - a\n  - b\n  # other\n  - c\nclient:\n  # far\n  - a\n"
	got, err := baseline([]byte(text), "server")
	if diff := cmp.Diff(map[string]string{"a": "one two", "b": "one two", "c": "other"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, side := range []string{"server", "client"} {
		known, err := baseline(baselineText, side)
		if err != nil || len(known) < 3 {
			t.Errorf("%v %v", known, err)
		}
		for name, why := range known {
			if why == "" {
				t.Errorf("%s %s is expected to fail, and nobody says why", side, name)
			}
		}
	}
}

func TestSummary(t *testing.T) {
	got := readSummary("✓ not: this\n=== SUITE SUMMARY ===\n\n✓ ping: 1 passed, 0 failed\n✗ auth/x: 1 passed, 1 failed, 1 warnings\n\nTotal: 2\n  ✗ auth/x\n")
	if diff := cmp.Diff([]scenario{{"ping", 1, 0}, {"auth/x", 1, 2}}, got, cmp.AllowUnexported(scenario{})); diff != "" {
		t.Error(diff)
	}
}
