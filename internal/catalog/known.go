package catalog

import (
	"github.com/helve-dev/helve/internal/toolschema"
)

// A Protocol is how a provider is talked to.
type Protocol string

// The protocols: Anthropic's Messages, and OpenAI's chat completions, which
// most others speak too.
const (
	Anthropic Protocol = "anthropic"
	OpenAI    Protocol = "openai"
)

// A KnownProvider is a provider that needs no configuration.
type KnownProvider struct {
	ID       string
	Also     string // another name of it
	Name     string
	Protocol Protocol
	URL      string
	URLEnv   string   // the variable that says where it is instead, by custom
	Env      []string // the variables of its key; the first that is set counts
	Local    bool     // it runs on this machine, and needs no key
	Dialect  toolschema.Dialect

	// Default is the model that is used if none is chosen, and Small the one for titles. Empty:
	// none is used.
	Default, Small string

	ownLimits bool // what is known of the limits of models does not hold here
	noUsage   bool // it refuses to be asked for the usage, and sends it unasked
	replays   bool // it wants back what its model thought before a call
}

// Known returns the known providers, in the order in which they are used if none is chosen.
func Known() []KnownProvider {
	all := []KnownProvider{
		{ID: "anthropic", Name: "Anthropic", Protocol: Anthropic, URL: "https://api.anthropic.com/v1", URLEnv: "ANTHROPIC_BASE_URL",
			Env: []string{"ANTHROPIC_API_KEY"}, Default: "claude-sonnet-4-5", Small: "claude-haiku-4-5"},
		{ID: "openai", Name: "OpenAI", URL: "https://api.openai.com/v1", URLEnv: "OPENAI_BASE_URL",
			Env: []string{"OPENAI_API_KEY"}, Dialect: toolschema.OpenAI, Default: "gpt-5", Small: "gpt-5-nano"},
		{ID: "google", Name: "Google Gemini", URL: "https://generativelanguage.googleapis.com/v1beta/openai",
			Env: []string{"GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"}, Default: "gemini-2.5-pro", Small: "gemini-2.5-flash"},
		{ID: "openrouter", Name: "OpenRouter", URL: "https://openrouter.ai/api/v1",
			Env: []string{"OPENROUTER_API_KEY"}, Default: "anthropic/claude-sonnet-4.5"},
		{ID: "xai", Name: "xAI", URL: "https://api.x.ai/v1", Env: []string{"XAI_API_KEY"}, Default: "grok-4"},
		{ID: "deepseek", Name: "DeepSeek", URL: "https://api.deepseek.com/v1", Env: []string{"DEEPSEEK_API_KEY"},
			Default: "deepseek-chat", replays: true},
		{ID: "mistral", Name: "Mistral", URL: "https://api.mistral.ai/v1", Env: []string{"MISTRAL_API_KEY"},
			Default: "mistral-medium-latest", noUsage: true},
		{ID: "groq", Name: "Groq", URL: "https://api.groq.com/openai/v1", Env: []string{"GROQ_API_KEY"}, Default: "openai/gpt-oss-120b"},
		{ID: "cerebras", Name: "Cerebras", URL: "https://api.cerebras.ai/v1", Env: []string{"CEREBRAS_API_KEY"}, Default: "gpt-oss-120b"},
		{ID: "together", Also: "togetherai", Name: "Together AI", URL: "https://api.together.xyz/v1",
			Env: []string{"TOGETHER_API_KEY"}, Default: "openai/gpt-oss-120b"},
		{ID: "fireworks", Also: "fireworks-ai", Name: "Fireworks AI", URL: "https://api.fireworks.ai/inference/v1",
			Env: []string{"FIREWORKS_API_KEY"}, Default: "accounts/fireworks/models/gpt-oss-120b"},
		// Its token is in many environments for other reasons, so it is used only if chosen by
		// name.
		{ID: "github-models", Name: "GitHub Models", URL: "https://models.github.ai/inference", Env: []string{"GITHUB_TOKEN"}, ownLimits: true},
		{ID: "ollama", Name: "Ollama", URL: "http://localhost:11434/v1", Local: true},
		{ID: "lmstudio", Name: "LM Studio", URL: "http://localhost:1234/v1", Local: true},
		{ID: "llamacpp", Also: "llama.cpp", Name: "llama.cpp", URL: "http://localhost:8080/v1", Local: true},
		{ID: "vllm", Name: "vLLM", URL: "http://localhost:8000/v1", Local: true},
	}
	for i := range all {
		e := &all[i]
		if e.Protocol == "" {
			e.Protocol = OpenAI
		}
		if e.Dialect == "" {
			e.Dialect = dialect(e.Protocol)
		}
		e.ownLimits = e.ownLimits || e.Local
	}
	return all
}

// dialect returns the part of JSON Schema that a provider accepts of which only the protocol is
// known.
func dialect(p Protocol) toolschema.Dialect {
	if p == Anthropic {
		return toolschema.Anthropic
	}
	return toolschema.Simple
}

// protocolOf returns the protocol behind the npm package that OpenCode uses for a provider; false
// if it is neither of ours.
func protocolOf(npm string) (Protocol, bool) {
	switch npm {
	case "@ai-sdk/anthropic":
		return Anthropic, true
	case "", "@ai-sdk/openai", "@ai-sdk/openai-compatible", "@openrouter/ai-sdk-provider", "@ai-sdk/groq", "@ai-sdk/mistral",
		"@ai-sdk/xai", "@ai-sdk/cerebras", "@ai-sdk/togetherai", "@ai-sdk/fireworks", "@ai-sdk/deepseek", "@ai-sdk/deepinfra":
		return OpenAI, true
	}
	return "", false
}
