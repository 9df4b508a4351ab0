package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/tool"
)

//go:embed tool_call.md
var toolCallDoc string

type toolCallInput struct {
	Tool      string          `json:"tool" jsonschema:"its name"`
	Arguments json.RawMessage `json:"arguments,omitempty" jsonschema:"its arguments"`
	Args      json.RawMessage `json:"args,omitempty" jsonschema:"the same"` // a model that slips should not call without any
	Input     json.RawMessage `json:"input,omitempty" jsonschema:"the same"`
}

// toolCall calls a tool that is not listed. It needs no permission: the inner call has the checks
// of any other call, and asks then.
func toolCall(calls Calls) tool.Tool {
	spec := tool.Spec{Name: "tool_call", Description: toolCallDoc, Offer: offerCompact, Destructive: true, OpenWorld: true}
	desk := &loader{calls: calls}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in toolCallInput) (*tool.Result, error) {
		if name, ok := desk.direct(c, in.Tool); ok {
			return nil, tool.Fail("listed-tool", "The tool '%s' is listed. Call it directly: tool_call is for the tools that tool_search finds.", name)
		}
		given := slices.DeleteFunc([]json.RawMessage{in.Arguments, in.Args, in.Input}, func(v json.RawMessage) bool { return len(v) == 0 })
		switch len(given) {
		case 0:
			given = []json.RawMessage{json.RawMessage("{}")}
		case 1:
		default:
			return nil, tool.Fail("arguments", "arguments, args and input are names of one thing: give one of them.")
		}
		call := *c
		call.ID, call.Parent, call.Host = c.ID+".1", c.ID, nil
		call.Tool, call.Input = in.Tool, given[0]
		// The call connects to a program that is not connected yet, so only its outcome tells
		// whether the tool exists.
		res, err := calls.Call(ctx, call)
		if err != nil {
			return nil, desk.whyNot(c, in.Tool, err)
		}
		own := *res // the record of the call that was made keeps the other
		own.Metadata, own.Attachments = maps.Clone(res.Metadata), slices.Clone(res.Attachments)
		return &own, nil
	})
}

// direct reports whether a name, in any case, is that of a listed tool, or of one of the two that
// only compact lists contain.
func (l *loader) direct(c *tool.Call, name string) (string, bool) {
	lower := strings.ToLower(name)
	for _, s := range l.calls.Tools(audienceOf(c)) {
		if !s.External && (s.Name == name || s.Name == lower) {
			return s.Name, true
		}
	}
	return lower, lower == "tool_call" || lower == "tool_search"
}

// whyNot returns the error of a call, with more advice if there is no such tool.
func (l *loader) whyNot(c *tool.Call, name string, err error) error {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Kind != tool.UnknownTool {
		return err
	}
	specs := l.deferred(c)
	if slices.ContainsFunc(specs, func(s tool.Spec) bool { return s.Name == name }) {
		return err // it is the tool that says so
	}
	said, _ := text.Cut(name, 200)
	unknown := tool.Fail("unknown-tool", "There is no tool '%s'.%s Find tools with tool_search.", text.VisibleLine(said), suggestion(l.alike(specs, name)))
	unknown.Kind = tool.UnknownTool
	if strings.HasPrefix(e.Hint, "There is a tool") { // a rule hides it
		unknown.Hint = e.Hint
	}
	return unknown
}

// alike returns up to three names that may be meant.
func (l *loader) alike(specs []tool.Spec, name string) []string {
	var names, out []string
	for _, s := range specs {
		names = append(names, s.Name)
	}
	if one, ok := text.Nearest(name, names); ok {
		out = append(out, one)
	}
	for _, s := range l.search(specs, name, 3) {
		if !slices.Contains(out, s.Name) && len(out) < 3 {
			out = append(out, s.Name)
		}
	}
	return out
}

func suggestion(names []string) string {
	if len(names) == 0 {
		return ""
	}
	for i, n := range names {
		names[i] = text.VisibleLine(n)
	}
	return " Did you mean " + strings.Join(names, " or ") + "?"
}
