package custom

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

const onceOnly = `
-- plugins/guard.ts --
export const first = () => ({ config: () => {} })
export const guard = async ({ client }) => {
  const { data } = await client.tool.ids()
  if (data.length > 0) throw new Error("not again")
  return { "tool.execute.before": () => { throw new Error("refused") }, "tool.execute.after": () => {} }
}
-- tools/eat.ts --
export default { description: "d", args: {}, execute() { const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1)) } }
`

// onceBench has a plugin that starts once, and a function that has it fail the next time.
func onceBench(t *testing.T) (*bench, func()) {
	var again atomic.Bool
	b := newBench(t, onceOnly, func(b *bench, o *Options) {
		o.Memory = 32 << 20
		o.Services.Client = func(context.Context, *tool.Call, string, json.RawMessage) (json.RawMessage, error) {
			if again.Load() {
				return json.RawMessage(`{"data":["x"]}`), nil
			}
			return json.RawMessage(`{"data":[]}`), nil
		}
	})
	b.set.Gather(t.Context())
	if f := b.file("plugins/guard.ts"); f.State != plugin.Ready {
		t.Fatalf("%+v", f)
	}
	return b, func() { again.Store(true) }
}

// A plugin that is lost with its engine and cannot be started again has not let the call pass.
func TestHookLost(t *testing.T) {
	b, fails := onceBench(t)
	if got := b.hook(beforeHook, `{}`, `{"args":{}}`); len(got.Runs) != 1 || got.Runs[0].Thrown == "" {
		t.Fatalf("%+v", got.Runs)
	}
	fails()
	if _, err := b.call(t.Context(), "eat", `{}`); err == nil || !strings.Contains(err.Error(), "memory") {
		t.Fatal(err)
	}
	if f := b.file("plugins/guard.ts"); f.State != plugin.Ready {
		t.Errorf("known before the engine was made anew: %+v", f)
	}
	got := b.hook(beforeHook, `{}`, `{"args":{}}`)
	if len(got.Runs) != 1 || got.Runs[0].Error == nil || got.Runs[0].Thrown != "" || got.Runs[0].Name != "guard" {
		t.Errorf("%+v", got.Runs)
	}
	if f := b.file("plugins/guard.ts"); f.State != plugin.Failed {
		t.Errorf("%+v", f)
	}
}

// The same if files are loaded anew between the look at who has the hook and its run, or are taken
// away.
func TestHookReloadBetween(t *testing.T) {
	for name, change := range map[string]func(b *bench){
		"loaded anew": func(b *bench) { b.write("lib/new.ts", ""); b.write("tools/more.ts", toolA) },
		"taken away":  func(b *bench) { b.write("plugins/guard.ts", "export const G = () => ({})") },
		"unloaded":    func(b *bench) { b.set.units[0].unload() },
	} {
		t.Run(name, func(t *testing.T) {
			b, fails := onceBench(t)
			u := b.set.units[0]
			some := u.expects(beforeHook)
			fails()
			change(b)
			if name != "unloaded" {
				b.set.Gather(t.Context())
			}
			c := &tool.Call{ID: "call_1", Session: "ses_1", Agent: "build", Dir: b.root, Host: b}
			runs, _ := u.hook(t.Context(), c, hookCall{name: beforeHook, input: json.RawMessage("{}"), output: json.RawMessage(`{"args":{}}`)}, some)
			if len(runs) != 1 || runs[0].Error == nil || runs[0].Thrown != "" || runs[0].Name != "guard" {
				t.Errorf("%+v", runs)
			}
		})
	}
}
