package lspclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/lsp"
	"time"
)

// A View is a server with a file open in it, to ask about that file.
type View struct {
	link *link
	doc  *doc // nil where it is about no file
}

// Server is what the server is called.
func (v *View) Server() string { return v.link.c.server.Name }

// URI names the file in the protocol.
func (v *View) URI() string { return v.doc.uri }

// At converts a position as shown by editors, counted from 1 and in UTF-16 units, to the server's
// units. A position beyond the end of a line or of the file is its end.
func (v *View) At(line, character int) lsp.Position {
	v.link.mu.Lock()
	defer v.link.mu.Unlock()
	p := lsp.Position{Line: max(line-1, 0), Character: max(character-1, 0)}
	if v.link.encoding == utf16Units {
		return p
	}
	return convert(p, v.doc.lines, utf16Units, v.link.encoding)
}

// Supports reports whether the server answers a request, as far as is known: of
// one that only the config names, what it says of itself is not believed.
func (v *View) Supports(method string) bool {
	return v.link.supports(method) || !v.link.c.server.isBuiltin()
}

// Call sends a request to the server. Its error is [Unanswered] if there was no response in time.
func (v *View) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	l := v.link
	defer l.c.acquire()()
	limit := l.c.set.opt.Request
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	begin := time.Now()
	raw, err := l.conn.call(bounded, method, params)
	switch {
	case err == nil:
		return raw, nil
	case noMethod(err) && !l.supports(method):
		return json.RawMessage("null"), nil // it never said that it could
	case ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, context.Cause(ctx)
	case bounded.Err() != nil:
		return nil, &Unanswered{v.Server(), method, time.Since(begin).Round(100 * time.Millisecond)}
	}
	return nil, fmt.Errorf("The language server %s: %w", v.Server(), err) //nolint:staticcheck // ST1005: models read it as a sentence
}

func noMethod(err error) bool {
	e, ok := errors.AsType[*rpcError](err)
	return ok && e.Code == codeNoMethod
}

// Native is a diagnostic of the file in the units that the server counts in.
func (v *View) Native(raw json.RawMessage) json.RawMessage {
	l := v.link
	var d lsp.Diagnostic
	if l.encoding == utf16Units || json.Unmarshal(raw, &d) != nil {
		return raw
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return replaced(raw, lsp.Range{Start: convert(d.Range.Start, v.doc.lines, utf16Units, l.encoding), End: convert(d.Range.End, v.doc.lines, utf16Units, l.encoding)})
}

// Edits reads a change of files that the server proposes.
func (v *View) Edits(raw json.RawMessage) ([]FileEdit, error) {
	return parseWorkspaceEdit(raw, v.link.encoding)
}

// Text is the text of a file as the server has it, if it is open there.
func (v *View) Text(path string) (string, bool) {
	v.link.mu.Lock()
	defer v.link.mu.Unlock()
	d := v.link.docs[path]
	if d == nil {
		return "", false
	}
	return d.text, true
}

// Plain returns a response with its positions converted to UTF-16 units, whatever the server counts
// in.
func (v *View) Plain(raw json.RawMessage) json.RawMessage {
	if v.link.encoding == utf16Units || len(raw) == 0 {
		return raw
	}
	var tree any
	if json.Unmarshal(raw, &tree) != nil {
		return raw
	}
	p := plainer{v: v, texts: map[string]*lines{}}
	uri := ""
	if v.doc != nil {
		uri = v.doc.uri
	}
	out, err := json.Marshal(p.walk(tree, uri))
	if err != nil {
		return raw
	}
	return out
}

// A plainer converts the positions of a response.
type plainer struct {
	v     *View
	texts map[string]*lines // by URI; nil for one that cannot be read
}

// walk converts what stands in a value; uri is the file that it is about.
func (p plainer) walk(value any, uri string) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = p.walk(value[i], uri)
		}
	case map[string]any:
		line, isPosition := value["line"].(float64)
		if character, ok := value["character"].(float64); ok && isPosition {
			return p.convertPosition(lsp.Position{Line: int(line), Character: int(character)}, uri)
		}
		for _, about := range []any{value, value["from"]} { // the ranges of a call are in the file of the caller
			if o, ok := about.(map[string]any); ok {
				if named, ok := o["uri"].(string); ok {
					uri = named
				}
			}
		}
		for key := range value {
			value[key] = p.walk(value[key], uri)
		}
	}
	return value
}

func (p plainer) convertPosition(at lsp.Position, uri string) lsp.Position {
	text, known := p.texts[uri]
	if !known {
		if path, err := pathOf(uri); err == nil {
			p.v.link.mu.Lock()
			if d := p.v.link.docs[path]; d != nil {
				l := d.lines
				text = &l
			}
			p.v.link.mu.Unlock()
			if text == nil {
				if read, _, err := readText(path); err == nil {
					l := newLines(read)
					text = &l
				}
			}
		}
		p.texts[uri] = text
	}
	if text == nil {
		return at
	}
	return convert(at, *text, p.v.link.encoding, utf16Units)
}
