// Command tool is a program with a tool of its own beside the built-in ones.
//
//	go run ./examples/tool FILE [lines|words|letters]
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/tool"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: tool FILE [lines|words|letters]")
		os.Exit(64)
	}
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tool:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	// Nobody is there to ask: what would wait for a person fails at once.
	rt, err := helve.Open(helve.Options{Unattended: true})
	if err != nil {
		return err
	}
	defer rt.Close()
	// Of two tools of one name the later one counts, until remove is called.
	remove, err := rt.Register(count())
	if err != nil {
		return err
	}
	defer remove()

	input := map[string]string{"path": args[0]}
	if len(args) > 1 {
		input["unit"] = args[1]
	}
	data, err := json.Marshal(input)
	if err != nil {
		return err
	}
	res, err := rt.Call(ctx, tool.Call{Tool: "count", Input: data})
	if err != nil {
		return err
	}
	fmt.Println(res.Output)
	return nil
}
