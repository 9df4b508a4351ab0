package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// inspect lists and calls tools of helve with the inspector's command line.
func inspect(ctx context.Context, t *toolbox, helve string) (s section, err error) {
	argv, err := t.script("@modelcontextprotocol/inspector", "clients/launcher/build/index.js")
	if err != nil {
		return section{}, err
	}
	w, err := newWorld()
	if err != nil {
		return section{}, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.furnish(); err != nil {
		return section{}, err
	}
	s.title = "Inspector " + t.version("@modelcontextprotocol/inspector")
	// The inspector ends with an error when a tool does.
	run := func(name, want string, denied bool, args ...string) error {
		end, err := child{
			argv: slices.Concat(argv, []string{"--cli", helve, "mcp"}, args), dir: w.project, env: w.env(t.node), limit: 40 * time.Second,
		}.run(ctx)
		if err != nil {
			return err
		}
		ok := (end.code != 0) == denied && json.Valid([]byte(end.out)) && strings.Contains(end.out, want)
		s.text += fmt.Sprintf("| `%s` | %s |\n", name, tick(ok))
		if !ok {
			s.bad = append(s.bad, fmt.Sprintf("inspector, %s: %s", name, end.why()))
		}
		return nil
	}
	s.text = "| command | works |\n|---|---|\n"
	note := filepath.Join(w.project, "note.txt")
	err = errors.Join(
		run("tools/list", `"name": "read"`, false, "--method", "tools/list"),
		run("tools/call read", "the first line", false, "--method", "tools/call", "--tool-name", "read", "--tool-arg", "filePath="+note),
		run("tools/call bash, denied", "rm *", true, "--method", "tools/call", "--tool-name", "bash", "--tool-arg", "command=rm -rf keep", "--tool-arg", "description=no"),
	)
	return s, err
}
