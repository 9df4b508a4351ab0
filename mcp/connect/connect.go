// Package connect connects a runtime to MCP servers, local ones and remote ones that are signed in to
// with OAuth. A program that imports it links the MCP SDK; one that does not use MCP servers need
// not.
package connect

import (
	"github.com/helve-dev/helve/internal/mcpclient"
	"github.com/helve-dev/helve/mcp"
)

// Client returns the client for [mcp.Options].
func Client() mcp.Client { return client{} }

type client struct{}

// Open implements [mcp.Client].
func (client) Open(o mcp.Options, h mcp.Host) mcp.Pool { return mcpclient.New(o, h) }
