package mcpserve

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/tool"
)

const (
	maxWatches    = 1000 // of a session
	updatedMethod = "notifications/resources/updated"
)

// listResources returns the resources of all servers. If several have the same URI, the first in
// the order of the config counts.
func (se *session) listResources(ctx context.Context, p *sdk.ListResourcesParams) (sdk.Result, error) {
	h, err := se.currentRuntime(ctx)
	if err != nil {
		return nil, se.runtimeError(ctx, err)
	}
	var all []offered
	for _, r := range (visit{se, h, 0}).resources(ctx) {
		all = append(all, offered{r.Server, r.URI, r.Wire})
	}
	cursor := ""
	if p != nil {
		cursor = p.Cursor
	}
	part, next, err := pageOf(se.saw(resources, all), cursor, func(one *sdk.Resource, _ offered) { one.Meta = nil })
	if err != nil {
		return nil, err
	}
	return &sdk.ListResourcesResult{Resources: part, NextCursor: next, Cacheable: sdk.Cacheable{CacheScope: "private"}}, nil
}

// listTemplates returns the resource templates of all servers.
func (se *session) listTemplates(ctx context.Context, p *sdk.ListResourceTemplatesParams) (sdk.Result, error) {
	h, err := se.currentRuntime(ctx)
	if err != nil {
		return nil, se.runtimeError(ctx, err)
	}
	var all []offered
	for _, t := range (visit{se, h, 0}).templates(ctx) {
		all = append(all, offered{t.Server, t.URITemplate, t.Wire})
	}
	cursor := ""
	if p != nil {
		cursor = p.Cursor
	}
	part, next, err := pageOf(se.saw(resources, all), cursor, func(one *sdk.ResourceTemplate, _ offered) { one.Meta = nil })
	if err != nil {
		return nil, err
	}
	return &sdk.ListResourceTemplatesResult{
		ResourceTemplates: part, NextCursor: next, Cacheable: sdk.Cacheable{CacheScope: "private"},
	}, nil
}

// ownerOf finds the server that has a resource: the one that lists it, or has a
// template for it. A server that is alone may have resources that it does not
// list; where there are several, none is asked about what may be another's.
func (se *session) ownerOf(ctx context.Context, h *sharedRuntime, uri string) (string, error) {
	servers := h.rt.MCP().Servers()
	if len(servers) == 1 {
		return servers[0], nil
	}
	for _, v := range []visit{{se, h, keepLists}, {se, h, freshList}} {
		for _, r := range v.resources(ctx) {
			if r.URI == uri {
				return r.Server, nil
			}
		}
		for _, t := range v.templates(ctx) {
			if couldBe(t.URITemplate, uri) {
				return t.Server, nil
			}
		}
	}
	return "", unknown("resource", uri)
}

// readResource hands on a resource, under the rules for reading it.
func (se *session) readResource(ctx context.Context, uri string, stream context.Context) (sdk.Result, error) {
	out := &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{}, Cacheable: sdk.Cacheable{CacheScope: "private"}}
	err := se.withCall(ctx, stream, func(ctx context.Context, h *sharedRuntime, c tool.Call) error {
		server, err := se.ownerOf(ctx, h, uri)
		if err != nil {
			return err
		}
		parts, err := h.rt.MCP().Read(ctx, c, server, uri)
		for _, p := range parts {
			out.Contents = append(out.Contents, &sdk.ResourceContents{URI: p.URI, MIMEType: p.MIME, Text: p.Text, Blob: p.Blob})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// A resourceWatch is a subscription of a client to a resource, in one of the runtimes that its
// session is in.
type resourceWatch struct {
	h           *sharedRuntime
	server, uri string
}

func (w resourceWatch) subscription(agent string) mcp.Subscription {
	return mcp.Subscription{Agent: agent, Server: w.server, URI: w.uri}
}

// subscribe subscribes a client to a resource.
func (s *Server) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	s.mu.Lock()
	se := s.sessions[req.Session]
	s.mu.Unlock()
	if se == nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the session has not begun"}
	}
	h, err := se.currentRuntime(ctx)
	if err != nil {
		return se.runtimeError(ctx, err)
	}
	server, err := se.ownerOf(ctx, h, req.Params.URI)
	if err != nil {
		return err
	}
	w := resourceWatch{h, server, req.Params.URI}
	se.mu.Lock()
	full, have := len(se.watches) >= maxWatches, se.watches[w]
	se.mu.Unlock()
	switch {
	case have:
		return nil
	case full:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("the session has %d subscriptions: end some of them", maxWatches)}
	}
	if err := h.rt.MCP().Subscribe(ctx, w.subscription(s.opt.Agent)); err != nil {
		return refusal(err)
	}
	se.mu.Lock()
	defer se.mu.Unlock()
	if se.closed || se.watches[w] { // it ended, or asked twice at once
		h.rt.MCP().Unsubscribe(w.subscription(s.opt.Agent))
		return nil
	}
	if se.watches == nil {
		se.watches = map[resourceWatch]bool{}
	}
	se.watches[w] = true
	return nil
}

// unsubscribe ends that.
func (s *Server) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	s.mu.Lock()
	se := s.sessions[req.Session]
	s.mu.Unlock()
	if se != nil {
		se.unwatch(func(w resourceWatch) bool { return w.uri == req.Params.URI })
	}
	return nil
}

// unwatch ends the subscriptions that pick picks.
func (se *session) unwatch(pick func(resourceWatch) bool) {
	se.mu.Lock()
	defer se.mu.Unlock()
	for w := range se.watches {
		if pick(w) {
			delete(se.watches, w)
			w.h.rt.MCP().Unsubscribe(w.subscription(se.s.opt.Agent))
		}
	}
}

// watched returns the subscriptions in a runtime.
func (se *session) watched(h *sharedRuntime) []resourceWatch {
	se.mu.Lock()
	defer se.mu.Unlock()
	var out []resourceWatch
	for w := range se.watches {
		if w.h == h {
			out = append(out, w)
		}
	}
	return out
}
