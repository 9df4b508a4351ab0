package mcpclient

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// RepairResult returns the result of a tools/call in a form that the SDK can decode. The SDK
// rejects a whole result for one piece of content that has an unknown kind, a field of the wrong
// type, or invalid base64. RepairResult repairs such a piece, or replaces it by a text that says
// so. It returns anything else unchanged.
func RepairResult(raw json.RawMessage) json.RawMessage {
	if decodes(raw) {
		return raw
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return raw
	}
	items, err := pieces(fields["content"])
	if err != nil {
		return raw
	}
	fixed := map[string]any{"content": items}
	if v, ok := fields["structuredContent"]; ok {
		fixed["structuredContent"] = v
	}
	failed := strings.Trim(string(fields["isError"]), `"`)
	fixed["isError"] = failed == "true" || failed == "1"
	for _, key := range [...]string{"_meta", "resultType", "inputRequests", "requestState"} {
		v, ok := fields[key]
		if one, err := encode(map[string]any{"content": []any{}, key: v}); ok && err == nil && decodes(one) {
			fixed[key] = v
		}
	}
	out, err := encode(fixed)
	if err != nil || !decodes(out) {
		return raw
	}
	return out
}

// pieces returns the pieces of content, repaired. A piece that is not in a list counts as a list of
// one.
func pieces(content json.RawMessage) ([]json.RawMessage, error) {
	items := []json.RawMessage{}
	content = bytes.TrimSpace(content)
	switch {
	case len(content) == 0:
	case content[0] == '[':
		if err := json.Unmarshal(content, &items); err != nil {
			return nil, err
		}
	default:
		items = append(items, content)
	}
	for i := range items {
		items[i] = mendItem(items[i])
	}
	return items, nil
}

// decodes reports whether the SDK can decode a result.
func decodes(raw json.RawMessage) bool {
	return json.Unmarshal(raw, new(mcp.CallToolResult)) == nil
}

// mendItem returns one piece of content as the SDK can decode it.
func mendItem(item json.RawMessage) json.RawMessage {
	if fits(item) {
		return item
	}
	v, err := decode(item)
	if err != nil {
		return note("content was left out, since it is not JSON")
	}
	switch v := v.(type) {
	case string:
		return asText(v)
	case map[string]any:
		return mendObject(v)
	}
	return note("content was left out, since it is " + kindOf(v))
}

func mendObject(v map[string]any) json.RawMessage {
	kind, _ := v["type"].(string)
	if words, ok := v["text"]; ok && (kind == "" || kind == "text") {
		if s, ok := words.(string); ok {
			return asText(s)
		}
		raw, _ := encode(words) // it has just been decoded
		return asText(string(raw))
	}
	kept := map[string]any{"type": kind}
	for _, key := range [...]string{"text", "mimeType", "uri", "name", "title", "description"} {
		if s, ok := v[key].(string); ok {
			kept[key] = s
		}
	}
	bad := false
	if s, ok := v["data"].(string); ok {
		kept["data"], bad = rebased(s)
	}
	if r, ok := v["resource"].(map[string]any); ok {
		inner := map[string]any{}
		for _, key := range [...]string{"uri", "mimeType", "text"} {
			if s, ok := r[key].(string); ok {
				inner[key] = s
			}
		}
		if s, ok := r["blob"].(string); ok {
			inner["blob"], bad = rebased(s)
		}
		kept["resource"] = inner
	}
	if bad {
		return note("content of the kind " + line(kind, maxQuote) + " was left out, since it is not base64")
	}
	if out, err := encode(kept); err == nil && fits(out) {
		return out
	}
	return note("content of the kind " + quoted(kind) + " was left out, since it is not known or not as it should be")
}

// fits reports whether the SDK can decode a piece of content.
func fits(item json.RawMessage) bool {
	whole, err := encode(map[string]any{"content": []json.RawMessage{item}})
	return err == nil && decodes(whole)
}

// rebased returns base64 of any flavour in the usual one.
func rebased(s string) (clean string, bad bool) {
	if _, after, ok := strings.Cut(s, ";base64,"); ok && strings.HasPrefix(s, "data:") {
		s = after
	}
	s = strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "", " ", "", "\t", "").Replace(s)
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return base64.StdEncoding.EncodeToString(data), err != nil
}

func note(said string) json.RawMessage { return asText("[" + said + "]") }

func asText(s string) json.RawMessage {
	out, err := encode(map[string]string{"type": "text", "text": s})
	if err != nil {
		return json.RawMessage(`{"type":"text","text":""}`)
	}
	return out
}
