package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
)

// A Provider is a configured provider of models. Zero fields were not set.
type Provider struct {
	ID      string // the key
	Name    string
	NPM     string // the package by which OpenCode talks to it
	API     string // where it is; BaseURL wins
	Env     []string
	BaseURL string
	Key     string // a secret
	Headers map[string]string
	// TimeoutMS limits the wait for an answer to begin or to continue; -1 for no limit.
	TimeoutMS int
	Disabled  bool // also where it holds a mistake: it would talk to somebody else then
	Models    []Model
	From      permission.Source
}

// A Model is a configured model of a provider. Zero fields were not set.
type Model struct {
	ID              string // the key
	Serves          string // what the provider calls it, where that differs
	Name            string
	Context, Output int
	Price           *model.Price
	Images          *bool
	Options         json.RawMessage // an object
}

// Compaction configures what happens to a conversation that grows too long.
type Compaction struct {
	Auto, Prune *bool // nil when no file says
	Reserved    int   // tokens that are kept free; 0 when no file says
}

// A Budget limits an agent. Zero fields were not set.
type Budget struct {
	TimeS, IdleS int
	Tokens       int
	Cost         float64 // in US dollars
	Steps, Calls int
}

// providerShape is the shape of a provider. Unknown keys are for other programs.
func providerShape() *shape {
	return &shape{kinds: "o", open: true, whole: true, stops: true, fields: map[string]*shape{
		"name": textShape(), "npm": textShape(), "env": textsShape(), "disabled": boolShape(),
		"api": {kinds: "s", good: badAddress},
		"options": {kinds: "o", open: true, whole: true, fields: map[string]*shape{
			"baseURL": {kinds: "s", good: badAddress},
			"apiKey":  {kinds: "s", good: badKey},
			"headers": {kinds: "o", each: textShape(), good: badHeaders},
			"timeout": {kinds: "nb", good: badTimeout},
		}},
		"models": {kinds: "o", each: modelShape()},
	}}
}

func modelShape() *shape {
	money := func() *shape { return &shape{kinds: "n", good: below0} }
	tokens := func() *shape { return &shape{kinds: "n", good: notCount} }
	return &shape{kinds: "o", open: true, fields: map[string]*shape{
		"id": textShape(), "name": textShape(), "attachment": boolShape(), "options": objectShape(),
		"limit": {kinds: "o", open: true, fields: map[string]*shape{"context": tokens(), "output": tokens()}},
		"cost": {kinds: "o", open: true, fields: map[string]*shape{
			"input": money(), "output": money(), "cache_read": money(), "cache_write": money(),
		}},
		"modalities": {kinds: "o", open: true, fields: map[string]*shape{"input": textsShape(), "output": textsShape()}},
	}}
}

// budgetShape is the shape of a budget with the given keys.
func budgetShape(names ...string) *shape {
	s := &shape{kinds: "o", helve: true, fields: map[string]*shape{}}
	for _, name := range names {
		s.fields[name] = countShape()
		if name == "cost" {
			s.fields[name] = &shape{kinds: "n", good: func(n *node) string {
				if v := float(n); v == nil || *v <= 0 {
					return "is not a number above 0"
				}
				return ""
			}}
		}
	}
	return s
}

// Checks of values. Their messages never show a value, because it may be or contain a secret.

func badAddress(n *node) string {
	switch at := strings.TrimSpace(n.text); {
	case at == "":
		return "is empty; set the variable that it is taken from, or leave it out"
	case !usableAddress(at):
		return "is not the address of a server; write it as https://host/path or http://host:port, without a user name or password"
	}
	return ""
}

func badKey(n *node) string {
	odd := func(r rune) bool { return r <= ' ' || r >= 0x7f }
	if strings.ContainsFunc(strings.TrimSpace(n.text), odd) {
		return "holds a character that can not be part of a key"
	}
	return ""
}

func badHeaders(n *node) string {
	const special = "!#$%&'*+-.^_`|~"
	for _, m := range n.members {
		notName := func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(special, r))
		}
		if m.key == "" || strings.ContainsFunc(m.key, notName) {
			return fmt.Sprintf("holds the name %q, which can not be that of a header", shorten(m.key))
		}
		if strings.ContainsFunc(m.val.text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return fmt.Sprintf("holds a character in %q that can not be part of a header", m.key)
		}
	}
	return ""
}

func badTimeout(n *node) string {
	if n.kind == 'b' && n.text == "true" || n.kind == 'n' && intValue(n) <= 0 {
		return "is neither a whole number of milliseconds above 0 nor false, for no bound"
	}
	return ""
}

func below0(n *node) string {
	if v := float(n); v == nil || *v < 0 {
		return "is not a number of 0 or more"
	}
	return ""
}

func notCount(n *node) string {
	if n.text != "0" && intValue(n) <= 0 {
		return "is not a whole number of 0 or more"
	}
	return ""
}

// badColor checks for a color that terminals and OpenCode can show.
func badColor(n *node) string {
	names := []string{"primary", "secondary", "accent", "success", "warning", "error", "info"}
	hex := strings.TrimLeft(strings.TrimPrefix(n.text, "#"), "0123456789abcdefABCDEF") == ""
	if len(n.text) == 7 && n.text[0] == '#' && hex || slices.Contains(names, n.text) {
		return ""
	}
	return `is not a colour; write it as "#rrggbb"`
}

// between checks for a number from 0 to most.
func between(most float64) func(*node) string {
	return func(n *node) string {
		if v := float(n); v == nil || *v < 0 || *v > most {
			return fmt.Sprintf("is not a number from 0 to %g", most)
		}
		return ""
	}
}

// models reads the settings for models and providers.
func (l *loader) models() {
	c, m := l.cfg, l.merged
	c.Model, c.SmallModel = l.modelName("model", m.get("model")), l.modelName("small_model", m.get("small_model"))
	if all := m.get("provider"); all != nil {
		for _, p := range all.members {
			c.Providers = append(c.Providers, provided(p))
		}
	}
	c.DisabledProviders = elemTexts(m.get("disabled_providers"))
	if only := m.get("enabled_providers"); only != nil {
		c.EnabledProviders = append([]string{}, elemTexts(only)...)
	}
	if v := m.get("compaction"); v != nil {
		c.Compaction = Compaction{Auto: maybe(v.get("auto")), Prune: maybe(v.get("prune")), Reserved: int(intValue(v.get("reserved")))}
	}
	if depth := m.get("subagent_depth"); depth != nil {
		n := int(intValue(depth))
		c.SubagentDepth = &n
	}
	c.Task, c.Session = budget(m.get("task")), budget(m.get("session"))
	for i := range c.Agents {
		if a := &c.Agents[i]; a.Model != "" {
			l.modelName("agent."+a.Name+".model", m.get("agent").get(a.Name).get("model"))
		}
	}
}

// modelName returns the name of a model, and warns if it has no provider.
func (l *loader) modelName(key string, n *node) string {
	name := textOf(n)
	if provider, rest, ok := strings.Cut(name, "/"); n != nil && (!ok || provider == "" || rest == "") {
		l.doubt(n, key, `does not say who serves the model; write it as provider/model, such as "anthropic/claude-sonnet-4-5"`)
	}
	return name
}

func provided(m member) Provider {
	options := m.val.get("options")
	p := Provider{
		ID: m.key, Name: textOf(m.val.get("name")), NPM: textOf(m.val.get("npm")), API: strings.TrimSpace(textOf(m.val.get("api"))),
		Env: elemTexts(m.val.get("env")), Disabled: truth(m.val.get("disabled")),
		BaseURL: strings.TrimSpace(textOf(options.get("baseURL"))), Key: strings.TrimSpace(textOf(options.get("apiKey"))),
		From: m.in.sourceAt(m.at),
	}
	if timeout := options.get("timeout"); timeout != nil {
		p.TimeoutMS = int(intValue(timeout))
		if timeout.kind == 'b' {
			p.TimeoutMS = -1
		}
	}
	if headers := options.get("headers"); headers != nil {
		p.Headers = map[string]string{}
		for _, h := range headers.members {
			p.Headers[h.key] = h.val.text
		}
	}
	if models := m.val.get("models"); models != nil {
		for _, one := range models.members {
			p.Models = append(p.Models, modelled(one))
		}
	}
	return p
}

func modelled(m member) Model {
	v, limit := m.val, m.val.get("limit")
	out := Model{
		ID: m.key, Serves: textOf(v.get("id")), Name: textOf(v.get("name")),
		Context: int(intValue(limit.get("context"))), Output: int(intValue(limit.get("output"))),
		Images: maybe(v.get("attachment")), Options: section(v, "options"),
	}
	if takes := v.get("modalities").get("input"); takes != nil {
		images := slices.Contains(elemTexts(takes), "image")
		out.Images = &images
	}
	if cost := v.get("cost"); cost != nil {
		money := func(name string) float64 {
			if n := cost.get(name); n != nil {
				if v := float(n); v != nil {
					return *v
				}
			}
			return 0
		}
		out.Price = &model.Price{Input: money("input"), Output: money("output"), CacheRead: money("cache_read"), CacheWrite: money("cache_write")}
	}
	return out
}

func budget(v *node) Budget {
	if v == nil {
		return Budget{}
	}
	count := func(name string) int { return int(intValue(v.get(name))) }
	b := Budget{TimeS: count("time_s"), IdleS: count("idle_s"), Tokens: count("tokens"), Steps: count("steps"), Calls: count("calls")}
	if cost := v.get("cost"); cost != nil {
		b.Cost = *float(cost)
	}
	return b
}
