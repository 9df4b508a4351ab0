package agentconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// newDocument returns a document that holds an entry and nothing else.
func newDocument(e serverEntry) []byte {
	value := e.value
	if value == nil {
		value = rawFields(e.fields)
	}
	return append(render(nest(e.table, e.name, value), "", "  ", "\n"), '\n')
}

// nest wraps a value in objects.
func nest(table []string, name string, value json.RawMessage) json.RawMessage {
	wrap := func(key string, v json.RawMessage) json.RawMessage {
		return append(append(append(append([]byte("{"), quote(key)...), ':'), v...), '}')
	}
	value = wrap(name, value)
	for i := len(table) - 1; i >= 0; i-- {
		value = wrap(table[i], value)
	}
	return value
}

// render writes a JSON value over several lines, of which the first is not
// indented.
func render(raw json.RawMessage, prefix, unit, newline string) []byte {
	var b bytes.Buffer
	if json.Indent(&b, raw, prefix, unit) != nil {
		return raw
	}
	if newline != "\n" {
		return bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(newline))
	}
	return b.Bytes()
}

// setKey gives a key of an object, which is there, a value.
func (t *jsonText) setKey(path []string, key string, value json.RawMessage) (*jsonText, error) {
	at, err := t.find(path...)
	if err != nil {
		return nil, err
	}
	o, ok := at.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%q is not an object", strings.Join(path, "."))
	}
	n, err := member(o, key)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return t.insert(at, key, value)
	}
	m := o.Members[n]
	with := inlineJSON(value, spaced(o))
	if bytes.IndexByte(t.data[m.Value.StartOffset:m.Value.EndOffset], '\n') >= 0 {
		with = render(value, indent(m.Name.BeforeExtra), t.unit(), t.newline())
	}
	return t.splice(piece{m.Value.StartOffset, m.Value.EndOffset, string(with)})
}

// insert adds a member at the end of an object.
func (t *jsonText) insert(at *hujson.Value, key string, value json.RawMessage) (*jsonText, error) {
	o := at.Value.(*hujson.Object)
	if len(o.Members) == 0 {
		return t.insertFirst(at, key, value)
	}
	last := o.Members[len(o.Members)-1]
	before := last.Name.BeforeExtra
	comma := last.Value.AfterExtra != nil // there is one after the last member
	end := last.Value.EndOffset
	if comma {
		end += len(last.Value.AfterExtra) + 1
	}
	if bytes.IndexByte(before, '\n') < 0 {
		text := t.onOneLine(o, key, value)
		if comma {
			return t.splice(piece{end, end, text + ","})
		}
		return t.splice(piece{end, end, "," + text})
	}
	in := indent(before)
	text := t.newline() + in + t.onLines(key, value, in)
	tail := end + len(comments(o.AfterExtra)) // behind what is said about the last member
	if comma {
		return t.splice(piece{tail, tail, text + ","})
	}
	return t.splice(piece{end, end, ","}, piece{tail, tail, text})
}

// insertFirst adds a member to an empty object.
func (t *jsonText) insertFirst(at *hujson.Value, key string, value json.RawMessage) (*jsonText, error) {
	o := at.Value.(*hujson.Object)
	inner := o.AfterExtra
	end := at.EndOffset - 1
	start := end - len(inner)
	whole := t.data[t.root.StartOffset:t.root.EndOffset]
	if at.StartOffset != t.root.StartOffset && bytes.IndexByte(whole, '\n') < 0 {
		return t.splice(piece{end, end, strings.TrimLeft(t.onOneLine(t.root.Value.(*hujson.Object), key, value), " \t")})
	}
	line := t.data[bytes.LastIndexByte(t.data[:at.StartOffset], '\n')+1 : at.StartOffset]
	outer := string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
	in := outer + t.unit()
	text := t.newline() + in + t.onLines(key, value, in)
	said := len(comments(inner))
	if said == 0 {
		return t.splice(piece{start, end, text + t.newline() + outer})
	}
	if bytes.IndexByte(inner[said:], '\n') < 0 {
		text += t.newline() + outer
	}
	return t.splice(piece{start + said, start + said, text})
}

// onLines writes a member over several lines.
func (t *jsonText) onLines(key string, value json.RawMessage, in string) string {
	return string(quote(key)) + ": " + string(render(value, in, t.unit(), t.newline()))
}

// onOneLine writes a member as those of an object are that stand on one line,
// with the space before it.
func (t *jsonText) onOneLine(o *hujson.Object, key string, value json.RawMessage) string {
	colon, space := ":", ""
	if spaced(o) {
		colon, space = ": ", " "
	}
	if n := len(o.Members); n > 1 {
		if b := o.Members[n-1].Name.BeforeExtra; len(bytes.Trim(b, " \t")) == 0 {
			space = string(b)
		}
	}
	return space + string(quote(key)) + colon + string(inlineJSON(value, spaced(o)))
}

// spaced reports whether there is space after the colons of an object.
func spaced(o *hujson.Object) bool {
	return len(o.Members) > 0 && len(o.Members[0].Value.BeforeExtra) > 0
}

// inlineJSON writes a JSON value, which has no space in it, on one line.
func inlineJSON(raw json.RawMessage, spaced bool) []byte {
	if !spaced {
		return raw
	}
	var b []byte
	quoted := false
	for i, c := range raw {
		b = append(b, c)
		switch {
		case c == '"' && (!quoted || !escaped(raw[:i])):
			quoted = !quoted
		case !quoted && (c == ':' || c == ','):
			b = append(b, ' ')
		}
	}
	return b
}

// escaped reports whether what follows a text has a backslash to itself.
func escaped(b []byte) bool {
	return (len(b)-len(bytes.TrimRight(b, `\`)))%2 == 1
}

// keptSpace returns how much of the space and the comments before a member stays
// when the member goes: all but the line end and the indentation before it.
func keptSpace(before, next []byte, with string) int {
	line := bytes.TrimRight(before, " \t")
	rest, ok := bytes.CutSuffix(line, []byte("\n"))
	if !ok {
		if len(bytes.TrimSpace(before)) == 0 {
			return 0
		}
		return len(before)
	}
	rest = bytes.TrimSuffix(rest, []byte("\r"))
	endsLine := bytes.HasPrefix(next, []byte("\n")) || bytes.HasPrefix(next, []byte("\r\n"))
	if end, toLineEnd := lastComment(rest); toLineEnd && end == len(rest) && (with != "" || !endsLine) {
		return len(line) // a // comment must not reach any further
	}
	return len(rest)
}
