package helve_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A node is an agent of a random tree, with what it asks for.
type node struct {
	name     string
	parent   *node
	children []*node
	probes   [][2]string // permission and pattern
	policy   permission.Policy
}

func (n *node) depth() (d int) {
	for ; n.parent != nil; n = n.parent {
		d++
	}
	return d
}

// drawTree makes a tree of agents with rules of their own, to depth 5.
func drawTree(t *rapid.T) (nodes []*node) {
	perms := rapid.SampledFrom([]string{"*", "red", "blue", "r*"})
	patterns := rapid.SampledFrom([]string{"*", "a", "b", "a*"})
	actions := rapid.SampledFrom([]permission.Action{permission.Allow, permission.Ask, permission.Deny, permission.Allow})
	rule := rapid.Custom(func(t *rapid.T) permission.Rule {
		return permission.Rule{Permission: perms.Draw(t, "permission"), Pattern: patterns.Draw(t, "pattern"), Action: actions.Draw(t, "action")}
	})
	count := rapid.IntRange(2, 8).Draw(t, "nodes")
	for i := range count {
		n := &node{name: fmt.Sprintf("n%d", i)}
		if i > 0 {
			n.parent = nodes[rapid.IntRange(0, i-1).Draw(t, "parent")]
			if n.parent.depth() == 5 {
				n.parent = nodes[0]
			}
			n.parent.children = append(n.parent.children, n)
		}
		n.policy.Rules = append(n.policy.Rules, permission.Rule{Permission: "*", Pattern: "*", Action: permission.Allow})
		n.policy.Rules = append(n.policy.Rules, rapid.SliceOfN(rule, 0, 4).Draw(t, "rules")...)
		// None is kept from starting others, so that the tree is walked whole.
		n.policy.Rules = append(n.policy.Rules, permission.Rule{Permission: "task", Pattern: "*", Action: permission.Allow})
		for _, perm := range []string{"red", "blue"} {
			for _, pattern := range []string{"a", "b", "ab"} {
				n.probes = append(n.probes, [2]string{perm, pattern})
			}
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// An agent that others started is never allowed what one of those above it is
// denied, whatever its own rules say.
func TestChildNeverWider(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		nodes := drawTree(rt)
		byName := map[string]*node{}
		var agents []agent.Spec
		for _, n := range nodes {
			byName[n.name] = n
			agents = append(agents, agent.Spec{Name: n.name, Mode: "all", Policy: n.policy})
		}
		b := &brain{answer: func(req model.Request) []model.Event {
			if turnsOf(req) > 0 {
				return says("done")
			}
			n := byName[req.Messages[0].Parts[0].Text]
			var calls []toolCall
			for _, p := range n.probes {
				calls = append(calls, toolCall{"probe", map[string]string{"node": n.name, "permission": p[0], "pattern": p[1]}})
			}
			for _, c := range n.children {
				calls = append(calls, toolCall{"task", map[string]string{"description": "d", "prompt": c.name, "subagent_type": c.name}})
			}
			return callsTools(calls...)
		}}
		dir, err := os.MkdirTemp("", "tree")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		r, err := helve.Open(helve.Options{
			Dir: dir, Worktree: dir, Agents: agents, Unattended: true, Loop: agent.Loop{Depth: 6},
			Models: agent.Models{Default: model.Ref{Provider: "t", Model: "m"},
				Find: func(model.Ref) (model.Model, error) { return model.Model{Provider: b}, nil }},
		})
		if err != nil {
			rt.Fatal(err)
		}
		defer r.Close()
		var (
			mu    sync.Mutex
			wider []string
			made  = map[string]bool{}
		)
		type input struct {
			Node       string `json:"node"`
			Permission string `json:"permission"`
			Pattern    string `json:"pattern"`
		}
		_, err = r.Register(tool.New(tool.Spec{Name: "probe", Description: "asks"}, func(ctx context.Context, c *tool.Call, in input) (*tool.Result, error) {
			err := c.Ask(ctx, permission.Request{Permission: in.Permission, Patterns: []string{in.Pattern}, Always: []string{"*"}})
			mu.Lock()
			defer mu.Unlock()
			made[in.Node] = true
			for n := byName[in.Node]; n != nil; n = n.parent {
				denied := n.policy.Decide(in.Permission, in.Pattern).Action == permission.Deny
				if denied && !errors.Is(err, permission.ErrDenied) {
					wider = append(wider, fmt.Sprintf("%s asks for %s %s, which %s is denied: %v", in.Node, in.Permission, in.Pattern, n.name, err))
				}
			}
			if own := byName[in.Node].policy.Decide(in.Permission, in.Pattern).Action; own == permission.Allow && err != nil {
				above := false
				for n := byName[in.Node].parent; n != nil; n = n.parent {
					above = above || n.policy.Decide(in.Permission, in.Pattern).Action == permission.Deny
				}
				if !above {
					wider = append(wider, fmt.Sprintf("%s is refused %s %s, which nobody is denied: %v", in.Node, in.Permission, in.Pattern, err))
				}
			}
			return &tool.Result{Output: "asked"}, nil
		}))
		if err != nil {
			rt.Fatal(err)
		}
		if _, err := r.Turns().Prompt(context.Background(), agent.Prompt{Text: "n0", Agent: "n0"}); err != nil {
			rt.Fatal(err)
		}
		if len(wider) > 0 {
			rt.Fatalf("%s", strings.Join(wider, "\n"))
		}
		// Where the tool itself is not hidden, every agent was really asked.
		for _, n := range nodes {
			hidden := false
			for a := n; a != nil; a = a.parent {
				hidden = hidden || a.policy.Hides("probe")
			}
			if !hidden && !made[n.name] {
				rt.Fatalf("%s never ran", n.name)
			}
		}
	})
}

func TestTaskDepth(t *testing.T) {
	agents := []agent.Spec{{Name: "deep", Mode: "all", Policy: permission.Policy{Rules: permission.Ruleset{
		{Permission: "*", Pattern: "*", Action: permission.Allow}, {Permission: "task", Pattern: "*", Action: permission.Allow}}}}}
	for limit, want := range map[int]int{0: 1, 1: 1, 3: 3, -1: 0} {
		b := &brain{answer: func(req model.Request) []model.Event {
			if turnsOf(req) > 0 {
				return says("done")
			}
			return callsTool("task", map[string]string{"description": "d", "prompt": "deeper", "subagent_type": "deep"})
		}}
		r := thinks(t, b, func(o *helve.Options) { o.Agents, o.Loop.Depth = agents, limit })
		prompted(t, r, agent.Prompt{Text: "go"})
		sessions, err := r.Records().Sessions(t.Context(), 0)
		if err != nil || len(sessions) != want+1 {
			t.Errorf("limit %d: %d sessions, %v", limit, len(sessions), err)
		}
	}
}

func TestTaskResumes(t *testing.T) {
	id := ""
	b := &brain{}
	b.answer = func(req model.Request) []model.Event {
		switch first := req.Messages[0].Parts[0].Text; {
		case first == "child":
			return says(fmt.Sprintf("seen %d", len(req.Messages)))
		case turnsOf(req) == 0:
			return callsTool("task", map[string]string{"description": "d", "prompt": "child", "subagent_type": "general"})
		case turnsOf(req) == 1:
			out := req.Messages[2].Parts[0].Result.Output
			_, id, _ = strings.Cut(out, "session_id: ")
			id, _, _ = strings.Cut(id, "\n")
			return callsTool("task", map[string]string{"description": "d", "prompt": "child", "subagent_type": "general", "task_id": id})
		case turnsOf(req) == 2: // another's session is not taken over
			return callsTool("task", map[string]string{"description": "d", "prompt": "child", "subagent_type": "general", "session_id": "ses_junk"})
		}
		return says("done")
	}
	r := thinks(t, b, nil)
	turn := prompted(t, r, agent.Prompt{Text: "go"})
	msgs, err := r.Records().Messages(t.Context(), turn.Session)
	if err != nil || len(msgs) != 5 {
		t.Fatalf("%d messages, %v", len(msgs), err)
	}
	for i, want := range []string{"seen 1", "seen 3", "seen 1"} {
		if s := calledIn(msgs[i+1]).State; !strings.HasPrefix(s.Output, want) {
			t.Errorf("task %d: %+v", i, s)
		}
	}
	if turn.Tokens.Input != 100*7 {
		t.Errorf("the turn does not count what its agents took: %+v", turn.Tokens)
	}
}

// An agent that can not begin for another reason than its own work is not told
// to be at work.
func TestTaskThatCanNotBegin(t *testing.T) {
	data := t.TempDir()
	r := thinks(t, &brain{answer: inTurn()}, func(o *helve.Options) { o.DataDir, o.Unrecorded, o.Unattended = data, true, true })
	if _, err := r.Records().Sessions(t.Context(), 1); err != nil { // it opens the records
		t.Fatal(err)
	}
	claims := filepath.Join(data, "run")
	if err := errors.Join(os.RemoveAll(claims), os.WriteFile(claims, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	_, err := callJSON(t, r, "task", `{"description": "d", "prompt": "child", "subagent_type": "general"}`)
	if e := kindOf(t, err); e.Code == "busy" || !strings.Contains(e.Error(), "taking a lock") {
		t.Errorf("%+v", e)
	}
}

// treeOf is a sum over all files below a folder.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%s %x\n", path, sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// In plan mode nothing changes, whatever the rules allow.
func TestPlanLocks(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("alpha\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	everything := permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}, {Permission: "edit", Pattern: "*", Action: permission.Allow}}
	plan := agent.SpecChange{Name: "plan", Rules: everything}
	attempts := planAttempts(dir)
	b := &brain{answer: func(req model.Request) []model.Event {
		if strings.HasPrefix(req.Messages[0].Parts[0].Text, "child") && turnsOf(req) > 0 {
			return says("done")
		}
		if strings.HasPrefix(req.Messages[0].Parts[0].Text, "child") {
			return callsTools(attempts[0], attempts[1], attempts[2])
		}
		for _, tl := range req.Tools {
			if tl.Name == "write" || tl.Name == "edit" || tl.Name == "multiedit" || tl.Name == "apply_patch" {
				t.Errorf("plan is shown %s", tl.Name)
			}
		}
		if n := turnsOf(req); n*10 < len(attempts) {
			return callsTools(attempts[n*10 : min(len(attempts), n*10+10)]...)
		}
		return says("done")
	}}
	r := thinks(t, b, func(o *helve.Options) {
		o.Dir, o.Worktree = dir, dir
		o.Agents = agent.Specs(agent.SpecOptions{Worktree: dir, DataDir: o.DataDir, User: everything, Own: []agent.SpecChange{plan}})
		o.Flags = map[string]bool{"batch": true}
	})
	answering(t, r, permission.Reply{Verdict: permission.ReplyOnce})
	before := treeOf(t, dir)
	turn := prompted(t, r, agent.Prompt{Text: "plan it", Agent: "plan"})
	if turn.End != agent.EndDone {
		t.Errorf("turn = %+v", turn)
	}
	if after := treeOf(t, dir); after != before {
		out, _ := os.ReadDir(dir)
		t.Errorf("the project changed: %v", out)
	}
	msgs, _ := r.Records().Messages(t.Context(), turn.Session)
	made := 0
	for _, m := range msgs {
		for _, p := range m.Parts {
			if p.Type == message.Tool {
				made++
			}
		}
	}
	if made < 100 {
		t.Errorf("only %d attempts were made", made)
	}
}

// planAttempts are 100 ways to change a.txt or to make a file.
func planAttempts(dir string) (out []toolCall) {
	at := func(name string) string { return filepath.Join(dir, name) }
	type args = map[string]any
	for i := range 12 {
		name := at(fmt.Sprintf("new%d.txt", i))
		out = append(out,
			toolCall{"write", args{"filePath": name, "content": "x"}},
			toolCall{"bash", args{"command": fmt.Sprintf("echo x > new%d.txt", i), "description": "x"}},
			toolCall{"task", args{"description": "d", "prompt": fmt.Sprintf("child %d", i), "subagent_type": "general"}},
			toolCall{"edit", args{"filePath": at("a.txt"), "oldString": "alpha", "newString": fmt.Sprint("beta", i)}},
			toolCall{"edit", args{"filePath": name, "oldString": "", "newString": "x"}},
			toolCall{"multiedit", args{"filePath": at("a.txt"), "edits": []args{{"oldString": "alpha", "newString": "x"}}}},
			toolCall{"apply_patch", args{"patchText": fmt.Sprintf("*** Begin Patch\n*** Add File: p%d.txt\n+x\n*** End Patch", i)}},
			toolCall{"batch", args{"tool_calls": []args{{"tool": "write", "parameters": args{"filePath": name, "content": "x"}}}}},
			toolCall{"write", args{"filePath": at(".opencode/plans/../../up" + fmt.Sprint(i) + ".txt"), "content": "x"}},
		)
	}
	for _, line := range []string{
		"tee t.txt < a.txt", "sed -i s/alpha/beta/ a.txt", "rm a.txt", "mv a.txt b.txt", "cp a.txt b.txt", "touch t.txt", "mkdir d",
		"ln -s a.txt l", "chmod 000 a.txt", "truncate -s 0 a.txt", "sh -c 'echo x > s.txt'", "python3 -c 'open(\"p.txt\",\"w\")'",
		"cd / && echo x > " + dir + "/c.txt", "git init -q sub", "printf x >> a.txt", "dd if=/dev/zero of=z bs=1 count=1",
	} {
		out = append(out, toolCall{"bash", args{"command": line, "description": "x"}})
	}
	return out
}

// What an agent of a session was denied stays denied when the agent is no more.
func TestForebearGone(t *testing.T) {
	data := t.TempDir()
	careful := agent.SpecChange{Name: "careful", Mode: "all", Rules: permission.Ruleset{{Permission: "edit", Pattern: "*", Action: permission.Deny}}}
	b := &brain{answer: func(req model.Request) []model.Event {
		first := req.Messages[0].Parts[0].Text
		last := req.Messages[len(req.Messages)-1].Parts[0]
		switch {
		case last.Result != nil:
			return says("done")
		case first == "child" || last.Text == "again":
			return callsTool("write", map[string]string{"filePath": "made.txt", "content": "x"})
		}
		return callsTool("task", map[string]string{"description": "d", "prompt": "child", "subagent_type": "general"})
	}}
	dir := t.TempDir()
	open := func(own ...agent.SpecChange) *helve.Runtime {
		return thinks(t, b, func(o *helve.Options) {
			o.Dir, o.Worktree, o.DataDir = dir, dir, data
			o.Agents = agent.Specs(agent.SpecOptions{Own: own, Worktree: dir, DataDir: data})
		})
	}
	first := open(careful)
	turn := prompted(t, first, agent.Prompt{Text: "go", Agent: "careful"})
	sessions, err := first.Records().Sessions(t.Context(), 0)
	if err != nil || len(sessions) != 2 {
		t.Fatalf("%d sessions, %v", len(sessions), err)
	}
	child := sessions[0].ID
	if child == turn.Session {
		child = sessions[1].ID
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := open()
	if _, err := second.Turns().Prompt(t.Context(), agent.Prompt{Session: turn.Session, Text: "again"}); err == nil || !strings.Contains(err.Error(), "is no more") {
		t.Errorf("the session goes on as somebody else: %v", err)
	}
	prompted(t, second, agent.Prompt{Session: child, Text: "again"})
	if _, err := os.Stat(filepath.Join(dir, "made.txt")); err == nil {
		t.Error("the child may what its caller might not")
	}
}

// A turn that broke off goes on as the agent that it was for.
func TestResumesAsPlan(t *testing.T) {
	b := &brain{}
	var stuck atomic.Bool
	stuck.Store(true)
	b.answer = func(req model.Request) []model.Event {
		last := req.Messages[len(req.Messages)-1].Parts[0]
		switch {
		case last.Text == "hello":
			return says("hi")
		case stuck.Load():
			return []model.Event{{Kind: "hang"}}
		case last.Result != nil:
			return says("done")
		}
		return callsTool("write", map[string]string{"filePath": "made.txt", "content": "x"})
	}
	r := thinks(t, b, nil)
	turn := prompted(t, r, agent.Prompt{Text: "hello"})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for e := range r.Events(ctx, 0) {
			if m, ok := e.Properties.(event.MessageUpdated); ok && m.Info.Role == message.Assistant && m.Info.Agent == "plan" {
				cancel()
			}
		}
	}()
	if got, err := r.Turns().Prompt(ctx, agent.Prompt{Session: turn.Session, Agent: "plan", Text: "think"}); err != nil || got.End != agent.EndCanceled {
		t.Fatalf("%+v, %v", got, err)
	}
	stuck.Store(false)
	got, err := r.Turns().Resume(t.Context(), turn.Session)
	if err != nil || got.End != agent.EndDone {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(dirOf(t, r), "made.txt")); err == nil {
		t.Error("it went on as an agent that may write")
	}
}
