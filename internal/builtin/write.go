package builtin

import (
	"context"
	_ "embed"
	"errors"
	"strings"

	"github.com/helve-dev/helve/internal/charset"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

//go:embed write.md
var writeDoc string

type writeInput struct {
	Content  string `json:"content" jsonschema:"the whole contents"`
	FilePath string `json:"filePath" jsonschema:"the file to write"`
}

// write replaces the content of a file.
func write(e editor) tool.Tool {
	spec := tool.Spec{Name: "write", Description: writeDoc, Permission: "edit", Destructive: true, Idempotent: true, Offer: unlessPatches(writeDoc)}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in writeInput) (*tool.Result, error) {
		return asking(ctx, c, func(asks *permission.Batch) (*tool.Result, error) {
			held, claim, err := e.claimFile(ctx, c, asks, in.FilePath)
			if err != nil {
				return nil, err
			}
			defer claim.Release()
			if err := e.check(c, held); err != nil {
				return nil, err
			}
			d, err := e.rewrite(c, held, in.Content)
			if err != nil {
				return nil, err
			}
			d.wide = true
			d, notes, err := e.apply(ctx, c, asks, claim, d)
			if err != nil {
				return nil, err
			}
			return &tool.Result{
				Title: held.Path.Title(), Output: said("Wrote file successfully.", append(notes, d.found.notes...)),
				Metadata: d.found.into(map[string]any{"filepath": held.Path.String(), "exists": held.Exists(), "truncated": false}),
			}, nil
		})
	})
}

// rewrite replaces the content of a file with the text as sent, in the file's encoding. A byte
// order mark stays.
func (e editor) rewrite(c *tool.Call, held *files.Held, content string) (pendingChange, error) {
	change := files.Change{Held: held, Data: []byte(content)}
	if !held.Exists() {
		return newPendingChange(change, "", content), nil
	}
	old, err := e.decode(c, held)
	if fail, ok := errors.AsType[*tool.Error](err); ok && fail.Code == "binary" { // there is no form to keep
		return newPendingChange(change, "", content), nil
	}
	if err != nil {
		return pendingChange{}, err
	}
	if len(old.Mark()) > 0 || old.Encoding() != (charset.Encoding{}) {
		content = strings.TrimPrefix(content, "\ufeff")
	}
	data, err := old.Encode(content)
	if err != nil {
		return pendingChange{}, notEncodable(held.Path, err)
	}
	change.Data, change.Encoding = append(old.Mark(), data...), old.Encoding().String()
	return newPendingChange(change, old.Raw(), content), nil
}
