// Package anthropic is a client for models behind Anthropic's Messages API, at Anthropic or
// elsewhere.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/helve-dev/helve/internal/toolschema"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/model/internal/wire"
)

const (
	defaultBase    = "https://api.anthropic.com/v1"
	defaultVersion = "2023-06-01"
)

// Options configure how the API is reached.
type Options struct {
	Key     string
	BaseURL string       // https://api.anthropic.com/v1 when empty
	Version string       // of the API; 2023-06-01 when empty
	HTTP    *http.Client // a client of its own when nil
	// Headers are sent with each request and replace the client's own of the same name.
	Headers map[string]string
	// Idle limits how long the server may send nothing; five minutes when 0.
	Idle time.Duration
	// NoCache does not ask the server to cache prompts.
	NoCache bool
}

// A client implements [model.Provider].
type client struct {
	wire    *wire.Client
	badKey  string // why no request can be sent; empty if one can
	noCache bool
}

// New returns a model served by Anthropic. It sends nothing before the first request.
func New(key, id string) model.Model {
	m, err := Connect(Options{Key: key}, id)
	if err != nil {
		m.Provider = wire.Failing(err)
	}
	return m
}

// Connect returns a model that is reached as the options say.
func Connect(o Options, id string) (model.Model, error) {
	p, err := NewProvider(o)
	fit := func(schema json.RawMessage) (json.RawMessage, error) {
		return toolschema.Fit(toolschema.Anthropic, schema)
	}
	return model.Model{Provider: p, ProviderID: "anthropic", ID: id, Fit: fit}, err
}

// NewProvider returns a client for any number of models. It fails if the base URL is invalid; a
// missing key is reported by the first request.
func NewProvider(o Options) (model.Provider, error) {
	o.Key = strings.TrimSpace(o.Key)
	c := &client{noCache: o.NoCache}
	header := http.Header{}
	header.Set("Anthropic-Version", orElse(o.Version, defaultVersion))
	secrets := []string{o.Key}
	if strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		c.badKey = "the key for Anthropic holds characters that no key has: set ANTHROPIC_API_KEY again, without quotes and line breaks"
	} else if o.Key != "" {
		header.Set("X-Api-Key", o.Key)
	}
	for name, value := range o.Headers {
		header.Set(name, value)
		if secret(name) {
			secrets = append(append(secrets, value), strings.Fields(value)...)
		}
	}
	if c.badKey == "" && header.Get("X-Api-Key") == "" && header.Get("Authorization") == "" {
		c.badKey = "there is no key for Anthropic: set ANTHROPIC_API_KEY, or the key of this provider in the configuration"
	}
	var err error
	c.wire, err = wire.New(wire.Options{
		Endpoint: strings.TrimRight(orElse(o.BaseURL, defaultBase), "/") + "/messages",
		Header:   header, Secrets: secrets, HTTP: o.HTTP, Name: "Anthropic", Idle: o.Idle,
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

func orElse(s, other string) string {
	if s = strings.TrimSpace(s); s == "" {
		return other
	}
	return s
}

// secret reports whether a header with that name holds a secret.
func secret(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"auth", "key", "token", "secret", "cookie", "pass"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// Stream makes one attempt to answer a request.
func (c *client) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if c.badKey != "" {
			yield(model.Event{}, &model.Error{Kind: model.Auth, Message: c.badKey})
			return
		}
		names := namesOf(req)
		body, err := c.body(req, names)
		if err != nil {
			yield(model.Event{}, err)
			return
		}
		d := &decoder{names: names, blocks: map[int]*open{}, wire: c.wire, tally: wire.Tally{Who: "Anthropic"}}
		for event, err := range c.wire.Post(ctx, body, nil) {
			ended := d.reason != ""
			if err == nil {
				err = d.take(event)
			} else if ended && wire.Lost(ctx, err) {
				break // the answer was complete before the connection was lost
			}
			if d.reason != "" && (!ended || len(d.out) > 0) {
				event.Ends()
			}
			if !d.flush(yield) || d.done {
				return
			}
			if err != nil {
				yield(model.Event{}, c.redact(err))
				return
			}
		}
		err = d.end()
		if !d.flush(yield) || err == nil {
			return
		}
		yield(model.Event{}, c.redact(err))
	}
}

// redact removes the key from what a server sent within a stream.
func (c *client) redact(err error) error {
	if e, ok := errors.AsType[*model.Error](err); ok {
		c.wire.Clean(e)
	}
	return err
}
