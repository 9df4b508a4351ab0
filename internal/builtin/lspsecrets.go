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

// kept is what stands for the words of a server that are taken from a file
// that may not be read.
const kept = "(this is about a file that may not be read, so it is not shown)"

// discreet leaves out of what was found what is taken from files that the
// caller may not read: a program can be made to quote another file.
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

// secret reports whether what is said about a file must not be told.
func (e editor) secret(c *tool.Call, path files.Path, d lsp.Diagnostic) bool {
	if !e.files.MayRead(c, path) {
		return true
	}
	// Of a compiler that was made to read something outside as if it were code,
	// the words are those of that file.
	return quotes(d.Message) && !e.files.Inside(path) && !isHeader(path.Real())
}

// quotes reports whether a message of a compiler for C is about what it was
// told to include.
func quotes(message string) bool { return strings.HasPrefix(message, "In included file") }

// isHeader reports whether a file is one that programs in C include.
func isHeader(file string) bool {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".ipp", ".tpp", ".tcc", ".def":
		return true
	}
	return false
}

// harmlessMessage is a message of a server that can not be taken for something
// that helve says: it does not end the block that it stands in, and it holds
// nothing that commands a terminal or turns text around.
func harmlessMessage(message string) string {
	said := text.Harmless(strings.ToValidUTF8(message, "\ufffd")) // before the rest: it ends lines, and brings together what stood apart
	return strings.NewReplacer("\n", "\n  ", "</diagnostics", "<\\/diagnostics", "<diagnostics", "<\\diagnostics").Replace(said)
}

// overt reports whether a hover may be shown: not where it describes something
// that stands in a file which may not be read.
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
