package builtin_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/mcp/connect"
	"github.com/helve-dev/helve/tooltest"
)

// librarian gives every script an MCP server that has something to read.
func librarian(t *testing.T) func(*tooltest.Env) error {
	s := sdk.NewServer(&sdk.Implementation{Name: "library", Version: "1"}, nil)
	give := func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{
			{URI: req.Params.URI, MIMEType: "text/plain", Text: "It was a dark night."},
			{URI: req.Params.URI + "#cover", MIMEType: "image/png", Blob: []byte("\x89PNG\r\n\x1a\n")},
			{URI: req.Params.URI + "#all", MIMEType: "application/zip", Blob: []byte("PK12")},
		}}, nil
	}
	s.AddResource(&sdk.Resource{URI: "book://1", Name: "novel", Description: "about\nthe weather", MIMEType: "text/plain"}, give)
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "book://{number}", Name: "any book"}, give)
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	t.Cleanup(web.Close)
	return func(e *tooltest.Env) error {
		e.Options.MCP = mcp.Options{Client: connect.Client(), Servers: []mcp.Server{{Name: "library", URL: web.URL, NoOAuth: true}}}
		return nil
	}
}
