package builtin

import (
	"context"
	_ "embed"

	"github.com/helve-dev/helve/tool"
)

//go:embed invalid.md
var invalidDoc string

type invalidInput struct {
	Tool  string `json:"tool" jsonschema:"the name that was called"`
	Error string `json:"error" jsonschema:"what is wrong with the call"`
}

// invalid answers invalid calls, so that the model reads what was wrong as a result.
func invalid() tool.Tool {
	spec := tool.Spec{Name: "invalid", Description: invalidDoc, ReadOnly: true, Catches: true}
	return tool.New(spec, func(_ context.Context, _ *tool.Call, in invalidInput) (*tool.Result, error) {
		return &tool.Result{
			Title:  "Invalid Tool",
			Output: "The arguments provided to the tool are invalid: " + in.Error,
		}, nil
	})
}
