package catalog

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// A manner is how a provider accepts options: in the terms of its protocol, and with or without
// unknown ones.
type manner struct {
	protocol Protocol
	strict   bool // it refuses what it does not know
}

// manner returns how a provider accepts options. The makers of the protocols refuse unknown ones; a
// custom address may belong to another provider.
func (s *served) manner() manner {
	strict := (s.ID == "anthropic" || s.ID == "openai") && s.conf.URL == ""
	if u, err := url.Parse(s.URL); err == nil {
		host := strings.ToLower(u.Hostname())
		strict = strict || host == "api.anthropic.com" || host == "api.openai.com"
	}
	return manner{s.Protocol, strict}
}

// wire returns options as a request holds them, and the names of those that are
// not sent. Those of an agent hold every key of its front matter that is not a
// setting; what only describes the agent is left out without a word. Of two
// names for one thing that of the protocol counts.
func (m manner) wire(options map[string]any, ofAgent bool) (out map[string]any, left []string) {
	for _, key := range slices.Sorted(maps.Keys(options)) {
		name, v := m.name(key), options[key]
		if _, twice := options[name]; twice && name != key || ofAgent && m.describes(key, options) {
			continue
		}
		known := m.knows(name)
		if !known {
			name = key
		}
		sent := !fromClient(name) && (known || !m.strict && !(ofAgent && isList(v)))
		if sent {
			v, sent = m.convertOption(key, name, v)
		}
		if !sent {
			left = append(left, key)
			continue
		}
		if out == nil {
			out = map[string]any{}
		}
		out[name] = v
	}
	return out, left
}

// name is what the protocol calls an option. OpenCode's files name some in the
// words of the library that it talks to models by.
func (m manner) name(key string) string {
	name := snake(key)
	if m.protocol == Anthropic {
		switch name {
		case "stop":
			return "stop_sequences"
		case "effort":
			return "output_config"
		}
		return name
	}
	switch name {
	case "text_verbosity":
		return "verbosity"
	case "stop_sequences":
		return "stop"
	case "max_tokens", "max_output_tokens":
		if m.strict {
			return "max_completion_tokens"
		}
	}
	return name
}

// knows reports whether a name belongs to the protocol. Names that only OpenAI's Responses protocol
// has do not.
func (m manner) knows(name string) bool {
	if m.protocol == Anthropic {
		switch name {
		case "cache_control", "context_management", "inference_geo", "metadata", "output_config", "service_tier", "stop_sequences",
			"temperature", "thinking", "tool_choice", "top_k", "top_p":
			return true
		}
		return false
	}
	switch name {
	case "frequency_penalty", "logit_bias", "logprobs", "max_completion_tokens", "metadata", "modalities", "parallel_tool_calls",
		"prediction", "presence_penalty", "prompt_cache_key", "prompt_cache_retention", "reasoning_effort", "response_format",
		"safety_identifier", "seed", "service_tier", "stop", "store", "temperature", "tool_choice", "top_logprobs", "top_p", "user",
		"verbosity", "web_search_options":
		return true
	case "max_tokens", "min_p", "repetition_penalty", "thinking", "top_k": // of others who speak the protocol
		return !m.strict
	}
	return false
}

// convertOption converts an option to the terms of the protocol; false if it has no meaning there.
func (m manner) convertOption(key, name string, v any) (any, bool) {
	of, isObject := v.(map[string]any)
	switch {
	case key == "effort" && name == "output_config":
		return map[string]any{"effort": v}, true
	case !isObject && isStructured(name):
		return v, !m.strict
	case name == "thinking":
		out := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(of)) {
			out[snake(key)] = of[key]
		}
		return out, true
	case name == "metadata" && m.protocol == Anthropic && m.strict:
		id := userID(of) // it takes nothing else
		return map[string]any{"user_id": id}, id != nil
	case name == "stop_sequences":
		if one, ok := v.(string); ok {
			return []any{one}, true
		}
	}
	return v, true
}

// isStructured reports whether an option is an object.
func isStructured(name string) bool {
	switch name {
	case "cache_control", "context_management", "logit_bias", "metadata", "output_config", "prediction", "response_format", "thinking":
		return true
	}
	return false
}

func userID(metadata map[string]any) any {
	if id := metadata["user_id"]; id != nil {
		return id
	}
	return metadata["userId"]
}

// fromClient reports whether only the client sets an option of that name.
func fromClient(name string) bool {
	switch name {
	case "model", "messages", "system", "tools", "stream", "stream_options":
		return true
	}
	return false
}

// describes reports whether a key of an agent's front matter is one that describes an agent, or a
// setting of other programs.
func (m manner) describes(key string, options map[string]any) bool {
	if key == "metadata" {
		if m.protocol == Anthropic {
			of, _ := options[key].(map[string]any)
			return userID(of) == nil
		}
		return options["store"] != true // without that OpenAI refuses them
	}
	switch strings.ReplaceAll(strings.ToLower(snake(key)), "-", "_") {
	case "name", "title", "display_name", "summary", "label", "icon", "emoji", "avatar", "category", "categories", "group", "tag", "tags",
		"keywords", "topics", "author", "authors", "maintainer", "maintainers", "owner", "team", "email", "version", "license",
		"copyright", "source", "url", "homepage", "repository", "docs", "created", "created_at", "updated", "updated_at", "modified",
		"date", "last_updated", "status", "example", "examples", "aliases", "triggers", "globs", "argument_hint", "arguments",
		"allowed_tools", "disallowed_tools", "disable_model_invocation", "user_invocable", "when_to_use", "permission_mode", "max_turns",
		"skills", "hooks", "memory", "background", "isolation", "mcp_servers", "mcp", "initial_prompt", "subtask":
		return true
	}
	return false
}

func isList(v any) bool {
	_, ok := v.([]any)
	return ok
}

// snake converts a name to snake case. A name with underscores stays as it is.
func snake(name string) string {
	if strings.ContainsRune(name, '_') {
		return name
	}
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
