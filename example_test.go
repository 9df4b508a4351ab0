package helve_test

import (
	"context"
	"fmt"
	"iter"
	"log"
	"os"
	"path/filepath"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// Make a runtime in a folder and call a tool.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("hello"), 0o600); err != nil {
		log.Fatal(err)
	}

	rt, err := helve.Open(helve.Options{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close()
	res, err := rt.Call(context.Background(), tool.Call{Tool: "read", Input: []byte(`{"filePath":"hello.txt"}`)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Output)
	// Output:
	// <file>
	// 00001| hello
	//
	// (End of file - total 1 lines)
	// </file>
}

// Answer what a tool asks: follow the events, look at each request, reply.
func ExampleRequests_Reply() {
	ask, err := permission.ParseConfig([]byte(`{"greet": "ask"}`), permission.ConfigOptions{})
	if err != nil {
		log.Fatal(err)
	}
	rt, err := helve.Open(helve.Options{Agents: agent.Specs(agent.SpecOptions{User: ask})})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close()

	type input struct {
		Name string `json:"name" jsonschema:"who to greet"`
	}
	greet := tool.New(tool.Spec{Name: "greet", Description: "Greets someone."},
		func(ctx context.Context, c *tool.Call, in input) (*tool.Result, error) {
			err := c.Ask(ctx, permission.Request{Permission: "greet", Patterns: []string{in.Name}, Always: []string{"*"}})
			if err != nil {
				return nil, err
			}
			return &tool.Result{Output: "Hello, " + in.Name + "."}, nil
		})
	if _, err := rt.Register(greet); err != nil {
		log.Fatal(err)
	}

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		for e := range rt.Events(ctx, 0) {
			if req, ok := e.Properties.(event.PermissionAsked); ok {
				fmt.Println("asked for", req.Permission, req.Patterns)
				if err := rt.Requests().Reply(req.ID, permission.Reply{Verdict: permission.ReplyOnce}); err != nil {
					log.Print(err)
				}
			}
		}
	}()

	res, err := rt.Call(ctx, tool.Call{Tool: "greet", Input: []byte(`{"name":"Ada"}`)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Output)
	// Output:
	// asked for greet [Ada]
	// Hello, Ada.
}

// A model of your own is one method. This one calls a tool, and then says what
// came of it.
type parrot struct{}

// Stream answers a request.
func (parrot) Stream(_ context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		last := req.Messages[len(req.Messages)-1].Parts[0]
		events := []model.Event{
			{Kind: model.CallEnd, Call: &model.Call{ID: "1", Name: "greet", Input: []byte(`{"name":"Ada"}`)}},
			{Kind: model.Done, Reason: model.Calls},
		}
		if last.Result != nil {
			events = []model.Event{{Kind: model.TextDelta, Text: "The tool says: " + last.Result.Output}, {Kind: model.Done, Reason: model.Stopped}}
		}
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Let an agent work on a prompt. Any [model.Provider] will do; the packages
// model/anthropic and model/openai reach those of others.
func ExampleRuntime_Turns() {
	rt, err := helve.Open(helve.Options{Models: agent.Models{
		Default: model.Ref{Provider: "mine", Model: "parrot"},
		Find:    func(model.Ref) (model.Model, error) { return model.Model{Provider: parrot{}}, nil },
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close()
	type input struct {
		Name string `json:"name" jsonschema:"who to greet"`
	}
	greet := tool.New(tool.Spec{Name: "greet", Description: "Greets someone."},
		func(_ context.Context, _ *tool.Call, in input) (*tool.Result, error) {
			return &tool.Result{Output: "Hello, " + in.Name + "."}, nil
		})
	if _, err := rt.Register(greet); err != nil {
		log.Fatal(err)
	}
	turn, err := rt.Turns().Prompt(context.Background(), agent.Prompt{Text: "Greet Ada."})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(turn.End, turn.Steps)
	fmt.Println(turn.Text)
	// Output:
	// done 2
	// The tool says: Hello, Ada.
}

// Follow what happens: events come in one order, and the loop ends with the
// runtime or its context.
func ExampleRuntime_Events() {
	rt, err := helve.Open(helve.Options{})
	if err != nil {
		log.Fatal(err)
	}
	hello := tool.New(tool.Spec{Name: "hello", Description: "Says hello."},
		func(context.Context, *tool.Call, struct{}) (*tool.Result, error) {
			return &tool.Result{Title: "a greeting", Output: "Hello."}, nil
		})
	if _, err := rt.Register(hello); err != nil {
		log.Fatal(err)
	}
	events := rt.Events(context.Background(), event.Now) // from here on
	if _, err := rt.Call(context.Background(), tool.Call{Tool: "hello"}); err != nil {
		log.Fatal(err)
	}
	for e := range events {
		if p, ok := e.Properties.(event.CallFinished); ok {
			fmt.Println(e.Type, p.Tool, p.State, p.Result.Title)
			break
		}
	}
	if err := rt.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: call.finished hello completed a greeting
}
