package catalog

import (
	"net/http"
	"time"

	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/model/anthropic"
	"github.com/helve-dev/helve/model/openai"
)

// longest is how long is waited for a server that may take any time.
const longest = 24 * time.Hour

// newClient makes the client of a provider.
func newClient(s *served, client *http.Client) (model.Provider, error) {
	idle := s.conf.Timeout // a shorter one is kept by who asks
	if idle < 0 {
		idle = longest
	}
	if s.Protocol == Anthropic {
		return anthropic.NewProvider(anthropic.Options{Key: s.key, BaseURL: s.URL, HTTP: client, Headers: s.conf.Headers, Idle: idle})
	}
	o := openai.Options{
		Key: s.key, BaseURL: s.URL, Name: s.Name, HTTP: client, Headers: s.conf.Headers, Idle: idle,
		NoUsage: s.noUsage, ReplayReasoning: s.replays,
	}
	if s.ID == "openai" { // also behind another address
		o.MaxTokensField = "max_completion_tokens"
	}
	return openai.NewProvider(o)
}
