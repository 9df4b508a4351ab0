package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/internal/modeltest"
	"github.com/helve-dev/helve/lab/internal/proof"
)

// A player is a project and an agent that works in it, beside the model that it
// talks to, which plays a script and keeps when it was asked and has answered.
type player struct {
	*proof.World
	*way
	rounds int
	counts bool                 // the first run does not
	steps  map[string][]float64 // ms from the model's answer to the next request, by tool

	mu       sync.Mutex
	asked    map[int]time.Time // by the number of the answer
	answered map[int]time.Time
	results  []modeltest.Result
}

// agents measures the same conversation through helve and through OpenCode. The
// model is on this machine: only the program's own time counts.
func agents(ctx context.Context, b *bench) {
	const task = "Look at the files, mend every one, and make sure of it."
	all := []*player{b.player(ctx, "helve run", "helve/helve.json", b.helve, "run", "--no-input", "--model", "script/script-1", task)}
	if opencode := b.peers["opencode"]; opencode != "" {
		peer := b.player(ctx, "", "opencode/opencode.json", opencode, "run", "--model", "script/script-1", task)
		peer.name = b.openCode(ctx, peer.World) + " run"
		all = append(all, peer)
	}
	var ways []*way
	for _, p := range all {
		ways = append(ways, p.way)
	}
	b.race(ctx, nil, b.size(9, 1), ways...)
	// of is a whole run of an agent, or some steps of all runs; none of the peer
	// where there is no peer.
	of := func(i int, tools ...string) *way {
		if i == len(all) {
			return nil
		}
		if len(tools) == 0 {
			return ways[i]
		}
		steps := &way{name: all[i].name}
		for _, tool := range tools {
			steps.walls = append(steps.walls, all[i].steps[tool]...)
		}
		return steps
	}
	b.compare("agent.run", of(0), of(1), "", "p50", "cpu", "memory")
	b.compare("agent.step", of(0, scriptTools()...), of(1, scriptTools()...), "", "p50", "p99")
	for _, tool := range scriptTools() {
		b.compare("agent.step."+tool, of(0, tool), of(1, tool), "", "p50")
	}
}

// scriptTools are what a round of the script calls, in order.
func scriptTools() []string { return []string{"read", "grep", "glob", "edit", "bash"} }

// player makes the project, as a repository with a commit, and the config.
func (b *bench) player(ctx context.Context, name, config string, argv ...string) *player {
	model, err := modeltest.Open()
	b.must(err)
	b.cleanup(func() error { model.Close(); return nil })
	p := &player{World: b.world(allowed), rounds: b.size(8, 1), steps: map[string][]float64{}}
	model.Func(p.answer)
	for i := range 200 {
		b.must(p.Write(scriptFile(i), scriptText(i, false)))
	}
	text, err := json.Marshal(map[string]any{
		"model": "script/script-1", "small_model": "script/script-1", "permission": map[string]any{"*": "allow"},
		"provider": map[string]any{"script": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Script", "options": map[string]any{"baseURL": model.URL(), "apiKey": "none"},
			"models": map[string]any{"script-1": map[string]any{"name": "script-1", "tool_call": true, "limit": map[string]any{"context": 1_000_000, "output": 4000}}},
		}},
	})
	b.must(err)
	b.must(writeConfig(p.World, config, string(text)))
	for _, args := range []string{"init --quiet", "add .", "-c user.name=bench -c user.email=bench@localhost commit --quiet -m all"} {
		_, err := run(ctx, p.World, program{argv: append([]string{"git"}, strings.Fields(args)...)})
		b.must(err)
	}
	p.way = &way{name: name, in: p.World, program: program{argv: argv, watched: true}, ready: p.reset, check: p.made}
	return p
}

func scriptFile(i int) string { return fmt.Sprintf("part_%d/file_%d.txt", i%10, i) }

func scriptText(i int, mended bool) string {
	var s strings.Builder
	for line := range 40 {
		fmt.Fprintf(&s, "line %d of file %d stands here\n", line, i)
	}
	was := fmt.Sprintf("line 7 of file %d stands here", i)
	if mended {
		return strings.Replace(s.String(), was, was+", mended", 1)
	}
	return s.String()
}

// reset begins a conversation.
func (p *player) reset() error {
	p.mu.Lock()
	p.asked, p.answered, p.results = map[int]time.Time{}, map[int]time.Time{}, nil
	p.mu.Unlock()
	for i := range p.rounds {
		if err := p.Write(scriptFile(i), scriptText(i, false)); err != nil {
			return err
		}
	}
	return nil
}

// answer is what the model says: five calls a round, each of one file, then its
// last word.
func (p *player) answer(req modeltest.Request) modeltest.Reply {
	now, at := time.Now(), req.Turns()
	if len(req.Tools) == 0 { // something else, such as finding a title
		return modeltest.Reply{Text: "Mending files"}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, again := p.asked[at]; !again {
		p.asked[at] = now
	}
	p.results = req.Results()
	i, tool := at/len(scriptTools()), scriptTools()[at%len(scriptTools())]
	if i >= p.rounds {
		return modeltest.Reply{Text: "All is mended."}
	}
	path, was := filepath.Join(p.Project, filepath.FromSlash(scriptFile(i))), fmt.Sprintf("line 7 of file %d stands here", i)
	args := map[string]map[string]any{
		"read": {"filePath": path},
		"grep": {"pattern": fmt.Sprintf(`line 7 of file %d \w+`, i)},
		"glob": {"pattern": fmt.Sprintf("**/file_%d.txt", i)},
		"edit": {"filePath": path, "oldString": was, "newString": was + ", mended"},
		"bash": {"command": "grep -c mended " + scriptFile(i) + " && tail -n 1 " + scriptFile(i), "description": "Makes sure of it"},
	}
	text, _ := json.Marshal(args[tool]) // texts can always be written
	return modeltest.Reply{
		Text: "On to the next.", Calls: []modeltest.Call{{Name: tool, Args: string(text)}}, Usage: modeltest.Usage{Input: 1000, Output: 50},
		Before: func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.answered[at] = time.Now()
		},
	}
}

// made makes sure that all calls had the results that they should, and of the
// files, and keeps how long each step took.
func (p *player) made(string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if want := p.rounds * len(scriptTools()); len(p.results) != want {
		return fmt.Errorf("the model has heard of %d calls, and %d were to be made", len(p.results), want)
	}
	for at, res := range p.results {
		i, tool := at/len(scriptTools()), scriptTools()[at%len(scriptTools())]
		want := map[string]string{
			"read": fmt.Sprintf("line 39 of file %d stands here", i), "grep": fmt.Sprintf("file_%d.txt", i), "glob": fmt.Sprintf("file_%d.txt", i),
			"edit": "", "bash": fmt.Sprintf("1\nline 39 of file %d stands here", i),
		}[tool]
		if !strings.Contains(res.Text, want) {
			return fmt.Errorf("the model has heard of %s: %.300s", tool, res.Text)
		}
		if p.counts {
			p.steps[tool] = append(p.steps[tool], millis(p.asked[at+1].Sub(p.answered[at])))
		}
	}
	p.counts = true
	for i := range 200 {
		text, err := os.ReadFile(filepath.Join(p.Project, filepath.FromSlash(scriptFile(i))))
		if err != nil || string(text) != scriptText(i, i < p.rounds) {
			return fmt.Errorf("%s is not as it should be: %w", scriptFile(i), err)
		}
	}
	return nil
}
