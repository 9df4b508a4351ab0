package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/helve-dev/helve/tool"
)

// The inputs of the reference's tools, as far as their schemas go.

type readInput struct {
	FilePath string `json:"filePath" jsonschema:"the path of the file"`
	Offset   *int   `json:"offset,omitempty" jsonschema:"the line to start from, counted from 0" min:"0" coerce:"number"`
	Limit    *int   `json:"limit,omitempty" jsonschema:"how many lines" coerce:"number"`
}

type writeInput struct {
	Content  string `json:"content" jsonschema:"the new content"`
	FilePath string `json:"filePath" jsonschema:"the path of the file"`
}

type editInput struct {
	FilePath   string `json:"filePath"`
	OldString  string `json:"oldString"`
	NewString  string `json:"newString"`
	ReplaceAll bool   `json:"replaceAll,omitempty"`
}

type patchInput struct {
	PatchText string `json:"patchText"`
}

type bashInput struct {
	Command     string `json:"command"`
	Timeout     int    `json:"timeout,omitempty" min:"1"`
	Workdir     string `json:"workdir,omitempty"`
	Description string `json:"description,omitempty"`
}

type grepInput struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`
	Include string `json:"include,omitempty"`
}

type globInput struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`
}

type webfetchInput struct {
	URL     string   `json:"url"`
	Format  string   `json:"format" enum:"text,markdown,html" default:"markdown"`
	Timeout *float64 `json:"timeout,omitempty"`
}

type taskInput struct {
	Description  string `json:"description"`
	Prompt       string `json:"prompt"`
	SubagentType string `json:"subagent_type"`
	SessionID    string `json:"session_id,omitempty"`
}

type todo struct {
	Content  string `json:"content" jsonschema:"what to do"`
	Status   string `json:"status"`
	Priority string `json:"priority"`
	ID       string `json:"id"`
}

type todowriteInput struct {
	Todos []todo `json:"todos" jsonschema:"the whole list"`
}

type questionInput struct {
	Questions []struct {
		Question string `json:"question"`
		Header   string `json:"header"`
		Options  []struct {
			Label       string `json:"label"`
			Description string `json:"description"`
		} `json:"options"`
		Multiple bool `json:"multiple,omitempty"`
	} `json:"questions"`
}

type batchInput struct {
	Calls []struct {
		Tool       string         `json:"tool"`
		Parameters map[string]any `json:"parameters"`
	} `json:"tool_calls" minItems:"1" minItemsMessage:"Provide at least one tool call"`
}

type lspInput struct {
	Operation string `json:"operation" enum:"goToDefinition,hover"`
	FilePath  string `json:"filePath"`
	Line      int    `json:"line" min:"1"`
	Character int    `json:"character" min:"1"`
}

type skillInput struct {
	Name string `json:"name"`
}

func make1[In any](name string) tool.Tool {
	return tool.New(tool.Spec{Name: name, Description: "The " + name + " tool."}, echo[In])
}

// echo returns what it was given, as JSON.
func echo[In any](_ context.Context, _ *tool.Call, in In) (*tool.Result, error) {
	b, err := json.Marshal(in)
	return &tool.Result{Output: string(b)}, err
}

func explainBatch(issues []tool.Issue) string {
	var b strings.Builder
	b.WriteString("Invalid parameters for tool 'batch':\n")
	for _, i := range issues {
		path := "root"
		for n, step := range i.Path {
			word, ok := step.(string)
			if !ok {
				j, _ := json.Marshal(step)
				word = string(j)
			}
			if n == 0 {
				path = word
			} else {
				path += "." + word
			}
		}
		b.WriteString("  - " + path + ": " + i.Message + "\n")
	}
	b.WriteString("\nExpected payload format:\n  [{\"tool\": \"tool_name\", \"parameters\": {...}}, {...}]")
	return b.String()
}

// tools are all of them, by name.
func tools(t testing.TB) map[string]tool.Tool {
	t.Helper()
	m := map[string]tool.Tool{}
	for _, one := range []tool.Tool{
		make1[readInput]("read"), make1[writeInput]("write"), make1[editInput]("edit"), make1[patchInput]("apply_patch"),
		make1[bashInput]("bash"), make1[grepInput]("grep"), make1[globInput]("glob"), make1[webfetchInput]("webfetch"),
		make1[taskInput]("task"), make1[todowriteInput]("todowrite"), make1[struct{}]("todoread"),
		make1[questionInput]("question"), make1[lspInput]("lsp"), make1[skillInput]("skill"),
		tool.New(tool.Spec{Name: "batch", Explain: explainBatch}, echo[batchInput]),
		dynamic(t, "custom_echo", `{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}`),
	} {
		m[one.Spec().Name] = one
	}
	return m
}

func schemaOf(t testing.TB, text string) *jsonschema.Schema {
	t.Helper()
	s := new(jsonschema.Schema)
	if err := json.Unmarshal([]byte(text), s); err != nil {
		t.Fatalf("schema %s: %v", text, err)
	}
	return s
}

// dynamic makes a tool that returns its input as it is.
func dynamic(t testing.TB, name, schema string) tool.Tool {
	t.Helper()
	d, err := tool.Dynamic(tool.Spec{Name: name, Schema: schemaOf(t, schema)}, raw)
	if err != nil {
		t.Fatalf("Dynamic: %v", err)
	}
	return d
}

func raw(_ context.Context, c *tool.Call) (*tool.Result, error) {
	return &tool.Result{Output: string(c.Input)}, nil
}
