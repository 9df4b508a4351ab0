package client_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/client"
	"github.com/helve-dev/helve/internal/server"
)

// kitchen is a server for the examples. Yours is the one of `helve serve`, and
// client.Local finds it.
func kitchen() (c *client.Client, end func(), err error) {
	dir, err := os.MkdirTemp("", "helve")
	if err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "menu.txt"), []byte("soup\n"), 0o600); err != nil {
		return nil, nil, err
	}
	rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir})
	if err != nil {
		return nil, nil, err
	}
	api, err := server.New(server.Options{Runtime: rt, Dir: dir, Worktree: dir})
	if err != nil {
		return nil, nil, err
	}
	web := httptest.NewServer(api.Handler())
	c, err = client.New(web.URL, "")
	return c, func() {
		c.Close()
		_ = api.Close()
		web.Close()
		_ = rt.Close()
		_ = os.RemoveAll(dir)
	}, err
}

func Example() {
	c, end, err := kitchen()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer end()
	ctx := context.Background()
	res, err := c.Do(ctx, client.CallRequest{
		Tool:  "grep",
		Input: map[string]any{"pattern": "so.p"},
	}, client.Handlers{
		Permission: func(_ context.Context, r client.PermissionRequest) (client.PermissionReply, error) {
			fmt.Println("asked for", r.Permission, r.Patterns)
			return client.PermissionReply{Reply: "once"}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Metadata["matches"])
	// Output: 1
}

func ExampleClient_Events() {
	c, end, err := kitchen()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer end()
	ctx := context.Background()
	for e, err := range c.Events(ctx, client.EventQuery{Types: []string{"call.finished"}}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if e.Type == client.EventReload { // the stream stands: what happens now is told
			_, err := c.Call(ctx, client.CallRequest{Tool: "read", Input: map[string]any{"filePath": "menu.txt"}, Wait: new(bool)})
			if err != nil {
				fmt.Println(err)
				return
			}
			continue
		}
		body, err := e.Body()
		if err != nil {
			fmt.Println(err)
			return
		}
		if end, ok := body.(client.CallFinishedEvent); ok {
			fmt.Println(end.Tool, end.State)
			return
		}
	}
	// Output: read completed
}
