package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// openai is the protocol of chat completions.
type openai struct{}

type openaiBody struct {
	Model         string `json:"model"`
	MaxTokens     int    `json:"max_tokens"`
	MaxCompletion int    `json:"max_completion_tokens"`
	Stream        bool   `json:"stream"`
	StreamOptions struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
	Messages []openaiMessage `json:"messages"`
	Tools    []struct {
		Type     string `json:"type"`
		Function struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

type openaiMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Reasoning string          `json:"reasoning_content"`
	CallID    string          `json:"tool_call_id"`
	Calls     []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string  `json:"name"`
			Arguments *string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (o openai) decode(r *http.Request, body []byte) (req Request, err error) {
	var in openaiBody
	if err := json.Unmarshal(body, &in); err != nil {
		return req, fmt.Errorf("we could not parse the JSON body of your request: %w", err)
	}
	req.Model, req.MaxTokens = in.Model, max(in.MaxTokens, in.MaxCompletion)
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, t.Function.Name)
	}
	var system, owed []string
	for i, m := range in.Messages {
		if len(owed) > 0 && m.Role != "tool" {
			return req, fmt.Errorf("messages: An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(owed, ", "))
		}
		said, err := m.read()
		if err != nil {
			return req, fmt.Errorf("messages[%d]: invalid value: %w", i, err)
		}
		switch m.Role {
		case "system", "developer":
			system = append(system, said.Texts...)
			continue
		case "tool":
			at := slices.Index(owed, m.CallID)
			if at < 0 {
				return req, fmt.Errorf("messages with role 'tool' must be a response to a preceding message with 'tool_calls': %q", m.CallID)
			}
			owed = slices.Delete(owed, at, at+1)
		}
		for _, c := range said.Calls {
			owed = append(owed, c.ID)
		}
		req.add(said)
	}
	req.System = joined(system)
	if len(owed) > 0 {
		return req, fmt.Errorf("the following tool_call_ids did not have response messages: %s", strings.Join(owed, ", "))
	}
	return req, o.check(r, in)
}

func (openai) check(r *http.Request, in openaiBody) error {
	name := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	switch {
	case !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		return errors.New("the content type should be application/json")
	case in.Model == "":
		return errors.New("you must provide a model parameter")
	case !in.Stream:
		return errors.New("this server only streams")
	case len(in.Messages) == 0:
		return errors.New("[] is too short - 'messages'")
	}
	seen := map[string]bool{}
	for i, t := range in.Tools {
		var schema struct {
			Type string `json:"type"`
		}
		if t.Type != "function" || !name.MatchString(t.Function.Name) {
			return fmt.Errorf("invalid 'tools[%d].function.name': string does not match pattern '%s'", i, name)
		}
		if json.Unmarshal(t.Function.Parameters, &schema) != nil || schema.Type != "object" {
			return fmt.Errorf("invalid schema for function '%s': schema must be of type \"object\"", t.Function.Name)
		}
		if seen[t.Function.Name] {
			return fmt.Errorf("the function %s is defined twice", t.Function.Name)
		}
		seen[t.Function.Name] = true
	}
	return nil
}

// read puts a message into the form of both protocols.
func (m openaiMessage) read() (Message, error) {
	said := Message{Role: m.Role}
	texts, files, err := m.content()
	if err != nil {
		return said, err
	}
	said.Texts, said.Files = texts, files
	switch m.Role {
	case "system", "developer", "user":
		if len(texts)+len(files) == 0 {
			return said, errors.New("expected content")
		}
	case "tool":
		return Message{Role: "user", Results: []Result{{ID: m.CallID, Text: joined(texts), Files: files}}}, nil
	case "assistant":
		if len(texts) == 0 && len(m.Calls) == 0 {
			return said, errors.New("expected content or tool_calls")
		}
		if m.Reasoning != "" {
			said.Reasoning = []string{m.Reasoning}
		}
	default:
		return said, fmt.Errorf("unknown role %q", m.Role)
	}
	for _, c := range m.Calls {
		if m.Role != "assistant" || c.Type != "function" || c.ID == "" || c.Function.Name == "" || c.Function.Arguments == nil {
			return said, errors.New("tool_calls need an id, the type function, a name and arguments")
		}
		said.Calls = append(said.Calls, Call{c.ID, c.Function.Name, *c.Function.Arguments})
	}
	return said, nil
}

func (m openaiMessage) content() (texts, files []string, err error) {
	if len(m.Content) == 0 || string(m.Content) == "null" {
		return nil, nil, nil
	}
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		if text == "" && m.Role != "tool" {
			return nil, nil, nil
		}
		return []string{text}, nil, nil
	}
	var list []struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
		File struct {
			Data string `json:"file_data"`
		} `json:"file"`
	}
	if err := json.Unmarshal(m.Content, &list); err != nil {
		return nil, nil, err
	}
	for _, p := range list {
		switch {
		case p.Type == "text":
			texts = append(texts, p.Text)
		case p.Type == "image_url" && m.Role == "user":
			files = append(files, mediaType(p.Image.URL))
		case p.Type == "file" && m.Role == "user":
			files = append(files, mediaType(p.File.Data))
		default:
			return nil, nil, fmt.Errorf("a part of type %q is not taken from role %s", p.Type, m.Role)
		}
	}
	return texts, files, nil
}

func mediaType(url string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(url, "data:"), ";")
	return kind
}

func (openai) events(req Request, said Reply) (all []event) {
	chunk := func(choices []any, more object) {
		fields := object{
			"id": fmt.Sprintf("chatcmpl-%03d", req.Turns()), "object": "chat.completion.chunk", "created": 1760000000,
			"model": req.Model, "system_fingerprint": "fp_test", "choices": choices,
		}
		for k, v := range more {
			fields[k] = v
		}
		all = append(all, event{"", string(encode(fields))})
	}
	delta := func(d object, finish any) {
		chunk([]any{object{"index": 0, "delta": d, "logprobs": nil, "finish_reason": finish}}, nil)
	}
	delta(object{"role": "assistant", "content": "", "refusal": nil}, nil)
	for _, p := range pieces(said.Reasoning, said.Chunk) {
		delta(object{"reasoning_content": p}, nil)
	}
	for _, p := range pieces(said.Text, said.Chunk) {
		delta(object{"content": p}, nil)
	}
	for i, c := range said.Calls {
		delta(object{"tool_calls": []any{object{"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": ""}}}}, nil)
		for _, p := range pieces(c.Args, said.Chunk) {
			delta(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": p}}}}, nil)
		}
	}
	delta(object{}, said.stop("tool_calls", "stop", "length", "content_filter"))
	var in openaiBody
	if json.Unmarshal(req.Body, &in) == nil && in.StreamOptions.Usage {
		u := said.Usage
		prompt := u.Input + u.CacheRead + u.CacheWrite
		chunk([]any{}, object{"usage": object{
			"prompt_tokens": prompt, "completion_tokens": u.Output, "total_tokens": prompt + u.Output,
			"prompt_tokens_details":     object{"cached_tokens": u.CacheRead},
			"completion_tokens_details": object{"reasoning_tokens": u.Reasoning},
		}})
	}
	return append(all, event{"", "[DONE]"})
}

func (openai) failure(status int, message string) any {
	var code any
	kind := map[int]string{
		400: "invalid_request_error", 401: "invalid_request_error", 404: "invalid_request_error", 429: "requests",
	}[status]
	if kind == "" {
		kind = "server_error"
	}
	switch {
	case message == tooLong:
		code = "context_length_exceeded"
		message = "This model's maximum context length is 128000 tokens. However, your messages resulted in 213462 tokens. Please reduce the length of the messages."
	case status == http.StatusTooManyRequests:
		code = "rate_limit_exceeded"
	case message == "":
		message = "The server is overloaded"
	}
	return object{"error": object{"message": message, "type": kind, "param": nil, "code": code}}
}

func (openai) broken(message string) event {
	if strings.HasPrefix(message, "{") {
		return event{"", message}
	}
	return event{"", string(encode(object{"error": object{"message": message, "type": "server_error", "param": nil, "code": nil}}))}
}
