package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A wish is what the tools of the server for things take.
type wish struct {
	Text string `json:"text" jsonschema:"what to say"`
	MS   int    `json:"ms,omitempty" jsonschema:"how long to take, in milliseconds"`
	Size int    `json:"size,omitempty" jsonschema:"how much to say, in bytes"`
}

// serveThings is a small MCP server, over stdin and stdout, whose tools are
// slow, talkative or deadly.
func serveThings(ctx context.Context) error {
	fmt.Fprintln(os.Stderr, "here are things") // its log is kept from now on
	s := mcp.NewServer(&mcp.Implementation{Name: "things", Version: "1"}, nil)
	say := func(text string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	}
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Says it again."},
		func(_ context.Context, _ *mcp.CallToolRequest, w wish) (*mcp.CallToolResult, any, error) {
			return say(w.Text + strings.Repeat(".", min(max(w.Size, 0), 4<<20))), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "slow", Description: "Says it again, later."},
		func(ctx context.Context, _ *mcp.CallToolRequest, w wish) (*mcp.CallToolResult, any, error) {
			select {
			case <-ctx.Done():
				return nil, nil, ctx.Err()
			case <-time.After(time.Duration(w.MS) * time.Millisecond):
				return say(w.Text), nil, nil
			}
		})
	mcp.AddTool(s, &mcp.Tool{Name: "die", Description: "Says nothing any more."},
		func(context.Context, *mcp.CallToolRequest, wish) (*mcp.CallToolResult, any, error) {
			os.Exit(3)
			return nil, nil, nil
		})
	return s.Run(ctx, &mcp.StdioTransport{})
}
