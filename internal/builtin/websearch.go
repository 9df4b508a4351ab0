package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/internal/web"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

//go:embed websearch.md
var websearchDoc string

type websearchInput struct {
	Query      string   `json:"query" jsonschema:"what to search for"`
	NumResults *float64 `json:"numResults,omitempty" jsonschema:"8 by default"`
	Livecrawl  *string  `json:"livecrawl,omitempty" jsonschema:"when to fetch pages anew" enum:"fallback,preferred"`
	Type       *string  `json:"type,omitempty" jsonschema:"how thorough" enum:"auto,fast,deep"`
	MaxChars   *float64 `json:"contextMaxCharacters,omitempty" jsonschema:"size of the answer"`
}

// websearch searches the web.
func websearch(w Web) tool.Tool {
	spec := tool.Spec{Name: "websearch", Description: websearchDoc, ReadOnly: true, OpenWorld: true}
	spec.Offer = func(a tool.Audience) (string, bool) {
		return offerSearch(engineFor(w.Search, w.Exa, a), "websearch", websearchDoc)
	}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in websearchInput) (*tool.Result, error) {
		metadata := map[string]any{"query": in.Query}
		setIfGiven(metadata, "livecrawl", in.Livecrawl)
		setIfGiven(metadata, "type", in.Type)
		q := web.SearchQuery{Text: in.Query, Livecrawl: orEmpty(in.Livecrawl), Depth: orEmpty(in.Type)}
		if in.NumResults != nil {
			metadata["numResults"], q.Count = *in.NumResults, wholeNumber(*in.NumResults)
		}
		if in.MaxChars != nil {
			metadata["contextMaxCharacters"], q.MaxChars = *in.MaxChars, wholeNumber(*in.MaxChars)
		}
		s := searchCall{engine: firstEngine(w.Search, w.Exa), permission: "websearch", metadata: metadata}
		out, err := s.runQuery(ctx, c, q)
		if err != nil {
			return nil, err
		}
		if out == "" {
			out = "No search results found. Please try a different query."
		}
		return searchResult("Web search: "+in.Query, out), nil
	})
}

// engineFor returns the search engine for a caller; nil for none. Exa needs no configuration, only
// its flag.
func engineFor(own, exa web.SearchEngine, a tool.Audience) web.SearchEngine {
	if own == nil && (a.Provider == "opencode" || a.Flags["exa"]) {
		return exa
	}
	return own
}

// firstEngine returns the search engine of a call, which can be made only if the search was
// offered.
func firstEngine(own, exa web.SearchEngine) web.SearchEngine {
	if own == nil {
		return exa
	}
	return own
}

func offerSearch(e web.SearchEngine, section, doc string) (string, bool) {
	if e == nil {
		return fmt.Sprintf("No search engine is set up for it: set %s.provider in the configuration to exa, searxng, brave, tavily or command, "+
			"or switch Exa on with HELVE_ENABLE_EXA=1 (in a program: Options.Web, or the flag \"exa\").", section), false
	}
	return doc, true
}

// A searchCall is a question to a search engine.
type searchCall struct {
	engine     web.SearchEngine
	permission string
	metadata   map[string]any
}

// runQuery asks for permission, and then the engine, which limits its time and makes the text of
// the answer safe to show.
func (s searchCall) runQuery(ctx context.Context, c *tool.Call, q web.SearchQuery) (string, error) {
	if strings.TrimSpace(q.Text) == "" {
		e := tool.Fail("missing", "The query is empty. Say what to search for.")
		e.Kind = tool.InvalidInput
		return "", e
	}
	if s.engine == nil {
		return "", tool.Fail("no-engine", "No search engine is set up. Go on without the search.")
	}
	if where := s.engine.Where(); where != "" { // who answers has to know who will read the query
		s.metadata["engine"] = where
	}
	err := c.Ask(ctx, permission.Request{Permission: s.permission, Patterns: []string{q.Text}, Always: []string{"*"}, Metadata: s.metadata})
	if err != nil {
		return "", err
	}
	out, err := s.engine.Search(ctx, q)
	if err == nil {
		return out, nil
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if known, ok := errors.AsType[*web.SearchError](err); ok {
		return "", tool.Fail(known.Code, "%w", known)
	}
	return "", tool.Fail("search", "%w", err)
}

func searchResult(title, out string) *tool.Result {
	title, _ = text.Cut(title, fetchedTitle)
	return &tool.Result{Title: text.VisibleLine(title), Output: out}
}

// wholeNumber converts a model's number to an int; 0 is the default.
func wholeNumber(n float64) int { return int(math.Ceil(min(max(n, 0), math.MaxInt32))) }

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
