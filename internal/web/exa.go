package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// exa asks a server that speaks MCP, by a single call without a session.
type exa struct{ *site }

// A call is the MCP message of a tool call. The order of the fields is part of what is sent.
type call struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  struct {
		Name      string `json:"name"`
		Arguments any    `json:"arguments"`
	} `json:"params"`
}

type webArguments struct {
	Query     string `json:"query"`
	Type      string `json:"type"`
	Count     int    `json:"numResults"`
	Livecrawl string `json:"livecrawl"`
	MaxChars  int    `json:"contextMaxCharacters,omitempty"`
}

type codeArguments struct {
	Query  string `json:"query"`
	Tokens int    `json:"tokensNum"`
}

const (
	exaWeb  = "web_search_exa"
	exaCode = "get_code_context_exa"
)

func (e *exa) search(ctx context.Context, q SearchQuery) (string, error) {
	if !q.Code {
		a := webArguments{Query: q.Text, Type: q.Depth, Count: q.Count, Livecrawl: q.Livecrawl, MaxChars: q.MaxChars}
		if a.Type == "" {
			a.Type = "auto"
		}
		if a.Livecrawl == "" {
			a.Livecrawl = "fallback"
		}
		found, err := e.call(ctx, exaWeb, a)
		return e.bounded(found, q.MaxChars), err
	}
	found, err := e.call(ctx, exaCode, codeArguments{q.Text, q.Tokens})
	if noCodeTool(err) {
		// The tool for pages finds code as well, but who allows one search has
		// not allowed the other.
		return "", &rawSearchError{
			code: "server", text: "Exa offers no code search any more",
			hint: "Set codesearch.provider in the config to another: searxng, brave, tavily or command.",
		}
	}
	return found, err
}

// call calls a tool of the server and returns its text.
func (e *exa) call(ctx context.Context, name string, args any) (string, error) {
	c := call{Version: "2.0", ID: 1, Method: "tools/call"}
	c.Params.Name, c.Params.Arguments = name, args
	query := url.Values{}
	if name == exaCode {
		query.Set("tools", exaCode) // it is offered only to those who name it
	}
	if e.key != "" {
		query.Set("exaApiKey", e.key)
	}
	p, err := e.requestPage(ctx, request{
		query:  query,
		header: http.Header{"Accept": {"application/json, text/event-stream"}},
		body:   c,
	})
	if err != nil {
		return "", err
	}
	found, err := readReply(p.Body, p.Cut)
	return e.secret.hide(cleanText(found)), err
}

// noCodeTool reports whether a server says that it has no tool for code.
func noCodeTool(err error) bool {
	f, ok := errors.AsType[*rawSearchError](err)
	if !ok || f.code != "server" {
		return false
	}
	said := strings.ToLower(f.text)
	return strings.Contains(said, exaCode) && (strings.Contains(said, "not found") || strings.Contains(said, "unknown tool"))
}

// bounded limits a server's text to the requested size; 0 is no limit.
func (e *exa) bounded(found string, most int) string {
	if most == 0 {
		return found
	}
	return shortened(found, most)
}
