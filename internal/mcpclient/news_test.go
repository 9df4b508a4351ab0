package mcpclient

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helve-dev/helve/mcp"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A gazette is a server that tells of changes, and notes who wants to hear.
type gazette struct {
	*sdk.Server
	mu   sync.Mutex
	said []string
}

func newGazette() *gazette {
	g := &gazette{}
	note := func(what, uri string) error {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.said = append(g.said, what+" "+uri)
		return nil
	}
	g.Server = sdk.NewServer(&sdk.Implementation{Name: "gazette", Version: "1"}, &sdk.ServerOptions{
		SubscribeHandler:   func(_ context.Context, r *sdk.SubscribeRequest) error { return note("+", r.Params.URI) },
		UnsubscribeHandler: func(_ context.Context, r *sdk.UnsubscribeRequest) error { return note("-", r.Params.URI) },
		CompletionHandler: func(_ context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
			values := slices.Repeat([]string{r.Params.Argument.Value + "!"}, 150)
			return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: values, Total: 150}}, nil
		},
	})
	g.AddResource(&sdk.Resource{URI: "n://a", Name: "a"}, nothing)
	g.AddPrompt(&sdk.Prompt{Name: "p"}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Description: "d", Messages: []*sdk.PromptMessage{
			{Role: "user", Content: &sdk.TextContent{Text: "hello " + r.Params.Arguments["who"]}},
			{Role: "assistant", Content: &sdk.ImageContent{Data: []byte{1}, MIMEType: "image/png"}},
		}}, nil
	})
	return g
}

func nothing(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	return &sdk.ReadResourceResult{}, nil
}

func (g *gazette) heard() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.said)
}

// tell says that a resource has changed, to who has subscribed to another: a
// part of it may be what has changed.
func (g *gazette) tell(t *testing.T, uri string) {
	t.Helper()
	if err := g.ResourceUpdated(t.Context(), &sdk.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
}

func (g *gazette) pool(t *testing.T) (*bench, chan mcp.ResourceUpdate, chan [2]bool) {
	t.Helper()
	web := newSite(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return g.Server }, nil))
	updates, relisted := make(chan mcp.ResourceUpdate, 100), make(chan [2]bool, 100)
	b := newBench(t, mcp.Options{Servers: []mcp.Server{{Name: "g", URL: web.URL, NoOAuth: true}}}, mcp.Host{
		Updated:  func(u mcp.ResourceUpdate) { updates <- u },
		Relisted: func(_ string, resources, prompts bool) { relisted <- [2]bool{resources, prompts} },
	})
	return b, updates, relisted
}

func next[T any](t *testing.T, ch <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came")
	}
	return v
}

func TestSubscriptions(t *testing.T) {
	g := newGazette()
	b, updates, _ := g.pool(t)
	for range 2 {
		if err := b.pool.Subscribe(t.Context(), "g", "n://a"); err != nil {
			t.Fatal(err)
		}
	}
	g.tell(t, "n://a")
	if diff := cmp.Diff(mcp.ResourceUpdate{Server: "g", URI: "n://a", Part: "n://a"}, next(t, updates)); diff != "" {
		t.Error(diff)
	}
	b.pool.Unsubscribe("g", "n://a") // one of two
	if err := b.pool.Disconnect("g"); err != nil {
		t.Fatal(err)
	}
	if err := b.pool.Connect(t.Context(), "g"); err != nil {
		t.Fatal(err)
	}
	next(t, updates) // what happened meanwhile is not known
	g.tell(t, "n://a")
	next(t, updates)
	b.pool.Unsubscribe("g", "n://a")
	b.until("the server is told", func() bool { return slices.Contains(g.heard(), "- n://a") })
	if err := b.pool.Subscribe(t.Context(), "g", strings.Repeat("x", maxURI+1)); err == nil {
		t.Error("a URI without end was taken")
	}
	if err := b.pool.Subscribe(t.Context(), "nobody", "n://a"); err == nil {
		t.Error("a server that is not there was subscribed to")
	}
}

func TestListsChange(t *testing.T) {
	g := newGazette()
	b, _, relisted := g.pool(t)
	b.gather()
	g.AddPrompt(&sdk.Prompt{Name: "q"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) { return nil, nil })
	if got := next(t, relisted); got != [2]bool{false, true} {
		t.Errorf("got %v", got)
	}
	g.AddResource(&sdk.Resource{URI: "n://b", Name: "b"}, nothing)
	if got := next(t, relisted); got != [2]bool{true, false} {
		t.Errorf("got %v", got)
	}
}

func TestPromptsAndCompletion(t *testing.T) {
	g := newGazette()
	b, _, _ := g.pool(t)
	made, err := b.pool.GetPrompt(t.Context(), mcp.PromptCall{Server: "g", Name: "p", Arguments: map[string]string{"who": "you"}})
	if err != nil || len(made.Messages) != 2 || !strings.Contains(string(made.Messages[0]), "hello you") || made.Description != "d" {
		t.Errorf("got %s, %v", made, err)
	}
	if _, err := b.pool.GetPrompt(t.Context(), mcp.PromptCall{Server: "g", Name: "none"}); err == nil || !strings.Contains(err.Error(), `"g"`) {
		t.Errorf("a prompt that is not there: %v", err)
	}
	done, err := b.pool.Complete(t.Context(), mcp.Completion{Server: "g", Prompt: "p", Argument: "who", Value: "yo"})
	if err != nil || len(done.Values) != maxCompletions || !done.More || done.Values[0] != "yo!" || done.Total != 150 {
		t.Errorf("got %+v, %v", done, err)
	}
}

// What is not subscribed to interests nobody, and parts belong to their whole.
func TestNews(t *testing.T) {
	p := New(mcp.Options{Servers: []mcp.Server{{Name: "s"}}}, mcp.Host{})
	n := p.peers[0].news
	for _, uri := range []string{"f:///d", "f:///d/e", "g://x/"} {
		if _, err := n.addUsers(uri, +1); err != nil {
			t.Fatal(err)
		}
	}
	n.running = true // so that nobody takes them
	for _, uri := range []string{"f:///d", "f:///d", "f:///dd", "f:///d/e/f", "g://x/y", "g://x", "", "f:///d#1", strings.Repeat("f:///d/", 2000)} {
		n.updated(uri)
	}
	want := []mcp.ResourceUpdate{{Server: "s", URI: "f:///d", Part: "f:///d"}, {Server: "s", URI: "f:///d", Part: "f:///d/e/f"}, {Server: "s", URI: "f:///d/e", Part: "f:///d/e/f"}, {Server: "s", URI: "g://x/", Part: "g://x/y"}, {Server: "s", URI: "f:///d", Part: "f:///d#1"}}
	if diff := cmp.Diff(want, n.updates); diff != "" {
		t.Error(diff)
	}
	l := &connection{e: p.peers[0]} // a local server says it this way
	l.noted("notifications/resources/updated", []byte(`{"uri":"g://x/z"}`))
	l.noted("notifications/resources/list_changed", nil)
	if last := n.updates[len(n.updates)-1]; last.Part != "g://x/z" || !n.resources || n.prompts {
		t.Errorf("noted %+v, %v, %v", last, n.resources, n.prompts)
	}
	for i := range 3 * maxNews {
		n.updated("f:///d/" + strings.Repeat("x", i))
	}
	if len(n.updates) > maxNews+3 {
		t.Errorf("%d updates are kept", len(n.updates))
	}
	for i := range maxSubscriptions {
		if _, err := n.addUsers(strings.Repeat("y", i+1), +1); err != nil && i < maxSubscriptions-3 {
			t.Fatal(err)
		}
	}
	if _, err := n.addUsers("one more", +1); err == nil {
		t.Error("there is no limit")
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}
