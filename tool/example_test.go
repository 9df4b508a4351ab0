package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/helve-dev/helve/tool"
)

type repeatInput struct {
	Text  string `json:"text" jsonschema:"what to repeat"`
	Times int    `json:"times" jsonschema:"how often" min:"1" max:"10" default:"2" coerce:"number"`
}

// A tool is a spec and a function over a struct.
func ExampleNew() {
	repeat := tool.New(tool.Spec{Name: "repeat", Description: "Repeats a text.", ReadOnly: true},
		func(ctx context.Context, c *tool.Call, in repeatInput) (*tool.Result, error) {
			return &tool.Result{Title: in.Text, Output: strings.Repeat(in.Text, in.Times)}, nil
		})

	c := &tool.Call{Tool: "repeat", Input: json.RawMessage(`{"text":"ha","times":"3","extra":1}`)}
	if _, err := repeat.Check(c, false); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(c.Input))
	res, err := repeat.Run(context.Background(), c)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Output)
	// Output:
	// {"text":"ha","times":3}
	// hahaha
}

// Arguments that do not fit are refused with every issue, and a hint.
func ExampleTool_Check() {
	repeat := tool.New(tool.Spec{Name: "repeat"},
		func(ctx context.Context, c *tool.Call, in repeatInput) (*tool.Result, error) {
			return &tool.Result{Output: strings.Repeat(in.Text, in.Times)}, nil
		})

	c := &tool.Call{Tool: "repeat", Input: json.RawMessage(`{"TEXT":"ha","times":11}`)}
	_, err := repeat.Check(c, false)
	if e, ok := err.(*tool.Error); ok {
		for _, i := range e.Issues {
			fmt.Println(i.Code, i.Path, i.Message)
		}
		fmt.Println(e.Hint)
	}
	c.Input = json.RawMessage(`{"TEXT":"ha"}`)
	repairs, err := repeat.Check(c, true)
	fmt.Println(repairs, err, string(c.Input))
	// Output:
	// missing [text] Invalid input: expected string, received undefined
	// range [times] Too big: expected number to be <=10
	// text: missing, wanted string
	// times: got 11, wanted number to be <=10
	// unknown key "TEXT": did you mean "text"?
	// [text: renamed from "TEXT"] <nil> {"text":"ha","times":2}
}

// A schema that comes from elsewhere makes a tool at run time.
func ExampleDynamic() {
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`), &schema); err != nil {
		fmt.Println(err)
		return
	}
	echo, err := tool.Dynamic(tool.Spec{Name: "echo", Schema: &schema},
		func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
			return &tool.Result{Output: string(c.Input)}, nil
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := &tool.Call{Tool: "echo", Input: json.RawMessage(`{"other":true,"n":1.0}`)}
	if _, err := echo.Check(c, false); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(c.Input))
	// Output:
	// {"n":1,"other":true}
}
