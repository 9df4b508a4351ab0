package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/auth"
	"github.com/helve-dev/helve/internal/mcpserve"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/mcp/connect"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A fixture is a tool that the conformance suite expects a server to have. Its
// name and what it does are the suite's; that it is a tool of a runtime behind
// helve's own door is the point.
type fixture struct {
	name   string
	about  string
	schema string // JSON; takes nothing when empty
	run    func(ctx context.Context, c *tool.Call) (*tool.Result, error)
}

func fixtures() []fixture {
	return []fixture{
		{name: "test_simple_text", about: "Returns a text.", run: says("This is a simple text response for testing.")},
		{name: "test_image_content", about: "Returns an image.", run: says("", attach("image/png", pixel))},
		{name: "test_audio_content", about: "Returns a sound.", run: says("", attach("audio/wav", silence))},
		{name: "test_embedded_resource", about: "Returns a file.", run: says("", plainText("This is an embedded resource content."))},
		{
			name: "test_multiple_content_types", about: "Returns a text, an image and a file.",
			run: says("Multiple content types test:", attach("image/png", pixel), plainText(`{"test":"data","value":123}`)),
		},
		{name: "test_tool_with_logging", about: "Says what it does while it does it.", run: reports("Tool execution started", "Tool processing data", "Tool execution completed")},
		{name: "test_tool_with_progress", about: "Reports its progress.", run: reports("0 of 100", "50 of 100", "100 of 100")},
		{
			name: "test_error_handling", about: "Fails.",
			run: func(context.Context, *tool.Call) (*tool.Result, error) {
				return nil, tool.Failf("This tool intentionally returns an error for testing.")
			},
		},
		{name: "test_elicitation", about: "Asks the person.", schema: `{"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}`, run: asks},
		{name: "test_reconnection", about: "Answers on a stream.", run: says("Reconnection test completed.")},
		{
			name: "json_schema_2020_12_tool", about: "Has a schema with definitions.",
			schema: `{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
				"$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
				"properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}}, "additionalProperties": false}`,
			run: says("The schema was met."),
		},
	}
}

func attach(mime, data string) tool.Attachment {
	return tool.Attachment{Type: "file", Mime: mime, URL: "data:" + mime + ";base64," + data}
}

func plainText(text string) tool.Attachment {
	a := attach("text/plain", base64.StdEncoding.EncodeToString([]byte(text)))
	a.Filename = "note.txt"
	return a
}

func says(text string, files ...tool.Attachment) func(context.Context, *tool.Call) (*tool.Result, error) {
	return func(context.Context, *tool.Call) (*tool.Result, error) {
		return &tool.Result{Title: "fixture", Output: text, Attachments: files}, nil
	}
}

// reports tells what it does, at a pace at which each report is sent on.
func reports(all ...string) func(context.Context, *tool.Call) (*tool.Result, error) {
	return func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
		said := ""
		for _, r := range all {
			said += r + "\n"
			c.Progress(r, map[string]any{"output": said})
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(150 * time.Millisecond):
			}
		}
		return &tool.Result{Title: "fixture", Output: said}, nil
	}
}

// asks needs a permission that the rules leave to the person.
func asks(ctx context.Context, c *tool.Call) (*tool.Result, error) {
	var in struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return nil, err
	}
	if err := c.Ask(ctx, permission.Request{Permission: "test_elicitation", Patterns: []string{in.Message}, Always: []string{"*"}}); err != nil {
		return nil, err
	}
	return &tool.Result{Title: "fixture", Output: "User response: accept"}, nil
}

// openFixtures makes a runtime with all fixtures in it, and the server that has
// the suite's resources and prompts connected to it.
func openFixtures(w mcpserve.Workspace, upstream string) (*helve.Runtime, error) {
	rules := permission.Ruleset{{Permission: "test_elicitation", Pattern: "*", Action: permission.Ask}}
	rt, err := helve.Open(helve.Options{
		Dir: w.Dir, Unattended: !w.Attended, Rules: rules,
		MCP: mcp.Options{Client: connect.Client(), Servers: []mcp.Server{{Name: "upstream", URL: upstream, NoOAuth: true}}},
	})
	if err != nil {
		return nil, err
	}
	for _, f := range fixtures() {
		spec := tool.Spec{Name: f.name, Description: f.about, ReadOnly: true, Schema: &jsonschema.Schema{}}
		text := f.schema
		if text == "" {
			text = `{"type": "object", "properties": {}}`
		}
		if err := json.Unmarshal([]byte(text), spec.Schema); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", f.name, err), rt.Close())
		}
		t, err := tool.Dynamic(spec, f.run)
		if err == nil {
			_, err = rt.Register(t)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", f.name, err), rt.Close())
		}
	}
	return rt, nil
}

// fixtureToken is what the gate of the fixtures asks for. It guards nothing: the
// suite cannot send one, so each request is given it on the way in, and what
// is left of the gate to be tested are the names it answers to.
const fixtureToken = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// serveFixtures serves the fixtures over HTTP until stop is called.
func serveFixtures(dir string) (url string, stop func() error, err error) {
	upstream := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return upstream() }, nil))
	s := mcpserve.New(mcpserve.Options{
		Open: func(_ context.Context, w mcpserve.Workspace) (*helve.Runtime, error) {
			return openFixtures(w, upstream.URL)
		},
		Dir: dir, Relay: true,
	})
	srv := httptest.NewUnstartedServer(nil)
	stop = func() error {
		srv.CloseClientConnections()
		srv.Close()
		err := s.Close()
		upstream.CloseClientConnections()
		upstream.Close()
		return err
	}
	g, err := auth.NewGuard(auth.GuardOptions{Token: fixtureToken, Hosts: []string{srv.Listener.Addr().String()}})
	if err != nil {
		return "", nil, errors.Join(err, stop())
	}
	guarded := g.Wrap(s.Handler())
	srv.Config = g.Server(s.Handler())
	srv.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+fixtureToken)
		guarded.ServeHTTP(w, r)
	})
	srv.Start()
	return srv.URL + "/mcp", stop, nil
}
