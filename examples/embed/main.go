// Command embed is a program with a runtime in it: it makes calls, follows what
// happens, and answers what is asked.
//
//	go run ./examples/embed
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := project()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	// The rules are those of a config file. Without any, the defaults hold:
	// nearly everything is allowed, and reading an .env file is asked about.
	rules, err := permission.ParseConfig([]byte(`{"edit": {"*": "allow", "*.lock": "deny"}}`), permission.ConfigOptions{})
	if err != nil {
		return err
	}
	// Nothing is kept on disk, because DataDir is not set.
	rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, Agents: agent.Specs(agent.SpecOptions{User: rules})})
	if err != nil {
		return err
	}

	// One loop both shows what happens and answers what waits. Events come in
	// order; the loop ends when the runtime closes.
	var watching sync.WaitGroup
	watching.Go(func() { watch(ctx, rt) })
	read, err := calls(ctx, rt)
	if err != nil {
		return errors.Join(err, rt.Close())
	}
	if err := rt.Close(); err != nil {
		return err
	}
	watching.Wait()
	fmt.Printf("\nThis is what a model reads of notes.txt:\n%s\n", read.Output)
	return nil
}

// calls makes some calls, as a model would.
func calls(ctx context.Context, rt *helve.Runtime) (*tool.Result, error) {
	// Calls that belong together name one session: a file has to be read in it
	// before it may be changed.
	call := func(name, input string) (*tool.Result, error) {
		return rt.Call(ctx, tool.Call{Tool: name, Session: "demo", Input: []byte(input)})
	}
	if _, err := call("read", `{"filePath": "notes.txt"}`); err != nil {
		return nil, err
	}
	if _, err := call("edit", `{"filePath": "notes.txt", "oldString": "teh", "newString": "the"}`); err != nil {
		return nil, err
	}
	// This one waits until watch has answered.
	if _, err := call("read", `{"filePath": ".env"}`); err != nil {
		return nil, err
	}
	// This one a rule denies. Every failure has a kind and a code to go by, and
	// a text that tells a model what to do next.
	_, err := call("write", `{"filePath": "go.lock", "content": "mine"}`)
	if tool.KindOf(err) != tool.Denied {
		return nil, fmt.Errorf("writing go.lock should be denied, and ended with %w", err)
	}
	return call("read", `{"filePath": "notes.txt"}`)
}

// watch prints events, and answers the requests for permission among them. A
// program with a window would show a dialog here; this one allows to read, once,
// and nothing else.
func watch(ctx context.Context, rt *helve.Runtime) {
	for e := range rt.Events(ctx, 0) {
		switch p := e.Properties.(type) {
		case event.CallRunning:
			fmt.Printf("%s %s\n", p.Tool, p.Input)
		case event.PermissionAsked:
			verdict := permission.ReplyReject
			if p.Permission == "read" {
				verdict = permission.ReplyOnce
			}
			fmt.Printf("  asked: %s %s -> %s\n", p.Permission, filepath.Base(p.Patterns[0]), verdict)
			if err := rt.Requests().Reply(p.ID, permission.Reply{Verdict: verdict}); err != nil {
				fmt.Fprintln(os.Stderr, "embed:", err)
			}
		case event.FileEdited:
			fmt.Println("  changed:", filepath.Base(p.File))
		case event.CallFinished:
			if p.Error != nil {
				fmt.Printf("  failed: %s/%s\n", p.Error.Kind, p.Error.Code)
			} else {
				fmt.Println("  done:", p.Result.Title)
			}
		}
	}
}

// project makes a folder to work in.
func project() (string, error) {
	dir, err := os.MkdirTemp("", "embed")
	if err != nil {
		return "", err
	}
	for name, text := range map[string]string{"notes.txt": "teh cat\n", ".env": "SECRET=1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			os.RemoveAll(dir)
			return "", err
		}
	}
	return dir, nil
}
