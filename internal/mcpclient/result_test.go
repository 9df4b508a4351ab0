package mcpclient

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/helve-dev/helve/tool"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The beginning of a PNG file, and of a WAV file.
const (
	png = "\x89PNG\x0D\x0A\x1A\x0A"
	wav = "RIFF\x00\x00\x00\x00WAVE"
)

func dataURL(typ, data string) string {
	return "data:" + typ + ";base64," + base64.StdEncoding.EncodeToString([]byte(data))
}

func TestResult(t *testing.T) {
	size := int64(12)
	file := func(typ, name, data string) []tool.Attachment {
		return []tool.Attachment{{Type: "file", Mime: typ, URL: dataURL(typ, data), Filename: name}}
	}
	empty := map[string]any{}
	for _, c := range []struct {
		name string
		res  mcp.CallToolResult
		want tool.Result
	}{
		{"nothing", mcp.CallToolResult{}, tool.Result{Metadata: empty}},
		{"texts", mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "a"}, &mcp.TextContent{Text: "b\xff"}}},
			tool.Result{Output: "a\n\nb\ufffd", Metadata: empty}},
		{"image", mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: []byte(png), MIMEType: "image/png"}}},
			tool.Result{Metadata: empty, Attachments: file("image/png", "", png)}},
		{"image of another type than it says", mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: []byte(png), MIMEType: "image/jpeg; q=1"}}},
			tool.Result{Metadata: empty, Attachments: file("image/png", "", png)}},
		{"image that only its server knows", mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: []byte("<svg/>"), MIMEType: "image/svg+xml"}}},
			tool.Result{Metadata: empty, Attachments: file("image/svg+xml", "", "<svg/>")}},
		{"image that is none", mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: []byte("hi"), MIMEType: "text/html\u202e"}}},
			tool.Result{Metadata: empty, Output: `[content of the kind image was left out, since its type "text/html\u{202e}" is not one]`}},
		{"empty image", mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{MIMEType: "image/png"}}},
			tool.Result{Metadata: empty, Output: "[an attachment of the type image/png was left out, since it is empty]"}},
		{"audio", mcp.CallToolResult{Content: []mcp.Content{&mcp.AudioContent{Data: []byte(wav), MIMEType: "audio/x-wav"}}},
			tool.Result{Metadata: empty, Attachments: file("audio/wav", "", wav)}},
		{"embedded text", mcp.CallToolResult{Content: []mcp.Content{&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "u:1", Text: "t"}}}},
			tool.Result{Metadata: empty, Output: "t"}},
		{"embedded blob", mcp.CallToolResult{Content: []mcp.Content{&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "u:1", Blob: []byte("b")}}}},
			tool.Result{Metadata: empty, Attachments: file("application/octet-stream", "u:1", "b")}},
		{"embedded blob of a type", mcp.CallToolResult{Content: []mcp.Content{&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "u:\n1", MIMEType: "application/PDF; x=y", Blob: []byte("b")}}}},
			tool.Result{Metadata: empty, Attachments: file("application/pdf", "u: 1", "b")}},
		{"embedded nothing", mcp.CallToolResult{Content: []mcp.Content{&mcp.EmbeddedResource{}}},
			tool.Result{Metadata: empty, Output: "[a resource without contents was left out]"}},
		{"link", mcp.CallToolResult{Content: []mcp.Content{
			&mcp.ResourceLink{URI: "file:///a", Name: "a", Description: "about\na", MIMEType: "text/plain", Size: &size},
			&mcp.ResourceLink{URI: "b:", Name: "b\u202e"},
		}}, tool.Result{
			Output: "[resource: a (file:///a), text/plain, 12 bytes] about a\n\n[resource: b\\u{202e} (b:)]",
			Metadata: map[string]any{"links": []map[string]any{
				{"name": "a", "uri": "file:///a", "description": "about a", "mime": "text/plain", "size": size},
				{"name": "b\\u{202e}", "uri": "b:"},
			}},
		}},
		{"both (MB01)", mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "a"}}, StructuredContent: map[string]any{"x": 1}},
			tool.Result{Metadata: empty, Output: "a", Data: tool.Structured(`{"x":1}`)}},
		{"only structured (MB02)", mcp.CallToolResult{StructuredContent: map[string]any{"x": "<"}},
			tool.Result{Metadata: empty, Output: `{"x":"<"}`, Data: tool.Structured(`{"x":"<"}`)}},
		{"structured and an empty text", mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{}}, StructuredContent: []any{1}},
			tool.Result{Metadata: empty, Output: `[1]`, Data: tool.Structured(`[1]`)}},
		{"structured and an image", mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: []byte(png), MIMEType: "image/png"}}, StructuredContent: 1},
			tool.Result{Metadata: empty, Data: tool.Structured(`1`), Attachments: file("image/png", "", png)}},
		{"no kind", mcp.CallToolResult{Content: []mcp.Content{nil, nil}},
			tool.Result{Metadata: empty, Output: "[content of a kind that no result has was left out (2 times)]"}},
	} {
		got, err := ToolResult(&c.res)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d := cmp.Diff(&c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestResultError(t *testing.T) {
	image := &mcp.ImageContent{Data: []byte(png), MIMEType: "image/png"}
	var asking mcp.CallToolResult
	if err := json.Unmarshal([]byte(`{"resultType":"input_required","content":[]}`), &asking); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		res  *mcp.CallToolResult
		want string
	}{
		{"asking", &asking, "MCP tool asks for more input than its arguments, and nobody gave it"},
		{"texts", &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "a"}, &mcp.TextContent{Text: "b"}}}, "a\n\nb"},
		{"nothing", &mcp.CallToolResult{IsError: true}, "MCP tool returned an error"},
		{"blank", &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: " "}}}, "MCP tool returned an error"},
		{"structured", &mcp.CallToolResult{IsError: true, StructuredContent: map[string]any{"why": 1}}, `{"why":1}`},
		{"image", &mcp.CallToolResult{IsError: true, Content: []mcp.Content{image, image}}, "[an attachment was left out, since the call failed (2 times)]"},
		{"nil", nil, "MCP tool returned nothing"},
		{"long", &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("x", 1<<20)}}},
			strings.Repeat("x", 50<<10) + "\n[997376 more bytes were left out]"},
	} {
		_, err := ToolResult(c.res)
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || e.Kind != tool.Failed || e.Code != "mcp-error" || e.Error() != c.want {
			t.Errorf("%s: %#v, want %q", c.name, err, c.want)
		}
	}
}

func TestResultLimits(t *testing.T) {
	var many []mcp.Content
	for range maxAttachments + 3 {
		many = append(many, &mcp.ImageContent{Data: []byte(png), MIMEType: "image/png"})
	}
	got, err := ToolResult(&mcp.CallToolResult{Content: many})
	if err != nil || len(got.Attachments) != maxAttachments || got.Output != "[an attachment was left out: 64 are the most (3 times)]" {
		t.Errorf("many: %d, %q, %v", len(got.Attachments), got.Output, err)
	}
	big := make([]byte, 20<<20)
	copy(big, png)
	large := &mcp.ImageContent{Data: big, MIMEType: "image/png"}
	got, err = ToolResult(&mcp.CallToolResult{Content: []mcp.Content{large, large, many[0]}})
	if err != nil || len(got.Attachments) != 2 || got.Output != "[an attachment was left out: 32 MiB together are the most]" {
		t.Errorf("large: %d, %q, %v", len(got.Attachments), got.Output, err)
	}
	got, err = ToolResult(&mcp.CallToolResult{StructuredContent: strings.Repeat("x", maxStructured)})
	if err != nil || got.Data != nil || got.Output != "[structured content of 8388610 bytes was left out: 8388608 are the most]" {
		t.Errorf("structured: %v, %.80q, %v", got.Data != nil, got.Output, err)
	}
	var links []mcp.Content
	for range maxLinks + 1 {
		links = append(links, &mcp.ResourceLink{URI: "u:", Name: "n"})
	}
	got, err = ToolResult(&mcp.CallToolResult{Content: links})
	if err != nil || len(got.Metadata["links"].([]map[string]any)) != maxLinks || !strings.HasSuffix(got.Output, "[a link was left out: 256 are the most]") {
		t.Errorf("links: %.80q, %v", got.Output, err)
	}
}

func TestMend(t *testing.T) {
	for _, c := range []struct{ name, in, out string }{
		{"good", `{"content":[{"type":"text","text":"a"}]}`, "a"},
		{"of a message", `{"content":[{"type":"tool_use","id":"1","name":"n","input":{}},{"type":"text","text":"a"}]}`,
			"a\n\n[content of a kind that no result has was left out]"},
		{"unknown kind", `{"content":[{"type":"text","text":"a"},{"type":"video","data":"eA=="}]}`,
			"a\n\n[content of the kind \"video\" was left out, since it is not known or not as it should be]"},
		{"bad base64", `{"content":[{"type":"image","mimeType":"image/png","data":"!!"}],"structuredContent":{"a":1}}`,
			"[content of the kind image was left out, since it is not base64]"},
		{"bad blob", `{"content":[{"type":"resource","resource":{"uri":"u:","blob":"!!"}}]}`,
			"[content of the kind resource was left out, since it is not base64]"},
		{"no kind", `{"content":[{"text":"a"}]}`, "a"},
		{"bare text", `{"content":"a"}`, "a"},
		{"bare texts", `{"content":["a","b"]}`, "a\n\nb"},
		{"one object", `{"content":{"type":"text","text":"a"}}`, "a"},
		{"null", `{"content":[null]}`, "[content was left out, since it is null]"},
		{"number", `{"content":[5]}`, "[content was left out, since it is a number]"},
		{"odd fields", `{"content":[{"type":"resource_link","uri":"u:","name":"n","size":"big","annotations":7}],"_meta":"x"}`, "[resource: n (u:)]"},
		{"text that is a number", `{"content":[{"type":"text","text":5}]}`, "5"},
	} {
		var res mcp.CallToolResult
		if err := json.Unmarshal(RepairResult(json.RawMessage(c.in)), &res); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, err := ToolResult(&res)
		if err != nil || got.Output != c.out {
			t.Errorf("%s: %q, %v; want %q", c.name, got.Output, err, c.out)
		}
	}
	var res mcp.CallToolResult
	raw := `{"isError":"true","content":[{"type":"image","mimeType":"image/png","data":"iVBORw0K\nGgo"}]}`
	if err := json.Unmarshal(RepairResult(json.RawMessage(raw)), &res); err != nil {
		t.Fatal(err)
	}
	if img, ok := res.Content[0].(*mcp.ImageContent); !ok || string(img.Data) != png || !res.IsError {
		t.Errorf("base64 without padding became %#v", res.Content[0])
	}
	if got := RepairResult(json.RawMessage(`[1]`)); string(got) != `[1]` {
		t.Errorf("what is no result became %s", got)
	}
}

// FuzzResult: whatever a server sends, there is a result or an error, and a
// result can be written as JSON.
func FuzzResult(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"eA=="}],"structuredContent":{"a":[1]}}`))
	f.Add([]byte(`{"content":[{"type":"resource","resource":{"uri":"u:","blob":"eA"}},{"type":"video"}],"isError":true}`))
	f.Add([]byte(`{"content":[{"type":"resource_link","uri":"u:","name":"\u202e","size":-1}],"_meta":{"a":1}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, raw := range [][]byte{raw, RepairResult(raw)} {
			var res mcp.CallToolResult
			if json.Unmarshal(raw, &res) != nil {
				continue
			}
			got, err := ToolResult(&res)
			if (got == nil) == (err == nil) {
				t.Fatalf("%v, %v", got, err)
			}
			if err != nil {
				if err.Error() == "" || !utf8.ValidString(err.Error()) {
					t.Errorf("the error is %q", err.Error())
				}
				continue
			}
			if _, err := json.Marshal(got); err != nil {
				t.Error(err)
			}
			if !utf8.ValidString(got.Output) {
				t.Errorf("not UTF-8: %q", got.Output)
			}
			for _, a := range got.Attachments {
				head, data, ok := strings.Cut(a.URL, ";base64,")
				if _, err := base64.StdEncoding.Strict().DecodeString(data); !ok || err != nil || head != "data:"+a.Mime {
					t.Errorf("attachment %q: %v", a.URL, err)
				}
			}
			if s, ok := got.Data.(tool.Structured); ok && !json.Valid(s) {
				t.Errorf("structured: %q", s)
			}
		}
	})
}
