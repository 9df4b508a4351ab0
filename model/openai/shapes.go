package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/helve-dev/helve/model/internal/wire"
)

// A chunk is a piece of an answer, or all of it if the server does not stream.
type chunk struct {
	Choices wire.Few[choice] `json:"choices"`
	Usage   *usage           `json:"usage"`
	Error   json.RawMessage  `json:"error"`
	Groq    *struct {
		Usage *usage `json:"usage"`
	} `json:"x_groq"`

	// Fields of errors that are not in error.
	Object  loose           `json:"object"`
	Message loose           `json:"message"`
	Detail  json.RawMessage `json:"detail"`
}

type choice struct {
	Index   int             `json:"index"`
	Delta   *delta          `json:"delta"`
	Message *delta          `json:"message"`
	Finish  loose           `json:"finish_reason"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type delta struct {
	Content   content             `json:"content"`
	Refusal   loose               `json:"refusal"`
	Thought   loose               `json:"reasoning_content"`
	Reasoning loose               `json:"reasoning"`
	Calls     wire.Few[callDelta] `json:"tool_calls"`
	Function  *functionDelta      `json:"function_call"`
}

type callDelta struct {
	Index    *int            `json:"index"`
	ID       loose           `json:"id"`
	Function functionDelta   `json:"function"`
	Extra    json.RawMessage `json:"extra_content"`
}

type functionDelta struct {
	Name      loose `json:"name"`
	Arguments loose `json:"arguments"`
}

type usage struct {
	Prompt     float64 `json:"prompt_tokens"`
	Completion float64 `json:"completion_tokens"`
	Total      float64 `json:"total_tokens"`
	Cached     float64 `json:"cached_tokens"`
	CacheHit   float64 `json:"prompt_cache_hit_tokens"`
	PromptIs   struct {
		Cached  float64 `json:"cached_tokens"`
		Written float64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionIs struct {
		Reasoning float64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// loose is a string. It is empty for null, and holds the JSON of any other value.
type loose string

// UnmarshalJSON accepts any value.
func (l *loose) UnmarshalJSON(raw []byte) error {
	var s string
	if len(raw) > 0 && raw[0] == '"' {
		err := json.Unmarshal(raw, &s)
		*l = loose(s)
		return err
	}
	*l = loose(raw)
	if string(raw) == "null" {
		*l = ""
	}
	return nil
}

// content is text, or parts that are text or reasoning.
type content struct{ text, thought string }

// UnmarshalJSON accepts a string or an array of parts.
func (c *content) UnmarshalJSON(raw []byte) (err error) {
	*c, err = contentOf(raw, 1)
	return err
}

// contentOf parses content. Reasoning can contain content again, which is parsed again, so deeply
// nested reasoning is dropped.
func contentOf(raw []byte, depth int) (content, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '[' {
		var l loose
		err := l.UnmarshalJSON(raw)
		return content{text: string(l)}, err
	}
	if depth > maxNested {
		return content{}, nil
	}
	var parts wire.Few[struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}]
	if err := json.Unmarshal(raw, &parts); err != nil {
		return content{}, err
	}
	var text, thought strings.Builder
	for _, p := range parts {
		if p.Type != "thinking" {
			text.WriteString(p.Text)
			continue
		}
		inner, err := contentOf(p.Thinking, depth+1)
		if err != nil {
			return content{}, err
		}
		thought.WriteString(inner.text)
	}
	return content{text.String(), thought.String()}, nil
}
