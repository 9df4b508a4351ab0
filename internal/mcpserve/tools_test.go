package mcpserve

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/mcp/connect"
)

func anything(testing.TB) *jsonschema.Schema { return &jsonschema.Schema{Type: "object"} }

func TestListAndCall(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	h.write(t, "a.txt", "one\ntwo\n")
	cs := h.connect(t, nil)
	res, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, tl := range res.Tools {
		names[tl.Name] = true
		// Both can do anything: job types into what runs, and ends it.
		if (tl.Name == "bash" || tl.Name == "job") && (tl.Annotations.ReadOnlyHint || !*tl.Annotations.DestructiveHint) {
			t.Errorf("%s is said to do no harm: %+v", tl.Name, tl.Annotations)
		}
	}
	for _, want := range []string{"read", "write", "edit", "bash", "job", "grep", "glob"} {
		if !names[want] {
			t.Errorf("%s is not listed", want)
		}
	}
	contains(t, call(t, cs, "read", map[string]any{"filePath": filepath.Join(h.dir, "a.txt")}), "one", "two")
	contains(t, call(t, cs, "bash", map[string]any{"command": "echo hello", "description": "says hello"}), "hello")
}

// A server that does not answer holds no list up, and its tools are told of
// when they are there.
func TestListWithSlowServer(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	late := sdk.NewServer(&sdk.Implementation{Name: "late", Version: "1"}, nil)
	late.AddTool(&sdk.Tool{Name: "do", InputSchema: map[string]any{"type": "object"}}, nil)
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return late }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
			inner.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(web.Close)
	h := build(t, nil, nil, func(o *helve.Options) {
		o.Patience = time.Nanosecond
		o.MCP = mcp.Options{Client: connect.Client(), Servers: []mcp.Server{{Name: "late", URL: web.URL, NoOAuth: true, Timeout: time.Hour}}}
	})
	changed := make(chan struct{}, 1)
	cs := h.connect(t, &sdk.ClientOptions{ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} }})
	list := func() string {
		res, err := cs.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return asJSON(t, res.Tools)
	}
	if got := list(); !strings.Contains(got, `"read"`) || strings.Contains(got, "late_do") {
		t.Errorf("listed: %s", got)
	}
	close(release)
	<-changed
	contains(t, list(), "late_do")
}
