package helve

import (
	"context"

	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/mcpclient"
)

// A resourceHost is what MCP servers have to read, as the tools for it see it.
type resourceHost struct{ *mcpclient.Pool }

// resources is nil where there is no server.
func (r *Runtime) resources() builtin.Resources {
	if r.pool == nil {
		return nil
	}
	return resourceHost{r.pool}
}

// Resources lists what a server has, or for "" all that are connected.
func (l resourceHost) Resources(ctx context.Context, server string) ([]builtin.Resource, error) {
	servers := []string{server}
	if server == "" {
		servers = l.Which(hasResources)
	}
	out, failed := askAll(servers, func(name string) ([]builtin.Resource, error) { return l.contents(ctx, name) })
	if len(out) > 0 && server == "" {
		return out, nil // of those that answered
	}
	return out, failed
}

// contents are what a server has, and the families of what it has.
func (l resourceHost) contents(ctx context.Context, server string) (out []builtin.Resource, err error) {
	found, err := l.Pool.Resources(ctx, server)
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		out = append(out, builtin.Resource{Server: server, URI: r.URI, Name: r.Name, Description: r.Description, Mime: r.MIME})
	}
	patterns, err := l.Templates(ctx, server)
	for _, t := range patterns {
		out = append(out, builtin.Resource{
			Server: server, URI: t.URITemplate, Name: t.Name, Description: t.Description, Mime: t.MIME, Template: true,
		})
	}
	return out, err
}

// ReadResource reads one.
func (l resourceHost) ReadResource(ctx context.Context, server, uri string) (out []builtin.ResourcePart, err error) {
	parts, err := l.Pool.ReadResource(ctx, server, uri)
	for _, p := range parts {
		out = append(out, builtin.ResourcePart{URI: p.URI, Mime: p.MIME, Text: p.Text, Blob: p.Blob})
	}
	return out, err
}
