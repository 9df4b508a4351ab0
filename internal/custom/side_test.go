package custom

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/tool"
)

const waiting = `
-- tools/wait.ts --
export default { description: "d", args: {}, async execute(args, ctx) { ctx.metadata({ title: "in" }); await new Promise(() => {}) } }
-- tools/count.ts --
let n = 0
export default { description: "d", args: {}, execute: () => String(++n) }
export const eat = { description: "d", args: {}, execute() { const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1)) } }
export const fail = { description: "d", args: {}, execute() { throw new Error("of its own") } }
-- plugins/p.ts --
console.log("started")
export const P = () => ({ "tool.execute.before": (i, o) => { o.args.seen = true }, tool: { ofplugin: { description: "d", args: {}, execute: () => "p" } } })
`

// A call that never ends holds up those of its own folder, but not those of other sessions.
func TestSide(t *testing.T) {
	b := newBench(t, waiting, func(_ *bench, o *Options) { o.Memory = 32 << 20 })
	b.set.Gather(t.Context())
	in, done := make(chan struct{}), make(chan error)
	b.told = func(string) { close(in) }
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := b.call(ctx, "wait", `{}`)
		done <- err
	}()
	<-in
	as := func(session, name string) string {
		t.Helper()
		r, err := b.callAs(t.Context(), &tool.Call{ID: "c", Session: session, Agent: "build", Tool: name, Input: json.RawMessage("{}")})
		if err != nil {
			return err.Error()
		}
		return r.Output
	}
	for i, want := range []string{"1", "2", "3"} {
		if got := as("other", "count"); got != want {
			t.Errorf("%d: %s", i, got)
		}
	}
	if got := as("other", "count_fail"); got != "of its own" {
		t.Error(got)
	}
	if got := as("other", "count_eat"); !strings.Contains(got, "memory and was stopped") {
		t.Error(got)
	}
	if got := as("other", "count"); got != "1" {
		t.Error("the engine that was lost was not made anew:", got)
	}
	if got := b.output("count", "{}"); got != "1" {
		t.Error("owners share an engine, or the unit's was lost:", got)
	}
	if got := b.hook("tool.execute.before", `{}`, `{"args":{}}`); string(got.Output) != `{"args":{"seen":true}}` || got.Runs[0].Error != nil {
		t.Errorf("%s %+v", got.Output, got.Runs)
	}
	b.mu.Lock()
	if len(b.lines) != 1 {
		t.Errorf("plugins were started again: %v", b.lines)
	}
	b.mu.Unlock()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := as("other", "ofplugin"); got != "p" {
		t.Error(got)
	}
}

// There are only so many engines beside that of a folder, and those nobody uses make room.
func TestSidesBounded(t *testing.T) {
	b := newBench(t, "", nil)
	u, built := b.set.units[0], &build{}
	var all []*side
	for _, who := range []string{"a", "b", "c", "d"} {
		all = append(all, u.side(built, who))
	}
	if u.side(built, "e") != nil {
		t.Error("one too many")
	}
	if again := u.side(built, "a"); again != all[0] {
		t.Error("another for the same owner")
	}
	u.leaveSide(all[0])
	if u.side(built, "e") != nil {
		t.Error("one that is in use was let go")
	}
	u.leaveSide(all[0])
	last := u.side(built, "e")
	if last == nil || !all[0].dropped || len(u.sides) != maxSides {
		t.Error("no room was made")
	}
	if other := u.side(&build{}, "e"); other == last || !last.dropped || !u.left[last] {
		t.Error("one of another build was given")
	}
	u.leaveSide(last)
	if u.left[last] {
		t.Error("it is kept though nobody uses it")
	}
}

func TestRoll(t *testing.T) {
	var r roll
	if got := r.names(); got != "hooks of plugins" {
		t.Error(got)
	}
	first := r.add(script.ToolCall{File: "tools/a.ts"})
	second := r.add(script.ToolCall{File: "tools/a.ts"})
	r.add(script.ToolCall{File: "plugins/p.ts", Tool: "x"})
	first()
	if got := r.names(); got != "of plugins/p.ts x, tools/a.ts" {
		t.Error(got)
	}
	second()
	if got := r.names(); got != "of plugins/p.ts x" {
		t.Error(got)
	}
}
