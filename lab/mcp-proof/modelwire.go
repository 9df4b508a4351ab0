package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// chat answers a request of the chat completions format.
func (m *model) chat(w http.ResponseWriter, body []byte) error {
	var req struct {
		Stream   bool `json:"stream"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return err
	}
	var t turn
	for _, o := range req.Tools {
		t.offers = append(t.offers, offer{name: o.Function.Name})
	}
	for _, msg := range req.Messages {
		if msg.Role == "tool" {
			t.results = append(t.results, plain(msg.Content))
		}
	}
	mv := m.next(t)
	message := map[string]any{"role": "assistant", "content": mv.text}
	reason := "stop"
	if mv.call != nil {
		reason = "tool_calls"
		message = map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
			"index": 0, "id": mv.id, "type": "function",
			"function": map[string]any{"name": mv.call.name, "arguments": mv.args},
		}}}
	}
	base := func(object string) map[string]any {
		return map[string]any{"id": "chatcmpl-script", "object": object, "created": 1, "model": modelName}
	}
	usage := map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	if !req.Stream {
		whole := base("chat.completion")
		whole["usage"] = usage
		whole["choices"] = []any{map[string]any{"index": 0, "message": message, "finish_reason": reason}}
		return answerJSON(w, whole)
	}
	s := newStream(w, false)
	first := base("chat.completion.chunk")
	first["choices"] = []any{map[string]any{"index": 0, "delta": message}}
	s.send(first)
	last := base("chat.completion.chunk")
	last["choices"] = []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": reason}}
	last["usage"] = usage
	s.send(last)
	s.raw("data: [DONE]\n\n")
	return s.err
}

// A responseTool is a tool of the responses format; a group holds tools.
type responseTool struct {
	Type  string         `json:"type"`
	Name  string         `json:"name"`
	Tools []responseTool `json:"tools"`
}

// respond answers a request of the responses format.
func (m *model) respond(w http.ResponseWriter, body []byte) error {
	var req struct {
		Input []struct {
			Type   string          `json:"type"`
			Output json.RawMessage `json:"output"`
		} `json:"input"`
		Tools []responseTool `json:"tools"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return err
	}
	var t turn
	for _, o := range req.Tools {
		for _, inner := range o.Tools {
			t.offers = append(t.offers, offer{group: o.Name, name: inner.Name})
		}
		if len(o.Tools) == 0 && o.Name != "" {
			t.offers = append(t.offers, offer{name: o.Name})
		}
	}
	for _, in := range req.Input {
		if in.Type == "function_call_output" {
			t.results = append(t.results, plain(in.Output))
		}
	}
	mv := m.next(t)
	item := map[string]any{
		"type": "message", "id": "msg_script", "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": mv.text, "annotations": []any{}}},
	}
	if mv.call != nil {
		item = map[string]any{
			"type": "function_call", "id": "fc_" + mv.id, "call_id": mv.id, "status": "completed",
			"name": mv.call.name, "arguments": mv.args,
		}
		if mv.call.group != "" {
			item["namespace"] = mv.call.group
		}
	}
	response := func(status string, output ...any) map[string]any {
		return map[string]any{
			"id": "resp_script", "object": "response", "created_at": 1, "model": modelName, "status": status, "output": output,
			"usage": map[string]any{
				"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
				"input_tokens_details": map[string]any{"cached_tokens": 0}, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
			},
		}
	}
	s := newStream(w, true)
	s.send(map[string]any{"type": "response.created", "response": response("in_progress")})
	s.send(map[string]any{"type": "response.output_item.added", "output_index": 0, "item": item})
	s.send(map[string]any{"type": "response.output_item.done", "output_index": 0, "item": item})
	s.send(map[string]any{"type": "response.completed", "response": response("completed", item)})
	return s.err
}

// gemini answers a request of the generate content format, in one piece or as
// a stream, as its path says.
func (m *model) gemini(w http.ResponseWriter, path string, body []byte) error {
	var req struct {
		Contents []struct {
			Parts []struct {
				FunctionResponse *struct {
					Response json.RawMessage `json:"response"`
				} `json:"functionResponse"`
			} `json:"parts"`
		} `json:"contents"`
		Tools []struct {
			FunctionDeclarations []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return err
	}
	var t turn
	for _, group := range req.Tools {
		for _, o := range group.FunctionDeclarations {
			t.offers = append(t.offers, offer{name: o.Name})
		}
	}
	for _, c := range req.Contents {
		for _, p := range c.Parts {
			if p.FunctionResponse != nil {
				t.results = append(t.results, plain(p.FunctionResponse.Response))
			}
		}
	}
	if strings.HasSuffix(path, ":countTokens") {
		return answerJSON(w, map[string]any{"totalTokens": 1})
	}
	mv := m.next(t)
	part := map[string]any{"text": mv.text}
	if mv.call != nil {
		part = map[string]any{"functionCall": map[string]any{"id": mv.id, "name": mv.call.name, "args": json.RawMessage(mv.args)}}
	}
	answer := map[string]any{
		"candidates": []any{map[string]any{
			"index": 0, "finishReason": "STOP", "content": map[string]any{"role": "model", "parts": []any{part}},
		}},
		"usageMetadata": map[string]any{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
		"modelVersion":  modelName, "responseId": fmt.Sprintf("script-%d", len(t.results)),
	}
	if !strings.HasSuffix(path, ":streamGenerateContent") {
		return answerJSON(w, answer)
	}
	s := newStream(w, false)
	s.send(answer)
	return s.err
}

// plain returns all texts of a JSON value in order, whatever holds them:
// clients wrap what a tool said in objects and lists of their own.
func plain(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	var b strings.Builder
	gather(&b, v)
	return b.String()
}

func gather(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(v)
	case []any:
		for _, e := range v {
			gather(b, e)
		}
	case map[string]any:
		for _, key := range []string{"output", "error", "content", "text", "result", "value"} {
			if e, ok := v[key]; ok {
				gather(b, e)
			}
		}
	}
}
