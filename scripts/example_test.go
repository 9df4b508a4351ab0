package scripts_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/scripts"
	"github.com/helve-dev/helve/tool"
)

// Call a tool of a user, which is a file in a config folder.
func ExampleEngine() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.MkdirAll(filepath.Join(dir, ".opencode", "tool"), 0o700); err != nil {
		log.Fatal(err)
	}
	greet := `export default { description: "Greets.", args: {}, execute: () => "Hello." }`
	if err := os.WriteFile(filepath.Join(dir, ".opencode", "tool", "greet.ts"), []byte(greet), 0o600); err != nil {
		log.Fatal(err)
	}

	rt, err := helve.Open(helve.Options{
		Dir:     dir,
		Plugins: plugin.Options{Folders: []plugin.Folder{{Path: ".opencode"}}},
		Scripts: scripts.Engine(),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close()
	res, err := rt.Call(context.Background(), tool.Call{Tool: "greet", Input: []byte("{}")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Output)
	// Output: Hello.
}
