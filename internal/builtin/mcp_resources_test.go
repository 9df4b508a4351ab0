package builtin_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/tooltest"
)

// librarian gives every script an MCP server that has something to read.
func librarian(t *testing.T) func(*tooltest.Env) error {
	s := mcp.NewServer(&mcp.Implementation{Name: "library", Version: "1"}, nil)
	give := func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
			{URI: req.Params.URI, MIMEType: "text/plain", Text: "It was a dark night."},
			{URI: req.Params.URI + "#cover", MIMEType: "image/png", Blob: []byte("\x89PNG\r\n\x1a\n")},
			{URI: req.Params.URI + "#all", MIMEType: "application/zip", Blob: []byte("PK12")},
		}}, nil
	}
	s.AddResource(&mcp.Resource{URI: "book://1", Name: "novel", Description: "about\nthe weather", MIMEType: "text/plain"}, give)
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "book://{number}", Name: "any book"}, give)
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(web.Close)
	return func(e *tooltest.Env) error {
		e.Options.MCP.Servers = []helve.MCPServer{{Name: "library", URL: web.URL, NoOAuth: true}}
		return nil
	}
}
