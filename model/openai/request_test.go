package openai

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/helve-dev/helve/model"
)

func number(n float64) *float64 { return &n }

// conversation has every kind of part.
func conversation() []model.Message {
	png := model.File{Mime: "image/png", Name: "a.png", Data: []byte("PNG")}
	return []model.Message{
		{Role: model.User, Parts: []model.Part{
			{Text: "look <at> this"}, {File: &png},
			{File: &model.File{Mime: "application/pdf", Data: []byte("%PDF")}},
			{File: &model.File{Mime: "audio/wav", Name: "b.wav", Data: []byte("RIFF")}},
		}},
		{Role: model.Assistant, Parts: []model.Part{
			{Reasoning: &model.Reasoning{Text: "two calls"}}, {Text: "I look."},
			{Call: &model.Call{ID: "c1", Name: "mcp.srv/read it", Input: json.RawMessage(`{"a":1}`), Seal: `{"google":{"thought_signature":"s"}}`}},
			{Call: &model.Call{ID: "c2", Name: "mcp_srv_read_it", Input: json.RawMessage(`{"a":`)}},
			{Call: &model.Call{ID: "c3", Name: "gone!"}},
		}},
		{Role: model.User, Parts: []model.Part{
			{Result: &model.Result{ID: "c1", Name: "mcp.srv/read it", Output: "seen", Files: []model.File{png}}},
			{Text: "and now?"},
		}},
		{Role: model.User, Parts: []model.Part{
			{Result: &model.Result{ID: "c2", Name: "mcp_srv_read_it", Output: "not JSON", Failed: true}},
			{Result: &model.Result{ID: "c3", Name: "gone!", Output: ""}},
		}},
		{Role: model.Assistant, Parts: []model.Part{{Reasoning: &model.Reasoning{Text: "nothing to say"}}}},
		{Role: model.Assistant, Parts: []model.Part{{Call: &model.Call{ID: "c4", Name: "gone!", Input: json.RawMessage(" {} ")}}}},
		{Role: model.User, Parts: []model.Part{{Result: &model.Result{ID: "c4", Name: "gone!", Output: "x"}}}},
		{Role: model.User, Parts: []model.Part{{Text: "one"}, {Text: "two"}}},
	}
}

func TestRequests(t *testing.T) {
	tools := []model.Tool{
		{Name: "mcp.srv/read it", Description: "reads", Schema: json.RawMessage(`{"type":"object","properties":{"z":{},"a":{}}}`)},
		{Name: "mcp_srv_read_it"},
	}
	full := model.Request{
		Model: "m", System: []string{"be good", "be brief"}, Messages: conversation(), Tools: tools, MaxTokens: 100,
		Temperature: number(0), TopP: number(0.9), Session: "ses_1",
		Options: map[string]any{"reasoning_effort": "high", "stream": false, "model": "other", "seed": 7},
	}
	small := model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: "hi"}}}}, Session: "ses_1", MaxTokens: 5}
	bare := model.Request{Model: "m"}
	local := Options{BaseURL: "http://localhost:1/v1"}
	tests := []struct {
		name string
		o    Options
		req  model.Request
	}{
		{"official", Options{Key: "k"}, full},
		{"local", local, full},
		{"small", local, small},
		{"bare", Options{BaseURL: local.BaseURL, NoUsage: true, MaxTokensField: "max_output"}, bare},
		{"field", Options{BaseURL: local.BaseURL, NoUsage: true, MaxTokensField: "max_output"}, small},
		{"replay", Options{BaseURL: local.BaseURL, ReplayReasoning: true}, full},
	}
	for _, tt := range tests {
		p, err := NewProvider(tt.o)
		if err != nil {
			t.Fatal(err)
		}
		var texts [][]byte
		for range 3 {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			if err := e.Encode(p.(*client).body(tt.req, namesOf(tt.req))); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, b.Bytes())
		}
		if !bytes.Equal(texts[0], texts[1]) || !bytes.Equal(texts[1], texts[2]) {
			t.Errorf("%s is not the same each time", tt.name)
		}
		golden(t, "testdata/requests/"+tt.name+".json", string(texts[0]))
	}
}

func TestNames(t *testing.T) {
	long := string(bytes.Repeat([]byte("n"), 80))
	var req model.Request
	for _, name := range []string{"a.b", "a_b", "a b", "", "ä", "ok-1", long, long + "x"} {
		req.Tools = append(req.Tools, model.Tool{Name: name})
	}
	n := namesOf(req)
	seen := map[string]bool{}
	for _, tool := range req.Tools {
		out := n.out[tool.Name]
		if out != fitted(out) || seen[out] || n.original(out) != tool.Name {
			t.Errorf("%q is %q, and back %q", tool.Name, out, n.original(out))
		}
		seen[out] = true
	}
	if n.out["a_b"] != "a_b" || n.out["ok-1"] != "ok-1" || n.original("unknown") != "unknown" {
		t.Errorf("%v", n)
	}
}
