package agentconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// where returns the table that holds an entry, and whether it is the nested
// one. A nested table is one whose members are objects, unlike a server.
func (t *jsonText) where(e serverEntry) (table []string, nested bool) {
	if e.nested == "" {
		return e.table, false
	}
	inner := append(slices.Clone(e.table), e.nested)
	v, err := t.find(inner...)
	if err != nil || v == nil {
		return e.table, false
	}
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return e.table, false
	}
	for i := range o.Members {
		if _, ok := o.Members[i].Value.Value.(*hujson.Object); !ok {
			return e.table, false
		}
	}
	return inner, true
}

func (t *jsonText) hasEntry(e serverEntry) bool {
	table, _ := t.where(e)
	for _, at := range [][]string{table, e.table} {
		if v, err := t.find(append(slices.Clone(at), e.name)...); err == nil && v != nil {
			return true
		}
	}
	return false
}

// locate returns the table and the value of an entry. One that lies in the
// outer table is found also where there is a nested one.
func (t *jsonText) locate(e serverEntry) (table []string, value *hujson.Value, nested bool, err error) {
	table, nested = t.where(e)
	value, err = t.find(append(slices.Clone(table), e.name)...)
	if err == nil && value == nil && nested && e.name != e.nested {
		outer, err := t.find(append(slices.Clone(e.table), e.name)...)
		if err != nil || outer != nil {
			return e.table, outer, false, err
		}
	}
	return table, value, nested, err
}

// ours reports whether an entry starts the program.
func (e serverEntry) ours(value *hujson.Value) bool {
	var got struct{ Command any }
	if e.program == "" || decodeJSON(value, &got) != nil {
		return false
	}
	switch c := got.Command.(type) {
	case string:
		return programName(c) == e.program
	case []any:
		if len(c) > 0 {
			s, _ := c[0].(string)
			return programName(s) == e.program
		}
	}
	return false
}

func (e serverEntry) takenError() error {
	return fmt.Errorf("%w: there is an entry %s.%s that starts something else", ErrTaken, strings.Join(e.table, "."), e.name)
}

func (t *jsonText) put(e serverEntry) (text, error) {
	if t.root == nil {
		return t.putAlone(e)
	}
	table, value, nested, err := t.locate(e)
	if err != nil {
		return nil, err
	}
	whole := e.value
	if whole == nil {
		whole = rawFields(e.in(nested))
	}
	var now *jsonText
	switch {
	case value == nil:
		now, err = t.add(table, e.name, whole)
	case e.value == nil && e.ours(value):
		now, err = t.update(append(slices.Clone(table), e.name), e.in(nested))
	case sameJSON(value, whole):
		return t, nil
	case !e.force:
		return nil, e.takenError()
	default:
		now, err = t.setKey(table, e.name, whole)
	}
	if err != nil {
		return nil, err
	}
	entryNow, err := now.find(append(slices.Clone(table), e.name)...)
	if err != nil || entryNow == nil {
		return nil, errors.Join(errors.New("the edit went wrong"), err)
	}
	var got any
	if err := decodeJSON(entryNow, &got); err != nil {
		return nil, err
	}
	return now, t.differs(now, func(doc map[string]any) {
		for _, key := range table {
			next, ok := doc[key].(map[string]any)
			if !ok {
				next = map[string]any{}
				doc[key] = next
			}
			doc = next
		}
		doc[e.name] = got
	})
}

// putAlone writes the first value of a document.
func (t *jsonText) putAlone(e serverEntry) (text, error) {
	doc := newDocument(e)
	if newline := t.newline(); newline != "\n" {
		doc = []byte(strings.ReplaceAll(string(doc), "\n", newline))
	}
	if n := len(t.data); n > 0 && t.data[n-1] != '\n' {
		doc = append([]byte(t.newline()), doc...)
	}
	return parseJSON(append(append([]byte(t.mark), t.data...), doc...))
}

// add puts a new entry into a table, which is made if it is not there.
func (t *jsonText) add(table []string, name string, value json.RawMessage) (*jsonText, error) {
	at, key := t.root, name
	for i := range table {
		next, err := t.find(table[:i+1]...)
		if err != nil {
			return nil, err
		}
		if next == nil {
			key = table[i]
			rest := append(slices.Clone(table[i+1:]), name)
			for j := len(rest) - 1; j >= 0; j-- {
				value = nest(nil, rest[j], value)
			}
			break
		}
		if _, ok := next.Value.(*hujson.Object); !ok {
			return nil, fmt.Errorf("%q is not an object", strings.Join(table[:i+1], "."))
		}
		at = next
	}
	return t.insert(at, key, value)
}

// update brings the fields of an entry up to date.
func (t *jsonText) update(path []string, fields []field) (now *jsonText, err error) {
	now = t
	for _, f := range fields {
		if f.once {
			continue
		}
		old, err := now.find(append(slices.Clone(path), f.key)...)
		if err != nil {
			return nil, err
		}
		members, _ := f.value.(map[string]string)
		if f.merge && old != nil && old.Value.Kind() == '{' {
			for _, k := range slices.Sorted(maps.Keys(members)) {
				if now, err = now.refresh(append(slices.Clone(path), f.key), k, marshal(members[k])); err != nil {
					return nil, err
				}
			}
			continue
		}
		if now, err = now.refresh(path, f.key, marshal(f.value)); err != nil {
			return nil, err
		}
	}
	return now, nil
}

// refresh sets a member unless it has the value.
func (t *jsonText) refresh(path []string, key string, value json.RawMessage) (*jsonText, error) {
	old, err := t.find(append(slices.Clone(path), key)...)
	if err != nil || old != nil && sameJSON(old, value) {
		return t, err
	}
	return t.setKey(path, key, value)
}

// sameJSON reports whether a value is the same JSON, in whatever way written.
func sameJSON(value *hujson.Value, raw json.RawMessage) bool {
	want, err := hujson.Parse(raw)
	if err != nil {
		return false
	}
	var a, b any
	return decodeJSON(value, &a) == nil && decodeJSON(&want, &b) == nil && reflect.DeepEqual(a, b)
}

func (t *jsonText) take(e serverEntry) (text, error) {
	table, value, _, err := t.locate(e)
	if err != nil || value == nil {
		return t, err
	}
	if !e.force && !e.ours(value) {
		return nil, e.takenError()
	}
	alone := serverEntry{table: table, name: e.name, value: standard(value)}
	if t.mark == "" && string(newDocument(alone)) == string(t.data) {
		return &jsonText{}, nil // as if it had never been there
	}
	now, err := t.deletePath(append(slices.Clone(table), e.name))
	if err != nil {
		return nil, err
	}
	gone := now.hollow(table)
	if gone {
		if now, err = now.deletePath(table); err != nil {
			return nil, err
		}
	}
	return now, t.differs(now, func(doc map[string]any) {
		if gone {
			delete(doc, table[0])
			return
		}
		for _, key := range table {
			doc, _ = doc[key].(map[string]any)
		}
		delete(doc, e.name)
	})
}

// hollow reports whether a table has nothing in it, and is the last thing in
// the document, where a new one is put.
func (t *jsonText) hollow(table []string) bool {
	left, _ := t.find(table...)
	if len(table) != 1 || left == nil || !isEmpty(left) {
		return false
	}
	root := t.root.Value.(*hujson.Object)
	n, _ := member(root, table[0])
	return n == len(root.Members)-1 && len(comments(root.Members[n].Name.AfterExtra))+len(comments(left.BeforeExtra)) == 0
}

// deletePath removes what is at a path.
func (t *jsonText) deletePath(path []string) (*jsonText, error) {
	at, err := t.find(path[:len(path)-1]...)
	if err != nil {
		return nil, err
	}
	n, err := member(at.Value.(*hujson.Object), path[len(path)-1])
	if err != nil {
		return nil, err
	}
	o := at.Value.(*hujson.Object)
	m := o.Members[n]
	before, after := m.Name.BeforeExtra, m.Value.AfterExtra
	from, to := m.Name.StartOffset-len(before), m.Value.EndOffset
	last := n == len(o.Members)-1
	comma := !last || after != nil
	with := ""
	if comma {
		to += len(after) + 1
		if len(comments(after)) > 0 {
			with = string(after)
		}
	}
	from += keptSpace(before, t.data[to:], with)
	if only := last && n == 0; only && len(comments(t.data[at.StartOffset+1:from])) == 0 && with == "" &&
		len(bytes.TrimSpace(o.AfterExtra)) == 0 {
		return t.splice(piece{at.StartOffset + 1, at.EndOffset - 1, ""})
	}
	cut := piece{from, to, with}
	if n == 0 || comma {
		return t.splice(cut)
	}
	prev := o.Members[n-1].Value
	i := prev.EndOffset + len(prev.AfterExtra) // of the comma that has nothing to part any more
	return t.splice(piece{i, i + 1, ""}, cut)
}

// isEmpty reports whether a value is an object without members and comments.
func isEmpty(v *hujson.Value) bool {
	o, ok := v.Value.(*hujson.Object)
	return ok && len(o.Members) == 0 && len(comments(o.AfterExtra)) == 0
}

// standard returns a value as plain JSON.
func standard(v *hujson.Value) json.RawMessage {
	c := v.Clone()
	c.BeforeExtra, c.AfterExtra = nil, nil
	c.Minimize()
	return c.Pack()
}

func (t *jsonText) off(e serverEntry) bool {
	_, value, _, err := t.locate(e)
	if err != nil || value == nil {
		return false
	}
	var got struct {
		Enabled  *bool
		Disabled bool
	}
	return decodeJSON(value, &got) == nil && (got.Disabled || got.Enabled != nil && !*got.Enabled)
}
