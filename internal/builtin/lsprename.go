package builtin

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/helve-dev/helve/internal/lspclient"
	"github.com/helve-dev/helve/lsp"
	"github.com/helve-dev/helve/tool"
)

// How often a server is asked again for a rename that leaves out the definition, and the time in
// between: its index may not be complete yet.
const (
	renameTries = 3
	renamePause = 300 * time.Millisecond
)

// renamed asks a server for the edits of a rename. It refuses edits that leave out the definition
// of the symbol in a file of the project, because the result would be inconsistent.
func (q *lspCall) renamed(ctx context.Context, v *lspclient.View, at map[string]any) (json.RawMessage, error) {
	homes := q.homes(ctx, v, at)
	files := append([]string{q.path.String()}, homes...)
	for try := 1; ; try++ {
		// When this returns, files that were just opened have been read too.
		q.languages.Check(ctx, lspclient.Question{Files: files})
		raw, err := v.Call(ctx, "textDocument/rename", at)
		if err != nil {
			return nil, q.unserved(ctx, err)
		}
		if more := unopened(v, raw, files); len(more) > 0 && try < renameTries {
			files = append(files, more...) // edits are made on texts that both have
			continue
		}
		left := leftOut(v, raw, homes)
		if left == "" {
			return raw, nil
		}
		if try == renameTries {
			return nil, tool.Fail("incomplete", "%s would rename without the definition in %s: it has not gone through the whole project, or can not. Nothing was changed. Try again in a moment, or make the change by other means.",
				v.Server(), q.editor.files.Beside(q.path, left).Title())
		}
		select {
		case <-time.After(renamePause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// homes returns the files of the project that define the symbol under its name here. A definition
// under another name keeps that name.
func (q *lspCall) homes(ctx context.Context, v *lspclient.View, at map[string]any) (files []string) {
	name := q.nameHere(v)
	raw, err := v.Call(ctx, "textDocument/definition", map[string]any{"textDocument": at["textDocument"], "position": at["position"]})
	if err != nil || name == "" {
		return nil
	}
	for _, one := range entries(v.Plain(raw)) {
		var place struct {
			URI   string    `json:"uri"`
			Range lsp.Range `json:"range"`
		}
		if json.Unmarshal(one, &place) != nil {
			continue
		}
		file, isFile, err := v.File(place.URI)
		path := q.editor.files.Beside(q.path, file)
		if err != nil || !isFile || file == q.path.String() || !q.editor.files.Inside(path) || slices.Contains(files, file) {
			continue
		}
		there := string(q.editor.files.Glance(file, lspGlance))
		if nameAt(there, place.Range.Start.Line+1, place.Range.Start.Character+1) == name {
			files = append(files, file)
		}
	}
	return files
}

// nameHere returns the name at the position of the call, or "".
func (q *lspCall) nameHere(v *lspclient.View) string {
	text, _ := v.Text(q.path.String())
	return nameAt(text, q.in.Line, q.in.Character)
}

// lspGlance limits how much of a file is read for a name.
const lspGlance = 8 << 20

// maxOpened limits how many files are opened in a server for one change.
const maxOpened = 100

// unopened returns the files that a change would touch and that the server knows only from disk,
// where it may not have noticed their latest changes. It returns none if there are too many to
// open.
func unopened(v *lspclient.View, raw json.RawMessage, files []string) (out []string) {
	steps, err := v.Edits(raw)
	if err != nil || len(steps) > maxOpened {
		return nil
	}
	for _, s := range steps {
		if _, open := v.Text(s.Path); !open && s.Kind == lspclient.EditText && !slices.Contains(files, s.Path) {
			out = append(out, s.Path)
		}
	}
	return out
}

// leftOut returns a file that a change should touch and does not, or "". A change that touches
// nothing leaves nothing out.
func leftOut(v *lspclient.View, raw json.RawMessage, homes []string) string {
	steps, err := v.Edits(raw)
	if err != nil || len(steps) == 0 {
		return ""
	}
	for _, home := range homes {
		if !slices.ContainsFunc(steps, func(s lspclient.FileEdit) bool { return s.Path == home }) {
			return home
		}
	}
	return ""
}

// nameAt returns the name at a position of a text, as editors count, or "".
func nameAt(text string, line, character int) string {
	for ; line > 1; line-- {
		_, text, _ = strings.Cut(text, "\n")
	}
	text, _, _ = strings.Cut(text, "\n")
	at := len(text)
	units := 1
	for i, r := range text {
		if units >= character {
			at = i
			break
		}
		units++
		if r > 0xFFFF {
			units++
		}
	}
	part := func(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	other := func(r rune) bool { return !part(r) }
	from := strings.LastIndexFunc(text[:at], other) + 1
	to := strings.IndexFunc(text[at:], other)
	if to < 0 {
		to = len(text) - at
	}
	return strings.TrimFunc(text[from:at+to], other)
}
