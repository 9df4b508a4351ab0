package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/helve-dev/helve/model"
)

const (
	defaultMaxTokens = 8192
	// lostBeginning replaces the beginning of a conversation that starts with the assistant, which
	// the API does not accept.
	lostBeginning = "(The beginning of the conversation is not shown.)"
)

// The API's request. The order of fields must not change, because the server's cache compares
// bytes.
type (
	message struct {
		Role    model.Role `json:"role"`
		Content []block    `json:"content"`
	}
	block struct {
		Type      string          `json:"type"`
		Text      string          `json:"text,omitempty"`
		Thinking  *string         `json:"thinking,omitempty"`
		Signature string          `json:"signature,omitempty"`
		Data      string          `json:"data,omitempty"`
		ID        string          `json:"id,omitempty"`
		Name      string          `json:"name,omitempty"`
		Input     json.RawMessage `json:"input,omitempty"`
		ToolUseID string          `json:"tool_use_id,omitempty"`
		Content   any             `json:"content,omitempty"` // a string or blocks
		IsError   bool            `json:"is_error,omitempty"`
		Title     string          `json:"title,omitempty"`
		Source    *imageSource    `json:"source,omitempty"`
		Cache     *cache          `json:"cache_control,omitempty"`
	}
	imageSource struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      []byte `json:"data"`
	}
	cache struct {
		Type string `json:"type"`
	}
	toolSpec struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Schema      json.RawMessage `json:"input_schema"`
		Cache       *cache          `json:"cache_control,omitempty"`
	}
)

// thinking is the option for extended thinking.
type thinking struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens"`
}

// body returns the request for the API.
func (c *client) body(req model.Request, n names) (map[string]any, error) {
	messages := conversation(req.Messages, n)
	if len(messages) == 0 {
		return nil, invalid("the request for Anthropic holds no message that says anything: send at least one")
	}
	tools, err := toolSpecs(req.Tools, n)
	if err != nil {
		return nil, err
	}
	system := systemBlocks(req.System)
	// There may be at most four marks, so a caller that sets any in Options sets them all.
	if _, own := req.Options["cache_control"]; !c.noCache && !own {
		addCacheMarks(system, tools, messages)
	}
	thoughts := thinkingIn(req.Options)
	own := map[string]any{
		"model": req.Model, "messages": messages, "stream": true, "max_tokens": req.MaxTokens,
	}
	if req.MaxTokens <= 0 {
		own["max_tokens"] = defaultMaxTokens + thoughts.Budget // the budget must be smaller than max_tokens
	}
	if len(system) > 0 {
		own["system"] = system
	}
	if len(tools) > 0 {
		own["tools"] = tools
	}
	// A model that thinks accepts no temperature, and no model accepts both.
	switch on := thoughts.Type != "" && thoughts.Type != "disabled"; {
	case req.Temperature != nil && !on:
		own["temperature"] = *req.Temperature
	case req.TopP != nil && !on:
		own["top_p"] = *req.TopP
	}
	for key, value := range req.Options {
		if _, set := own[key]; !set {
			own[key] = value
		}
	}
	return own, nil
}

func invalid(format string, args ...any) *model.Error {
	return &model.Error{Kind: model.Invalid, Message: fmt.Sprintf(format, args...)}
}

func thinkingIn(options map[string]any) (t thinking) {
	text, err := json.Marshal(options["thinking"])
	if err != nil || json.Unmarshal(text, &t) != nil || t.Type == "disabled" {
		return thinking{}
	}
	t.Budget = max(0, t.Budget)
	return t
}

func systemBlocks(texts []string) (blocks []block) {
	for _, text := range texts {
		if !isBlank(text) {
			blocks = append(blocks, block{Type: "text", Text: text})
		}
	}
	return blocks
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

func toolSpecs(tools []model.Tool, n names) (specs []toolSpec, err error) {
	for _, t := range tools {
		schema := bytes.TrimSpace(t.Schema)
		if len(schema) == 0 {
			schema = []byte(`{"type":"object"}`)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(schema, &fields); err != nil || fields == nil {
			return nil, invalid("the schema of the tool %s is not a JSON object: correct the tool, or leave it out", t.Name)
		}
		if _, ok := fields["type"]; !ok {
			fields["type"] = json.RawMessage(`"object"`)
			if schema, err = json.Marshal(fields); err != nil {
				return nil, err
			}
		}
		specs = append(specs, toolSpec{Name: n.tools.nameFor(t.Name), Description: t.Description, Schema: schema})
	}
	return specs, nil
}

// addCacheMarks marks what the server should cache: tools, the system texts, and the conversation
// up to each of the last two user messages, so that each request finds what the previous one has
// stored.
func addCacheMarks(system []block, tools []toolSpec, messages []message) {
	here := &cache{Type: "ephemeral"}
	if len(tools) > 0 {
		tools[len(tools)-1].Cache = here
	}
	if len(system) > 0 {
		system[len(system)-1].Cache = here
	}
	left := 2
	for _, m := range slices.Backward(messages) {
		if m.Role == model.User && left > 0 {
			m.Content[len(m.Content)-1].Cache = here
			left--
		}
	}
}

// conversation converts messages for the API: user and assistant alternate, the user comes first,
// nothing is empty, and results come before other content.
func conversation(messages []model.Message, n names) (out []message) {
	for _, m := range messages {
		role := model.User
		if m.Role == model.Assistant {
			role = model.Assistant
		}
		var blocks []block
		for _, p := range m.Parts {
			if b, ok := blockOf(role, p, n); ok {
				blocks = append(blocks, b)
			}
		}
		out = append(out, message{role, blocks})
	}
	out = mergeMessages(out)
	for i, m := range out {
		// Reasoning for an answer that never came must not be last.
		for len(m.Content) > 0 && isThought(m.Content[len(m.Content)-1]) {
			m.Content = m.Content[:len(m.Content)-1]
		}
		out[i] = m
	}
	out = mergeMessages(out)
	for _, m := range out {
		if m.Role == model.User {
			slices.SortStableFunc(m.Content, func(a, b block) int { return rank(a) - rank(b) })
		}
	}
	if len(out) > 0 && out[0].Role != model.User {
		first := message{model.User, []block{{Type: "text", Text: lostBeginning}}}
		out = slices.Insert(out, 0, first)
	}
	return out
}

// mergeMessages merges neighbours with the same role, and drops messages without content.
func mergeMessages(messages []message) (out []message) {
	for _, m := range messages {
		switch last := len(out) - 1; {
		case len(m.Content) == 0:
		case last >= 0 && out[last].Role == m.Role:
			out[last].Content = append(out[last].Content, m.Content...)
		default:
			out = append(out, m)
		}
	}
	return out
}

func rank(b block) int {
	if b.Type == "tool_result" {
		return 0
	}
	return 1
}

func isThought(b block) bool { return b.Type == "thinking" || b.Type == "redacted_thinking" }
