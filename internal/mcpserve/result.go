package mcpserve

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/tool"
)

// maxMeta is how many bytes of metadata go with a result. Clients are free to
// show it to a model, and few read it.
const maxMeta = 16 << 10

// The metadata keys of a result, for programs.
const (
	metaTitle = "helve/title"
	metaData  = "helve/metadata"
	metaError = "helve/error"
)

// result puts the end of a call that went well into the protocol's form.
func (se *session) result(res *tool.Result) *mcp.CallToolResult {
	out := &mcp.CallToolResult{Content: contentOf(res), Meta: mcp.Meta{}}
	if res.Title != "" {
		out.Meta[metaTitle] = res.Title
	}
	if raw, err := json.Marshal(res.Metadata); err == nil && len(res.Metadata) > 0 && len(raw) <= maxMeta {
		out.Meta[metaData] = json.RawMessage(raw)
	}
	if data := structured(res.Data, se.s.opt.Structured); data != nil {
		if raw, err := json.Marshal(data); err == nil && len(raw) <= shows(se.program) { // some show it instead of the text
			out.StructuredContent = json.RawMessage(raw)
		}
	}
	return out
}

// structured returns the structured data of a result: that of another program's tool, or the
// matches of a search if requested. The protocol allows objects only.
func structured(data any, hits bool) any {
	switch d := data.(type) {
	case tool.Structured:
		raw := bytes.TrimSpace(d)
		if len(raw) > 0 && raw[0] == '{' && json.Valid(raw) {
			return json.RawMessage(raw)
		}
	case *tool.Hits:
		if d != nil && hits {
			return hitsJSON(*d)
		}
	case tool.Hits:
		if hits {
			return hitsJSON(d)
		}
	}
	return nil
}

func hitsJSON(h tool.Hits) map[string]any {
	out := map[string]any{}
	if h.Lines != nil {
		out["matches"] = h.Lines
	} else {
		names := h.Names
		if names == nil {
			names = []string{}
		}
		out["files"] = names
	}
	if len(h.Notes) > 0 {
		out["notes"] = h.Notes
	}
	if h.Failed > 0 {
		out["failed"] = h.Failed
	}
	return out
}

// contentOf are the output, the outputs of the calls that the call made, and
// all files.
func contentOf(res *tool.Result) []mcp.Content {
	out := []mcp.Content{&mcp.TextContent{Text: res.Output}}
	// Clients show what a program printed, but usually not the metadata.
	if code := exitCode(res); code != 0 {
		out = append(out, &mcp.TextContent{Text: "exit code " + strconv.Itoa(code)})
	}
	for i, in := range res.Inner {
		text := in.Error
		if in.Result != nil {
			text = in.Result.Output
		}
		out = append(out, &mcp.TextContent{Text: fmt.Sprintf("[%d] %s: %s\n%s", i+1, in.Tool, in.Status, text)})
	}
	for _, a := range attachments(res) {
		out = append(out, file(a))
	}
	return out
}

// attachments are those of a result, and those of inner calls that are not
// among them.
func attachments(res *tool.Result) []tool.Attachment {
	out := res.Attachments
	seen := map[string]bool{}
	for _, a := range out {
		seen[a.ID] = true
	}
	for _, in := range res.Inner {
		if in.Result == nil {
			continue
		}
		for _, a := range in.Result.Attachments {
			if a.ID == "" || !seen[a.ID] {
				out = append(out[:len(out):len(out)], a)
				seen[a.ID] = true
			}
		}
	}
	return out
}

// file puts an attachment into the form for its kind.
func file(a tool.Attachment) mcp.Content {
	data, ok := payload(a.URL)
	if !ok {
		return &mcp.ResourceLink{URI: a.URL, Name: attachmentName(a), MIMEType: a.Mime}
	}
	switch kind, _, _ := strings.Cut(a.Mime, "/"); kind {
	case "image":
		return &mcp.ImageContent{Data: data, MIMEType: a.Mime}
	case "audio":
		return &mcp.AudioContent{Data: data, MIMEType: a.Mime}
	}
	uri := url.URL{Scheme: "attachment", Path: "/" + attachmentName(a)}
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri.String(), MIMEType: a.Mime, Blob: data}}
}

func attachmentName(a tool.Attachment) string {
	switch {
	case a.Filename != "":
		return a.Filename
	case a.ID != "":
		return a.ID
	}
	return "file"
}

// payload reads a data URL.
func payload(s string) ([]byte, bool) {
	rest, ok := strings.CutPrefix(s, "data:")
	if !ok {
		return nil, false
	}
	_, encoded, ok := strings.Cut(rest, ";base64,")
	if !ok {
		return nil, false
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	return data, err == nil
}

// A failureRule says how a kind of failure reaches the client.
type failureRule struct {
	plain bool // the model learns only that it is not its fault
}

// answerOf is the table of failures. All of them are shown to the model, which can act on them; a
// client that has cancelled gets no response.
func answerOf(k tool.Kind) (a failureRule, known bool) {
	switch k {
	case tool.UnknownTool, tool.InvalidInput, tool.Denied, tool.Rejected, tool.Unattended, tool.Failed, tool.Canceled:
		return failureRule{}, true
	case tool.Internal:
		return failureRule{plain: true}, true
	}
	return failureRule{plain: true}, false
}

// failureResult puts the end of a call that failed into the protocol's form.
func failureResult(err error) *mcp.CallToolResult {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		e = &tool.Error{Kind: tool.Failed, Code: "failed", Err: err}
	}
	out := &mcp.CallToolResult{IsError: true, Meta: mcp.Meta{metaError: map[string]any{"kind": e.Kind, "code": e.Code}}}
	if e.Answer != nil {
		out.Content = contentOf(e.Answer)
	} else {
		out.Content = []mcp.Content{&mcp.TextContent{Text: e.Error()}}
	}
	if a, _ := answerOf(e.Kind); a.plain {
		out.Content = []mcp.Content{&mcp.TextContent{Text: "The tool broke: this is a fault of helve and not of the call. Do it another way, or tell the user."}}
	}
	if e.Hint != "" {
		if first, ok := out.Content[0].(*mcp.TextContent); ok {
			first.Text += "\n\n" + e.Hint
		}
	}
	return out
}
