package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/helve-dev/helve/lab/internal/proof"
)

//go:embed agents.yml
var agentsText []byte

// An agent is one of agents.yml.
type agent struct {
	Name, Package string
	Programs      []string
	Args, Env     []string
	File, Config  string
}

// driveAgents runs every agent through the model's script.
func driveAgents(ctx context.Context, p *programs, helve string) section {
	s := section{title: "Real clients"}
	s.head("client", "version", "tools seen", "lists", "read", "edit", "bash", "denied one refused")
	var all []agent
	if err := yaml.Unmarshal(agentsText, &all); err != nil {
		return s.broken(err)
	}
	for _, a := range all {
		m := &model{server: "helve"}
		right, err := a.drive(ctx, p, helve, m)
		if err != nil {
			s.fail("%s: %v", a.Name, err)
		}
		row := []string{a.Name, cmp.Or(p.version(a.Package), "(not installed)"), fmt.Sprint(m.offered)}
		for i, name := range []string{"lists", "read", "edit", "bash", "denied"} {
			ok := i < len(right) && right[i]
			if row = append(row, tick(ok)); !ok {
				s.fail("%s, %s: the tools said %q, not offered: %q", a.Name, name, m.results, m.missing)
			}
		}
		s.row(row...)
	}
	return s
}

// drive lets one agent work, and says what of the script came out right: that
// there are tools, and what each of its steps did.
func (a agent) drive(ctx context.Context, p *programs, helve string, m *model) (right []bool, err error) {
	program, err := p.find(a.Programs...)
	if err != nil {
		return nil, err
	}
	argv := append([]string{program}, a.Args...)
	if strings.HasSuffix(program, ".js") {
		argv = append([]string{p.node}, argv...)
	}
	w, err := newWorld()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	note := filepath.Join(w.Project, "note.txt")
	m.script = []step{
		{"read", map[string]any{"filePath": note}},
		{"edit", map[string]any{"filePath": note, "oldString": "the first line", "newString": "the second line"}},
		{"bash", map[string]any{"command": "cat note.txt && echo answer $((40+2))", "description": "Shows the note"}},
		{"bash", map[string]any{"command": "rm -rf keep", "description": "Removes a folder"}},
	}
	web := httptest.NewServer(m)
	defer web.Close()
	defer web.CloseClientConnections() // of one that was ended
	fill := strings.NewReplacer("$URL", web.URL, "$HELVE", helve, "$HOME", w.Home, "$PROMPT", "Read note.txt, change it, look at it, and tidy up.")
	if err := w.Write(filepath.Join("..", "home", a.File), fill.Replace(a.Config)); err != nil {
		return nil, err
	}
	env := p.env(w)
	for _, e := range a.Env {
		env = append(env, fill.Replace(e))
	}
	for i := range argv {
		argv[i] = fill.Replace(argv[i])
	}
	_, err = runProgram(ctx, w, 90*time.Second, env, argv...)
	return a.check(w, m), err
}

// check holds what the model saw and what is on disk against the script.
func (a agent) check(w *proof.World, m *model) []bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	results := slices.Concat(m.results, make([]string, len(m.script)))
	note, _ := os.ReadFile(filepath.Join(w.Project, "note.txt"))
	_, gone := os.Stat(filepath.Join(w.Project, "keep", "file.txt"))
	return []bool{
		m.offered > 0, strings.Contains(results[0], "the first line"), string(note) == "the second line\n",
		strings.Contains(results[2], "the second line\nanswer 42"), gone == nil && strings.Contains(results[3], "rm *"),
	}
}

// texts returns all texts of a value in order, whatever holds them: agents wrap
// what a tool said in objects and lists of their own.
func texts(v any) string {
	var all []string
	switch v := v.(type) {
	case string:
		return v
	case []any:
		for _, e := range v {
			all = append(all, texts(e))
		}
	case object:
		for _, key := range []string{"output", "error", "content", "text", "result", "value"} {
			if in, ok := v[key]; ok {
				all = append(all, texts(in))
			}
		}
	}
	return strings.Join(all, "\n")
}
