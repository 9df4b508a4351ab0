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

// How often a server is asked for a rename that leaves the definition out, and
// how long it gets in between: its index may not have come that far.
const (
	renameTries = 3
	renamePause = 300 * time.Millisecond
)

// renamed asks a server for the change that gives a symbol another name. A
// change that would leave out the place where the symbol is defined, in a file
// of the project, is not one: what is left would not fit together.
func (q *lspCall) renamed(ctx context.Context, v *lspclient.View, at map[string]any) (json.RawMessage, error) {
	homes := q.homes(ctx, v, at)
	files := append([]string{q.path.String()}, homes...)
	for try := 1; ; try++ {
		// Also what is only opened now has been read when this returns.
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

// homes are the files of the project in which the symbol is defined under the
// name that it has here. One that is called otherwise there keeps that name.
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

// nameHere is the name at the place of the call; "" for none.
func (q *lspCall) nameHere(v *lspclient.View) string {
	text, _ := v.Text(q.path.String())
	return nameAt(text, q.in.Line, q.in.Character)
}

// lspGlance is how much of a file is looked at for a name.
const lspGlance = 8 << 20

// maxOpened is how many files are opened in a server for one change.
const maxOpened = 100

// unopened are the files that a change would touch and that the server knows
// only from disk: it may not know yet how they have changed there. There are
// none where there are too many to be opened.
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

// leftOut is a file that a change does not touch and should, "" for none. A
// change that touches nothing leaves nothing out.
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

// nameAt is the name at a place of a text, as editors count; "" for none.
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
