package helve_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/modeltest"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/model/anthropic"
	"github.com/helve-dev/helve/model/openai"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/skill"
)

// A take is a conversation that the reference had with a scripted model, and
// what came of it. See testdata/agent/README.md.
type take struct {
	Name    string `json:"name"`
	Profile string `json:"profile"`
	Agent   string `json:"agent"`
	Subdir  string `json:"subdir"`
	Config  struct {
		Permission   json.RawMessage `json:"permission"`
		Experimental struct {
			Continue bool `json:"continue_loop_on_deny"`
		} `json:"experimental"`
	} `json:"config"`
	Fixture []struct {
		Path string `json:"path"`
		Root string `json:"root"` // "out": beside the workspace
		Text string `json:"text"`
	} `json:"fixture"`
	HTTP []struct {
		Path    string            `json:"path"`
		Headers map[string]string `json:"headers"`
		Text    string            `json:"text"`
	} `json:"http"`
	Steps             []takeStep            `json:"steps"`
	Children          map[string][]takeStep `json:"children"`
	PermissionReplies []json.RawMessage     `json:"permission_replies"`
	QuestionReplies   []json.RawMessage     `json:"question_replies"`
	Expected          struct {
		Requests      int                 `json:"model_requests"`
		Calls         []any               `json:"calls"`
		Inner         []any               `json:"inner"`
		Asks          []any               `json:"asks"`
		AsksAll       []any               `json:"asks_when_everything_asks"`
		Questions     []any               `json:"questions"`
		Extra         []any               `json:"extra_messages"`
		Children      map[string][]any    `json:"children"`
		ChildSessions []any               `json:"child_sessions"`
		ChildTools    map[string][]string `json:"child_tools"`
		Files         map[string]any      `json:"files"`
		Saved         []any               `json:"saved_output"`
	} `json:"expected"`
}

// A takeStep is one reply of the model.
type takeStep struct {
	Calls []struct {
		Tool string          `json:"tool"`
		Args json.RawMessage `json:"args"`
		Raw  *string         `json:"raw_args"` // in their place
	} `json:"calls"`
}

func takes(t *testing.T) (all []take) {
	t.Helper()
	for _, file := range []string{
		"testdata/agent/task.json", "testdata/agent/plan.json", "testdata/agent/permission.json",
		"internal/builtin/testdata/parity/permission.json", "internal/builtin/testdata/parity/invalid.json",
		"internal/builtin/testdata/parity/question.json", "internal/builtin/testdata/parity/todo.json",
	} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var some []take
		if err := json.Unmarshal(data, &some); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, some...)
	}
	return all
}

func (k take) rules(t *testing.T, s stage, askAll bool) (rules permission.Ruleset) {
	t.Helper()
	var configs []json.RawMessage
	switch {
	case askAll:
		configs = append(configs, json.RawMessage(`{"*":"ask"}`))
	case k.Profile != "defaultperm":
		configs = append(configs, json.RawMessage(`"allow"`))
	}
	if k.Config.Permission != nil && !askAll {
		configs = append(configs, k.Config.Permission)
	}
	for _, c := range configs {
		rs, err := permission.ParseConfig([]byte(s.expand(string(c))), permission.ConfigOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, rs...)
	}
	return rules
}

// script is what the model says.
func (k take) script(s stage, server *modeltest.Server) {
	replies := func(steps []takeStep, last string) (out []modeltest.Reply) {
		for i, step := range steps {
			var said modeltest.Reply
			for j, c := range step.Calls {
				args := string(c.Args)
				if c.Raw != nil {
					args = *c.Raw
				}
				said.Calls = append(said.Calls, modeltest.Call{
					ID: fmt.Sprintf("call_%d_%d", i, j), Name: c.Tool, Args: s.expand(strings.ReplaceAll(args, "{{RUN}}", "now")),
				})
			}
			out = append(out, said)
		}
		return append(out, modeltest.Reply{Text: last})
	}
	for name, steps := range k.Children {
		server.Script("CHILD "+name+" now", replies(steps, "child "+name+" done")...)
	}
	server.Script("PARENT now", replies(k.Steps, "all done")...)
}

// A performance is what happened when a take was played, in the words of
// recordings.
type performance struct {
	Calls, Asks, Questions []any
	Inner                  []any
	Told                   []any // what the model was told of each call; nil where it was not
	Requests               int
	Extra                  []string
	Children               map[string][]any
	ChildSessions          []any
	ChildTools             map[string][]string
	Files                  map[string]any
	Saved                  []any
}

func (k take) play(t *testing.T, protocol string, askAll bool) (got performance) {
	t.Helper()
	s := k.stage(t)
	before := s.files(t)
	server := modeltest.Start(t)
	k.script(s, server)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rt := open(t, helve.Options{
		Dir: s.ws, Worktree: s.top, DataDir: s.data, Shell: helve.Shell{Helper: self},
		Flags:  map[string]bool{"batch": k.Profile == "batch", "lsp": k.Profile == "experimental"},
		Skills: &skill.Options{Folders: []skill.Folder{{Path: filepath.Join(s.top, ".opencode")}}},
		Agents: agent.Specs(agent.SpecOptions{
			DataDir: s.data, Worktree: s.top, User: k.rules(t, s, askAll),
			Own: []agent.SpecChange{{Name: "helper", Description: "Helps", Mode: "subagent", Prompt: "You help."}},
		}),
		Models: scripted(t, protocol, server),
		Loop:   agent.Loop{ContinueAfterReject: k.Config.Experimental.Continue, PlanTools: k.Profile == "experimental"},
	})
	u := &user{rt: rt}
	if !askAll {
		u.replies, u.answers = k.PermissionReplies, k.QuestionReplies
		if len(k.Steps[0].Calls) == len(k.Expected.Asks) {
			u.patience = len(k.Expected.Asks)
		}
	}
	leave := u.sit()
	turn, err := rt.Turns().Prompt(t.Context(), agent.Prompt{Text: "PARENT now", Agent: k.Agent})
	if err != nil {
		t.Fatal(err)
	}
	leave()
	k.collect(t, rt, turn.Session, &got)
	k.overhear(server, &got)
	got.Asks, got.Questions, got.Files = u.asks, u.questions, s.files(t)
	for name, was := range before {
		if inJSON(got.Files[name]) == inJSON(was) {
			delete(got.Files, name)
		} else if got.Files[name] == nil {
			got.Files[name] = map[string]any{"deleted": true}
		}
	}
	got.Saved = s.saved(t)
	var out performance
	if err := json.Unmarshal([]byte(inJSON(s.normal(t, got))), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// scripted are the models of a test: one, served in a protocol.
func scripted(t testing.TB, protocol string, server *modeltest.Server) agent.Models {
	t.Helper()
	info := model.Info{Context: 200_000, Output: 8_000, Price: model.Price{Input: 1, Output: 2}}
	m := model.Model{Provider: client(t, protocol, server.URL()), Info: info}
	return agent.Models{
		Default: model.Ref{Provider: protocol, Model: "scripted"},
		Find:    func(model.Ref) (model.Model, error) { return m, nil },
	}
}

// client is how a model is spoken to.
func client(t testing.TB, protocol, url string) model.Provider {
	t.Helper()
	var p model.Provider
	var err error
	if protocol == "anthropic" {
		p, err = anthropic.NewProvider(anthropic.Options{Key: "sk-test", BaseURL: url})
	} else {
		p, err = openai.NewProvider(openai.Options{Key: "sk-test", BaseURL: url})
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// collect reads what is kept of the conversations.
func (k take) collect(t *testing.T, rt *helve.Runtime, parent string, got *performance) {
	t.Helper()
	got.Calls, got.Inner = partsOf(t, rt, parent)
	sessions, err := rt.Records().Sessions(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions {
		if s.Parent == parent {
			calls, _ := partsOf(t, rt, s.ID)
			got.ChildSessions = append(got.ChildSessions, calls)
		}
	}
}

// partsOf words the calls of a session; those within a batch apart.
func partsOf(t *testing.T, rt *helve.Runtime, session string) (calls, inner []any) {
	t.Helper()
	msgs, err := rt.Records().Messages(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	scriptedID := regexp.MustCompile(`^call_\d+_\d+$`)
	calls = []any{}
	for _, m := range msgs {
		for _, p := range m.Parts {
			if p.Type != message.Tool {
				continue
			}
			out := map[string]any{"tool": p.Tool, "status": p.State.Status}
			if p.State.Status == message.Failed {
				out["error"] = p.State.Error
			} else {
				out["title"], out["output"], out["metadata"] = p.State.Title, p.State.Output, p.State.Metadata
			}
			if scriptedID.MatchString(p.CallID) {
				calls = append(calls, out)
			} else {
				out["input"] = p.State.Input
				inner = append(inner, out)
			}
		}
	}
	return calls, inner
}

// overhear reads what the models were asked.
func (k take) overhear(server *modeltest.Server, got *performance) {
	told := func(req modeltest.Request, steps []takeStep) (out []any) {
		texts := map[string]any{}
		for _, r := range req.Results() {
			texts[r.ID] = r.Text
		}
		for i, step := range steps {
			for j := range step.Calls {
				out = append(out, texts[fmt.Sprintf("call_%d_%d", i, j)])
			}
		}
		return out
	}
	got.Children, got.ChildTools = map[string][]any{}, map[string][]string{}
	for _, req := range server.Requests() {
		if name, ok := strings.CutPrefix(req.First(), "CHILD "); ok {
			name, _, _ = strings.Cut(name, " ")
			got.Children[name], got.ChildTools[name] = told(req, k.Children[name]), req.Tools
			continue
		}
		got.Requests++
		got.Told, got.Extra = told(req, k.Steps), nil
		for i, m := range req.Messages {
			if i > 0 && len(m.Texts) > 0 && m.Role == "user" { // one protocol has texts of their own, the other one text
				got.Extra = append(got.Extra, strings.Split(strings.Join(m.Texts, "\n\n"), "\n\n<system-reminder>")...)
			}
		}
	}
}

func inJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// asksProtocol is the one in which takes are played a second time, with
// everything asked about: what is asked is not the protocol's business.
const asksProtocol = "openai"

// TestAgentParity plays every take in both protocols and holds what happens
// against what the reference did.
func TestAgentParity(t *testing.T) {
	known := map[string][]departure{}
	for _, d := range departures() {
		known[d.name] = append(known[d.name], d)
	}
	exact := loadAccepted(t)
	now, mu := map[string]map[string]any{}, sync.Mutex{}
	t.Cleanup(func() { // when all takes were played
		if !*update || t.Failed() {
			return
		}
		maps.Copy(exact, now)
		maps.DeleteFunc(exact, func(_ string, ours map[string]any) bool { return len(ours) == 0 })
		data, err := json.MarshalIndent(exact, "", " ")
		if err == nil {
			err = os.WriteFile(acceptedFile, append(data, '\n'), 0o644)
		}
		if err != nil {
			t.Error(err)
		}
	})
	left := maps.Clone(exact)
	for _, k := range takes(t) {
		meant := known[k.Name]
		delete(known, k.Name)
		for _, protocol := range []string{"anthropic", "openai"} {
			delete(left, k.Name+"/"+protocol)
			t.Run(k.Name+"/"+protocol, func(t *testing.T) {
				t.Parallel()
				meant := slices.DeleteFunc(slices.Clone(meant), func(d departure) bool {
					return protocol != asksProtocol && strings.HasPrefix(d.field, "asks_when_everything_asks")
				})
				found, ours := k.compare(t, protocol), map[string]any{}
				for _, f := range found {
					ours[f.field] = f.got
				}
				mu.Lock()
				now[k.Name+"/"+protocol] = ours
				mu.Unlock()
				want := exact[k.Name+"/"+protocol]
				if *update {
					want = ours
				}
				settle(t, found, meant, want)
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		t.Errorf("%s names %s, and there is no such recording", acceptedFile, name)
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		t.Errorf("the table of differences names %s, and there is no such recording", name)
	}
}

// compare plays a take and returns what is not as recorded.
func (k take) compare(t *testing.T, protocol string) []discrepancy {
	t.Helper()
	var c collation
	got, want := k.play(t, protocol, false), k.Expected
	c.list("calls", plain(want.Calls), got.Calls)
	c.list("inner", plain(want.Inner), got.Inner)
	c.list("to_model", k.told(), got.Told)
	c.value("model_requests", float64(want.Requests), float64(got.Requests))
	c.list("asks", sorted(plain(want.Asks)), sorted(got.Asks))
	c.list("questions", plain(want.Questions), got.Questions)
	c.list("extra_messages", texts(want.Extra), abridged(texts(want.Extra), got.Extra))
	for name, list := range want.Children {
		var told []any
		for _, one := range list {
			told = append(told, one.(map[string]any)["to_model"])
		}
		c.list("children."+name, told, got.Children[name])
	}
	var sessions []any
	for _, list := range want.ChildSessions {
		sessions = append(sessions, plain(list.([]any)))
	}
	c.list("child_sessions", sorted(sessions), sorted(got.ChildSessions))
	for name, list := range want.ChildTools {
		c.value("child_tools."+name, strings.Join(list, " "), strings.Join(notFoundError(got.ChildTools[name]), " "))
	}
	c.list("saved_output", plain(want.Saved), got.Saved)
	names := maps.Clone(got.Files)
	maps.Copy(names, want.Files)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		c.value("files."+name, want.Files[name], got.Files[name])
	}
	if want.AsksAll != nil && protocol == asksProtocol {
		c.list("asks_when_everything_asks", sorted(plain(want.AsksAll)), sorted(k.play(t, protocol, true).Asks))
	}
	return c.found
}

// notFoundError leaves those tools that the reference has, too.
func notFoundError(tools []string) []string {
	theirs := []string{
		"question", "bash", "read", "glob", "grep", "edit", "write", "task", "webfetch", "todowrite", "todoread", "skill",
		"websearch", "codesearch", "apply_patch", "batch", "lsp", "plan_enter", "plan_exit",
	}
	return slices.DeleteFunc(slices.Clone(tools), func(n string) bool { return !slices.Contains(theirs, n) })
}

// told is what the model was told of each call.
func (k take) told() (out []any) {
	at := 0
	for _, step := range k.Steps {
		for range step.Calls {
			if at >= len(k.Expected.Calls) {
				out = append(out, nil) // the loop had stopped
				continue
			}
			call := k.Expected.Calls[at].(map[string]any)
			at++
			if text, ok := call["to_model"]; ok {
				out = append(out, text)
			} else {
				out = append(out, cmp.Or(call["error"], call["output"]))
			}
		}
	}
	return out
}

// plain leaves out of recorded values what is not compared: ids, the input
// that was sent, how a request was answered, what the model was told.
func plain(list []any) []any {
	out := []any{}
	for _, v := range list {
		m := maps.Clone(v.(map[string]any))
		if m["id"] != nil {
			delete(m, "input")
		}
		for _, key := range []string{"id", "to_model", "call", "answered", "sessionID", "messageID"} {
			delete(m, key)
		}
		if text, ok := m["error"].(string); ok {
			m["error"] = strings.TrimPrefix(text, "Error: ")
		}
		out = append(out, m)
	}
	return out
}

// sorted orders what happened side by side.
func sorted(list []any) []any {
	slices.SortFunc(list, func(a, b any) int { return strings.Compare(inJSON(a), inJSON(b)) })
	return list
}

// texts are those of recorded messages.
func texts(list []any) (out []any) {
	for _, m := range list {
		switch content := m.(map[string]any)["content"].(type) {
		case string:
			out = append(out, content)
		case []any:
			for _, part := range content {
				out = append(out, part.(map[string]any)["text"])
			}
		}
	}
	return out
}

// abridged cuts our texts where the recorded ones are cut.
func abridged(want []any, got []string) (out []any) {
	for i, text := range got {
		if i < len(want) {
			if head, ok := strings.CutSuffix(want[i].(string), " …"); ok && strings.HasPrefix(text, head) {
				text = head + " …"
			}
		}
		out = append(out, text)
	}
	return out
}
