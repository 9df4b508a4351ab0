package mcpserve

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/tool"
)

// Every kind of failure has its place in the table.
func TestKinds(t *testing.T) {
	t.Parallel()
	for _, k := range tool.Kinds() {
		if _, known := answerOf(k); !known {
			t.Errorf("%s has no answer", k)
		}
		res := failureResult(&tool.Error{Kind: k, Code: "code", Err: errors.New("SECRET PLACE"), Hint: "Do that."})
		got := said(res)
		if !res.IsError || !strings.HasSuffix(got, "\n\nDo that.") {
			t.Errorf("%s: %s", k, got)
		}
		if plain := !strings.Contains(got, "SECRET PLACE"); plain != (k == tool.Internal) {
			t.Errorf("%s: %s", k, got)
		}
		contains(t, asJSON(t, res), `"kind":"`+string(k)+`"`)
	}
	if _, known := answerOf("new"); known {
		t.Error("a new kind is known")
	}
	contains(t, said(failureResult(errors.New("plain"))), "ERROR: plain")
	answered := failureResult(&tool.Error{Kind: tool.UnknownTool, Err: errors.New("x"), Answer: &tool.Result{Output: "the answer"}, Hint: "hint"})
	if diff := cmp.Diff("ERROR: the answer\n\nhint", said(answered)); diff != "" {
		t.Error(diff)
	}
}

func data(mime, content string) string {
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString([]byte(content))
}

func TestContents(t *testing.T) {
	t.Parallel()
	png := tool.Attachment{ID: "1", Type: "file", Mime: "image/png", URL: data("image/png", "PNG"), Filename: "a.png"}
	res := &tool.Result{
		Output: "out", Attachments: []tool.Attachment{
			png,
			{ID: "2", Mime: "audio/wav", URL: data("audio/wav", "WAV")},
			{ID: "3", Mime: "application/pdf", URL: data("application/pdf", "PDF"), Filename: "b c.pdf"},
			{ID: "4", Mime: "text/plain", URL: "https://example.org/x", Filename: "x"},
		},
		Inner: []tool.Inner{
			{Tool: "read", Status: "completed", Result: &tool.Result{Output: "inside", Attachments: []tool.Attachment{png, {ID: "5", Mime: "image/gif", URL: data("image/gif", "GIF")}}}},
			{Tool: "read", Status: "error", Error: "broken"},
		},
	}
	want := []string{
		`{"type":"text","text":"out"}`,
		`{"type":"text","text":"[1] read: completed\ninside"}`,
		`{"type":"text","text":"[2] read: error\nbroken"}`,
		`{"type":"image","mimeType":"image/png","data":"UE5H"}`,
		`{"type":"audio","mimeType":"audio/wav","data":"V0FW"}`,
		`{"type":"resource","resource":{"uri":"attachment:///b%20c.pdf","mimeType":"application/pdf","blob":"UERG"}}`,
		`{"type":"resource_link","mimeType":"text/plain","uri":"https://example.org/x","name":"x"}`,
		`{"type":"image","mimeType":"image/gif","data":"R0lG"}`,
	}
	var got []string
	for _, c := range contentOf(res) {
		got = append(got, asJSON(t, c))
	}
	for i := range want {
		if i >= len(got) || !same(t, want[i], got[i]) {
			t.Fatalf("content %d:\ngot  %v\nwant %s", i, got, want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("there are %d contents", len(got))
	}
	if len(res.Attachments) != 4 {
		t.Error("the result was changed")
	}
}

func same(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal([]byte(a), &x), json.Unmarshal([]byte(b), &y)); err != nil {
		t.Fatal(err)
	}
	return cmp.Equal(x, y)
}

func TestStructured(t *testing.T) {
	t.Parallel()
	hits := tool.Hits{Lines: []tool.Match{{File: "/a", Line: 1, Text: "x"}}, Notes: []string{"n"}, Failed: 2}
	tests := []struct {
		name string
		data any
		hits bool
		want string
	}{
		{"none", nil, true, "null"},
		{"another program's", tool.Structured(` {"a":1}`), false, `{"a":1}`},
		{"another program's list", tool.Structured(`[1]`), true, "null"},
		{"another program's rubbish", tool.Structured(`{"a"`), true, "null"},
		{"lines", &hits, true, `{"matches":[{"file":"/a","line":1,"text":"x"}],"notes":["n"],"failed":2}`},
		{"lines by value", hits, true, `{"matches":[{"file":"/a","line":1,"text":"x"}],"notes":["n"],"failed":2}`},
		{"lines, not wanted", &hits, false, "null"},
		{"names", &tool.Hits{Names: []string{"/a"}}, true, `{"files":["/a"]}`},
		{"nothing found", &tool.Hits{}, true, `{"files":[]}`},
		{"nil", (*tool.Hits)(nil), true, "null"},
	}
	for _, tt := range tests {
		if got := asJSON(t, structured(tt.data, tt.hits)); !same(t, tt.want, got) {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestWireTool(t *testing.T) {
	t.Parallel()
	hint := func(ro, destructive, idempotent, open bool) string {
		return asJSON(t, map[string]any{"readOnlyHint": ro, "destructiveHint": destructive, "idempotentHint": idempotent, "openWorldHint": open})
	}
	tests := []struct {
		spec tool.Spec
		want string
	}{
		{tool.Spec{Name: "apply_patch", Destructive: true}, hint(false, true, false, false)},
		{tool.Spec{Name: "read", ReadOnly: true, Destructive: true}, hint(true, false, true, false)},
		{tool.Spec{Name: "fetch", Idempotent: true, OpenWorld: true}, hint(false, false, true, true)},
	}
	for _, tt := range tests {
		got, err := wireTool(tt.spec)
		if err != nil {
			t.Fatal(err)
		}
		if !same(t, tt.want, asJSON(t, got.Annotations)) {
			t.Errorf("%s: %s, want %s", tt.spec.Name, asJSON(t, got.Annotations), tt.want)
		}
	}
	got, err := wireTool(tool.Spec{Name: "apply_patch", Description: "d", Schema: &jsonschema.Schema{Type: "object", Required: []string{"x"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Title != "Apply patch" || asJSON(t, got.InputSchema) != `{"type":"object","required":["x"]}` {
		t.Errorf("%s", asJSON(t, got))
	}
	if got, _ := wireTool(tool.Spec{Name: "server_tool", External: true}); got.Title != "" || asJSON(t, got.InputSchema) != `{"type":"object"}` {
		t.Errorf("%s", asJSON(t, got))
	}
}

// Metadata goes with a result while it is small.
func TestMetadata(t *testing.T) {
	t.Parallel()
	se := &session{s: New(Options{})}
	small := se.result(&tool.Result{Title: "t", Output: "o", Metadata: map[string]any{"n": 1}})
	if diff := cmp.Diff(`{"helve/metadata":{"n":1},"helve/title":"t"}`, asJSON(t, small.Meta)); diff != "" {
		t.Error(diff)
	}
	for _, m := range []map[string]any{nil, {}, {"x": strings.Repeat("x", maxMeta)}, {"f": func() {}}} {
		if got := se.result(&tool.Result{Metadata: m}); got.Meta[metaData] != nil {
			t.Errorf("%v goes along", got.Meta)
		}
	}
	if _, ok := any(small).(mcp.Result); !ok {
		t.Error("no result")
	}
}
