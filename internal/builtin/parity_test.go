package builtin_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/lsp"
	"github.com/helve-dev/helve/model"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/lspclient/lsptest"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A recording is a case that was executed by the reference, with what came
// back. See testdata/parity/README.md.
type recording struct {
	Name    string            `json:"name"`
	Profile string            `json:"profile"`
	Model   string            `json:"model"`
	Agent   string            `json:"agent"`
	Git     *bool             `json:"git"`
	Subdir  string            `json:"subdir"`
	Env     map[string]string `json:"env"`
	Config  struct {
		Permission json.RawMessage `json:"permission"`
		Formatter  json.RawMessage `json:"formatter"`
		LSP        json.RawMessage `json:"lsp"`
	} `json:"config"`
	Fixture []fixture `json:"fixture"`
	HTTP    []site    `json:"http"`
	AbortMS int       `json:"abort_after_ms"` // the user gives up after so long
	Steps   []struct {
		Before []hostOp `json:"before"`
		Calls  []struct {
			Tool string          `json:"tool"`
			Args json.RawMessage `json:"args"`
			Raw  *string         `json:"raw_args"`
		} `json:"calls"`
	} `json:"steps"`
	PermissionReplies []json.RawMessage `json:"permission_replies"`
	QuestionReplies   []json.RawMessage `json:"question_replies"`
	Expected          struct {
		Calls     []any    `json:"calls"`
		Inner     []any    `json:"inner"`
		Asks      []any    `json:"asks"`
		AsksAll   []any    `json:"asks_when_everything_asks"`
		Questions []any    `json:"questions"`
		Saved     []any    `json:"saved_output"`
		Unstable  []string `json:"unstable"`

		Files        map[string]any `json:"files"`
		FilesOutside map[string]any `json:"files_outside"`
		FilesBeside  map[string]any `json:"files_beside_workspace"`
	} `json:"expected"`

	serverFlags []string // how the language server behaves, where it could be otherwise
}

func loadRecordings(t *testing.T) []recording {
	t.Helper()
	files, err := filepath.Glob("testdata/parity/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	var all []recording
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var rs []recording
		if err := json.Unmarshal(data, &rs); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, rs...)
	}
	return all
}

// needs returns the tools of the reference that a recording calls, also
// within a batch.
func (r recording) needs() []string {
	set := map[string]bool{}
	for _, step := range r.Steps {
		for _, c := range step.Calls {
			set[c.Tool] = true
			var batch struct {
				Calls []struct {
					Tool string `json:"tool"`
				} `json:"tool_calls"`
			}
			_ = json.Unmarshal(c.Args, &batch) // only a batch has them
			for _, in := range batch.Calls {
				set[in.Tool] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// skip says why a recording is not run.
func (r recording) skip(have []string) string {
	waits := []string{"bash.timeout_ignores_term", "bash.timeout_no_output", "bash.default_timeout_env"}
	if testing.Short() && slices.Contains(waits, r.Name) {
		return "it waits for a second and more, as bash.timeout does"
	}
	reference := []string{"bash", "edit", "write", "glob", "grep", "webfetch", "task", "skill", "apply_patch", "lsp"}
	for _, name := range r.needs() {
		if slices.Contains(reference, name) && !slices.Contains(have, name) {
			return "the tool " + name + " does not exist yet"
		}
	}
	return ""
}

// self is this program, which can be the helper of commands.
func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// bashTimeout is what the environment of a recording gives commands; 0 when it
// does not say.
func (r recording) bashTimeout() time.Duration {
	ms, _ := strconv.Atoi(r.Env["OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS"])
	return time.Duration(ms) * time.Millisecond
}

// patience is a context that ends when the user of the recording gave up.
func (r recording) patience(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	if r.AbortMS > 0 {
		timer := time.AfterFunc(time.Duration(r.AbortMS)*time.Millisecond, cancel)
		context.AfterFunc(ctx, func() { timer.Stop() })
	}
	return ctx, cancel
}

// An encounter is what happened in one run of a recording, in the words of
// the recording.
type encounter struct {
	Calls     []any `json:"calls"`
	Inner     []any `json:"inner"`
	Asks      []any `json:"asks"`
	Questions []any `json:"questions"`
	Saved     []any `json:"saved_output"`

	Files        map[string]any `json:"files"`
	FilesOutside map[string]any `json:"files_outside"`
	FilesBeside  map[string]any `json:"files_beside_workspace"`
}

// A manner is how a recording is run: as the reference was, or with the defaults
// of helve where they are others; and whether every permission is asked for.
type manner struct{ defaults, askAll bool }

// hasDefaults reports whether helve's defaults could make a difference: how an
// edit finds its text, and whether a project's skills are trusted. No other tool
// looks at these options.
func (r recording) hasDefaults() bool {
	return slices.ContainsFunc(r.needs(), func(name string) bool { return slices.Contains([]string{"edit", "multiedit", "skill"}, name) })
}

// play runs a recording where it was laid out, and says whether everything there
// is as it was before.
func (r recording) play(t *testing.T, p place, m manner) (got encounter, available []string, same bool) {
	t.Helper()
	askAll := m.askAll
	before := p.snapshot(t)
	data, matching := "", "" // in memory, which is much faster
	if strings.Contains(encoded(r.Expected), "tool-output") || slices.Contains(r.needs(), "webfetch") {
		data = p.data // long outputs are kept there
	}
	if !m.defaults {
		matching = "seed"
	}
	rt, err := helve.Open(helve.Options{
		Dir: p.ws, Worktree: p.worktree, DataDir: data,
		Matching: matching, Unread: r.Env["OPENCODE_DISABLE_FILETIME_CHECK"] != "", Formatters: r.formatters(t, p),
		Shell:  helve.Shell{Helper: self(t), Timeout: r.bashTimeout()},
		Flags:  map[string]bool{"batch": r.Profile == "batch", "lsp": r.Profile == "experimental"},
		LSP:    r.languages(t),
		Models: models(),
		Agents: agent.Specs(agent.SpecOptions{DataDir: p.data, Worktree: p.worktree, User: r.rules(t, p, askAll)}),
	})
	if err != nil {
		t.Fatal(err)
	}
	r.connect(t, rt)
	r.teach(t, p, rt, !m.defaults)
	person := &person{rt: rt, always: askAll}
	if !askAll {
		person.replies, person.answers = r.PermissionReplies, r.QuestionReplies
	}
	stop := person.sit()
	same = true
	for i, step := range r.Steps {
		same = same && len(step.Before) == 0
		for _, op := range step.Before {
			op.do(t, p)
		}
		for j, c := range step.Calls {
			if len(got.Calls) == len(r.Expected.Calls) {
				break // the reference's loop stopped here
			}
			input := p.expand(string(c.Args))
			if c.Raw != nil {
				input = p.expand(*c.Raw)
			}
			ctx, cancel := r.patience(t)
			res, err := rt.Call(ctx, tool.Call{
				ID: fmt.Sprintf("call_%d_%d", i, j), Session: "ses_parity", Message: fmt.Sprintf("msg_%d", i),
				Agent: r.Agent, Model: cmp.Or(r.Model, "scripted"), Tool: c.Tool, Input: json.RawMessage(input),
			})
			cancel()
			got.Calls = append(got.Calls, outcome(t, res, err))
			if res != nil {
				got.Inner = append(got.Inner, inners(res)...)
			}
		}
	}
	for _, spec := range rt.Tools(tool.Audience{Model: cmp.Or(r.Model, "scripted")}) {
		available = append(available, spec.Name)
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	stop()
	if !askAll && len(person.replies)+len(person.answers) > 0 && r.strict() {
		t.Errorf("answers are left over: %s %s", person.replies, person.answers)
	}
	got.Asks, got.Questions = person.asks, person.questions
	p.changed(t, before, &got)
	got.Saved = p.saved(t)
	same = same && data == "" && len(got.Files)+len(got.FilesOutside)+len(got.FilesBeside) == 0
	return p.normalised(t, got), append(available, "invalid"), same
}

// models make agents ready for work, as they were when the recordings were
// made. None of them gets to it.
func models() agent.Models {
	return agent.Models{
		Default: model.Ref{Provider: "acme", Model: "scripted"},
		Find: func(model.Ref) (model.Model, error) {
			return model.Model{}, errors.New("a recording has no model")
		},
	}
}

// strict says whether every recorded answer is used up. Some recordings hold
// one too many.
func (r recording) strict() bool {
	return len(r.PermissionReplies) == len(r.Expected.Asks)
}

// formatters are those of a recording. It was made with a script in Python
// that writes everything in capitals; ours is one of the shell.
func (r recording) formatters(t *testing.T, p place) *helve.Formatters {
	t.Helper()
	if len(r.Config.Formatter) == 0 || string(r.Config.Formatter) == "false" {
		return nil
	}
	var own map[string]helve.Formatter
	if err := json.Unmarshal(r.Config.Formatter, &own); err != nil {
		t.Fatal(err)
	}
	out := &helve.Formatters{Builtin: true}
	for name, f := range own {
		f.Name = name
		script := filepath.Join(p.data, "fake_fmt.py")
		write(t, script, []byte(`tr a-z A-Z < "$1" > "$1.new" && mv "$1.new" "$1"`))
		f.Command = []string{"sh", script, "$FILE"}
		out.Own = append(out.Own, f)
	}
	return out
}

// languages are the servers of a recording. It was made with a small one in
// Python; ours does the same.
func (r recording) languages(t *testing.T) *lsp.Options {
	t.Helper()
	if len(r.Config.LSP) == 0 || string(r.Config.LSP) == "false" {
		return nil
	}
	var own map[string]struct {
		Extensions     []string          `json:"extensions"`
		Env            map[string]string `json:"env"`
		Initialization json.RawMessage   `json:"initialization"`
		Disabled       bool              `json:"disabled"`
	}
	if err := json.Unmarshal(r.Config.LSP, &own); err != nil {
		t.Fatal(err)
	}
	out := &lsp.Options{Wait: time.Minute}
	for name, s := range own {
		out.Own = append(out.Own, lsp.Server{
			Name: name, Command: lsptest.Command(append([]string{"--no-version"}, r.serverFlags...)...), Extensions: s.Extensions,
			Environment: s.Env, Initialization: s.Initialization, Disabled: s.Disabled,
		})
	}
	return out
}

func (r recording) rules(t *testing.T, p place, askAll bool) permission.Ruleset {
	t.Helper()
	configs := []json.RawMessage{}
	switch {
	case askAll:
		configs = append(configs, json.RawMessage(`{"*":"ask"}`))
	case r.Profile != "defaultperm":
		configs = append(configs, json.RawMessage(`"allow"`))
	}
	if r.Config.Permission != nil && !askAll {
		configs = append(configs, r.Config.Permission)
	}
	var rules permission.Ruleset
	for _, c := range configs {
		rs, err := permission.ParseConfig([]byte(p.expand(string(c))), permission.ConfigOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, rs...)
	}
	return rules
}

// outcome words how a call ended as a recording does. For a call that was not
// understood it is what the model is shown.
func outcome(t *testing.T, res *tool.Result, err error) map[string]any {
	t.Helper()
	if err == nil {
		return merge(map[string]any{"tool": res.Tool, "status": "completed"}, textPage(res))
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		t.Fatalf("not a tool error: %v", err)
	}
	out := map[string]any{"tool": e.Tool, "status": "error"}
	if e.Answer != nil {
		return merge(out, textPage(e.Answer))
	}
	out["error"] = e.Error()
	return out
}

func textPage(res *tool.Result) map[string]any {
	out := map[string]any{"title": res.Title, "output": res.Output, "metadata": res.Metadata}
	if len(res.Attachments) > 0 {
		list := []any{}
		for _, a := range res.Attachments {
			list = append(list, map[string]any{"type": a.Type, "mime": a.Mime, "url": a.URL})
		}
		out["attachments"] = list
	}
	return out
}

func inners(res *tool.Result) (out []any) {
	for _, in := range res.Inner {
		m := map[string]any{"tool": in.Tool, "status": in.Status, "input": in.Input}
		if in.Result != nil {
			m = merge(m, textPage(in.Result))
		}
		if in.Error != "" {
			m["error"] = in.Error
		}
		out = append(out, m)
	}
	return out
}

func merge(a, b map[string]any) map[string]any {
	maps.Copy(a, b)
	return a
}

// A person answers requests and questions in order, and notes them.
type person struct {
	rt     *helve.Runtime
	always bool // to allow everything once

	mu               sync.Mutex
	replies, answers []json.RawMessage
	asks, questions  []any
}

func (p *person) sit() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range p.rt.Events(ctx, 0) {
			switch q := e.Properties.(type) {
			case event.PermissionAsked:
				p.reply(q.Request)
			case event.QuestionAsked:
				p.answer(q.QuestionRequest)
			}
		}
	}()
	return func() { cancel(); <-done }
}

func (p *person) reply(req permission.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, part := range req.Parts { // the reference asks for each by itself
		p.asks = append(p.asks, map[string]any{
			"permission": part.Permission, "patterns": part.Patterns, "always": part.Always, "metadata": part.Metadata,
		})
	}
	p.asks = append(p.asks, map[string]any{
		"permission": req.Permission, "patterns": req.Patterns, "always": req.Always, "metadata": req.Metadata,
	})
	reply := permission.Reply{Verdict: permission.ReplyOnce}
	if len(p.replies) > 0 {
		if json.Unmarshal(p.replies[0], &reply.Verdict) != nil {
			_ = json.Unmarshal(p.replies[0], &reply)
		}
		p.replies = p.replies[1:]
	}
	_ = p.rt.Requests().Reply(req.ID, reply)
}

func (p *person) answer(req tool.QuestionRequest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.questions = append(p.questions, map[string]any{"questions": req.Questions})
	var words [][]string
	if len(p.answers) > 0 {
		if json.Unmarshal(p.answers[0], &words) != nil { // "reject"
			p.answers = p.answers[1:]
			_ = p.rt.Requests().Dismiss(req.ID)
			return
		}
		p.answers = p.answers[1:]
	}
	_ = p.rt.Requests().Answer(req.ID, words)
}
