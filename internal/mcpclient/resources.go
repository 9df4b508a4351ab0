package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/helve-dev/helve/mcp"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// withConnection runs f on a connection to a server, with its timeout.
func (p *Pool) withConnection(ctx context.Context, server string, f func(context.Context, *connection) error) error {
	e, err := p.find(server)
	if err != nil {
		return err
	}
	for again := false; ; again = true {
		l, err := e.waitConnection(ctx)
		if err != nil {
			return fmt.Errorf("MCP server %q: %w", server, err)
		}
		limit := connectTimeout(e.s)
		bound, cancel := context.WithTimeoutCause(ctx, limit, timedOut(limit))
		err = f(bound, l)
		if err != nil && bound.Err() != nil {
			err = context.Cause(bound)
		}
		cancel()
		if err != nil && !again && ctx.Err() == nil && (neverSent(err) || l.endsSoon(err)) {
			l.close(broken(err))
			continue // reading can be done twice
		}
		if err != nil {
			return fmt.Errorf("MCP server %q: %w", server, err)
		}
		return nil
	}
}

// A lister lists one kind of thing that servers have: W as the protocol has it,
// T as it is here.
type lister[W, T any] struct {
	offered func(*connection) bool
	page    func(ctx context.Context, l *connection, cursor string) (found []*W, next string, err error)
	entry   func(w *W, wire json.RawMessage) T
}

// listAll reads all pages; it returns none if the server does not offer the kind.
func (k lister[W, T]) listAll(ctx context.Context, p *Pool, server string) (out []T, err error) {
	err = p.withConnection(ctx, server, func(ctx context.Context, l *connection) error {
		out = nil
		if !k.offered(l) {
			return nil
		}
		var heap heap
		return pages(ctx, func(cursor string) (string, int, error) {
			found, next, err := k.page(ctx, l, cursor)
			if err != nil {
				return "", 0, err
			}
			for _, w := range found {
				if w == nil {
					continue
				}
				wire, err := heap.add(w)
				if err != nil {
					return "", 0, err
				}
				out = append(out, k.entry(w, wire))
			}
			return next, len(found), nil
		})
	})
	return out, err
}

func hasResources(l *connection) bool { return l.has.resources }

// Resources lists the resources of a server; none where it offers none.
func (p *Pool) Resources(ctx context.Context, server string) ([]mcp.Resource, error) {
	return lister[sdk.Resource, mcp.Resource]{
		offered: hasResources,
		page: func(ctx context.Context, l *connection, cursor string) ([]*sdk.Resource, string, error) {
			res, err := l.session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return res.Resources, res.NextCursor, nil
		},
		entry: func(r *sdk.Resource, wire json.RawMessage) mcp.Resource {
			return mcp.Resource{
				Server: server, URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIME: r.MIMEType, Size: r.Size, Wire: wire,
			}
		},
	}.listAll(ctx, p, server)
}

// Templates lists the resource templates of a server.
func (p *Pool) Templates(ctx context.Context, server string) ([]mcp.Template, error) {
	return lister[sdk.ResourceTemplate, mcp.Template]{
		offered: hasResources,
		page: func(ctx context.Context, l *connection, cursor string) ([]*sdk.ResourceTemplate, string, error) {
			res, err := l.session.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return res.ResourceTemplates, res.NextCursor, nil
		},
		entry: func(r *sdk.ResourceTemplate, wire json.RawMessage) mcp.Template {
			return mcp.Template{
				Server: server, URITemplate: r.URITemplate, Name: r.Name, Title: r.Title, Description: r.Description, MIME: r.MIMEType, Wire: wire,
			}
		},
	}.listAll(ctx, p, server)
}

// Prompts lists the prompts of a server.
func (p *Pool) Prompts(ctx context.Context, server string) ([]mcp.Prompt, error) {
	return lister[sdk.Prompt, mcp.Prompt]{
		offered: func(l *connection) bool { return l.has.prompts },
		page: func(ctx context.Context, l *connection, cursor string) ([]*sdk.Prompt, string, error) {
			res, err := l.session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return res.Prompts, res.NextCursor, nil
		},
		entry: func(r *sdk.Prompt, wire json.RawMessage) mcp.Prompt {
			one := mcp.Prompt{Server: server, Name: r.Name, Title: r.Title, Description: r.Description, Wire: wire}
			for _, a := range r.Arguments {
				if a != nil {
					one.Arguments = append(one.Arguments, mcp.Argument{Name: a.Name, Description: a.Description, Required: a.Required})
				}
			}
			return one
		},
	}.listAll(ctx, p, server)
}

// A heap is what a list has brought so far. It does not grow without end.
type heap struct{ size int }

// add returns an entry of the list in the form of the protocol.
func (h *heap) add(entry any) (json.RawMessage, error) {
	raw, err := json.Marshal(entry)
	if err != nil {
		return nil, fmt.Errorf("entry: %w", err)
	}
	if h.size += len(raw); h.size > maxListBytes {
		return nil, fmt.Errorf("the list is larger than %d MiB", maxListBytes>>20)
	}
	return raw, nil
}

// ReadResource reads a resource of a server.
func (p *Pool) ReadResource(ctx context.Context, server, uri string) (out []mcp.Content, err error) {
	err = p.withConnection(ctx, server, func(ctx context.Context, l *connection) error {
		out = nil
		res, err := l.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			return err
		}
		for _, c := range res.Contents {
			if c != nil {
				out = append(out, mcp.Content{URI: c.URI, MIME: c.MIMEType, Text: c.Text, Blob: c.Blob})
			}
		}
		return nil
	})
	return out, err
}
