package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/internal/modeltest"
	"github.com/helve-dev/helve/lab/internal/proof"
)

const (
	task      = "Look at the files, mend every one, and make sure of it."
	modelName = "script-1"
	fileLines = 40
	agentDirs = 10 // folders of the project
	agentEach = 20 // files in each
)

// A stage is a project and an agent that works in it.
type stage struct {
	*proof.World
	config string // of the agent, below its folder for configs
	argv   []string
	model  *watchedModel
	rounds int
	name   string
}

// agents measures the same conversation through helve and through OpenCode.
// The model is on this machine and plays a script.
func (s *settings) agents(ctx context.Context) (err error) {
	model, err := openModel()
	if err != nil {
		return err
	}
	defer model.Close()
	stages := []*stage{{name: "helve run", config: "helve/helve.json", argv: []string{s.helve, "run", "--no-input", "--model", "script/" + modelName, task}}}
	if s.opencode == "" {
		s.missing("OpenCode", "no --opencode")
	} else {
		stages = append(stages, &stage{config: "opencode/opencode.json", argv: []string{s.opencode, "run", "--model", "script/" + modelName, task}})
	}
	var all []*way
	var took []map[string][]time.Duration
	for _, st := range stages {
		st.model, st.rounds = model, s.sizes.rounds
		if err := st.open(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, st.Close()) }()
		if st.argv[0] == s.opencode {
			if st.name, err = s.peerAgent(ctx, st.World); err != nil {
				return err
			}
			st.name += " run"
		}
		steps := map[string][]time.Duration{}
		took = append(took, steps)
		all = append(all, st.way(steps))
	}
	fmt.Fprintf(s.log, "agent: %d runs of each, %d steps a run\n", s.sizes.runs, s.sizes.rounds*len(tools()))
	if err := s.race(ctx, s.sizes.runs, all); err != nil {
		return err
	}
	s.table(fmt.Sprintf("A conversation of %d steps", s.sizes.rounds*len(tools())), all)
	s.steps(all, took)
	return nil
}

// tools are what a round of the script calls, in order.
func tools() []string { return []string{"read", "grep", "glob", "edit", "bash"} }

// steps reports the times of single steps, of the first way beside the second.
func (s *settings) steps(all []*way, took []map[string][]time.Duration) {
	fmt.Fprintf(s.out, "### From the model's answer to the next request\n\n| |")
	for _, tool := range tools() {
		fmt.Fprintf(s.out, " %s |", tool)
	}
	fmt.Fprintf(s.out, " all | all, p99 |\n|---|%s---|---|\n", strings.Repeat("---|", len(tools())))
	var each []*way // by way, all steps of all runs
	for i, w := range all {
		sum := &way{name: w.name}
		fmt.Fprintf(s.out, "| %s |", w.name)
		for _, tool := range tools() {
			fmt.Fprintf(s.out, " %s |", ms(proof.Median(took[i][tool])))
			sum.walls = append(sum.walls, took[i][tool]...)
		}
		fmt.Fprintf(s.out, " %s | %s |\n", ms(proof.Median(sum.walls)), ms(proof.Quantile(sum.walls, 0.99)))
		each = append(each, sum)
	}
	fmt.Fprintln(s.out)
	var peer *way
	if len(all) > 1 {
		peer = all[1]
		s.add("agent.step", each[0], each[1])
	} else {
		s.add("agent.step", each[0], nil)
	}
	s.add("agent.run", all[0], peer)
	for _, tool := range tools() {
		if peer == nil {
			break
		}
		s.sheet.Add(proof.Figure{
			ID: "agent.step." + tool + ".p50", Unit: "ms", Value: proof.Millis(proof.Median(took[0][tool])),
			Peer: peer.name, PeerValue: proof.Millis(proof.Median(took[1][tool])), Note: fmt.Sprintf("%d steps each.", len(took[0][tool])),
		})
	}
}

// open makes the project, as a repository with a commit, and the config.
func (st *stage) open(ctx context.Context) (err error) {
	if st.World, err = proof.NewWorld(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, st.Close())
		}
	}()
	for i := range agentDirs * agentEach {
		if err := st.Write(fileName(i), fileText(i)); err != nil {
			return err
		}
	}
	config, err := json.Marshal(map[string]any{
		"model": "script/" + modelName, "small_model": "script/" + modelName, "permission": map[string]any{"*": "allow"},
		"provider": map[string]any{"script": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Script", "options": map[string]any{"baseURL": st.model.URL(), "apiKey": "none"},
			"models": map[string]any{modelName: map[string]any{"name": modelName, "tool_call": true, "limit": map[string]any{"context": 1_000_000, "output": 4000}}},
		}},
	})
	if err != nil {
		return err
	}
	path := filepath.Join(st.Home, "config", filepath.FromSlash(st.config))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path, config, 0o600); err != nil {
		return err
	}
	for _, args := range []string{"init --quiet", "add .", "-c user.name=peers -c user.email=peers@localhost commit --quiet -m all"} {
		argv := append([]string{"git"}, strings.Fields(args)...)
		if _, err := (program{argv: argv, dir: st.Project, env: st.Env()}).run(ctx); err != nil {
			return err
		}
	}
	return nil
}

func fileName(i int) string { return fmt.Sprintf("part_%d/file_%d.txt", i%agentDirs, i) }

func fileText(i int) string {
	var b strings.Builder
	for line := range fileLines {
		fmt.Fprintf(&b, "line %d of file %d stands here\n", line, i)
	}
	return b.String()
}

// mended is what a file of a round holds in the end.
func mended(i int) string {
	was := fmt.Sprintf("line 7 of file %d stands here", i)
	return strings.Replace(fileText(i), was, was+", mended", 1)
}

// script is what the model says: five calls a round, each of one file, then
// its last word.
func (st *stage) script() (all []modeltest.Reply) {
	for i := range st.rounds {
		path := filepath.Join(st.Project, filepath.FromSlash(fileName(i)))
		was := fmt.Sprintf("line 7 of file %d stands here", i)
		args := map[string]map[string]any{
			"read": {"filePath": path},
			"grep": {"pattern": fmt.Sprintf(`line 7 of file %d \w+`, i)},
			"glob": {"pattern": fmt.Sprintf("**/file_%d.txt", i)},
			"edit": {"filePath": path, "oldString": was, "newString": was + ", mended"},
			"bash": {"command": "grep -c mended " + fileName(i) + " && tail -n 1 " + fileName(i), "description": "Makes sure of it"},
		}
		for _, tool := range tools() {
			text, _ := json.Marshal(args[tool]) // texts can always be written
			all = append(all, modeltest.Reply{Text: "On to the next.", Calls: []modeltest.Call{{Name: tool, Args: string(text)}}, Usage: modeltest.Usage{Input: 1000, Output: 50}})
		}
	}
	return append(all, modeltest.Reply{Text: "All is mended."})
}

// way is the way of the stage's agent. The times of its steps go to took.
func (st *stage) way(took map[string][]time.Duration) *way {
	w := ofProgram(st.name, program{argv: st.argv, dir: st.Project, env: st.Env()})
	first := true // which is not counted
	w.ready = func() error {
		st.model.play(st.script())
		var err error
		for i := range st.rounds {
			err = errors.Join(err, st.Write(fileName(i), fileText(i)))
		}
		return err
	}
	w.check = func(string) error {
		steps, err := st.model.heard(st.rounds)
		if err != nil {
			return err
		}
		for tool, times := range steps {
			if !first {
				took[tool] = append(took[tool], times...)
			}
		}
		first = false
		return st.same()
	}
	return w
}

// same makes sure of the files.
func (st *stage) same() error {
	for i := range agentDirs * agentEach {
		want := fileText(i)
		if i < st.rounds {
			want = mended(i)
		}
		text, err := os.ReadFile(filepath.Join(st.Project, filepath.FromSlash(fileName(i))))
		if err != nil || string(text) != want {
			return fmt.Errorf("%s is not as it should be: %w", fileName(i), err)
		}
	}
	return nil
}

// A watchedModel plays a script and keeps when it was asked and has answered.
type watchedModel struct {
	*modeltest.Server

	mu       sync.Mutex
	replies  []modeltest.Reply
	asked    map[int]time.Time // by the number of the answer
	answered map[int]time.Time
	results  []modeltest.Result
}

func openModel() (*watchedModel, error) {
	server, err := modeltest.Open()
	if err != nil {
		return nil, err
	}
	m := &watchedModel{Server: server}
	server.Func(m.answer)
	return m, nil
}

// play begins a conversation.
func (m *watchedModel) play(replies []modeltest.Reply) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replies, m.results = replies, nil
	m.asked, m.answered = map[int]time.Time{}, map[int]time.Time{}
}

func (m *watchedModel) answer(req modeltest.Request) modeltest.Reply {
	now, at := time.Now(), req.Turns()
	if len(req.Tools) == 0 { // a side errand, such as finding a title
		return modeltest.Reply{Text: "Mending files"}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, again := m.asked[at]; !again {
		m.asked[at] = now
	}
	m.results = req.Results()
	if at >= len(m.replies) {
		return modeltest.Reply{Text: "There is nothing more to say."}
	}
	said := m.replies[at]
	said.Before = func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.answered[at] = time.Now()
	}
	return said
}

// heard returns how long each step took, by tool, and makes sure that all
// calls had the results that they should.
func (m *watchedModel) heard(rounds int) (map[string][]time.Duration, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if want := rounds * len(tools()); len(m.results) != want {
		return nil, fmt.Errorf("the model has heard of %d calls, and %d were to be made", len(m.results), want)
	}
	steps := map[string][]time.Duration{}
	for at, res := range m.results {
		i, tool := at/len(tools()), tools()[at%len(tools())]
		want := map[string]string{
			"read": fmt.Sprintf("line 39 of file %d stands here", i), "grep": fmt.Sprintf("file_%d.txt", i), "glob": fmt.Sprintf("file_%d.txt", i),
			"edit": "", "bash": fmt.Sprintf("1\nline 39 of file %d stands here", i),
		}[tool]
		if !strings.Contains(res.Text, want) {
			return nil, fmt.Errorf("the model has heard of %s: %.300s", tool, res.Text)
		}
		steps[tool] = append(steps[tool], m.asked[at+1].Sub(m.answered[at]))
	}
	return steps, nil
}
