package builtin

import (
	"context"
	_ "embed"

	"github.com/helve-dev/helve/internal/web"
	"github.com/helve-dev/helve/tool"
)

//go:embed codesearch.md
var codesearchDoc string

type codesearchInput struct {
	Query  string `json:"query" jsonschema:"what to search for"`
	Tokens int    `json:"tokensNum" jsonschema:"how many tokens to return" min:"1000" max:"50000" default:"5000"`
}

// codesearch searches documentation and public code.
func codesearch(w Web) tool.Tool {
	spec := tool.Spec{Name: "codesearch", Description: codesearchDoc, ReadOnly: true, OpenWorld: true}
	spec.Offer = func(a tool.Audience) (string, bool) {
		return offerSearch(engineFor(w.Code, w.Exa, a), "codesearch", codesearchDoc)
	}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in codesearchInput) (*tool.Result, error) {
		s := searchCall{
			engine: firstEngine(w.Code, w.Exa), permission: "codesearch",
			metadata: map[string]any{"query": in.Query, "tokensNum": in.Tokens},
		}
		out, err := s.runQuery(ctx, c, web.SearchQuery{Text: in.Query, Code: true, Tokens: in.Tokens})
		if err != nil {
			return nil, err
		}
		if out == "" {
			out = "No code snippets or documentation found. Please try a different query, be more specific about the library or programming concept, or check the spelling of framework names."
		}
		return searchResult("Code search: "+in.Query, out), nil
	})
}
