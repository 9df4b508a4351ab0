package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"unicode/utf8"

	"github.com/helve-dev/helve/tool"
)

// countInput is what the tool takes. Its JSON Schema is made from these tags, and
// what a model sends is checked against it before count sees it.
type countInput struct {
	Path string `json:"path" jsonschema:"the file to count in"`
	Unit string `json:"unit,omitempty" jsonschema:"what to count" enum:"lines,words,letters" default:"lines"`
}

// count is the tool: a spec and a function.
func count() tool.Tool {
	return tool.New(tool.Spec{
		Name:        "count",
		Description: "Counts the lines, words or letters of a text file. Use it where the number is wanted and not the text.",
		Permission:  "read", // rules about reading speak about this tool too
		ReadOnly:    true,
	}, func(ctx context.Context, c *tool.Call, in countInput) (*tool.Result, error) {
		// Open asks before anything is read: for external_directory where the name
		// leads out of the project, as links may too, and for read. What comes back
		// of that is returned as it is: it says who said no, and why.
		file, err := c.Open(ctx, in.Path)
		if errors.Is(err, fs.ErrNotExist) {
			// A text for the model ends with what to do next.
			return nil, tool.Fail("not-found", "There is no file %s. Look for it with glob first.", in.Path)
		}
		if err != nil {
			return nil, err
		}
		defer file.Close()
		text, err := io.ReadAll(file)
		if err != nil {
			return nil, err
		}
		n := measure(text, in.Unit)
		return &tool.Result{
			Title:    in.Path,
			Output:   fmt.Sprintf("%d %s", n, in.Unit),
			Metadata: map[string]any{"count": n, "unit": in.Unit}, // for programs; models do not see it
		}, nil
	})
}

func measure(text []byte, unit string) int {
	switch unit {
	case "words":
		return len(bytes.Fields(text))
	case "letters":
		return utf8.RuneCount(text)
	}
	return bytes.Count(text, []byte("\n"))
}
