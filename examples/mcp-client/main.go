// Command mcp-client is an MCP client, written with the protocol's official Go
// SDK. It starts a server, lists its tools, and makes a call that goes well and
// one that is refused.
//
//	go run ./examples/mcp-client helve mcp
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: mcp-client COMMAND [ARGUMENT …], such as: mcp-client helve mcp")
		os.Exit(64)
	}
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mcp-client:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command []string) error {
	// The server is a process that speaks on its standard input and output. It
	// works in the folder that it is started in, and ends with the connection.
	server := exec.Command(command[0], command[1:]...)
	server.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "mcp-client", Version: "1"}, &mcp.ClientOptions{
		// What the rules say to ask about is put to the client's user. This one
		// says no; a client that leaves this out can not be asked, and the call
		// fails with the rule that would allow it.
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			question, _, _ := strings.Cut(r.Params.Message, "\n")
			fmt.Println("asked:", question)
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
	})
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		return err
	}
	defer session.Close()

	names := []string{}
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		names = append(names, t.Name)
	}
	fmt.Println("tools:", strings.Join(names, " "))

	if err := call(ctx, session, "glob", map[string]any{"pattern": "*.md"}); err != nil {
		return err
	}
	return call(ctx, session, "read", map[string]any{"filePath": ".env"})
}

// call makes a call and prints what a model would read. A call that fails is an
// answer like any other, marked as an error: the model is to make the best of it.
func call(ctx context.Context, session *mcp.ClientSession, name string, args map[string]any) error {
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return err
	}
	how := "completed"
	if res.IsError {
		how = "failed"
	}
	fmt.Printf("%s %s\n", name, how)
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			fmt.Println("  " + strings.ReplaceAll(strings.TrimRight(text.Text, "\n"), "\n", "\n  "))
		}
	}
	return nil
}
