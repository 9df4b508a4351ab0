package server

import (
	"context"

	"github.com/helve-dev/helve/lsp"
	"github.com/helve-dev/helve/mcp"
)

type serverInput struct {
	Server string `path:"server" maxLength:"256"`
}

type mcpServers struct {
	Servers []mcp.Status `json:"servers"`
}

type languages struct {
	Servers []lsp.Status `json:"servers" doc:"those that run, or should"`
	Found   []lsp.Found  `json:"found" doc:"all that are known, and whether they could be started"`
}

func (s *Server) routeStatus() {
	route(s, about{at: "GET /v1/mcp", id: "listMCP", tag: "status", summary: "The MCP servers of the config"},
		func(context.Context, *struct{}) (*body[mcpServers], error) {
			return answerOf(mcpServers{list(s.rt.MCP().Status())}), nil
		})
	route(s, about{at: "POST /v1/mcp/{server}/connect", id: "connectMCP", tag: "status", fails: []int{404, 422},
		summary: "Connect to an MCP server"},
		func(ctx context.Context, in *serverInput) (*nothing, error) {
			if err := s.rt.MCP().Connect(ctx, in.Server); err != nil {
				return nil, refusal(err)
			}
			return &nothing{}, nil
		})
	route(s, about{at: "POST /v1/mcp/{server}/disconnect", id: "disconnectMCP", tag: "status", fails: []int{404, 422},
		summary: "End the connection to an MCP server"},
		func(_ context.Context, in *serverInput) (*nothing, error) {
			if err := s.rt.MCP().Disconnect(in.Server); err != nil {
				return nil, refusal(err)
			}
			return &nothing{}, nil
		})
	route(s, about{at: "GET /v1/lsp", id: "getLSP", tag: "status", summary: "Language servers"},
		func(context.Context, *struct{}) (*body[languages], error) {
			out := languages{Servers: list(s.rt.LSP().Status()), Found: list(s.rt.LSP().Found())}
			for i := range out.Found {
				out.Found[i].Extensions = list(out.Found[i].Extensions)
			}
			return answerOf(out), nil
		})
}
