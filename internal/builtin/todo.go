package builtin

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/helve-dev/helve/tool"
)

//go:embed todowrite.md
var todowriteDoc string

//go:embed todoread.md
var todoreadDoc string

type todowriteInput struct {
	Todos []tool.Todo `json:"todos" jsonschema:"the whole list"`
}

type todoreadInput struct{}

// todowrite replaces the session's list.
func todowrite(todos Todos) tool.Tool {
	spec := tool.Spec{Name: "todowrite", Description: todowriteDoc, ReadOnly: true}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in todowriteInput) (*tool.Result, error) {
		if err := askAll(ctx, c, spec.Name); err != nil {
			return nil, err
		}
		if err := todos.SetTodos(c.Session, in.Todos); err != nil {
			return nil, fmt.Errorf("keeping the todos: %w", err)
		}
		return showTodos(in.Todos)
	})
}

// todoread shows the session's list.
func todoread(todos Todos) tool.Tool {
	spec := tool.Spec{Name: "todoread", Description: todoreadDoc, ReadOnly: true}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, _ todoreadInput) (*tool.Result, error) {
		if err := askAll(ctx, c, spec.Name); err != nil {
			return nil, err
		}
		list, err := todos.Todos(c.Session)
		if err != nil {
			return nil, fmt.Errorf("reading the todos: %w", err)
		}
		return showTodos(list)
	})
}

func showTodos(list []tool.Todo) (*tool.Result, error) {
	if list == nil {
		list = []tool.Todo{}
	}
	open := 0
	for _, t := range list {
		if t.Status != "completed" {
			open++
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // the model reads it, no browser does
	enc.SetIndent("", "  ")
	if err := enc.Encode(list); err != nil {
		return nil, fmt.Errorf("encoding the todos: %w", err)
	}
	return &tool.Result{
		Title:    fmt.Sprintf("%d todos", open),
		Output:   string(bytes.TrimRight(out.Bytes(), "\n")),
		Metadata: map[string]any{"todos": list},
	}, nil
}
