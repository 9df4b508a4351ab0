package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/helve-dev/helve/model"
)

// Prefixes of seals, by what they hold. Seals of other providers begin differently and are not sent
// to this API.
const (
	sealSignature = "anthropic:signature:"
	sealRedacted  = "anthropic:redacted:"
)

// blockOf converts a part for the API; false if there is nothing to send.
func blockOf(role model.Role, p model.Part, n names) (block, bool) {
	switch {
	case p.Reasoning != nil:
		return thought(p.Reasoning)
	case p.Call != nil && role == model.Assistant:
		return block{Type: "tool_use", ID: n.ids.nameFor(p.Call.ID), Name: n.tools.nameFor(p.Call.Name), Input: inputObject(p.Call.Input)}, true
	case p.Result != nil && role == model.User:
		return resultOf(p.Result, n), true
	case p.File != nil && role == model.User:
		return fileOf(*p.File), true
	}
	return block{Type: "text", Text: p.Text}, !isBlank(p.Text)
}

// thought returns the reasoning as the API sent it. The API does not accept reasoning that it did
// not seal.
func thought(r *model.Reasoning) (block, bool) {
	if data, ok := strings.CutPrefix(r.Seal, sealRedacted); ok {
		return block{Type: "redacted_thinking", Data: data}, data != ""
	}
	signature, ok := strings.CutPrefix(r.Seal, sealSignature)
	return block{Type: "thinking", Thinking: &r.Text, Signature: signature}, ok && signature != ""
}

// inputObject returns the input of a call as a JSON object, which the API requires whatever the
// model wrote.
func inputObject(input json.RawMessage) json.RawMessage {
	text := bytes.TrimSpace(bytes.ToValidUTF8(input, []byte("\ufffd")))
	empty := len(text) == 0 || string(text) == "null"
	switch {
	case empty:
		return json.RawMessage("{}")
	case !json.Valid(text):
		return wrapped(string(text))
	case text[0] != '{':
		return wrapped(json.RawMessage(text))
	case bytes.Contains(bytes.ToLower(text), []byte(`\ud`)):
		return paired(text)
	}
	return text
}

func wrapped(value any) json.RawMessage {
	text, err := json.Marshal(map[string]any{"value": value})
	if err != nil {
		return json.RawMessage("{}")
	}
	return paired(text)
}

// paired rewrites JSON so that it contains no half surrogate pair.
func paired(text []byte) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return json.RawMessage("{}")
	}
	again, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage("{}")
	}
	return again
}

func resultOf(r *model.Result, n names) block {
	b := block{Type: "tool_result", ToolUseID: n.ids.nameFor(r.ID), IsError: r.Failed}
	switch said := !isBlank(r.Output); {
	case len(r.Files) > 0:
		var list []block
		if said {
			list = append(list, block{Type: "text", Text: r.Output})
		}
		for _, f := range r.Files {
			list = append(list, fileOf(f))
		}
		b.Content = list
	case said:
		b.Content = r.Output
	case r.Failed: // an error has to say something
		b.Content = "(no output)"
	}
	return b
}

// fileOf sends an image or a PDF, and describes any other file.
func fileOf(f model.File) block {
	kind, _, _ := strings.Cut(strings.ToLower(f.Mime), ";")
	kind = strings.TrimSpace(kind)
	if kind == "image/jpg" {
		kind = "image/jpeg"
	}
	if len(f.Data) > 0 {
		switch kind {
		case "image/jpeg", "image/png", "image/gif", "image/webp":
			return block{Type: "image", Source: &imageSource{"base64", kind, f.Data}}
		case "application/pdf":
			return block{Type: "document", Title: f.Name, Source: &imageSource{"base64", kind, f.Data}}
		}
	}
	what := "a file"
	if f.Name != "" {
		what = fmt.Sprintf("the file %q", f.Name)
	}
	return block{Type: "text", Text: fmt.Sprintf("[%s of type %q and %d bytes can not be shown]", what, f.Mime, len(f.Data))}
}
