package builtin

import (
	"context"
	_ "embed"

	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

//go:embed multiedit.md
var multieditDoc string

type multieditInput struct {
	FilePath string      `json:"filePath" jsonschema:"the file to change"`
	Edits    []multiEdit `json:"edits" jsonschema:"the edits, in order" minItems:"1" minItemsMessage:"edits must not be empty"`
}

type multiEdit struct {
	FilePath   string `json:"filePath,omitempty" jsonschema:"not needed: the file is the one above"`
	OldString  string `json:"oldString" jsonschema:"the text to replace"`
	NewString  string `json:"newString" jsonschema:"what takes its place; must differ"`
	ReplaceAll bool   `json:"replaceAll,omitempty" jsonschema:"replace every occurrence"`
}

// multiedit makes several edits of one file, all of them or none.
func multiedit(e editor) tool.Tool {
	spec := tool.Spec{Name: "multiedit", Description: multieditDoc, Permission: "edit", Destructive: true, Offer: unlessPatches(multieditDoc)}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in multieditInput) (*tool.Result, error) {
		edits := make([]editInput, len(in.Edits))
		for i, one := range in.Edits {
			edits[i] = editInput{FilePath: in.FilePath, OldString: one.OldString, NewString: one.NewString, ReplaceAll: one.ReplaceAll}
			if err := edits[i].check(); err != nil {
				return nil, numbered(err, i, len(edits))
			}
		}
		return asking(ctx, c, func(asks *permission.Batch) (*tool.Result, error) {
			held, claim, err := e.claimFile(ctx, c, asks, in.FilePath)
			if err != nil {
				return nil, editing(held, err)
			}
			defer claim.Release()
			d, matches, err := e.revise(ctx, c, held, edits)
			if err != nil {
				return nil, err
			}
			d, notes, err := e.apply(ctx, c, asks, claim, d)
			if err != nil {
				return nil, err
			}
			results := make([]any, len(matches))
			for i, m := range matches {
				results[i] = map[string]any{"match": m}
				if !m.Exact {
					notes = append(notes, m.sentence())
				}
			}
			metadata := d.metadata()
			metadata["results"] = results
			return &tool.Result{Title: held.Path.Title(), Output: said("Edit applied successfully.", append(notes, d.found.notes...)), Metadata: metadata}, nil
		})
	})
}
