package agentconfig

import (
	"bytes"
	"encoding/json"
	"slices"
)

// A serverEntry is a server in a config file.
type serverEntry struct {
	table   []string // the object the entry lies in
	nested  string   // an object in the table that holds the entries instead, if it is there
	name    string
	program string          // an entry that starts this program is ours; "": none is
	fields  []field         // of the entry, in order
	value   json.RawMessage // the whole entry, instead of fields
	force   bool
}

// A field is a member of an entry.
type field struct {
	key   string
	value any  // string, bool, []string, map[string]string or json.RawMessage
	once  bool // written with a new entry, left alone in an old one
	merge bool // a map whose members are set one by one
	flat  bool // not in the nested table
}

// text is the contents of a config file. Its methods return a changed text
// and leave the old one alone; they return the same one if there is nothing
// to change.
type text interface {
	bytes() []byte
	put(serverEntry) (text, error)
	take(serverEntry) (text, error)
	off(serverEntry) bool // the entry is there and switched off
}

// rawFields returns the fields as a JSON object.
func rawFields(fields []field) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quote(f.key))
		b.WriteByte(':')
		b.Write(marshal(f.value))
	}
	b.WriteByte('}')
	return b.Bytes()
}

// marshal writes a value without the escapes that only HTML needs. The values
// of fields cannot fail.
func marshal(v any) json.RawMessage {
	if raw, ok := v.(json.RawMessage); ok {
		return raw
	}
	raw, _ := tryMarshal(v)
	return raw
}

func tryMarshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

func quote(s string) []byte { return marshal(s) }

// in returns the fields an entry has in its table, or in the nested one.
func (e serverEntry) in(nested bool) []field {
	return slices.DeleteFunc(slices.Clone(e.fields), func(f field) bool { return nested && f.flat })
}
