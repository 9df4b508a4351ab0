package helve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/helve-dev/helve/internal/anthropic"
	"github.com/helve-dev/helve/internal/openai"
	"github.com/helve-dev/helve/internal/toolschema"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
)

// A Connection says how to reach a provider of models.
type Connection struct {
	// Protocol is "anthropic", or "openai", which most other servers speak too.
	Protocol string
	URL      string // up to /v1; the protocol's own provider when empty
	Key      string // may be empty for servers of your own
	Model    string // that is asked where a prompt names none
	Info     model.Info
	Headers  map[string]string
	HTTP     *http.Client  // one of its own when nil
	Idle     time.Duration // how long the server may be silent; five minutes when 0
}

// Models connects to the provider, for [Options].Models. Nothing is sent before
// the first prompt.
func (c Connection) Models() (Models, error) {
	var (
		p       model.Provider
		err     error
		dialect toolschema.Dialect
	)
	switch c.Protocol {
	case "anthropic":
		dialect = toolschema.Anthropic
		p, err = anthropic.New(anthropic.Options{Key: c.Key, BaseURL: c.URL, HTTP: c.HTTP, Headers: c.Headers, Idle: c.Idle})
	case "openai":
		dialect = toolschema.OpenAI
		p, err = openai.New(openai.Options{Key: c.Key, BaseURL: c.URL, HTTP: c.HTTP, Headers: c.Headers, Idle: c.Idle})
	default:
		err = fmt.Errorf("protocol %q is not one of anthropic, openai", c.Protocol)
	}
	if err != nil {
		return Models{}, err
	}
	m := Model{Provider: p, Info: c.Info, Fit: func(schema json.RawMessage) (json.RawMessage, error) { return toolschema.Fit(dialect, schema) }}
	return Models{
		Default: message.ModelRef{Provider: c.Protocol, Model: c.Model},
		Find:    func(message.ModelRef) (Model, error) { return m, nil },
	}, nil
}
