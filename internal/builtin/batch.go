package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/helve-dev/helve/tool"
)

//go:embed batch.md
var batchDoc string

const (
	batchMost  = 25       // calls of one batch that are made
	batchFiles = 32 << 20 // bytes of attachments that one batch gives back
)

type batchInput struct {
	Calls []batchCall `json:"tool_calls" jsonschema:"the calls to make" minItems:"1" minItemsMessage:"Provide at least one tool call"`
}

type batchCall struct {
	Tool       string          `json:"tool" jsonschema:"the name of the tool"`
	Parameters json.RawMessage `json:"parameters" jsonschema:"its arguments"`
}

// batch makes several calls at once, each with the checks of any other call.
func batch(calls Calls) tool.Tool {
	spec := tool.Spec{Name: "batch", Description: batchDoc, Destructive: true, OpenWorld: true, Offer: offerBatch, Explain: explainBatch}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in batchInput) (*tool.Result, error) {
		specs := calls.Tools(tool.Audience{Client: c.Client, Provider: c.Provider, Model: c.Model, Agent: c.Agent})
		// The batch tool itself and external tools are left out.
		var names []string
		for _, s := range specs {
			if s.Name != spec.Name && !s.External {
				names = append(names, s.Name)
			}
		}
		var edits []func() // changes of files are made in their order, each after the calls before it
		done := make([]sync.WaitGroup, len(in.Calls)+1)
		inner := make([]tool.Inner, len(in.Calls))
		show := shareOf(c, len(in.Calls))
		var wg sync.WaitGroup
		for i, call := range in.Calls {
			inner[i] = tool.Inner{ID: fmt.Sprintf("%s.%d", c.ID, i+1), Tool: call.Tool, Input: call.Parameters, Status: "error"}
			switch {
			case i >= batchMost:
				inner[i].Error = fmt.Sprintf("Maximum of %d tools allowed in batch", batchMost)
			case call.Tool == spec.Name:
				inner[i].Error = fmt.Sprintf("Tool '%s' is not allowed in batch. Disallowed tools: %s", spec.Name, spec.Name)
			case !slices.Contains(names, call.Tool):
				inner[i].Error = fmt.Sprintf("Tool '%s' not in registry. External tools (MCP, environment) cannot be batched - call them directly. Available tools: %s",
					call.Tool, strings.Join(names, ", "))
			case changesFiles(specs, call.Tool):
				edits = append(edits, func() {
					for j := range i {
						done[j].Wait()
					}
					makeInner(ctx, calls, c, show, &inner[i])
				})
			default:
				done[i].Add(1)
				wg.Go(func() {
					defer done[i].Done()
					makeInner(ctx, calls, c, show, &inner[i])
				})
			}
		}
		wg.Go(func() {
			for _, edit := range edits {
				edit()
			}
		})
		wg.Wait()
		dropFiles(inner)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return batchResult(inner), nil
	})
}

func offerBatch(a tool.Audience) (string, bool) { return "", a.Flags["batch"] }

// changesFiles reports whether a tool asks for the permission to edit.
func changesFiles(specs []tool.Spec, name string) bool {
	return slices.ContainsFunc(specs, func(s tool.Spec) bool { return s.Name == name && s.Permission == "edit" })
}

// shareOf returns how much of a batch's text each of its calls can show.
func shareOf(c *tool.Call, calls int) int {
	if c.Show == 0 {
		return 0
	}
	return max((c.Show-1000)/min(calls, batchMost)-100, 500)
}

func makeInner(ctx context.Context, calls Calls, c *tool.Call, show int, in *tool.Inner) {
	call := *c
	call.ID, call.Parent, call.Host = in.ID, c.ID, nil
	call.Tool, call.Input, call.Show = in.Tool, in.Input, show
	res, err := calls.Call(ctx, call)
	if err != nil {
		in.Error = err.Error()
		if e, ok := errors.AsType[*tool.Error](err); ok && e.Kind == tool.InvalidInput && len(e.Issues) > 0 {
			in.Error = tool.Text(e.Issues) // the bare list, as OpenCode gives it here
		}
		return
	}
	in.Status, in.Result = "completed", res
}

// dropFiles fails the calls whose attachments would make the result too large.
func dropFiles(inner []tool.Inner) {
	total := 0
	for i := range inner {
		if inner[i].Result == nil {
			continue
		}
		size := 0
		for _, a := range inner[i].Result.Attachments {
			size += len(a.URL)
		}
		if total+size > batchFiles {
			inner[i].Result, inner[i].Status = nil, "error"
			inner[i].Error = fmt.Sprintf("The attachments of this batch are more than %d bytes: make this call on its own.", batchFiles)
			continue
		}
		total += size
	}
}

func batchResult(inner []tool.Inner) *tool.Result {
	names := make([]string, len(inner))
	details := make([]map[string]any, len(inner))
	attachments := []tool.Attachment{}
	good := 0
	for i, in := range inner {
		names[i] = in.Tool
		details[i] = map[string]any{"tool": in.Tool, "success": in.Result != nil}
		if in.Result != nil {
			good++
			attachments = append(attachments, in.Result.Attachments...)
		}
	}
	output := fmt.Sprintf("All %d tools executed successfully.\n\nKeep using the batch tool for optimal performance in your next response!", good)
	if good < len(inner) {
		output = fmt.Sprintf("Executed %d/%d tools successfully. %d failed.", good, len(inner), len(inner)-good)
	}
	return &tool.Result{
		Title:  fmt.Sprintf("Batch execution (%d/%d successful)", good, len(inner)),
		Output: output,
		Metadata: map[string]any{
			"totalCalls": len(inner), "successful": good, "failed": len(inner) - good,
			"tools": names, "details": details,
		},
		Attachments: attachments,
		Inner:       inner,
	}
}

// explainBatch returns the error text for invalid arguments.
func explainBatch(issues []tool.Issue) string {
	var b strings.Builder
	b.WriteString("Invalid parameters for tool 'batch':\n")
	for _, is := range issues {
		path := make([]string, len(is.Path))
		for i, p := range is.Path {
			path[i] = fmt.Sprint(p)
		}
		where := strings.Join(path, ".")
		if where == "" {
			where = "root"
		}
		fmt.Fprintf(&b, "  - %s: %s\n", where, is.Message)
	}
	b.WriteString("\nExpected payload format:\n  [{\"tool\": \"tool_name\", \"parameters\": {...}}, {...}]")
	return b.String()
}
