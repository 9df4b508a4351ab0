package mcpclient

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/tool"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The limits of a result beside its texts, which the runtime bounds.
const (
	maxAttached    = 32 << 20 // bytes of all attachments
	maxAttachments = 64
	maxLinks       = 256
	maxStructured  = 8 << 20 // bytes of the JSON for programs
	maxField       = 2 << 10 // bytes of a name, an address or a description
	maxNotes       = 20      // of what was left out
)

// ToolResult converts a server's result. Texts are joined, media become attachments, links become
// lines and the links entry of the metadata, and structured content is [tool.Structured]; it is
// also the output if there is nothing else. What is left out is noted in the output.
//
// A result that the server marks as an error becomes a [tool.Error] with the code mcp-error and the
// texts.
func ToolResult(res *mcp.CallToolResult) (*tool.Result, error) {
	if res == nil {
		return nil, tool.Fail("mcp-error", "MCP tool returned nothing")
	}
	if res.NeedsInput() {
		return nil, tool.Fail("mcp-error", "MCP tool asks for more input than its arguments, and nobody gave it")
	}
	c := converter{out: &tool.Result{Metadata: map[string]any{}}, left: map[string]int{}}
	for _, item := range res.Content {
		c.content(item)
	}
	structured := c.structured(res.StructuredContent)
	said := func(s string) bool { return s != "" }
	if len(c.out.Attachments) == 0 && !slices.ContainsFunc(c.texts, said) && structured != nil {
		c.texts = []string{string(structured)}
	}
	if len(c.links) > 0 {
		c.out.Metadata["links"] = c.links
	}
	if res.IsError {
		return nil, c.failure()
	}
	c.out.Output = c.joined()
	if structured != nil {
		c.out.Data = tool.Structured(structured)
	}
	return c.out, nil
}

// A converter gathers a result.
type converter struct {
	out      *tool.Result
	texts    []string
	links    []map[string]any
	attached int            // bytes
	left     map[string]int // what was left out, and how often
}

// joined returns the texts and what was left out.
func (c *converter) joined() string {
	notes := make([]string, 0, len(c.left))
	for what, n := range c.left {
		if n > 1 {
			what = fmt.Sprintf("%s (%d times)", what, n)
		}
		notes = append(notes, "["+what+"]")
	}
	slices.Sort(notes)
	if n := len(notes) - maxNotes; n > 0 {
		notes = append(notes[:maxNotes], fmt.Sprintf("[%d more notes of this kind]", n))
	}
	return strings.Join(append(c.texts, notes...), "\n\n")
}

// failure returns the error of a failed result. It bounds the text, because the runtime does not
// bound those of errors.
func (c *converter) failure() error {
	if n := len(c.out.Attachments); n > 0 {
		c.left["an attachment was left out, since the call failed"] = n
	}
	said := c.joined()
	if strings.TrimSpace(said) == "" {
		said = "MCP tool returned an error"
	}
	if head, cut := text.Cut(said, text.MaxBytes); cut {
		said = fmt.Sprintf("%s\n[%d more bytes were left out]", head, len(said)-len(head))
	}
	return &tool.Error{Kind: tool.Failed, Code: "mcp-error", Err: errors.New(said)}
}

// content takes over one piece.
func (c *converter) content(item mcp.Content) {
	switch v := item.(type) {
	case *mcp.TextContent:
		if v != nil {
			c.text(v.Text)
		}
	case *mcp.ImageContent:
		if v != nil {
			c.media("image", v.MIMEType, v.Data)
		}
	case *mcp.AudioContent:
		if v != nil {
			c.media("audio", v.MIMEType, v.Data)
		}
	case *mcp.ResourceLink:
		if v != nil {
			c.link(v)
		}
	case *mcp.EmbeddedResource:
		if v != nil {
			c.resource(v.Resource)
		}
	default:
		c.left["content of a kind that no result has was left out"]++
	}
}

func (c *converter) text(s string) {
	c.texts = append(c.texts, strings.ToValidUTF8(s, "\ufffd"))
}

// media attaches an image or a sound. The type detected from its bytes overrides the server's,
// because providers refuse wrong types.
func (c *converter) media(kind, claimed string, data []byte) {
	found := http.DetectContentType(data)
	typ, ok := mediaType(claimed)
	switch {
	case strings.HasPrefix(found, kind+"/"):
		if typ, _, _ = strings.Cut(found, ";"); typ == "audio/wave" {
			typ = "audio/wav" // as everybody else calls it
		}
	case !ok || !strings.HasPrefix(typ, kind+"/"):
		c.left[fmt.Sprintf("content of the kind %s was left out, since its type %s is not one", kind, quoted(claimed))]++
		return
	}
	c.attach(typ, "", data)
}

// mediaType returns a type without its parameters, and whether it is one.
func mediaType(s string) (string, bool) {
	typ, _, err := mime.ParseMediaType(s)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return "", false
	}
	major, minor, ok := strings.Cut(typ, "/")
	return typ, ok && major != "" && minor != "" && len(typ) <= maxName
}

// attach adds a file.
func (c *converter) attach(typ, name string, data []byte) {
	switch {
	case len(data) == 0:
		c.left[fmt.Sprintf("an attachment of the type %s was left out, since it is empty", typ)]++
		return
	case len(c.out.Attachments) >= maxAttachments:
		c.left[fmt.Sprintf("an attachment was left out: %d are the most", maxAttachments)]++
		return
	case len(data) > maxAttached-c.attached:
		c.left[fmt.Sprintf("an attachment was left out: %d MiB together are the most", maxAttached>>20)]++
		return
	}
	c.attached += len(data)
	c.out.Attachments = append(c.out.Attachments, tool.Attachment{
		Type: "file", Mime: typ, Filename: name,
		URL: "data:" + typ + ";base64," + base64.StdEncoding.EncodeToString(data),
	})
}

// resource converts an embedded resource.
func (c *converter) resource(r *mcp.ResourceContents) {
	switch {
	case r == nil:
		c.left["a resource without contents was left out"]++
	case len(r.Blob) == 0 && (r.Blob == nil || r.Text != ""):
		c.text(r.Text)
	default:
		typ, ok := mediaType(r.MIMEType)
		if !ok {
			typ = "application/octet-stream"
		}
		c.attach(typ, line(r.URI, maxField), r.Blob)
	}
}

// link takes over a resource that has to be fetched.
func (c *converter) link(l *mcp.ResourceLink) {
	if len(c.links) >= maxLinks {
		c.left[fmt.Sprintf("a link was left out: %d are the most", maxLinks)]++
		return
	}
	entry := map[string]any{"uri": line(l.URI, maxField), "name": line(l.Name, maxField)}
	for key, v := range map[string]string{"title": l.Title, "description": l.Description} {
		if v != "" {
			entry[key] = line(v, maxField)
		}
	}
	said := fmt.Sprintf("[resource: %s (%s)", entry["name"], entry["uri"])
	if typ, ok := mediaType(l.MIMEType); ok {
		entry["mime"] = typ
		said += ", " + typ
	}
	if l.Size != nil && *l.Size >= 0 {
		entry["size"] = *l.Size
		said += fmt.Sprintf(", %d bytes", *l.Size)
	}
	said += "]"
	if about, ok := entry["description"]; ok {
		said += fmt.Sprintf(" %s", about)
	}
	c.links = append(c.links, entry)
	c.texts = append(c.texts, said)
}

// structured returns the server's structured content as JSON, or nil.
func (c *converter) structured(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	raw, err := encode(v)
	switch {
	case err != nil || string(raw) == "null":
		return nil
	case len(raw) > maxStructured:
		c.left[fmt.Sprintf("structured content of %d bytes was left out: %d are the most", len(raw), maxStructured)]++
		return nil
	}
	return raw
}
