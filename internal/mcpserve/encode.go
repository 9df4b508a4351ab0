package mcpserve

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/helve-dev/helve/tool"
)

// keptBuffer is how large a buffer may be to be kept for the next answer.
const keptBuffer = 256 << 10

// plainResult reports whether a result is only a text with its notes.
func plainResult(res *tool.Result) bool {
	return res != nil && len(res.Inner) == 0 && len(res.Attachments) == 0 && res.Data == nil && exitCode(res) == 0
}

// appendResult encodes a plain result. It writes the bytes that the library
// would, without making its types first.
func appendResult(buf []byte, res *tool.Result) []byte {
	buf = append(buf, '{')
	start := len(buf)
	buf = append(buf, `"_meta":{`...)
	empty := len(buf)
	if len(res.Metadata) > 0 {
		buf = appendMetadata(buf, res.Metadata)
	}
	if res.Title != "" {
		if len(buf) > empty {
			buf = append(buf, ',')
		}
		buf = append(buf, `"`+metaTitle+`":`...)
		buf = appendString(buf, res.Title)
	}
	if len(buf) == empty {
		buf = buf[:start]
	} else {
		buf = append(buf, '}', ',')
	}
	buf = append(buf, `"content":[{"type":"text","text":`...)
	buf = appendString(buf, res.Output)
	return append(buf, `}]}`...)
}

// appendMetadata encodes the metadata of a result, unless it is too large or cannot be encoded.
func appendMetadata(buf []byte, m map[string]any) []byte {
	start := len(buf)
	buf = append(buf, `"`+metaData+`":`...)
	from := len(buf)
	buf, ok := appendMap(buf, m)
	if !ok {
		raw, err := json.Marshal(m)
		if err != nil {
			return buf[:start]
		}
		buf = append(buf[:from], raw...)
	}
	if len(buf)-from > maxMeta {
		return buf[:start]
	}
	return buf
}

// appendMap encodes a map of plain values. It reports false for any other.
func appendMap(buf []byte, m map[string]any) ([]byte, bool) {
	var room [8]string
	keys := room[:0]
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	buf = append(buf, '{')
	for i, key := range keys {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = appendString(buf, key)
		buf = append(buf, ':')
		switch v := m[key].(type) {
		case string:
			buf = appendString(buf, v)
		case bool:
			buf = strconv.AppendBool(buf, v)
		case int:
			buf = strconv.AppendInt(buf, int64(v), 10)
		default:
			return buf, false
		}
	}
	return append(buf, '}'), true
}

func appendID(buf []byte, id jsonrpc.ID) []byte {
	switch v := id.Raw().(type) {
	case int64:
		return strconv.AppendInt(buf, v, 10)
	case string:
		// An id is written as it is, and not for a page of HTML.
		raw, err := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: id, Result: json.RawMessage("0")})
		if prefix, suffix := len(`{"jsonrpc":"2.0","id":`), len(`,"result":0}`); err == nil && len(raw) > prefix+suffix {
			return append(buf, raw[prefix:len(raw)-suffix]...)
		}
		return appendString(buf, v)
	}
	return append(buf, "null"...)
}

// appendString encodes a text as encoding/json does.
func appendString(buf []byte, s string) []byte {
	buf = append(slices.Grow(buf, len(s)+len(s)/16+2), '"')
	start := 0
	for i := 0; i < len(s); {
		b := s[i]
		if b < utf8.RuneSelf {
			if b >= ' ' && b != '"' && b != '\\' && b != '<' && b != '>' && b != '&' {
				i++
				continue
			}
			buf = appendEscape(append(buf, s[start:i]...), b)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			buf = append(append(buf, s[start:i]...), `\ufffd`...)
			start = i + size
		case r == '\u2028' || r == '\u2029':
			buf = append(append(buf, s[start:i]...), '\\', 'u', '2', '0', '2', '8'+byte(r&1))
			start = i + size
		}
		i += size
	}
	return append(append(buf, s[start:]...), '"')
}

// appendEscape encodes a byte that must be escaped.
func appendEscape(buf []byte, b byte) []byte {
	const hex = "0123456789abcdef"
	switch b {
	case '"', '\\':
		return append(buf, '\\', b)
	case '\b':
		return append(buf, '\\', 'b')
	case '\f':
		return append(buf, '\\', 'f')
	case '\n':
		return append(buf, '\\', 'n')
	case '\r':
		return append(buf, '\\', 'r')
	case '\t':
		return append(buf, '\\', 't')
	}
	return append(buf, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
}
