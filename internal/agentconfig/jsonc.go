package agentconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

const byteOrderMark = "\ufeff"

// maxDepth bounds how deep a document may be nested: the parser goes down by
// calling itself.
const maxDepth = 1000

// jsonText is a document of JSON with comments and trailing commas.
type jsonText struct {
	mark string // a byte order mark, or nothing
	data []byte // the rest
	root *hujson.Value
}

func (t *jsonText) bytes() []byte {
	if t.data == nil {
		return nil
	}
	return append([]byte(t.mark), t.data...)
}

// parseJSON reads a document. One that holds no value at all, just space and
// comments, has no root; nil is one that is not there.
func parseJSON(data []byte) (*jsonText, error) {
	if data == nil {
		return &jsonText{}, nil
	}
	t := &jsonText{data: data}
	if rest, ok := bytes.CutPrefix(data, []byte(byteOrderMark)); ok {
		t.mark, t.data = byteOrderMark, rest
	}
	if !utf8.Valid(t.data) {
		return nil, errors.New("the file is not UTF-8 text")
	}
	if depth(t.data) > maxDepth {
		return nil, errors.New("the file is nested too deeply")
	}
	if len(extra(t.data)) == len(t.data) {
		return t, nil
	}
	// A comment at the very end needs no line end, but the parser wants one.
	root, err := hujson.Parse(append(slices.Clip(t.data), '\n'))
	if err != nil {
		return nil, fmt.Errorf("the file is not JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, errors.New("the file does not hold a JSON object")
	}
	t.root = &root
	return t, nil
}

// depth returns how many brackets are open at most, or more.
func depth(b []byte) (most int) {
	open := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '/':
			n := len(extra(b[i:]))
			if n == 0 {
				return most // not JSON, or a comment without an end
			}
			i += n - 1
		case '{', '[':
			open++
			most = max(most, open)
		case '}', ']':
			open--
		}
	}
	return most
}

// extra returns the space and the comments that a text begins with.
func extra(b []byte) []byte {
	i := 0
	for i < len(b) {
		switch {
		case strings.IndexByte(" \t\r\n", b[i]) >= 0:
			i++
		case bytes.HasPrefix(b[i:], []byte("//")):
			n := bytes.IndexByte(b[i:], '\n')
			if n < 0 {
				return b
			}
			i += n
		case bytes.HasPrefix(b[i:], []byte("/*")):
			n := bytes.Index(b[i+2:], []byte("*/"))
			if n < 0 {
				return b[:i]
			}
			i += n + 4
		default:
			return b[:i]
		}
	}
	return b
}

// comments returns the beginning of a piece of space and comments up to the
// end of its last comment.
func comments(b []byte) []byte {
	end, _ := lastComment(b)
	return b[:end]
}

// lastComment returns where the last comment of a piece of space and comments
// ends, and whether it is one that goes on to the end of its line. The line
// end is not part of it.
func lastComment(b []byte) (end int, line bool) {
	for i := 0; i < len(b); {
		switch {
		case bytes.HasPrefix(b[i:], []byte("//")):
			if n := bytes.IndexByte(b[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(b)
			}
			end, line = i, true
			if b[end-1] == '\r' {
				end--
			}
		case bytes.HasPrefix(b[i:], []byte("/*")):
			i += bytes.Index(b[i+2:], []byte("*/")) + 4
			end, line = i, false
		default:
			i++
		}
	}
	return end, line
}

// find returns the value at a path of keys, nil if it is not there. Keys on
// the way must not be there twice, and the values on the way must be objects.
func (t *jsonText) find(path ...string) (*hujson.Value, error) {
	at := t.root
	for i, key := range path {
		if at == nil {
			return nil, nil
		}
		o, ok := at.Value.(*hujson.Object)
		if !ok {
			return nil, fmt.Errorf("%q is not an object", strings.Join(path[:i], "."))
		}
		n, err := member(o, key)
		if err != nil || n < 0 {
			return nil, err
		}
		at = &o.Members[n].Value
	}
	return at, nil
}

// member returns the place of a key in an object, -1 if it is not there.
func member(o *hujson.Object, key string) (int, error) {
	found := -1
	for i := range o.Members {
		if o.Members[i].Name.Value.(hujson.Literal).String() != key {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("the key %q is there twice", key)
		}
		found = i
	}
	return found, nil
}

// newline returns the line end of the document.
func (t *jsonText) newline() string {
	if i := bytes.IndexByte(t.data, '\n'); i > 0 && t.data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// unit returns what the document indents by.
func (t *jsonText) unit() string {
	if t.root != nil {
		if o := t.root.Value.(*hujson.Object); len(o.Members) > 0 {
			if in := indent(o.Members[0].Name.BeforeExtra); in != "" {
				return in
			}
		}
	}
	return "  "
}

// indent returns the indentation of what follows a piece of space and
// comments, empty if that does not begin a line.
func indent(b []byte) string {
	i := bytes.LastIndexByte(b, '\n')
	line := b[i+1:]
	if i < 0 {
		return ""
	}
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// splice returns a document with pieces replaced, in order of their places.
func (t *jsonText) splice(pieces ...piece) (*jsonText, error) {
	var b []byte
	at := 0
	for _, p := range pieces {
		b = append(append(b, t.data[at:p.from]...), p.with...)
		at = p.to
	}
	b = append(b, t.data[at:]...)
	now, err := parseJSON(append([]byte(t.mark), b...))
	if err != nil {
		return nil, fmt.Errorf("the edit does not fit: %w", err)
	}
	return now, nil
}

// A piece of a document is replaced.
type piece struct {
	from, to int
	with     string
}

// generic returns the document as plain Go values.
func (t *jsonText) generic() (map[string]any, error) {
	v := map[string]any{}
	if t.root == nil {
		return v, nil
	}
	return v, decodeJSON(t.root, &v)
}

func decodeJSON(value *hujson.Value, into any) error {
	c := value.Clone()
	c.BeforeExtra, c.AfterExtra = nil, nil
	c.Standardize()
	dec := json.NewDecoder(bytes.NewReader(c.Pack()))
	dec.UseNumber()
	return dec.Decode(into)
}

// differs makes sure that two documents differ just as change does it to the
// first one's values.
func (t *jsonText) differs(now *jsonText, change func(map[string]any)) error {
	want, err := t.generic()
	if err != nil {
		return err
	}
	got, err := now.generic()
	if err != nil {
		return err
	}
	change(want)
	if !reflect.DeepEqual(want, got) {
		return errors.New("the edit would change more than the entry")
	}
	return nil
}
