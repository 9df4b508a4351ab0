package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"helve/permission"
	"helve/tool"
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
		path, err := locate(c.Dir, in.Path)
		if err != nil {
			return nil, err
		}
		// Ask before anything is read. What comes back is returned as it is:
		// it says who said no, and why.
		ask := permission.Request{Permission: "read", Patterns: []string{path}, Always: []string{path}}
		if err := c.Ask(ctx, ask); err != nil {
			return nil, err
		}
		text, err := os.ReadFile(path)
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

// locate finds the file that a name means. Links are followed here, because rules
// speak about the file that is read, whatever it is called. A tool that is to
// read outside of the folder too would ask for external_directory there.
func locate(dir, name string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	path, err := filepath.EvalSymlinks(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		// A text for the model ends with what to do next.
		return "", tool.Fail("not-found", "There is no file %s. Look for it with glob first.", name)
	}
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(dir, path); err != nil || !filepath.IsLocal(rel) {
		return "", tool.Fail("outside", "%s leads out of the folder %s. Give the name of a file in it.", name, dir)
	}
	return path, nil
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
