package builtin

import (
	"context"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

//go:embed list_mcp_resources.md
var listResourcesDoc string

//go:embed read_mcp_resource.md
var readResourceDoc string

// resourceMost limits the bytes of a returned resource.
const resourceMost = 10 << 20

// Resources gives access to the resources of MCP servers.
type Resources interface {
	// HasResources reports whether a connected server has any.
	HasResources() bool
	// Resources lists the resources of a server, or of all for "".
	Resources(ctx context.Context, server string) ([]mcp.Resource, error)
	// ReadResource reads a resource. The parts are the Data of the call, not truncated.
	ReadResource(ctx context.Context, server, uri string) ([]mcp.Content, error)
}

type listResourcesInput struct {
	Server string `json:"server,omitempty" jsonschema:"list only what this server has"`
}

type readResourceInput struct {
	Server string `json:"server" jsonschema:"the server that has it"`
	URI    string `json:"uri" jsonschema:"the URI, as the list gives it"`
}

func offerResources(r Resources, doc string) func(tool.Audience) (string, bool) {
	return func(tool.Audience) (string, bool) { return doc, r != nil && r.HasResources() }
}

// listResources lists the resources of MCP servers.
func listResources(r Resources) tool.Tool {
	spec := tool.Spec{
		Name: "list_mcp_resources", Description: listResourcesDoc, Permission: "read", ReadOnly: true, OpenWorld: true,
		Offer: offerResources(r, listResourcesDoc),
	}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in listResourcesInput) (*tool.Result, error) {
		name := in.Server
		if name == "" {
			name = "*"
		}
		if err := c.Ask(ctx, permission.Request{Permission: "read", Patterns: []string{"mcp:" + name}, Always: []string{"mcp:*"}}); err != nil {
			return nil, err
		}
		all, err := r.Resources(ctx, in.Server)
		if err != nil {
			return nil, tool.Fail("mcp", "The resources could not be listed: %v.", err)
		}
		var b strings.Builder
		for _, res := range all {
			fmt.Fprintf(&b, "%s %s", text.VisibleLine(res.Server), text.VisibleLine(res.URI))
			for _, more := range []string{res.Name, res.MIME, res.Description} {
				if more = strings.TrimSpace(more); more != "" {
					b.WriteString(" | " + text.VisibleLine(more))
				}
			}
			b.WriteByte('\n')
		}
		out := b.String()
		if out == "" {
			out = "No server has a resource."
		}
		return &tool.Result{
			Title: text.Count(len(all), "resource", "resources"), Output: strings.TrimSuffix(out, "\n"),
			Metadata: map[string]any{"count": len(all)},
		}, nil
	})
}

// readResource reads a resource of an MCP server.
func readResource(r Resources) tool.Tool {
	spec := tool.Spec{
		Name: ReadResource, Description: readResourceDoc, Permission: "read", ReadOnly: true, OpenWorld: true,
		Offer: offerResources(r, readResourceDoc),
	}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in readResourceInput) (*tool.Result, error) {
		err := c.Ask(ctx, permission.Request{
			Permission: "read", Patterns: []string{ResourcePattern(in.Server, in.URI)}, Always: []string{ResourcePattern(in.Server, "*")},
		})
		if err != nil {
			return nil, err
		}
		parts, err := r.ReadResource(ctx, in.Server, in.URI)
		if err != nil {
			return nil, tool.Fail("mcp", "Failed to read MCP resource %s: %w", text.VisibleLine(in.URI), err)
		}
		return resourceResult(in, parts), nil
	})
}

func resourceResult(in readResourceInput, parts []mcp.Content) *tool.Result {
	res := &tool.Result{Title: text.VisibleLine(in.Server + ": " + in.URI), Metadata: map[string]any{"server": in.Server, "uri": in.URI}, Data: parts}
	var texts []string
	for _, p := range parts {
		switch {
		case p.Blob == nil:
			texts = append(texts, p.Text)
		case !attachable(p.MIME) || len(p.Blob) > resourceMost:
			texts = append(texts, fmt.Sprintf("[Binary content: %s, %d bytes]", text.VisibleLine(p.MIME), len(p.Blob)))
		default:
			texts = append(texts, fmt.Sprintf("[%s attached]", p.MIME))
			res.Attachments = append(res.Attachments, tool.Attachment{
				Mime: p.MIME, Filename: p.URI, URL: "data:" + p.MIME + ";base64," + base64.StdEncoding.EncodeToString(p.Blob),
			})
		}
	}
	if res.Output = strings.Join(texts, "\n\n"); res.Output == "" {
		res.Output = "The resource is empty."
	}
	return res
}

// ReadResource is the name of the tool that reads a resource.
const ReadResource = "read_mcp_resource"

// ResourcePattern returns the pattern of a resource in rules about reading.
func ResourcePattern(server, uri string) string { return "mcp:" + server + ":" + uri }

// attachable reports whether models accept files of a MIME type.
func attachable(mime string) bool {
	switch mime {
	case "application/pdf", "image/gif", "image/jpeg", "image/png", "image/webp":
		return true
	}
	return false
}
