package wire

import "strings"

// Overflows reports whether a provider's message says that a request was too long for the model, as
// opposed to a limit of tokens per minute.
func Overflows(message string) bool {
	message = strings.ToLower(message)
	for _, words := range tooFast() {
		if strings.Contains(message, words) {
			return false
		}
	}
	for _, phrase := range tooLong() {
		if inOrder(message, phrase) {
			return true
		}
	}
	return false
}

// inOrder reports whether a text contains the pieces of a phrase, which are separated by three
// dots, one after the other.
func inOrder(text, phrase string) bool {
	for piece := range strings.SplitSeq(phrase, "...") {
		_, after, ok := strings.Cut(text, piece)
		if !ok {
			return false
		}
		text = after
	}
	return true
}

// tooFast returns phrases for rate limits, which end by themselves.
func tooFast() []string {
	return []string{
		"rate limit", "rate_limit", "rate-limit", "ratelimit", "too many requests", "throttl",
		"per minute", "per day", "tokens_per", "service unavailable", "try again in",
	}
}

// tooLong returns the phrases, in lower case, grouped by provider.
func tooLong() []string {
	return []string{
		// Anthropic; also through Bedrock and Vertex
		"prompt is too long",
		"request_too_large",
		"exceed context limit", // input length and `max_tokens` exceed context limit
		"input is too long for requested model",
		"model_context_window_exceeded",
		// OpenAI, Azure; the codes are used by many that speak their protocol
		"context_length_exceeded",
		"context length exceeded",
		"exceeds the context window",
		"maximum context length is",
		"string_above_max_length",
		// LiteLLM, SGLang, vLLM
		"exceeds...maximum context length",
		"longer than the maximum model length",
		"longer than the model's context length",
		"maximum context length of",
		"contextwindowexceeded",
		// OpenRouter
		"maximum allowed input length",
		// Groq
		"reduce the length of the messages",
		// Gemini
		"input token count...exceeds the maximum",
		// Mistral
		"too large for model with...maximum context length",
		// xAI
		"maximum prompt length is",
		// Together
		"tokens) is longer than the model",
		"`inputs` tokens + `max_new_tokens` must be",
		// GitHub Copilot
		"token count...exceeds the limit",
		"model_max_prompt_tokens_exceeded",
		// llama.cpp
		"exceeds the available context size",
		"exceed_context_size_error",
		"context size has been exceeded",
		// Ollama
		"exceeds maximum context length",
		"exceeded max context length",
		"exceeds...context length",
		// LM Studio
		"greater than the context length",
		"context length of only",
		"context length is only",
		"context overflow",
		// MiniMax
		"context window exceeds limit",
		// Moonshot
		"exceeded model token limit",
		// Alibaba
		"range of input length should be",
		// Zhipu
		"prompt exceeds max length",
		"prompt too long",
		// Cohere
		"too many tokens",
		// llama-server and others in their own words
		"but the configured context size is",
		"token limit exceeded",
		"tokens in request more than max tokens allowed",
		"exceeds the model's context",
		"exceeded the model's context",
		"context window is full",
		"larger than the context",
	}
}
