package builtin

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/lspclient"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/lsp"
	"github.com/helve-dev/helve/tool"
)

// kept replaces a server's text that comes from a file that may not be read.
const kept = "(this is about a file that may not be read, so it is not shown)"

// discreet removes text from diagnostics that comes from files the caller may not read, because a
// program can be made to quote another file.
func (e editor) discreet(c *tool.Call, near files.Path, list []lsp.Diagnostic) []lsp.Diagnostic {
	list = slices.Clone(list)
	for i := range list {
		d := &list[i]
		if !slices.ContainsFunc(d.About, func(file string) bool { return e.secret(c, e.files.Beside(near, file), *d) }) {
			continue
		}
		d.Message, d.Code, d.About = kept, nil, nil
		if raw, err := json.Marshal(d); err == nil {
			d.Raw = raw
		}
	}
	return list
}

// secret reports whether a diagnostic must not be shown.
func (e editor) secret(c *tool.Call, path files.Path, d lsp.Diagnostic) bool {
	if !e.files.MayRead(c, path) {
		return true
	}
	// A compiler that was made to read an outside file as code quotes that file in its messages.
	return strings.HasPrefix(d.Message, "In included file") && !e.files.Inside(path) && !isHeader(path.Real())
}

// isHeader reports whether a file is a C header.
func isHeader(file string) bool {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".ipp", ".tpp", ".tcc", ".def":
		return true
	}
	return false
}

// harmlessMessage returns a server's message so that it cannot be taken for helve's own text: it
// cannot end the block that contains it, and has no terminal or bidirectional control characters.
func harmlessMessage(message string) string {
	said := text.Harmless(strings.ToValidUTF8(message, "\ufffd")) // before the rest: it ends lines, and brings together what stood apart
	return strings.NewReplacer("\n", "\n  ", "</diagnostics", "<\\/diagnostics", "<diagnostics", "<\\diagnostics").Replace(said)
}

// overt reports whether a hover may be shown: not if it describes something in a file that may not
// be read.
func (q *lspCall) overt(ctx context.Context, v *lspclient.View, hover []json.RawMessage) bool {
	if !slices.ContainsFunc(hover, isGiven) {
		return true
	}
	raw, err := v.Call(ctx, "textDocument/definition", map[string]any{
		"textDocument": map[string]any{"uri": v.URI()}, "position": v.At(q.in.Line, q.in.Character),
	})
	if err != nil { // then nobody knows
		return true
	}
	for _, one := range entries(raw) {
		var m mention
		_ = json.Unmarshal(one, &m) // what has another form mentions no file
		if slices.ContainsFunc(m.uris(), func(uri string) bool { return !q.mayShow(v, uri) }) {
			return false
		}
	}
	return true
}
