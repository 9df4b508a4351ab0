package catalog

import (
	"slices"
	"strings"

	"github.com/helve-dev/helve/model"
)

// A family is what is known of a model by its name, with or without a date
// behind it.
type family struct {
	name  string
	of    string // whose model it is: there, its price is known
	info  model.Info
	dated bool // its name needs a date behind it
}

// families are the models that are known, with what their makers say of them.
// What is not sure is left out: a price that is not there is better than a wrong one.
func families() []family {
	dollars := func(input, output, read, write float64) model.Price {
		return model.Price{Input: input, Output: output, CacheRead: read, CacheWrite: write}
	}
	claude := func(name string, output int, p model.Price) family {
		return family{name: name, of: "anthropic", info: model.Info{Context: 200_000, Output: output, Images: true, Price: p}}
	}
	dated := func(f family) family {
		f.dated = true
		return f
	}
	gpt := func(name string, context, output int, p model.Price) family {
		return family{name: name, of: "openai", info: model.Info{Context: context, Output: output, Images: name != "o3-mini", Price: p}}
	}
	limited := func(name, of string, i model.Info) family { return family{name: name, of: of, info: i} }
	const million = 1_047_576
	return []family{
		claude("claude-opus-4-5", 64_000, dollars(5, 25, 0.5, 6.25)),
		claude("claude-sonnet-4-5", 64_000, dollars(3, 15, 0.3, 3.75)),
		claude("claude-haiku-4-5", 64_000, dollars(1, 5, 0.1, 1.25)),
		claude("claude-opus-4-1", 32_000, dollars(15, 75, 1.5, 18.75)),
		dated(claude("claude-opus-4", 32_000, dollars(15, 75, 1.5, 18.75))),
		dated(claude("claude-sonnet-4", 64_000, dollars(3, 15, 0.3, 3.75))),
		dated(claude("claude-3-7-sonnet", 64_000, dollars(3, 15, 0.3, 3.75))),
		dated(claude("claude-3-5-sonnet", 8_192, dollars(3, 15, 0.3, 3.75))),
		dated(claude("claude-3-5-haiku", 8_192, dollars(0.8, 4, 0.08, 1))),
		dated(claude("claude-3-haiku", 4_096, dollars(0.25, 1.25, 0.03, 0.3))),
		gpt("gpt-5", 400_000, 128_000, dollars(1.25, 10, 0.125, 0)),
		gpt("gpt-5-mini", 400_000, 128_000, dollars(0.25, 2, 0.025, 0)),
		gpt("gpt-5-nano", 400_000, 128_000, dollars(0.05, 0.4, 0.005, 0)),
		gpt("gpt-5.1", 400_000, 128_000, dollars(1.25, 10, 0.125, 0)),
		gpt("gpt-4.1", million, 32_768, dollars(2, 8, 0.5, 0)),
		gpt("gpt-4.1-mini", million, 32_768, dollars(0.4, 1.6, 0.1, 0)),
		gpt("gpt-4.1-nano", million, 32_768, dollars(0.1, 0.4, 0.025, 0)),
		gpt("gpt-4o", 128_000, 16_384, dollars(2.5, 10, 1.25, 0)),
		gpt("gpt-4o-mini", 128_000, 16_384, dollars(0.15, 0.6, 0.075, 0)),
		gpt("o3", 200_000, 100_000, dollars(2, 8, 0.5, 0)),
		gpt("o3-mini", 200_000, 100_000, dollars(1.1, 4.4, 0.55, 0)),
		gpt("o4-mini", 200_000, 100_000, dollars(1.1, 4.4, 0.275, 0)),
		limited("gemini-2.5-pro", "google", model.Info{Context: 1_048_576, Output: 65_536, Images: true}),
		limited("gemini-2.5-flash", "google", model.Info{Context: 1_048_576, Output: 65_536, Images: true}),
		limited("gemini-2.5-flash-lite", "google", model.Info{Context: 1_048_576, Output: 65_536, Images: true}),
		limited("grok-4", "xai", model.Info{Context: 256_000, Images: true}),
		limited("grok-code-fast-1", "xai", model.Info{Context: 256_000}),
		limited("deepseek-chat", "deepseek", model.Info{Context: 128_000, Output: 8_192}),
		limited("deepseek-reasoner", "deepseek", model.Info{Context: 128_000}),
		limited("gpt-oss-120b", "", model.Info{Context: 131_072}),
		limited("gpt-oss-20b", "", model.Info{Context: 131_072}),
	}
}

// looseInfo is what newer models are taken to have, of which only the first
// letters are known.
func looseInfo(name string) model.Info {
	switch {
	case strings.HasPrefix(name, "claude-"):
		return model.Info{Context: 200_000, Images: true}
	case strings.HasPrefix(name, "gpt-5") && !strings.Contains(name, "chat"):
		return model.Info{Context: 400_000, Images: true}
	case strings.HasPrefix(name, "gemini-"):
		return model.Info{Context: 1_048_576, Images: true}
	}
	return model.Info{}
}

// infoOf returns what is known of a model of a provider. Prices are those of its maker, and of
// OpenRouter, which charges the same.
func infoOf(provider, name string) model.Info {
	bare := name[strings.LastIndexByte(name, '/')+1:]
	if strings.HasPrefix(bare, "claude-") {
		bare = strings.ReplaceAll(bare, ".", "-")
	}
	all := families()
	i := slices.IndexFunc(all, func(f family) bool { return f.is(bare) })
	if i < 0 {
		return looseInfo(bare)
	}
	info := all[i].info
	if provider != all[i].of && provider != "openrouter" {
		info.Price = model.Price{}
	}
	return info
}

// is reports whether a name is that of the family, or of one of its versions:
// with a date behind it, or the word latest.
func (f family) is(name string) bool {
	rest, ok := strings.CutPrefix(name, f.name)
	if !ok || rest == "" {
		return ok
	}
	version, ok := strings.CutPrefix(rest, "-")
	return ok && (version == "latest" || len(version) >= 8 && strings.Trim(version, "0123456789-") == "")
}
