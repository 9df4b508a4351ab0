package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
	"github.com/helve-dev/helve/tooltest"
)

type zooFeedInput struct {
	Animal string `json:"animal" jsonschema:"which animal"`
	Food   string `json:"food" jsonschema:"what it gets"`
}

// keepers puts a few tools from outside beside the built-in ones.
func keepers(e *tooltest.Env) error {
	e.Tools = append(e.Tools,
		tool.New(tool.Spec{Name: "zoo_feed", Description: "Gives an animal something to eat.", External: true},
			func(ctx context.Context, c *tool.Call, in zooFeedInput) (*tool.Result, error) {
				err := c.Ask(ctx, permission.Request{Permission: "zoo_feed", Patterns: []string{in.Animal}, Always: []string{"*"}})
				if err != nil {
					return nil, err
				}
				return &tool.Result{Title: in.Animal, Output: in.Animal + " eats " + in.Food}, nil
			}),
		tool.New(tool.Spec{Name: "zoo_list", Description: "Lists every beast of the zoo.", External: true, ReadOnly: true},
			func(context.Context, *tool.Call, struct{}) (*tool.Result, error) {
				return &tool.Result{
					Title: "the animals", Output: "lion", Metadata: map[string]any{"count": 1},
					Attachments: []tool.Attachment{{Mime: "image/png", URL: "data:image/png;base64,iVBORw0KGgo="}},
				}, nil
			}),
		tool.New(tool.Spec{Name: "zoo_lose", Description: "Opens a cage.", External: true, ReadOnly: true},
			func(context.Context, *tool.Call, struct{}) (*tool.Result, error) {
				return nil, tool.Fail("lost", "It ran away.")
			}))
	return nil
}

// compactRuntime has foreign tools that are not listed.
func compactRuntime(t *testing.T, foreign ...tool.Tool) *helve.Runtime {
	t.Helper()
	rt, err := helve.Open(helve.Options{Dir: t.TempDir(), Flags: map[string]bool{"compact": true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, f := range foreign {
		if _, err := rt.Register(f); err != nil {
			t.Fatal(err)
		}
	}
	return rt
}

// outsider is a tool from outside that says its name.
func outsider(t *testing.T, name, description, schema string) tool.Tool {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		t.Fatal(err)
	}
	f, err := tool.Dynamic(tool.Spec{Name: name, Description: description, Schema: &s, External: true},
		func(context.Context, *tool.Call) (*tool.Result, error) {
			return &tool.Result{Title: name, Output: name, Data: tool.Structured(`{"name":"` + name + `"}`)}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestToolSearchIsBounded shows no more than it may, however long what it
// finds is, and says what it left out.
func TestToolSearchIsBounded(t *testing.T) {
	wide := func(n int, about string) string {
		props := make([]string, n)
		for i := range props {
			props[i] = fmt.Sprintf(`"field%d":{"type":"string","description":%q}`, i, about)
		}
		return `{"type":"object","properties":{` + strings.Join(props, ",") + `},"required":["field1"]}`
	}
	long := strings.Repeat("This text goes on and on. ", 200)
	for _, tt := range []struct {
		what, schema, description string
		want, wantNot             []string
	}{
		{"short", wide(1, "short"), "Walks a dog.", []string{`"description":"short"`, "dogs_walk0", "dogs_walk11"}, []string{"no room"}},
		{"some", wide(12, "a text of some words"), long, []string{"… (cut: 5200 bytes in all)", "There was no room for more", "a text of some words"}, []string{"left out"}},
		{"long texts", wide(20, long), "Walks a dog.", []string{"(its texts are left out, they are too long)", `"field19":{"type":"string"}`}, []string{"goes on"}},
		{"many fields", wide(900, "short"), long, []string{"(its schema is too long to show) required: field1 string; optional: field0 string", "(899 in all)"}, nil},
	} {
		t.Run(tt.what, func(t *testing.T) {
			var foreign []tool.Tool
			for i := range 20 {
				foreign = append(foreign, outsider(t, fmt.Sprintf("dogs_walk%d", i), tt.description, tt.schema))
			}
			rt := compactRuntime(t, foreign...)
			res, err := rt.Call(t.Context(), tool.Call{Tool: "tool_search", Input: json.RawMessage(`{"query":"walk dogs","limit":20}`)})
			if err != nil {
				t.Fatal(err)
			}
			if n := text.Tokens(res.Output); n > 3000 {
				t.Errorf("the answer costs %d tokens", n)
			}
			for _, w := range tt.want {
				if !strings.Contains(res.Output, w) {
					t.Errorf("the answer lacks %q:\n%.3000s", w, res.Output)
				}
			}
			for _, w := range tt.wantNot {
				if strings.Contains(res.Output, w) {
					t.Errorf("the answer has %q:\n%.3000s", w, res.Output)
				}
			}
			if got, _ := res.Metadata["tools"].([]string); len(got) != 20 {
				t.Errorf("found %v", got)
			}
		})
	}
}

// TestToolSearchFollows: what comes and goes is found and gone.
func TestToolSearchFollows(t *testing.T) {
	rt := compactRuntime(t)
	find := func() string {
		t.Helper()
		res, err := rt.Call(t.Context(), tool.Call{Tool: "tool_search", Input: json.RawMessage(`{"query":"walk dogs"}`)})
		if err != nil {
			t.Fatal(err)
		}
		return res.Output
	}
	if got := find(); !strings.HasPrefix(got, "There are no tools to search") {
		t.Errorf("before: %s", got)
	}
	remove, err := rt.Register(outsider(t, "dogs_walk", "Walks a dog.", `{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := find(); !strings.Contains(got, "## dogs_walk\nWalks a dog.\n{\"properties\":{},\"type\":\"object\"}") {
		t.Errorf("after: %s", got)
	}
	if _, err := rt.Register(outsider(t, "dogs_walk", "Walks two\u202e dogs.", `{"type":"object"}`)); err != nil {
		t.Fatal(err)
	}
	if got := find(); !strings.Contains(got, `Walks two\u{202e} dogs.`) {
		t.Errorf("changed: %s", got)
	}
	remove()
}

// TestToolSearchNamesPrograms: the description says whose tools there are.
func TestToolSearchNamesPrograms(t *testing.T) {
	rt := compactRuntime(t)
	shown := func() string {
		t.Helper()
		for _, s := range rt.Tools(tool.Audience{}) {
			if s.Name == "tool_search" {
				return s.Description
			}
		}
		t.Fatal("it is not shown")
		return ""
	}
	if got := shown(); strings.Contains(got, "There are tools of") {
		t.Errorf("of nothing: %s", got)
	}
	for i := range 40 {
		for _, name := range []string{"walk", "feed"} {
			if _, err := rt.Register(outsider(t, fmt.Sprintf("dogs%02d_%s", i, name), "d", `{"type":"object"}`)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := shown(); !strings.Contains(got, "\n\nThere are tools of: dogs00 (2), dogs01 (2), ") || !strings.HasSuffix(got, "dogs29 (2), and 10 more.\n") {
		t.Errorf("got %s", got)
	}
}

// TestToolCallIsACall: the call that is made can be followed, and its result
// comes back whole.
func TestToolCallIsACall(t *testing.T) {
	rt := compactRuntime(t, outsider(t, "dogs_walk", "Walks a dog.", `{"type":"object"}`))
	res, err := rt.Call(t.Context(), tool.Call{ID: "outer", Tool: "tool_call", Input: json.RawMessage(`{"tool":"dogs_walk"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if data, ok := res.Data.(tool.Structured); !ok || string(data) != `{"name":"dogs_walk"}` || res.Output != "dogs_walk" || res.Title != "dogs_walk" {
		t.Errorf("got %+v", res)
	}
	seen := false
	for e := range rt.Events(t.Context(), 0) {
		if s, ok := e.Properties.(event.CallStarted); ok && s.Call.Parent == "outer" {
			seen = s.Call.ID == "outer.1" && s.Call.Tool == "dogs_walk" && string(s.Call.Input) == "{}"
		}
		if f, ok := e.Properties.(event.CallFinished); ok && f.ID == "outer" {
			break
		}
	}
	if !seen {
		t.Error("no call names the outer one as its parent")
	}
}

// TestToolCallArguments: a slip in the name of the arguments does not lose them.
func TestToolCallArguments(t *testing.T) {
	rt := compactRuntime(t, outsider(t, "dogs_walk", "Walks a dog.", `{"type":"object"}`))
	for name, want := range map[string]string{
		`"arguments":{"a":1}`: `{"a":1}`, `"args":{"a":2}`: `{"a":2}`, `"input":{"a":3}`: `{"a":3}`, `"arguments":{"a":1},"args":{}`: "",
	} {
		res, err := rt.Call(t.Context(), tool.Call{ID: name, Tool: "tool_call", Input: json.RawMessage(`{"tool":"dogs_walk",` + name + `}`)})
		if want == "" {
			if err == nil {
				t.Errorf("%s: got %+v", name, res)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for e := range rt.Events(t.Context(), 0) {
			if s, ok := e.Properties.(event.CallStarted); ok && s.Call.Parent == name {
				if string(s.Call.Input) != want {
					t.Errorf("%s: the call was made with %s", name, s.Call.Input)
				}
				break
			}
		}
	}
}

// TestLoaderNamesAreReserved: a tool from outside can not stand in for the
// tools that find and call it.
func TestLoaderNamesAreReserved(t *testing.T) {
	rt := compactRuntime(t)
	for _, name := range []string{"tool_search", "tool_call"} {
		if _, err := rt.Register(outsider(t, name, "d", `{"type":"object"}`)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
