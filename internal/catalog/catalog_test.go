package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/leaktest"
	"github.com/helve-dev/helve/model"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const secret = "sk-very-secret"

// env is an environment.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestKnown(t *testing.T) {
	names := map[string]bool{}
	for _, e := range Known() {
		u, err := url.Parse(e.URL)
		if err != nil || u.Host == "" || strings.HasSuffix(e.URL, "/") || e.Name == "" || e.Dialect == "" {
			t.Errorf("%+v", e)
		}
		if local := u.Hostname() == "localhost"; local != e.Local || local == (len(e.Env) > 0) || !local && u.Scheme != "https" {
			t.Errorf("%s: local=%t, variables %q, %s", e.ID, e.Local, e.Env, e.URL)
		}
		for _, name := range []string{e.ID, e.Also} {
			if name != "" && names[name] {
				t.Errorf("%s stands twice", name)
			}
			names[name] = true
		}
		for _, name := range []string{e.Default, e.Small} {
			if name != "" && infoOf(e.ID, name).Context == 0 && e.ID != "mistral" {
				t.Errorf("nothing is known of %s/%s, which is taken where nobody says a model", e.ID, name)
			}
		}
	}
}

func TestParse(t *testing.T) {
	for in, want := range map[string]model.Ref{
		"":                     {},
		"sonnet":               {Model: "sonnet"},
		"a/b":                  {Provider: "a", Model: "b"},
		" openrouter/x/y:free": {Provider: "openrouter", Model: "x/y:free"},
		"/x":                   {Model: "x"},
	} {
		if got := Parse(in); got != want {
			t.Errorf("%q: %+v", in, got)
		}
	}
}

func TestRefused(t *testing.T) {
	c := New(Options{
		File: "/home/u/helve.json", Env: env("OPENAI_API_KEY", secret, "XAI_API_KEY", secret), Disabled: []string{"xai", "togetherai"},
		Providers: []Provider{
			{ID: "nowhere"},
			{ID: "bed", NPM: "@ai-sdk/amazon-bedrock", URL: "https://h", From: "f:3"},
			{ID: "wrong", Disabled: true, URL: "https://h", From: "f:4"},
			{ID: "mine", URL: "http://localhost:1/v1"},
			{ID: "named", URL: "https://h/v1", Env: []string{"NAMED_KEY"}},
			{ID: "claude", URL: "https://h/v1", NPM: "@ai-sdk/anthropic"},
		},
	})
	for name, want := range map[string]string{
		"":             `no model is set: give --model provider/model, set HELVE_MODEL, or write "model": "provider/model" into /home/u/helve.json`,
		"gpt-5":        `"gpt-5" does not say who serves it: write it as provider/model, such as "anthropic/claude-sonnet-4-5"; those that can be used are openai, mine`,
		"openai/":      "does not say who serves it",
		"opnai/gpt-5":  `there is no provider called "opnai", but there is "openai"`,
		"qqq/x":        `there is no provider called "qqq": 'helve models' lists`,
		"anthropic/x":  "there is no key for anthropic: set ANTHROPIC_API_KEY, or provider.anthropic.options.apiKey in /home/u/helve.json",
		"google/x":     "set GEMINI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY, or provider",
		"named/x":      "set NAMED_KEY, or provider.named.options.apiKey",
		"claude/x":     "there is no key for claude: set provider.claude.options.apiKey",
		"xai/grok-4":   "xai is switched off by disabled_providers",
		"together/x":   "together is switched off",
		"togetherai/x": "together is switched off",
		"nowhere/x":    "set provider.nowhere.options.baseURL",
		"bed/x":        `by "@ai-sdk/amazon-bedrock", which helve does not know`,
		"wrong/x":      "wrong is not used because of a mistake in its settings, or because they say so (f:4)",
	} {
		_, _, _, err := c.Find(Parse(name))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v\nwant %s", name, err, want)
		}
	}
	if _, _, _, err := New(Options{Enabled: []string{}}).Find(Parse("ollama/x")); err == nil {
		t.Error("nobody is enabled, and ollama is")
	}
	if _, _, _, err := New(Options{Enabled: []string{"ollama"}}).Find(Parse("ollama/x")); err != nil {
		t.Error(err)
	}
}

func TestDefault(t *testing.T) {
	for _, c := range []struct {
		name, configured string
		opt              Options
		want, small      string
	}{
		{name: "nothing"},
		{name: "a key", opt: Options{Env: env("OPENAI_API_KEY", "k")}, want: "openai/gpt-5", small: "openai/gpt-5-nano"},
		{name: "two keys", opt: Options{Env: env("OPENAI_API_KEY", "k", "ANTHROPIC_API_KEY", "k")}, want: "anthropic/claude-sonnet-4-5", small: "anthropic/claude-haiku-4-5"},
		{name: "one of them off", opt: Options{Env: env("OPENAI_API_KEY", "k", "ANTHROPIC_API_KEY", "k"), Disabled: []string{"anthropic"}}, want: "openai/gpt-5", small: "openai/gpt-5-nano"},
		{name: "blank keys are none", opt: Options{Env: env("OPENAI_API_KEY", " \n")}},
		{name: "a token that is there for others", opt: Options{Env: env("GITHUB_TOKEN", "k")}},
		{name: "configured", configured: "ollama/x", opt: Options{Env: env("OPENAI_API_KEY", "k")}, want: "ollama/x"},
		{name: "the environment wins", configured: "ollama/x", opt: Options{Env: env("HELVE_MODEL", "groq/a/b")}, want: "groq/a/b"},
		{name: "behind another address nobody knows what is there", opt: Options{Env: env("OPENAI_API_KEY", "k"), Providers: []Provider{{ID: "openai", URL: "https://h/v1"}}}, want: "openai/gpt-5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cat := New(c.opt)
			got, err := cat.Default(c.configured)
			if got.String() != c.want || (err != nil) != (c.want == "") {
				t.Errorf("got %s, %v", got, err)
			}
			if err != nil && !strings.Contains(err.Error(), "no model is set") {
				t.Error(err)
			}
			if small := cat.Small("", got).String(); small != c.small {
				t.Errorf("small: %s, want %s", small, c.small)
			}
			if small := cat.Small("a/b", got).String(); small != "a/b" {
				t.Errorf("small where it is configured: %s", small)
			}
		})
	}
}

// A seen is a request as a server saw it.
type seen struct {
	path   string
	header http.Header
	body   map[string]any
}

// serve starts a server that notes what it is asked and refuses it, with the key in its words.
func serve(t *testing.T) (*httptest.Server, func() seen) {
	t.Helper()
	var mu sync.Mutex
	var last seen
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		last = seen{path: r.URL.Path, header: r.Header}
		_ = json.Unmarshal(data, &last.body)
		http.Error(w, `{"error":{"message":"no, `+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key")+`"}}`, http.StatusBadRequest)
	}))
	t.Cleanup(s.Close)
	return s, func() seen {
		mu.Lock()
		defer mu.Unlock()
		return last
	}
}

func ask(t *testing.T, p model.Provider, options map[string]any) error {
	t.Helper()
	req := model.Request{Model: "whatever", Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: "hi"}}}}, Options: options}
	for _, err := range p.Stream(t.Context(), req) {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestAsked(t *testing.T) {
	server, last := serve(t)
	opt := Options{
		HTTP: server.Client(), Env: env("ANTHROPIC_API_KEY", secret, "ANTHROPIC_BASE_URL", server.URL+"/", "OPENAI_BASE_URL", server.URL+"/o/v1"),
		Providers: []Provider{
			{ID: "openai", Key: secret},
			{ID: "mine", NPM: "@ai-sdk/openai-compatible", URL: server.URL + "/mine/v1", Headers: map[string]string{"X-Team": "a"}, Models: []Model{
				{ID: "fast", Serves: "org/fast-1", Options: map[string]any{"reasoningEffort": "low", "seed": 1}},
			}},
			{ID: "claude", NPM: "@ai-sdk/anthropic", URL: server.URL + "/c/v1", Headers: map[string]string{"authorization": "Bearer " + secret}},
			{ID: "ollama", URL: server.URL + "/v1"},
		},
	}
	c := New(opt)
	for _, tc := range []struct {
		model, path, header, value, name string
	}{
		{"anthropic/claude-sonnet-4-5", "/v1/messages", "X-Api-Key", secret, "claude-sonnet-4-5"},
		{"openai/gpt-5", "/o/v1/chat/completions", "Authorization", "Bearer " + secret, "gpt-5"},
		{"mine/fast", "/mine/v1/chat/completions", "X-Team", "a", "org/fast-1"},
		{"claude/x", "/c/v1/messages", "Authorization", "Bearer " + secret, "x"},
		{"ollama/a/b", "/v1/chat/completions", "Authorization", "", "a/b"},
	} {
		p, _, fit, err := c.Find(Parse(tc.model))
		if err != nil {
			t.Errorf("%s: %v", tc.model, err)
			continue
		}
		if err := ask(t, p, nil); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", tc.model, err)
		}
		got := last()
		if got.path != tc.path || got.header.Get(tc.header) != tc.value || got.body["model"] != tc.name {
			t.Errorf("%s: %s with %s %q for %v", tc.model, got.path, tc.header, got.header.Get(tc.header), got.body["model"])
		}
		if _, err := fit(json.RawMessage(`{"type":"object","properties":{}}`)); err != nil {
			t.Errorf("%s: %v", tc.model, err)
		}
		again, _, _, err := c.Find(Parse(tc.model))
		if err != nil || again.(*asked).client != p.(*asked).client {
			t.Errorf("%s: a second client was made, %v", tc.model, err)
		}
	}
	p, _, _, err := c.Find(Parse("mine/fast"))
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]any{"seed": 2, "textVerbosity": "low"}
	if err := ask(t, p, own); err == nil {
		t.Fatal("no error")
	}
	body := last().body
	if body["reasoning_effort"] != "low" || body["seed"] != 2.0 || body["verbosity"] != "low" || body["reasoningEffort"] != nil {
		t.Errorf("options: %v", body)
	}
	if len(own) != 2 {
		t.Errorf("the caller's options were changed: %v", own)
	}
}

func TestInfo(t *testing.T) {
	yes := true
	c := New(Options{Providers: []Provider{
		{ID: "mine", URL: "http://h/v1", Models: []Model{
			{ID: "claude-sonnet-4-5", Output: 5, Images: new(bool)},
			{ID: "x", Serves: "gpt-4o", Context: 7, Price: &model.Price{Input: 1}},
		}},
		{ID: "ollama", Models: []Model{{ID: "llava", Context: 4096, Images: &yes}}},
	}})
	sonnet := model.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}
	for _, tc := range []struct {
		model string
		want  model.Info
	}{
		{"anthropic/claude-sonnet-4-5", model.Info{Context: 200_000, Output: 64_000, Images: true, Price: sonnet}},
		{"anthropic/claude-sonnet-4-20250514", model.Info{Context: 200_000, Output: 64_000, Images: true, Price: sonnet}},
		{"anthropic/claude-3-5-sonnet-latest", model.Info{Context: 200_000, Output: 8_192, Images: true, Price: sonnet}},
		{"anthropic/claude-opus-4-9", model.Info{Context: 200_000, Images: true}},
		{"openrouter/anthropic/claude-sonnet-4.5", model.Info{Context: 200_000, Output: 64_000, Images: true, Price: sonnet}},
		{"openai/gpt-4.1-2025-04-14", model.Info{Context: 1_047_576, Output: 32_768, Images: true, Price: model.Price{Input: 2, Output: 8, CacheRead: 0.5}}},
		{"openai/gpt-4.1-preview", model.Info{}},
		{"openai/gpt-5.9-max", model.Info{Context: 400_000, Images: true}},
		{"openai/gpt-5-chat-latest", model.Info{}},
		{"groq/openai/gpt-oss-120b", model.Info{Context: 131_072}},
		{"ollama/gpt-oss-120b", model.Info{}},
		{"ollama/llava", model.Info{Context: 4096, Images: true}},
		{"mine/claude-sonnet-4-5", model.Info{Context: 200_000, Output: 5}},
		{"mine/x", model.Info{Context: 7, Output: 16_384, Images: true, Price: model.Price{Input: 1}}},
		{"mine/unheard-of", model.Info{}},
	} {
		ref := Parse(tc.model)
		s := c.find(ref.Provider)
		if diff := cmp.Diff(tc.want, s.info(s.model(ref.Model))); diff != "" {
			t.Errorf("%s: %s", tc.model, diff)
		}
	}
}

func TestList(t *testing.T) {
	c := New(Options{
		Env: env("ANTHROPIC_API_KEY", secret), Disabled: []string{"groq"},
		Providers: []Provider{
			{ID: "mine", URL: "https://h/v1", Key: secret, Headers: map[string]string{"x-key": secret}, Models: []Model{{ID: "a", Name: "A"}}},
			{ID: "wrong", Disabled: true}, {ID: "lmstudio"},
		},
	})
	list := c.List()
	raw, err := json.Marshal(list)
	if err != nil || strings.Contains(string(raw), secret) {
		t.Fatalf("%v: %s", err, raw)
	}
	for id, want := range map[string]State{"anthropic": Ready, "mine": Ready, "lmstudio": Ready, "wrong": Broken, "ollama": Local, "openai": NoKey, "groq": Off} {
		i := slices.IndexFunc(list, func(l Listing) bool { return l.ID == id })
		if i < 0 || list[i].State != want {
			t.Errorf("%s: %+v", id, list[i])
		}
	}
	if list[0].ID != "anthropic" || list[0].Key != "ANTHROPIC_API_KEY" || list[0].Models[0].Price == (model.Price{}) {
		t.Errorf("%+v", list[0])
	}
	if i := slices.IndexFunc(list, func(l Listing) bool { return l.Also == "togetherai" }); i < 0 || list[i].ID != "together" {
		t.Errorf("togetherai is listed at %d", i)
	}
	if m := list[2]; m.ID != "mine" || m.Key != "provider.mine.options.apiKey" || !cmp.Equal(m.Models, []Listed{{ID: "a", Name: "A", Configured: true}}) {
		t.Errorf("%+v", m)
	}
}

// slow says a word after each pause, until its context ends.
type slow struct{ pauses []time.Duration }

func (s slow) Stream(ctx context.Context, _ model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for _, pause := range s.pauses {
			select {
			case <-ctx.Done():
				yield(model.Event{}, context.Cause(ctx))
				return
			case <-time.After(pause):
			}
			if !yield(model.Event{Kind: model.TextDelta, Text: "word"}, nil) {
				return
			}
		}
	}
}

func TestTimeout(t *testing.T) {
	for _, tc := range []struct {
		pauses  []time.Duration
		timeout time.Duration
		words   int
		kind    model.ErrorKind
	}{
		{[]time.Duration{time.Minute, time.Minute}, time.Second, 0, model.Network},
		{[]time.Duration{time.Second, time.Minute, 1}, 10 * time.Second, 1, model.Network},
		{[]time.Duration{9 * time.Second, 9 * time.Second, 9 * time.Second}, 10 * time.Second, 3, ""},
		{[]time.Duration{time.Hour}, -1, 1, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			words, kind := 0, model.ErrorKind("")
			a := &asked{client: slow{tc.pauses}, timeout: tc.timeout}
			for e, err := range a.Stream(t.Context(), model.Request{}) {
				time.Sleep(time.Hour) // what the caller takes does not count
				if failed, ok := errors.AsType[*model.Error](err); ok {
					kind = failed.Kind
				}
				if e.Text != "" {
					words++
				}
			}
			if words != tc.words || kind != tc.kind {
				t.Errorf("%v: %d words, error %q", tc.pauses, words, kind)
			}
		})
	}
}
