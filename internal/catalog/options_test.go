package catalog

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWire(t *testing.T) {
	claude, gpt, other := manner{Anthropic, true}, manner{OpenAI, true}, manner{OpenAI, false}
	for _, tc := range []struct {
		name    string
		manner  manner
		ofModel bool
		options string
		want    string
		left    string
	}{
		{name: "nothing", manner: claude},
		{name: "a description", manner: claude, options: `{"tags": ["a"], "author": "x", "version": "1.0", "argument-hint": "y", "allowedTools": "z", "Title": "t"}`},
		{name: "a description for a compatible server", manner: other, options: `{"tags": ["a"], "author": "x", "version": 1, "license": "MIT", "mcpServers": {}}`},
		{name: "what Anthropic has", manner: claude,
			options: `{"thinking": {"type": "enabled", "budgetTokens": 5}, "topK": 1, "stop": "x", "serviceTier": "auto", "metadata": {"userId": "u", "team": "a"}}`,
			want:    `{"thinking": {"type": "enabled", "budget_tokens": 5}, "top_k": 1, "stop_sequences": ["x"], "service_tier": "auto", "metadata": {"user_id": "u"}}`},
		{name: "what Anthropic has not", manner: claude, options: `{"reasoningEffort": "high", "seed": 1, "max_tokens": 9, "thinking": true, "effort": "low"}`,
			want: `{"output_config": {"effort": "low"}}`, left: "max_tokens reasoningEffort seed thinking"},
		{name: "metadata that describe", manner: claude, options: `{"metadata": {"author": "x"}}`},
		{name: "of a model nothing describes", manner: claude, ofModel: true, options: `{"metadata": {"author": "x"}, "version": 1}`, left: "metadata version"},
		{name: "gpt-5 of real files", manner: gpt,
			options: `{"reasoningEffort": "medium", "reasoningSummary": "auto", "textVerbosity": "low", "include": ["reasoning.encrypted_content"], "store": false}`,
			want:    `{"reasoning_effort": "medium", "verbosity": "low", "store": false}`, left: "include reasoningSummary"},
		{name: "what OpenAI has", manner: gpt,
			options: `{"user": "u", "seed": 1, "stop": ["a"], "parallelToolCalls": false, "promptCacheKey": "k", "maxTokens": 5, "logitBias": {"5": 1}, "topK": 3}`,
			want:    `{"user": "u", "seed": 1, "stop": ["a"], "parallel_tool_calls": false, "prompt_cache_key": "k", "max_completion_tokens": 5, "logit_bias": {"5": 1}}`,
			left:    "topK"},
		{name: "metadata of stored answers", manner: gpt, options: `{"store": true, "metadata": {"a": "b"}}`, want: `{"store": true, "metadata": {"a": "b"}}`},
		{name: "metadata of nothing", manner: gpt, options: `{"metadata": {"a": "b"}}`},
		{name: "a compatible server", manner: other,
			options: `{"chat_template_kwargs": {"a": true}, "topK": 1, "cachePrompt": true, "reasoningEffort": "low", "thinking": {"budgetTokens": 1}, "stopSequences": ["x"], "maxTokens": 7}`,
			want:    `{"chat_template_kwargs": {"a": true}, "top_k": 1, "cachePrompt": true, "reasoning_effort": "low", "thinking": {"budget_tokens": 1}, "stop": ["x"], "max_tokens": 7}`},
		{name: "lists of an agent", manner: other, options: `{"transforms": ["a"]}`, left: "transforms"},
		{name: "lists of a model", manner: other, ofModel: true, options: `{"transforms": ["a"], "version": 1}`, want: `{"transforms": ["a"], "version": 1}`},
		{name: "what the client says", manner: other, ofModel: true, options: `{"messages": [], "stream": false, "model": "x"}`, left: "messages model stream"},
		{name: "one thing twice", manner: gpt, options: `{"reasoningEffort": "high", "reasoning_effort": "low"}`, want: `{"reasoning_effort": "low"}`},
	} {
		var options, want map[string]any
		_ = json.Unmarshal([]byte(tc.options), &options)
		_ = json.Unmarshal([]byte(tc.want), &want)
		got, left := tc.manner.wire(options, !tc.ofModel)
		if diff := cmp.Diff(want, got); diff != "" || strings.Join(left, " ") != tc.left {
			t.Errorf("%s: %s left out %q, want %q", tc.name, diff, left, tc.left)
		}
		var again map[string]any
		_ = json.Unmarshal([]byte(tc.options), &again)
		if !cmp.Equal(options, again) {
			t.Errorf("%s: what was given was changed: %v", tc.name, options)
		}
	}
}

func TestManner(t *testing.T) {
	c := New(Options{
		Env: env("OPENAI_BASE_URL", "http://localhost:1/v1"),
		Providers: []Provider{
			{ID: "mine", URL: "https://API.openai.com/v1"}, {ID: "anthropic", URL: "https://h/v1"}, {ID: "claude", NPM: "@ai-sdk/anthropic", URL: "https://api.anthropic.com/v1"},
		},
	})
	for id, want := range map[string]manner{
		"openai": {OpenAI, true}, "mine": {OpenAI, true}, "anthropic": {Anthropic, false}, "claude": {Anthropic, true}, "openrouter": {OpenAI, false},
	} {
		if got := c.find(id).manner(); got != want {
			t.Errorf("%s: %+v", id, got)
		}
	}
}

// What a person wrote about an agent stays here, and what is left out is told
// once.
func TestLeftOut(t *testing.T) {
	server, last := serve(t)
	var notes []string
	c := New(Options{
		HTTP: server.Client(), Env: env("ANTHROPIC_API_KEY", "k", "ANTHROPIC_BASE_URL", server.URL), Note: func(s string) { notes = append(notes, s) },
		Providers: []Provider{{ID: "anthropic", Models: []Model{{ID: "m", Options: map[string]any{"top_k": 1, "seed": 1}}}}},
	})
	for range 2 {
		p, _, _, err := c.Find(Parse("anthropic/m"))
		if err != nil {
			t.Fatal(err)
		}
		if err := ask(t, p, map[string]any{"tags": []any{"a"}, "author": "x", "reasoningEffort": "low", "topK": 2}); err == nil {
			t.Fatal("no error")
		}
	}
	body := last().body
	for _, name := range []string{"tags", "author", "reasoningEffort", "reasoning_effort", "seed", "topK"} {
		if body[name] != nil {
			t.Errorf("%s was sent", name)
		}
	}
	if body["top_k"] != 2.0 {
		t.Errorf("%v", body)
	}
	if want := []string{"anthropic is not sent seed, reasoningEffort: it takes no such options in the protocol that is spoken with it"}; !slices.Equal(notes, want) {
		t.Errorf("%q", notes)
	}
}
