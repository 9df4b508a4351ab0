package script

import (
	"errors"
	"testing"
	"time"
)

// TestDepth: whatever nests deeply in the engine's own code throws, and does not take the process
// with it.
func TestDepth(t *testing.T) {
	depth := "1e5"
	if raceEnabled {
		depth = "2e4"
	}
	for name, source := range map[string]string{
		"proxies":    `let p = {}; for (let i = 0; i < N; i++) p = new Proxy(p, {}); return p.x`,
		"bound":      `let f = () => 1; for (let i = 0; i < N; i++) f = f.bind(null); return f()`,
		"groups":     `return new RegExp("(".repeat(N) + ")".repeat(N)).test("")`,
		"lookahead":  `return new RegExp("(?=".repeat(N) + ")".repeat(N)).test("")`,
		"classes":    `return new RegExp("[".repeat(N) + "]".repeat(N), "v").test("")`,
		"source":     `return eval("[".repeat(N) + "]".repeat(N)).length`,
		"parens":     `return eval("(".repeat(N) + "1" + ")".repeat(N))`,
		"blocks":     `return eval("{".repeat(N) + "}".repeat(N))`,
		"unary":      `return eval("!".repeat(N) + "1")`,
		"templates":  "return eval('`${'.repeat(N) + '1' + '}`'.repeat(N))",
		"arrows":     `return typeof eval("()=>".repeat(N) + "1")`,
		"flat":       `let a = []; for (let i = 0; i < N; i++) a = [a]; return a.flat(Infinity).length`,
		"toString":   `let a = []; for (let i = 0; i < N; i++) a = [a]; return String(a)`,
		"prototypes": `let o = {}; for (let i = 0; i < N; i++) o = Object.create(o); return o.nothing ?? 0`,
		"spread":     `return Math.max(...new Array(N).fill(1))`,
		"apply":      `return Math.max.apply(null, { length: N })`,
		"getter":     `const o = { get x() { return this.x } }; return o.x`,
		"native":     `const f = () => { __now("x", "0"); return f() }; return f()`,
		"coerce":     `const o = { toString() { return "" + o } }; return "" + o`,
		"reviver":    `const f = () => JSON.parse("[1]", f); return f()`,
		"replacer":   `const f = () => JSON.stringify([1], f); return f()`,
		"sort":       `const f = () => [2, 1].sort(f); return f()`,
		"replace":    `const f = () => "a".replace("a", f); return f()`,
		"iterator":   `const o = { [Symbol.iterator]() { return [...o] } }; return [...o]`,
		"construct":  `class A { constructor() { new A() } } return new A()`,
		"eval":       `globalThis.e = () => eval("e()"); return e()`,
		"generator":  `function* g() { yield* g() } return [...g()]`,
		"promises":   `let p = Promise.resolve(1); for (let i = 0; i < N; i++) p = p.then((x) => x); return p`,
		"async":      `const f = async () => { await f() }; return f()`,
		"causes":     `let e = new Error("x"); for (let i = 0; i < N; i++) e = new Error("y", { cause: e }); throw e`,
		"json":       `return JSON.parse("{\"a\":".repeat(N) + "1" + "}".repeat(N))`,
		"symbols":    `const o = { [Symbol.toPrimitive]() { return +o } }; return +o`,
		"instanceof": `const f = { [Symbol.hasInstance](x) { return x instanceof f } }; return ({}) instanceof f`,
	} {
		t.Run(name, func(t *testing.T) {
			v := open(t, VMOptions{Turn: time.Minute}, `globalThis.ok = () => "ok"; const N = `+depth+`; globalThis.deep = () => { `+source+` };`)
			got, err := ask(t, v, "deep", "")
			t.Logf("%.40s %.60v", got, err)
			if _, ok := errors.AsType[*Thrown](err); err != nil && !ok && !errors.Is(err, ErrMemory) {
				t.Error(err)
			}
			if got, err = ask(t, v, "ok", ""); got != `"ok"` && !errors.Is(err, ErrLost) {
				t.Error(got, err)
			}
		})
	}
}
