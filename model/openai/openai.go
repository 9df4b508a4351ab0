// Package openai is a client for OpenAI's chat completions, and for the many servers that implement
// the same protocol more or less: Ollama, llama.cpp, vLLM, OpenRouter, DeepSeek, Groq, Gemini. It
// accepts all the forms of answers that these send, and sends only what all of them accept.
package openai

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/helve-dev/helve/internal/toolschema"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/model/internal/wire"
)

const (
	defaultBase = "https://api.openai.com/v1"
	defaultHost = "api.openai.com"
)

// Options configure how a server is reached and how it differs.
type Options struct {
	Key     string            // sent as a bearer token; left out when empty
	BaseURL string            // without /chat/completions; OpenAI's when empty
	Name    string            // the provider's name, for messages; the host when empty
	HTTP    *http.Client      // a client of its own when nil
	Headers map[string]string // sent with each request

	NoUsage bool // the server does not accept stream_options
	// MaxTokensField is the name of the field that limits an answer. When it is empty, it is
	// max_completion_tokens for OpenAI and max_tokens for others.
	MaxTokensField string
	// ReplayReasoning sends the reasoning before calls back as reasoning_content. Some servers
	// require that, others reject it.
	ReplayReasoning bool
	// Idle limits how long the server may send nothing; five minutes when 0.
	Idle time.Duration
}

type client struct {
	wire     *wire.Client
	name     string
	official bool // it is OpenAI itself
	options  Options
}

// New returns a model served by OpenAI. It sends nothing before the first request.
func New(key, id string) model.Model {
	m, err := Connect(Options{Key: key}, id)
	if err != nil {
		m.Provider = wire.Failing(err)
	}
	return m
}

// Connect returns a model that is reached as the options say, such as one on a server of your own.
func Connect(o Options, id string) (model.Model, error) {
	p, err := NewProvider(o)
	fit := func(schema json.RawMessage) (json.RawMessage, error) {
		return toolschema.Fit(toolschema.OpenAI, schema)
	}
	return model.Model{Provider: p, ProviderID: "openai", ID: id, Fit: fit}, err
}

// NewProvider returns a client for any number of models. It sends the schemas
// of tools unchanged.
func NewProvider(o Options) (model.Provider, error) {
	if o.BaseURL == "" {
		o.BaseURL = defaultBase
	}
	o.Key = strings.TrimSpace(o.Key)
	if strings.ContainsFunc(o.Key, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, errors.New("the key holds characters that no key has: copy it again, on one line")
	}
	c := &client{name: o.Name, options: o}
	endpoint := o.BaseURL
	if u, err := url.Parse(o.BaseURL); err == nil {
		if !strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/chat/completions") {
			u = u.JoinPath("chat", "completions")
		}
		endpoint = u.String()
		c.official = strings.EqualFold(u.Hostname(), defaultHost)
		if c.name == "" {
			c.name = u.Host
		}
	}
	if c.official && o.Name == "" {
		c.name = "OpenAI"
	}
	header := http.Header{}
	secrets := []string{o.Key}
	if o.Key != "" {
		header.Set("Authorization", "Bearer "+o.Key)
	}
	for name, value := range o.Headers {
		header.Set(name, value)
		if secretive(name) {
			secrets = append(secrets, value, strings.TrimPrefix(value, "Bearer "))
		}
	}
	var err error
	c.wire, err = wire.New(wire.Options{Endpoint: endpoint, Header: header, Secrets: secrets, HTTP: o.HTTP, Name: c.name, Idle: o.Idle})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// secretive reports whether a header is likely to hold a key.
func secretive(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"auth", "key", "token", "secret", "cookie"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// Stream implements [model.Provider].
func (c *client) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		names := namesOf(req)
		d := newDecoder(req, names, c.wire, c.name)
		classify := func(status int, _ http.Header, body []byte) *model.Error { return c.classify(status, body, req.Model) }
		for event, err := range c.wire.Post(ctx, c.body(req, names), classify) {
			var said []model.Event
			ended := d.finish != ""
			if err == nil {
				said, err = d.take(event)
			} else if ended && wire.Lost(ctx, err) {
				break // only the usage may be missing
			}
			if d.finish != "" && (!ended || len(said) > 0) {
				event.Ends()
			}
			for _, e := range said {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(model.Event{}, c.scrubbed(err))
				return
			}
			if d.over {
				break
			}
		}
		said, err := d.end()
		for _, e := range said {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(model.Event{}, c.scrubbed(err))
		}
	}
}

// scrubbed removes the key from what a server sent within a stream.
func (c *client) scrubbed(err error) error {
	if e, ok := errors.AsType[*model.Error](err); ok {
		c.wire.Clean(e)
	}
	return err
}
