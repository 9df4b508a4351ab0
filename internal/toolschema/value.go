package toolschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// An object is a JSON object whose keys stay in order. Other values are as
// encoding/json has them, with numbers as they were written.
type object struct {
	keys []string
	vals map[string]any
}

func newObject() *object { return &object{vals: map[string]any{}} }

func (o *object) has(key string) bool {
	_, ok := o.vals[key]
	return ok
}

func (o *object) set(key string, v any) {
	if !o.has(key) {
		o.keys = append(o.keys, key)
	}
	o.vals[key] = v
}

func (o *object) remove(key string) {
	if o.has(key) {
		delete(o.vals, key)
		o.keys = slices.DeleteFunc(o.keys, func(k string) bool { return k == key })
	}
}

// rename gives a value another key at the same place; a value that has that
// key already stays, and the renamed one goes.
func (o *object) rename(from, to string) {
	if !o.has(from) {
		return
	}
	if o.has(to) {
		o.remove(from)
		return
	}
	o.keys[slices.Index(o.keys, from)] = to
	o.vals[to] = o.vals[from]
	delete(o.vals, from)
}

// clone copies an object; its values are shared.
func (o *object) clone() *object {
	c := &object{keys: slices.Clone(o.keys), vals: make(map[string]any, len(o.vals))}
	for k, v := range o.vals {
		c.vals[k] = v
	}
	return c
}

// list returns the value of a key if it is an array.
func (o *object) list(key string) []any {
	l, _ := o.vals[key].([]any)
	return l
}

// parse reads a document.
func parse(text []byte) (any, error) {
	if len(text) > maxInput {
		return nil, fmt.Errorf("the schema has %d bytes, and %d is the most: make it smaller", len(text), maxInput)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := decodeValue(d, 0)
	if err != nil {
		return nil, fmt.Errorf("the schema is not JSON that can be read: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the schema is not one JSON value: something stands behind it")
	}
	return v, nil
}

func decodeValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxNested {
		return nil, fmt.Errorf("it is more than %d levels deep", maxNested)
	}
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		out := []any{}
		for d.More() {
			v, err := decodeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		_, err = d.Token()
		return out, err
	case json.Delim('{'):
		out := newObject()
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := decodeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			out.set(key.(string), v)
		}
		_, err = d.Token()
		return out, err
	}
	return token, nil
}

// encode writes a value, keys in their order.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := write(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func write(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case *object:
		b.WriteByte('{')
		for i, key := range v.keys {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := write(b, key); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := write(b, v.vals[key]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := write(b, e); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the line end
	return nil
}

// canonicalText is a value as it is written, to compare it.
func canonicalText(v any) string {
	out, err := encode(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(out)
}

// sizeOf is about how many bytes a value takes when it is written.
func sizeOf(v any) int {
	switch v := v.(type) {
	case *object:
		n := 2
		for _, key := range v.keys {
			n += len(key) + 4 + sizeOf(v.vals[key])
		}
		return n
	case []any:
		n := 2
		for _, e := range v {
			n += 1 + sizeOf(e)
		}
		return n
	case string:
		return len(v) + 2
	case json.Number:
		return len(v)
	}
	return 5
}

// unescape reads a step of a JSON pointer.
func unescape(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
}
