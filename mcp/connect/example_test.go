package connect_test

import (
	"fmt"
	"log"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/mcp/connect"
)

func ExampleClient() {
	rt, err := helve.Open(helve.Options{MCP: mcp.Options{
		Client:  connect.Client(),
		Servers: []mcp.Server{{Name: "docs", Command: []string{"docs-server", "--stdio"}}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close()
	for _, s := range rt.MCP().Status() {
		fmt.Println(s.Name, s.State)
	}
	// Output: docs idle
}
