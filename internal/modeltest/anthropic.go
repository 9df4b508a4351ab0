package modeltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var errNoKey = errors.New("x-api-key header is required")

// tooLong is what a fault says that is about the length of a request; each
// protocol has its own words for it.
const tooLong = "too long"

// anthropic is the protocol of the Messages API.
type anthropic struct{}

type anthropicBody struct {
	Model     string             `json:"model"`
	MaxTokens int                `json:"max_tokens"`
	Stream    bool               `json:"stream"`
	System    json.RawMessage    `json:"system"`
	Messages  []anthropicMessage `json:"messages"`
	Tools     []struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
}

type anthropicMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUse   string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Source    struct {
		Media string `json:"media_type"`
		Data  string `json:"data"`
	} `json:"source"`
}

// blocks reads content, which is a text or a list.
func blocks(raw json.RawMessage) (list []block, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []block{{Type: "text", Text: text}}, nil
	}
	return list, json.Unmarshal(raw, &list)
}

func (a anthropic) decode(r *http.Request, body []byte) (req Request, err error) {
	var in anthropicBody
	if err := json.Unmarshal(body, &in); err != nil {
		return req, fmt.Errorf("the request body is not valid JSON: %w", err)
	}
	req.Model, req.MaxTokens = in.Model, in.MaxTokens
	system, err := blocks(in.System)
	if err != nil {
		return req, fmt.Errorf("system: %w", err)
	}
	var texts []string
	for i, b := range system {
		if b.Text == "" {
			return req, fmt.Errorf("system.%d: text content blocks must be non-empty", i)
		}
		texts = append(texts, b.Text)
	}
	req.System = joined(texts)
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, t.Name)
	}
	var owed []string // calls that the next message has to answer
	for i, m := range in.Messages {
		list, err := blocks(m.Content)
		if err != nil {
			return req, fmt.Errorf("messages.%d.content: %w", i, err)
		}
		said := Message{Role: m.Role}
		for j, b := range list {
			if err := said.take(b); err != nil {
				return req, fmt.Errorf("messages.%d.content.%d: %w", i, j, err)
			}
		}
		if err := settled(owed, list, i); err != nil {
			return req, err
		}
		owed = nil
		for _, c := range said.Calls {
			owed = append(owed, c.ID)
		}
		req.add(said)
	}
	return req, a.check(r, in)
}

// check looks at all that is not about single messages.
func (anthropic) check(r *http.Request, in anthropicBody) error {
	name := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	switch {
	case r.Header.Get("X-Api-Key") == "" && r.Header.Get("Authorization") == "":
		return errNoKey
	case r.Header.Get("Anthropic-Version") == "":
		return errors.New("anthropic-version: header is required")
	case !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		return errors.New("content-type: should be application/json")
	case in.Model == "":
		return errors.New("model: Field required")
	case in.MaxTokens < 1:
		return errors.New("max_tokens: Input should be greater than or equal to 1")
	case !in.Stream:
		return errors.New("stream: this server only streams")
	case len(in.Messages) == 0:
		return errors.New("messages: at least one message is required")
	case in.Messages[0].Role != "user":
		return errors.New("messages: first message must use the \"user\" role")
	}
	seen := map[string]bool{}
	for i, t := range in.Tools {
		var schema struct {
			Type string `json:"type"`
		}
		if !name.MatchString(t.Name) {
			return fmt.Errorf("tools.%d.name: String should match pattern '%s'", i, name)
		}
		if json.Unmarshal(t.Schema, &schema) != nil || schema.Type != "object" {
			return fmt.Errorf("tools.%d.input_schema.type: Input should be 'object'", i)
		}
		if seen[t.Name] {
			return errors.New("tools: Tool names must be unique")
		}
		seen[t.Name] = true
	}
	return nil
}

// settled checks that calls are answered by the message after them.
func settled(owed []string, list []block, at int) error {
	answered, text := []string{}, false
	for _, b := range list {
		if b.Type != "tool_result" {
			text = true
			continue
		}
		if !slices.Contains(owed, b.ToolUse) {
			return fmt.Errorf("messages.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message", at, b.ToolUse)
		}
		if text {
			return fmt.Errorf("messages.%d: `tool_result` blocks must come first", at)
		}
		if slices.Contains(answered, b.ToolUse) {
			return fmt.Errorf("messages.%d: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", at, b.ToolUse)
		}
		answered = append(answered, b.ToolUse)
	}
	for _, id := range owed {
		if !slices.Contains(answered, id) {
			return fmt.Errorf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s", at-1, id)
		}
	}
	return nil
}

// take adds a block to a message.
func (m *Message) take(b block) error {
	assistant := m.Role == "assistant"
	if !assistant && m.Role != "user" {
		return fmt.Errorf("role: Input should be 'user' or 'assistant', not %q", m.Role)
	}
	switch b.Type {
	case "text":
		if strings.TrimSpace(b.Text) == "" {
			return errors.New("text content blocks must contain non-whitespace text")
		}
		m.Texts = append(m.Texts, b.Text)
	case "thinking", "redacted_thinking", "tool_use":
		if !assistant {
			return fmt.Errorf("%s: blocks can only be in `assistant` messages", b.Type)
		}
		return m.takeOwn(b)
	case "tool_result":
		if assistant {
			return errors.New("`tool_result` blocks can only be in `user` messages")
		}
		return m.takeResult(b)
	case "image", "document":
		if assistant || b.Source.Media == "" || b.Source.Data == "" {
			return errors.New(b.Type + ".source: Field required")
		}
		m.Files = append(m.Files, b.Source.Media)
	default:
		return fmt.Errorf("type: Input tag '%s' found using 'type' does not match any of the expected tags", b.Type)
	}
	return nil
}

// takeOwn adds a block that only the model makes.
func (m *Message) takeOwn(b block) error {
	switch b.Type {
	case "thinking":
		if b.Signature == "" {
			return errors.New("thinking.signature: Field required")
		}
		m.Reasoning = append(m.Reasoning, b.Thinking)
	case "tool_use":
		if !bytes.HasPrefix(bytes.TrimSpace(b.Input), []byte("{")) {
			return errors.New("tool_use.input: Input should be a valid dictionary")
		}
		if !regexp.MustCompile(`^[a-zA-Z0-9_-]+$`).MatchString(b.ID) {
			return errors.New("tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
		}
		m.Calls = append(m.Calls, Call{b.ID, b.Name, string(b.Input)})
	}
	return nil
}

func (m *Message) takeResult(b block) error {
	content, err := blocks(b.Content)
	if err != nil {
		return err
	}
	var texts []string
	out := Result{ID: b.ToolUse, Failed: b.IsError}
	for _, c := range content {
		switch c.Type {
		case "text":
			texts = append(texts, c.Text)
		case "image", "document":
			out.Files = append(out.Files, c.Source.Media)
		default:
			return fmt.Errorf("tool_result.content: Input tag '%s' found", c.Type)
		}
	}
	out.Text = joined(texts)
	m.Results = append(m.Results, out)
	return nil
}

type object = map[string]any

func (anthropic) events(req Request, said Reply) (all []event) {
	add := func(name string, fields object) {
		fields["type"] = name
		all = append(all, event{name, string(encode(fields))})
	}
	u := said.Usage
	add("message_start", object{"message": object{
		"id": fmt.Sprintf("msg_%03d", req.Turns()), "type": "message", "role": "assistant", "content": []any{}, "model": req.Model,
		"stop_reason": nil, "stop_sequence": nil, "usage": object{
			"input_tokens": u.Input, "cache_creation_input_tokens": u.CacheWrite, "cache_read_input_tokens": u.CacheRead, "output_tokens": 1,
		},
	}})
	add("ping", object{})
	index := 0
	piece := func(start object, deltas ...object) {
		add("content_block_start", object{"index": index, "content_block": start})
		for _, d := range deltas {
			add("content_block_delta", object{"index": index, "delta": d})
		}
		add("content_block_stop", object{"index": index})
		index++
	}
	if said.Reasoning != "" {
		var deltas []object
		for _, p := range pieces(said.Reasoning, said.Chunk) {
			deltas = append(deltas, object{"type": "thinking_delta", "thinking": p})
		}
		deltas = append(deltas, object{"type": "signature_delta", "signature": "c2VhbGVk"})
		piece(object{"type": "thinking", "thinking": "", "signature": ""}, deltas...)
	}
	if said.Text != "" {
		var deltas []object
		for _, p := range pieces(said.Text, said.Chunk) {
			deltas = append(deltas, object{"type": "text_delta", "text": p})
		}
		piece(object{"type": "text", "text": ""}, deltas...)
	}
	for _, c := range said.Calls {
		deltas := []object{{"type": "input_json_delta", "partial_json": ""}}
		for _, p := range pieces(c.Args, said.Chunk) {
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": p})
		}
		piece(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}}, deltas...)
	}
	add("message_delta", object{
		"delta": object{"stop_reason": said.stop("tool_use", "end_turn", "max_tokens", "refusal"), "stop_sequence": nil},
		"usage": object{"output_tokens": u.Output},
	})
	add("message_stop", object{})
	return all
}

// stop puts the reason why a reply ends into a protocol's words.
func (r Reply) stop(calls, done, length, refused string) string {
	switch r.Stop {
	case "tool-calls":
		return calls
	case "stop":
		return done
	case "length":
		return length
	case "content-filter":
		return refused
	case "":
		if len(r.Calls) > 0 {
			return calls
		}
		return done
	}
	return r.Stop
}

func (anthropic) failure(status int, message string) any {
	if message == tooLong {
		message = "prompt is too long: 213462 tokens > 200000 maximum"
	}
	kind := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
	}[status]
	if kind == "" {
		kind = "api_error"
	}
	if message == "" {
		message = "Overloaded" // 529 has no name in HTTP
	}
	return object{"type": "error", "error": object{"type": kind, "message": message}, "request_id": "req_test"}
}

func (anthropic) broken(message string) event {
	if strings.HasPrefix(message, "{") {
		return event{"error", message}
	}
	return event{"error", string(encode(object{"type": "error", "error": object{"type": "overloaded_error", "message": message}}))}
}
