package helve_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

const runaways = `
-- .opencode/tool/run.ts --
const ways = {
  loop: () => { for (;;) {} },
  microtasks: async () => { for (;;) await null },
  chain: () => new Promise(() => { const again = () => Promise.resolve().then(again); again() }),
  regex: () => /^(a+)+$/.test("a".repeat(40) + "b"),
  hugeString: () => { let s = "x"; for (;;) s += s },
  hugeArray: () => { const a = []; for (;;) a.push(new Array(1000).fill(0)) },
  hugeBuffer: () => Buffer.alloc(2 ** 40),
  recursion: () => { const f = () => f() + 1; return f() },
  json: () => { let o = {}; for (let i = 0; i < 1e6; i++) o = { o }; return JSON.stringify(o) },
  exit: () => process.exit(3),
  exitLater: () => new Promise(() => setTimeout(() => process.exit(3), 1)),
  kill: () => process.kill(process.pid, "SIGKILL"),
  abort: () => process.abort(),
  never: () => new Promise(() => {}),
  getter: () => ({ get output() { for (;;) {} } }),
  proxy: () => new Proxy({}, { get() { for (;;) {} } }),
  toJSON: () => ({ output: "x", metadata: { toJSON() { for (;;) {} } } }),
  sleepSync: () => Bun.sleepSync(1e9),
  log: () => { for (;;) console.log("x".repeat(1000)) },
  late: () => { setTimeout(() => { throw new Error("nobody hears this") }, 1); return "fine" },
  rejected: () => { Promise.reject(new Error("nobody hears this")); return "fine" },
  good: () => "good",
}
export default { description: "runs away", args: { way: { type: "string" } }, async execute({ way }) { return await ways[way]() } }
-- .opencode/tool/other.ts --
let calls = 0
export default { description: "another", args: {}, async execute() { return "call " + ++calls } }
`

// A script that runs away ends its own call, within the time the call is given,
// and what comes next works.
func TestContainment(t *testing.T) {
	rt, _ := owned(t, runaways, helve.Options{Unattended: true, Plugins: plugin.Options{Memory: 32 << 20}})
	for _, test := range []struct{ way, fails string }{
		{"loop", ""}, {"microtasks", ""}, {"chain", ""}, {"regex", ""}, {"hugeString", ""}, {"hugeArray", ""}, {"hugeBuffer", ""}, {"recursion", ""}, {"json", ""},
		{"exit", "exit"}, {"exitLater", "exit"}, {"kill", ""}, {"abort", ""}, {"never", ""}, {"getter", ""}, {"proxy", ""}, {"toJSON", ""}, {"sleepSync", ""}, {"log", ""},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
		args, _ := json.Marshal(map[string]string{"way": test.way})
		began := time.Now()
		res, err := rt.Call(ctx, tool.Call{Tool: "run", Input: args})
		took := time.Since(began)
		cancel()
		if err == nil && test.way != "recursion" && test.way != "json" && test.way != "proxy" {
			t.Errorf("%s gave %.100q", test.way, res.Output)
		}
		if err != nil && !strings.Contains(err.Error(), test.fails) {
			t.Errorf("%s: %v", test.way, err)
		}
		t.Logf("%s: %v (%s)", test.way, err, took.Round(time.Millisecond))
		for _, name := range []string{"run", "other"} {
			res, err = callJSON(t, rt, name, `{"way": "good"}`)
			if err != nil || res.Output == "" {
				t.Errorf("after %s, %s: %v, %v", test.way, name, res, err)
			}
		}
	}
	for _, way := range []string{"late", "rejected", "good"} {
		if res, err := callJSON(t, rt, "run", `{"way": "`+way+`"}`); err != nil {
			t.Errorf("%s: %v, %v", way, res, err)
		}
	}
}

// A file that runs away while it is loaded costs itself, and not the others.
func TestContainmentOfLoading(t *testing.T) {
	const project = `
-- .opencode/tool/exits.ts --
process.exit(1)
export default { description: "x", args: {}, async execute() { return "x" } }
-- .opencode/tool/loops.ts --
for (;;) {}
export default { description: "x", args: {}, async execute() { return "x" } }
-- .opencode/tool/waits.ts --
await new Promise(() => {})
export default { description: "x", args: {}, async execute() { return "x" } }
-- .opencode/tool/eats.ts --
let s = "x"; for (;;) s += s
export default { description: "x", args: {}, async execute() { return "x" } }
-- .opencode/tool/broken.ts --
export default { description: "x", args: {}, async execute( { return "x" } }
-- .opencode/tool/throws.ts --
export default { description: "x", args: {}, async execute() { return "x" } }
const x: any = undefined
x.y.z
-- .opencode/tool/good.ts --
export default { description: "good", args: {}, async execute() { return "good" } }
`
	rt, _ := owned(t, project, helve.Options{Unattended: true, Plugins: plugin.Options{Memory: 32 << 20, LoadTimeout: 3 * time.Second}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	rt.Gather(ctx)
	for _, f := range rt.Plugins().Files() {
		t.Logf("%s %s %s", f.Name, f.State, f.Problem)
		if good := f.Name == "good"; good != (f.State == "ready") {
			t.Errorf("%s is %s: %s", f.Name, f.State, f.Problem)
		}
		if f.Name == "throws" && !strings.Contains(f.Problem, "throws.ts:3") {
			t.Errorf("the problem does not name the line: %s", f.Problem)
		}
		if f.Name == "broken" && !strings.Contains(f.Problem, "broken.ts:1") {
			t.Errorf("the problem does not name the line: %s", f.Problem)
		}
	}
	if res, err := callJSON(t, rt, "good", `{}`); err != nil || res.Output != "good" {
		t.Errorf("the good one: %v, %v", res, err)
	}
}
