package anthropic

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/helve-dev/helve/model"
)

// heard is a server that keeps what it is sent.
type heard struct{ body []byte }

func (h *heard) RoundTrip(r *http.Request) (*http.Response, error) {
	h.body, _ = io.ReadAll(r.Body)
	answer := "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n"
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
}

// sent is the body of a request, or what was said instead.
func sent(t testing.TB, o Options, req model.Request) []byte {
	t.Helper()
	h := &heard{}
	o.Key, o.HTTP = "sk-ant-0123456789", &http.Client{Transport: h}
	p, err := NewProvider(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range p.Stream(t.Context(), req) {
		if err != nil {
			return []byte(err.Error())
		}
	}
	return h.body
}

func pretty(t testing.TB, body []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, body, "", "  "); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return b.String() + "\n"
}

func parts(role model.Role, p ...model.Part) model.Message {
	return model.Message{Role: role, Parts: p}
}

func call(id, name, input string) model.Part {
	return model.Part{Call: &model.Call{ID: id, Name: name, Input: json.RawMessage(input)}}
}

// rich is a conversation with everything in it.
func rich() model.Request {
	half := 0.5
	image := model.File{Mime: "image/png", Name: "a.png", Data: []byte("png")}
	pdf := model.File{Mime: "application/pdf", Name: "b.pdf", Data: []byte("pdf")}
	zip := model.File{Mime: "application/zip", Name: "c.zip", Data: []byte("zip")}
	return model.Request{
		Model:  "claude-x",
		System: []string{"You are <helve> & kind.", " \n", "Today is Monday."},
		Messages: []model.Message{
			parts(model.User, model.Part{Text: "Look at these"}, model.Part{Text: " "}, model.Part{File: &image}, model.Part{File: &pdf}, model.Part{File: &zip}),
			parts(model.Assistant,
				model.Part{Reasoning: &model.Reasoning{Text: "Hm", Seal: sealSignature + "c2ln"}},
				model.Part{Reasoning: &model.Reasoning{Text: "not sealed"}},
				model.Part{Reasoning: &model.Reasoning{Text: "another's", Seal: "openai:rs_1"}},
				model.Part{Reasoning: &model.Reasoning{Seal: sealRedacted + "ZGF0YQ=="}},
				model.Part{Text: "I do."}, call("call.1", "files.read", `{"path":"a"}`)),
			parts(model.Assistant, call("call_1", "list", ``), call("toolu_3", "list", `[1,2]`), call("toolu_4", "gone.tool", `{"cut":`)),
			parts(model.User, model.Part{Text: "And quickly"}),
			parts(model.User,
				model.Part{Result: &model.Result{ID: "call.1", Name: "files.read", Output: "text", Files: []model.File{image, zip}}},
				model.Part{Result: &model.Result{ID: "call_1", Name: "list"}},
				model.Part{Result: &model.Result{ID: "toolu_3", Name: "list", Failed: true}},
				model.Part{Result: &model.Result{ID: "toolu_4", Name: "gone.tool", Output: "no such tool", Failed: true}}),
			parts(model.Assistant, model.Part{Text: "\n"}, model.Part{Reasoning: &model.Reasoning{Text: "interrupted", Seal: sealSignature + "c2ln"}}),
			parts(model.User, model.Part{Text: "Go on"}),
			parts(model.Assistant, model.Part{Text: "Yes"}),
			parts(model.User, model.Part{Text: "Well?"}),
		},
		Tools: []model.Tool{
			{Name: "files.read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object", "properties":{"path":{"type":"string"}}}`)},
			{Name: "list"},
			{Name: "files_read", Schema: json.RawMessage(`{"properties":{}}`)},
			{Name: strings.Repeat("long", 20), Schema: json.RawMessage(`{"type":"object"}`)},
			{Name: strings.Repeat("long", 30), Schema: json.RawMessage(`{"type":"object"}`)},
		},
		Temperature: &half, TopP: &half,
		Options: map[string]any{"metadata": map[string]any{"user_id": "u"}, "model": "other", "stream": false, "top_k": 5},
	}
}

func TestRichRequest(t *testing.T) {
	body := sent(t, Options{}, rich())
	golden(t, "testdata/request-rich.golden", pretty(t, body))
	for range 20 {
		if again := sent(t, Options{}, rich()); !bytes.Equal(again, body) {
			t.Fatalf("the same request was written otherwise: %s", again)
		}
	}
	if marks := bytes.Count(body, []byte("cache_control")); marks != 4 {
		t.Errorf("%d marks", marks)
	}
}

func TestRequests(t *testing.T) {
	hi, one := []model.Message{said(model.User, "hi")}, 1.0
	with := func(change func(r *model.Request)) model.Request {
		r := model.Request{Model: "m", Messages: hi}
		change(&r)
		return r
	}
	own := with(func(r *model.Request) {
		r.Options = map[string]any{"cache_control": map[string]any{"type": "ephemeral"}}
	})
	for name, c := range map[string]struct {
		o    Options
		req  model.Request
		want string
	}{
		"plain":         {Options{NoCache: true}, with(func(*model.Request) {}), `{"max_tokens":8192,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"model":"m","stream":true}`},
		"marked":        {Options{}, with(func(*model.Request) {}), `"text":"hi","cache_control":{"type":"ephemeral"}`},
		"marks by hand": {Options{}, own, `{"cache_control":{"type":"ephemeral"},"max_tokens":8192,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]`},
		"bound":         {Options{}, with(func(r *model.Request) { r.MaxTokens = 100 }), `"max_tokens":100,`},
		"temperature":   {Options{}, with(func(r *model.Request) { r.Temperature = &one }), `"temperature":1}`},
		"top_p":         {Options{}, with(func(r *model.Request) { r.TopP = &one }), `"top_p":1}`},
		"thinking": {Options{}, with(func(r *model.Request) {
			r.Temperature, r.Options = &one, map[string]any{"thinking": map[string]any{"type": "enabled", "budget_tokens": 2000}}
		}), `"stream":true,"thinking":{"budget_tokens":2000,"type":"enabled"}}`},
		"room to think": {Options{}, with(func(r *model.Request) { r.Options = map[string]any{"thinking": thinking{"enabled", 2000}} }), `"max_tokens":10192,`},
		"thinking off": {Options{}, with(func(r *model.Request) {
			r.Temperature, r.Options = &one, map[string]any{"thinking": thinking{Type: "disabled"}}
		}), `"temperature":1,`},
		"begins late": {Options{NoCache: true}, with(func(r *model.Request) {
			r.Messages = []model.Message{said(model.Assistant, "Hello"), said(model.User, "hi")}
		}), `[{"role":"user","content":[{"type":"text","text":"` + lostBeginning + `"}]},{"role":"assistant"`},
		"no message":     {Options{}, model.Request{}, "send at least one"},
		"empty messages": {Options{}, model.Request{Messages: []model.Message{said(model.User, " "), said(model.Assistant, "")}}, "send at least one"},
		"broken schema":  {Options{}, with(func(r *model.Request) { r.Tools = []model.Tool{{Name: "t", Schema: json.RawMessage(`[1`)}} }), "the schema of the tool t"},
		"broken options": {Options{}, with(func(r *model.Request) { r.Options = map[string]any{"f": func() {}} }), "can not be written as JSON"},
	} {
		if got := string(sent(t, c.o, c.req)); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s lacks %s", name, got, c.want)
		}
	}
}

func TestObject(t *testing.T) {
	for in, want := range map[string]string{
		``:                       `{}`,
		` null `:                 `{}`,
		` {"a": 1} `:             `{"a": 1}`,
		`[1]`:                    `{"value":[1]}`,
		`"x"`:                    `{"value":"x"}`,
		`3`:                      `{"value":3}`,
		`{"a":`:                  `{"value":"{\"a\":"}`,
		`{"a":"\ud83d\ude42"}`:   `{"a":"🙂"}`,
		`{"a":"\uD83D","n":1e9}`: `{"a":"` + "\ufffd" + `","n":1e9}`,
		"{\"a\":\"\xff\"}":       "{\"a\":\"\ufffd\"}",
	} {
		if got := string(inputObject(json.RawMessage(in))); got != want {
			t.Errorf("%s is %s, not %s", in, got, want)
		}
	}
}

func TestFitting(t *testing.T) {
	fits := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	long := strings.Repeat("ä", 100)
	req := model.Request{}
	for _, name := range []string{"a.b", "a_b", "a/b", "", "_", long, long + "x", strings.Repeat("_", 64), "日本", "日木"} {
		req.Tools = append(req.Tools, model.Tool{Name: name})
	}
	n, seen := namesOf(req), map[string]string{}
	for _, tool := range req.Tools {
		fit := n.tools.nameFor(tool.Name)
		if other, twice := seen[fit]; twice || !fits.MatchString(fit) {
			t.Errorf("%q became %q (%q)", tool.Name, fit, other)
		}
		seen[fit] = tool.Name
		if fits.MatchString(tool.Name) && fit != tool.Name {
			t.Errorf("%q fits, and became %q", tool.Name, fit)
		}
		if back := n.tools.back(fit); back != tool.Name {
			t.Errorf("%q came back as %q", tool.Name, back)
		}
	}
	if n.tools.back("unheard") != "unheard" {
		t.Error("a name that is not known was changed")
	}
}

func TestFiles(t *testing.T) {
	for mime, want := range map[string]string{
		"image/png": "image", "IMAGE/JPG": "image", "image/webp; x=y": "image", "application/pdf": "document", "image/svg+xml": "text", "": "text",
	} {
		if got := fileOf(model.File{Mime: mime, Data: []byte("x")}); got.Type != want {
			t.Errorf("%s became %s", mime, got.Type)
		}
	}
	if got := fileOf(model.File{Mime: "image/png"}); got.Type != "text" {
		t.Errorf("an image without data became %v", got)
	}
}

func FuzzRequest(f *testing.F) {
	f.Add("user", "hello", "call.1", "a.b", `{"x":1}`)
	f.Add("assistant", " ", "", "", `"\ud800`)
	f.Add("assistant", sealSignature+"x", "\x00", "日本", "\xff[1]")
	fits := regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	f.Fuzz(func(t *testing.T, role, text, id, name, input string) {
		req := model.Request{Messages: []model.Message{
			said(model.Role(role), text),
			parts(model.Assistant, model.Part{Reasoning: &model.Reasoning{Text: text, Seal: text}}, call(id, name, input)),
			parts(model.User, model.Part{Text: text}, model.Part{Result: &model.Result{ID: id, Output: text, Failed: text == input}}),
		}}
		body := sent(t, Options{}, req)
		var got struct {
			Messages []struct {
				Role    string
				Content []struct {
					Type, Text, ID, Name string
					ToolUseID            string `json:"tool_use_id"`
					Input                map[string]any
				}
			}
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		var made, answered string
		for i, m := range got.Messages {
			if want := []string{"user", "assistant"}[i%2]; m.Role != want || len(m.Content) == 0 {
				t.Fatalf("message %d: %s", i, body)
			}
			for _, b := range m.Content {
				switch {
				case b.Type == "text" && strings.TrimSpace(b.Text) == "",
					b.Type == "tool_use" && (b.Input == nil || !fits.MatchString(b.ID) || !fits.MatchString(b.Name)):
					t.Fatalf("%+v", b)
				case b.Type == "tool_use":
					made += b.ID
				case b.Type == "tool_result":
					answered += b.ToolUseID
				}
			}
		}
		if made != answered {
			t.Fatalf("%q was answered as %q", made, answered)
		}
	})
}
