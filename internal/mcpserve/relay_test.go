package mcpserve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/mcp/connect"
	"github.com/helve-dev/helve/permission"
)

// An outpost is a server of others that notes what reaches it.
type outpost struct {
	*sdk.Server
	name string
	url  string

	mu   sync.Mutex
	seen []string
}

func newOutpost(t *testing.T, name string) *outpost {
	t.Helper()
	o := &outpost{name: name}
	o.Server = sdk.NewServer(&sdk.Implementation{Name: name, Version: "1"}, &sdk.ServerOptions{
		SubscribeHandler: func(_ context.Context, r *sdk.SubscribeRequest) error {
			o.note("subscribe " + r.Params.URI)
			return nil
		},
		UnsubscribeHandler: func(_ context.Context, r *sdk.UnsubscribeRequest) error {
			o.note("unsubscribe " + r.Params.URI)
			return nil
		},
		CompletionHandler: func(_ context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
			value := fmt.Sprintf("%s/%s%s/%s", o.name, r.Params.Ref.Name, r.Params.Ref.URI, r.Params.Argument.Value)
			return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{value}, Total: 1}}, nil
		},
	})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return o.Server }, nil))
	t.Cleanup(web.Close)
	o.url = web.URL
	return o
}

func (o *outpost) note(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen = append(o.seen, what)
}

func (o *outpost) reached() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.seen)
}

// text adds a resource that says whose it is.
func (o *outpost) text(uri string) {
	o.AddResource(&sdk.Resource{
		URI: uri, Name: uri, Title: "T", MIMEType: "text/plain",
		Meta: sdk.Meta{"x": 1}, Annotations: &sdk.Annotations{Priority: 0.5},
	}, o.read)
}

func (o *outpost) read(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	o.note("read " + r.Params.URI)
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{
		{URI: r.Params.URI, MIMEType: "text/plain", Text: o.name + " has " + r.Params.URI},
		{URI: r.Params.URI + "#b", MIMEType: "application/zip", Blob: []byte{0, 1, 2}},
	}}, nil
}

func (o *outpost) prompt(name string) {
	o.AddPrompt(&sdk.Prompt{Name: name, Arguments: []*sdk.PromptArgument{{Name: "who", Title: "Who"}}}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		o.note("prompt " + name)
		return &sdk.GetPromptResult{Description: "d", Messages: []*sdk.PromptMessage{
			{Role: "user", Content: &sdk.TextContent{Text: o.name + " says " + name + " to " + r.Params.Arguments["who"]}},
			{Role: "assistant", Content: &sdk.ImageContent{Data: []byte{9}, MIMEType: "image/png"}},
		}}, nil
	})
}

// pair are two servers that have some of the same, with one between them that
// is not there.
func pair(t *testing.T, rules permission.Ruleset) (a, b *outpost, h *house) {
	t.Helper()
	a, b = newOutpost(t, "a"), newOutpost(t, "b")
	a.text("x://one")
	a.text("x://both")
	b.text("x://both")
	b.text("x://two")
	b.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "x://t/{id}/data", Name: "t"}, b.read)
	a.prompt("hello")
	b.prompt("hello")
	b.prompt("bye")
	h = build(t, rules, func(o *Options) { o.Relay = true }, func(o *helve.Options) {
		o.MCP = mcp.Options{Client: connect.Client(), Servers: []mcp.Server{
			{Name: "a", URL: a.url, NoOAuth: true}, {Name: "gone", URL: "http://127.0.0.1:1/", NoOAuth: true}, {Name: "b", URL: b.url, NoOAuth: true},
		}}
	})
	return a, b, h
}

// wireErr is an error of the protocol.
func wireErr(t *testing.T, err error) *jsonrpc.Error {
	t.Helper()
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	return e
}

func TestRelayLists(t *testing.T) {
	t.Parallel()
	_, _, h := pair(t, nil)
	cs := h.connect(t, nil)
	caps := cs.InitializeResult().Capabilities
	if caps.Resources == nil || !caps.Resources.Subscribe || !caps.Resources.ListChanged || caps.Prompts == nil || caps.Completions == nil {
		t.Errorf("the client is told %+v", caps)
	}
	var got []string
	res, err := cs.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range res.Resources {
		got = append(got, r.URI)
		if r.Title != "T" || r.Annotations == nil || r.Annotations.Priority != 0.5 || r.Meta != nil {
			t.Errorf("of %s is left: %+v", r.URI, r)
		}
	}
	templates, err := cs.ListResourceTemplates(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range templates.ResourceTemplates {
		got = append(got, r.URITemplate)
	}
	prompts, err := cs.ListPrompts(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range prompts.Prompts {
		got = append(got, p.Name)
		if len(p.Arguments) != 1 || p.Arguments[0].Title != "Who" {
			t.Errorf("of %s is left: %+v", p.Name, p)
		}
	}
	want := []string{"x://both", "x://one", "x://two", "x://t/{id}/data", "a:hello", "bye", "b:hello"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lists (-want +got):\n%s", diff)
	}
	if _, err := cs.ListPrompts(t.Context(), &sdk.ListPromptsParams{Cursor: "99"}); wireErr(t, err).Code != jsonrpc.CodeInvalidParams {
		t.Errorf("a page that is not there: %v", err)
	}
}

// Without other servers there is nothing, and nothing is said to be there.
func TestNothingToRelay(t *testing.T) {
	t.Parallel()
	cs := build(t, nil, nil, nil).connect(t, nil)
	if caps := cs.InitializeResult().Capabilities; caps.Resources != nil || caps.Prompts != nil || caps.Completions != nil {
		t.Errorf("the client is told %+v", caps)
	}
	if res, err := cs.ListResources(t.Context(), nil); err != nil || len(res.Resources) != 0 {
		t.Errorf("got %v, %v", res, err)
	}
	_, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "x://one"})
	contains(t, wireErr(t, err).Message, "x://one")
	_, err = cs.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "hello"})
	contains(t, wireErr(t, err).Message, "hello")
	if err := cs.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "x://one"}); err == nil {
		t.Error("nothing was subscribed to")
	}
}

func TestRelayReads(t *testing.T) {
	t.Parallel()
	a, b, h := pair(t, permission.Ruleset{{Permission: "read", Pattern: "mcp:b:x://two", Action: permission.Deny}})
	cs := h.connect(t, nil)
	for uri, owner := range map[string]string{"x://one": "a", "x://both": "a", "x://t/7/data": "b"} {
		res, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		want := []*sdk.ResourceContents{
			{URI: uri, MIMEType: "text/plain", Text: owner + " has " + uri}, {URI: uri + "#b", MIMEType: "application/zip", Blob: []byte{0, 1, 2}},
		}
		if diff := cmp.Diff(want, res.Contents); diff != "" {
			t.Errorf("%s (-want +got):\n%s", uri, diff)
		}
	}
	_, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "x://nobody"})
	if e := wireErr(t, err); e.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("what nobody has: %v", e)
	}
	_, err = cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "x://two"})
	contains(t, wireErr(t, err).Message, "mcp:b:x://two", "deny")
	if err := cs.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "x://two"}); err == nil {
		t.Error("what may not be read can be subscribed to")
	}
	for _, o := range []*outpost{a, b} {
		for _, what := range o.reached() {
			if strings.Contains(what, "nobody") || strings.Contains(what, "x://two") {
				t.Errorf("%s was reached by %s", o.name, what)
			}
		}
	}
	done := 0
	for e := range h.runtime(t).Events(t.Context(), 0) {
		if p, ok := e.Properties.(event.CallFinished); ok && p.Tool == "read_mcp_resource" {
			if done++; done == 4 { // each of them is a call, also the one that was denied
				break
			}
		}
	}
}

// What a server itself says about a resource comes through as it is.
func TestRelayHandsErrorsOn(t *testing.T) {
	t.Parallel()
	a := newOutpost(t, "a")
	a.text("x://one")
	a.AddResource(&sdk.Resource{URI: "x://broken", Name: "broken"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return nil, &jsonrpc.Error{Code: -32099, Message: "the shelf is empty"}
	})
	h := build(t, nil, nil, func(o *helve.Options) {
		o.MCP = mcp.Options{Client: connect.Client(), Servers: []mcp.Server{{Name: "a", URL: a.url, NoOAuth: true}}}
	})
	cs := h.connect(t, nil)
	_, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "x://broken"})
	e := wireErr(t, err)
	contains(t, e.Message, "the shelf is empty")
	if e.Code != -32099 {
		t.Errorf("the code is %d", e.Code)
	}
	_, err = cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "x://unlisted"}) // the one there is decides
	if e := wireErr(t, err); e.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("what is not there: %v", e)
	}
}

func TestRelayAsks(t *testing.T) {
	t.Parallel()
	rules := permission.Ruleset{ask("read", "mcp:*")}
	_, b, h := pair(t, rules)
	asked := make(chan string, 10)
	answer := "once"
	cs := h.connect(t, &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		asked <- r.Params.Message
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": answer}}, nil
	}})
	if _, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "x://two"}); err != nil {
		t.Fatal(err)
	}
	contains(t, <-asked, "mcp:b:x://two")
	if _, err := cs.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "bye"}); err != nil {
		t.Fatal(err)
	}
	contains(t, <-asked, "mcp:b:prompt:bye")
	before := len(b.reached())
	answer = "reject"
	_, err := cs.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "bye"})
	if wireErr(t, err).Code != jsonrpc.CodeInvalidRequest || len(b.reached()) != before {
		t.Errorf("after a no: %v", err)
	}
	alone := h.connect(t, nil) // nobody can be asked there
	_, err = alone.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "x://two"})
	contains(t, wireErr(t, err).Message, "mcp:b:x://two")
}

func TestRelayPrompts(t *testing.T) {
	t.Parallel()
	rules := permission.Ruleset{{Permission: "read", Pattern: "mcp:a:prompt:*", Action: permission.Deny}}
	a, _, h := pair(t, rules)
	cs := h.connect(t, nil)
	for _, name := range []string{"b:hello", "bye", "b:bye"} {
		res, err := cs.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: map[string]string{"who": "you"}})
		if err != nil || len(res.Messages) != 2 || res.Description != "d" {
			t.Errorf("%s: %+v, %v", name, res, err)
			continue
		}
		want := "b says " + strings.TrimPrefix(name, "b:") + " to you"
		if text, ok := res.Messages[0].Content.(*sdk.TextContent); !ok || text.Text != want {
			t.Errorf("%s: %+v", name, res.Messages[0].Content)
		}
		if image, ok := res.Messages[1].Content.(*sdk.ImageContent); !ok || res.Messages[1].Role != "assistant" || len(image.Data) != 1 {
			t.Errorf("%s: %+v", name, res.Messages[1])
		}
	}
	_, err := cs.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "hello"})
	contains(t, wireErr(t, err).Message, "a:hello or b:hello")
	_, err = cs.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "a:hello"})
	contains(t, wireErr(t, err).Message, "mcp:a:prompt:*", "deny")
	if _, err := cs.Complete(t.Context(), completion(&sdk.CompleteReference{Type: "ref/prompt", Name: "a:hello"})); err == nil {
		t.Error("what is denied can be completed")
	}
	if seen := a.reached(); len(seen) > 0 {
		t.Errorf("the server that is denied was reached: %v", seen)
	}
	for _, tool := range listed(t, cs) {
		if strings.Contains(tool, "prompt") {
			t.Errorf("a model is shown %s", tool)
		}
	}
	if got := call(t, cs, "get_mcp_prompt", map[string]any{"server": "b", "name": "bye"}); !strings.HasPrefix(got, "ERROR") {
		t.Errorf("a model can call it: %s", got)
	}
}

func listed(t *testing.T, cs *sdk.ClientSession) (names []string) {
	t.Helper()
	res, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range res.Tools {
		names = append(names, tl.Name)
	}
	return names
}

func completion(ref *sdk.CompleteReference) *sdk.CompleteParams {
	return &sdk.CompleteParams{Ref: ref, Argument: sdk.CompleteParamsArgument{Name: "who", Value: "y"}}
}

func TestRelayCompletes(t *testing.T) {
	t.Parallel()
	_, _, h := pair(t, nil)
	cs := h.connect(t, nil)
	for want, ref := range map[string]*sdk.CompleteReference{
		"a/hello/y":           {Type: "ref/prompt", Name: "a:hello"},
		"b/bye/y":             {Type: "ref/prompt", Name: "bye"},
		"b/x://t/{id}/data/y": {Type: "ref/resource", URI: "x://t/{id}/data"},
	} {
		res, err := cs.Complete(t.Context(), completion(ref))
		if err != nil || len(res.Completion.Values) != 1 || res.Completion.Values[0] != want || res.Completion.Total != 1 {
			t.Errorf("%s: %+v, %v", want, res, err)
		}
	}
	for _, p := range []*sdk.CompleteParams{completion(&sdk.CompleteReference{Type: "ref/prompt", Name: "none"}), {Argument: sdk.CompleteParamsArgument{Name: "x"}}} {
		if _, err := cs.Complete(t.Context(), p); wireErr(t, err).Code != jsonrpc.CodeInvalidParams {
			t.Errorf("got %v", err)
		}
	}
}

// arrivals are the notices that a client gets.
type arrivals struct {
	updated            chan string
	resources, prompts chan bool
}

func newArrivals() (*arrivals, *sdk.ClientOptions) {
	a := &arrivals{make(chan string, 100), make(chan bool, 100), make(chan bool, 100)}
	return a, &sdk.ClientOptions{
		ResourceUpdatedHandler:     func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { a.updated <- r.Params.URI },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { a.resources <- true },
		PromptListChangedHandler:   func(context.Context, *sdk.PromptListChangedRequest) { a.prompts <- true },
	}
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

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come to that: " + what)
		}
	}
}

func TestRelaySubscriptions(t *testing.T) {
	t.Parallel()
	a, b, h := pair(t, nil)
	one, options := newArrivals()
	cs := h.connect(t, options)
	other, options := newArrivals()
	second := h.connect(t, options)
	for _, sub := range []struct {
		cs  *sdk.ClientSession
		uri string
	}{{cs, "x://two"}, {cs, "x://two"}, {second, "x://two"}, {second, "x://one"}} {
		if err := sub.cs.Subscribe(t.Context(), &sdk.SubscribeParams{URI: sub.uri}); err != nil {
			t.Fatal(err)
		}
	}
	tell := func(o *outpost, uri string) {
		t.Helper()
		if err := o.ResourceUpdated(t.Context(), &sdk.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
	tell(b, "x://two")
	if x, y := next(t, one.updated), next(t, other.updated); x != "x://two" || y != x {
		t.Errorf("told of %s and %s", x, y)
	}
	tell(a, "x://one")
	if got := next(t, other.updated); got != "x://one" {
		t.Errorf("told of %s", got)
	}
	if err := cs.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: "x://two"}); err != nil {
		t.Fatal(err)
	}
	tell(b, "x://two")
	next(t, other.updated)
	if len(one.updated) > 0 {
		t.Errorf("a client was told of %s", <-one.updated)
	}
	if slices.Contains(b.reached(), "unsubscribe x://two") {
		t.Error("the server was told although another client still wants to hear")
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the servers are told that nobody wants to hear", func() bool {
		return slices.Contains(b.reached(), "unsubscribe x://two") && slices.Contains(a.reached(), "unsubscribe x://one")
	})
}

func TestRelayTellsOfLists(t *testing.T) {
	t.Parallel()
	a, _, h := pair(t, nil)
	got, options := newArrivals()
	cs := h.connect(t, options)
	if _, err := cs.ListPrompts(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	names := func() (names []string) {
		t.Helper()
		res, err := cs.ListPrompts(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range res.Prompts {
			names = append(names, p.Name)
		}
		return names
	}
	a.prompt("new")
	next(t, got.prompts)
	if all := names(); !slices.Contains(all, "new") {
		t.Errorf("the list is %v", all)
	}
	if res, err := cs.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "new"}); err != nil || len(res.Messages) != 2 {
		t.Errorf("got %v, %v", res, err)
	}
	if err := h.runtime(t).MCP().Disconnect("b"); err != nil {
		t.Fatal(err)
	}
	next(t, got.prompts)
	if diff := cmp.Diff([]string{"hello", "new"}, names()); diff != "" {
		t.Error(diff)
	}
	if err := h.runtime(t).MCP().Connect(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	next(t, got.prompts)
	if all := names(); !slices.Contains(all, "bye") {
		t.Errorf("the list is %v", all)
	}
	a.text("x://new") // it has not asked for these
	a.prompt("newer")
	next(t, got.prompts)
	if len(got.resources) > 0 {
		t.Error("a client was told of a list that it does not know")
	}
	if _, err := cs.ListResources(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	a.text("x://newer")
	next(t, got.resources)
}
