// Package catalog lists the providers of models: how to connect to them, where their keys are
// found, and what is known of their models. It creates the client of a model on first use.
//
// A key is sent only to its provider: nothing that the catalog returns or reports contains one.
package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/internal/toolschema"
	"github.com/helve-dev/helve/model"
)

// Options are the configuration beside [Known].
type Options struct {
	Providers []Provider // change one that is known, or add another
	Env       func(string) string
	Disabled  []string
	Enabled   []string // only these count; nil for all
	HTTP      *http.Client
	// File is the user's config file, for messages.
	File string
	// Note is called once for each option that is not sent because a provider would refuse it; it
	// may be nil.
	Note func(string)
}

// A Provider is the configuration of a provider. Zero fields change nothing.
type Provider struct {
	ID, Name string
	NPM      string // the package by which OpenCode talks to it
	URL      string
	Env      []string
	Key      string
	Headers  map[string]string
	Timeout  time.Duration // without a byte; below 0 for no bound
	Disabled bool          // also where it is not to be used because of a mistake
	Models   []Model
	From     string // where it is configured
}

// A Model is the configuration of a model. Zero fields change nothing.
type Model struct {
	ID, Name        string
	Serves          string // what the provider calls it, where that differs
	Context, Output int
	Price           *model.Price
	Images          *bool
	Options         map[string]any // sent with each request
}

// A Catalog holds all known models and providers. It may be used concurrently.
type Catalog struct {
	opt    Options
	served []*served // in the order of Known, then as configured

	mu      sync.Mutex
	clients map[string]model.Provider
	noted   map[string]bool // options that were reported, with their provider
}

// A served is a provider with all that is known of it.
type served struct {
	KnownProvider
	conf       Provider
	configured bool
	key        string
	keyFrom    string // where the key was found
	err        error  // why it cannot be used
	asking     sync.Mutex
	asked      bool // for a login
	off        bool // because the configuration says so
	noKey      bool // because there is no key
}

// New returns a catalog. It reads the environment once.
func New(o Options) *Catalog {
	if o.Env == nil {
		o.Env = func(string) string { return "" }
	}
	c := &Catalog{opt: o, clients: map[string]model.Provider{}, noted: map[string]bool{}}
	for _, e := range Known() {
		c.served = append(c.served, &served{KnownProvider: e})
	}
	for _, p := range o.Providers {
		s := c.find(p.ID)
		if s == nil {
			s = &served{KnownProvider: KnownProvider{ID: p.ID, Name: p.ID, Protocol: OpenAI}}
			c.served = append(c.served, s)
		}
		s.conf, s.configured = p, true
	}
	for _, s := range c.served {
		c.configure(s)
	}
	return c
}

func (c *Catalog) find(id string) *served {
	i := slices.IndexFunc(c.served, func(s *served) bool { return s.ID == id || s.Also != "" && s.Also == id })
	if i < 0 {
		return nil
	}
	return c.served[i]
}

// configure applies the configuration of a provider, looks up its key, and determines whether it
// can be used.
func (c *Catalog) configure(s *served) {
	p := s.conf
	known := s.URL != ""
	if s.URLEnv != "" {
		s.URL = fromEnv(s, c.opt.Env(s.URLEnv))
	}
	s.Name, s.URL = cmp.Or(p.Name, s.Name), cmp.Or(p.URL, s.URL)
	if len(p.Env) > 0 {
		s.Env = p.Env
	}
	protocol, ours := protocolOf(p.NPM)
	if ours && p.NPM != "" && protocol != s.Protocol {
		s.Protocol, s.Dialect = protocol, ""
	}
	s.Dialect = cmp.Or(s.Dialect, dialect(s.Protocol))
	s.key, s.keyFrom = c.key(s)
	s.off = c.off(s)
	switch {
	case s.off:
		s.err = fmt.Errorf("the provider %s is switched off by disabled_providers or enabled_providers in the config: change that, or take a model of another", s.ID)
	case p.Disabled:
		s.err = fmt.Errorf("the provider %s is not used because of a mistake in its settings, or because they say so (%s): see 'helve config check'", s.ID, p.From)
	case !ours && !known:
		s.err = fmt.Errorf("OpenCode talks to the provider %s by %q, which helve does not know: if it has an address that speaks the protocol of OpenAI or Anthropic, set npm to \"@ai-sdk/openai-compatible\" or \"@ai-sdk/anthropic\" and options.baseURL to that address (%s)", s.ID, p.NPM, p.From)
	case s.URL == "":
		s.err = fmt.Errorf("it is not known where the provider %s is: set provider.%s.options.baseURL to its address, such as https://host/v1 (%s)", s.ID, s.ID, p.From)
	case s.key == "" && s.needsKey():
		s.noKey = true
		hint := fmt.Sprintf("provider.%s.options.apiKey in %s", s.ID, c.fileName())
		if len(s.Env) > 0 {
			hint = strings.Join(s.Env, " or ") + ", or " + hint
		}
		s.err = fmt.Errorf("there is no key for %s: set %s", s.ID, hint)
	}
}

// key returns the key of a provider and where it was found: in the config, or
// in the environment.
func (c *Catalog) key(s *served) (key, from string) {
	if s.conf.Key != "" {
		return s.conf.Key, "provider." + s.conf.ID + ".options.apiKey"
	}
	for _, name := range s.Env {
		if key := strings.TrimSpace(c.opt.Env(name)); key != "" {
			return key, name
		}
	}
	return "", ""
}

// off reports whether the configuration disables a provider.
func (c *Catalog) off(s *served) bool {
	in := func(list []string) bool {
		return slices.ContainsFunc(list, func(name string) bool { return name == s.ID || name == s.Also && name != "" })
	}
	return in(c.opt.Disabled) || c.opt.Enabled != nil && !in(c.opt.Enabled)
}

// fromEnv is the address that a variable gives a provider. By custom it is
// without the version for Anthropic.
func fromEnv(s *served, value string) string {
	value = strings.TrimRight(strings.TrimSpace(value), "/")
	switch {
	case value == "":
		return s.URL
	case s.Protocol == Anthropic && !strings.HasSuffix(value, "/v1"):
		return value + "/v1"
	}
	return value
}

// needsKey reports whether the provider cannot be used without a key. A header of the config may
// contain one.
func (s *served) needsKey() bool {
	for name := range s.conf.Headers {
		if strings.EqualFold(name, "Authorization") || strings.EqualFold(name, "x-api-key") {
			return false
		}
	}
	return !s.Local && (len(s.Env) > 0 || s.Protocol == Anthropic)
}

// Parse parses the name of a model, provider/model. Without a provider, only the model is set.
func Parse(name string) model.Ref {
	provider, rest, ok := strings.Cut(strings.TrimSpace(name), "/")
	if !ok {
		return model.Ref{Model: provider}
	}
	return model.Ref{Provider: provider, Model: rest}
}

// Find returns the client and the data of a model, and a function that adapts tool schemas to it.
func (c *Catalog) Find(ref model.Ref) (model.Provider, model.Info, func(json.RawMessage) (json.RawMessage, error), error) {
	s, err := c.usable(ref)
	if err != nil {
		return nil, model.Info{}, nil, err
	}
	client, err := c.client(s)
	if err != nil {
		return nil, model.Info{}, nil, err
	}
	m := s.model(ref.Model)
	fit := func(schema json.RawMessage) (json.RawMessage, error) { return toolschema.Fit(s.Dialect, schema) }
	left := func(names []string) { c.leftOut(s, names) }
	return &asked{client: client, model: m, timeout: s.conf.Timeout, manner: s.manner(), left: left}, s.info(m), fit, nil
}

// leftOut reports options that a provider is not sent, each once.
func (c *Catalog) leftOut(s *served, names []string) {
	if c.opt.Note == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var news []string
	for _, name := range names {
		if key := s.ID + "/" + name; !c.noted[key] {
			c.noted[key] = true
			news = append(news, name)
		}
	}
	if len(news) == 0 {
		return
	}
	why := "it takes no such options in the protocol that is spoken with it"
	if !s.manner().strict {
		why = "of an agent only single values and objects are sent, and nothing that helve sets itself; lists can stand under options of the model"
	}
	c.opt.Note(fmt.Sprintf("%s is not sent %s: %s", s.ID, strings.Join(news, ", "), why))
}

// usable returns the provider of a model, if it can be asked.
func (c *Catalog) usable(ref model.Ref) (*served, error) {
	if ref == (model.Ref{}) {
		return nil, c.noModel()
	}
	if ref.Provider == "" || ref.Model == "" {
		return nil, fmt.Errorf("the model %q does not say who serves it: write it as provider/model, such as %q; %s", ref.String(), "anthropic/claude-sonnet-4-5", c.withKey())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.find(ref.Provider)
	if s == nil {
		said := fmt.Sprintf("there is no provider called %q", ref.Provider)
		names := make([]string, 0, len(c.served))
		for _, s := range c.served {
			names = append(names, s.ID)
		}
		if near, ok := text.Nearest(ref.Provider, names); ok {
			said += fmt.Sprintf(", but there is %q", near)
		}
		return nil, fmt.Errorf("%s: 'helve models' lists those that are known, and others are described under \"provider\" in the config; %s", said, c.withKey())
	}
	return s, s.err
}

// A Login is what a plugin gives for a provider. Empty fields change nothing.
type Login struct {
	Key     string            `json:"apiKey"`
	URL     string            `json:"baseURL"`
	Headers map[string]string `json:"headers"`
}

// SignIn asks for the login of a provider that is configured without a key,
// until it is answered. Where the answer fails, only a provider that nothing
// can be asked of without a key does too.
func (c *Catalog) SignIn(id string, ask func() (Login, error)) error {
	s := c.find(id)
	if s == nil || !s.configured || s.Local || s.off || s.conf.Disabled || s.conf.Key != "" {
		return nil
	}
	s.asking.Lock()
	defer s.asking.Unlock()
	if s.asked {
		return nil
	}
	login, err := ask()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil && s.noKey:
		return fmt.Errorf("there is no key for %s, and no plugin has signed in to it: %w", s.ID, err)
	case err != nil:
		return nil
	}
	s.asked = true
	if login.Key != "" {
		s.key, s.keyFrom = login.Key, "a plugin"
	}
	s.URL = cmp.Or(login.URL, s.URL)
	headers := maps.Clone(login.Headers)
	if headers == nil {
		headers = map[string]string{}
	}
	maps.Copy(headers, s.conf.Headers)
	s.conf.Headers = headers
	if s.noKey && (s.key != "" || !s.needsKey()) {
		s.noKey, s.err = false, nil
	}
	return nil
}

// withKey lists the providers that could be used.
func (c *Catalog) withKey() string {
	var names []string
	for _, s := range c.served {
		if s.err == nil && (s.key != "" || s.configured) {
			names = append(names, s.ID)
		}
	}
	if len(names) == 0 {
		return "no provider has a key yet"
	}
	return "those that can be used are " + strings.Join(names, ", ")
}

// client returns the client of a provider, one for all of its models.
func (c *Catalog) client(s *served) (model.Provider, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if have := c.clients[s.ID]; have != nil {
		return have, nil
	}
	made, err := newClient(s, c.opt.HTTP)
	if err != nil {
		return nil, fmt.Errorf("the provider %s can not be used: %w", s.ID, err)
	}
	c.clients[s.ID] = made
	return made, nil
}

// model is a model as configured, or one of that name.
func (s *served) model(id string) Model {
	for _, m := range s.conf.Models {
		if m.ID == id {
			if m.Serves == "" {
				m.Serves = id
			}
			return m
		}
	}
	return Model{ID: id, Serves: id}
}

// info returns what is known of a model; the configuration takes precedence.
func (s *served) info(m Model) model.Info {
	info := infoOf(s.ID, m.Serves)
	if s.ownLimits {
		info.Context, info.Output = 0, 0
	}
	if m.Context > 0 {
		info.Context = m.Context
	}
	if m.Output > 0 {
		info.Output = m.Output
	}
	if m.Price != nil {
		info.Price = *m.Price
	}
	if m.Images != nil {
		info.Images = *m.Images
	}
	return info
}

// Default returns the model that is taken where a prompt does not say one: that
// of HELVE_MODEL, the one that is configured, or that of the first known
// provider with a key.
func (c *Catalog) Default(configured string) (model.Ref, error) {
	for _, name := range []string{c.opt.Env("HELVE_MODEL"), configured} {
		if strings.TrimSpace(name) != "" {
			return Parse(name), nil
		}
	}
	for _, s := range c.served {
		if s.err == nil && s.key != "" && s.Default != "" {
			return model.Ref{Provider: s.ID, Model: s.Default}, nil
		}
	}
	return model.Ref{}, c.noModel()
}

// noModel lists the ways to get a model.
func (c *Catalog) noModel() error {
	return fmt.Errorf("no model is set: give --model provider/model, set HELVE_MODEL, or write \"model\": \"provider/model\" into %s; "+
		"with the key of a provider alone, such as ANTHROPIC_API_KEY, a default is taken ('helve models' shows which)", c.fileName())
}

// Small returns the model for titles: the one that is configured, or a small
// one of the same provider as main; zero for none.
func (c *Catalog) Small(configured string, main model.Ref) model.Ref {
	if strings.TrimSpace(configured) != "" {
		return Parse(configured)
	}
	if s := c.find(main.Provider); s != nil && s.err == nil && s.Small != "" && s.conf.URL == "" {
		return model.Ref{Provider: s.ID, Model: s.Small}
	}
	return model.Ref{}
}

func (c *Catalog) fileName() string {
	if c.opt.File == "" {
		return "the config"
	}
	return c.opt.File
}
