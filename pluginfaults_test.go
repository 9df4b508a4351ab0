package helve_test

import (
	"bytes"
	"context"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/model"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/tool"
)

// A diary is a log that is read while it is written.
type diary struct {
	mu    sync.Mutex
	lines bytes.Buffer
}

func (d *diary) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lines.Write(p)
}

// holds reports whether one line has all of these words.
func (d *diary) holds(words ...string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for line := range strings.Lines(d.lines.String()) {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			return true
		}
	}
	return false
}

// A plugin that throws where nothing can be refused is passed over, and the log
// tells whose hook it was.
func TestFailedHooksAreLogged(t *testing.T) {
	const project = `
-- .opencode/plugin/moody.ts --
export default async () => ({
  "chat.message": async () => { throw new Error("not listening") },
  "chat.params": async () => { throw new Error("no numbers") },
  "experimental.chat.system.transform": async () => { throw new Error("no rules") },
  "tool.definition": async (input) => { if (input.toolID === "read") throw new Error("no words") },
})
`
	b := &brain{answer: inTurn(says("hello"))}
	var log diary
	rt, _ := owned(t, project, helve.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Models: agent.Models{
		Default: model.Ref{Provider: "test", Model: "brain"},
		Find:    func(model.Ref) (model.Model, error) { return model.Model{Provider: b}, nil },
	}})
	if turn := prompted(t, rt, agent.Prompt{Text: "greet"}); turn.End != agent.EndDone {
		t.Fatalf("turn = %+v", turn)
	}
	for hook, said := range map[string]string{
		"chat.message": "not listening", "chat.params": "no numbers", "experimental.chat.system.transform": "no rules", "tool.definition": "no words",
	} {
		if !log.holds("moody.ts", "hook="+hook, said) {
			t.Errorf("nothing tells of %s", hook)
		}
	}
}

// Plugins are not asked to describe what is not shown.
func TestDefinitionsOfWhatIsShown(t *testing.T) {
	const project = `
-- .opencode/plugin/words.ts --
export default async () => ({
  "tool.definition": async (input) => { console.warn("asked about " + input.toolID) },
})
`
	rt, _ := owned(t, project, helve.Options{Unattended: true})
	register(t, rt, tool.New(tool.Spec{Name: "outside", Description: "d", External: true}, func(context.Context, *tool.Call, echoInput) (*tool.Result, error) {
		return &tool.Result{}, nil
	}))
	rt.Gather(t.Context())
	var names []string
	for _, s := range rt.Tools(tool.Audience{Agent: "plan"}) {
		names = append(names, s.Name)
	}
	if slices.Contains(names, "outside") || !slices.Contains(names, "read") {
		t.Fatalf("shown are %q", names)
	}
	var asked []string
	rt.Plugins().Notify("end.of.test", nil)
	for e := range rt.Events(t.Context(), 0) {
		if s, ok := e.Properties.(event.ScriptLogged); ok {
			asked = append(asked, strings.TrimPrefix(s.Text, "asked about "))
		}
		if e.Type == "end.of.test" {
			break
		}
	}
	if !slices.Equal(asked, names) {
		t.Errorf("asked about %q, shown are %q", asked, names)
	}
}
