package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/lab/internal/proof"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// newRuntime makes a runtime in the project that may do everything. What is
// measured is how long work takes, and not who has to be asked.
func (s *settings) newRuntime(w *proof.World, data string, change func(*helve.Options)) (*helve.Runtime, error) {
	opt := helve.Options{
		Dir: w.Project, Worktree: w.Project, DataDir: data, Unattended: true, Unread: true,
		Agents: helve.Agents(helve.AgentOptions{User: permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}}),
		Shell:  helve.Shell{Helper: s.helve},
	}
	if change != nil {
		change(&opt)
	}
	return helve.New(opt)
}

// ofCall is the way of a call in this process. The runtime is closed with it.
func ofCall(name string, rt *helve.Runtime, use string, args map[string]any) *way {
	do := func(ctx context.Context) (string, error) {
		input, err := json.Marshal(args)
		if err != nil {
			return "", err
		}
		res, err := rt.Call(ctx, tool.Call{Tool: use, Session: "peers", Input: input})
		if err != nil {
			return "", err
		}
		return res.Output, nil
	}
	return &way{name: name, inside: true, do: do, close: sync.OnceValue(rt.Close)}
}

// permit writes a config for the command that lets it do everything.
func permit(w *proof.World) error {
	path := filepath.Join(w.Home, "config", "helve", "helve.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(`{"permission": {"*": "allow"}, "edit": {"unread": true}}`), 0o600)
}

// command is the command as a program, for a call whose arguments it reads.
func (s *settings) command(w *proof.World, use string, args map[string]any) (program, error) {
	input, err := json.Marshal(args)
	return program{argv: []string{s.helve, "call", use, "--no-input"}, dir: w.Project, env: w.Env(), in: string(input)}, err
}
