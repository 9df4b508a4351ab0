package helve

import (
	"context"
	"fmt"

	"github.com/helve-dev/helve/mcp"
)

// noServers is the pool of a runtime without MCP servers, which needs no client.
type noServers struct{}

func (noServers) missing(server string) error { return fmt.Errorf("%q: %w", server, mcp.ErrNoServer) }

func (noServers) Need(context.Context, string)          {}
func (noServers) Gather(context.Context)                {}
func (noServers) Close() error                          { return nil }
func (noServers) Status() []mcp.Status                  { return []mcp.Status{} }
func (noServers) Which(func(mcp.Status) bool) []string  { return nil }
func (noServers) Owner(string) (server string, ok bool) { return "", false }
func (noServers) Log(string) []string                   { return nil }
func (noServers) Tools(string) []mcp.Tool               { return nil }
func (noServers) Unsubscribe(string, string)            {}

func (n noServers) Connect(_ context.Context, server string) error { return n.missing(server) }
func (n noServers) Disconnect(server string) error                 { return n.missing(server) }
func (n noServers) Approve(server, _ string) error                 { return n.missing(server) }

func (n noServers) SignIn(_ context.Context, server string, _ mcp.SignIn) error {
	return n.missing(server)
}

func (n noServers) Prompts(_ context.Context, server string) ([]mcp.Prompt, error) {
	return nil, n.missing(server)
}

func (n noServers) Resources(_ context.Context, server string) ([]mcp.Resource, error) {
	return nil, n.missing(server)
}

func (n noServers) Templates(_ context.Context, server string) ([]mcp.Template, error) {
	return nil, n.missing(server)
}

func (n noServers) GetPrompt(_ context.Context, p mcp.PromptCall) (mcp.PromptText, error) {
	return mcp.PromptText{}, n.missing(p.Server)
}

func (n noServers) ReadResource(_ context.Context, server, _ string) ([]mcp.Content, error) {
	return nil, n.missing(server)
}

func (n noServers) Complete(_ context.Context, c mcp.Completion) (mcp.Completed, error) {
	return mcp.Completed{}, n.missing(c.Server)
}

func (n noServers) Subscribe(_ context.Context, server, _ string) error { return n.missing(server) }
