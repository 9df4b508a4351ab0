package helve_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"helve"
	"helve/permission"
	"helve/tool"
)

// Make a runtime in a folder and call a tool.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("hello"), 0o600); err != nil {
		log.Fatal(err)
	}

	rt, err := helve.New(helve.Options{Dir: dir})
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
func ExampleRuntime_Reply() {
	ask, err := permission.ParseConfig([]byte(`{"greet": "ask"}`), permission.ConfigOptions{})
	if err != nil {
		log.Fatal(err)
	}
	rt, err := helve.New(helve.Options{Agents: helve.Agents(helve.AgentOptions{User: ask})})
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
			if req, ok := e.Properties.(helve.PermissionAsked); ok {
				fmt.Println("asked for", req.Permission, req.Patterns)
				if err := rt.Reply(req.ID, permission.Reply{Verdict: permission.ReplyOnce}); err != nil {
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
