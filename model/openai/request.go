package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/helve-dev/helve/model"
)

// body returns the request. What the client sets replaces options of the same name.
func (c *client) body(req model.Request, n names) map[string]any {
	body := map[string]any{}
	for key, value := range req.Options {
		body[key] = value
	}
	body["model"] = req.Model
	body["messages"] = c.messages(req, n)
	body["stream"] = true
	if !c.options.NoUsage {
		body["stream_options"] = map[string]any{"include_usage": true}
	}
	if tools := toolsOf(req.Tools, n); len(tools) > 0 {
		body["tools"] = tools
	}
	if req.MaxTokens > 0 {
		body[c.maxTokensField()] = req.MaxTokens
	}
	if req.Temperature != nil {
		body["temperature"] = *req.Temperature
	}
	if req.TopP != nil {
		body["top_p"] = *req.TopP
	}
	if c.official && req.Session != "" {
		body["prompt_cache_key"] = req.Session
	}
	return body
}

func (c *client) maxTokensField() string {
	switch {
	case c.options.MaxTokensField != "":
		return c.options.MaxTokensField
	case c.official:
		return "max_completion_tokens"
	}
	return "max_tokens"
}

type toolOut struct {
	Type     string      `json:"type"`
	Function functionOut `json:"function"`
}

type functionOut struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

func toolsOf(tools []model.Tool, n names) []toolOut {
	var out []toolOut
	for _, t := range tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, toolOut{"function", functionOut{n.out[t.Name], t.Description, schema}})
	}
	return out
}

type messageOut struct {
	Role       string    `json:"role"`
	Content    any       `json:"content"` // a string, parts, or null
	Reasoning  *string   `json:"reasoning_content,omitempty"`
	ToolCalls  []callOut `json:"tool_calls,omitempty"`
	ToolCallID string    `json:"tool_call_id,omitempty"`
}

type callOut struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content,omitempty"`
}

type partOut struct {
	Type  string    `json:"type"`
	Text  string    `json:"text,omitempty"`
	Image *imageOut `json:"image_url,omitempty"`
	File  *fileOut  `json:"file,omitempty"`
}

type imageOut struct {
	URL string `json:"url"`
}

type fileOut struct {
	Name string `json:"filename"`
	Data string `json:"file_data"`
}

func (c *client) messages(req model.Request, n names) []messageOut {
	out := []messageOut{}
	if system := strings.Join(req.System, "\n\n"); system != "" {
		out = append(out, messageOut{Role: "system", Content: system})
	}
	for i := 0; i < len(req.Messages); {
		if req.Messages[i].Role == model.Assistant {
			if m, ok := c.assistant(req.Messages[i], n); ok {
				out = append(out, m)
			}
			i++
			continue
		}
		end := i
		for end < len(req.Messages) && req.Messages[end].Role != model.Assistant {
			end++
		}
		out = append(out, said(req.Messages[i:end])...)
		i = end
	}
	return out
}

// assistant converts a message of the model; false if it holds nothing to send.
func (c *client) assistant(m model.Message, n names) (messageOut, bool) {
	out := messageOut{Role: "assistant"}
	var texts, thoughts []string
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			call := callOut{ID: p.Call.ID, Type: "function"}
			call.Function.Name = n.out[p.Call.Name]
			call.Function.Arguments = argumentsJSON(p.Call.Input)
			if isObject(p.Call.Seal) {
				call.Extra = json.RawMessage(p.Call.Seal)
			}
			out.ToolCalls = append(out.ToolCalls, call)
		case p.Reasoning != nil:
			thoughts = append(thoughts, p.Reasoning.Text)
		case p.Text != "":
			texts = append(texts, p.Text)
		}
	}
	if len(texts) > 0 {
		out.Content = strings.Join(texts, "\n")
	}
	if c.options.ReplayReasoning && len(out.ToolCalls) > 0 {
		thought := strings.Join(thoughts, "\n")
		out.Reasoning = &thought
	}
	return out, len(texts) > 0 || len(out.ToolCalls) > 0
}

// argumentsJSON returns the input of a call as a JSON object in any case: many servers parse it and
// fail on anything else.
func argumentsJSON(input json.RawMessage) string {
	text := strings.TrimSpace(string(input))
	if text == "" {
		return "{}"
	}
	if isObject(text) {
		return text
	}
	wrapped, err := json.Marshal(map[string]string{"input": text})
	if err != nil {
		return "{}"
	}
	return string(wrapped)
}

func isObject(text string) bool { return strings.HasPrefix(text, "{") && json.Valid([]byte(text)) }

// said converts what the user and the tools said between two answers. The results must follow the
// calls directly and hold only text.
func said(messages []model.Message) []messageOut {
	var results, texts []messageOut
	var shown []partOut
	for _, m := range messages {
		var parts []partOut
		for _, p := range m.Parts {
			switch {
			case p.Result != nil:
				results = append(results, messageOut{Role: "tool", Content: p.Result.Output, ToolCallID: p.Result.ID})
				for _, f := range p.Result.Files {
					shown = append(shown, partOut{Type: "text", Text: fmt.Sprintf("%s from tool %s:", fileKind(f), p.Result.Name)}, filePart(f))
				}
			case p.File != nil:
				parts = append(parts, filePart(*p.File))
			case p.Text != "":
				parts = append(parts, partOut{Type: "text", Text: p.Text})
			}
		}
		if len(parts) > 0 {
			texts = append(texts, userMessage(parts))
		}
	}
	if len(shown) > 0 {
		results = append(results, userMessage(shown))
	}
	return append(results, texts...)
}

// userMessage sends a string if possible, because not all servers accept parts.
func userMessage(parts []partOut) messageOut {
	var texts []string
	for _, p := range parts {
		if p.Type != "text" {
			return messageOut{Role: "user", Content: parts}
		}
		texts = append(texts, p.Text)
	}
	return messageOut{Role: "user", Content: strings.Join(texts, "\n\n")}
}

func fileKind(f model.File) string {
	if isImage(f) {
		return "image"
	}
	return "file"
}

func isImage(f model.File) bool {
	switch mime(f) {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// mime returns the MIME type of a file without its parameters.
func mime(f model.File) string {
	kind, _, _ := strings.Cut(f.Mime, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

func filePart(f model.File) partOut {
	url := func() string { return "data:" + mime(f) + ";base64," + base64.StdEncoding.EncodeToString(f.Data) }
	switch {
	case isImage(f):
		return partOut{Type: "image_url", Image: &imageOut{url()}}
	case mime(f) == "application/pdf":
		name := f.Name
		if name == "" {
			name = "file.pdf"
		}
		return partOut{Type: "file", File: &fileOut{name, url()}}
	}
	return partOut{Type: "text", Text: fmt.Sprintf("[file %q of type %s, %d bytes, can not be shown]", f.Name, f.Mime, len(f.Data))}
}
