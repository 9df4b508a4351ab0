package helve

import (
	"context"
	"errors"

	"helve/internal/builtin"
	"helve/internal/mcpclient"
)

// A library is what MCP servers have to read, as the tools for it see it.
type library struct{ *mcpclient.Pool }

// resources is nil where there is no server.
func (r *Runtime) resources() builtin.Resources {
	if r.pool == nil {
		return nil
	}
	return library{r.pool}
}

// Resources lists what a server has, or for "" all that are connected.
func (l library) Resources(ctx context.Context, server string) (out []builtin.Resource, err error) {
	servers := []string{server}
	if server == "" {
		servers = nil
		for _, s := range l.Status() {
			if s.Resources {
				servers = append(servers, s.Name)
			}
		}
	}
	var failed error
	for _, name := range servers {
		found, err := l.Pool.Resources(ctx, name)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		for _, r := range found {
			out = append(out, builtin.Resource{Server: name, URI: r.URI, Name: r.Name, Description: r.Description, Mime: r.MIME})
		}
		patterns, err := l.Templates(ctx, name)
		if err != nil {
			failed = errors.Join(failed, err)
		}
		for _, t := range patterns {
			out = append(out, builtin.Resource{
				Server: name, URI: t.URITemplate, Name: t.Name, Description: t.Description, Mime: t.MIME, Template: true,
			})
		}
	}
	if len(out) > 0 && server == "" {
		return out, nil // of those that answered
	}
	return out, failed
}

// ReadResource reads one.
func (l library) ReadResource(ctx context.Context, server, uri string) (out []builtin.ResourcePart, err error) {
	parts, err := l.Pool.ReadResource(ctx, server, uri)
	for _, p := range parts {
		out = append(out, builtin.ResourcePart{URI: p.URI, Mime: p.MIME, Text: p.Text, Blob: p.Blob})
	}
	return out, err
}
