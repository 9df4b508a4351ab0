// Command go-client runs a command through a helve server: it starts the call,
// shows what it prints while it prints it, answers what it asks, and prints the
// result.
//
//	go run ./examples/go-client [--allow] 'make test'
//
// The server is the one that works on the current folder, or the one that
// HELVE_URL and HELVE_TOKEN name.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/helve-dev/helve/client"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	allow := flag.Bool("allow", false, "allow what is asked for")
	flag.Parse()
	if err := run(ctx, strings.Join(flag.Args(), " "), *allow); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

// connect finds the server.
func connect() (*client.Client, error) {
	if url := os.Getenv("HELVE_URL"); url != "" {
		return client.New(url, os.Getenv("HELVE_TOKEN"))
	}
	return client.Local("")
}

func run(ctx context.Context, command string, allow bool) error {
	if command == "" {
		return errors.New("say which command to run: go run ./examples/go-client --allow 'echo hello'")
	}
	c, err := connect()
	if err != nil {
		return err
	}
	defer c.Close()
	info, err := c.GetInfo(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("helve %s in %s\n", info.Version, info.Directory)
	shown := ""
	res, err := c.Do(ctx, client.CallRequest{
		Tool:  "bash",
		Input: map[string]any{"command": command, "description": "Run the command of the example"},
	}, client.Handlers{
		Permission: func(_ context.Context, r client.PermissionRequest) (client.PermissionReply, error) {
			if !allow {
				fmt.Printf("asked: %s %s: rejected\n", r.Permission, strings.Join(r.Patterns, ", "))
				return client.PermissionReply{Reply: "reject", Message: "Run the example with --allow to allow it."}, nil
			}
			fmt.Printf("asked: %s %s: allowed once\n", r.Permission, strings.Join(r.Patterns, ", "))
			return client.PermissionReply{Reply: "once"}, nil
		},
		Progress: func(p client.CallProgressEvent) {
			output := p.Output()
			fmt.Print(strings.TrimPrefix(output, shown)) // all of it anew where its beginning was cut off
			shown = output
		},
	})
	if err != nil {
		return err
	}
	fmt.Printf("done: %s, exit %v\n", res.Title, res.Metadata["exit"])
	return nil
}
